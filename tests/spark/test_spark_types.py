"""What Spark may ask a file's columns as, and what of a file's own notes it is told."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pytest
from lakes import put
from pyspark.sql import types as st

from pyspark_rangeio import DefaultSource
from rangeio.errors import RequestError, Unsupported
from rangeio.spark.reading.weighing import cut, weight
from rangeio.spark.types import ROW_METADATA, arrow_schema, spark_schema
from rangeio.spark.widening import misfit

AT = dt.datetime(2024, 5, 6, 7, 8, 9)


def source(path, **options):
    return DefaultSource({"path": str(path), **options})


def batches(path, schema, **options):
    reader = source(path, **options).reader(schema)
    return [batch for part in reader.partitions() for batch in reader.read(part)]


def read(path, schema, **options):
    return pa.Table.from_batches(batches(path, schema, **options), arrow_schema(schema))


def asked(**kinds):
    """A schema of Spark's, of types as in SQL."""
    made = st.StructType()
    for name, kind in kinds.items():
        made = made.add(name, sql(kind) if isinstance(kind, str) else kind)
    return made


def sql(text):
    """A type, nested at most once: the parser of SQL is Spark's, for which there must be one."""
    outer, _, inner = text.removesuffix(">").partition("<")
    if outer == "struct":
        return asked(**dict(one.split(":") for one in inner.split(",")))
    if outer == "array":
        return st.ArrayType(sql(inner))
    if outer == "map":
        return st.MapType(*map(sql, inner.split(",")))
    word = {"int": "integer", "bigint": "long", "smallint": "short"}.get(text, text)
    return st._parse_datatype_json_string(json.dumps(word))


LOSSY = [
    (pa.float64(), 0.1, "float"),
    (pa.float64(), 2.0, "bigint"),
    (pa.float64(), 0.5, "decimal(20,10)"),
    (pa.timestamp("us"), AT, "date"),
    (pa.timestamp("us"), AT, "bigint"),
    (pa.timestamp("us"), AT, "string"),
    (pa.int32(), 7, "boolean"),
    (pa.bool_(), True, "int"),
    (pa.int64(), 7, "timestamp"),
    (pa.int64(), 7, "int"),
    (pa.int64(), 7, "double"),
    (pa.int64(), 7, "string"),
    (pa.int64(), 7, "decimal(18,0)"),
    (pa.int32(), 7, "smallint"),
    (pa.int32(), 7, "date"),
    (pa.int32(), 7, "float"),
    (pa.int32(), 7, "interval day to second"),
    (pa.uint32(), 7, "int"),
    (pa.string(), "5", "int"),
    (pa.string(), "2024-05-06", "date"),
    (pa.date32(), AT.date(), "timestamp"),
    (pa.date32(), AT.date(), "timestamp_ntz"),
    (pa.decimal128(9, 2), 5, "decimal(8,2)"),
    (pa.decimal128(9, 2), 5, "decimal(9,1)"),
    (pa.decimal128(9, 2), 5, "double"),
    (pa.decimal128(9, 0), 5, "bigint"),
    (pa.list_(pa.int64()), [5], "array<int>"),
    (pa.map_(pa.string(), pa.float64()), [("k", 0.1)], "map<string,float>"),
    (pa.struct([("x", pa.int64())]), {"x": 5}, "struct<x:int>"),
    (pa.struct([("x", pa.int64())]), {"x": 5}, "bigint"),
]


@pytest.mark.parametrize(("kind", "value", "wanted"), LOSSY, ids=lambda one: str(one)[:30])
def test_what_would_be_lost_or_become_another_is_refused(tmp_path, kind, value, wanted):
    path = put(pa.table({"c": pa.array([value], kind)}), tmp_path / "day.parquet")
    with pytest.raises(Unsupported, match=r"column 'c.* and was asked as") as caught:
        read(path, asked(c=wanted))
    assert path in str(caught.value)


