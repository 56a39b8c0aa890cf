"""Filters against Arrow's own, against a row-by-row reading of them, and against statistics."""

from __future__ import annotations

import datetime as dt
import functools
import operator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from rangeio.literal import order_of
from rangeio.predicate import Answer, Statistics, parse
from rangeio.schema import Column, ColumnId, Schema

INSTANT = dt.datetime(2020, 1, 1)
KINDS: dict[str, tuple[pa.DataType, st.SearchStrategy]] = {
    "i8": (pa.int8(), st.integers(-3, 3)),
    "i64": (pa.int64(), st.sampled_from([-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1])),
    "u64": (pa.uint64(), st.sampled_from([0, 1, 2**53 + 1, 2**63, 2**64 - 1])),
    "f32": (pa.float32(), st.sampled_from([-1.5, -0.0, 0.0, 0.5, 2.0, float("nan"), float("inf")])),
    "f64": (pa.float64(), st.sampled_from([-1.5, -0.0, 0.0, 0.1, 2.0, float("nan"), float("inf")])),
    "s": (pa.string(), st.sampled_from(["", "a", "ab", "b", "é", "\U0001f600", "\uffff"])),
    "b": (pa.binary(), st.sampled_from([b"", b"\x00", b"a", b"\xff", b"\xff\xff"])),
    "flag": (pa.bool_(), st.booleans()),
    "ts": (pa.timestamp("us"), st.integers(-2, 2).map(lambda n: INSTANT + dt.timedelta(hours=n))),
    "day": (pa.date32(), st.integers(-2, 2).map(lambda n: INSTANT.date() + dt.timedelta(n))),
    "dec": (pa.decimal128(6, 2), st.integers(-3, 3).map(lambda n: Decimal(n) / 4)),
}
FLOATS = ("f32", "f64")
COMPARE = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def column(field: pa.Field, above: tuple[str, ...] = ()) -> Column:
    path = (*above, field.name)
    kind = field.type
    inner = [kind.field(i) for i in range(kind.num_fields)] if pa.types.is_nested(kind) else []
    children = tuple(column(one, path) for one in inner)
    return Column(ColumnId(abs(hash(path)) % 10**6, path), kind, field.nullable, children=children)


def schema_of(table: pa.Table) -> Schema:
    return Schema.of([column(field) for field in table.schema])


@st.composite
def tables(draw) -> pa.Table:
    """Every kind once at the top, once dictionary-encoded or below a struct that may be null."""
    count = draw(st.integers(0, 6))
    nulls = draw(st.booleans())
    columns = {}
    for name, (kind, values) in KINDS.items():
        one = st.none() | values if nulls else values
        columns[name] = pa.array(draw(st.lists(one, min_size=count, max_size=count)), kind)
    absent = draw(
        st.lists(st.booleans() if nulls else st.just(False), min_size=count, max_size=count)
    )
    below = pa.StructArray.from_arrays(
        [columns["i8"], columns["s"]], ["i8", "s.s"], mask=pa.array(absent, pa.bool_())
    )
    outer = pa.StructArray.from_arrays([below], ["in"])
    columns |= {"v": outer, "d": columns["s"].dictionary_encode()}
    table = pa.table(columns)
    cut = draw(st.integers(0, count))
    return pa.concat_tables([table.slice(0, cut), table.slice(cut)])


PATHS = {name: ((name,), *kind) for name, kind in KINDS.items()} | {
    "v.in.i8": (("v", "in", "i8"), *KINDS["i8"]),
    "v.in.s.s": (("v", "in", "s.s"), *KINDS["s"]),
    "d": (("d",), *KINDS["s"]),
}


def leaf(table: pa.Table, path: tuple[str, ...]) -> pa.ChunkedArray:
    found = table[path[0]]
    for name in path[1:]:
        found = pc.struct_field(found, name)
    return found


