"""Chosen fields of an ``ARROW:schema``: a small part of the message is decoded, and Arrow reads it.

All offsets in the message are relative. So a new head that lists the chosen fields only, followed
by the old bytes, zero wherever nothing was decoded, is a message too. What the types mean is left
to Arrow; known here is which tables hold offsets, and to what.
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.schema.ipcmessage import Message

DENSE = 8
"""Asked for more than one field in so many, a message is decoded whole."""
DEPTH = 128
"""Fields within one another, at most: no less than Arrow allows."""

# Slots of the tables Message, Schema, Field and of some types; numbers of the unions' members.
_VERSION, _HEADER_KIND, _HEADER = range(3)
_FIELDS = 1
_NAME, _NULLABLE, _KIND, _TYPE, _DICTIONARY, _CHILDREN, _METADATA = range(7)
_ZONE, _TYPE_IDS, _INDEX = 1, 1, 1
_SCHEMA, _TIMESTAMP, _UNION, _LARGE_LIST_VIEW = 1, 10, 14, 26

_WEIGHT = 192
"""What Arrow makes of a field, or of a pair of metadata, but for the text."""

_PREFIX = struct.Struct("<iI")
_HEAD = struct.Struct("<I5H2xiIHBx4HiII")
"""Root; Message: vtable and table; Schema: vtable and table; the size of the vector of fields."""


@dataclass(frozen=True, slots=True)
class _Root:
    """start: of the FlatBuffer, behind its prefix. fields: where their ``count`` offsets begin."""

    start: int
    version: int
    fields: int
    count: int


class ArrowSchema:
    """The value of ``ARROW:schema``, decoded as far as it is asked; immutable.

    encoded: base64, padded or not. Nothing is looked at before a method is called; the methods
    raise FormatError where the bytes are no schema.
    """

    def __init__(self, encoded: memoryview) -> None:
        self._encoded = encoded

    def __len__(self) -> int:
        """How many top-level fields there are."""
        return self._root.count

    def fields(self, positions: Sequence[int]) -> list[pa.Field]:
        """The top-level fields at ``positions``, as Arrow reads them from the whole message.

        Extension types that are registered are resolved. Raises Corrupt where there is no field.
        """
        root = self._root
        for position in positions:
            if not 0 <= position < root.count:
                raise Corrupt(f"ARROW:schema has {root.count} fields, none at {position}")
        size = _PREFIX.size + _HEAD.size + 4 * len(positions)
        # Arrow checks that words are aligned: the old bytes move by a multiple of 8.
        message = Message(self._encoded, room=size + -(size - _PREFIX.size + root.start) % 8)
        if DENSE * len(positions) > root.count:
            message.complete()
        message.charge(_WEIGHT * len(positions))
        tables = [message.follow(root.fields + 4 * position) for position in positions]
        _cover(message, tables)
        return _read(message, root.version, tables)

    def vet(self) -> None:
        """Raise Corrupt where Arrow, given the whole value, would make many times its size of it,
        or a name that is no text."""
        root = self._root
        message = Message(self._encoded)
        message.complete()
        message.charge(_WEIGHT * root.count)
        at = root.fields + 4 * np.arange(root.count, dtype=np.int64)
        _cover(message, _unplain(message, at + message.numbers(at)))

    @cached_property
    def _root(self) -> _Root:
        message = Message(self._encoded)
        start = message.start()
        slots = message.table(message.follow(start), 4)
        if not slots[_HEADER] or message.bits(slots[_HEADER_KIND], 1) != _SCHEMA:
            raise Corrupt("ARROW:schema is not the message of a schema")
        listed = message.table(message.follow(slots[_HEADER]), 4)[_FIELDS]
        if not listed:
            raise Corrupt("ARROW:schema has no list of fields")
        fields = message.follow(listed)
        count = message.number(fields)
        message.inside(fields + 4, 4 * count)
        return _Root(start, message.bits(slots[_VERSION], 2), fields + 4, count)


def serialized(fields: Sequence[pa.Field]) -> bytes:
    """The value of ``ARROW:schema`` for these top-level fields.

    Raises Unsupported for what Arrow writes into no message: dictionaries of dictionaries.
    """
    try:
        message = pa.schema(fields).serialize()
    except pa.ArrowException as error:
        raise Unsupported(f"Arrow writes no schema of these fields: {str(error)[:200]}") from None
    return binascii.b2a_base64(message, newline=False)


def _cover(message: Message, tables: Sequence[int]) -> None:
    """Have all bytes decoded that Arrow looks at to read the fields ``tables``."""
    for _ in range(DEPTH):
        if not tables:
            return
        tables = [child for table in tables for child in _children(message, table)]
    raise Corrupt(f"ARROW:schema nests fields more than {DEPTH} deep")


def _unplain(message: Message, tables: npt.NDArray[np.int64]) -> list[int]:
    """The fields that have more than a name and a type without text; the others are checked here,
    all at once."""
    layouts = tables - message.numbers(tables).view(np.int32)
    rest: list[int] = []
    for layout in np.unique(layouts).tolist():
        mine = tables[layouts == layout]
        slots = message.slots(layout)
        simple = np.ones(len(mine), np.bool_)
        if slots[_DICTIONARY] or not slots[_NAME] or not slots[_KIND]:
            simple[:] = False
        for slot in (slots[_CHILDREN], slots[_METADATA]):
            if slot:
                simple &= message.numbers(_followed(message, mine + slot)) == 0
        kinds = message.octets(mine + slots[_KIND])
        simple &= (kinds < _UNION) & (kinds != _TIMESTAMP)
        message.texts(_followed(message, mine[simple] + slots[_NAME]))
        rest += mine[~simple].tolist()
    return rest


def _followed(message: Message, at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return at + message.numbers(at)


def _children(message: Message, table: int) -> Sequence[int]:
    """The fields within a field, all else of which is decoded."""
    slots = message.table(table, 7)
    _text(message, slots[_NAME])
    if slots[_TYPE]:
        _cover_type(message, message.bits(slots[_KIND], 1), message.follow(slots[_TYPE]))
    if slots[_DICTIONARY]:
        index = message.table(message.follow(slots[_DICTIONARY]), 4)[_INDEX]
        if index:
            message.table(message.follow(index), 2)
    for pair in message.tables(slots[_METADATA], _WEIGHT):
        key, value = message.table(pair, 2)[:2]
        message.string(key)
        message.string(value)
    return message.tables(slots[_CHILDREN], _WEIGHT)


def _cover_type(message: Message, kind: int, table: int) -> None:
    if kind > _LARGE_LIST_VIEW:
        message.complete()  # a type of a later version
        return
    slots = message.table(table, 3)
    if kind == _TIMESTAMP:
        _text(message, slots[_ZONE])
    elif kind == _UNION:
        message.vector(slots[_TYPE_IDS], 4, 4)


def _text(message: Message, at: int) -> None:
    try:
        str(message.string(at), "utf-8")
    except UnicodeDecodeError:
        raise Corrupt("a name in ARROW:schema is not UTF-8") from None


def _read(message: Message, version: int, tables: Sequence[int]) -> list[pa.Field]:
    """The fields ``tables``: Arrow reads the message behind a head that lists only them."""
    first = _PREFIX.size + _HEAD.size
    head = (16, 10, 12, 8, 10, 4, 12, 16, version, _SCHEMA, 8, 8, 0, 4, 8, 4, len(tables))
    offsets = [message.room + table - (first + 4 * k) for k, table in enumerate(tables)]
    _PREFIX.pack_into(message.buffer, 0, -1, len(message.buffer) - _PREFIX.size)
    _HEAD.pack_into(message.buffer, _PREFIX.size, *head)
    struct.pack_into(f"<{len(tables)}I", message.buffer, first, *offsets)
    try:
        return list(pa.ipc.read_schema(pa.py_buffer(message.buffer)))
    except Exception as error:  # registered extension types run code of their own
        raise Corrupt(f"ARROW:schema is not a schema: {str(error)[:200]}") from None
