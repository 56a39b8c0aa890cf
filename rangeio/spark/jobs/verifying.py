"""Many files read whole and checked: a Spark job that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from rangeio.datasets.finding.manifest import shown
from rangeio.errors import Corrupt, NotFound
from rangeio.file import File
from rangeio.file import open as opened
from rangeio.spark.jobs.comparing import same
from rangeio.spark.jobs.files import Told, attempted, carried_out, report
from rangeio.spark.jobs.naming import Named, stem
from rangeio.spark.jobs.sources import Source, sources
from rangeio.spark.writing.cutting import Cut

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS = 65536


@dataclass(frozen=True)
class Check:
    """How each file is checked. Picklable; options of stores may hold credentials.

    compared: whether there is something to compare with.
    """

    compared: bool
    options: Mapping[str, object] | None = field(default=None, repr=False)
    others: Mapping[str, object] | None = field(default=None, repr=False)


Pair = tuple[Source, "Source | None"]


def verified(
    spark: SparkSession,
    url: Named,
    against: Named | None,
    check: Check,
) -> DataFrame:
    """What :func:`rangeio.spark.verify` promises."""
    found = sources(url, check.options)
    others = {} if against is None else _by_stem(sources(against, check.others))
    pairs: list[Pair] = [(one, others.pop(stem(one.name), None)) for one in found]
    told = carried_out(spark, partial(_one, check), pairs)
    gone = [Told(one.shown, "failed", error=_MISSING) for one in others.values()]
    return report(spark, sorted([*told, *gone], key=lambda one: one.file))


_MISSING = "no file was made of this one"


def _by_stem(found: Sequence[Source]) -> dict[str, Source]:
    return {stem(one.name): one for one in found}


def _one(check: Check, pair: Pair) -> Told:
    return attempted(pair[0].shown, partial(_checked, check, *pair))


def _checked(check: Check, source: Source, other: Source | None) -> Told:
    if check.compared and other is None:
        raise NotFound("there is no file to compare this one with", url=source.shown)
    with ExitStack() as held:
        if other is None:
            file = held.enter_context(opened(source.url, storage_options=check.options))
            _read(file)
        else:
            beside = held.enter_context(opened(other.url, storage_options=check.others))
            file = held.enter_context(_like(source, check, beside))
            _compared(file, beside)
        return Told(source.shown, "ok", file.size)


def _like(source: Source, check: Check, other: File) -> File:
    """The file, with the columns of the other one where it carries no names of its own."""
    file = opened(source.url, storage_options=check.options)
    if file.format != "doris" or other.format == "doris":
        return file
    file.close()
    schema = pa.schema([one.arrow for one in other.schema])
    return opened(source.url, storage_options=check.options, schema=schema)


def _read(file: File) -> None:
    """Every value of every column. Raises what reading raises, Corrupt where rows are missing."""
    rows = 0
    for batch in file.scan(batch_rows=_ROWS):
        batch.validate(full=True)
        rows += batch.num_rows
    if rows != file.num_rows:
        raise Corrupt(f"{rows} rows are there of {file.num_rows}", url=shown(file.url))


def _compared(file: File, other: File) -> None:
    """Both whole, side by side, in bounded memory. Raises Corrupt where they differ."""
    names = [one.name for one in other.schema]
    if [one.name for one in file.schema] != names:
        raise Corrupt("the columns are others, or in another order", url=shown(file.url))
    if file.num_rows != other.num_rows:
        raise Corrupt(f"{file.num_rows} rows instead of {other.num_rows}", url=shown(file.url))
    row = 0
    for mine, theirs in zip(_steps(file), _steps(other), strict=True):
        for name in names:
            if not same(mine[name], theirs[name]):
                raise Corrupt(f"column {name!r} differs from row {row} on", url=shown(file.url))
        row += mine.num_rows


def _steps(file: File) -> Iterator[pa.Table]:
    """The rows in steps of as many, whatever the file's own are."""
    with file.scan(batch_rows=_ROWS) as reader:
        cut = Cut(iter(reader), _ROWS)
        while cut.more():
            yield pa.Table.from_batches(list(cut.next()), reader.schema)