@st.composite
def conditions(draw):
    name = draw(st.sampled_from(sorted(PATHS)))
    path, _, values = PATHS[name]
    word = draw(st.sampled_from([name, path]))
    op = draw(st.sampled_from([*COMPARE, "in", "not in", "is null", "is not null", "NOT  IN"]))
    if op.startswith("is"):
        return (word, op)
    if op.lower().endswith("in"):
        return (word, op, draw(st.lists(values, max_size=3)))
    return (word, op, draw(values))


DNF = st.lists(st.lists(conditions(), min_size=1, max_size=3), min_size=1, max_size=3)


def path_of(word) -> tuple[str, ...]:
    return PATHS[word][0] if isinstance(word, str) else word


def truth(value, op: str, wanted) -> bool:
    """One condition on one value, by Python's own rules; a list of floats is compared bit by bit
    but for NaN, as Arrow does it."""
    op = " ".join(op.lower().split())
    if op in ("is null", "is not null"):
        return (value is None) == (op == "is null")
    if value is None:
        return False
    if op in COMPARE:
        return COMPARE[op](value, wanted)
    found = repr(value) in map(repr, wanted) if isinstance(value, float) else value in wanted
    return found == (op == "in")


def expected(table: pa.Table, filters) -> list[bool]:
    leaves = {path: leaf(table, path).to_pylist() for path, _, _ in PATHS.values()}
    return [
        any(
            all(truth(leaves[path_of(c[0])][i], c[1], c[2] if len(c) > 2 else None) for c in group)
            for group in filters
        )
        for i in range(table.num_rows)
    ]


@settings(deadline=None)
@given(tables(), DNF)
def test_the_mask_is_the_filter_read_row_by_row(table, filters):
    predicate = parse(filters, schema_of(table))
    mask = predicate.mask(table)
    assert mask.type == pa.bool_()
    assert mask.to_pylist() == expected(table, filters)
    assert predicate.filter(table).num_rows == sum(mask.to_pylist())
    assert set(predicate.columns) == {path_of(c[0]) for group in filters for c in group}


def in_pyarrow(condition) -> pc.Expression:
    """The condition as pyarrow converts it. It lets a null pass ``not in``: we do not."""
    word, op, *value = condition
    path, op = path_of(word), " ".join(op.lower().split())
    field = pc.field(*path)
    if not value:
        return field.is_null() if op == "is null" else field.is_valid()
    kind = KINDS["s"][0] if path == ("d",) else PATHS[".".join(path)][1]
    wanted = pa.array(value[0], kind) if op.endswith("in") else pa.scalar(value[0], kind)
    theirs = pq.filters_to_expression([[(path, op, wanted)]])
    return theirs & field.is_valid() if op == "not in" else theirs


@settings(deadline=None)
@given(tables(), DNF)
def test_the_rows_are_those_of_pyarrows_dataset(table, filters):
    theirs = functools.reduce(
        operator.or_,
        [functools.reduce(operator.and_, map(in_pyarrow, group)) for group in filters],
    )
    numbered = table.append_column("row", pa.array(range(table.num_rows), pa.int64()))
    found = ds.dataset(numbered).to_table(filter=theirs)["row"].to_pylist()
    ours = parse(filters, schema_of(table)).filter(numbered)["row"].to_pylist()
    assert ours == sorted(found)


# ---- what statistics say -----------------------------------------------------------------------


def cut(bound: bytes, up: bool) -> bytes | None:
    """A bound of one byte: as a writer cuts a long one."""
    if len(bound) <= 1:
        return bound
    if not up:
        return bound[:1]
    return bytes([bound[0] + 1]) if bound[0] < 255 else None


