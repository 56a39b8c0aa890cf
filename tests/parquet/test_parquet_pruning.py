"""What a filter leaves of a file: nothing that matches is left out, and what can be is."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given, reject, settings
from hypothesis import strategies as st
from metas import DATA, Described, Pruned, written
from page_files import Taken
from parquet_filters import expressible, filters, layouts, mask, tables

from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.offsets import offset_index
from rangeio.formats.parquet.pruning.search import Search
from rangeio.plan import Rows
from rangeio.ranges import ByteRange

F = pc.field
FULL = os.environ.get("RANGEIO_FUZZ") == "full"

# ---- soundness -----------------------------------------------------------------------------------


@st.composite
def subsets(draw: Any, count: int) -> Rows:
    """Some rows of so many."""
    shape = draw(st.sampled_from(["all", "slice", "some"]))
    if shape == "all":
        return Rows.span(0, count)
    if shape == "slice":
        a, b = sorted((draw(st.integers(0, count)), draw(st.integers(0, count))))
        return Rows.span(a, b)
    bits = np.frombuffer(draw(st.binary(min_size=count, max_size=count)), "u1") < 100
    return Rows.of(np.flatnonzero(bits))


def check(described: Described, found: Pruned, asked: Rows, matches: np.ndarray) -> None:
    """What was left out was asked for and does not match; the words say whether anything was."""
    left, wanted = set(found.rows), set(asked.array().tolist())
    assert left <= wanted
    assert not {row for row in wanted - left if matches[row]}
    assert bool(found.pruned) == (left != wanted)
    if left == wanted:
        assert found.kept.rows is asked
    assert (found.kept.rows.starts[1:] > found.kept.rows.stops[:-1]).all(), "runs are not merged"
    assert len(found.hops) <= 3
    by_index = {one.leaf.index: one for one in described.metas}
    for (leaf, group), index in found.kept.indexes.items():
        own = by_index[leaf]
        start, size = own.fact(group, Fact.OFFSET_INDEX), own.fact(group, Fact.OFFSET_INDEX_SIZE)
        at = ByteRange(start, start + size)
        again = offset_index(described.part(at), at, int(own.group_rows[group]))
        assert again.first_rows.tolist() == index.first_rows.tolist()
    event(" ".join(sorted({one.split(":")[1].split(" of ")[0] for one in found.pruned})))


@settings(max_examples=2000 if FULL else 60, deadline=None)
@given(st.data())
def test_no_row_that_matches_is_left_out(data):
    table = data.draw(tables())
    described = written(table, **data.draw(layouts(table)))
    try:
        content = described.arrow.read()
    except pa.ArrowNotImplementedError:  # dictionaries in structs, in several row groups
        reject()
    groups = data.draw(filters(content))
    matches = mask(groups, content)
    rows = data.draw(subsets(content.num_rows))
    sparing = data.draw(st.sampled_from([-(10**6), -(10**6), 0]))
    lists = [[stored(one.triple()) for one in group] for group in groups]
    check(described, described.pruned(lists, rows, sparing=sparing), rows, matches)
    if expressible(groups):
        joined = None
        for group in groups:
            every = group[0].expression()
            for one in group[1:]:
                every = every & one.expression()
            joined = every if joined is None else joined | every
        check(described, described.pruned(joined, rows, sparing=sparing), rows, matches)


def stored(condition: tuple[Any, ...]) -> tuple[Any, ...]:
    """The condition with values of extension types as what they are stored as."""

    def one(value: Any) -> Any:
        return value.value if isinstance(value, pa.ExtensionScalar) else value

    return tuple(
        [one(v) for v in part] if isinstance(part, list) else one(part) for part in condition
    )


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_exactly_the_pages_that_bounds_and_counts_prove_empty_are_left_out(data):
    """Integers with nulls, against a reading of the data page by page."""
    numbers = st.one_of(st.none(), st.integers(-9, 9))
    values = data.draw(st.lists(numbers, min_size=1, max_size=60))
    group, page = data.draw(st.integers(3, 40)), data.draw(st.integers(1, 10))
    described = written(
        pa.table({"x": pa.array(values, pa.int32())}),
        row_group_size=group,
        max_rows_per_page=page,
        write_batch_size=1,
        write_page_index=True,
    )
    op = data.draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "is null", "is not null"]))
    wanted = data.draw(st.integers(-10, 10))
    condition = ("x", op) if "null" in op else ("x", op, wanted)
    expected = [
        row
        for first in range(0, len(values), group)
        for start in range(first, min(first + group, len(values)), page)
        for row in range(start, min(start + page, first + group, len(values)))
        if possible(values[start : min(start + page, first + group)], op, wanted)
    ]
    found = described.pruned([condition], sparing=-(10**6))
    assert found.rows == expected
    event(f"{len(expected) * 4 // len(values)} quarters left")


def possible(values: list[int | None], op: str, wanted: int) -> bool:
    """Whether bounds and the count of nulls let one of the values match."""
    held = [one for one in values if one is not None]
    if op == "is null":
        return len(held) < len(values)
    if not held or op == "is not null":
        return bool(held)
    low, high = min(held), max(held)
    return {
        "==": low <= wanted <= high,
        "!=": not low == wanted == high,
        "<": low < wanted,
        "<=": low <= wanted,
        ">": high > wanted,
        ">=": high >= wanted,
    }[op]


# ---- statistics of row groups --------------------------------------------------------------------

ROWS, GROUP = 4000, 1000


def numbered(**options: Any) -> Described:
    """Rows in order in four row groups; ``word`` is unique and in no order."""
    numbers = np.arange(ROWS)
    words = [f"{i * 7919 % 1_000_003:06d}" for i in np.random.default_rng(3).permutation(ROWS)]
    content = {
        "n": pa.array(numbers, pa.int32()),
        "word": pa.array(words),
        "half": pa.array([None if i < 1500 else i for i in range(ROWS)], pa.int64()),
        "x": pa.array(np.sin(numbers)),
        "s": pa.StructArray.from_arrays([pa.array(numbers)], ["n"]),
        "l": pa.array([[i] for i in range(ROWS)]),
    }
    return written(pa.table(content), row_group_size=GROUP, **options)


@pytest.fixture(scope="module")
def bare() -> Described:
    return numbered()


@pytest.mark.parametrize(
    ("asked", "left", "words"),
    [
        ([("n", "<", 1000)], [0], {1: "n", 2: "n", 3: "n"}),
        ([("n", "==", 2500)], [2], {0: "n", 1: "n", 3: "n"}),
        ([("s.n", ">=", 3000)], [3], {0: "s.n", 1: "s.n", 2: "s.n"}),
        ([("half", "is not null")], [1, 2, 3], {0: "half"}),
        ([("half", "is null")], [0, 1], {2: "half", 3: "half"}),
        ([("n", ">", 900), ("half", "<", 2000)], [1], {0: "half", 2: "half", 3: "half"}),
        ([("n", "!=", 5)], [0, 1, 2, 3], {}),
        ([[("n", "<", 5)], [("s.n", ">=", 3999)]], [0, 3], {1: "n, s.n", 2: "n, s.n"}),
        ([("n", "in", [5, 3999, 8000])], [0, 3], {1: "n", 2: "n"}),
        ([("n", "<", -1)], [], dict.fromkeys(range(4), "n")),
        ([("l", "is null")], [0, 1, 2, 3], {}),
        (F("n") + 1 < 5, [0, 1, 2, 3], {}),
        (~(F("n") >= 1000), [0], {1: "n", 2: "n", 3: "n"}),
    ],
)
def test_row_groups_are_left_out_by_statistics(bare, asked, left, words):
    found = bare.pruned(asked)
    assert found.rows == [row for g in left for row in range(g * GROUP, (g + 1) * GROUP)]
    assert found.pruned == tuple(f"row group {g}: statistics of {of}" for g, of in words.items())
    assert found.hops == []
    assert found.kept.indexes == {}


def test_a_filter_that_matches_nothing_says_so_by_itself(bare):
    found = bare.pruned([("n", "in", [])])
    assert found.rows == []
    assert found.pruned == tuple(f"row group {g}: the filter matches no row" for g in range(4))


def test_only_row_groups_that_rows_touch_are_looked_at(bare):
    asked = Rows([10, 1999, 3500], [20, 2001, 3600])
    found = bare.pruned([("n", "<", 2000)], asked)
    assert found.rows == [*range(10, 20), 1999]
    assert found.pruned == tuple(f"row group {g}: statistics of n" for g in (2, 3))
    assert bare.pruned([("n", "<", 0)], Rows([], [])).pruned == ()
    inside = bare.pruned([("n", ">=", 1000), ("n", "<", 2000)], Rows([1000], [2000]))
    assert inside.rows == list(range(1000, 2000))
    assert inside.pruned == ()


def test_a_row_group_without_rows_is_not_looked_at():
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, pa.schema([("n", pa.int64())])) as writer:
        for values in ([1, 2], [], [3, 4]):
            writer.write_table(pa.table({"n": pa.array(values, pa.int64())}))
    described = Described(sink.getvalue().to_pybytes())
    assert described.group_rows.tolist() == [2, 0, 2]
    found = described.pruned([("n", "in", [])])
    assert found.pruned == tuple(f"row group {g}: the filter matches no row" for g in (0, 2))
    assert described.pruned([("n", ">", 2)]).rows == [2, 3]


def test_without_leaves_nothing_is_left_out(bare):
    rows = Rows.span(0, ROWS)
    found = bare.pruned([("n", "<", 0)], rows, metas=[])
    assert found.kept.rows is rows
    others = [one for one in bare.metas if one.leaf.path != ("n",)]
    assert bare.pruned([("n", "<", 0)], rows, metas=others).kept.rows is rows


def test_only_leaves_with_one_value_a_row_speak_for_a_column():
    structs = pa.array([{"a": None}, {"a": None}], pa.struct([("a", pa.int64())]))
    described = written(pa.table({"l": pa.array([[1], [2]]), "s": structs}))
    assert described.pruned([("s.a", "is not null")]).rows == []
    (item,) = [one for one in described.metas if one.leaf.path[0] == "l"]
    below = renamed(described.meta("s", "a"), ("s",), ("s", "a"))
    assert described.pruned([("s", "is not null")], metas=[below]).rows == [0, 1]
    predicate = described.predicate([[("s", "is null")], [("l", "is null")]])
    many = renamed(item, ("l",), ("l",))
    single = renamed(described.meta("s", "a"), ("s",), ("s",))
    search = Search([below, many, single], predicate, len(described.data), 0)
    assert search.leaves == {("s",): single}


def renamed(own: ParquetMeta, column: tuple[str, ...], leaf: tuple[str, ...]) -> ParquetMeta:
    """The metadata of a leaf as that of another path."""
    return replace(own, column=replace(own.column, path=column), place=replace(own.leaf, path=leaf))


# ---- page indexes --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paged() -> Described:
    return numbered(write_page_index=True, max_rows_per_page=50, write_batch_size=10)


def test_pages_are_left_out_by_their_statistics_in_one_hop(paged):
    found = paged.pruned([("n", ">=", 1225), ("n", "<", 2310)])
    assert found.rows == list(range(1200, 2350))
    assert found.pruned == (
        "row group 0: statistics of n",
        "row group 1: 4 of 20 pages of n",
        "row group 2: 13 of 20 pages of n",
        "row group 3: statistics of n",
    )
    assert found.hops == ["parquet.page_index"]
    assert len(found.needs[0].ranges) == 4
    assert set(found.kept.indexes) == {(0, 1), (0, 2)}


def test_pages_of_several_leaves_are_one_hop(paged):
    found = paged.pruned([[("n", "==", 1225), ("x", "<", 2)], [("half", "==", 3999)]])
    assert found.rows == [*range(1200, 1250), *range(3950, 4000)]
    assert found.hops == ["parquet.page_index"]
    assert found.pruned[1].startswith("row group 1: 19 of 20 pages of n")
    assert {group for _, group in found.kept.indexes} == {1, 3}


def test_pages_cut_at_different_rows_are_cut_at_all_of_them():
    # 3 and 100 bytes of text: pages of about 1,000 bytes hold different counts of rows.
    content = pa.table(
        {"a": [f"{i:03d}" for i in range(1000)], "b": [f"{i:0100d}" for i in range(1000)]}
    )
    described = written(
        content,
        data_page_size=1000,
        write_page_index=True,
        write_batch_size=1,
        use_dictionary=False,
    )
    taken, bounds = Taken(described.data), {}
    for name in ("a", "b"):
        index = taken.offset_index(described.meta(name), 0)
        assert index is not None
        bounds[name] = [*index.first_rows.tolist(), 1000]
    assert bounds["a"] != bounds["b"]
    low, high = f"{300:03d}", f"{310:0100d}"
    found = described.pruned([("a", ">=", low), ("b", "<=", high)], sparing=-(10**6))
    first = max(edge for edge in bounds["a"] if edge <= 300)
    last = min(edge for edge in bounds["b"] if edge > 310)
    assert found.rows == list(range(first, last))


def test_parts_of_pages_are_counted_in_rows():
    """Rows 40 to 59 lie in pages of which other rows are left."""
    values = {"a": [0] * 60 + [9] * 40, "b": [9] * 40 + [0] * 60}
    made = {
        name: written(pa.table({name: own}), **cut)
        for (name, own), cut in zip(
            values.items(),
            (
                {"max_rows_per_page": 60, "write_batch_size": 60, **INDEXED},
                {"max_rows_per_page": 40, "write_batch_size": 20, **INDEXED},
            ),
            strict=True,
        )
    }
    # One file of both columns cannot be cut so: join the metadata of two files into one.
    first, second = made["a"], made["b"]
    shift = len(first.data)
    moved = second.meta("b").facts.copy()
    for fact in (Fact.OFFSET_INDEX, Fact.COLUMN_INDEX):
        moved[:, fact] += shift
    other = replace(
        second.meta("b"),
        facts=moved,
        place=replace(second.meta("b").leaf, index=1),
    )
    joined = written(pa.table(values))
    joined.data = first.data + second.data
    found = joined.pruned(
        [[("a", ">", 5)], [("b", ">", 5)]], metas=[first.meta("a"), other], sparing=-(10**6)
    )
    assert found.rows == [*range(40), *range(60, 100)]
    assert found.pruned == ("row group 0: 20 rows by the pages of a, b",)


INDEXED = {"write_page_index": True, "use_dictionary": False}


def test_only_pages_of_asked_rows_count(paged):
    asked = Rows([1010, 1990], [1020, 2010])
    found = paged.pruned([("n", ">", 1500)], asked)
    assert found.rows == list(range(1990, 2010))
    assert found.pruned == ("row group 1: 1 of 20 pages of n",)
    inside = paged.pruned([("n", ">=", 1050), ("n", "<", 1100)], Rows([1050], [1100]))
    assert inside.rows == list(range(1050, 1100))
    assert inside.pruned == ()


def test_an_index_is_read_only_where_it_can_spare_more_than_it_costs(paged):
    asked = [("n", "==", 1225)]
    own = paged.meta("n")
    spared = own.fact(1, Fact.COMPRESSED)
    cost = own.fact(1, Fact.OFFSET_INDEX_SIZE) + own.fact(1, Fact.COLUMN_INDEX_SIZE)
    assert paged.pruned(asked, metas=[own], sparing=spared - cost - 1).hops
    found = paged.pruned(asked, metas=[own], sparing=spared - cost)
    assert found.hops == []
    assert found.rows == list(range(1000, 2000))
    # The other columns of the read would be spared too.
    assert paged.pruned(asked, sparing=spared - cost).hops


def test_where_all_rows_match_no_index_is_read(paged):
    found = paged.pruned([("n", ">=", 1000)])
    assert found.hops == []
    assert found.rows == list(range(1000, ROWS))
    some = paged.pruned([("n", ">=", 1001)])
    assert set(some.kept.indexes) == {(0, 1)}


def test_a_leaf_without_an_index_is_asked_by_its_chunk(paged):
    silent = paged.meta("half")
    facts = silent.facts.copy()
    facts[:, Fact.COLUMN_INDEX] = -1
    metas = [paged.meta("n"), replace(silent, facts=facts)]
    found = paged.pruned([[("n", "==", 1225)], [("half", ">=", 3000)]], metas=metas)
    assert found.rows == [*range(1200, 1250), *range(3000, ROWS)]
    assert set(found.kept.indexes) == {(0, 1)}, "all rows of the last row group match"


@pytest.mark.parametrize("fact", [Fact.COLUMN_INDEX, Fact.OFFSET_INDEX])
def test_a_broken_index_leaves_its_pages_in(paged, fact):
    broken = bytearray(paged.data)
    own = paged.meta("n")
    for group in range(4):
        start = own.fact(group, fact)
        broken[start : start + 30] = bytes(30)
    described = Described(bytes(broken))
    found = described.pruned([("n", "==", 1225)])
    assert found.rows == list(range(1000, 2000))
    assert len(found.pruned) == 3
    assert set(found.kept.indexes) == (set() if fact == Fact.OFFSET_INDEX else {(0, 1)})


@pytest.mark.parametrize("fact", [Fact.COLUMN_INDEX, Fact.OFFSET_INDEX, Fact.BLOOM])
@pytest.mark.parametrize("value", [-5, 10**9, 2**62, 2**63 - 1])
def test_a_position_outside_the_file_counts_as_absent(filtered, fact, value):
    own = filtered.meta("word")
    facts = own.facts.copy()
    facts[:, fact] = value
    word = filtered.arrow.read().column("word")[1234].as_py()
    found = filtered.pruned([("word", "==", word)], metas=[replace(own, facts=facts)])
    assert 1234 in found.rows
    sizes = own.facts.copy()
    sizes[:, [Fact.COLUMN_INDEX_SIZE, Fact.BLOOM_SIZE]] = value
    found = filtered.pruned([("word", "==", word)], metas=[replace(own, facts=sizes)])
    assert 1234 in found.rows


# ---- bloom filters -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filtered() -> Described:
    return numbered(
        write_page_index=True,
        max_rows_per_page=50,
        bloom_filter_options={
            "word": {"ndv": 1000, "fpp": 0.001},
            "n": {"ndv": 1000, "fpp": 0.001},
        },
    )


def words(described: Described, *rows: int) -> list[str]:
    column = described.arrow.read().column("word")
    return [column[row].as_py() for row in rows]


def only(described: Described, *names: str) -> list[ParquetMeta]:
    """The metadata of some leaves, without page indexes."""
    found = []
    for name in names:
        own = described.meta(name)
        facts = own.facts.copy()
        facts[:, Fact.COLUMN_INDEX] = -1
        found.append(replace(own, facts=facts))
    return found


def test_a_value_that_no_filter_holds_leaves_no_row_group(filtered):
    (word,) = words(filtered, 1234)
    found = filtered.pruned([("word", "==", word)], metas=only(filtered, "word"))
    assert found.rows == list(range(1000, 2000))
    assert found.pruned == tuple(f"row group {g}: bloom filter of word" for g in (0, 2, 3))
    assert found.hops == ["parquet.bloom"]
    # A header and one block of each of four row groups.
    assert sorted(at.size for at in found.needs[0].ranges) == [32] * 4 + [64] * 4


def test_values_outside_the_bounds_are_not_asked_for(filtered):
    one, two = words(filtered, 1234, 3210)
    asked = [("word", "in", ["", one, two, "zzz"])]
    found = filtered.pruned(asked, metas=only(filtered, "word"))
    assert [at.size for at in found.needs[0].ranges].count(32) == 8
    assert found.rows == [*range(1000, 2000), *range(3000, 4000)]


def test_without_the_filters_length_its_header_comes_first(filtered):
    (own,) = only(filtered, "word")
    facts = own.facts.copy()
    facts[:, Fact.BLOOM_SIZE] = -1
    (word,) = words(filtered, 1234)
    found = filtered.pruned([("word", "==", word)], metas=[replace(own, facts=facts)])
    assert found.hops == ["parquet.bloom_header", "parquet.bloom"]
    assert [at.size for at in found.needs[1].ranges] == [32] * 4
    assert found.rows == list(range(1000, 2000))


@pytest.mark.parametrize("more", [-8, 1, 16, 40, 100_000])
def test_a_length_that_misleads_costs_a_hop_and_no_row(filtered, more):
    (own,) = only(filtered, "word")
    facts = own.facts.copy()
    facts[:, Fact.BLOOM_SIZE] += more
    found = filtered.pruned(
        [("word", "==", words(filtered, 1234)[0])], metas=[replace(own, facts=facts)]
    )
    assert len(found.hops) == 2
    assert found.hops[1] == "parquet.bloom"
    assert found.rows == list(range(1000, 2000))


def test_a_filter_of_a_kind_that_is_not_known_is_not_asked(filtered):
    broken = bytearray(filtered.data)
    (own,) = only(filtered, "word")
    for group in range(4):
        at = own.fact(group, Fact.BLOOM)
        broken[at : at + 16] = bytes(16)
    found = Described(bytes(broken)).pruned([("word", "==", words(filtered, 1234)[0])], metas=[own])
    assert found.hops == ["parquet.bloom"]
    assert found.pruned == ()


def test_what_a_filter_says_of_a_chunk_is_true_of_each_of_its_pages(filtered):
    """Where only one of two values is absent, the pages are asked for the other alone."""
    found = filtered.pruned([[("word", "==", "500000")], [("n", "==", 1225)]])
    assert found.rows == list(range(1200, 1250))
    assert found.hops == ["parquet.bloom", "parquet.page_index"]
    one, two = words(filtered, 1234, 3210)
    asked = [[("word", "==", one), ("n", ">=", 0)], [("word", "==", two), ("n", "<", 1500)]]
    found = filtered.pruned(asked)
    assert 1234 in found.rows
    assert all(1000 <= row < 2000 for row in found.rows)
    assert found.hops == ["parquet.bloom", "parquet.page_index"]


@pytest.mark.parametrize(
    "asked",
    [
        [("word", "!=", "500000")],
        [("word", "not in", ["500000"])],
        [("word", ">", "500000")],
        [[("word", "==", "500000")], [("x", ">", 0.5)]],
        ~(F("word") == "500000"),
        [("word", "in", [f"{i:06d}" for i in range(500_000, 500_101)])],
    ],
)
def test_filters_that_cannot_help_are_not_read(filtered, asked):
    found = filtered.pruned(asked, metas=only(filtered, "word", "x"))
    assert found.hops == []


def test_a_filter_is_read_only_where_it_can_spare_more_than_it_costs(filtered):
    metas = only(filtered, "word")
    asked = [("word", "==", "500000")]
    least = min(metas[0].fact(g, Fact.COMPRESSED) for g in range(4))
    assert filtered.pruned(asked, metas=metas, sparing=least - 97).hops
    most = max(metas[0].fact(g, Fact.COMPRESSED) for g in range(4))
    assert filtered.pruned(asked, metas=metas, sparing=most - 96).hops == []


def test_either_of_two_filters_is_enough_where_both_conditions_must_hold(filtered):
    (word,) = words(filtered, 1234)
    metas = only(filtered, "word", "n")
    found = filtered.pruned([("word", "==", word), ("n", "in", [0, 1500, 3999])], metas=metas)
    assert found.rows == list(range(1000, 2000))
    assert found.pruned == (
        "row group 0: bloom filter of word",
        "row group 2: statistics of n",
        "row group 3: bloom filter of word",
    )


KINDS: dict[str, tuple[pa.Array, pa.Array]] = {
    str(array.type): (array, absent)
    for array, absent in (
        *((pa.array([1, 5, 9], k), pa.array([3], k)) for k in (pa.int8(), pa.int16(), pa.int32())),
        *((pa.array([1, 5, 9], k), pa.array([3], k)) for k in (pa.uint8(), pa.uint16())),
        (pa.array([1, 2**32 - 1], pa.uint32()), pa.array([2**31 + 3], pa.uint32())),
        (pa.array([1, 2**64 - 1], pa.uint64()), pa.array([2**63 + 3], pa.uint64())),
        (pa.array([-5, 9], pa.int64()), pa.array([3], pa.int64())),
        (pa.array([0.5, 2.5], pa.float32()), pa.array([1.5], pa.float32())),
        (pa.array([0.1, 2.5]), pa.array([1.5])),
        (pa.array(np.array([0.5, 2.5], "f2")), pa.array(np.array([1.5], "f2"))),
        *((pa.array(["a", "c"], k), pa.array(["b"], k))
          for k in (pa.string(), pa.large_string(), pa.string_view())),
        (pa.array([b"a", b"c"]), pa.array([b"b"])),
        (pa.array([b"aa", b"cc"], pa.binary(2)), pa.array([b"bb"], pa.binary(2))),
        *((pa.array([1, 9], k), pa.array([5], k)) for k in
          (pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.time32("ms"),
           pa.time64("us"), pa.duration("s"), pa.date32())),
        *((pa.array([1, 9]).cast(k), pa.array([5]).cast(k)) for k in
          (pa.decimal128(20, 1), pa.decimal128(30, 3), pa.decimal256(60, 2))),
    )
}  # fmt: skip


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_every_type_is_looked_for_by_the_bytes_of_its_values(name, integers):
    """A value between the bounds is found absent, every value that is there is not."""
    held, absent = KINDS[name]
    described = written(
        pa.table({"x": held}),
        bloom_filter_options={"x": {"ndv": 100, "fpp": 0.0001}},
        store_decimal_as_integer=integers,
    )
    for value in held:
        assert described.pruned([("x", "==", value)], sparing=-(10**6)).rows
        assert described.pruned([("x", "in", [value])], sparing=-(10**6)).hops
    (value,) = absent
    assert described.pruned([("x", "==", value)], sparing=-(10**6)).rows == []
    assert described.pruned([("x", "in", [value])], sparing=-(10**6)).rows == []


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_a_zero_of_either_sign_is_found(kind):
    options = {"bloom_filter_options": {"x": {"ndv": 10, "fpp": 0.0001}}}
    for held in (0.0, -0.0):
        described = written(pa.table({"x": pa.array([held, 5.0, -5.0], kind)}), **options)
        for asked in (0.0, -0.0):
            assert described.pruned([("x", "==", asked)], sparing=-(10**6)).rows == [0, 1, 2]
        content = described.arrow.read()
        for asked in (0.0, -0.0):
            found = described.pruned([("x", "in", [asked])], sparing=-(10**6))
            matching = described.predicate([("x", "in", [asked])]).filter(content)
            assert len(found.rows) >= matching.num_rows
    without = written(pa.table({"x": pa.array([1.0, -5.0], kind)}), **options)
    assert without.pruned([("x", "==", 0)], sparing=-(10**6)).rows == []


# ---- files of others -----------------------------------------------------------------------------


def shared(name: str) -> Described:
    path = DATA / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{name} is not here")
    return Described(path.read_bytes())


@pytest.mark.parametrize(
    "name",
    ["datapage_v1-uncompressed-checksum", "datapage_v1-snappy-compressed-checksum",
     "datapage_v1-corrupt-checksum"],
)  # fmt: skip
def test_null_pages_of_required_columns_are_not_believed(name):
    described = shared(name)
    count = int(described.group_rows.sum())
    for column in described.schema.names:
        for asked in ([(column, "is not null")], [(column, ">=", -(2**31))]):
            found = described.pruned(asked, sparing=-(10**9))
            assert found.rows == list(range(count))
        assert described.pruned([(column, "is null")], sparing=-(10**9)).rows == []


SHARED = {  # and whether anything can be left out of them
    "floating_orders_nan_count": True,
    "binary_truncated_min_max": True,
    "fixed_length_byte_array": True,
    "int32_with_null_pages": True,
    "data_index_bloom_encoding_stats": True,
    "data_index_bloom_encoding_with_length": True,
    "alltypes_tiny_pages": True,
    "float16_nonzeros_and_nans": False,
    "float16_zeros_and_nans": False,
    "single_nan": False,
    "nan_in_stats": True,
    "int64_decimal": True,
    "byte_array_decimal": False,
    "fixed_length_decimal": True,
    "alltypes_plain": False,
    "nulls.snappy": False,
    "sort_columns": True,
}
COMPARED = {
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


@pytest.mark.parametrize("name", SHARED)
def test_values_of_other_writers_files_are_found(name):
    """Every comparison with some of a column's own values, against Arrow's on the whole of it."""
    described = shared(name)
    content = described.arrow.read()
    pruned = 0
    for field in content.schema:
        if pa.types.is_nested(field.type):
            continue
        values = content.column(field.name)
        rng = np.random.default_rng(1)
        held = values.drop_null()
        some = [held[int(i)] for i in rng.integers(0, len(held), 2)] if len(held) else []
        for condition in (
            *((field.name, op, value) for op in COMPARED for value in some),
            *((field.name, op, some[:2]) for op in ("in", "not in") if some),
            *((field.name, op) for op in ("is null", "is not null")),
        ):
            found = described.pruned([condition], sparing=-(10**9))
            matches = np.asarray(described.predicate([condition]).mask(content))
            left = np.zeros(len(matches), bool)
            left[found.kept.rows.array()] = True
            assert not (matches & ~left).any(), condition
            pruned += len(found.pruned)
    assert bool(pruned) == SHARED[name]


def test_float_columns_of_all_orders_are_pruned_where_their_bounds_allow():
    described = shared("floating_orders_nan_count")
    found = {
        name: len(described.pruned([(name, ">", 1e4)], sparing=-(10**9)).pruned)
        for name in described.schema.names
    }
    # Of five row groups one holds nothing but NaN, of which only the newer order speaks.
    assert found == {name: 5 if "ieee754" in name else 4 for name in described.schema.names}
    assert len(found) == 6


def test_bloom_filters_of_other_writers_are_asked():
    for name, hops in (
        ("data_index_bloom_encoding_stats", ["parquet.bloom_header", "parquet.bloom"]),
        ("data_index_bloom_encoding_with_length", ["parquet.bloom"]),
    ):
        described = shared(name)
        values = described.arrow.read().column("String").to_pylist()
        low, high = min(values), max(values)
        (own,) = only(described, "String")
        absent = low + "x"
        assert low < absent < high
        assert absent not in values
        found = described.pruned([("String", "==", absent)], metas=[own], sparing=-(10**6))
        assert found.rows == []
        assert found.hops == hops
        for value in values:
            assert described.pruned([("String", "==", value)], metas=[own], sparing=-(10**6)).rows


def test_cut_bounds_prune_what_lies_beyond_them():
    described = shared("binary_truncated_min_max")
    content = described.arrow.read()
    for name in described.schema.names:
        values = content.column(name).to_pylist()
        last = max(values)
        beyond = last + ("z" if isinstance(last, str) else b"z") * 3
        found = described.pruned([(name, ">", beyond * 3)], sparing=-(10**6))
        assert set(found.rows) in (set(), set(range(len(values))))
        assert described.pruned([(name, "==", last)], sparing=-(10**6)).rows
