"""Which files of a folder were made of which: told by the names of empty files beside them.

So one listing, which a job makes anyway, tells all that need not be made again; no task reads
anything for it. The names are hashes: of the file that was made, and of what it was made of, with
the size of what was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from rangeio.spark.jobs.sources import Source

FOLDER = "_rangeio_converted"


@dataclass(frozen=True, slots=True)
class Known:
    """What a listing says of one file. there: it exists. sizes: of what was made of the same
    source in the same way. others: names of the marks of what was made of it otherwise."""

    there: bool
    size: int
    sizes: frozenset[int]
    others: tuple[str, ...]

    @property
    def done(self) -> bool:
        """It is what would be made."""
        return self.there and self.size in self.sizes and not self.others

    @property
    def foreign(self) -> bool:
        """It exists, and no conversion made it."""
        return self.there and not self.sizes and not self.others


def made_of(source: Source, how: str) -> str:
    """One text for a version of a file and a way to convert it."""
    return f"{source.name}\n{source.size}\n{source.tag}\n{how}"


def mark(name: str, origin: str, size: int) -> str:
    """The name of the empty file that says: ``name``, of this size, was made of ``origin``."""
    return f"{FOLDER}/{_hash(name)}-{_hash(origin)}-{size:x}"


class Marks:
    """Those of one listing, a mapping of names to sizes."""

    def __init__(self, listed: Mapping[str, int]) -> None:
        self._listed = listed
        self._of: dict[str, list[str]] = {}
        for name in listed:
            folder, _, word = name.rpartition("/")
            if folder == FOLDER and word.count("-") == 2:
                self._of.setdefault(word.partition("-")[0], []).append(word)

    def known(self, name: str, origin: str) -> Known:
        """What is known of the file that is to be called ``name`` and made of ``origin``."""
        mine, others = [], []
        for word in self._of.get(_hash(name), []):
            _, made, size = word.split("-")
            if made == _hash(origin):
                mine.append(int(size, 16))
            else:
                others.append(f"{FOLDER}/{word}")
        there = name in self._listed
        return Known(there, self._listed.get(name, -1), frozenset(mine), tuple(others))


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