@st.composite
def statistics(draw, values: pa.ChunkedArray, name: str) -> Statistics | None:
    """True statistics of the values, some of them forgotten, some bounds loosened."""
    if draw(st.integers(0, 9)) == 0:
        return None
    plain = values.drop_null().to_pylist()
    numbers = [v for v in plain if v == v]
    nans = len(plain) - len(numbers)
    low, high = (min(numbers), max(numbers)) if numbers else (None, None)
    exact = True
    if isinstance(low, str):
        low, high = low.encode(), high.encode()
    if isinstance(low, bytes) and draw(st.booleans()):
        low, high, exact = cut(low, up=False), cut(high, up=True), False
    elif low is not None and draw(st.booleans()):
        low, high = (
            (pa.scalar(one, values.type) for one in (low, high)) if name in KINDS else (low, high)
        )
    maybe = st.integers(0, 4).map(bool)
    held = {repr(order_of(v, values.type)) for v in plain}
    forgotten = draw(st.integers(1, 3))
    return Statistics(
        min=low if draw(maybe) else None,
        max=high if draw(maybe) else None,
        null_count=values.null_count if draw(maybe) else None,
        rows=len(values) if draw(maybe) else None,
        nan_count=nans if draw(maybe) else None,
        min_exact=exact,
        max_exact=exact,
        lacks=None
        if forgotten == 1
        else lambda order: repr(order) not in held and len(repr(order)) % forgotten > 0,
    )


@st.composite
def known(draw, table: pa.Table) -> dict[tuple[str, ...], Statistics]:
    found = {}
    for name, (path, _, _) in PATHS.items():
        values = leaf(table, path)
        one = draw(statistics(values.cast(pa.string()) if name == "d" else values, name))
        if one is not None:
            found[path] = one
    return found


def check(predicate, table: pa.Table, stats) -> None:
    answer = predicate.keep(stats)
    event(answer.name)
    mask = predicate.mask(table).to_pylist()
    assert answer is not Answer.NEVER or not any(mask)
    assert answer is not Answer.ALWAYS or all(mask)


@settings(max_examples=150, deadline=None)
@given(st.data(), tables(), DNF)
def test_statistics_never_say_too_much(data, table, filters):
    check(parse(filters, schema_of(table)), table, data.draw(known(table)))


@settings(max_examples=150, deadline=None)
@given(st.data(), tables(), conditions())
def test_statistics_never_say_too_much_of_one_condition(data, table, condition):
    check(parse(condition, schema_of(table)), table, data.draw(known(table)))


@st.composite
def simple(draw) -> pc.Expression:
    """An expression of one column."""
    condition = draw(conditions())
    word, op, *value = condition
    field = pc.field(*path_of(word))
    shape = draw(st.integers(0, 5))
    if shape == 0:
        return pc.scalar(draw(st.sampled_from([True, False, pa.scalar(None, pa.bool_())])))
    if shape == 1 and path_of(word) != ("d",):
        kind = PATHS[".".join(path_of(word))][1]
        values = draw(st.lists(st.none() | PATHS[".".join(path_of(word))][2], max_size=3))
        return field.isin(pa.array(values, kind))
    if shape == 2 and value and not op.lower().endswith("in"):
        kind = KINDS["s"][0] if path_of(word) == ("d",) else PATHS[".".join(path_of(word))][1]
        return COMPARE[op](pc.scalar(pa.scalar(value[0], kind)), field)
    if shape == 3:
        return pc.field("i8") * 2 > draw(st.integers(-3, 3))
    if shape == 4:
        return pc.field("i8") > draw(st.sampled_from([-1000, 0, 1, 1000]))
    return in_pyarrow(condition)


EXPRESSIONS = st.recursive(
    simple(),
    lambda inner: (
        inner.map(operator.invert)
        | st.tuples(inner, inner).map(lambda two: two[0] & two[1])
        | st.tuples(inner, inner).map(lambda two: two[0] | two[1])
    ),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.data(), tables(), EXPRESSIONS)
def test_an_expression_is_applied_as_it_is_and_pruned_by_what_can_be_read(data, table, expression):
    predicate = parse(expression, schema_of(table))
    check(predicate, table, data.draw(known(table)))
    numbered = table.append_column("row", pa.array(range(table.num_rows), pa.int64()))
    found = numbered.filter(expression)["row"].to_pylist()
    assert predicate.filter(numbered)["row"].to_pylist() == found


