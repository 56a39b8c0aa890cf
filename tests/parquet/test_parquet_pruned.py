"""What statistics, page indexes and bloom filters must prune is pruned, named and not fetched."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from corpus_files import arrow
from parquet_peer import Peer, same
from parquet_places import Range, pages

import rangeio

PRUNED = re.compile(r"row group (\d+): (statistics|bloom filter) of (.+)")
PAGES = re.compile(r"row group (\d+): (\d+) of (\d+) pages of (.+)")


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


def whole(data: bytes) -> pa.Table:
    found = Peer(data).read()
    assert found is not None
    return found


ROWS, GROUP, PAGE = 20_000, 5_000, 250
F = pc.field
STAMP = pa.scalar(18_000_000, pa.timestamp("us"))


def ordered(**options: Any) -> bytes:
    """Rows in order, four row groups of twenty pages; ``word`` is unique and in no order."""
    numbers = np.arange(ROWS)
    shuffled = np.random.default_rng(3).permutation(ROWS)
    content = pa.table(
        {
            "ts": pa.array(numbers * 1000).cast(pa.timestamp("us")),
            "n": pa.array(numbers, pa.int32()),
            "x": pa.array(np.sin(numbers)),
            "name": pa.array([f"name {i:06d}" for i in numbers]),
            "word": pa.array([f"{i * 7919 % 1_000_003:06d}" for i in shuffled]),
            "late": pa.array([None if i < 12_000 else i for i in range(ROWS)], pa.int64()),
            "s": pa.StructArray.from_arrays([pa.array(numbers)], ["n"]),
        }
    )
    return arrow(content, row_group_size=GROUP, **options)


@pytest.fixture(scope="module")
def plain() -> bytes:
    return ordered()


@pytest.fixture(scope="module")
def indexed() -> bytes:
    return ordered(write_page_index=True, max_rows_per_page=PAGE, use_dictionary=False)


BY_STATISTICS = [
    ([("n", "==", 7_777)], F("n") == 7_777, {1}),
    ([("n", ">", 14_999)], F("n") > 14_999, {3}),
    ([("n", ">=", 14_999)], F("n") >= 14_999, {2, 3}),
    ([("n", "<", 0)], F("n") < 0, set()),
    ([("n", "!=", 0)], F("n") != 0, {0, 1, 2, 3}),
    ([("n", "in", [3, 19_999])], F("n").isin(pa.array([3, 19_999], pa.int32())), {0, 3}),
    ([[("n", "<", 10)], [("n", ">", 19_990)]], (F("n") < 10) | (F("n") > 19_990), {0, 3}),
    ([("n", ">", 4_000), ("n", "<", 6_000)], (F("n") > 4_000) & (F("n") < 6_000), {0, 1}),
    ([("name", "<", "name 000001")], F("name") < "name 000001", {0}),
    ([("name", "==", "name 012345")], F("name") == "name 012345", {2}),
    ([("ts", ">", STAMP)], F("ts") > STAMP, {3}),
    ([("late", "is null")], F("late").is_null(), {0, 1, 2}),
    ([("late", "is not null")], F("late").is_valid(), {2, 3}),
    ([("late", ">", 0)], F("late") > 0, {2, 3}),
    ([("s.n", "==", 7_777)], F("s", "n") == 7_777, {1}),
]


@pytest.mark.parametrize(("asked", "expression", "kept"), BY_STATISTICS, ids=str)
def test_row_groups_are_pruned_by_statistics(plain, session, asked, expression, kept) -> None:
    with rangeio.open(plain, session=session) as file:
        for one in (asked, expression):
            told = file.explain(["x"], filters=one)
            found = [PRUNED.fullmatch(line) for line in told.pruned]
            assert {int(m[1]) for m in found} == {0, 1, 2, 3} - kept
            assert {m[2] for m in found} <= {"statistics"}
            same(file.read(filters=one), whole(plain).filter(expression), str(one))


BY_PAGES = [
    ([("n", "==", 7_777)], F("n") == 7_777, 1),
    ([("n", ">=", 7_400), ("n", "<", 7_600)], (F("n") >= 7_400) & (F("n") < 7_600), 2),
    ([("n", "in", [0, 4_999, 5_000])], F("n").isin(pa.array([0, 4_999, 5_000], pa.int32())), 3),
    ([("name", "==", "name 012345")], F("name") == "name 012345", 1),
    (
        [[("n", "<", 100)], [("name", ">", "name 019900")]],
        (F("n") < 100) | (F("name") > "name 019900"),
        2,
    ),
    ([("s.n", ">", 19_700)], F("s", "n") > 19_700, 2),
    ([("late", "<", 12_001)], F("late") < 12_001, 1),
    (
        [("ts", "<", pa.scalar(1, pa.timestamp("us")))],
        F("ts") < pa.scalar(1, pa.timestamp("us")),
        1,
    ),
]


@pytest.mark.parametrize(("asked", "expression", "count"), BY_PAGES, ids=str)
def test_pages_are_pruned_by_the_column_index(indexed, asked, expression, count) -> None:
    """Of the asked column exactly the pages that the filter leaves are fetched."""
    spots = [page.at for page in pages(indexed, 2)]
    assert len(spots) == ROWS // PAGE
    for one in (asked, expression):
        with rangeio.Session() as session, rangeio.open(indexed, session=session) as file:
            told = file.explain(["x"], filters=one)
            assert any(PAGES.fullmatch(line) for line in told.pruned)
            fetched = [at for at in spots if touched(told, at)]
            assert len(fetched) == count
            same(file.read(filters=one), whole(indexed).filter(expression), str(one))


def touched(told: rangeio.Explanation, at: Range) -> bool:
    return any(get.at.start < at[1] and at[0] < get.at.stop for get in told.planned)


def test_a_filter_that_nothing_can_match_reads_nothing(plain: bytes) -> None:
    with rangeio.Session() as session, rangeio.open(plain, session=session) as file:
        for asked in ([("n", "<", 0)], F("n") < 0, [("n", "<", 9), ("n", ">", 99_999)]):
            told = file.explain(filters=asked)
            assert (told.gets, len(told.pruned)) == (0, 4)
            found = file.read(filters=asked)
            assert found.num_rows == 0
            assert found.schema.equals(whole(plain).schema)
        assert all(record.why != "parquet.pages" for record in file.trace)


def test_rows_are_chosen_first(plain: bytes, indexed: bytes, session) -> None:
    for data in (plain, indexed):
        with rangeio.open(data, session=session) as file:
            asked = [("n", ">", 5_100)]
            assert file.read(["n"], rows=slice(0, 5_000), filters=asked).num_rows == 0
            assert file.explain(["n"], rows=slice(0, 5_000), filters=asked).gets == 0
            got = file.read(["n"], rows=[5_200, 7, 5_101, 5_100, 5_200], filters=asked)
            assert got["n"].to_pylist() == [5_200, 5_101, 5_200]
            got = file.read(["n"], rows=slice(5_000, 5_103), filters=asked)
            assert got["n"].to_pylist() == [5_101, 5_102]


# ---- bloom filters -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filtered() -> bytes:
    each = {"ndv": GROUP, "fpp": 0.001}
    return ordered(bloom_filter_options={"word": each, "n": each, "ts": each})


def test_row_groups_are_pruned_by_bloom_filters(filtered: bytes, session) -> None:
    words = whole(filtered).column("word").to_pylist()
    with rangeio.open(filtered, session=session) as file:
        for row in (0, 4_999, 5_000, 12_345, 19_999):
            for asked in ([("word", "==", words[row])], F("word") == words[row]):
                told = file.explain(["x"], filters=asked)
                lines = [PRUNED.fullmatch(line) for line in told.pruned]
                assert row // GROUP not in {int(m[1]) for m in lines}
                assert [m[2] for m in lines].count("bloom filter") >= 2  # 1 of 1,000 is wrong
                assert file.read(["n"], filters=asked)["n"].to_pylist() == [row]
        asked = [("word", "in", [words[3], words[10_001], "000000x"])]
        assert sorted(file.read(["n"], filters=asked)["n"].to_pylist()) == [3, 10_001]
        none = file.explain(["x"], filters=[("word", "==", "555555x")])
        assert len(none.pruned) >= 3


def test_bloom_filters_cost_a_block_a_row_group(filtered: bytes) -> None:
    with rangeio.Session(profile="memory") as session:
        file = rangeio.open(filtered, session=session)
        before = file.trace.bytes_read
        file.explain(["x"], filters=[("word", "==", "555555x")])
        paid = [r for r in file.trace if "bloom" in r.why]
        assert paid
        assert sum(r.size for r in paid) <= 4 * (32 + 128)
        assert file.trace.bytes_read - before < 40_000


def test_a_bloom_filter_never_prunes_other_comparisons(filtered: bytes, session) -> None:
    word = whole(filtered).column("word")[0].as_py()
    with rangeio.open(filtered, session=session) as file:
        for operator in ("!=", "<=", ">="):
            told = file.explain(["x"], filters=[("word", operator, word)])
            assert not any("bloom" in line for line in told.pruned)


# ---- filters on neighbours ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_filter_on_a_sibling_leaf_of_chosen_pages(seed: int) -> None:
    """The pages of a struct's leaves are cut at different rows; what is filtered by is not kept."""
    rng = np.random.default_rng(seed)
    rows = 1500
    leaves = [
        pa.array(np.arange(rows)),
        pa.array([f"{'x' * (i % 50)}{i}" for i in range(rows)]),
        pa.array([list(range(i % 4)) for i in range(rows)]),
    ]
    hole = pa.array(rng.random(rows) < 0.1)
    struct = pa.StructArray.from_arrays(leaves, ["n", "text", "many"], mask=hole)
    data = arrow(
        pa.table({"s": struct, "k": pa.array(np.arange(rows))}),
        row_group_size=int(rng.integers(400, rows + 1)),
        write_page_index=True,
        data_page_size=int(rng.choice([200, 1000])),
        write_batch_size=int(rng.choice([10, 50])),
        use_dictionary=bool(rng.integers(2)),
    )
    low = int(rng.integers(0, rows - 300))
    n, k = pc.struct_field(struct, "n"), np.arange(rows)
    wanted = pc.and_(pc.greater_equal(n, low), pa.array(k < low + 70)).fill_null(False)
    kept = struct.filter(wanted)
    with rangeio.Session() as session, rangeio.open(data, session=session) as file:
        asked = [("s.n", ">=", low), ("k", "<", low + 70)]
        assert any(PAGES.fullmatch(line) for line in file.explain(["s.text"], filters=asked).pruned)
        for name in ("text", "many"):
            got = file.read([f"s.{name}"], filters=asked).column("s").combine_chunks()
            assert [field.name for field in got.type] == [name]
            assert got.is_null().equals(kept.is_null())
            assert pc.struct_field(got, name).equals(pc.struct_field(kept, name))
        assert file.read([], filters=asked).num_rows == len(kept)
        assert file.trace.unplanned == 0
