"""Partition columns: from the names of folders to typed values, and to files that are skipped."""

import datetime as dt
import pickle
import tempfile
from decimal import Decimal
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.datasets.finding.manifest import ABSENT, DataFile, Manifest
from rangeio.datasets.finding.partitions import NULL, partitions, unquoted, verdict
from rangeio.errors import RequestError
from rangeio.predicate import parse
from rangeio.schema import Column, ColumnId, Schema
from rangeio.statistics import Answer

DATE = dt.date(2024, 2, 29)


def typed(*texts):
    """Type and values of one key over files that have these texts."""
    found = partitions([f"k={text}/f" for text in texts])
    return found.schema.field("k").type, [values[0] for values in found.values]


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", "-2"], pa.int32(), [1, -2]),
        (["0", "2147483647", "-2147483648"], pa.int32(), [0, 2**31 - 1, -(2**31)]),
        (["1", "2147483648"], pa.int64(), [1, 2**31]),
        (["-9223372036854775808"], pa.int64(), [-(2**63)]),
        (["9223372036854775808"], pa.string(), ["9223372036854775808"]),
        (["007", "8"], pa.int32(), [7, 8]),
        (["01", "1", "-01"], pa.int32(), [1, 1, -1]),
        (["0" * 30 + "1"], pa.int32(), [1]),
        (["01", "2147483648"], pa.int64(), [1, 2**31]),
        (["01", "a"], pa.string(), ["01", "a"]),
        (["-0"], pa.int32(), [0]),
        (["1_000"], pa.string(), ["1_000"]),
        (["1 "], pa.string(), ["1 "]),
        (["-"], pa.string(), ["-"]),
        (["9" * 5000], pa.string(), ["9" * 5000]),
        (["0" * 5000], pa.string(), ["0" * 5000]),
        (["+1"], pa.string(), ["+1"]),
        (["\u0661"], pa.string(), ["\u0661"]),
        (["1.5"], pa.string(), ["1.5"]),
        (["true"], pa.string(), ["true"]),
        (["2024-02-29"], pa.date32(), [DATE]),
        (["2023-02-29"], pa.string(), ["2023-02-29"]),
        (["2024-02-29", "1"], pa.string(), ["2024-02-29", "1"]),
        (["1", NULL, ""], pa.int32(), [1, None, None]),
        ([NULL], pa.string(), [None]),
        (["a%20b%3D%2Fc", "a=b"], pa.string(), ["a b=/c", "a=b"]),
        (["%FF"], pa.string(), ["%FF"]),
        (["100%"], pa.string(), ["100%"]),
    ],
)
def test_types_are_inferred_over_all_files(texts, kind, values):
    assert typed(*texts) == (kind, values)


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), min_size=1), min_size=1))
def test_every_text_can_be_recovered(texts):
    kind, values = typed(*(quote(text, safe="") for text in texts))
    for text, value in zip(texts, values, strict=True):
        if text == NULL:
            assert value is None
        elif pa.types.is_integer(kind):
            assert value == int(text)  # but for the zeros before it
        else:
            assert (value.isoformat() if kind == pa.date32() else value) == text


WORDS = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(str),
    st.from_regex(r"-?0{0,3}[0-9]{1,8}", fullmatch=True),
    st.text("abcXYZ _-+%=äß/", min_size=1, max_size=8),
    st.just(NULL),
)


def arrows(root, paths):
    """pyarrow's schema of the files at these paths, and each file's keys."""
    for path in paths:
        (root / path).parent.mkdir(parents=True)
        pq.write_table(pa.table({"x": [1]}), root / path)
    found = pads.dataset(root, format="parquet", partitioning="hive")
    keys = {
        fragment.path[len(str(root)) + 1 :]: pads.get_partition_keys(fragment.partition_expression)
        for fragment in found.get_fragments()
    }
    return found.schema, [keys[path] for path in paths]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=6))
