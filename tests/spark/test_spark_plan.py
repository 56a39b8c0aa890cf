"""The data source as Spark's planner and workers use it, without either."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from lakes import gets, nested, numbers, put, values, wide
from pyspark.sql.types import StructType, _parse_datatype_json_string

import rangeio
from pyspark_rangeio import DefaultSource
from rangeio.errors import NotFound, RequestError, Unsupported
from rangeio.spark.conforming import conformed
from rangeio.spark.options import read_options
from rangeio.spark.reading.planning import divided
from rangeio.spark.reading.reader import Split
from rangeio.spark.types import arrow_schema, spark_schema
from rangeio.testing.moto import MotoServer


def source(path, **options):
    return DefaultSource({"path": str(path), **{k.lower(): v for k, v in options.items()}})


def read(path, schema=None, **options):
    """All rows, as Spark's processes would read them: everything is pickled in between."""
    made = pickle.loads(pickle.dumps(source(path, **options)))
    schema = made.schema() if schema is None else schema
    made = pickle.loads(pickle.dumps(made))
    reader = made.reader(schema)
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    reader = pickle.loads(pickle.dumps(reader))
    found = [batch for part in parts for batch in reader.read(part)]
    wanted = arrow_schema(schema)
    assert all(batch.schema.equals(wanted) for batch in found)
    return pa.Table.from_batches(found, wanted)


def schema_of(table):
    return spark_schema(table.schema)


def test_every_type(tmp_path):
    table = values()
    found = read(put(table, tmp_path / "v.parquet"))
    kinds = {"u8": pa.int16(), "u16": pa.int32(), "u32": pa.int64(), "u64": pa.decimal128(20, 0)}
    for name in table.column_names:
        wanted = table[name].cast(kinds[name]) if name in kinds else table[name]
        assert found[name].to_pylist() == wanted.to_pylist(), name


@pytest.mark.parametrize(
    "kind",
    [pa.decimal256(50, 2), pa.month_day_nano_interval(), pa.list_(pa.decimal256(39, 0))],
    ids=str,
)
def test_a_type_that_spark_has_not_is_refused_by_column(kind):
    with pytest.raises(RequestError, match=r"column 'x' .* option columns"):
        spark_schema(pa.schema([("a", pa.int8()), ("x", kind)]))


def test_a_hostile_note_of_spark_imports_nothing():
    note = b'{"type":"struct","fields":[{"name":"a","type":{"type":"udt","class":"x",'
    note += b'"pyClass":"os.system","sqlType":"long"},"nullable":true,"metadata":{}}]}'
    key = b"org.apache.spark.sql.parquet.row.metadata"
    for text in (note, b"{", b"[]", b'{"fields": 7}', b'{"fields":[{"name":"a","type":"odd"}]}'):
        found = spark_schema(pa.schema([("a", pa.int64())], metadata={key: text}))
        assert found.simpleString() == "struct<a:bigint>"


def test_an_interval_that_spark_wrote(tmp_path):
    note = '{"type":"struct","fields":[{"name":"i","type":"interval day to second",'
    note += '"nullable":true,"metadata":{}},{"name":"t","type":"timestamp","nullable":true,'
    note += '"metadata":{}}]}'
    table = pa.table({"i": [1_500_000], "t": pa.array([7], pa.timestamp("us"))})
    table = table.replace_schema_metadata({"org.apache.spark.sql.parquet.row.metadata": note})
    path = put(table, tmp_path / "i.parquet", use_deprecated_int96_timestamps=True)
    found = read(path)
    assert found["i"].type == pa.duration("us")
    assert found["t"].type == pa.timestamp("us", "UTC")
    assert found["t"].cast(pa.int64()).to_pylist() == [7]


def test_finer_times_are_cut_to_what_spark_knows(tmp_path):
    table = pa.table({"t": pa.array([-1, 1999, None], pa.timestamp("ns"))})
    found = read(put(table, tmp_path / "t.parquet"))
    assert found["t"].cast(pa.int64()).to_pylist() == [-1, 1, None]


def test_a_split_is_small_whatever_the_footer_is(tmp_path):
    for i in range(3):
        put(wide(2000), tmp_path / f"lake/{i}.parquet")
    made = source(tmp_path / "lake", columns="f1,f1999")
    parts = made.reader(made.schema()).partitions()
    assert parts
    assert sum(len(pickle.dumps(part)) for part in parts) < 20_000


