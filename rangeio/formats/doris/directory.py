"""Where the metadata of every column of a segment lies: arrays, and no object per column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rangeio.codecs import wire
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt
from rangeio.ranges import ByteRange

Ints = npt.NDArray[np.integer[Any]]

_UNIQUE_ID, _LENGTH = 1, 2  # of a ColumnMetaEntry
_META_UNIQUE_ID, _META_PATH = 2, 13  # of a ColumnMeta


@dataclass(frozen=True, slots=True, eq=False)
class Directory:
    """The serialized ColumnMeta of every column, in the order of the file.

    ids: the unique_id of each, negative where it has none. base, starts, lengths: where each lies,
    ``starts`` counted from ``base``. order: positions sorted by id, the one that counts first;
    None where the ids ascend by themselves. All arrays are as narrow as their numbers let them be.
    """

    base: int
    ids: Ints
    starts: Ints
    lengths: Ints
    order: Ints | None

    @classmethod
    def of(cls, ids: Ints, starts: Offsets, lengths: Ints, *, last: bool) -> Directory:
        """A directory; of entries with one id the last counts, or else the first."""
        base = int(starts[0]) if len(starts) else 0
        order = None
        if len(ids) and (int(ids[0]) < 0 or bool((ids[1:] <= ids[:-1]).any())):
            order = _narrow(_ordered(ids, last))
        return cls(base, _narrow(ids), _narrow(starts - base), _narrow(lengths), order)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def weight(self) -> int:
        """Bytes of memory it holds."""
        order = 0 if self.order is None else self.order.nbytes
        return self.ids.nbytes + self.starts.nbytes + self.lengths.nbytes + order

    def find(self, unique_id: int) -> int:
        """The position of a column by its id, or -1."""
        if unique_id < 0:
            return -1
        order = self.order
        i = int(np.searchsorted(self.ids, unique_id, sorter=order))
        if i == len(self.ids):
            return -1
        position = i if order is None else int(order[i])
        return position if int(self.ids[position]) == unique_id else -1

    def tops(self) -> Ints | range:
        """The positions of all columns that have an id, each id once, in the order of the file."""
        if self.order is None:
            return range(len(self))
        ids = self.ids[self.order].astype(np.int64)
        first = (ids >= 0) & (np.diff(ids, prepend=-1) > 0)
        return np.sort(self.order[first])

    def first_without_id(self) -> int:
        """The position of the first column without an id, or -1."""
        found = np.flatnonzero(self.ids < 0)
        return int(found[0]) if len(found) else -1

    def at(self, position: int) -> ByteRange:
        """Where the metadata at a position lies; Corrupt where there is none."""
        if not 0 <= position < len(self):
            raise Corrupt(f"there is no column {position} among {len(self)}")
        start = self.base + int(self.starts[position])
        return ByteRange(start, start + int(self.lengths[position]))

    @property
    def extent(self) -> ByteRange:
        """From the first column's metadata to the end of the last one's."""
        if not len(self):
            return ByteRange(0, 0)
        return ByteRange(self.base, self.at(len(self) - 1).stop)


ENTRIES = 12
"""The field of a footer that has an entry for every column of V3."""


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The entries for columns of a footer; ``rest``: all else of it. Lengths are unsigned."""

    ids: Ints
    lengths: Ints
    rest: Bytes

    @classmethod
    def parse(cls, data: Bytes) -> Entries:
        """From the bytes of a footer."""
        ids, lengths, rest = wire.pairs(data, ENTRIES, (_UNIQUE_ID, _LENGTH))
        kept = np.concatenate([data[:0], *(data[a:b] for a, b in rest)])
        return cls(ids.view(np.int32), lengths, kept)

    def directory(self, region: int, limit: int) -> Directory:
        """The directory of a V3 footer. region: where the first column's metadata lies.

        All metadata lies before ``limit``. Raises Corrupt.
        """
        if not len(self.ids) or region <= 0:
            raise Corrupt("a footer of version 2 without a column meta region")
        if not self.lengths.all():
            raise Corrupt(f"the metadata of column {int(np.argmin(self.lengths))} has no bytes")
        ends: Offsets = np.cumsum(self.lengths, dtype=np.int64)
        if int(ends[-1]) > limit - region:
            raise Corrupt(
                f"{ends[-1]} bytes of column metadata at {region}, all lies before {limit}"
            )
        return Directory.of(self.ids, ends - self.lengths + region, self.lengths, last=True)


@dataclass(frozen=True, slots=True, eq=False)
class Inline:
    """The columns of a V2 footer. paths: where the ColumnPath of each lies within it, for those
    (``places``) that have one."""

    directory: Directory
    places: Offsets
    paths: Offsets


def inline(data: Bytes, offset: int) -> Inline:
    """The columns in a V2 footer, which is ``data`` and lies at ``offset`` of the file."""
    (starts, stops, _), found = wire.located(data, 2, (_META_UNIQUE_ID, _META_PATH))
    ids = _signed(found[:, 0, 0])
    directory = Directory.of(ids, starts + offset, stops - starts, last=False)
    places = np.flatnonzero(found[:, 1, 1] >= 0)
    return Inline(directory, places, found[places, 1])


def _signed(values: Offsets) -> Offsets:
    """The numbers as protobuf reads an int32: the low 32 bits, with their sign."""
    return (values & 0xFFFFFFFF).astype(np.uint32).view(np.int32).astype(np.int64)


def _ordered(ids: Ints, last: bool) -> Offsets:
    """Positions by id; among equal ones first that which counts."""
    if not last:
        return np.argsort(ids, kind="stable")
    backwards: Sequence[int] | Offsets = np.argsort(ids[::-1], kind="stable")
    return np.asarray(len(ids) - 1 - np.asarray(backwards), np.int64)


def _narrow(values: Ints) -> Ints:
    """The same numbers in the fewest bytes."""
    if not len(values):
        return values.astype(np.uint8)
    low, high = np.min_scalar_type(int(values.min())), np.min_scalar_type(int(values.max()))
    return values.astype(np.promote_types(low, high))