def test_integers_and_texts_are_those_of_pyarrow(rows):
    paths = [
        f"a={quote(a, safe='')}/b={quote(b, safe='')}/{i}/f.parquet"
        for i, (a, b) in enumerate(rows)
    ]
    ours = partitions(paths)
    if any(all(row[place] == NULL for row in rows) for place in (0, 1)):
        return  # pyarrow wants a value to infer from
    with tempfile.TemporaryDirectory() as root:
        schema, theirs = arrows(Path(root), paths)
    for place, name in enumerate("ab"):
        assert schema.field(name).type == ours.schema.field(name).type
        assert [one.get(name) for one in theirs] == [v[place] for v in ours.values]


def test_a_key_that_is_not_there_is_no_null_and_columns_come_as_first_met():
    found = partitions(["f", "b=1/f", "a=x/b=2/f", "plain/a=y/f", f"b={NULL}/f"])
    assert found.schema == pa.schema([("b", pa.int32()), ("a", pa.string())])
    assert found.values == (
        (ABSENT, ABSENT), (1, ABSENT), (2, "x"), (ABSENT, "y"), (None, ABSENT),
    )  # fmt: skip


def test_what_is_absent_survives_pickling_and_is_null_for_people():
    keys = pa.schema([("b", pa.int32()), ("a", pa.string())])
    held = Manifest(
        (DataFile("f", partition=(None, ABSENT)), DataFile("g", partition=(1, "x"))), keys
    )
    again = pickle.loads(pickle.dumps(held))
    assert again == held
    assert again[0].partition[1] is ABSENT
    assert (again.values(0), again.absent(0)) == ({"b": None}, {"a"})
    assert (again.values(1), again.absent(1)) == ({"b": 1, "a": "x"}, frozenset())
    assert again.to_table().select(["b", "a"]).to_pylist() == [
        {"b": None, "a": None}, {"b": 1, "a": "x"},
    ]  # fmt: skip


def test_only_folders_hold_keys():
    assert partitions(["x=1/y=2.parquet"]).schema.names == ["x"]
    assert partitions(["=1/f", "x/f"]).values == ((), ())


def test_a_key_twice_is_an_error_that_names_the_file():
    with pytest.raises(RequestError, match="'k' is twice") as caught:
        partitions(["k=1/f", "k=1/k=2/g.parquet"])
    assert caught.value.url == "k=1/k=2/g.parquet"


def test_off():
    found = partitions(["a=1/f", "a=2/f"], None)
    assert (found.schema, found.values) == (pa.schema([]), ((), ()))


def test_declared_types():
    schema = pa.schema([("d", pa.int8()), ("t", pa.timestamp("s")), ("n", pa.decimal128(5, 2))])
    path = "t=2024-01-02%2003:04:05/other=1/n=1.50/f"
    found = partitions([path, "d=007/f"], schema)
    assert found.schema == schema
    at = dt.datetime(2024, 1, 2, 3, 4, 5)
    assert found.values[0] == (ABSENT, at, Decimal("1.50"))
    assert found.values[1] == (7, ABSENT, ABSENT)


def test_a_value_that_does_not_fit_is_an_error_that_names_it():
    with pytest.raises(RequestError, match=r"'year' is '300' .* no int8") as caught:
        partitions(["year=1/f", "year=300/g"], pa.schema([("year", pa.int8())]))
    assert caught.value.url == "year=300/g"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (pa.string(), "01", "01"),
        (pa.large_string(), "01", "01"),
        (pa.dictionary(pa.int32(), pa.string()), "01", "01"),
        (pa.int8(), "007", 7),
        (pa.float64(), "1.50", 1.5),
        (pa.date32(), "2024-02-29", DATE),
        (pa.bool_(), "true", True),
        (pa.date32(), "1", None),
        (pa.int8(), "300", None),
        (pa.int64(), "9999999999999999999", None),
        (pa.uint8(), "-1", None),
        (pa.int32(), "a", None),
        (pa.list_(pa.int8()), "1", None),
    ],
)
@pytest.mark.parametrize("how", ["hive", ["k"], pa.schema([("k", pa.int64())])])
def test_a_type_declared_elsewhere_is_read_out_of_the_text(kind, text, value, how):
    path = f"{text}/f" if isinstance(how, list) else f"k={text}/f"
    if value is None:
        with pytest.raises(RequestError, match="which is no"):
            partitions([path], how, {"k": kind})
        return
    found = partitions([path], how, {"k": kind, "other": pa.int8()})
    assert (found.schema, found.values) == (pa.schema([("k", kind)]), ((value,),))


