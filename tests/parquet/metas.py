"""The metadata of a Parquet file's leaves, made from nothing but its Thrift footer and pyarrow's
schema, and pruning driven over the file's bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from page_files import CHUNK_FIELDS, META_FIELDS

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.engine.drive import drive
from rangeio.formats.parquet.leaf import Fact, Leaf, Order, ParquetMeta
from rangeio.formats.parquet.pruning.kept import Kept, kept
from rangeio.plan import Rows
from rangeio.predicate import Filters, Predicate, parse
from rangeio.ranges import ByteRange
from rangeio.schema import Column, ColumnId, Schema
from rangeio.steps import Need

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "parquet-testing" / "data"
ORDERS = {0: Order.ABSENT, 1: Order.TYPE, 2: Order.IEEE_754_TOTAL, 3: Order.INT96_TIMESTAMP}


def column(field: pa.Field, above: tuple[str, ...] = ()) -> Column:
    """A column, by its Arrow field alone."""
    path = (*above, field.name)
    kind = field.type
    inner = [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []
    children = tuple(column(one, path) for one in inner)
    return Column(ColumnId(abs(hash(path)) % 10**6, path), kind, field.nullable, children=children)


def kinds(kind: pa.DataType) -> Iterator[pa.DataType]:
    """The types of the leaves below a type."""
    if isinstance(kind, pa.BaseExtensionType) and pa.types.is_nested(kind.storage_type):
        kind = kind.storage_type
    if not pa.types.is_nested(kind):
        yield kind
        return
    for i in range(kind.num_fields):
        yield from kinds(kind.field(i).type)


@dataclass(frozen=True)
class Pruned:
    """What pruning left, and the needs that it came to."""

    kept: Kept
    needs: list[Need]

    @property
    def rows(self) -> list[int]:
        """The rows that are left."""
        return self.kept.rows.array().tolist()

    @property
    def pruned(self) -> tuple[str, ...]:
        """What was left out, in words."""
        return self.kept.pruned

    @property
    def hops(self) -> list[str]:
        """Why each need was."""
        return [one.why for one in self.needs]


class Described:
    """A file and the metadata of its leaves."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.arrow = pq.ParquetFile(pa.BufferReader(data))
        size = struct.unpack("<I", data[-8:-4])[0]
        self.footer = thrift.read(data[-8 - size : -8])[0]
        self.groups: list[Struct] = self.footer.list(4) or []
        self.group_rows = np.array([group.integer(3) for group in self.groups], np.int64)
        self.schema = Schema.of([column(field) for field in self.arrow.schema_arrow])

    @cached_property
    def metas(self) -> list[ParquetMeta]:
        """Of every leaf."""
        elements = [one for one in self.footer.list(2) or [] if not one.integer(5)]
        orders = self.footer.list(7) or []
        types = [kind for field in self.arrow.schema_arrow for kind in kinds(field.type)]
        assert len(types) == len(elements)
        found = []
        for i, (element, kind) in enumerate(zip(elements, types, strict=True)):
            said = self.arrow.schema.column(i)
            order = ORDERS[next(iter(orders[i]), 0)] if orders else Order.ABSENT
            chunks = [group.list(1)[i] for group in self.groups]
            path = tuple(one.decode() for one in chunks[0].struct(3).list(3)) if chunks else ("",)
            levels = said.max_definition_level, said.max_repetition_level
            leaf = Leaf(i, path, kind, element, *levels, order)
            found.append(meta(leaf, chunks, self.group_rows))
        return found

    def meta(self, *path: str) -> ParquetMeta:
        """Of one leaf."""
        (found,) = [one for one in self.metas if one.leaf.path == path]
        return found

    def predicate(self, filters: Filters) -> Predicate:
        """A filter of this file."""
        return parse(filters, self.schema)

    def pruned(
        self,
        filters: Filters,
        rows: Rows | None = None,
        *,
        sparing: int = 0,
        metas: Sequence[ParquetMeta] | None = None,
    ) -> Pruned:
        """What is left of the rows, all of them by default."""
        needs: list[Need] = []

        def fetch(need: Need) -> list[memoryview]:
            needs.append(need)
            assert need.ranges, "a hop for nothing"
            return [self.part(at) for at in need.ranges]

        asked = Rows.span(0, int(self.group_rows.sum())) if rows is None else rows
        steps = kept(
            self.metas if metas is None else metas,
            self.predicate(filters),
            asked,
            size=len(self.data),
            sparing=sparing,
        )
        return Pruned(drive(steps, fetch), needs)

    def part(self, at: Any) -> memoryview:
        """Bytes of the file, all of which it must have."""
        assert isinstance(at, ByteRange)
        assert at.stop <= len(self.data)
        return memoryview(self.data)[at.start : at.stop]


def meta(leaf: Leaf, chunks: Sequence[Struct], group_rows: np.ndarray) -> ParquetMeta:
    """The metadata of a leaf, its facts read from its chunks."""
    written = tuple(thrift.write(chunk) for chunk in chunks)
    facts = np.full((len(chunks), len(Fact)), -1, np.int64)
    for row, chunk, raw in zip(facts, chunks, written, strict=True):
        for fields, of in ((CHUNK_FIELDS, chunk), (META_FIELDS, chunk.struct(3) or Struct())):
            for fact, field in fields.items():
                value = of.integer(field)
                row[fact] = -1 if value is None else value
        for field, kind, start, _ in thrift.fields(raw):
            if field == 3 and kind == thrift.STRUCT:
                inner = {f: at for f, _, at, _ in thrift.fields(raw, start)}
                row[Fact.STATISTICS] = inner.get(12, -1)
    return ParquetMeta(ColumnId(leaf.index, leaf.path), leaf, written, facts, group_rows)


def written(table: pa.Table, **options: Any) -> Described:
    """The table as pyarrow writes it."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    return Described(sink.getvalue().to_pybytes())
