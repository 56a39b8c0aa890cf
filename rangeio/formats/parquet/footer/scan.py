"""A Thrift FileMetaData walked field by field in plain Python: the oracle of other scanners."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, DEPTH, I16, I64, LIST, SET, STRUCT, Buffer
from rangeio.errors import Corrupt
from rangeio.formats.parquet.footer.layout import Layout

CHUNK_DEPTH = 3
"""How deep a ColumnChunk lies: below the row groups, one of them, and its list of chunks."""

Places: TypeAlias = npt.NDArray[np.uint32]
Chunks: TypeAlias = Callable[[Buffer, int, Places], int]
"""Walks the chunks that begin at a position: fills in where each starts and where the last one
ends, which it returns. There is one place more than there are chunks."""

_INT32 = 0x7FFFFFFF
_INT64 = (1 << 63) - 1
_FARTHEST = 1 << 31  # an id beyond it is no id
_STOP = -1
_MOST_FIELDS = 1024
_ELEMENT = struct.Struct("=9i")
_GROUP = struct.Struct("=5q")
_SLOTS = {1: 5, 3: 6, 5: 4, 9: 7}  # where an integer of a SchemaElement goes


def scan(data: memoryview) -> Layout:
    """Where all parts of the FileMetaData lie that begins at the first byte; more may follow it.

    Linear in time; takes less than 14 bytes for each byte of the footer. Raises Corrupt.
    """
    _sized(data)
    return walk(bytes(data), in_turn)


def walk(data: Buffer, chunks: Chunks) -> Layout:
    """As :func:`scan`, with the chunks of a row group walked by ``chunks``."""
    _sized(data)
    try:
        return _Walk(data, chunks).layout()
    except IndexError:
        raise Corrupt("the footer ends before its last byte", offset=len(data)) from None


def _sized(data: Buffer) -> None:
    if not 0 < len(data) <= _INT32:
        raise Corrupt(f"a footer of {len(data)} bytes")


def in_turn(data: Buffer, at: int, places: Places) -> int:
    """One chunk after the other."""
    out = places.data
    last = len(out) - 1
    for i in range(last):
        out[i] = at
        at = struct_end(data, at, CHUNK_DEPTH)
    out[last] = at
    return at


# ---- what is only skipped ------------------------------------------------------------------------


def struct_end(data: Buffer, at: int, depth: int) -> int:
    """Where a struct ends: as :func:`rangeio.codecs.thrift.skip`, in less time.

    What reaches beyond the bytes raises IndexError at the next head, which every struct has.
    """
    if depth > DEPTH:
        raise Corrupt(f"Thrift values nested more than {DEPTH} deep", offset=at)
    while head := data[at]:
        at += 1
        if head < 16:
            at = thrift.varint(data, at)[1]
        kind = head & 15
        if I16 <= kind <= I64:
            at = at + 1 if data[at] < 128 else thrift.varint(data, at)[1]
        elif kind == BINARY:
            size, at = (data[at], at + 1) if data[at] < 128 else thrift.varint(data, at)
            at += size
        elif kind == STRUCT:
            at = struct_end(data, at, depth + 1)
        else:
            at = value_end(data, at, kind, depth + 1)
    return at + 1


def value_end(data: Buffer, at: int, kind: int, depth: int) -> int:
    """Where the value of a field ends; of lists of structs in less time than by ``thrift.skip``."""
    if kind == STRUCT:
        return struct_end(data, at, depth)
    if kind in (LIST, SET) and depth <= DEPTH:
        count, element, first = thrift.sized(data, at)
        if element == STRUCT:
            for _ in range(count):
                first = struct_end(data, first, depth + 1)
            return first
    return thrift.skip(data, at, kind, depth)


# ---- what is looked at ---------------------------------------------------------------------------


def field(data: Buffer, at: int, last: int) -> tuple[int, int, int]:
    """(id, type, where the value begins) of the field at ``at``, after one of the id ``last``.

    The type is -1 at the stop byte.
    """
    head = data[at]
    if head > 15:
        last += head >> 4
        at += 1
    elif not head:
        return last, _STOP, at + 1
    else:
        last, at = thrift.integer(data, at + 1)
    if not -_FARTHEST <= last <= _FARTHEST:
        raise Corrupt(f"a Thrift field of the id {last}", offset=at)
    return last, head & 15, at


def integer(data: Buffer, at: int, kind: int, low: int, high: int) -> tuple[int, int]:
    """An integer of ``low`` to ``high``, and where it ends."""
    if not I16 <= kind <= I64:
        raise Corrupt(f"the type {kind} where an integer is due", offset=at)
    byte = data[at]
    value, stop = thrift.integer(data, at) if byte > 127 else (byte >> 1 ^ -(byte & 1), at + 1)
    if not low <= value <= high:
        raise Corrupt(f"{value} is not one of {low} to {high}", offset=at)
    return value, stop


def structs(data: Buffer, at: int, kind: int, least: int) -> tuple[int, int]:
    """How many structs of ``least`` bytes or more a list has, and where the first one begins."""
    if kind != LIST:
        raise Corrupt(f"the type {kind} where a list is due", offset=at)
    count, element, at = thrift.sized(data, at)
    if count and element != STRUCT:
        raise Corrupt(f"a list of the type {element} where structs are due", offset=at)
    if count > (len(data) - at) // least:
        raise Corrupt(f"a list of {count} structs in {len(data) - at} bytes", offset=at)
    return count, at


class _Walk:
    """What is known of a footer while its fields are walked."""

    def __init__(self, data: Buffer, chunks: Chunks) -> None:
        self.data = data
        self.chunks = chunks
        self.elements: npt.NDArray[np.int32] | None = None
        self.leaves = 0
        self.groups: tuple[npt.NDArray[np.int64], Places, int] | None = None
        self.groups_at = -1
        self.rows = -1

    def layout(self) -> Layout:
        """Everything, once all fields are walked."""
        fields: list[tuple[int, int, int, int]] = []
        last, kind, at = field(self.data, 0, 0)
        while kind != _STOP:
            if len(fields) == _MOST_FIELDS:
                raise Corrupt(f"a footer of more than {_MOST_FIELDS} fields", offset=at)
            stop = self._value(last, kind, at)
            fields.append((last, kind, at, stop))
            last, kind, at = field(self.data, stop, last)
        if self.elements is None or self.groups_at < 0 or self.rows < 0:
            raise Corrupt("a footer without schema, row groups or number of rows")
        groups, chunks, _ = self.groups or self._groups(self.groups_at, LIST)
        return Layout(np.array(fields, np.int64), self.elements, groups, chunks, self.rows, at)

    def _value(self, id_: int, kind: int, at: int) -> int:
        """Where the value of a top-level field ends; it is kept where it is wanted."""
        if id_ == 2:
            _once(self.elements is None, at)
            self.elements, self.leaves, stop = elements(self.data, at, kind)
            return stop
        if id_ == 3:
            _once(self.rows < 0, at)
            self.rows, stop = integer(self.data, at, kind, 0, _INT64)
            return stop
        if id_ != 4:
            return value_end(self.data, at, kind, 0)
        _once(self.groups_at < 0, at)
        self.groups_at = at
        if self.elements is not None:
            self.groups = self._groups(at, kind)
            return self.groups[2]
        # Before the schema nobody knows how many chunks are due: they are walked at the end.
        structs(self.data, at, kind, 1)
        return value_end(self.data, at, kind, 0)

    def _groups(self, at: int, kind: int) -> tuple[npt.NDArray[np.int64], Places, int]:
        """Row groups, chunks, and where the list of row groups ends."""
        # A row group has a byte for each chunk, and five more.
        count, at = structs(self.data, at, kind, self.leaves + 5)
        groups = np.empty((count, 5), np.int64)
        places = np.empty((count, self.leaves + 1), np.uint32)
        for i in range(count):
            row = self._group(at, places[i])
            _GROUP.pack_into(groups[i].data, 0, *row)
            at = row[1]
        return groups, places, at

    def _group(self, at: int, places: Places) -> tuple[int, int, int, int, int]:
        """A row of the groups; ``places`` is filled."""
        start, first, stop, rows = at, -1, -1, -1
        last, kind, at = field(self.data, at, 0)
        while kind != _STOP:
            if last == 1:
                _once(first < 0, at)
                first = at
                count, at = structs(self.data, at, kind, 1)
                if count != self.leaves:
                    raise Corrupt(f"{count} chunks of {self.leaves} leaves", offset=at)
                at = stop = self.chunks(self.data, at, places)
            elif last == 3:
                _once(rows < 0, at)
                rows, at = integer(self.data, at, kind, 0, _INT64)
            else:
                at = value_end(self.data, at, kind, 2)
            last, kind, at = field(self.data, at, last)
        if first < 0 or rows < 0:
            raise Corrupt("a row group without columns or number of rows", offset=at)
        return start, at, first, stop, rows


def elements(data: Buffer, at: int, kind: int) -> tuple[npt.NDArray[np.int32], int, int]:
    """The schema's elements as Layout has them, how many are leaves, and where their list ends.

    ``at``, ``kind``: the value of field 2 of a FileMetaData, and its type.
    """
    count, at = structs(data, at, kind, 3)
    if not count:
        raise Corrupt("a schema without elements", offset=at)
    table = np.empty((count, 9), np.int32)
    out = table.data.cast("B")
    to_come, leaves = 1, 0
    for i in range(count):
        row = _element(data, at)
        at = row[1]
        _ELEMENT.pack_into(out, i * _ELEMENT.size, *row)
        children = max(row[4], 0)
        leaves += not children and i > 0
        # Each takes a place of its own, which must be there, and makes room for its children.
        to_come += children - 1
        if to_come < 1 and i < count - 1:
            raise Corrupt("a schema of more elements than its groups have room for", offset=at)
    if to_come:
        raise Corrupt("a schema of fewer elements than its groups have room for", offset=at)
    return table, leaves, at


def _element(data: Buffer, at: int) -> list[int]:
    """A row of the elements."""
    row = [at, -1, -1, -1, -1, -1, -1, 0, 0]
    last, kind, at = field(data, at, 0)
    while kind != _STOP:
        slot = _SLOTS.get(last)
        if last == 4:
            _once(row[2] < 0, at)
            if kind != BINARY:
                raise Corrupt(f"a schema element's name has the type {kind}", offset=at)
            size, at = thrift.varint(data, at)
            row[2:4] = at, size
            at += size
        elif slot is None:
            at = value_end(data, at, kind, 2)
        elif slot == 7:
            _once(not row[8], at)
            row[7], at = integer(data, at, kind, -_INT32 - 1, _INT32)
            row[8] = 1
        else:
            _once(row[slot] < 0, at)
            row[slot], at = integer(data, at, kind, 0, _INT32)
        last, kind, at = field(data, at, last)
    if row[2] < 0:
        raise Corrupt("a schema element without a name", offset=at)
    row[1] = at
    return row


def _once(first: bool, at: int) -> None:
    if not first:
        raise Corrupt("a Thrift field that comes twice", offset=at)
