"""Hops and bytes of 2.1 and 2.2 pages: counted exactly, as what is asked of the file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpus import same, write

from rangeio.formats.lance.format import Lance
from rangeio.plan import Rows
from rangeio.ranges import ByteRange, CostModel
from rangeio.steps import Need
from rangeio.testing.formats import InMemory

NEAR = CostModel(latency_s=0.0, bytes_per_s=1e9)
FAR = CostModel(latency_s=0.025, bytes_per_s=85 << 20)
ROWS = 50_000


@cache
def content() -> pa.Table:
    rng = np.random.default_rng(7)
    ints = rng.integers(0, 1 << 40, ROWS)
    lists = pa.ListArray.from_arrays(
        pa.array(np.arange(0, 2 * ROWS + 1, 2), pa.int32()),
        pa.array(rng.integers(0, 1 << 40, 2 * ROWS)),
    )
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rng.random(ROWS * 64).astype("f4")), 64)
    long = pa.array([rng.bytes(300 + i % 5) for i in range(ROWS)], pa.binary())
    return pa.table(
        {
            "i": ints,
            "f": pa.array(rng.random(ROWS), mask=rng.random(ROWS) < 0.1),
            "d": [f"cat{i % 20}" for i in range(ROWS)],
            "l": lists,
            "v": vectors,
            "b": long,
        },
        schema=pa.schema(
            [
                ("i", pa.int64()),
                ("f", pa.float64()),
                ("d", pa.string()),
                ("l", lists.type),
                zipped("v", vectors.type),
                zipped("b", pa.binary()),
            ]
        ),
    )


def zipped(name: str, kind: pa.DataType) -> pa.Field:
    options = {
        "lance-encoding:structural-encoding": "fullzip",
        "lance-encoding:compression": "none",
    }
    return pa.field(name, kind, metadata=options)


@pytest.fixture(scope="module", params=["2.1", "2.2"])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path: Path = tmp_path_factory.mktemp("hops") / "wide.lance"
    write(path, content(), request.param)
    return path.read_bytes()


def read(data: bytes, columns: str, rows: Rows, cost: CostModel) -> list[Need]:
    """What is asked for behind the column metadata; the rows are checked on the way."""
    memory = InMemory(Lance(), data, cost=cost)
    found = memory.read(lambda schema: [schema[c] for c in columns], rows)
    same(found, content().select(list(columns)).take(pa.array(rows.array())))
    behind = [
        n for n in memory.needs if n.why in ("lance.page_index", "lance.page", "lance.zipped")
    ]
    assert behind, [n.why for n in memory.needs]
    return behind


def size(need: Need) -> int:
    return sum(at.size for at in need.ranges if isinstance(at, ByteRange))


@pytest.mark.parametrize("cost", [NEAR, FAR])
@pytest.mark.parametrize("column", "ifdlvb")
def test_a_whole_page_needs_no_hop_before(data: bytes, column: str, cost: CostModel) -> None:
    asked = read(data, column, Rows.span(0, ROWS), cost)
    assert [n.why for n in asked] == ["lance.page"]


def test_slices_of_all_columns_share_one_hop(data: bytes) -> None:
    asked = read(data, "ifdlvb", Rows.span(20_000, 20_100), NEAR)
    assert [n.why for n in asked] == ["lance.page_index"] + ["lance.page"] * 6


def test_a_slice_reads_only_its_chunks(data: bytes) -> None:
    index, page = read(data, "i", Rows.span(20_000, 20_100), NEAR)
    (chunk,) = page.ranges
    # One chunk of 1,024 values of 40 bits, its width and its head.
    assert 1024 * 5 <= size(page) <= 1024 * 5 + 64
    assert size(index) <= 4 * (ROWS // 1024 + 1)
    _, two = read(data, "i", Rows.span(1023, 1025), NEAR)
    assert len(two.ranges) == 1
    assert 2 * 1024 * 5 <= size(two) <= 2 * (1024 * 5 + 64)
    assert chunk not in two.ranges


def test_a_row_list_reads_the_chunks_it_touches(data: bytes) -> None:
    _, page = read(data, "i", Rows.of(np.array([5, 6, 1000, 30_000, 49_999])), NEAR)
    assert len(page.ranges) == 3
    assert size(page) < 3 * (1024 * 5 + 64)


def test_a_small_page_is_read_whole_where_a_hop_costs_more(data: bytes) -> None:
    rows = Rows.span(20_000, 20_100)
    (page,) = read(data, "i", rows, FAR)
    assert page.why == "lance.page"
    whole = size(page)
    # The choice is the cost model's, to the byte: a hop is worth this latency, and not less.
    index, part = read(data, "i", rows, NEAR)
    exact = size(index) + size(part)
    dear = CostModel(latency_s=whole / 1e6, bytes_per_s=1e6)
    cheap = CostModel(latency_s=(whole - 4 * exact) / 1e6, bytes_per_s=1e6)
    assert [n.why for n in read(data, "i", rows, dear)] == ["lance.page"]
    assert [n.why for n in read(data, "i", rows, cheap)] == ["lance.page_index", "lance.page"]


def test_many_small_pages_together_are_worth_a_hop(tmp_path: Path) -> None:
    """Each alone is cheaper whole than a hop; a row of each of them is not."""
    rng = np.random.default_rng(1)
    batches = [pa.array(rng.integers(0, 1 << 50, 40_000)) for _ in range(20)]
    table = pa.table([pa.chunked_array(batches)], ["c"])
    path = tmp_path / "pages.lance"
    write(path, table, "2.1", data_cache_bytes=300_000)
    cost = CostModel(latency_s=0.025, bytes_per_s=40 << 20)
    for rows, whys in (
        (Rows.of(np.arange(0, 800_000, 40_000)), {"lance.page_index", "lance.page"}),
        (Rows.span(3, 4), {"lance.page"}),
    ):
        memory = InMemory(Lance(), path.read_bytes(), cost=cost)
        found = memory.read(rows=rows)
        assert found.equals(table.take(pa.array(rows.array())))
        found_whys = [n.why for n in memory.needs]
        assert {w for w in found_whys if "page" in w} == whys
        assert found_whys.count("lance.page_index") <= 1


def test_full_zip_of_fixed_width_is_exact(data: bytes) -> None:
    (page,) = read(data, "v", Rows.span(77, 177), NEAR)
    assert size(page) == 100 * 256
    (page,) = read(data, "v", Rows.of(np.array([1, 2, 3, 500, 40_000])), FAR)
    assert [at.size for at in page.ranges if isinstance(at, ByteRange)] == [768, 256, 256]


def test_full_zip_of_variable_width_looks_up_the_ends_of_few_runs(data: bytes) -> None:
    index, page = read(data, "b", Rows.span(1000, 1100), NEAR)
    assert len(index.ranges) == 2
    assert size(index) <= 16
    # The index of the rows, then their bytes and nothing else.
    assert len(page.ranges) == 2
    own = content().column("b").slice(1000, 100)
    assert size(page) <= sum(len(x) + 4 for x in own.to_pylist()) + 101 * 8


def test_full_zip_of_variable_width_looks_up_many_runs_later(data: bytes) -> None:
    chosen = np.arange(100, 5000, 50)
    asked = read(data, "b", Rows.of(chosen), NEAR)
    assert [n.why for n in asked] == ["lance.page", "lance.zipped"]
    entries, values = asked
    assert len(entries.ranges) == len(values.ranges) == len(chosen)
    own = content().column("b").take(pa.array(chosen))
    assert size(values) == sum(len(x) + 4 for x in own.to_pylist())


def test_blobs_come_in_a_later_hop(tmp_path: Path) -> None:
    values = pa.array(
        [None if i % 7 == 0 else b"x" * (i * 10) for i in range(100)], pa.large_binary()
    )
    field = pa.field("c", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    table = pa.table([values], schema=pa.schema([field]))
    path = tmp_path / "blob.lance"
    write(path, table, "2.1")
    memory = InMemory(Lance(), path.read_bytes(), cost=FAR)
    same(memory.read(rows=Rows.of(np.array([3, 7, 50, 51]))), table.take([3, 7, 50, 51]))
    page, blob = memory.needs[-2:]
    assert (page.why, blob.why) == ("lance.page", "lance.blob")
    assert [at.size for at in blob.ranges if isinstance(at, ByteRange)] == [30, 500, 510]
