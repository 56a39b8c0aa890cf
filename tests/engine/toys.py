"""Small formats with the shapes that are hard for an engine, over made-up bytes.

Each has a ``make`` that gives the file and the expected values. Pages are cut at different rows
in every column, so only ``assemble`` can join them.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.formats.sparsefile import decoded
from rangeio.plan import DecodeUnit, Later, Plan, SharedLoad
from rangeio.ranges import ByteRange
from rangeio.schema import Column, ColumnId, Schema
from rangeio.steps import Need, need, needs


@dataclass(frozen=True)
class ToyTable:
    columns: tuple
    rows: int
    size: int
    choice: str = ""

    @property
    def num_columns(self):
        return len(self.columns)


@dataclass(frozen=True)
class ToyMeta:
    column: object
    pages: tuple
    weight: int = 200


@dataclass
class Toy:
    """Flat int64 pages. The file: pages, then one record of page positions a column."""

    name: str = "toy"
    layout: dict = field(default_factory=dict)

    def claims(self, tail):
        return True

    def open(self, opening):
        yield from need(ByteRange(opening.size - 8, opening.size), "toy.tail")
        return ToyTable(tuple(self.layout["columns"]), self.layout["rows"], opening.size)

    def schema(self, table):
        if False:
            yield
        return Schema.of(table.columns)

    def assumed(self, table):
        return None

    def num_rows(self, table):
        if False:
            yield
        return table.rows

    def needed(self, column):
        return [column]

    def columns(self, table, columns):
        spots = [self.layout["meta"][c.name] for c in columns]
        yield from needs(spots, "toy.column_meta")
        return {c.id: ToyMeta(c, tuple(self.layout["pages"][c.name])) for c in columns}

    def plan(self, table, metas, query, cost):
        if False:
            yield
        units = []
        for column in query.fields:
            for page in metas[column.id].pages:
                inside = query.rows.within(page.first, page.first + page.rows)
                if inside.count:
                    units += self.units(column, page, inside.extent)
        units.sort(key=lambda u: (u.rows[0], u.column.path))
        return Plan(tuple(units), self.shared(query))

    def shared(self, query):
        return ()

    def units(self, column, page, rows):
        a, b = rows[0] - page.first, rows[1] - page.first
        at = ByteRange(page.at.start + 8 * a, page.at.start + 8 * b)
        return [DecodeUnit(column.id, rows, (at,))]

    def load(self, shared, metas):
        raise NotImplementedError

    def decode(self, unit, metas, shared):
        (data,) = yield Need(unit.ranges, "toy.page")
        return pa.array(np.frombuffer(data, "<i8"))

    def assemble(self, column, rows, leaves):
        parts = []
        for piece in leaves.get(column.id, ()):
            start = piece.rows[0]
            for a, b in rows.within(*piece.rows).runs():
                parts.append(piece.data.slice(a - start, b - a))
        return pa.chunked_array(parts, column.type)

    def learn(self, table):
        return None

    def pages(self, meta):
        return []


@dataclass(frozen=True)
class Page:
    first: int
    rows: int
    at: ByteRange
    more: ByteRange | None = None


class Building:
    """Bytes and positions of a toy file."""

    def __init__(self, rows):
        self.data = bytearray(b"TOY!")
        self.layout = {"columns": [], "rows": rows, "pages": {}, "meta": {}}

    def add(self, raw):
        start = len(self.data)
        self.data += raw
        return ByteRange(start, len(self.data))

    def column(self, name, kind, pages):
        i = len(self.layout["columns"])
        self.layout["columns"].append(Column(ColumnId(i, (name,)), kind))
        self.layout["pages"][name] = pages

    def finish(self):
        for name in self.layout["pages"]:
            self.layout["meta"][name] = self.add(b"meta" * 10)
        self.add(b"THE TAIL")
        return bytes(self.data), self.layout


def cuts(rows, rng, most):
    """Row positions that cut ``rows`` into uneven pages."""
    edges = [0]
    while edges[-1] < rows:
        edges.append(min(rows, edges[-1] + rng.randrange(1, most)))
    return list(itertools.pairwise(edges))


def make_flat(rows=20_000, columns=4, seed=0, most=3000):
    rng, build, expected = random.Random(seed), Building(rows), {}
    for c in range(columns):
        values = np.arange(rows, dtype="<i8") * (c + 1)
        pages = [Page(a, b - a, build.add(values[a:b].tobytes())) for a, b in cuts(rows, rng, most)]
        build.column(f"c{c}", pa.int64(), pages)
        expected[f"c{c}"] = pa.array(values)
    data, layout = build.finish()
    return data, Toy(layout=layout), pa.table(expected)


class Dictionaries(Toy):
    """uint8 codes a page, one dictionary page a column, loaded once for all of its pages."""

    def shared(self, query):
        loads = []
        for column in query.fields:
            at = self.layout["pages"][column.name][0].more
            loads.append(SharedLoad(("dict", at.start), (at,), column.name))
        return tuple(loads)

    def units(self, column, page, rows):
        a, b = rows[0] - page.first, rows[1] - page.first
        at = ByteRange(page.at.start + a, page.at.start + b)
        key = ("dict", page.more.start)
        return [DecodeUnit(column.id, rows, (at,), key, (key,))]

    def load(self, shared, metas):
        (data,) = yield Need(shared.ranges, "toy.dict")
        values = pa.array(np.frombuffer(data, "<i8"))
        return values, values.nbytes

    def decode(self, unit, metas, shared):
        (data,) = yield Need(unit.ranges, "toy.codes")
        return shared[unit.args].take(pa.array(np.frombuffer(data, "u1")))


def make_dictionaries(rows=40_000, columns=3, seed=0):
    rng, build, expected = random.Random(seed), Building(rows), {}
    picks = np.random.default_rng(seed)
    for c in range(columns):
        words = picks.integers(0, 1 << 40, 256).astype("<i8")
        codes = picks.integers(0, 256, rows).astype("u1")
        spot = build.add(words.tobytes())
        pages = [
            Page(a, b - a, build.add(codes[a:b].tobytes()), spot) for a, b in cuts(rows, rng, 2000)
        ]
        build.column(f"d{c}", pa.int64(), pages)
        expected[f"d{c}"] = pa.array(words[codes])
    data, layout = build.finish()
    return data, Dictionaries(layout=layout), pa.table(expected)


class Arrays(Toy):
    """list<int64> pages: offsets first, and the items only once the offsets are known."""

    def units(self, column, page, rows):
        a, b = rows[0] - page.first, rows[1] - page.first
        at = ByteRange(page.at.start + 8 * a, page.at.start + 8 * (b + 1))
        later = (Later((page.more,), 1),)
        return [DecodeUnit(column.id, rows, (at,), page.more.start, (), later)]

    def decode(self, unit, metas, shared):
        (data,) = yield Need(unit.ranges, "toy.offsets")
        offsets = np.frombuffer(data, "<i8")
        at = ByteRange(unit.args + 8 * int(offsets[0]), unit.args + 8 * int(offsets[-1]))
        items = yield from need(at, "toy.items")
        lists = (offsets - offsets[0]).astype("<i4")
        return pa.ListArray.from_arrays(pa.array(lists), pa.array(np.frombuffer(items, "<i8")))


def make_arrays(rows=30_000, columns=2, seed=0):
    rng, build, expected = random.Random(seed), Building(rows), {}
    picks = np.random.default_rng(seed)
    for c in range(columns):
        sizes = picks.integers(0, 6, rows)
        items = picks.integers(0, 1 << 50, int(sizes.sum())).astype("<i8")
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype("<i8")
        pages = []
        for a, b in cuts(rows, rng, 3000):
            mine = items[offsets[a] : offsets[b]]
            spot = build.add(mine.tobytes())
            pages.append(
                Page(a, b - a, build.add((offsets[a : b + 1] - offsets[a]).tobytes()), spot)
            )
        build.column(f"a{c}", pa.list_(pa.int64()), pages)
        lists = pa.array(offsets.astype("<i4"))
        expected[f"a{c}"] = pa.ListArray.from_arrays(lists, pa.array(items)).cast(
            pa.list_(pa.int64())
        )
    data, layout = build.finish()
    return data, Arrays(layout=layout), pa.table(expected)


class RowGroups(Toy):
    """Parquet row groups through a sparse file; ``short`` plans only half of each chunk."""

    short = False

    def open(self, opening):
        yield from need(ByteRange(opening.size - 8, opening.size), "toy.tail")
        return ToyTable(tuple(self.layout["columns"]), self.layout["rows"], opening.size)

    def columns(self, table, columns):
        if False:
            yield
        return {c.id: ToyMeta(c, tuple(self.layout["pages"][c.name])) for c in columns}

    def units(self, column, page, rows):
        at = page.at
        if self.short:
            at = ByteRange(at.start, at.start + at.size // 2)
        whole = (page.first, page.first + page.rows)
        return [DecodeUnit(column.id, whole, (at,), (column.name, page.more))]

    def decode(self, unit, metas, shared):
        name, group = unit.args
        metadata = self.layout["metadata"]

        def read(file):
            whole = pq.ParquetFile(pa.PythonFile(file, "r"), metadata=metadata, pre_buffer=False)
            return whole.read_row_group(group, [name], use_threads=False)[name].combine_chunks()

        return (yield from decoded(self.layout["size"], unit.ranges, "toy.chunk", read))


def make_row_groups(rows=20_000, seed=0, *, short=False):
    picks = np.random.default_rng(seed)
    table = pa.table(
        {
            "p0": pa.array(picks.integers(0, 1 << 40, rows)),
            "p1": pa.array([f"v{i}" for i in picks.integers(0, 1 << 30, rows)]),
            "p2": pa.array(picks.random(rows)),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, row_group_size=rows // 5, compression="none", use_dictionary=False)
    data = sink.getvalue().to_pybytes()
    metadata = pq.read_metadata(pa.BufferReader(data))
    layout = {"columns": [], "rows": rows, "pages": {}, "metadata": metadata, "size": len(data)}
    for i, name in enumerate(table.column_names):
        layout["columns"].append(Column(ColumnId(i, (name,)), table.schema.field(name).type))
        layout["pages"][name] = []
        first = 0
        for group in range(metadata.num_row_groups):
            chunk = metadata.row_group(group).column(i)
            start = chunk.data_page_offset
            at = ByteRange(start, start + chunk.total_compressed_size)
            count = metadata.row_group(group).num_rows
            layout["pages"][name].append(Page(first, count, at, group))
            first += count
    toy = RowGroups(layout=layout)
    toy.short = short
    return data, toy, table
