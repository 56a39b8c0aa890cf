"""Appends the FlatBuffer of a Thrift footer to it, as an extension that other readers skip."""

from __future__ import annotations

from collections.abc import Iterator

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.errors import Corrupt, RequestError
from rangeio.formats.parquet.flatbuffer import annotation
from rangeio.formats.parquet.flatbuffer.buffers import I8, I16, I32, I64, U8
from rangeio.formats.parquet.flatbuffer.building import Building, Built, Field
from rangeio.formats.parquet.flatbuffer.chunkwriter import written_chunk
from rangeio.formats.parquet.flatbuffer.container import FIELDS, sealed
from rangeio.formats.parquet.flatbuffer.extremes import Kind
from rangeio.formats.parquet.flatbuffer.slots import NEWEST, File, Group, Pair, Sorting

_TYPE_ORDER = 1


def extended(footer: bytes) -> bytes:
    """The same Thrift FileMetaData with its FlatBuffer in an extension, before the stop byte.

    Raises RequestError where the package flatbuffers is missing, and where the footer says what a
    FlatBuffer footer has no words for: encryption, other files, logical types that came later;
    Corrupt where it is no FileMetaData.
    """
    places = _Places(footer, 0)
    if places.stop != len(footer) - 1:
        raise Corrupt("bytes after a FileMetaData that are none of it", offset=places.stop)
    if any(field in places for field in FIELDS):
        raise RequestError("the footer has an extension already")
    if 8 in places or 9 in places:
        raise RequestError("the footer of an encrypted file takes no FlatBuffer: it is signed")
    return footer[:-1] + sealed(_flat(footer, places)) + footer[-1:]


class _Places:
    """Where the values of a struct's fields are, for structs with lists too long to read whole."""

    def __init__(self, footer: bytes, at: int) -> None:
        self._footer, self.stop = footer, at
        self._fields: dict[int, tuple[int, int]] = {}
        for field, kind, start, self.stop in thrift.fields(footer, at):
            self._fields[field] = (kind, start)

    def __contains__(self, field: int) -> bool:
        return field in self._fields

    def number(self, field: int) -> int:
        """An integer that must be there."""
        return thrift.integer(self._footer, self._at(field, thrift.I16, thrift.I32, thrift.I64))[0]

    def text(self, field: int) -> bytes:
        """Bytes that must be there."""
        size, start = thrift.varint(self._footer, self._at(field, thrift.BINARY))
        return self._footer[start : start + size]

    def structs(self, field: int) -> Iterator[int]:
        """Where the structs of a list begin that must be there."""
        count, at = self._list(field)
        for _ in range(count):
            yield at
            at = thrift.skip(self._footer, at, thrift.STRUCT)

    def read(self, field: int) -> Iterator[Struct]:
        """The structs of a list that must be there, one at a time."""
        count, at = self._list(field)
        for _ in range(count):
            value, at = thrift.read(self._footer, at)
            yield value

    def _list(self, field: int) -> tuple[int, int]:
        """How many structs a list has, and where the first begins."""
        count, element, at = thrift.sized(self._footer, self._at(field, thrift.LIST))
        if count and element != thrift.STRUCT:
            raise Corrupt(f"field {field} of a footer is no list of structs", offset=at)
        return count, at

    def _at(self, field: int, *kinds: int) -> int:
        kind, at = self._fields.get(field, (0, 0))
        if kind not in kinds:
            raise Corrupt(f"a footer without field {field}, or of another type")
        return at


def _flat(footer: bytes, places: _Places) -> bytes:
    """The FlatBuffer of a footer whose fields are at ``places``."""
    out = Building()
    elements = list(places.read(2))
    kinds = [_kind(element) for element in elements if _leaf(element)]
    groups = [_group(out, footer, at, kinds) for at in places.structs(4)]
    fields: dict[int, Field] = {
        File.SCHEMA: _schema(out, elements, _orders(places, len(kinds))),
        File.NUM_ROWS: (places.number(3), I64),
        File.ROW_GROUPS: out.tables(groups),
    }
    if 1 in places:
        fields[File.VERSION] = (places.number(1), I32)
    if 5 in places:
        fields[File.METADATA] = out.tables([_pair(out, pair) for pair in places.read(5)])
    if 6 in places:
        fields[File.CREATED_BY] = out.text(places.text(6))
    return out.finished(out.table(fields))


