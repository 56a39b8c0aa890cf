"""convert and verify: every file by itself, whatever becomes of others; and twice, if need be."""

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lakes import nested, numbers, put, values

import rangeio
import rangeio.spark
from rangeio.errors import RequestError
from rangeio.spark.jobs.converting import Item
from rangeio.spark.jobs.done import Marks, made_of, mark
from rangeio.spark.jobs.naming import below, renamed
from rangeio.spark.jobs.sources import Source


@pytest.fixture
def lake(folder):
    """Ten files in partitions, two of their own kind, one that is none."""
    for i in range(10):
        put(numbers(50, 50 * i), folder / f"k={i % 3}" / f"f{i}.parquet")
    put(values(6), folder / "values.parquet")
    put(nested(40), folder / "nested.parquet")
    (folder / "bad.parquet").write_bytes(b"PAR1 is no file")
    (folder / "_hidden.parquet").write_bytes(b"not looked at")
    return folder


def told(frame):
    """What became of each file, by its name."""
    assert frame.columns == ["file", "status", "bytes", "seconds", "error"]
    return {Path(row.file).name: row for row in frame.collect()}


def statuses(frame):
    return {name: row.status for name, row in told(frame).items()}


def test_convert_and_verify(spark, lake, tmp_path):
    for kind, suffix in (("doris", ".dat"), ("parquet", ".parquet")):
        to = tmp_path / kind
        found = told(rangeio.spark.convert(spark, str(lake), str(to), format=kind))
        assert len(found) == 13
        assert found.pop("bad.parquet").status == "failed"
        for row in found.values():
            name = Path(row.file).relative_to(lake).with_suffix(suffix)
            assert (row.status, row.error) == ("converted", None)
            assert row.bytes == (to / name).stat().st_size
            assert row.seconds > 0
        done = told(rangeio.spark.verify(spark, str(to), against=str(lake)))
        assert done.pop("bad.parquet").error == "no file was made of this one"
        assert {row.status for row in done.values()} == {"ok"}
        assert len(done) == 12


def test_again_does_nothing_again(spark, lake, tmp_path):
    (lake / "bad.parquet").unlink()
    to = tmp_path / "to"
    rangeio.spark.convert(spark, str(lake), str(to))
    before = {path: path.stat().st_mtime_ns for path in to.rglob("*") if path.is_file()}
    again = statuses(rangeio.spark.convert(spark, str(lake), str(to)))
    assert set(again.values()) == {"kept"}
    assert {path: path.stat().st_mtime_ns for path in to.rglob("*") if path.is_file()} == before
    put(numbers(70, 7), lake / "k=0" / "f0.parquet")  # another version of one file
    (to / "k=1" / "f1.parquet").unlink()  # one that got lost
    (to / "k=2" / "f2.parquet").write_bytes(b"shorter")  # one that was changed
    some = statuses(rangeio.spark.convert(spark, str(lake), str(to)))
    assert {n for n, s in some.items() if s != "kept"} == {"f0.parquet", "f1.parquet", "f2.parquet"}
    assert pq.read_table(to / "k=0" / "f0.parquet").equals(numbers(70, 7))
    other = statuses(rangeio.spark.convert(spark, str(lake), str(to), compression="zstd"))
    assert set(other.values()) == {"converted"}


def test_files_of_others_are_not_replaced(spark, folder, tmp_path):
    put(numbers(5), folder / "a.parquet")
    put(numbers(9), tmp_path / "to" / "a.parquet")
    found = told(rangeio.spark.convert(spark, str(folder), str(tmp_path / "to")))
    assert "overwrite=True" in found["a.parquet"].error
    assert pq.read_metadata(tmp_path / "to" / "a.parquet").num_rows == 9
    found = rangeio.spark.convert(spark, str(folder), str(tmp_path / "to"), overwrite=True)
    assert statuses(found) == {"a.parquet": "converted"}


def test_some_columns_and_rows(spark, folder, tmp_path):
    put(numbers(90), folder / "a.parquet")
    to = str(tmp_path / "to")
    rangeio.spark.convert(
        spark, str(folder), to, columns=["id", "text"], filters=[("id", ">=", 80)]
    )
    table = pq.read_table(f"{to}/a.parquet")
    assert table.column_names == ["id", "text"]
    assert table["id"].to_pylist() == list(range(80, 90))


def test_segments_of_one_schema_are_one_table(spark, folder, tmp_path):
    for i in range(3):
        put(numbers(10, 10 * i), folder / f"{i}.parquet")
    to = str(tmp_path / "to")
    rangeio.spark.convert(spark, str(folder), to, format="doris")
    found = spark.read.format("rangeio").load(to)
    assert found.selectExpr("sum(id)").collect() == [(sum(range(30)),)]
    put(pa.table({"z": [1]}), folder / "3.parquet")
    rangeio.spark.convert(spark, str(folder), to, format="doris")
    assert not os.path.exists(f"{to}/_rangeio_schema.json")  # it would be wrong


