"""Filters word by word: what each type compares with, what is refused, what is known at once."""

from __future__ import annotations

import datetime as dt
import pickle
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rangeio.errors import BadFilter, NoSuchColumn, RequestError
from rangeio.predicate import Answer, Statistics, parse
from rangeio.schema import Column, ColumnId, Schema

UTC = dt.UTC
HUGE = 10**400


def shown(value):
    """A test id without addresses: it must be the same in every worker."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def column(field: pa.Field, above: tuple[str, ...] = ()) -> Column:
    path = (*above, field.name)
    kind = field.type
    inner: list[pa.Field] = []
    if pa.types.is_map(kind):
        inner = [kind.key_field, kind.item_field]
    elif pa.types.is_nested(kind):
        inner = [kind.field(i) for i in range(kind.num_fields)]
    children = tuple(column(one, path) for one in inner)
    return Column(ColumnId(abs(hash(path)) % 10**6, path), kind, field.nullable, children=children)


def stamps(kind: pa.DataType, *values: int | None) -> pa.Array:
    return pa.array(values, kind)


TABLE = pa.table(
    {
        "i": pa.array([1, 2, None], pa.int8()),
        "u": pa.array([1, 2**64 - 1, None], pa.uint64()),
        "flag": [False, True, None],
        "h": pa.array([1, 2, None], pa.float16()),
        "f": pa.array([0.1, 2, None], pa.float32()),
        "g": [0.1, float("nan"), None],
        "s": ["a", "b", None],
        "sv": pa.array(["a", "b", None], pa.string_view()),
        "bv": pa.array([b"a", b"b", None], pa.binary_view()),
        "fb": pa.array([b"aa", b"bb", None], pa.binary(2)),
        "d32": pa.array([1, 2, None], pa.decimal32(5, 2)),
        "d256": pa.array([1, 2, None], pa.decimal256(50, 2)),
        "t32": stamps(pa.time32("s"), 1, 2, None),
        "t64": stamps(pa.time64("ns"), 1, 2, None),
        "du": stamps(pa.duration("ms"), 1, 2, None),
        "d64": stamps(pa.date64(), 0, 86_400_000, None),
        "ts": stamps(pa.timestamp("s"), 0, 1, None),
        "tz": stamps(pa.timestamp("ns", "Europe/Berlin"), 0, 1, None),
        "low": stamps(pa.timestamp("ns"), -(2**63), 2**63 - 1, None),
        "n": pa.nulls(3),
        "uuid": pa.array([b"0" * 16, b"1" * 16, None], pa.uuid()),
        "dd": pa.array([0.5, 1.5, None]).dictionary_encode(),
        "iv": pa.array([pa.MonthDayNano([1, 2, 3]), None, None]),
        "l": [[1], [], None],
        "m": pa.array([[(1, 2)], [], None], pa.map_(pa.int8(), pa.int8())),
        "st": [{"a": 1}, None, {"a": None}],
    }
)
SCHEMA = Schema.of([column(field) for field in TABLE.schema])


def rows(*condition) -> list[int]:
    """The rows that a condition keeps; the predicate is pickled on its way."""
    predicate = pickle.loads(pickle.dumps(parse(condition, SCHEMA)))
    mask = predicate.mask(TABLE).to_pylist()
    assert predicate.filter(TABLE).num_rows == sum(mask)
    return [i for i, kept in enumerate(mask) if kept]


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (("i", ">", 1.5), [1]),
        (("i", "<=", Decimal("1.99")), [0]),
        (("i", "==", 1.5), []),
        (("i", "!=", 1.5), [0, 1]),
        (("i", "==", 2.0), [1]),
        (("i", "<", 1000), [0, 1]),
        (("i", ">", 127), []),
        (("i", ">", 1000), []),
        (("i", ">=", -HUGE), [0, 1]),
        (("i", "<", float("inf")), [0, 1]),
        (("i", "<", float("-inf")), []),
        (("i", "==", float("nan")), []),
        (("i", "!=", float("nan")), [0, 1]),
        (("i", "in", [1.0, 1.5, 2**40, np.int8(2)]), [0, 1]),
        (("i", "in", np.array([2, 3])), [1]),
        (("i", "in", pa.array([1])), [0]),
        (("i", "in", {1, 7}), [0]),
        (("i", "in", []), []),
        (("i", "not in", []), [0, 1]),
        (("i", "not in", [300]), [0, 1]),
        (("u", ">=", 2**64 - 1), [1]),
        (("u", ">", -5), [0, 1]),
        (("u", "==", float(2**64)), []),
        (("flag", "==", True), [1]),
        (("flag", "<", np.True_), [0]),
        (("h", ">", 1.5), [1]),
        (("h", "in", [1, 2.0]), [0, 1]),
        (("f", "==", 0.1), []),
        (("f", "==", np.float32(0.1)), [0]),
        (("f", "in", [0.1]), [0]),
        (("f", "<", HUGE), [0, 1]),
        (("f", ">", HUGE), []),
        (("f", "==", Decimal(2)), [1]),
        (("g", "==", Decimal("0.1")), [0]),
        (("g", "==", float("nan")), []),
        (("g", "in", [float("nan")]), [1]),
        (("g", "not in", [float("nan"), 0.1]), []),
        (("g", ">", 2**53 + 1), []),
        (("s", ">", "a"), [1]),
        (("sv", ">", "a"), [1]),
        (("sv", "in", ["b", "c"]), [1]),
        (("bv", "<=", b"a"), [0]),
        (("bv", "in", ["b"]), [1]),
        (("fb", ">", "a"), [0, 1]),
        (("fb", "in", [b"aa", b"a"]), [0]),
        (("d32", ">", 1), [1]),
        (("d32", "in", [1, Decimal("2.00"), Decimal("1.001")]), [0, 1]),
        (("d256", "==", 1.0), [0]),
        (("d256", ">", Decimal("1e-2000")), [0, 1]),
        (("d256", "<", Decimal("1e2000")), [0, 1]),
        (("t32", ">=", dt.time(0, 0, 1, 5)), [1]),
        (("t64", ">", dt.time(0)), [0, 1]),
        (("du", ">", dt.timedelta(milliseconds=1)), [1]),
        (("du", "==", np.timedelta64(2, "ms")), [1]),
        (("du", "<", np.timedelta64(1, "W")), [0, 1]),
        (("d64", ">", dt.datetime(1970, 1, 1, 12)), [1]),
        (("d64", "in", [dt.date(1970, 1, 2)]), [1]),
        (("d64", "==", np.datetime64("1970-01-02")), [1]),
        (("d64", "<", np.datetime64("1970-02")), [0, 1]),
        (("ts", ">", dt.datetime(1970, 1, 1, 0, 0, 0, 1)), [1]),
        (("ts", "==", dt.date(1970, 1, 1)), [0]),
        (("ts", "==", np.datetime64(1000, "ms")), [1]),
        (("tz", ">=", dt.datetime(1970, 1, 1, tzinfo=UTC)), [0, 1]),
        (("tz", ">", dt.datetime(1970, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))), [1]),
        (("tz", "==", pa.scalar(1, pa.timestamp("ns", "UTC"))), [1]),
        (("tz", "in", [pa.scalar(1, pa.timestamp("ns", "UTC"))]), [1]),
        (("tz", "<", dt.datetime(9999, 1, 1, tzinfo=UTC)), [0, 1]),
        (("low", ">", dt.date(1, 1, 1)), [0, 1]),
        (("low", "<", dt.date(9999, 1, 1)), [0, 1]),
        (("n", "==", 5), []),
        (("n", "not in", [5]), []),
        (("n", "is null"), [0, 1, 2]),
        (("uuid", "==", b"0" * 16), [0]),
        (("dd", ">", 1), [1]),
        (("dd", "in", [0.5]), [0]),
        (("iv", "is null"), [1, 2]),
        (("l", "is null"), [2]),
        (("m", "is not null"), [0, 1]),
        (("st", "is null"), [1]),
        (("st.a", "IS  NULL"), [1, 2]),
        ((("st", "a"), "!=", 5), [0]),
        (("i", "is null", None), [2]),
    ],
    ids=shown,
)
def test_what_compares(condition, kept):
    assert rows(*condition) == kept


def test_heirs_of_pandas_keep_their_nanoseconds():
    pd = pytest.importorskip("pandas")
    assert rows("tz", "==", pd.Timestamp(1, tz="UTC")) == [1]
    assert rows("tz", "<", pd.Timestamp(1, tz="UTC")) == [0]
    assert rows("du", "<", pd.Timedelta(1_000_001)) == [0]
    assert rows("i", "in", pd.Series([2])) == [1]
    for null in (pd.NaT, pd.NA):
        with pytest.raises(BadFilter, match="is null"):
            rows("tz", "==", null)


@pytest.mark.parametrize(
    "condition",
    [
        ("i", "==", True),
        ("i", "==", "1"),
        ("i", "==", b"1"),
        ("i", "in", ["1"]),
        ("flag", "==", 1),
        ("s", "==", 1),
        ("s", "==", b"a"),
        ("s", "==", "\ud800"),
        ("bv", "==", 1),
        ("d32", "==", "1"),
        ("ts", "==", "1970-01-01"),
        ("ts", "==", 0),
        ("ts", "==", dt.datetime(1970, 1, 1, tzinfo=UTC)),
        ("ts", "==", dt.time(0)),
        ("ts", "==", np.datetime64(1, "ps")),
        ("tz", "==", dt.datetime(1970, 1, 1)),
        ("tz", "==", np.datetime64(0, "ns")),
        ("t32", "==", dt.time(0, tzinfo=UTC)),
        ("du", "==", dt.datetime(1970, 1, 1)),
        ("iv", "==", 1),
        ("st.a", ">", object()),
    ],
    ids=shown,
)
def test_a_value_that_does_not_fit_is_refused_with_the_column(condition):
    with pytest.raises(BadFilter) as caught:
        rows(*condition)
    assert repr(condition[0]) in str(caught.value)


def test_a_refusal_names_column_type_and_value():
    with pytest.raises(BadFilter) as caught:
        rows("d32", "<", "x7")
    for word in ("'d32'", "decimal32(5, 2)", "'x7'"):
        assert word in str(caught.value)


@pytest.mark.parametrize("null", [None, np.datetime64("NaT"), pa.scalar(None, pa.int64())])
def test_a_null_is_asked_for_by_its_own_operator(null):
    for op, value in (("==", null), ("in", [null])):
        with pytest.raises(BadFilter, match="ask 'is null'"):
            rows("ts", op, value)


@pytest.mark.parametrize(
    "filters",
    [
        [],
        (),
        [[]],
        None,
        5,
        "i > 5",
        [5],
        [[5]],
        [("i", "==", 1), [("i", "==", 1)]],
        [[("i", "==", 1)], ("i", "==", 1)],
        ("i", "=="),
        ("i", "~", 1),
        ("i", "is null", 3),
        ("i", "in", "ab"),
        ("i", "in", 5),
        ("i", "in", {1: 2}),
        ("l", "==", 1),
        ("l.item", "==", 1),
        ("m.key", "is null"),
        ("st", "==", 1),
        (True, "==", 1),
        (1.5, "==", 1),
        (None, "==", 1),
    ],
    ids=shown,
)
def test_what_is_no_filter_is_refused(filters):
    with pytest.raises(BadFilter):
        parse(filters, SCHEMA)


def test_what_the_schema_has_not_is_no_such_column():
    for filters in (("zz", "==", 1), [("i*", "==", 1)], pc.field("zz") > 1, (("st", "z"), ">", 1)):
        with pytest.raises(NoSuchColumn):
            parse(filters, SCHEMA)
    with pytest.raises(NoSuchColumn, match=r"did you mean \('st', 'a'\)"):
        parse(pc.field("st.a") > 1, SCHEMA)


def test_names_that_repeat_cannot_be_filtered_by():
    twice = Schema.of([Column(ColumnId(i, ("a",)), pa.int64()) for i in (1, 2)])
    for filters in (("a", "==", 1), (1, "==", 1), pc.field("a") == 1):
        with pytest.raises(RequestError):
            parse(filters, twice)


def test_conditions_are_joined_by_and_and_lists_by_or():
    one, two = ("i", "==", 1), ("s", "==", "b")
    keep = lambda filters: parse(filters, SCHEMA).mask(TABLE).to_pylist()  # noqa: E731
    assert keep(one) == keep([one]) == keep([[one]]) == [True, False, False]
    assert keep([one, two]) == [False, False, False]
    assert keep([[one], [two]]) == [True, True, False]
    assert keep([list(one), list(two)]) == [False, False, False]
    assert parse([[one], [two, one]], SCHEMA).columns == (("i",), ("s",))


def test_a_mask_needs_no_other_columns_and_takes_batches():
    predicate = parse(("st.a", "==", 1), SCHEMA)
    pruned = TABLE.select(["st"])
    assert predicate.mask(pruned).to_pylist() == [True, False, False]
    assert predicate.mask(pruned.to_batches()[0]).to_pylist() == [True, False, False]
    assert predicate.mask(pruned.slice(0, 0)).to_pylist() == []
    assert str(predicate)


# ---- expressions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "columns", "kept"),
    [
        (pc.field("st", "a") > 0, (("st", "a"),), [0]),
        (pc.field("st").is_null(), (("st",),), [1]),
        (pc.field("flag"), (("flag",),), [1]),
        (~pc.field("flag"), (("flag",),), [0]),
        (pc.list_value_length(pc.field("l")) > 0, (("l",),), [0]),
        (pc.field("i").cast("string") == "1", (("i",),), [0]),
        (pc.if_else(pc.field("flag"), pc.field("i"), pc.field("i")) > 1, ..., [1]),
        (pc.scalar(True), (), [0, 1, 2]),
        (pc.field("g").is_null(nan_is_null=True), (("g",),), [1, 2]),
        ((pc.field("i") > 1) & (pc.field("i") < 5) | pc.field("s").isin(["a"]), ..., [0, 1]),
    ],
    ids=shown,
)
def test_an_expression_names_its_columns(expression, columns, kept):
    predicate = pickle.loads(pickle.dumps(parse(expression, SCHEMA)))
    assert [i for i, hit in enumerate(predicate.mask(TABLE).to_pylist()) if hit] == kept
    if columns is not ...:
        assert predicate.columns == columns


@pytest.mark.parametrize(
    "expression",
    [
        pc.field(0) > 1,
        pc.field("i") + 1,
        pc.field("i") == "a",
        pc.field("l", "item") > 1,
        pc.field("s"),
    ],
    ids=shown,
)
def test_an_expression_that_cannot_be_applied_is_refused(expression):
    with pytest.raises(BadFilter):
        parse(expression, SCHEMA)


def test_an_expression_that_fails_on_the_data_says_so():
    with pytest.raises(BadFilter, match="fails on the data"):
        parse(pc.field("s").cast(pa.int64()) > 0, SCHEMA).mask(TABLE)


# ---- what is known at once ---------------------------------------------------------------------

FULL = Statistics(min=10, max=20, null_count=0, rows=5)
SOME = Statistics(min=10, max=20, null_count=2, rows=5)
NULLS = Statistics(null_count=5, rows=5)
POINT = Statistics(min=7, max=7, null_count=0, rows=5)
FLOATS = Statistics(min=1.0, max=2.0, null_count=0, rows=5, nan_count=0)
MAYBE_NAN = Statistics(min=1.0, max=2.0, null_count=0, rows=5)
TEXT = Statistics(min=b"abc\xc3", max=b"abd", null_count=0, min_exact=False, max_exact=False)


@pytest.mark.parametrize(
    ("condition", "known", "answer"),
    [
        (("i", "<", 10), FULL, Answer.NEVER),
        (("i", "<", 11), FULL, Answer.MAYBE),
        (("i", "<", 21), FULL, Answer.ALWAYS),
        (("i", "<", 21), SOME, Answer.MAYBE),
        (("i", ">=", 10), FULL, Answer.ALWAYS),
        (("i", ">", 20), FULL, Answer.NEVER),
        (("i", "!=", 5), FULL, Answer.ALWAYS),
        (("i", "!=", 5), SOME, Answer.MAYBE),
        (("i", "==", 5), SOME, Answer.NEVER),
        (("i", "==", 7), POINT, Answer.ALWAYS),
        (("i", "!=", 7), POINT, Answer.NEVER),
        (("i", "in", [1, 25]), FULL, Answer.NEVER),
        (("i", "in", [1, 15, 25]), FULL, Answer.MAYBE),
        (("i", "in", [7, 9]), POINT, Answer.ALWAYS),
        (("i", "not in", [7, 9]), POINT, Answer.NEVER),
        (("i", "not in", [1, 25]), FULL, Answer.ALWAYS),
        (("i", "not in", [1, 25]), SOME, Answer.MAYBE),
        (("i", "not in", [1]), NULLS, Answer.NEVER),
        (("i", "!=", 1), NULLS, Answer.NEVER),
        (("i", "is null"), NULLS, Answer.ALWAYS),
        (("i", "is null"), FULL, Answer.NEVER),
        (("i", "is not null"), FULL, Answer.ALWAYS),
        (("i", "is not null"), SOME, Answer.MAYBE),
        (("i", "<", 1000), FULL, Answer.ALWAYS),
        (("i", ">", 100), Statistics(), Answer.MAYBE),
        (("i", "<", 10), Statistics(min=30, max=20), Answer.MAYBE),
        (("i", "<", 10), Statistics(min="x", max=object()), Answer.MAYBE),
        (("g", "<", 3.0), FLOATS, Answer.ALWAYS),
        (("g", "<", 3.0), MAYBE_NAN, Answer.MAYBE),
        (("g", "<", 1.0), MAYBE_NAN, Answer.NEVER),
        (("g", "!=", 5.0), MAYBE_NAN, Answer.ALWAYS),
        (("g", "<", 1.0), Statistics(min=float("nan"), max=float("nan")), Answer.MAYBE),
        (("s", "<", "abc"), TEXT, Answer.NEVER),
        (("s", "<", "b"), TEXT, Answer.ALWAYS),
        (("s", "==", "abcé"), TEXT, Answer.MAYBE),
        (("ts", ">", dt.datetime(2020, 1, 1)), Statistics(min=0, max=5), Answer.NEVER),
        (("ts", ">", dt.date(2020, 1, 1)), Statistics(max=dt.datetime(2019, 1, 1)), Answer.NEVER),
        (("d32", ">", 3), Statistics(max=Decimal("2.50")), Answer.NEVER),
    ],
    ids=shown,
)
def test_what_statistics_say(condition, known, answer):
    predicate = parse(condition, SCHEMA)
    assert predicate.keep({predicate.columns[0]: known}) is answer


def test_what_no_statistics_need():
    for condition in (("i", "==", 1.5), ("i", ">", 1000), ("i", "in", []), ("n", "==", 1)):
        assert parse(condition, SCHEMA).keep({}) is Answer.NEVER
    assert parse(("i", "<", 1000), SCHEMA).keep({}) is Answer.MAYBE
    assert parse(pc.scalar(True), SCHEMA).keep({}) is Answer.ALWAYS


def test_pages_are_pruned_by_expressions_too():
    keep = lambda e: parse(e, SCHEMA).keep({("i",): FULL})  # noqa: E731
    assert keep(pc.field("i") > 20) is Answer.NEVER
    assert keep(~(pc.field("i") > 20)) is Answer.ALWAYS
    assert keep((pc.field("i") > 20) | (pc.field("s") == "a")) is Answer.MAYBE
    assert keep((pc.field("i") > 20) & (pc.field("s") == "a")) is Answer.NEVER
    assert keep(pc.scalar(20) < pc.field("i")) is Answer.NEVER
    assert keep(pc.field("i").isin(pa.array([1, 2], pa.int8()))) is Answer.NEVER
    assert keep(pc.field("i") + 1 > 100) is Answer.MAYBE
    assert keep(pc.field("i").is_valid()) is Answer.ALWAYS
