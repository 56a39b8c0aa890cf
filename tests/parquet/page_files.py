"""Parquet files taken apart with nothing but the Thrift tree: what tests of pages and their indexes
ask of a file, and pages chosen from it decoded by pyarrow."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.formats.parquet.leaf import Fact, Leaf, Order, ParquetMeta
from rangeio.formats.parquet.pages.file import Pages, dictionary_range, page_file
from rangeio.formats.parquet.pages.offsets import (
    ColumnIndex,
    OffsetIndex,
    column_index,
    offset_index,
)
from rangeio.ranges import ByteRange
from rangeio.schema import ColumnId

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "parquet-testing" / "data"

# Where ColumnChunk (the first four) and ColumnMetaData keep what the facts say.
CHUNK_FIELDS = {
    Fact.OFFSET_INDEX: 4,
    Fact.OFFSET_INDEX_SIZE: 5,
    Fact.COLUMN_INDEX: 6,
    Fact.COLUMN_INDEX_SIZE: 7,
}
META_FIELDS = {
    Fact.CODEC: 4,
    Fact.VALUES: 5,
    Fact.UNCOMPRESSED: 6,
    Fact.COMPRESSED: 7,
    Fact.DATA_PAGE: 9,
    Fact.DICTIONARY_PAGE: 11,
    Fact.BLOOM: 14,
    Fact.BLOOM_SIZE: 15,
    Fact.PHYSICAL: 1,
}


def shared(name: str) -> bytes:
    """A file of parquet-testing, or the test is skipped."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    return path.read_bytes()