def test_verify_finds_what_is_wrong(spark, folder, tmp_path):
    table = numbers(500)
    for name in ("good", "flipped", "fewer", "other", "alone"):
        put(table, folder / f"{name}.parquet", compression="none")
    theirs = tmp_path / "theirs"
    for name in ("good", "flipped", "gone"):
        put(table, theirs / f"{name}.parquet")
    put(table.slice(0, 499), theirs / "fewer.parquet")
    wrong = table.set_column(1, "b", pa.array([1.0] * 500))
    put(wrong, theirs / "other.parquet")
    raw = bytearray((folder / "flipped.parquet").read_bytes())
    raw[8] ^= 0xFF
    (folder / "flipped.parquet").write_bytes(raw)
    alone = statuses(rangeio.spark.verify(spark, str(folder)))
    assert alone.pop("flipped.parquet") == "failed"
    assert set(alone.values()) == {"ok"}
    found = told(rangeio.spark.verify(spark, str(folder), against=str(theirs)))
    assert {n for n, row in found.items() if row.status == "ok"} == {"good.parquet"}
    assert "500 rows instead of 499" in found["fewer.parquet"].error
    assert "column 'b' differs" in found["other.parquet"].error
    assert "to compare" in found["alone.parquet"].error
    assert "no file was made" in found["gone.parquet"].error


def test_nan_is_equal_to_nan(spark, folder, tmp_path):
    table = pa.table({"x": [float("nan"), 1.0], "l": [[float("nan")], None]})
    put(table, folder / "a.parquet")
    put(table, tmp_path / "b" / "a.parquet")
    found = rangeio.spark.verify(spark, str(folder), against=str(tmp_path / "b"))
    assert statuses(found) == {"a.parquet": "ok"}


def test_refused_before_anything_is_done(spark, folder, tmp_path):
    put(numbers(5), folder / "a.parquet")
    put(numbers(5), folder / "a.pq")
    with pytest.raises(RequestError, match=r"more than one file would become a\.dat"):
        rangeio.spark.convert(spark, str(folder), str(tmp_path / "to"), format="doris")
    (folder / "a.pq").unlink()
    with pytest.raises(RequestError, match="replaced by what is made of it"):
        rangeio.spark.convert(spark, str(folder), str(folder))
    with pytest.raises(RequestError, match="can be written"):
        rangeio.spark.convert(spark, str(folder), str(tmp_path / "to"), format="xls")
    with pytest.raises(RequestError, match="compresion"):
        rangeio.spark.convert(spark, str(folder), str(tmp_path / "to"), compresion="zstd")
    assert not (tmp_path / "to").exists()


def test_errors_hold_no_credentials(spark, folder, tmp_path):
    put(numbers(5), folder / "a.parquet")
    (folder / "a.parquet").write_bytes(b"PAR1" * 9)
    words = {"client_kwargs": {"secret": "CANARY-1"}}
    frame = rangeio.spark.verify(spark, str(folder), storage_options=words)
    assert "CANARY-1" not in json.dumps([row.asDict() for row in frame.collect()])
    assert "CANARY-1" not in frame._jdf.queryExecution().toString()


def test_names():
    urls = ["s3://b/x/k=1/a.parquet", "s3://b/x/k=1/b.parquet"]
    assert below("s3://b/x", urls) == ["k=1/a.parquet", "k=1/b.parquet"]
    assert below("s3://b/x/*/*.parquet", urls) == ["a.parquet", "b.parquet"]
    assert renamed(["k=1.5/a", "b.c.parquet"], ".dat") == ["k=1.5/a.dat", "b.c.dat"]


def test_marks():
    name = mark("a", "v1", 16)
    assert Marks({name: 0, "a": 16}).known("a", "v1").done
    assert not Marks({name: 0, "a": 17}).known("a", "v1").done
    assert not Marks({name: 0}).known("a", "v1").done
    assert Marks({name: 0, "a": 16}).known("a", "v2").others == (name,)
    assert Marks({"a": 16}).known("a", "v1").foreign
    assert not Marks({name: 0, mark("a", "v2", 16): 0, "a": 16}).known("a", "v1").done


def test_without_versions_nothing_is_known_to_be_done():
    name = mark("a", made_of(Source("http://h/a", "a", 5, ""), "how"), 16)
    known = Marks({name: 0, "a": 16}).known("a", made_of(Source("http://h/a", "a", 5, ""), "how"))
    assert known.done
    assert not Item(Source("http://h/a", "a", 5, ""), "a", known).done
    assert Item(Source("http://h/a", "a", 5, "v1"), "a", known).done