def test_a_struct_is_filtered_by_whatever_lies_beside():
    """Of an extension inside a struct Arrow makes no empty array."""
    ids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"a" * 16, b"b" * 16], pa.binary(16)))
    table = pa.table({"s": pa.StructArray.from_arrays([ids, pa.array([1, 2])], ["id", "n"])})
    predicate = parse([("s.n", "==", 2)], schema_of(table))
    assert predicate.mask(table).to_pylist() == [False, True]


# ---- values that are known to be absent ----------------------------------------------------------

EMPTY = pa.table({name: pa.array([], kind) for name, (kind, _) in KINDS.items()})
NAN, F = float("nan"), pc.field


@pytest.mark.parametrize(
    ("filters", "probes"),
    [
        ([("i8", "==", 3)], {"i8": [3]}),
        ([("i8", "!=", 3)], {}),
        ([("i8", "==", 3.5)], {}),
        ([("i8", "<=", 3), ("s", "is null")], {}),
        ([("s", "=", "é")], {"s": ["é".encode()]}),
        ([("s", "in", ["b", "a", "b"])], {"s": [b"a", b"b"]}),
        ([("s", "not in", ["b", "a"])], {}),
        ([("i8", "==", 3), ("b", "in", [b""])], {"i8": [3], "b": [b""]}),
        ([[("i8", "==", 3)], [("i8", "in", [3, 1])]], {"i8": [3, 1]}),
        ([("f64", "==", 0.0)], {"f64": [0.0, -0.0]}),
        ([("f64", "in", [-0.0, NAN, 1.5])], {"f64": [0.0, -0.0, 1.5]}),
        ([("f64", "==", NAN)], {}),
        ([("f32", "in", [0.1])], {"f32": [float(pa.scalar(0.1, pa.float32()).as_py())]}),
        ([("dec", "==", Decimal("1.25"))], {"dec": [125]}),
        ([("ts", "==", INSTANT)], {"ts": [1577836800000000]}),
        ([("day", "in", [INSTANT.date()])], {"day": [18262]}),
        (~(F("i8") != 3), {"i8": [3]}),
        (~(F("i8") == 3), {}),
        (~((F("i8") != 3) & ~F("s").isin(["a"])), {"i8": [3], "s": [b"a"]}),
        (F("i8") * 2 == 6, {}),
    ],
)
def test_probes_are_the_values_that_rows_must_hold_to_match(filters, probes):
    found = parse(filters, schema_of(EMPTY)).probes()
    assert {path: list(map(repr, values)) for path, values in found.items()} == {
        (name,): list(map(repr, values)) for name, values in probes.items()
    }


@settings(max_examples=150, deadline=None)
@given(tables(), DNF)
def test_what_matches_an_equality_is_among_the_probes(table, filters):
    """Of each condition: where every probe is absent, only NaN and nulls can be there to match."""
    for condition in (c for group in filters for c in group):
        predicate = parse(condition, schema_of(table))
        for path, values in predicate.probes().items():
            column = table["d"].cast(pa.string()) if path == ("d",) else leaf(table, path)
            matching = column.filter(predicate.mask(table)).to_pylist()
            held = {repr(order_of(v, column.type)) for v in matching if v == v}
            assert held <= set(map(repr, values))


def answer(filters, **known) -> Answer:
    predicate = parse(filters, schema_of(EMPTY))
    return predicate.keep({(name,): one for name, one in known.items()})


def absent(*orders) -> Statistics:
    return Statistics(null_count=0, rows=4, lacks=lambda one: repr(one) in map(repr, orders))


