"""convert and verify: every file by itself, whatever becomes of others; and twice, if need be."""

import datetime as dt
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from lakes import nested, numbers, put, values

import rangeio
import rangeio.spark
from rangeio.errors import RequestError
from rangeio.spark.jobs.choosing import chosen
from rangeio.spark.jobs.comparing import same
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


def chunked(values, kind):
    return pa.chunked_array([pa.array(values[:1], kind), pa.array(values[1:], kind)])


DAY, AT = dt.date(2024, 5, 6), dt.datetime(2024, 5, 6, 7, 8, 9)


@pytest.mark.parametrize(
    ("kind", "copied", "values", "is_same"),
    [
        (pa.float64(), pa.float32(), [0.1], False),
        (pa.float64(), pa.float32(), [0.5, float("nan")], True),
        (pa.int64(), pa.bool_(), [2, 3], False),
        (pa.int64(), pa.int32(), [2, 3], True),
        (pa.timestamp("us"), pa.date32(), [AT], False),
        (pa.date32(), pa.timestamp("us"), [DAY], False),
        (pa.timestamp("ns"), pa.timestamp("us"), [AT, None], True),
        (pa.date64(), pa.date32(), [DAY, None], True),
        (pa.uint64(), pa.decimal128(20, 0), [2**64 - 1, None], True),
        (pa.decimal128(9, 2), pa.decimal256(40, 2), [5, None], True),
        (pa.float16(), pa.float32(), [0.5, None], True),
        (pa.large_string(), pa.string(), ["x", None], True),
        (pa.int64(), pa.string(), [5], False),
        (pa.binary(2), pa.binary(), [b"xy", None], True),
        (pa.list_(pa.float64(), 2), pa.list_(pa.float64()), [[1.0, 2.0], None], True),
        (pa.list_(pa.float64()), pa.list_(pa.float32()), [[1.0, 0.1], None], False),
        (pa.large_list(pa.uint8()), pa.list_(pa.int16()), [[1], [], None], True),
        (pa.struct([("a", pa.uint8())]), pa.struct([("a", pa.int16())]), [{"a": 1}, None], True),
        (pa.struct([("a", pa.uint8())]), pa.struct([("b", pa.uint8())]), [{"a": 1}], False),
        (
            pa.map_(pa.large_string(), pa.int8()),
            pa.map_(pa.string(), pa.int64()),
            [[("k", 1)]],
            True,
        ),
        (pa.dictionary(pa.int8(), pa.string()), pa.string(), ["x", "x", None], True),
        (pa.null(), pa.int32(), [None, None], True),
    ],
    ids=str,
)
def test_a_copy_in_another_type(kind, copied, values, is_same):
    original = chunked(values, kind)
    made_so = is_same or pa.types.is_nested(kind)
    copy = chunked(values, copied) if made_so else original.cast(copied, safe=False)
    assert same(copy, original) is is_same
    assert not same(copy.slice(1), original)


RARER = {
    "seconds": pa.array([5, None], pa.timestamp("s")),
    "date64": pa.array([DAY, None], pa.date64()),
    "half": pa.array([1.5, None], pa.float16()),
    "vector": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)),
    "views": pa.array([["x"], None], pa.list_view(pa.string_view())),
    "bytes": pa.array([b"\xff", None], pa.binary_view()),
    "large": pa.array([[1], None], pa.large_list(pa.uint8())),
    "dec256": pa.array([5, None], pa.decimal256(50, 2)),
    "dec32": pa.array([5, None], pa.decimal32(5, 2)),
    "numbers": pa.array([5, None]).dictionary_encode(),
    "words": pa.ListArray.from_arrays([0, 1, 2], pa.array(["a", "b"]).dictionary_encode()),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.uint8())),
    "uuid": pa.array([b"0123456789abcdef", None], pa.uuid()),
    "struct": pa.array([{"a": 1}, None], pa.struct([("a", pa.uint16())])),
}


@pytest.mark.parametrize("kind", ["doris", "parquet"])
def test_a_copy_of_every_type(tmp_path, kind):
    for table in (values(6), nested(20), pa.table(RARER)):
        path = str(tmp_path / "copy")
        rangeio.write(table, path, format=kind)
        schemas = [None, table.schema] if kind == "doris" else [None]
        for schema in schemas:
            with rangeio.open(path, schema=schema) as file:
                found = file.read()
            lost = [
                name
                for name, copy in zip(table.column_names, found.columns, strict=True)
                if not same(copy, table[name])
            ]
            assert lost == []


def test_verify_sees_what_a_type_lost(spark, folder, tmp_path):
    put(pa.table({"x": [0.1]}), folder / "a.parquet")
    put(pa.table({"x": pa.array([0.1], pa.float32())}), tmp_path / "b" / "a.parquet")
    found = told(rangeio.spark.verify(spark, str(tmp_path / "b"), against=str(folder)))
    assert "column 'x' differs" in found["a.parquet"].error


def test_conditions_on_folders_are_asked_of_the_paths(spark, folder, tmp_path):
    for year in (2023, 2024):
        put(numbers(50), folder / f"y={year}" / f"{year}.parquet")
    to = tmp_path / "to"
    for filters, rows in (
        ([("y", ">", 2023), ("id", "<", 10)], 10),
        ([[("y", "=", 2024)], [("y", "=", 2022)]], 50),
    ):
        frame = rangeio.spark.convert(spark, str(folder), str(to), filters=filters)
        assert statuses(frame) == {"2024.parquet": "converted"}
        assert pq.read_metadata(to / "y=2024" / "2024.parquet").num_rows == rows
    never = rangeio.spark.convert(spark, str(folder), str(to), filters=[("y", "=", 1)])
    assert statuses(never) == {}


def test_what_folders_leave_of_filters():
    names = ["y=1/a", "y=2/b", "y=__HIVE_DEFAULT_PARTITION__/c", "d"]
    y, x = ("y", "=", 2), ("x", ">", 5)
    assert chosen([y], names) == [(1, None), (3, [[y]])]
    assert chosen([y, x], names) == [(1, [[x]]), (3, [[y, x]])]
    assert chosen([[y], [x]], names) == [(0, [[x]]), (1, None), (2, [[x]]), (3, [[y], [x]])]
    assert chosen([("y", "is null")], names)[0] == (2, None)
    assert chosen([x], names) == [(i, [x]) for i in range(4)]
    assert chosen(pc.field("x") > 5, names[:1])[0][0] == 0
    with pytest.raises(RequestError, match="name the folders"):
        chosen(pc.field("y") > 1, names)
    with pytest.raises(RequestError, match="does not compare"):
        chosen([("y", ">", "q")], names)


@pytest.mark.parametrize("to", ["lake", "lake/", "lake/k=1", "lake/out", "."])
def test_into_the_source_itself(spark, tmp_path, to, monkeypatch):
    put(numbers(5), tmp_path / "lake" / "k=1" / "a.parquet")
    monkeypatch.chdir(tmp_path)
    for src in ("lake", f"file://{tmp_path}/lake", ["lake/"]):
        with pytest.raises(RequestError, match="neither below the source nor above it"):
            rangeio.spark.convert(spark, src, to, format="doris")
    assert [one.name for one in tmp_path.rglob("*") if one.is_file()] == ["a.parquet"]


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