def test_directory_partitioning():
    found = partitions(["2024/05/f", "2024/f", "2023/12/deep/er/f"], ["year", "month"])
    assert found.schema == pa.schema([("year", pa.int32()), ("month", pa.int32())])
    assert found.values == ((2024, 5), (2024, ABSENT), (2023, 12))


@pytest.mark.parametrize("off", ["Hive", 3, ["a", 1], ["a", "a"], [""], b"hive"])
def test_partitioning_that_cannot_be(off):
    with pytest.raises(RequestError, match="partitioning="):
        partitions(["f"], off)


@given(st.text())
def test_unquoting_never_fails_and_undoes_quoting(text):
    unquoted(text)
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert unquoted(quote(text, safe="")) == text


# ---- which files can match ----------------------------------------------------------------------

KINDS = {"year": pa.int32(), "day": pa.date32(), "name": pa.string(), "x": pa.float64()}
SCHEMA = Schema.of([Column(ColumnId(i, (k,)), v) for i, (k, v) in enumerate(KINDS.items())])
HELD = pa.schema([(name, KINDS[name]) for name in ("year", "day", "name")])


def answer(filters, *values):
    return verdict(parse(filters, SCHEMA), HELD, values)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([("year", "==", 2024)], Answer.ALWAYS),
        ([("year", "=", 2023)], Answer.NEVER),
        ([("year", "in", [1, 2024])], Answer.ALWAYS),
        ([("year", "not in", [2024])], Answer.NEVER),
        ([("year", ">", 2023.5)], Answer.ALWAYS),
        ([("day", "<", dt.date(2024, 1, 1))], Answer.NEVER),
        ([("name", "is null")], Answer.ALWAYS),
        ([("name", "==", "a")], Answer.NEVER),
        ([("name", "!=", "a")], Answer.NEVER),
        ([("x", ">", 1.0)], Answer.MAYBE),
        ([("x", ">", 1.0), ("year", "==", 1)], Answer.NEVER),
        ([("x", ">", 1.0), ("year", "==", 2024)], Answer.MAYBE),
        ([[("x", ">", 1.0)], [("year", "==", 2024)]], Answer.ALWAYS),
    ],
)
def test_verdicts(filters, expected):
    assert answer(filters, 2024, DATE, None) is expected


def test_of_a_key_that_is_absent_nothing_is_known():
    assert answer([("year", "==", 2024)], ABSENT, DATE, None) is Answer.MAYBE
    assert answer([("year", "is null")], ABSENT, DATE, None) is Answer.MAYBE
    assert answer([("year", "is null"), ("name", "==", "a")], ABSENT, DATE, None) is Answer.NEVER


YEARS = st.one_of(st.none(), st.integers(2020, 2024))
OPS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])


@given(YEARS, OPS, st.integers(2019, 2025))
def test_a_verdict_is_what_the_data_would_say(year, op, wanted):
    predicate = parse([("year", op, wanted)], SCHEMA)
    mask = predicate.mask(pa.table({"year": pa.array([year], pa.int32())}))
    said = verdict(predicate, HELD, (year, None, None))
    assert said is (Answer.ALWAYS if mask[0].as_py() else Answer.NEVER)


def test_a_nan_matches_nothing_but_unequal():
    held = pa.schema([("x", pa.float64())])
    of = {op: verdict(parse([("x", op, 1.0)], SCHEMA), held, (float("nan"),)) for op in ("<", "!=")}
    assert of == {"<": Answer.NEVER, "!=": Answer.ALWAYS}
