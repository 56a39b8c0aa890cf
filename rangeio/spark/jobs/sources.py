"""The files that a job works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rangeio.datasets.finding.manifest import shown
from rangeio.errors import RequestError
from rangeio.session import default_session
from rangeio.spark.jobs.naming import Named, absolute, below, urls_of
from rangeio.spark.options import ReadOptions
from rangeio.spark.reading.finding import listing


@dataclass(frozen=True, slots=True)
class Source:
    """One file. name: below what was asked for. size, tag: of the version that was listed."""

    url: str = field(repr=False)
    name: str
    size: int
    tag: str

    @property
    def shown(self) -> str:
        """The url for people."""
        return shown(self.url)


def sources(url: Named, storage_options: Mapping[str, object] | None) -> list[Source]:
    """The files that a read of these paths would read, those with the most bytes first.

    Raises as a read does, and RequestError for a Lance dataset: its files alone are no table.
    """
    paths = urls_of(url)
    options = ReadOptions(tuple(paths), flat=True, storage=dict(storage_options or {}))
    found = listing(options, default_session())
    if found.found.version is not None:
        raise RequestError(
            "the files of a Lance dataset mean nothing without its manifest: read the dataset, and "
            'write what you read, spark.read.format("rangeio").load(url).write',
            url=found.files.root,
        )
    urls = [absolute(one.url) for one in found.files]
    names = below(absolute(paths[0]), urls)
    held = zip(urls, names, found.files, strict=True)
    made = [Source(at, name, one.size, one.tag) for at, name, one in held]
    return sorted(made, key=lambda one: -one.size)
