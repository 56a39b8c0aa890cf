"""A Parquet footer read from its FlatBuffer; what is asked of it is told in Thrift."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from rangeio.codecs import thrift
from rangeio.codecs.bounds import Offsets, total
from rangeio.errors import Corrupt
from rangeio.formats.parquet.flatbuffer import buffers
from rangeio.formats.parquet.flatbuffer.buffers import I16, I64, U32, Table, Tables
from rangeio.formats.parquet.flatbuffer.chunk import Context, column_chunk
from rangeio.formats.parquet.flatbuffer.extremes import Kind
from rangeio.formats.parquet.flatbuffer.schema import FOLD, FlatSchema
from rangeio.formats.parquet.flatbuffer.slots import File, Group, Pair
from rangeio.formats.parquet.footer.footer import Int64, Part, one_by_one
from rangeio.formats.parquet.footer.locate import ARROW_SCHEMA

_SMALLEST_GROUP, _SMALLEST_CHUNK, _SMALLEST_PAIR = 12, 16, 8
"""Bytes that a table and its place in a vector take; more entries than fit would share tables."""

_LONG = np.dtype("<i8")


class FlatFooter:
    """The footer that a FlatBuffer holds, as the protocol Footer has it; immutable.

    The constructor raises Corrupt where the schema, the row groups or the metadata contradict the
    bytes present or one another, and where the first or the last column chunk does not read: chunks
    of a revision that is not known are all alike. The others are checked when they are asked for.
    """

    data = memoryview(b"")

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._whole = np.frombuffer(data, np.uint8)
        self._root = buffers.root(data)
        self._schema = FlatSchema(data, self._whole, *self._root.vector(File.SCHEMA, 4))
        self.elements = self._schema.elements
        self.num_rows = self._root.number(File.NUM_ROWS, I64)
        self._groups = self._vector(File.ROW_GROUPS, _SMALLEST_GROUP)
        self._columns, self.group_rows = self._row_groups()
        self._keys, self._values = self._pairs()
        self.created_by = bytes(self._root.raw(File.CREATED_BY) or b"").decode(errors="replace")
        self.weight = len(data) + self._schema.weight + 3 * self.group_rows.nbytes
        if len(self._groups) and len(self._schema.leaves):
            self.chunk(0, 0)
            self.chunk(len(self._groups) - 1, len(self._schema.leaves) - 1)

    def _vector(self, slot: int, smallest: int) -> Offsets:
        """Where the tables of one of the root's vectors are."""
        start, count = self._root.vector(slot, 4)
        if count > len(self._data) // smallest:
            raise Corrupt(f"{count} tables in a FlatBuffer of {len(self._data)} bytes")
        return buffers.elements(self._whole, start, count)

    def _row_groups(self) -> tuple[Offsets, Int64]:
        """Where each row group's vector of chunks begins, and how many rows it has."""
        tables = Tables(self._whole, self._groups)
        rows = tables.numbers(Group.NUM_ROWS, _LONG).astype(np.int64)
        if total(rows, self.num_rows, "rows of the row groups") != self.num_rows:
            raise Corrupt(f"row groups that do not have {self.num_rows} rows together")
        leaves, size = len(self._schema.leaves), len(self._data)
        if not leaves:
            return np.zeros(len(rows), np.int64), rows
        columns, counts = tables.spans(Group.COLUMNS, 4)
        if (counts != leaves).any():
            raise Corrupt(f"a row group that does not have {leaves} columns")
        if len(rows) * leaves * _SMALLEST_CHUNK > size:
            raise Corrupt(f"{len(rows)} row groups of {leaves} columns in {size} bytes")
        if max(len(rows), 1) * self._schema.path_bytes > FOLD * size:
            raise Corrupt("paths of columns that are larger than the FlatBuffer")
        return columns, rows

    def _pairs(self) -> tuple[tuple[Offsets, Offsets], tuple[Offsets, Offsets]]:
        """Where keys and values of the metadata begin, and their sizes; absent values are empty."""
        at = self._vector(File.METADATA, _SMALLEST_PAIR)
        tables = Tables(self._whole, at)
        has = tables.has(Pair.VALUE)
        starts, sizes = np.zeros(len(at), np.int64), np.zeros(len(at), np.int64)
        starts[has], sizes[has] = Tables(self._whole, at[has]).spans(Pair.VALUE)
        keys = tables.spans(Pair.KEY)
        if int(keys[1].sum() + sizes.sum()) > FOLD * len(self._data):
            raise Corrupt("metadata that is larger than the FlatBuffer")
        return keys, (starts, sizes)

    # ---- the schema ------------------------------------------------------------------------------

    def name(self, element: int) -> bytes:
        """The name of a schema element."""
        return self._schema.name(element)

    def named(self, name: bytes) -> Sequence[int]:
        """The elements of this name, but for the root."""
        return self._schema.named(name)

    def element(self, element: int) -> bytes:
        """A SchemaElement as a Thrift struct."""
        return self._schema.element(element)

    def order(self, leaf: int) -> int:
        """Which member of the union ColumnOrder a leaf has, 0 for none."""
        return self._schema.order(leaf)

    # ---- row groups ------------------------------------------------------------------------------

    def group(self, group: int) -> Sequence[Part]:
        """The fields of a RowGroup, but for its columns (1) and sorting_columns (4)."""
        table = Table(self._data, int(self._groups[group]))
        parts = [
            (2, thrift.I64, table.number(Group.TOTAL_BYTE_SIZE, I64)),
            (3, thrift.I64, table.number(Group.NUM_ROWS, I64)),
        ]
        if table.has(Group.FILE_OFFSET):
            parts.append((5, thrift.I64, table.number(Group.FILE_OFFSET, I64)))
        if table.has(Group.TOTAL_COMPRESSED_SIZE):
            parts.append((6, thrift.I64, table.number(Group.TOTAL_COMPRESSED_SIZE, I64)))
        if table.has(Group.ORDINAL):
            parts.append((7, thrift.I16, table.number(Group.ORDINAL, I16)))
        return [(field, kind, thrift.encoded(kind, value)) for field, kind, value in parts]

    def described(self) -> Iterable[bytes | memoryview]:
        """The elements, one by one."""
        return one_by_one(self)

    def chunk(self, group: int, leaf: int) -> bytes:
        """A ColumnChunk as a Thrift struct. Raises Corrupt."""
        at = int(self._columns[group]) + 4 * leaf
        table = Table(self._data, at + U32.unpack_from(self._data, at)[0])
        own = Table(self._data, int(self._groups[group]))
        element = int(self._schema.leaves[leaf])
        logical = self._schema.logical(element)
        kind = Kind(
            int(self.elements.physical[element]),
            self._schema.type_length(element),
            logical.kind if logical else 0,
        )
        start = own.number(Group.FILE_OFFSET, I64)
        rows = int(self.group_rows[group])
        path, revision = self._schema.path(leaf), self._schema.revision
        return column_chunk(table, Context(kind, path, rows, start, revision))

    # ---- metadata --------------------------------------------------------------------------------

    @cached_property
    def _metadata(self) -> dict[bytes, memoryview]:
        """The pairs; of equal keys the first counts."""
        found: dict[bytes, memoryview] = {}
        spans = np.stack([*self._keys, *self._values], axis=1)
        for key, key_size, value, value_size in spans.tolist():
            name = bytes(self._data[key : key + key_size])
            found.setdefault(name, self._data[value : value + value_size])
        return found

    def metadata(self) -> dict[bytes, bytes]:
        """key_value_metadata without ``ARROW:schema``."""
        return {k: bytes(v) for k, v in self._metadata.items() if k != ARROW_SCHEMA}

    def arrow_schema(self) -> memoryview | None:
        """The value of ``ARROW:schema``, base64, where there is one."""
        return self._metadata.get(ARROW_SCHEMA)