WIDER = [
    (pa.int8(), -5, "smallint", -5),
    (pa.int32(), 5, "bigint", 5),
    (pa.uint8(), 255, "smallint", 255),
    (pa.int32(), 5, "double", 5.0),
    (pa.int16(), 5, "float", 5.0),
    (pa.float32(), 0.5, "double", 0.5),
    (pa.int64(), 5, "decimal(19,0)", 5),
    (pa.int32(), 5, "decimal(12,2)", 5),
    (pa.decimal128(9, 2), 5, "decimal(12,4)", 5),
    (pa.date64(), AT.date(), "date", AT.date()),
    (pa.large_string(), "x", "string", "x"),
    (pa.string_view(), "x", "string", "x"),
    (pa.string(), "x", "binary", b"x"),
    (pa.binary(), b"x", "string", "x"),
    (pa.binary(2), b"xy", "binary", b"xy"),
    (pa.timestamp("ms"), AT, "timestamp_ntz", AT),
    (pa.timestamp("us"), AT, "timestamp", AT.replace(tzinfo=dt.UTC)),
    (pa.timestamp("ns"), AT, "timestamp_ntz", AT),
    (pa.int64(), 1_500_000, "interval day to second", dt.timedelta(seconds=1.5)),
    (pa.duration("ms"), dt.timedelta(1), "interval day to second", dt.timedelta(1)),
    (pa.null(), None, "int", None),
    (pa.dictionary(pa.int8(), pa.int32()), 5, "bigint", 5),
    (pa.list_(pa.int8(), 2), [1, 2], "array<int>", [1, 2]),
    (pa.large_list(pa.float32()), [0.5], "array<double>", [0.5]),
    (pa.map_(pa.string(), pa.int8()), [("k", 1)], "map<string,int>", [("k", 1)]),
    (pa.struct([("x", pa.int8())]), {"x": 1}, "struct<x:int,y:date>", {"x": 1, "y": None}),
]


@pytest.mark.parametrize(("kind", "value", "wanted", "found"), WIDER, ids=lambda one: str(one)[:30])
def test_what_holds_every_value_is_read(tmp_path, kind, value, wanted, found):
    path = put(pa.table({"c": pa.array([value, None], kind)}), tmp_path / "a.parquet")
    assert read(path, asked(c=wanted))["c"].to_pylist() == [found, None]


def test_the_file_that_does_not_fit_is_named(tmp_path):
    put(pa.table({"c": pa.array([1], pa.int32())}), tmp_path / "1.parquet")
    put(pa.table({"c": pa.array([2], pa.int64())}), tmp_path / "2.parquet")
    assert read(tmp_path, asked(c="bigint"))["c"].to_pylist() == [1, 2]
    with pytest.raises(Unsupported, match=r"2\.parquet: column 'c' is int64 .* int32"):
        read(tmp_path, asked(c="int"), ignorecorruptfiles="true")


def test_what_folders_tell_is_read_as_anything_that_it_says(tmp_path):
    put(pa.table({"c": [1]}), tmp_path / "y=2024" / "d=2024-05-06" / "a.parquet")
    for kinds, row in (
        ({"y": "string", "d": "timestamp_ntz"}, {"y": "2024", "d": dt.datetime(2024, 5, 6)}),
        ({"y": "smallint", "d": "string"}, {"y": 2024, "d": "2024-05-06"}),
        ({"y": "double", "d": "date"}, {"y": 2024.0, "d": dt.date(2024, 5, 6)}),
    ):
        assert read(tmp_path, asked(**kinds)).to_pylist() == [row]


def test_bytes_that_are_no_text_name_the_file(tmp_path):
    path = put(pa.table({"c": [b"\xff"]}), tmp_path / "a.parquet")
    with pytest.raises(Unsupported, match=r"a\.parquet: column 'c' is binary .* string"):
        read(path, asked(c="string"))


# ---- what Spark noted --------------------------------------------------------------------------


def noted(table, *fields):
    """The table as Spark would have written it of these fields."""
    text = json.dumps({"type": "struct", "fields": list(fields)})
    return table.replace_schema_metadata({ROW_METADATA: text.encode()})


def field(name, kind, **metadata):
    return {"name": name, "type": kind, "nullable": False, "metadata": metadata}


def test_comments_come_back(tmp_path):
    inner = {"type": "struct", "fields": [field("x", "integer", comment="inner")]}
    table = pa.table({"a": [1], "s": pa.array([{"x": 1}], pa.struct([("x", pa.int32())]))})
    told = field("a", "long", comment="hello", k=5, **{"rangeio.rows": 7})
    table = noted(table, told, field("s", inner, comment="outer"))
    found = source(put(table, tmp_path / "a.parquet")).schema()
    assert found["a"].metadata == {"comment": "hello", "k": 5}
    assert found["s"].metadata == {"comment": "outer"}
    assert found["s"].dataType["x"].metadata == {"comment": "inner"}
    assert all(one.nullable for one in (*found, *found["s"].dataType))
    assert read(tmp_path, found).to_pylist() == table.to_pylist()


def test_a_note_that_does_not_hold_what_is_there_is_none():
    """Of another file, or of one that was rewritten by who left the note as it was."""
    table = noted(pa.table({"a": [1], "b": [0.1]}), field("a", "integer"), field("b", "float"))
    assert spark_schema(table.schema).simpleString() == "struct<a:bigint,b:double>"


