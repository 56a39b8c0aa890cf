"""What Spark pushed down keeps at least the rows that Spark keeps, in memory and from files."""

import base64
import datetime as dt
import json
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rangeio
from rangeio.spark.filters.pushed import filters_of

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MICRO = dt.timedelta(microseconds=1)


def real(kind):
    numbers = [0.0, -0.0, 0.5, -1.5, 3.0, 1e300, math.nan, math.inf, -math.inf, 0.1]
    return st.sampled_from([float(kind(number)) for number in numbers])


TEXTS = st.sampled_from(["", "a", "ab", "abc", "b", "\ud7ff", "\ue000", "\U0010ffff", "a\0", "é"])
DECIMALS = st.integers(-300, 300).map(lambda unscaled: Decimal(unscaled).scaleb(-2))
DAYS = st.integers(-3, 3)
MOMENTS = st.sampled_from([-1, 0, 1, 1_000_000, 1_500_000, 86_400_000_000])

# Column: Spark's type, Arrow's types of files, values as the integers or so of the literal.
COLUMNS = {
    "b": ("boolean", [pa.bool_()], st.booleans()),
    "t": ("byte", [pa.int8()], st.integers(-3, 3)),
    "i": ("integer", [pa.int32(), pa.int16()], st.integers(-3, 3)),
    "l": ("long", [pa.int64(), pa.uint32()], st.integers(0, 3)),
    "f": ("float", [pa.float32()], real(lambda x: np.float32(min(max(x, -1e30), 1e30)))),
    "d": ("double", [pa.float64()], real(float)),
    "m": ("decimal(12,2)", [pa.decimal128(12, 2)], DECIMALS),
    "s": ("string", [pa.string(), pa.large_string()], TEXTS),
    "y": ("binary", [pa.binary()], st.sampled_from([b"", b"\0", b"\x7f", b"\xff", b"ab"])),
    "a": ("date", [pa.date32()], DAYS),
    "z": ("timestamp", [pa.timestamp("us", "UTC")], MOMENTS),
    "n": ("timestamp_ntz", [pa.timestamp("us"), pa.timestamp("ms")], MOMENTS),
}
NULL = None
ORDERED = ("lt", "le", "gt", "ge")


def text_of(value):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float):
        plain = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return "NaN" if math.isnan(value) else plain.get(value, repr(value))
    return str(value)


@st.composite
def leaves(draw):
    column = draw(st.sampled_from(sorted(COLUMNS)))
    name, _, values = COLUMNS[column]
    operators = ["eq", "eqNullSafe", *ORDERED, "in", "isNull", "isNotNull"]
    operators += ["startsWith", "endsWith", "contains"] * (name == "string")
    op = draw(st.sampled_from(operators))
    node = {"op": op, "column": [column]}
    if op in ("isNull", "isNotNull"):
        return node, (op, column, None)
    if op == "in":
        found = draw(st.lists(values | st.none(), min_size=1, max_size=4))
        return node | {"type": name, "values": [text_of(one) for one in found]}, (op, column, found)
    found = draw(values | st.none() if op == "eqNullSafe" else values)
    return node | {"type": name, "value": text_of(found)}, (op, column, found)


CONSTANT = {"true": True, "false": False, "unknown": None}


def trees():
    """A filter as JSON, with the same for the oracle."""
    fixed = st.sampled_from([({"op": op}, (op, None, None)) for op in CONSTANT])

    def joined(children):
        many = st.lists(children, min_size=1, max_size=3)
        both = st.tuples(st.sampled_from(["and", "or"]), many).map(
            lambda one: (
                {"op": one[0], "of": [part[0] for part in one[1]]},
                (one[0], [part[1] for part in one[1]], None),
            )
        )
        opposite = children.map(lambda one: ({"op": "not", "of": one[0]}, ("not", one[1], None)))
        return both | opposite

    return st.recursive(leaves() | fixed, joined, max_leaves=8)


# ---- Spark's meaning ---------------------------------------------------------------------------