def test_a_value_that_is_absent_decides_equalities_and_nothing_else():
    assert answer([("i8", "==", 3)], i8=absent(3)) is Answer.NEVER
    assert answer([("i8", "==", 2)], i8=absent(3)) is Answer.MAYBE
    assert answer([("i8", "!=", 3)], i8=absent(3)) is Answer.ALWAYS
    assert answer([("i8", "<=", 3)], i8=absent(3)) is Answer.MAYBE
    assert answer([("i8", "in", [3, 4])], i8=absent(3)) is Answer.MAYBE
    assert answer([("i8", "in", [3, 4])], i8=absent(3, 4)) is Answer.NEVER
    assert answer([("i8", "not in", [3, 4])], i8=absent(3, 4)) is Answer.ALWAYS
    assert answer([[("i8", "==", 3)], [("s", "==", "a")]], i8=absent(3)) is Answer.MAYBE
    bounded = Statistics(min=0, max=3, null_count=0, rows=4, lacks=absent(3).lacks)
    assert answer([("i8", "in", [3, 4, 5])], i8=bounded) is Answer.NEVER


def test_a_zero_is_absent_when_both_of_its_signs_are():
    known = absent(0.0, 1.5)
    assert answer([("f32", "==", 0.0)], f32=known) is Answer.MAYBE
    assert answer([("f32", "==", 1.5)], f32=known) is Answer.NEVER
    assert answer([("f32", "!=", 1.5)], f32=known) is Answer.ALWAYS
    sure = {"null_count": 0, "nan_count": 0, "rows": 4}
    assert answer([("f32", "==", 0)], f32=Statistics(**sure, lacks=absent(0.0).lacks)) is (
        Answer.MAYBE
    )
    both = Statistics(**sure, lacks=absent(0.0, -0.0).lacks)
    assert answer([("f32", "==", 0)], f32=both) is Answer.NEVER
    assert answer([("f32", "in", [-0.0])], f32=both) is Answer.NEVER
    unsure = Statistics(null_count=0, rows=4, lacks=absent(0.0, -0.0).lacks)
    assert answer([("f32", "in", [-0.0])], f32=unsure) is Answer.NEVER
    assert answer([("f32", "in", [-0.0, NAN])], f32=unsure) is Answer.MAYBE


def test_where_all_is_nan_no_number_matches():
    for nulls in (0, 2):
        known = Statistics(null_count=nulls, nan_count=4, rows=4 + nulls)
        for op in ("==", "<", "<=", ">", ">="):
            assert answer([("f64", op, 1.5)], f64=known) is Answer.NEVER
        assert answer([("f64", "in", [1.5])], f64=known) is Answer.NEVER
        always = Answer.MAYBE if nulls else Answer.ALWAYS
        assert answer([("f64", "!=", 1.5)], f64=known) is always
        assert answer([("f64", "in", [NAN])], f64=known) is Answer.MAYBE, "which NaN?"
    some = Statistics(null_count=0, nan_count=3, rows=4)
    assert answer([("f64", "<", 1.5)], f64=some) is Answer.MAYBE


def test_a_list_with_a_nan_does_not_find_every_nan():
    odd = pa.array(np.array([0xFFC00000, 0x7FC00001], "u4").view("f4"), from_pandas=False)
    table = pa.table({"f32": odd})
    for condition in (("f32", "in", [NAN]), ("f32", "not in", [NAN]), ("f32", "in", [1.5, NAN])):
        for bounds in ({}, {"min": 1.5, "max": 1.5}, {"nan_count": 2}):
            known = {("f32",): Statistics(null_count=0, rows=2, **bounds)}
            found = parse(condition, schema_of(table)).keep(known)
            assert found is Answer.MAYBE
            assert sum(parse(condition, schema_of(table)).mask(table).to_pylist()) in (0, 2)


def test_only_leaves_that_statistics_can_speak_of_are_asked_for():
    schema = schema_of(EMPTY)
    assert parse([("i8", "==", 3), ("s", "is null")], schema).asked() == {("i8",), ("s",)}
    expression = (F("i8") * 2 == 6) | ~F("s").isin(["a"])
    assert parse(expression, schema).asked() == {("s",)}
    assert set(parse(expression, schema).columns) == {("i8",), ("s",)}