def test_splits_are_by_bytes(tmp_path):
    for i in range(20):
        put(numbers(100), tmp_path / f"{i}.parquet")
    plan = rangeio.dataset(str(tmp_path)).plan(["a"])
    assert len(divided(plan, 1 << 30, cores=3)) == 3
    assert len(divided(plan, plan.bytes // 4 + 1, cores=3)) == 6
    assert len(divided(plan, plan.bytes // 15, cores=1)) >= 14


def test_a_row_count_needs_no_column(tmp_path):
    put(numbers(70), tmp_path / "a.parquet")
    assert read(tmp_path, StructType([])).num_rows == 70
    assert read(tmp_path, StructType().add("none", "integer"))["none"].null_count == 70


def test_only_the_asked_columns_are_fetched(tmp_path):
    path = put(wide(300, 2000), tmp_path / "w.parquet", use_dictionary=False)
    words = {"columns": "f0,f299", "cacheBytes": "1", "traceDir": str(tmp_path / "t")}
    assert read(path, **words).shape == (2000, 2)
    made = [get for task in gets(tmp_path / "t") for get in task["gets"] if not get["cached"]]
    assert {get["why"] for get in made} == {"parquet.data"}
    assert sum(get["size"] for get in made) <= 2 * 2000 * 8 + 2048


def test_names_match_as_spark_matches_them(tmp_path):
    put(pa.table({"a": [1], "A": [2], "Bc": [3]}), tmp_path / "a.parquet")
    found = read(tmp_path, StructType().add("A", "long").add("bC", "long"))
    assert found.to_pylist() == [{"A": 2, "bC": 3}]


def test_two_columns_that_differ_in_case(tmp_path):
    put(pa.table({"ab": [1], "AB": [2]}), tmp_path / "a.parquet")
    with pytest.raises(RequestError, match="'Ab' means 2 columns"):
        read(tmp_path, StructType().add("Ab", "long"))


def test_columns_that_only_later_files_have(tmp_path):
    put(pa.table({"a": pa.array([1], pa.int32())}), tmp_path / "1.parquet")
    put(pa.table({"a": [1 << 40], "b": ["x"]}), tmp_path / "2.parquet")
    assert source(tmp_path).schema().simpleString() == "struct<a:int>"
    wanted = source(tmp_path, mergeSchema="true").schema()
    assert wanted.simpleString() == "struct<a:bigint,b:string>"
    assert read(tmp_path, wanted).to_pylist() == [{"a": 1, "b": None}, {"a": 1 << 40, "b": "x"}]
    with pytest.raises(Unsupported, match="column 'a' is int64 and was asked as int32"):
        read(tmp_path)


def test_a_limit_opens_no_more_files_than_it_takes(tmp_path):
    for i in range(9):
        put(numbers(10, 10 * i), tmp_path / f"{i}.parquet")
    (tmp_path / "8.parquet").write_bytes(b"PAR1 nothing PAR1")
    found = read(tmp_path, StructType().add("id", "long"), __pushed_limit="12")
    assert 12 <= found.num_rows <= 24


def test_corrupt_and_missing_files(tmp_path):
    for i in range(4):
        put(numbers(10, 10 * i), tmp_path / f"{i}.parquet")
    bad = tmp_path / "0.parquet"
    bad.write_bytes(bad.read_bytes()[:-9])
    with pytest.raises(Exception, match=r"0\.parquet"):
        read(tmp_path)
    assert read(tmp_path, ignoreCorruptFiles="true").num_rows == 30
    uncached = {"ignoreCorruptFiles": "true", "cacheBytes": "1"}
    made = source(tmp_path, ignoreMissingFiles="true", **uncached)
    reader = made.reader(made.schema())
    parts = reader.partitions()
    (tmp_path / "2.parquet").unlink()
    found = [batch for part in parts for batch in reader.read(part)]
    assert sum(batch.num_rows for batch in found) == 20
    made = source(tmp_path, **uncached)
    strict = made.reader(made.schema())
    with pytest.raises(NotFound):
        [batch for part in parts for batch in strict.read(part)]


def test_no_files_are_no_rows(tmp_path):
    put(numbers(10), tmp_path / "a.parquet")
    wanted = StructType().add("id", "long")
    assert read(tmp_path, wanted, pathGlobFilter="*.orc").num_rows == 0
    assert list(source(tmp_path).reader(wanted).read(None)) == []
    with pytest.raises(RequestError, match=r"infer a schema"):
        read(tmp_path, pathGlobFilter="*.orc")


def test_files_are_chosen_by_time(tmp_path):
    import os

    for i, at in enumerate((1_000_000, 2_000_000, 3_000_000)):
        os.utime(put(numbers(10 * (i + 1)), tmp_path / f"{i}.parquet"), (at, at))
    after, before = "1970-01-20T00:00:00+00:00", "1970-01-30T00:00:00+00:00"
    assert read(tmp_path, modifiedAfter=after).num_rows == 50
    assert read(tmp_path, modifiedAfter=after, modifiedBefore=before).num_rows == 20


def test_files_of_a_store_are_chosen_by_time(tmp_path):
    with MotoServer() as server:
        server.bucket("lake")
        server.put("lake", "t/a.parquet", Path(put(numbers(10), tmp_path / "a")).read_bytes())
        words = {f"storage.{name}": server.options[name] for name in ("key", "secret")}
        words["storage.endpoint_url"] = server.options["endpoint_url"]
        schema = StructType().add("id", "long")
        for after, rows in (("2001-01-01T00:00:00Z", 10), ("2999-01-01T00:00:00Z", 0)):
            assert read("s3a://lake/t", schema, modifiedAfter=after, **words).num_rows == rows


def test_base_path_and_flat_lookup(tmp_path):
    put(numbers(10), tmp_path / "lake/year=2024/month=1/a.parquet")
    part = tmp_path / "lake/year=2024/month=1"
    assert "year" not in source(part).schema().names
    found = read(part, basePath=str(tmp_path / "lake"))
    assert found.slice(0, 1).select(["year", "month"]).to_pylist() == [{"year": 2024, "month": 1}]
    assert "year" not in source(tmp_path / "lake", recursiveFileLookup="true").schema().names
    with pytest.raises(RequestError, match="does not lie in basePath"):
        read(part, basePath=str(tmp_path / "other"))


def test_filters_skip_and_nan_stays(tmp_path):
    table = pa.table({"x": [1.0, 2.0, float("nan"), None], "id": [1, 2, 3, 4]})
    path = put(table, tmp_path / "n.parquet", row_group_size=2)
    text = '[[["x", ">", 1.5]]]'
    assert read(path, filters=text)["id"].to_pylist() == [2, 3]
    assert read(path, filters='[[["id", "=", 3], ["x", ">", 5]]]')["id"].to_pylist() == [3]


def test_filters_of_the_jar_skip(tmp_path):
    path = put(numbers(100), tmp_path / "n.parquet", row_group_size=10)
    text = '{"op":"and","of":[{"op":"lt","column":["id"],"type":"long","value":"12"}]}'
    found = read(path, StructType().add("id", "long"), __pushed_filters=text)
    assert found["id"].to_pylist() == list(range(12))
    few = pa.table({"id": pa.array(range(100), pa.int32())})
    path = put(few, tmp_path / "i.parquet", row_group_size=10)
    wider = StructType().add("id", "double")
    text = '{"op":"lt","column":["id"],"type":"double","value":"12.0"}'
    assert read(path, wider, __pushed_filters=text).num_rows == 100


def test_filters_on_what_spark_sees_otherwise_are_left_to_it(tmp_path):
    table = pa.table({"t": pa.array([1500, 2500], pa.timestamp("ns")), "u": [1, 2]})
    path = put(table, tmp_path / "t.parquet")
    text = '[[["t", "=", {"timestamp": "1970-01-01T00:00:00.000001"}]]]'
    assert read(path, filters=text).num_rows == 2
    assert read(path, schema_of(table.select(["u"])), filters='[[["gone", "=", 1]]]').num_rows == 2


def test_wide_reads_warn_where_the_schema_was_inferred(tmp_path):
    made = source(put(wide(), tmp_path / "w.parquet"))
    schema = made.schema()
    with pytest.warns(UserWarning, match="all 300 columns"):
        pickle.loads(pickle.dumps(made)).reader(schema)


def test_a_vector_keeps_its_values(tmp_path):
    table = nested()
    vectors = pa.array([[float(i), 1.0] for i in range(30)], pa.list_(pa.float32(), 2))
    table = table.append_column("v", vectors)
    found = read(put(table, tmp_path / "n.parquet", row_group_size=11))
    assert found.to_pylist() == table.to_pylist()


def test_other_formats(tmp_path):
    table = numbers(50)
    rangeio.write(table, str(tmp_path / "a.dat"), format="doris")
    found = read(tmp_path)
    names = source(tmp_path).schema().names
    assert [found[name].to_pylist() for name in names] == [one.to_pylist() for one in table]


def test_the_jar_is_told_about_how_many_rows_there_are(tmp_path):
    for i in range(3):
        put(numbers(10), tmp_path / f"{i}.parquet")
    first = source(tmp_path, __pushed_statistics="field").schema()[0]
    assert first.metadata == {"rangeio.rows": 30, "rangeio.files": 3}
    assert source(tmp_path).schema()[0].metadata == {}


def test_a_batch_without_columns_counts():
    batch = pa.record_batch({"a": [1, 2, 3]})
    assert conformed(batch, pa.schema([])).num_rows == 3


def test_reprs_show_no_credential(tmp_path):
    path = put(numbers(10), tmp_path / "a.parquet")
    made = source(path, **{"storage.secret": "CANARY"})
    reader = made.reader(made.schema())
    parts = reader.partitions()
    assert isinstance(parts[0], Split)
    assert "CANARY" not in f"{made!r} {reader!r} {parts!r} {read_options(made.options)!r}"
    assert _parse_datatype_json_string(made.schema().json()) == made.schema()
