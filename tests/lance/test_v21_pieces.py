"""Large pages are read in pieces: the same rows, bounded units, dictionaries loaded once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpus import Corpus, expected, params, same, write

from rangeio.formats.lance.format import Lance
from rangeio.formats.lance.pages import LanceMeta
from rangeio.formats.lance.table import LanceTable
from rangeio.formats.lance.v21 import Limits, StructuralPages
from rangeio.plan import Plan, Query, Rows
from rangeio.ranges import CostModel
from rangeio.schema import ColumnId
from rangeio.steps import Steps
from rangeio.testing.formats import COST, InMemory

NEW = ("2.1", "2.2")
TIGHT = Limits(large=4000, piece=1500, filled=3000)


class Tight(Lance):
    """The format, with limits that make nearly every page a large one. Keeps its last plan."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.last = Plan(())

    def plan(
        self,
        table: LanceTable,
        metas: Mapping[ColumnId, LanceMeta],
        query: Query,
        cost: CostModel,
    ) -> Steps[Plan]:
        self.last = yield from StructuralPages(self.limits).plan(metas, query, cost)
        return self.last


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1025,), versions=NEW))
def test_all_rows_and_some(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    data = path.read_bytes()
    wanted = expected(path)
    same(InMemory(Tight(TIGHT), data).read(), wanted)
    rows = wanted.num_rows
    for chosen in (Rows.span(rows // 4, rows - 1), Rows.of(np.arange(0, rows, 3))):
        found = InMemory(Tight(TIGHT), data).read(rows=chosen)
        same(found, wanted.take(pa.array(chosen.array())))


def planned(path: Path, limits: Limits) -> tuple[Plan, pa.Table, InMemory]:
    tight = Tight(limits)
    memory = InMemory(tight, path.read_bytes())
    found = memory.read()
    return tight.last, found, memory


def test_pieces_are_of_about_the_limit(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    count = 100_000
    table = pa.table(
        {
            "i": rng.integers(0, 1 << 50, count),
            "s": [f"value {i} of {count}" for i in range(count)],
            "l": pa.array([[i, i + 1] for i in range(count)], pa.list_(pa.int64())),
        }
    )
    path = tmp_path / "large.lance"
    write(path, table, "2.2")
    limits = Limits(large=150_000, piece=50_000)
    plan, found, memory = planned(path, limits)
    same(found, table)
    for column in {unit.column for unit in plan.units}:
        own = [u for u in plan.units if u.column == column]
        assert len(own) > 3
        assert [u.rows[0] for u in own[1:]] == [u.rows[1] for u in own[:-1]]
        for unit in own:
            # A piece ends with the chunk in which it passes the limit; lists share that chunk.
            assert sum(at.size for at in unit.ranges) <= limits.piece + (24 << 10)
    assert [n.why for n in memory.needs].count("lance.page_index") == 1


def test_pieces_share_their_dictionary(tmp_path: Path) -> None:
    names = [f"category number {i} of some" for i in range(300)]
    rng = np.random.default_rng(3)
    table = pa.table({"d": pa.array(names).take(pa.array(rng.integers(0, 300, 60_000)))})
    path = tmp_path / "dict.lance"
    write(path, table, "2.2")
    plan, found, memory = planned(path, Limits(large=30_000, piece=10_000))
    same(found, table)
    (load,) = plan.shared
    assert len(plan.units) > 3
    assert all(unit.uses == (load.key,) for unit in plan.units)
    assert [n.why for n in memory.needs].count("lance.dictionary") == 1
    assert all(not at.covers(load.ranges[0]) for u in plan.units for at in u.ranges)


def test_full_zip_pieces_follow_the_sizes_of_their_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    sizes = [5000 if i % 400 < 40 else 300 for i in range(2000)]
    table = pa.table({"b": pa.array([rng.bytes(n) for n in sizes], pa.binary())})
    path = tmp_path / "zip.lance"
    write(path, table, "2.1")
    limits = Limits(large=200_000, piece=50_000)
    plan, found, _ = planned(path, limits)
    same(found, table)
    assert len(plan.units) > 10
    assert max(sum(at.size for at in u.ranges) for u in plan.units) < 3 * limits.piece


def test_long_row_lists_of_large_values_come_in_pieces(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    table = pa.table({"b": pa.array([rng.bytes(1000) for _ in range(1000)], pa.binary())})
    path = tmp_path / "rows.lance"
    write(path, table, "2.2")
    tight = Tight(Limits(large=50_000, piece=20_000))
    chosen = np.arange(0, 1000, 3)
    found = InMemory(tight, path.read_bytes()).read(rows=Rows.of(chosen))
    same(found, table.take(pa.array(chosen)))
    assert 15 <= len(tight.last.units) <= 20
    assert all(unit.later[0].at_most <= 20 for unit in tight.last.units)


def test_constant_pages_are_made_in_pieces(tmp_path: Path) -> None:
    table = pa.table({"n": pa.nulls(1_000_000, pa.int64()), "c": pa.array(np.full(1_000_000, 7))})
    path = tmp_path / "constant.lance"
    write(path, table, "2.2")
    plan, found, _ = planned(path, Limits(filled=1 << 20))
    same(found, table)
    assert len(plan.units) == 16
    assert all(not unit.ranges for unit in plan.units)


def test_blobs_come_a_few_rows_at_a_time(tmp_path: Path) -> None:
    """Their sizes are not known before their descriptions are."""
    values = [None if i % 9 == 0 else b"%d" % i * (i % 60) for i in range(1500)]
    field = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table([pa.array(values, field.type)], schema=pa.schema([field]))
    path = tmp_path / "blobs.lance"
    write(path, table, "2.2")
    plan, found, memory = planned(path, Limits(blobs=100))
    same(found, table)
    assert [unit.later[-1].at_most for unit in plan.units] == [100] * 15
    assert [n.why for n in memory.needs].count("lance.page_index") == 0
    some = np.array([5, 6, 1400])
    near = CostModel(latency_s=0.0, bytes_per_s=1e9)
    memory = InMemory(Tight(Limits(blobs=100)), path.read_bytes(), cost=near)
    same(memory.read(rows=Rows.of(some)), table.take(pa.array(some)))
    assert [n.why for n in memory.needs].count("lance.page_index") == 1


def test_a_page_of_forty_megabytes_comes_in_pieces(tmp_path: Path) -> None:
    """With the limits that users have."""
    table = pa.table({"c": np.random.default_rng(5).integers(-(1 << 62), 1 << 62, 5_000_000)})
    path = tmp_path / "forty.lance"
    write(path, table, "2.1")
    memory = InMemory(Lance(), path.read_bytes(), cost=COST)
    assert memory.read().equals(table)
    sizes = [sum(at.size for at in n.ranges) for n in memory.needs if n.why == "lance.page"]  # type: ignore[union-attr]
    assert len(sizes) == 4
    assert max(sizes) < 16 << 20