def _leaf(element: Struct) -> bool:
    return element.integer(1) is not None


def _kind(element: Struct) -> Kind:
    logical = annotation.understood(element)
    return Kind(element.integer(1) or 0, element.integer(2), logical.kind if logical else 0)


def _orders(places: _Places, leaves: int) -> list[bool]:
    """Which leaves are ordered as their type is; for other orders there is no word."""
    if 7 not in places:
        return [False] * leaves
    orders = [_TYPE_ORDER in union for union in places.read(7)]
    if len(orders) != leaves:
        raise Corrupt(f"{len(orders)} column orders for {leaves} leaves")
    return orders


def _schema(out: Building, elements: list[Struct], orders: list[bool]) -> Built:
    ordered = iter(orders)
    return out.tables(
        [_element(out, one, _leaf(one) and next(ordered)) for one in elements],
    )


def _element(out: Building, element: Struct, ordered: bool) -> Built:
    fields: dict[int, Field] = {NEWEST.name: out.text(element.binary(4) or b"")}
    numbers = (
        (1, NEWEST.kind, I8),
        (2, NEWEST.type_length, I32),
        (3, NEWEST.repetition, I8),
        (5, NEWEST.children, I32),
        (9, NEWEST.field_id, I32),
    )
    for field, slot, size in numbers:
        number = element.integer(field)
        if number is not None:
            fields[slot] = (number, size)
    logical = annotation.understood(element)
    if logical is not None:
        fields[NEWEST.logical] = (logical.kind, U8)
        fields[NEWEST.logical + 1] = _logical(out, logical)
    if ordered:
        fields[NEWEST.order], fields[NEWEST.order + 1] = (_TYPE_ORDER, U8), out.nothing
    return out.table(fields)


def _logical(out: Building, logical: annotation.Annotation) -> Built:
    slots = annotation.NUMBERS.get(logical.kind, ())
    fields: dict[int, Field] = {
        slot: (number, size) for (slot, size), number in zip(slots, logical.numbers, strict=False)
    }
    if logical.crs is not None:
        fields[annotation.CRS] = out.text(logical.crs)
    return out.table(fields) if fields else out.nothing


def _pair(out: Building, pair: Struct) -> Built:
    fields: dict[int, Field] = {Pair.KEY: out.text(pair.binary(1) or b"")}
    value = pair.binary(2)
    if value is not None:
        fields[Pair.VALUE] = out.text(value)
    return out.table(fields)


def _group(out: Building, footer: bytes, at: int, kinds: list[Kind]) -> Built:
    """A RowGroup; its chunks are read one at a time, for there may be many."""
    places = _Places(footer, at)
    rows = places.number(3)
    chunks = places.read(1)
    built = [
        written_chunk(out, kind, chunk, rows) for kind, chunk in zip(kinds, chunks, strict=False)
    ]
    if len(built) != len(kinds) or next(chunks, None) is not None:
        raise Corrupt(f"a row group that does not have {len(kinds)} columns", offset=at)
    fields: dict[int, Field] = {Group.COLUMNS: out.tables(built)}
    for field, slot, size in (
        (2, Group.TOTAL_BYTE_SIZE, I64),
        (3, Group.NUM_ROWS, I64),
        (5, Group.FILE_OFFSET, I64),
        (6, Group.TOTAL_COMPRESSED_SIZE, I64),
        (7, Group.ORDINAL, I16),
    ):
        if field in places:
            fields[slot] = (places.number(field), size)
    if 4 in places:
        sorting = [_sorting(out, one) for one in places.read(4)]
        fields[Group.SORTING_COLUMNS] = out.tables(sorting)
    return out.table(fields)


def _sorting(out: Building, column: Struct) -> Built:
    return out.table(
        {
            Sorting.COLUMN: (column.integer(1) or 0, I32),
            Sorting.DESCENDING: (int(column.flag(2) or False), U8),
            Sorting.NULLS_FIRST: (int(column.flag(3) or False), U8),
        }
    )
