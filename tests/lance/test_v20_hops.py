"""What a read of version 2.0 pages asks for, counted: exact bytes, and no hop too many."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from corpus import Corpus, expected, same
from handmade import Field, Handmade, Leaf
from wide import encoded

from rangeio.formats.lance.format import Lance
from rangeio.formats.lance.pages import LanceMeta
from rangeio.formats.lance.v20.messages import MESSAGES as V20
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows
from rangeio.schema import Column, ColumnId
from rangeio.testing.formats import COST, InMemory

N = 20_000


class Reading:
    """One file, one field of it, and what its plan and its data asked for."""

    def __init__(self, data: bytes, rows: Rows | None = None, *keep: str) -> None:
        self.memory = InMemory(Lance(), data)
        self.format = self.memory.format
        table = self.memory.open()
        schema = self.memory.run(self.format.schema(table))
        self.rows = rows or Rows.span(0, self.memory.run(self.format.num_rows(table)))
        paths = frozenset(tuple(k.split(".")) for k in keep)
        self.field: Column = schema.at(0).pruned(paths) if keep else schema.at(0)
        needed = self.format.needed(self.field)
        self.metas: dict[ColumnId, LanceMeta] = dict(
            self.memory.run(self.format.columns(table, needed))
        )
        self.memory.needs.clear()
        query = Query((self.field,), self.rows)
        self.plan: Plan = self.memory.run(self.format.plan(table, self.metas, query, COST))
        assert not self.memory.needs, "planning version 2.0 costs no hop"

    def decode(self, unit: DecodeUnit) -> Piece:
        steps = self.format.decode(unit, self.metas, {})
        return Piece(unit.rows, self.memory.run(steps))

    def array(self) -> pa.Array:
        pieces: dict[ColumnId, list[Piece]] = {}
        for unit in self.plan.units:
            pieces.setdefault(unit.column, []).append(self.decode(unit))
        found = self.format.assemble(self.field, self.rows, pieces)
        return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found

    @property
    def hops(self) -> list[tuple[str, int]]:
        return [(one.why, sum(at.size for at in one.ranges)) for one in self.memory.needs]


def one(corpus: Corpus, name: str) -> bytes:
    return corpus.path(name, "2.0", N).read_bytes()


def test_rows_of_numbers_are_their_bytes(corpus: Corpus) -> None:
    for name, width in (("f64", 8), ("int32_small", 4), ("int8_small", 1), ("fsb16", 16)):
        reading = Reading(one(corpus, name), Rows.span(700, 800))
        reading.array()
        assert reading.hops == [("lance.page", 100 * width)]


def test_rows_of_bits_are_their_bytes(corpus: Corpus) -> None:
    reading = Reading(one(corpus, "bool_null"), Rows.span(7, 26))
    reading.array()
    assert reading.hops == [("lance.page", 2 * 4)]


def test_row_lists_are_their_bytes(corpus: Corpus) -> None:
    wanted = np.arange(5, N, 97)
    reading = Reading(one(corpus, "f64_null"), Rows.of(wanted))
    reading.array()
    ((why, size),) = reading.hops
    assert why == "lance.page"
    assert size == len(wanted) * 9


def test_whole_strings_are_one_hop_and_part_of_them_two(corpus: Corpus) -> None:
    data = one(corpus, "string_unique")
    whole = Reading(data)
    whole.array()
    assert [why for why, _ in whole.hops] == ["lance.page"]
    assert all(not unit.later for unit in whole.plan.units)
    part = Reading(data, Rows.span(100, 200))
    text = part.array()
    own = sum(len(t) for t in text.to_pylist())
    assert part.hops == [("lance.page", 101 * 8), ("lance.strings", own)]
    (unit,) = part.plan.units
    assert [bound.at_most for bound in unit.later] == [1]


def test_compressed_strings_are_one_hop(corpus: Corpus) -> None:
    reading = Reading(one(corpus, "string_zstd"), Rows.span(100, 200))
    reading.array()
    assert [why for why, _ in reading.hops] == ["lance.page"]
    assert not reading.plan.units[0].later


def test_a_whole_list_page_is_one_hop(corpus: Corpus) -> None:
    for name in ("list_i32_null", "list_string_null", "list_struct"):
        reading = Reading(one(corpus, name))
        reading.array()
        assert [why for why, _ in reading.hops] == ["lance.page"], name
        assert not reading.plan.units[0].later


def test_part_of_a_list_is_entries_then_items(corpus: Corpus) -> None:
    reading = Reading(one(corpus, "list_i32"), Rows.span(50, 90))
    items = reading.array().flatten()
    assert reading.hops == [("lance.page", 41 * 8), ("lance.page", 4 * len(items))]
    assert [bound.at_most for bound in reading.plan.units[0].later] == [2]


def test_part_of_a_list_of_strings_is_three_hops(corpus: Corpus) -> None:
    values = [[f"value {i} {j}" for j in range(i % 4)] for i in range(2000)]
    data = encoded(pa.table({"c": pa.array(values)}), "2.0")
    reading = Reading(data, Rows.span(50, 90))
    assert reading.array().to_pylist() == values[50:90]
    assert len(reading.hops) == 3
    assert len(reading.plan.units[0].later) == 2


def test_pruned_leaves_cost_nothing(corpus: Corpus) -> None:
    path = corpus.path("list_struct", "2.0", N)
    column = expected(path).column(0).combine_chunks()
    both = Reading(path.read_bytes())
    both.array()
    for leaf in ("a", "b"):
        reading = Reading(path.read_bytes(), None, f"c.item.{leaf}")
        found = reading.array()
        assert found.type == pa.list_(pa.struct([column.type.value_type.field(leaf)]))
        assert found.to_pylist() == [
            [{leaf: item[leaf]} for item in row] for row in column.to_pylist()
        ]
        assert reading.hops[0][1] < both.hops[0][1]
    pruned = Reading(corpus.path("struct_list", "2.0", 1025).read_bytes(), None, "c.k")
    assert [unit.column.path for unit in pruned.plan.units] == [("c", "k")]
    assert pruned.array().type == pa.struct([("k", pa.int16())])


def test_blobs_are_descriptors_then_bytes(corpus: Corpus) -> None:
    path = corpus.path("blob_null", "2.0", 1025)
    reading = Reading(path.read_bytes(), Rows.span(10, 20))
    values = reading.array()
    own = sum(len(v or b"") for v in values.to_pylist())
    assert reading.hops == [("lance.page", 160), ("lance.blobs", own)]


def pages(kind: pa.DataType, count: int) -> bytes:
    """A file whose columns are cut at different rows: a struct of an int and strings."""
    rng = np.random.default_rng(count)
    cut = [np.sort(rng.choice(np.arange(1, N), count - 1, replace=False)) for _ in range(2)]
    numbers = np.array_split(np.arange(N, dtype=np.int64), cut[0])
    words = np.array_split(np.arange(N), cut[1])
    flat = V20.ArrayEncoding
    first = [(len(p), flat(flat=V20.Flat(bits_per_value=64)), [p.tobytes()]) for p in numbers]
    second = []
    for part in words:
        text = [f"w{i}" for i in part]
        ends = np.cumsum([len(t) for t in text]).astype(np.uint64)
        node = V20.Binary(
            indices=flat(flat=V20.Flat(bits_per_value=64)),
            bytes=flat(flat=V20.Flat(bits_per_value=8, buffer=V20.Buffer(buffer_index=1))),
            null_adjustment=int(ends[-1]) + 1,
        )
        second.append((len(part), flat(binary=node), [ends.tobytes(), "".join(text).encode()]))
    empty = (N, flat(struct=V20.Empty()), [])
    fields = [Field("c", "struct"), Field("a", "int64", 0), Field("b", "string", 0)]
    return Handmade(fields, [Leaf([empty]), Leaf(first), Leaf(second)], N).encode()


@pytest.mark.parametrize("count", [1, 2, 17])
def test_leaves_cut_at_different_rows(count: int) -> None:
    data = pages(pa.int64(), count)
    for rows in (None, Rows.span(0, 1), Rows.span(123, 15_000), Rows.of(np.arange(3, N, 501))):
        reading = Reading(data, rows)
        wanted = [{"a": i, "b": f"w{i}"} for i in reading.rows.array().tolist()]
        assert reading.array().to_pylist() == wanted


def test_flat_pages_are_handed_on_as_chunks(corpus: Corpus) -> None:
    data = one(corpus, "f64")
    reading = Reading(data)
    found = reading.array()
    start = np.frombuffer(data, np.uint8).ctypes.data
    assert start <= found.buffers()[1].address < start + len(data), "the values were copied"


def test_pieces_may_reach_beyond_the_rows(corpus: Corpus) -> None:
    path = corpus.path("struct_list", "2.0", 1025)
    column = expected(path).column(0).combine_chunks()
    for asked in (Rows.span(0, 1025), Rows.of(np.arange(0, 1025, 3))):
        reading = Reading(path.read_bytes(), asked)
        pieces: dict[ColumnId, list[Piece]] = {}
        for unit in reading.plan.units:
            pieces.setdefault(unit.column, []).append(reading.decode(unit))
        every = asked.array()
        for a, b in ((0, 1), (5, 50), (100, len(every))):
            rows = Rows.of(every[a:b])
            found = reading.format.assemble(reading.field, rows, pieces)
            assert found.to_pylist() == column.take(pa.array(every[a:b])).to_pylist()


def test_plans_are_plain_data(corpus: Corpus) -> None:
    for name in ("list_string_null", "f64", "string_unique", "blob"):
        path = corpus.path(name, "2.0", 1025)
        reading = Reading(path.read_bytes(), Rows.of(np.arange(3, 900, 7)))
        reading.plan = pickle.loads(pickle.dumps(reading.plan))
        wanted = expected(path).column(0).combine_chunks().take(pa.array(reading.rows.array()))
        assert reading.array().equals(wanted)


def test_metadata_is_kept_by_what_it_weighs(corpus: Corpus) -> None:
    reading = Reading(one(corpus, "f64"))
    (meta,) = reading.metas.values()
    assert 400 < meta.weight < 4000
    assert replace(meta) == meta


def test_subsets_of_columns() -> None:
    rng = np.random.default_rng(4)
    content = pa.table(
        {
            "a": rng.random(N),
            "l": pa.array([list(range(i % 3)) for i in range(N)], pa.list_(pa.int16())),
            "t": [f"{i}" for i in range(N)],
            "s": pa.array([{"x": i, "y": f"{i % 7}"} for i in range(N)]),
        }
    )
    data = encoded(content, "2.0")
    for names in (["s"], ["t", "a"], ["l", "s"], ["a", "l", "t", "s"]):
        for rows in (Rows.span(0, N), Rows.span(99, 105), Rows.of(np.arange(1, N, 999))):
            found = InMemory(Lance(), data).read(lambda s, n=names: [s[k] for k in n], rows)
            same(found, content.select(names).take(pa.array(rows.array())))


def test_many_pages_of_pylance() -> None:
    """Batches that are flushed, pages of at most 1 KiB: each column is cut at its own rows."""
    content = pa.table(
        {
            "a": pa.array(np.arange(N)),
            "t": pa.array([None if i % 9 == 0 else f"text {i}" * (i % 4) for i in range(N)]),
            "l": pa.array([None if i % 7 == 0 else [i, None][: i % 3] for i in range(N)]),
            "z": pa.array([[f"{j}-{i}" for j in range(i % 3)] for i in range(N)]),
            "d": pa.array([f"cat{i % 60 + i // 1000}" for i in range(N)]),
        }
    )
    rows = content.to_pylist()
    parts = [pa.Table.from_pylist(rows[i : i + 999], content.schema) for i in range(0, N, 999)]
    split = pa.concat_tables(parts)
    data = encoded(split, "2.0", max_page_bytes=1024, data_cache_bytes=1)
    memory = InMemory(Lance(), data)
    table = memory.open()
    schema = memory.run(memory.format.schema(table))
    needed = [c for f in schema for c in memory.format.needed(f)]
    metas = memory.run(memory.format.columns(table, needed))
    counts = {c.name: len(metas[c.id].pages) for c in needed}
    assert all(n > 20 for n in counts.values()), counts
    assert len(set(counts.values())) > 2, counts
    for rows in (
        Rows.span(0, N),
        Rows.span(4000, 12_001),
        Rows.span(N - 1, N),
        Rows.of(np.arange(0, N, 3)),
        Rows.of(np.sort(np.random.default_rng(1).choice(N, 50, replace=False))),
    ):
        found = InMemory(Lance(), data).read(rows=rows)
        same(found, content.take(pa.array(rows.array())))
