"""df.write: what other readers make of it, what is to be seen when, and what is left."""

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lakes import load, numbers, put, rows
from s3fs import S3FileSystem

from rangeio.spark.writing.options import write_options
from rangeio.testing.moto import MotoServer

VALUES = {
    "bool": "true",
    "byte": "cast(-128 as byte)",
    "short": "cast(-5 as short)",
    "int": "-2147483648",
    "long": "9223372036854775807L",
    "float": "cast(1.5 as float)",
    "double": "-1e300D",
    "decimal9": "cast(-1.25 as decimal(9,2))",
    "decimal38": "cast('1234567890123456789012345678.0123456789' as decimal(38,10))",
    "text": "'é'",
    "bytes": "x'00ff'",
    "day": "date'2024-02-29'",
    "instant": "timestamp'1969-12-31 23:59:59.999999'",
    "local": "timestamp_ntz'2024-01-01 00:00:01'",
    "list": "array(1, null, 3)",
    "map": "map('a', 1, 'b', null)",
    "struct": "named_struct('x', 1, 'y', array('q'), 'z', named_struct('k', 1D))",
    "fixed": "cast('ab' as char(4))",
    "variant": "parse_json('{\"a\": [1, null]}')",
}
PARQUET = {"interval": "interval '1 2:3:4.5' day to second", "null": "null"}
NEWER = {
    "time": "time'01:02:03.5'",
    "geometry": "st_geomfromwkb(X'0101000000000000000000f03f0000000000000040')",
}


def made(spark, values, every=12):
    """Rows of all these, every third null."""
    known = {}
    for name, text in values.items():
        try:
            spark.range(1).selectExpr(text).schema  # noqa: B018 - older versions lack some
        except Exception:
            assert name in NEWER
            continue
        known[name] = text
    cases = [
        f"case when id % 3 = 1 then null else {text} end as `{n}`" for n, text in known.items()
    ]
    return spark.range(every).selectExpr("id", *cases)


def files(path):
    """Names of all files below, hidden ones too; checksums of Hadoop's apart."""
    found = (one for one in Path(path).rglob("*") if one.is_file())
    return sorted(str(one.relative_to(path)) for one in found if one.suffix != ".crc")


def data(path):
    """Names of those that readers see."""
    return [name for name in files(path) if not name.startswith("_")]


def write(frame, path, mode="append", **options):
    frame.write.format("rangeio").mode(mode).options(**options).save(str(path))


@pytest.mark.parametrize("kind", ["parquet", "doris"])
def test_every_type_comes_back(spark, tmp_path, kind):
    frame = made(spark, VALUES | NEWER | PARQUET if kind == "parquet" else VALUES)
    if kind == "doris":
        frame = frame.drop("time")
    write(frame.repartition(2), tmp_path / "t", format=kind)
    found = load(spark, str(tmp_path / "t"))
    assert found.schema.simpleString() == frame.schema.simpleString()
    assert repr(rows(found)) == repr(rows(frame))


def test_spark_reads_what_was_written(spark, tmp_path):
    frame = made(spark, {name: text for name, text in VALUES.items() if name != "variant"})
    write(frame.coalesce(1), tmp_path / "t", compression="zstd", row_group_size="5")
    assert rows(spark.read.parquet(str(tmp_path / "t"))) == rows(frame)
    (one,) = data(tmp_path / "t")
    meta = pq.read_metadata(tmp_path / "t" / one)
    assert meta.num_row_groups == 3
    assert meta.row_group(0).column(0).compression == "ZSTD"


def test_modes(spark, tmp_path):
    path = tmp_path / "t"
    write(spark.range(10).repartition(3), path)
    write(spark.range(10, 15), path)
    assert rows(load(spark, str(path))) == rows(spark.range(15).toDF("id"))
    write(spark.range(7).toDF("other"), path, "overwrite", maxRecordsPerFile="2")
    assert load(spark, str(path)).columns == ["other"]
    counts = [pq.read_metadata(path / name).num_rows for name in data(path)]
    assert sum(counts) == 7
    assert max(counts) == 2
    assert files(path) == ["_SUCCESS", *data(path)]


def test_no_rows_keep_their_columns(spark, tmp_path):
    for kind in ("parquet", "doris"):
        write(spark.range(0).selectExpr("id", "'x' s"), tmp_path / kind, format=kind)
        assert load(spark, str(tmp_path / kind)).schema.simpleString() == (
            "struct<id:bigint,s:string>"
        )


def test_nothing_is_seen_before_commit_and_nothing_left_by_abort(spark, tmp_path):
    path = tmp_path / "t"
    write(spark.range(4).coalesce(1), path)
    before = files(path)
    seen = tmp_path / "seen"
    seen.mkdir()

    def look(batches):
        """Beside the writing, in the last of its tasks: what is visible by then."""
        names = [name for name in os.listdir(path) if not name.startswith("_")]
        (seen / str(len(names))).touch()
        yield from batches

    frame = spark.range(0, 40, 1, 4).mapInArrow(look, "id long")
    failing = frame.selectExpr("if(id < 39, id, raise_error('the last row')) id")
    for mode in ("append", "overwrite"):
        with pytest.raises(Exception, match="the last row"):
            write(failing, path, mode)
        assert files(path) == before
    write(frame, path)
    assert os.listdir(seen) == ["1"]
    assert len(data(path)) == 5