SHREDDED = pa.struct(
    [("metadata", pa.binary()), ("value", pa.binary()), ("typed_value", pa.int64())]
)
PLAIN = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])


@pytest.mark.parametrize("above", ["", "struct", "array"])
def test_a_shredded_variant_is_refused_by_column(tmp_path, above):
    kind, name = "variant", "v"
    value = {"metadata": b"\1\0\0", "value": None, "typed_value": 5}
    arrow, wanted = SHREDDED, st.VariantType()
    if above == "struct":
        kind, name = {"type": "struct", "fields": [field("w", "variant")]}, "v.w"
        value, arrow = {"w": value}, pa.struct([("w", arrow)])
        wanted = st.StructType().add("w", wanted)
    if above == "array":
        kind, name = {"type": "array", "elementType": kind, "containsNull": True}, "v.element"
        value, arrow, wanted = [value], pa.list_(arrow), st.ArrayType(wanted)
    table = pa.table({"id": [1], "v": pa.array([value], arrow)})
    path = put(noted(table, field("id", "long"), field("v", kind)), tmp_path / "a.parquet")
    said = f"column '{name}' is a shredded variant.*spark.sql.variant.writeShredding.enabled=false"
    with pytest.raises(RequestError, match=said):
        source(path).schema()
    with pytest.raises(Unsupported, match=said):
        read(path, asked(v=wanted))
    assert source(path, columns="id").schema().names == ["id"]
    assert read(path, asked(id="bigint")).num_rows == 1


def test_a_variant_that_is_whole_is_read(tmp_path):
    table = pa.table({"v": pa.array([{"metadata": b"\1\0\0", "value": b"\0"}], PLAIN)})
    path = put(noted(table, field("v", "variant")), tmp_path / "a.parquet")
    found = source(path).schema()
    assert found.simpleString() == "struct<v:variant>"
    assert read(path, found).to_pylist() == table.to_pylist()


# ---- how much a batch is -----------------------------------------------------------------------


def encoded(rows, size):
    """One text of so many bytes in every row, kept once."""
    values = pa.array(["x" * size, "y" * size])
    return pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int32()), values)


@pytest.mark.parametrize(("rows", "size"), [(5000, 20_000), (60_000, 40_000)])
def test_long_texts_of_a_dictionary(tmp_path, rows, size):
    table = pa.table({"s": encoded(rows, size), "i": np.arange(rows)})
    path = put(table, tmp_path / "d.parquet", row_group_size=rows)
    reader = source(path).reader(source(path).schema())
    first = None
    count = most = 0
    for part in reader.partitions():
        for batch in reader.read(part):
            assert batch["i"][0].as_py() == count
            first = first or batch["s"][1].as_py()
            count, most = count + batch.num_rows, max(most, batch.nbytes)
    assert (count, first) == (rows, "y" * size)
    assert most < 40 << 20


@pytest.mark.parametrize(
    "array",
    [
        encoded(1000, 1000),
        pa.array(["x" * 1000] * 1000, pa.string_view()),
        pa.ListArray.from_arrays(pa.array(range(1001), pa.int32()), encoded(1000, 1000)),
        pa.StructArray.from_arrays([encoded(1000, 1000)], ["s"]),
        pa.RunEndEncodedArray.from_arrays(pa.array([1000], pa.int32()), pa.array(["x" * 1000])),
        pa.array([["x" * 1000]] * 1000, pa.list_view(pa.string())),
        pa.array([[("k", b"x" * 1000)]] * 1000, pa.map_(pa.string(), pa.binary())),
    ],
    ids=lambda one: str(one.type)[:20],
)
def test_weights_are_those_of_decoded_slices(array):
    assert 1_000_000 <= weight(array) < 1_100_000
    assert 100_000 <= weight(array.slice(500, 100)) < 110_000
    made = list(cut(pa.record_batch({"c": array}), 200_000))
    assert sum(one.num_rows for one in made) == 1000
    assert max(one.num_rows for one in made) == 125


def test_a_row_alone_is_not_cut():
    batch = pa.record_batch({"c": ["x" * 1000] * 3})
    assert [one.num_rows for one in cut(batch, 10)] == [1, 1, 1]
    assert [one.num_rows for one in cut(pa.record_batch({"i": range(9)}), 1)] == [9]


def test_misfits_are_named_by_their_path():
    deep = pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.int64()))]))
    narrow = pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.int32()))]))
    found = misfit(deep, narrow, "c")
    assert (found.path, found.have, found.asked) == ("c.element.m.value", pa.int64(), pa.int32())
    assert misfit(narrow, deep, "c") is None
