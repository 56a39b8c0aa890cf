"""Many files as as many others, in another format: a Spark job that may be run again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rangeio.convert import convert
from rangeio.datasets.finding.manifest import shown
from rangeio.errors import ObjectChanged, RequestError
from rangeio.file import File
from rangeio.file import open as opened
from rangeio.folders import files_below, put, remove
from rangeio.select import select
from rangeio.spark.jobs.choosing import chosen
from rangeio.spark.jobs.done import Known, Marks, made_of, mark
from rangeio.spark.jobs.files import Told, attempted, carried_out, report
from rangeio.spark.jobs.naming import Named, absolute, renamed, urls_of
from rangeio.spark.jobs.sources import Source, sources
from rangeio.spark.naming import BESIDE, beside, nameless, noted
from rangeio.spark.types import spark_schema
from rangeio.write import suffix_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILTERS = "filters"
"""What is asked of each file by what its folders leave of it."""


@dataclass(frozen=True)
class Job:
    """How each file is converted. Picklable; options of stores may hold credentials.

    reads: what to read of each, as :func:`rangeio.convert` takes it; words: the format's options.
    """

    target: str
    format: str
    reads: Mapping[str, Any]
    words: Mapping[str, Any]
    overwrite: bool
    source_options: Mapping[str, object] | None = field(default=None, repr=False)
    storage_options: Mapping[str, object] | None = field(default=None, repr=False)

    @property
    def how(self) -> str:
        """The same text for the same way."""
        return f"{self.format} {sorted(self.reads.items())!r} {sorted(self.words.items())!r}"

    def url(self, name: str) -> str:
        """Of a file below the target."""
        return f"{self.target.rstrip('/')}/{name}"


@dataclass(frozen=True)
class Item:
    """One file, what it is to be called, and what is known of that. filters: those of its rows
    that its folders do not answer."""

    source: Source
    name: str
    known: Known
    filters: Any = None

    @property
    def done(self) -> bool:
        """It is there as it would be made. Of a store that tells no versions nobody knows."""
        return self.known.done and bool(self.source.tag)


def converted(spark: SparkSession, src: Named, job: Job) -> DataFrame:
    """What :func:`rangeio.spark.convert` promises."""
    items = _items(src, job)
    kept = [Told(one.source.shown, "kept", one.known.size) for one in items if one.done]
    told = carried_out(spark, partial(_one, job), [one for one in items if not one.done])
    _note_columns(job, {one.note for one in told if one.note is not None}, new=not kept)
    return report(spark, sorted([*told, *kept], key=lambda one: one.file))


def _items(src: Named, job: Job) -> list[Item]:
    """What there is to do. Raises RequestError before anything is done."""
    found = sources(src, job.source_options)
    filters = [job.reads.get(FILTERS)] * len(found)
    if FILTERS in job.reads:
        meant = chosen(job.reads[FILTERS], [one.name for one in found])
        found, filters = [found[i] for i, _ in meant], [left for _, left in meant]
    names = renamed([one.name for one in found], suffix_of(job.format, job.words))
    urls = {one.url for one in found}
    clash = next((name for name in names if job.url(name) in urls), None)
    if clash is not None:
        raise RequestError("a file would be replaced by what is made of it", url=clash)
    _refuse_nearby(src, urls, job.target)
    marks = Marks(files_below(job.target, job.storage_options))
    known = [marks.known(n, made_of(one, job.how)) for one, n in zip(found, names, strict=True)]
    return [Item(*one) for one in zip(found, names, known, filters, strict=True)]


def _refuse_nearby(src: Named, urls: Collection[str], target: str) -> None:
    """Raise RequestError where a read of the one folder would read what lies in the other."""
    inside = f"{target.rstrip('/')}/"
    paths = map(absolute, urls_of(src))
    above = any(inside.startswith(f"{one.rstrip('/')}/") for one in paths)
    if above or any(url.startswith(inside) for url in urls):
        raise RequestError(
            "the new files would lie among those that they are made of, and every row be there "
            "twice: name a folder that is neither below the source nor above it",
            url=shown(target),
        )


def _one(job: Job, item: Item) -> Told:
    return attempted(item.source.shown, partial(_convert, job, item))


def _convert(job: Job, item: Item) -> Told:
    url = job.url(item.name)
    if item.known.foreign and not job.overwrite:
        raise RequestError(
            "there is a file already that no conversion made; overwrite=True replaces it",
            url=shown(url),
        )
    if item.known.others:  # what they say of this name is true no longer
        remove(job.target, item.known.others, job.storage_options)
    with opened(item.source.url, storage_options=job.source_options) as file:
        _pinned(file, item.source)
        reads = {name: told for name, told in job.reads.items() if name != FILTERS}
        options = {**reads, **job.words, "storage_options": job.storage_options}
        if item.filters is not None:
            options[FILTERS] = item.filters
        written = convert(file, url, format=job.format, **options)
        note = _columns(job, file)
    done = mark(item.name, made_of(item.source, job.how), written.size)
    put(job.url(done), b"", job.storage_options)
    return Told(item.source.shown, "converted", written.size, note=note)


def _pinned(file: File, source: Source) -> None:
    """The mark is to name the version that was converted: it is the one that was listed."""
    if (source.size >= 0 and file.size != source.size) or (source.tag and file.tag != source.tag):
        raise ObjectChanged("the file was replaced since it was listed", url=source.shown)


def _columns(job: Job, file: File) -> str | None:
    """The columns of what was written, where it carries no names of them."""
    if not nameless(job.format):
        return None
    fields = select(file.schema, job.reads.get("columns")).fields
    return noted(spark_schema(pa.schema([one.arrow for one in fields]))).decode()


def _note_columns(job: Job, told: set[str], *, new: bool) -> None:
    """Put the columns that all files have in common beside them, as a write of Spark does; where
    they have none in common nothing may be there. new: there were no files before."""
    if not told:
        return
    before = None if new else beside(job.target, job.storage_options)
    if new and len(told) == 1:
        put(job.url(BESIDE), told.pop().encode(), job.storage_options)
    elif before is not None and told != {before.decode()}:
        remove(job.target, [BESIDE], job.storage_options)