def test_files_without_names_keep_their_columns(spark, tmp_path):
    path = tmp_path / "t"
    write(spark.range(5).selectExpr("id", "id * 2 twice"), path, format="doris")
    write(spark.range(5, 9).selectExpr("id", "id * 2 twice"), path, format="doris")
    assert load(spark, str(path)).where("twice > 12").count() == 2
    assert load(spark, str(path), "twice long").selectExpr("sum(twice)").collect() == [(72,)]
    with pytest.raises(Exception, match="have other columns"):
        write(spark.range(3).selectExpr("id other"), path, format="doris")
    (path / "_rangeio_schema.json").unlink()
    assert load(spark, str(path)).columns == ["col_0", "col_1"]
    told = load(
        spark, str(path), fileSchema=spark.range(1).selectExpr("id a", "id b").schema.json()
    )
    assert told.selectExpr("sum(b)").collect() == [(72,)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"format": "orc"}, "can be written: doris, parquet"),
        ({"compresion": "zstd"}, "compresion"),
        ({"maxRecordsPerFile": "many"}, "a whole number"),
        ({"format": "doris", "version": "7"}, "version"),
    ],
)
def test_what_makes_no_sense_is_told_before_anything_is_written(spark, tmp_path, options, said):
    with pytest.raises(Exception, match=said):
        write(spark.range(3), tmp_path / "t", **options)
    assert not (tmp_path / "t").exists()


def test_words_of_spark_for_codecs_and_formats():
    def told(**words):
        return write_options({"path": "/t", **words})

    assert told(compression="UNCOMPRESSED").words == {"compression": "none"}
    assert told(compression='{"a": "Zstd", "b": "lz4_raw"}').words == {
        "compression": {"a": "zstd", "b": "lz4"}
    }
    assert told(format="Parquet").format == "parquet"


@pytest.mark.parametrize("kind", ["Parquet", "DORIS"])
def test_no_compression(spark, tmp_path, kind):
    frame = spark.range(5000).selectExpr("id", "'the same' s").coalesce(1)
    write(frame, tmp_path / "t", format=kind, compression="uncompressed")
    assert load(spark, str(tmp_path / "t")).count() == 5000
    if kind == "Parquet":
        (one,) = data(tmp_path / "t")
        group = pq.read_metadata(tmp_path / "t" / one).row_group(0)
        assert group.column(0).compression == "UNCOMPRESSED"


@pytest.mark.parametrize("kind", ["parquet", "doris"])
def test_comments_come_back(spark, tmp_path, kind):
    frame = spark.range(3).withMetadata("id", {"comment": "hello", "k": 5})
    write(frame, tmp_path / "t", format=kind)
    found = load(spark, str(tmp_path / "t"))
    assert found.schema["id"].metadata == {"comment": "hello", "k": 5}
    assert rows(found) == rows(frame)
    again = load(spark, str(tmp_path / "t"), found.schema)
    assert rows(again) == rows(frame)


def test_types_that_a_format_has_not_are_named(spark, tmp_path):
    with pytest.raises(Exception, match="'v': Doris has no type"):
        write(spark.range(3).selectExpr("interval '1' day v"), tmp_path / "t", format="doris")


def test_tables_with_a_log_are_refused(spark, tmp_path):
    put(numbers(5), tmp_path / "t" / "x.parquet")
    (tmp_path / "t" / "_delta_log").mkdir()
    (tmp_path / "t" / "_delta_log" / "00000000000000000000.json").write_text("{}")
    for mode in ("append", "overwrite"):
        with pytest.raises(Exception, match="Delta table"):
            write(spark.range(3), tmp_path / "t", mode)
    assert (tmp_path / "t" / "x.parquet").exists()


def test_to_s3(spark, tmp_path):
    with MotoServer() as server:
        server.bucket("lake")
        words = {
            "storage.key": server.options["key"],
            "storage.secret": server.options["secret"],
            "storage.endpoint_url": server.options["endpoint_url"],
        }
        for mode, count in (("append", 9), ("append", 18), ("overwrite", 9)):
            write(spark.range(9).repartition(2), "s3a://lake/t", mode, **words)
            assert load(spark, "s3a://lake/t", **words).count() == count
        with pytest.raises(Exception, match="stop"):
            write(spark.range(9).selectExpr("raise_error('stop') e"), "s3://lake/u", **words)
        left = S3FileSystem(**server.options, skip_instance_cache=True).find("lake")
        assert [name for name in left if "_rangeio_job" in name or "lake/u" in name] == []