def encoded(table: pa.Table, **options: Any) -> bytes:
    """The table as pyarrow writes it, with a page index."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, write_page_index=True, **options)
    return sink.getvalue().to_pybytes()


class Taken:
    """A file's metadata."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        size = struct.unpack("<I", data[-8:-4])[0]
        self.footer = thrift.read(data[-8 - size : -8])[0]
        self.elements: list[Struct] = self.footer.list(2) or []
        self.groups: list[Struct] = self.footer.list(4) or []
        self.group_rows = np.array([g.integer(3) for g in self.groups], np.int64)

    def part(self, at: ByteRange) -> memoryview:
        return memoryview(self.data)[at.start : at.stop]

    def _end(self, element: int) -> int:
        """The element after the subtree of this one."""
        after = element + 1
        for _ in range(self.elements[element].integer(5) or 0):
            after = self._end(after)
        return after

    @cached_property
    def fields(self) -> list[tuple[int, int]]:
        """The elements of every top-level field, start and stop."""
        starts = [1]
        while starts[-1] < len(self.elements):
            starts.append(self._end(starts[-1]))
        return list(pairwise(starts))

    @cached_property
    def metas(self) -> list[ParquetMeta]:
        """Of every leaf."""
        found: list[tuple[int, tuple[str, ...], int, int]] = []

        def walk(element: int, path: tuple[str, ...], definition: int, repetition: int) -> int:
            if element:
                name = (self.elements[element].binary(4) or b"").decode()
                kind = self.elements[element].integer(3)
                path = (*path, name)
                definition, repetition = definition + (kind != 0), repetition + (kind == 2)
            children = self.elements[element].integer(5) or 0
            if not children:
                found.append((element, path, definition, repetition))
            after = element + 1
            for _ in range(children):
                after = walk(after, path, definition, repetition)
            return after

        walk(0, (), 0, 0)
        return [self._meta(i, *one) for i, one in enumerate(found)]

    def _meta(
        self, index: int, element: int, path: tuple[str, ...], definition: int, repetition: int
    ) -> ParquetMeta:
        order = Order.TYPE if self.footer.list(7) else Order.ABSENT
        # The Arrow type says nothing to pages and indexes.
        leaf = Leaf(index, path, pa.null(), self.elements[element], definition, repetition, order)
        chunks = [g.list(1)[index] for g in self.groups]
        facts = np.full((len(chunks), len(Fact)), -1, np.int64)
        for row, chunk in zip(facts, chunks, strict=True):
            for fields, of in ((CHUNK_FIELDS, chunk), (META_FIELDS, chunk.struct(3) or Struct())):
                for fact, field in fields.items():
                    value = of.integer(field)
                    row[fact] = -1 if value is None else value
        return ParquetMeta(
            ColumnId(index, path),
            leaf,
            tuple(thrift.write(chunk) for chunk in chunks),
            facts,
            self.group_rows,
        )

    def leaves(self, field: int) -> list[ParquetMeta]:
        """The leaves of a top-level field."""
        start, stop = self.fields[field]
        before = [sum(1 for e in self.elements[1:k] if not e.integer(5)) for k in (start, stop)]
        return self.metas[before[0] : before[1]]

    def span(self, meta: ParquetMeta, group: int, at: Fact, size: Fact) -> ByteRange | None:
        start, length = meta.fact(group, at), meta.fact(group, size)
        return None if start <= 0 else ByteRange(start, start + length)

    def offset_index(self, meta: ParquetMeta, group: int) -> OffsetIndex | None:
        at = self.span(meta, group, Fact.OFFSET_INDEX, Fact.OFFSET_INDEX_SIZE)
        rows = int(self.group_rows[group])
        return None if at is None else offset_index(self.part(at), at, rows)

    def page_rows(self, meta: ParquetMeta, group: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        index = self.offset_index(meta, group)
        assert index is not None
        return np.diff(np.append(index.first_rows, self.group_rows[group]))

    def column_index(self, meta: ParquetMeta, group: int) -> ColumnIndex | None:
        at = self.span(meta, group, Fact.COLUMN_INDEX, Fact.COLUMN_INDEX_SIZE)
        assert at is not None, "there is no ColumnIndex"
        rows = self.page_rows(meta, group)
        return column_index(self.part(at), at, meta.leaf, len(rows), rows)

    @cached_property
    def arrow_schema(self) -> pa.Schema | None:
        for pair in self.footer.list(5) or []:
            if pair.binary(1) == b"ARROW:schema":
                return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(pair.binary(2))))
        return None

    # ---- chosen pages ----------------------------------------------------------------------------

    def cuts(self, field: int, group: int) -> list[int]:
        """The rows at which pages of all leaves of a field begin, and the end."""
        starts: set[int] | None = None
        for meta in self.leaves(field):
            index = self.offset_index(meta, group)
            assert index is not None
            mine = set(index.first_rows.tolist())
            starts = mine if starts is None else starts & mine
        return [*sorted(starts or ()), int(self.group_rows[group])]

    def pages(self, meta: ParquetMeta, group: int, rows: Sequence[tuple[int, int]]) -> Pages:
        """The pages of these rows, which must be whole pages: neighbours as one run."""
        index = self.offset_index(meta, group)
        assert index is not None
        ends = [*index.first_rows.tolist(), int(self.group_rows[group])]
        runs = []
        for start, stop in rows:
            a, b = ends.index(start), ends.index(stop) - 1
            last = int(index.offsets[b] + index.sizes[b])
            runs.append(self.part(ByteRange(int(index.offsets[a]), last)))
        first = dictionary_range(meta, group, int(index.offsets[0]))
        dictionary = None if first is None else self.part(first)
        return Pages(meta, group, dictionary, runs, sum(b - a for a, b in rows))

    def parts(
        self, field: int, leaves: Sequence[Pages], rows: int, root: bytes | None = None
    ) -> list[bytes | memoryview]:
        """A file of these pages, in parts."""
        start, stop = self.fields[field]
        schema = None
        if self.arrow_schema is not None:
            one = pa.schema([self.arrow_schema.field(field)])
            schema = base64.b64encode(one.serialize().to_pybytes())
        subtree = [thrift.write(element) for element in self.elements[start:stop]]
        top = thrift.write(self.elements[0]) if root is None else root
        return page_file(top, subtree, leaves, rows, schema, self.footer.binary(6))

    def chosen(
        self, field: int, group: int, rows: Sequence[tuple[int, int]]
    ) -> list[bytes | memoryview]:
        """A file of the pages of these rows, in parts."""
        leaves = [self.pages(meta, group, rows) for meta in self.leaves(field)]
        return self.parts(field, leaves, sum(b - a for a, b in rows))

    def decoded(self, field: int, group: int, rows: Sequence[tuple[int, int]]) -> pa.ChunkedArray:
        """What pyarrow makes of a file of chosen pages."""
        return column(b"".join(self.chosen(field, group, rows)))


def column(data: bytes) -> pa.ChunkedArray:
    """The one column of a file."""
    table = pq.ParquetFile(pa.BufferReader(data)).read()
    assert table.num_columns == 1
    return table.column(0)
