"""The tables of a FlatBuffer, every offset checked against the bytes present.

A table begins with how far before it its vtable lies; the vtable has its own size, the table's, and
for each slot where in the table the field lies, 0 where it is absent. What a field refers to lies
as far behind the field as the field says. Alignment is not asked for.
"""

from __future__ import annotations

import struct
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes, Offsets, within, words
from rangeio.errors import Corrupt

I8, U8 = struct.Struct("<b"), struct.Struct("<B")
I16, I32, I64 = struct.Struct("<h"), struct.Struct("<i"), struct.Struct("<q")
U16, U32, U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")

Numbers: TypeAlias = npt.NDArray[np.signedinteger | np.unsignedinteger]
N = TypeVar("N", bound=np.integer)

_SLOTS = 16  # no table has more that anybody knows
_SHORT, _WORD, _SIGNED = np.dtype("<u2"), np.dtype("<u4"), np.dtype("<i4")


def root(data: memoryview) -> Table:
    """The root table. Raises Corrupt."""
    if len(data) < 4:
        raise Corrupt(f"a FlatBuffer of {len(data)} bytes")
    return Table(data, U32.unpack_from(data)[0])


class Table:
    """One table: absent numbers are the default, other absent fields None. Raises Corrupt."""

    __slots__ = ("_at", "_data", "_size", "_slots")

    def __init__(self, data: memoryview, at: int) -> None:
        _present(data, at, 4)
        vtable = at - I32.unpack_from(data, at)[0]
        _present(data, vtable, 4)
        taken, size = U16.unpack_from(data, vtable)[0], U16.unpack_from(data, vtable + 2)[0]
        _present(data, vtable, taken)
        _present(data, at, size)
        count = min(max(taken - 4, 0) // 2, _SLOTS)
        self._data, self._at, self._size = data, at, size
        self._slots: tuple[int, ...] = struct.unpack_from(f"<{count}H", data, vtable + 4)

    def has(self, slot: int) -> bool:
        """Whether the field is there."""
        return slot < len(self._slots) and self._slots[slot] != 0

    def number(self, slot: int, kind: struct.Struct, default: int = 0) -> int:
        """An integer."""
        at = self._slots[slot] if slot < len(self._slots) else 0
        if not at:
            return default
        if at + kind.size > self._size:
            raise Corrupt(f"a FlatBuffer's field reaches beyond its table at {self._at}")
        value: int = kind.unpack_from(self._data, self._at + at)[0]
        return value

    def table(self, slot: int) -> Table | None:
        """Another table."""
        return Table(self._data, self._target(slot)) if self.has(slot) else None

    def vector(self, slot: int, width: int) -> tuple[int, int]:
        """Where the elements of a vector begin, and how many there are; an absent one has none."""
        if not self.has(slot):
            return 0, 0
        at = self._target(slot)
        _present(self._data, at, 4)
        count = U32.unpack_from(self._data, at)[0]
        _present(self._data, at + 4, count * width)
        return at + 4, count

    def raw(self, slot: int) -> memoryview | None:
        """A string, or a vector of bytes."""
        start, count = self.vector(slot, 1)
        return self._data[start : start + count] if self.has(slot) else None

    def _target(self, slot: int) -> int:
        return self._at + self._slots[slot] + self.number(slot, U32)


def _present(data: memoryview, at: int, size: int) -> None:
    if not 0 <= at <= len(data) - size:
        raise Corrupt(f"a FlatBuffer of {len(data)} bytes refers to {size} at {at}")


class Tables:
    """Many tables of one kind: arrays have one entry a table. Raises Corrupt.

    data: the whole FlatBuffer. at: where the tables are.
    """

    def __init__(self, data: Bytes, at: Offsets) -> None:
        self._data, self._at = data, at
        self._vtables = at - self._words(at, _SIGNED, "table")
        self._taken = self._words(self._vtables, _SHORT, "vtable")
        self._sizes = self._words(self._vtables + 2, _SHORT, "vtable")
        within(self._vtables, self._taken, len(data), "vtable")
        within(at, self._sizes, len(data), "table")

    def _words(self, at: Offsets, kind: np.dtype[N], what: str) -> Offsets:
        within(at, kind.itemsize, len(self._data), what)
        return words(self._data, at, kind).astype(np.int64)

    def _fields(self, slot: int, size: int) -> tuple[npt.NDArray[np.intp], Offsets]:
        """Which tables have a field of ``size`` bytes, and where it is."""
        has = np.flatnonzero(self._taken >= 6 + 2 * slot)
        inside = words(self._data, self._vtables[has] + 4 + 2 * slot, _SHORT).astype(np.int64)
        there = inside != 0
        has, inside = has[there], inside[there]
        if (inside + size > self._sizes[has]).any():
            raise Corrupt("a FlatBuffer's field reaches beyond its table")
        return has, self._at[has] + inside

    def has(self, slot: int) -> npt.NDArray[np.bool_]:
        """Whether the field is there."""
        out = np.zeros(len(self._at), np.bool_)
        out[self._fields(slot, 0)[0]] = True
        return out

    def numbers(self, slot: int, kind: np.dtype[N], default: int = 0) -> npt.NDArray[N]:
        """Integers, the default where they are absent."""
        out = np.full(len(self._at), default, kind)
        has, at = self._fields(slot, kind.itemsize)
        out[has] = words(self._data, at, kind)
        return out

    def follow(self, slot: int) -> Offsets:
        """Where tables, vectors and strings begin; Corrupt where one is absent."""
        has, at = self._fields(slot, 4)
        if len(has) != len(self._at):
            raise Corrupt(f"a FlatBuffer's table without the field in slot {slot}")
        return at + words(self._data, at, _WORD)

    def spans(self, slot: int, width: int = 1) -> tuple[Offsets, Offsets]:
        """Where the elements of strings and vectors begin, and how many there are."""
        at = self.follow(slot)
        counts = self._words(at, _WORD, "vector")
        within(at + 4, counts * width, len(self._data), "vector")
        return at + 4, counts


def elements(data: Bytes, start: int, count: int) -> Offsets:
    """Where the tables of a vector of tables are. The vector is within the data."""
    at = start + 4 * np.arange(count, dtype=np.int64)
    return at + words(data, at, _WORD)
