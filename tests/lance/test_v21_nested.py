"""Nested columns of many pages, cut at different rows, some with nulls and some without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpus import same, write

from rangeio.errors import Corrupt
from rangeio.formats.lance.format import Lance
from rangeio.formats.lance.v21 import PAGES
from rangeio.formats.lance.v21.leaf import Leaf
from rangeio.plan import Piece, Query, Rows
from rangeio.ranges import CostModel
from rangeio.schema import Column, Schema
from rangeio.testing.formats import COST, InMemory

NEW = ("2.1", "2.2")
NEAR = CostModel(latency_s=0.0, bytes_per_s=1e9)
BATCH = 700

INNER = pa.struct([("a", pa.int32()), ("b", pa.string())])
TYPE = pa.struct(
    [
        ("s", INNER),
        ("l", pa.list_(pa.struct([("a", pa.int64()), ("t", pa.list_(pa.string()))]))),
        ("k", pa.float64()),
    ]
)


def row(i: int, calm: bool) -> object:
    """One row; calm rows have no null and no empty list anywhere."""
    text = f"{i:06d}" * (i % 9 + 1)
    items = [{"a": i + k, "t": [text] * (k % 3 + 1)} for k in range(i % 4 + 1)]
    if not calm and i % 5 == 0:
        return None
    if not calm and i % 3 == 0:
        holes = [None, {"a": None, "t": []}, {"a": 1, "t": None}, {"a": 2, "t": [None]}]
        return {"s": None, "l": [None, [], holes][i % 9 // 3], "k": None}
    return {"s": {"a": i, "b": text}, "l": items, "k": i / 7}


@cache
def wild() -> pa.Table:
    """Batches that are calm, wild, calm again, ..., and at last only nulls."""
    batches = [
        pa.array([row(i, n % 2 == 0) for i in range(n * BATCH, (n + 1) * BATCH)], TYPE)
        for n in range(5)
    ]
    batches.append(pa.nulls(BATCH, TYPE))
    return pa.table([pa.chunked_array(batches)], ["c"])


@pytest.fixture(scope="module", params=NEW)
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path: Path = tmp_path_factory.mktemp("nested") / "wild.lance"
    write(path, wild(), request.param, data_cache_bytes=20_000)
    return path.read_bytes()


def only(*paths: str) -> Callable[[Schema], list[Column]]:
    keep = frozenset(tuple(path.split(".")) for path in paths)
    return lambda schema: [schema.at(0).pruned(keep)]


def test_pages_are_cut_apart(data: bytes) -> None:
    """What the other tests rest on."""
    memory = InMemory(Lance(), data)
    table = memory.open()
    (field,) = memory.run(Lance().schema(table))  # type: ignore[arg-type]
    metas = memory.run(Lance().columns(table, list(PAGES.needed(field))))  # type: ignore[arg-type]
    cuts = {tuple(page.first for page in meta.pages) for meta in metas.values()}
    assert len(cuts) > 2
    assert max(map(len, cuts)) > 3


def test_all_rows(data: bytes) -> None:
    same(InMemory(Lance(), data).read(), wild())


@pytest.mark.parametrize("seed", range(4))
def test_slices_and_lists(data: bytes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = wild().num_rows
    for cost in (NEAR, COST):
        a, b = np.sort(rng.integers(0, count, 2)).tolist()
        same(InMemory(Lance(), data, cost=cost).read(rows=Rows.span(a, b)), wild().slice(a, b - a))
        chosen = np.unique(rng.integers(0, count, rng.integers(1, 300)))
        found = InMemory(Lance(), data, cost=cost).read(rows=Rows.of(chosen))
        same(found, wild().take(pa.array(chosen)))


def test_leaves_below_structs_and_lists(data: bytes) -> None:
    column = wild().column("c").combine_chunks()
    found = InMemory(Lance(), data).read(only("c.s.a"))
    assert found.schema.field("c").type == pa.struct([("s", pa.struct([("a", pa.int32())]))])
    wanted = [r and {"s": r["s"] and {"a": r["s"]["a"]}} for r in column.to_pylist()]
    assert found.column("c").to_pylist() == wanted
    found = InMemory(Lance(), data).read(only("c.l.item.a", "c.k"), rows=Rows.span(650, 2200))
    wanted = [
        r and {"l": None if r["l"] is None else [x and {"a": x["a"]} for x in r["l"]], "k": r["k"]}
        for r in column[650:2200].to_pylist()
    ]
    assert found.column("c").to_pylist() == wanted


def test_one_row_of_many_chunks(tmp_path: Path) -> None:
    lists = [[1], list(range(40_000)), None, [], list(range(5)), list(range(9_000)), [7]]
    names = [None if x is None else [f"n{i % 4321}" for i in x] for x in lists]
    content = pa.table({"i": pa.array(lists, pa.list_(pa.int64())), "s": names})
    for version in NEW:
        path = tmp_path / f"{version}.lance"
        write(path, content, version)
        memory = path.read_bytes()
        for a in range(len(lists)):
            for b in range(a + 1, len(lists) + 1):
                found = InMemory(Lance(), memory, cost=NEAR).read(rows=Rows.span(a, b))
                same(found, content.slice(a, b - a))
        chosen = Rows.of(np.array([0, 3, 4, 6]))
        same(InMemory(Lance(), memory, cost=NEAR).read(rows=chosen), content.take([0, 3, 4, 6]))


def test_lists_below_fixed_size_lists(tmp_path: Path) -> None:
    """Written by pylance, which does not read it back: compared with what was written."""
    kind = pa.list_(pa.struct([("l", pa.list_(pa.int32())), ("k", pa.string())]), 3)
    full = [{"l": [1, 2], "k": "x"}, {"l": [], "k": None}, {"l": None, "k": "yy"}]
    rows = [full, None, [None, {"l": [None, 7], "k": "z"}, None]] * 500
    content = pa.table([pa.array(rows, kind)], ["c"])
    path = tmp_path / "fsl.lance"
    write(path, content, "2.2")
    for cost in (NEAR, COST):
        memory = InMemory(Lance(), path.read_bytes(), cost=cost)
        assert memory.read().column("c").to_pylist() == rows
        found = memory.read(rows=Rows.of(np.array([4, 5, 900, 1499])))
        assert found.column("c").to_pylist() == [rows[i] for i in (4, 5, 900, 1499)]


def decoded(data: bytes) -> tuple[Column, Rows, dict[object, list[Piece]]]:
    memory = InMemory(Lance(), data)
    table = memory.open()
    (field,) = memory.run(Lance().schema(table))  # type: ignore[arg-type]
    metas = memory.run(Lance().columns(table, list(PAGES.needed(field))))  # type: ignore[arg-type]
    rows = Rows.span(0, wild().num_rows)
    plan = memory.run(PAGES.plan(metas, Query((field,), rows), COST))
    pieces: dict[object, list[Piece]] = {}
    for unit in plan.units:
        piece = Piece(unit.rows, memory.run(PAGES.decode(unit, metas, {})))
        pieces.setdefault(unit.column, []).append(piece)
    return field, rows, pieces


def test_pieces_may_reach_beyond_the_rows(data: bytes) -> None:
    field, _, pieces = decoded(data)
    for rows in (Rows.span(100, 2000), Rows.of(np.array([3, 699, 700, 701, 4000])), Rows([], [])):
        found = PAGES.assemble(field, rows, pieces)  # type: ignore[arg-type]
        same(pa.table([found], ["c"]), wild().take(pa.array(rows.array())))


def test_leaves_that_disagree_are_corrupt(data: bytes) -> None:
    field, rows, pieces = decoded(data)
    for column, own in pieces.items():
        for at, piece in enumerate(own):
            leaf = piece.data
            assert isinstance(leaf, Leaf)
            if leaf.defs is None or not (leaf.defs == 0).any():
                continue
            defs = leaf.defs.copy()
            defs[np.flatnonzero(defs == 0)[0]] = max(int(leaf.defs.max()), 2)
            own[at] = Piece(piece.rows, replace(leaf, defs=defs))
            with pytest.raises(Corrupt):
                PAGES.assemble(field, rows, pieces)  # type: ignore[arg-type]
            own[at] = piece
            break
        assert column


def test_a_flat_column_is_its_pages(tmp_path: Path) -> None:
    """One chunk a page, and no copy of the values after decoding."""
    parts = [pa.array(np.arange(n * 3000, (n + 1) * 3000)) for n in range(4)]
    content = pa.table([pa.chunked_array(parts)], ["c"])
    path = tmp_path / "flat.lance"
    write(path, content, "2.1", data_cache_bytes=16_000)
    memory = InMemory(Lance(), path.read_bytes())
    field, rows, pieces = _flat(memory)
    found = PAGES.assemble(field, rows, pieces)  # type: ignore[arg-type]
    assert isinstance(found, pa.ChunkedArray)
    assert found.num_chunks > 1
    addresses = {p.data.values.buffers()[1].address for own in pieces.values() for p in own}
    assert {chunk.buffers()[1].address for chunk in found.chunks} == addresses


def _flat(memory: InMemory) -> tuple[Column, Rows, dict[object, list[Piece]]]:
    table = memory.open()
    (field,) = memory.run(Lance().schema(table))  # type: ignore[arg-type]
    metas = memory.run(Lance().columns(table, [field]))  # type: ignore[arg-type]
    rows = Rows.span(0, 12_000)
    plan = memory.run(PAGES.plan(metas, Query((field,), rows), COST))
    return (
        field,
        rows,
        {field.id: [Piece(u.rows, memory.run(PAGES.decode(u, metas, {}))) for u in plan.units]},
    )