def rank(value):
    """Spark's order: NaN equals itself and lies above all, -0.0 equals 0.0, text by its bytes."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
    return value.encode() if isinstance(value, str) else value


def compared(op, left, right):
    if op == "eqNullSafe":
        if left is None or right is None:
            return left is right
        return rank(left) == rank(right)
    if left is None or right is None:
        return NULL
    x, y = rank(left), rank(right)
    return {"eq": x == y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[op]


def listed(value, values):
    if value is None:
        return NULL
    if any(one is not None and rank(one) == rank(value) for one in values):
        return True
    return NULL if None in values else False


def meaning(tree, row, unknown):
    """Of a filter in one row: true, false or null; ``unknown`` for what nobody can tell."""
    op, about, value = tree
    if op == "not":
        inner = meaning(about, row, unknown)
        return NULL if inner is None else not inner
    if op in ("and", "or"):
        found = [meaning(part, row, unknown) for part in about]
        decisive = op == "or"
        return decisive if decisive in found else NULL if None in found else not decisive
    if op in CONSTANT:
        return unknown if op == "unknown" else CONSTANT[op]
    held = row[about]
    if op in ("isNull", "isNotNull"):
        return (held is None) is (op == "isNull")
    if op == "in":
        return listed(held, value)
    if op in ("startsWith", "endsWith", "contains"):
        tests = {
            "startsWith": str.startswith,
            "endsWith": str.endswith,
            "contains": str.__contains__,
        }
        return NULL if held is None else tests[op](held, value)
    return compared(op, held, value)


def kept(tree, rows):
    return {
        n
        for n, row in enumerate(rows)
        if any(meaning(tree, row, unknown) is True for unknown in (True, False, None))
    }


# ---- the tests ---------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """Rows as Spark's values, and the table that holds them."""
    count = draw(st.integers(1, 8))
    columns, arrays = {}, {"row": pa.array(range(count))}
    for name, (_, kinds, values) in COLUMNS.items():
        kind = draw(st.sampled_from(kinds))
        found = draw(st.lists(values | st.none(), min_size=count, max_size=count))
        if kind == pa.timestamp("ms"):
            found = [None if one is None else one // 1000 * 1000 for one in found]
            arrays[name] = pa.array(found, pa.timestamp("us")).cast(kind)
        else:
            arrays[name] = pa.array(found, kind)
        columns[name] = found
    return [{name: columns[name][n] for name in columns} for n in range(count)], pa.table(arrays)


QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@given(tables(), trees(), st.booleans())
@settings(max_examples=400, **QUIET)
def test_no_row_that_spark_keeps_is_lost(filled, filters, told):
    rows, table = filled
    node, tree = filters
    expression = filters_of(json.dumps(node), table.schema if told else None)
    found = table if expression is None else table.filter(expression)
    assert kept(tree, rows) <= set(found["row"].to_pylist())


@given(tables(), trees())
@settings(max_examples=60, **QUIET)
def test_no_row_is_lost_by_statistics_either(tmp_path_factory, filled, filters):
    rows, table = filled
    node, tree = filters
    expression = filters_of(json.dumps(node), table.schema)
    path = tmp_path_factory.mktemp("one") / "one.parquet"
    pq.write_table(table, path, row_group_size=2)
    found = rangeio.dataset(str(path)).read(filters=expression)
    assert kept(tree, rows) <= set(found["row"].to_pylist())


TABLE = pa.table(
    {
        "x": pa.array([1, 2, None, 4]),
        "d": [0.0, -0.0, math.nan, None],
        "s": ["ab", "ac", "b", None],
        "st": [{"q": 1}, {"q": 2}, None, {"q": None}],
        "ns": pa.array([0, 1, 1000, 2000], pa.timestamp("ns")),
        "a.b": [1, 2, 3, 4],
    }
)


def rows_of(node, schema=TABLE.schema):
    expression = filters_of(json.dumps(node), schema)
    if expression is None:
        return None
    indexed = TABLE.append_column("row", pa.array(range(4)))
    return indexed.filter(expression)["row"].to_pylist()


def leaf(op, column, kind, value):
    return {"op": op, "column": [column], "type": kind, "value": value}


@pytest.mark.parametrize(
    ("node", "rows"),
    [
        (leaf("gt", "x", "long", "1"), [1, 3]),
        (leaf("eqNullSafe", "x", "long", None), [2]),
        ({"op": "not", "of": leaf("eqNullSafe", "x", "long", "2")}, [0, 2, 3]),
        (leaf("gt", "d", "double", "5.0"), [2]),
        (leaf("eq", "d", "double", "NaN"), [2]),
        (leaf("eq", "d", "double", "-0.0"), [0, 1]),
        (
            {"op": "in", "column": ["d"], "type": "double", "values": ["0.0", "NaN", None]},
            [0, 1, 2],
        ),
        (leaf("startsWith", "s", "string", "a"), [0, 1]),
        (leaf("contains", "s", "string", "c"), [1]),
        ({"op": "eq", "column": ["st", "q"], "type": "long", "value": "2"}, [1]),
        (leaf("eq", "a.b", "long", "3"), [2]),
        ({"op": "isNull", "column": ["s"]}, [3]),
        ({"op": "false"}, []),
    ],
)
def test_nothing_is_weaker_than_it_must_be(node, rows):
    assert rows_of(node) == rows


@pytest.mark.parametrize(
    "node",
    [
        {"op": "unknown"},
        {"op": "true"},
        leaf("eq", "x", "interval day", "1"),
        leaf("eq", "x", "long", "one"),
        leaf("eq", "x", "byte", "300"),
        leaf("eq", "x", "string", "1"),
        leaf("eq", "X", "long", "1"),
        leaf("eq", "ns", "timestamp_ntz", "1"),
        leaf("like", "s", "string", "a%"),
        {"op": "not", "of": {"op": "and", "of": [leaf("eq", "x", "long", "1"), {"op": "unknown"}]}},
        {"op": "or", "of": [leaf("eq", "x", "long", "1"), {"op": "new", "column": ["x"]}]},
        {"op": "in", "column": ["x"], "type": "long", "values": [1.5]},
        [],
        None,
    ],
)
def test_what_is_not_understood_tells_nothing(node):
    assert rows_of(node) is None


def test_the_known_part_of_an_and_counts():
    node = {"op": "and", "of": [{"op": "unknown"}, leaf("eq", "x", "long", "1")]}
    assert rows_of(node) == [0]
    node = {"op": "not", "of": {"op": "or", "of": [{"op": "unknown"}, node["of"][1]]}}
    assert rows_of(node) == [1, 3]


@pytest.mark.parametrize("text", ["", "{", "[" * 5000, "7", '{"op": "and"}', '{"op": ["and"]}'])
def test_text_that_is_no_filter_tells_nothing(text):
    assert filters_of(text) is None


def test_thousands_of_conditions_are_read_by_rangeio(tmp_path):
    many = {"op": "or", "of": [leaf("eq", "x", "long", str(n)) for n in range(2, 3000)]}
    pq.write_table(TABLE.drop(["ns"]), tmp_path / "a.parquet")
    found = rangeio.dataset(str(tmp_path / "a.parquet")).read(filters=filters_of(json.dumps(many)))
    assert found["x"].to_pylist() == [2, 4]
    one = deep = leaf("eq", "x", "long", "2")
    for n in range(300):
        deep = {"op": "and" if n % 2 else "or", "of": [deep, one]}
    found = rangeio.dataset(str(tmp_path / "a.parquet")).read(filters=filters_of(json.dumps(deep)))
    assert found["x"].to_pylist() == [2]


def test_a_prefix_prunes_row_groups(tmp_path):
    table = pa.table({"s": ["aa", "ab", "ba", "bb"]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    expression = filters_of(json.dumps(leaf("startsWith", "s", "string", "b")))
    with rangeio.open(str(tmp_path / "a.parquet")) as file:
        assert file.read(filters=expression)["s"].to_pylist() == ["ba", "bb"]
        assert "1" in str(file.explain(filters=expression))


def negated(node):
    return {"op": "not", "of": node}


def within(column, kind, *values):
    return {"op": "in", "column": [column], "type": kind, "values": list(values)}


WORDS = {
    "d > 1": leaf("gt", "d", "double", "1.0"),
    "d >= double('NaN')": leaf("ge", "d", "double", "NaN"),
    "not d < 1": negated(leaf("lt", "d", "double", "1.0")),
    "d in (double('NaN'), 0.0D)": within("d", "double", "NaN", "0.0"),
    "d <=> null or s > 'a'": {
        "op": "or",
        "of": [{"op": "isNull", "column": ["d"]}, leaf("gt", "s", "string", "a")],
    },
    "not (d <=> 0.0D)": negated(leaf("eqNullSafe", "d", "double", "0.0")),
    "d not in (0.0D, 1.0D)": negated(within("d", "double", "0.0", "1.0")),
    "not (x = 2 and s = 'ab')": negated(
        {"op": "and", "of": [leaf("eq", "x", "long", "2"), leaf("eq", "s", "string", "ab")]}
    ),
    "x in (1, null)": within("x", "long", "1", None),
    "not x in (1, null)": negated(within("x", "long", "1", None)),
    "s like 'a%' or x is null": {
        "op": "or",
        "of": [leaf("startsWith", "s", "string", "a"), {"op": "isNull", "column": ["x"]}],
    },
    "z = timestamp'1970-01-01 00:00:01'": leaf("eq", "z", "timestamp", "1000000"),
    "not b": negated(leaf("eq", "b", "boolean", "true")),
}


def test_a_session_keeps_no_row_that_is_lost(spark):
    """Spark's own conditions on rows of its own, each with the words that the jar has for it."""
    from pyspark.sql import functions as sf

    rows = [
        (1, 0.0, "ab", True, EPOCH),
        (2, -0.0, "", False, EPOCH + dt.timedelta(seconds=1)),
        (None, math.nan, None, None, None),
        (4, 2.0, "b", True, EPOCH - MICRO),
        (5, None, "a\U0010ffff", False, EPOCH),
    ]
    frame = spark.createDataFrame(rows, "x bigint, d double, s string, b boolean, z timestamp")
    frame = frame.withColumn("row", sf.monotonically_increasing_id()).cache()
    table = frame.toArrow()
    for text, node in WORDS.items():
        expected = {row[0] for row in frame.where(text).select("row").collect()}
        expression = filters_of(json.dumps(node))
        found = table if expression is None else table.filter(expression)
        assert expected <= set(found["row"].to_pylist()), text
