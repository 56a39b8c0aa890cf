"""The language of --filter: words to conditions, values of the column's type."""

import datetime as dt

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.cli.filter import filter_of, joined
from rangeio.cli.value import value_of
from rangeio.errors import BadFilter, NoSuchColumn, RequestError
from rangeio.predicate import parse
from rangeio.schema import Column, ColumnId, Schema

TABLE = pa.table(
    {
        "n": pa.array([1, 2, 3, None]),
        "f": pa.array([0.5, -1.5, float("nan"), float("inf")]),
        "t": pa.array(["a", "x y", "it's", None]),
        "b": pa.array([True, False, True, None]),
        "u": pa.array([0, 3600 * 10**6, 2 * 3600 * 10**6, None], pa.timestamp("us", "UTC")),
        "z": pa.array([0, 1, 2, None], pa.timestamp("s", "Europe/Berlin")),
        "l": pa.array([0, 10**9 + 1, 2 * 10**9, None], pa.timestamp("ns")),
        "d": pa.array([0, 1, 2, None], pa.date32()),
        "c": pa.array([0, 3600 * 10**3, 10, None], pa.time32("ms")),
        "s": pa.array([60, 90, 3600, None], pa.duration("s")),
        "p": pa.array([1, 2, 3, None], pa.int64()).cast(pa.decimal128(22, 2)),
        "y": pa.array([b"ab", b"c", b"", None]),
        "i": pa.array(["a", "b", "a", None]).dictionary_encode(),
        "and": pa.array([1, 2, 3, None]),
        "a b": pa.array([1, 2, 3, None]),
        "q.r": pa.array([1, 2, 3, None]),
        "big": pa.array([2**63 - 1, 2**63 - 2, -(2**63), None]),
    }
)
SCHEMA = Schema.of([Column(ColumnId(i, (f.name,)), f.type) for i, f in enumerate(TABLE.schema)])


def chosen(*texts):
    """The positions of the rows that all filters keep."""
    mask = parse(joined(texts, SCHEMA), SCHEMA).mask(TABLE)
    return pc.indices_nonzero(mask).to_pylist()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("n = 2", [1]),
        ("n==2", [1]),
        ("n != 2", [0, 2]),
        ("n <> 2", [0, 2]),
        ("n<2", [0]),
        ("n <= 2", [0, 1]),
        ("n>1.5", [1, 2]),
        ("n >= -3", [0, 1, 2]),
        ("n in (1,3)", [0, 2]),
        ("n IN ( 1 )", [0]),
        ("n not in (1, 3)", [1]),
        ("n is null", [3]),
        ("n Is Not NULL", [0, 1, 2]),
        ("n > 1 and n < 3", [1]),
        ("n = 1 or n = 3", [0, 2]),
        ("n = 1 or n > 1 and n < 3", [0, 1]),
        ("f > 0", [0, 3]),
        ("f = inf", [3]),
        ("f = -1.5", [1]),
        ("f < 1e3", [0, 1]),
        ("t = a", [0]),
        ("t = 'x y'", [1]),
        ('t = "it\'s"', [2]),
        ("t = 'it''s'", [2]),
        ("t in (a, 'x y')", [0, 1]),
        ("t > b", [1, 2]),
        ("b = true", [0, 2]),
        ("b != TRUE", [1]),
        ("u >= 1970-01-01T01:00:00Z", [1, 2]),
        ("u >= '1970-01-01 01:00'", [1, 2]),
        ("u = 1970-01-01T02:00:00+01:00", [1]),
        ("u > 1969-12-31", [0, 1, 2]),
        ("u < 3000-01-01", [0, 1, 2]),
        ("z = '1970-01-01 01:00:01'", [1]),
        ("z = 1970-01-01T00:00:01Z", [1]),
        ("l = '1970-01-01 00:00:01.000000001'", [1]),
        ("d > 1970-01-01", [1, 2]),
        ("d = 1970-01-03", [2]),
        ("c = 01:00", [1]),
        ("c = 00:00:00.010", [2]),
        ("s = 90s", [1]),
        ("s >= 1.5m", [1, 2]),
        ("s < '2 h'", [0, 1, 2]),
        ("p = 2.00", [1]),
        ("p > 2.005", [2]),
        ("y = ab", [0]),
        ("i = a", [0, 2]),
        ("`and` = 2", [1]),
        ("'a b' = 2", [1]),
        ('"a b" = 2', [1]),
        ("q.r = 2", [1]),
        ("#0 = 2", [1]),
        ("big = 9223372036854775807", [0]),
        ("big > 99999999999999999999", []),
    ],
)
def test_meaning(text, rows):
    assert chosen(text) == rows


def test_filters_add_up():
    assert chosen("n > 1", "n < 3") == [1]
    assert chosen("n = 1 or n = 2", "f = 0.5 or t = a") == [0]
    assert joined([], SCHEMA) is None


def test_too_many_combinations():
    with pytest.raises(BadFilter, match="1024 combinations"):
        joined(["n = 1 or n = 2"] * 10, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "n = x",
        "n = 1x",
        "n = true",
        "n = ''",
        "f = many",
        "b = 1",
        "u = 5",
        "u = 2024",
        "u = 2024-13-01",
        "l = 1970-01-01T00:00:00Z",
        "d = tomorrow",
        "c = 25:00",
        "s = 90",
        "s = 5y",
        "p = 1,5",
        "n in ()",
        "n in (1,)",
        "n = 1 and",
        "n = 1 n = 2",
        "n = (1)",
        "n ! 1",
        "n",
        "= 1",
        "n = " + "9" * 2000,
    ],
)
def test_nonsense(text):
    with pytest.raises(BadFilter) as caught:
        parse(filter_of(text, SCHEMA), SCHEMA)
    assert "\n" not in str(caught.value)


def test_columns_that_are_not_there():
    with pytest.raises(NoSuchColumn, match=r"no column 'q\.x'; did you mean 'q\.r'"):
        filter_of("n = 1 and q.x = 2", SCHEMA)


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_quoted_text_comes_through(text):
    for quote in "'\"":
        written = quote + text.replace(quote, quote * 2) + quote
        assert filter_of(f"t = {written}", SCHEMA) == [[(SCHEMA["t"], "=", text)]]
        listed = filter_of(f"t in ({written},{written})", SCHEMA)
        assert listed == [[(SCHEMA["t"], "in", [text, text])]]


@given(st.text(st.sampled_from("nt =<>!()',\"`andornotinisull15#. "), max_size=30))
def test_any_text_is_a_filter_or_an_error_of_ours(text):
    groups, said = [], ""
    try:
        groups = filter_of(text, SCHEMA)
    except RequestError as error:
        said = str(error)
    assert bool(groups) != bool(said)
    assert all(groups)


@given(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)))
def test_times_come_through(when):
    column = SCHEMA["l"]
    for text in (when.isoformat(), when.isoformat(" ")):
        assert value_of(text, column).cast(pa.timestamp("us")).as_py() == when
