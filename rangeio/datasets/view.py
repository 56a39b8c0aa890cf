"""One schema of some of a dataset's files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rangeio.datasets.evolving.evolution import DatasetSchema


class Of(NamedTuple):
    """A generation among some files. lacking: partition columns not in the path of each."""

    number: int
    first: int
    files: int
    lacking: frozenset[str]


@dataclass(frozen=True, slots=True)
class View:
    """One schema of some files.

    held: their generations by number. places: where each stands in the schema. named: the places
    of those whose names are the files' own.
    """

    schema: DatasetSchema
    held: Mapping[int, Of]
    places: Mapping[int, int]
    named: tuple[int, ...]

    @property
    def numbered(self) -> bool:
        """Whether columns are matched by ids although their names are the files' own: then any
        other file may tell that a name means another column."""
        files = [self.schema.generations[place].schema for place in self.named]
        return any(
            any(one.declared if one.declared is not None else (c.id_declared for c in one))
            for one in files
        )

    def generation(self, url: str) -> int | None:
        """The number of the generation of which this is the first file's url."""
        urls = (one.url for one in self.schema.generations)
        return next((g for g, one in zip(self.held, urls, strict=True) if one == url), None)
