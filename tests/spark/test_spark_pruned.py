"""The whole: the jar and the Python source together, beside Spark's own reader of Parquet."""

from pathlib import Path

import pyarrow as pa
import pytest
from lakes import gets, load, nested, numbers, put, rows, wide
from pyspark.sql import functions as sf

from rangeio.testing.moto import MotoServer

COLUMNS = 3000


@pytest.fixture(scope="module")
def broad(tmp_path_factory):
    """Four files of 3,000 columns."""
    folder = tmp_path_factory.mktemp("broad")
    for i in range(4):
        put(wide(COLUMNS, 20 + i), folder / f"{i}.parquet", row_group_size=7)
    return folder


def physical(frame):
    """The plan that is executed, as explain() shows it."""
    return frame._jdf.queryExecution().executedPlan().toString()


def queried(frame):
    return frame.where("f7 > 20").select("f3", "f2999")


def only_data(trace):
    """The tasks' GETs, none of which is for metadata."""
    made = [get for task in gets(trace) for get in task["gets"]]
    assert {get["why"] for get in made} == {"parquet.data"}
    return made


def test_three_of_3000_columns(pruning, broad, tmp_path):
    trace = str(tmp_path / "t")
    ours = queried(load(pruning, str(broad), traceDir=trace))
    assert f"rangeio columns: 3 of {COLUMNS}" in physical(ours)
    assert rows(ours) == rows(queried(pruning.read.parquet(str(broad))))
    read = sum(get["stop"] - get["start"] for get in only_data(trace))
    assert read < 40_000  # of 4 footers of 2 MB each, nothing


def test_three_of_3000_columns_over_s3(pruning, broad, tmp_path):
    with MotoServer() as server:
        server.bucket("lake")
        for path in broad.glob("*.parquet"):
            server.put("lake", f"t/{path.name}", path.read_bytes())
        words = {
            "storage.endpoint_url": server.url,
            "storage.client_kwargs.region_name": "eu-west-1",
        }
        words |= {"storage.key": "testing", "storage.secret": "testing"}
        ours = queried(load(pruning, "s3://lake/t", traceDir=str(tmp_path / "t"), **words))
        assert f"rangeio columns: 3 of {COLUMNS}" in physical(ours)
        assert rows(ours) == rows(queried(pruning.read.parquet(str(broad))))
        only_data(tmp_path / "t")


def test_counts_limits_views_and_what_is_cached(pruning, broad):
    ours, theirs = load(pruning, str(broad)), pruning.read.parquet(str(broad))
    assert ours.count() == theirs.count() == 86
    assert ours.where("f1 > 21").count() == theirs.where("f1 > 21").count()
    assert len(ours.select("f5").limit(3).collect()) == 3
    ours.createOrReplaceTempView("ours")
    theirs.createOrReplaceTempView("theirs")
    query = "select max(f8) m, f2 % 5 g from {} where f4 < 30 group by f2 % 5 having max(f8) > 11"
    assert rows(pruning.sql(query.format("ours"))) == rows(pruning.sql(query.format("theirs")))
    kept = ours.select("f1", "f2").cache()
    assert kept.count() == 86
    assert rows(kept.where("f1 = 3")) == rows(theirs.select("f1", "f2").where("f1 = 3"))
    kept.unpersist()


def test_joins(pruning, folder):
    put(numbers(200), folder / "a.parquet")
    put(numbers(80, 40), folder / "b.parquet")
    few, theirs = pruning.range(5), {}
    frames = {}
    for name in "ab":
        path = str(folder / f"{name}.parquet")
        frames[name] = load(pruning, path)
        theirs[name] = pruning.read.parquet(path)

    def joined(held):
        found = held["a"].alias("a").join(held["b"].alias("b"), "id", "left")
        return found.select("id", "a.text", "b.c").where("id > 30")

    assert rows(joined(frames)) == rows(joined(theirs))
    both = frames["a"].join(few, "id").select("id", "b")
    assert rows(both) == rows(theirs["a"].join(few, "id").select("id", "b"))
    small = frames["b"].join(frames["a"].hint("merge"), "id")
    assert small.count() == 80
    assert "Broadcast" in physical(frames["a"].join(frames["b"], "id"))  # it knows their sizes


def test_nested_columns_and_nulls(pruning, folder):
    path = put(nested(60), folder / "n.parquet")
    ours, theirs = load(pruning, path), pruning.read.parquet(path)
    for query in (
        ["s.x", "s.y"],
        ["id", "size(l) n", "m['k1'] k"],
        ["explode_outer(ls) e", "id"],
        ["s is null a", "l is null b", "coalesce(s.y, 'none') c"],
    ):
        assert rows(ours.selectExpr(*query)) == rows(theirs.selectExpr(*query))
    for condition in ("s.x > 5 and s.y is not null", "l is null or id in (3, 4, null)"):
        assert rows(ours.where(condition)) == rows(theirs.where(condition))


def test_files_of_three_generations(pruning, folder):
    tables = [
        pa.table({"id": pa.array([1, 2], pa.int32()), "a": [1.0, None]}),
        pa.table({"id": pa.array([3, None], pa.int64()), "a": [3.0, 4.0], "b": ["x", None]}),
        pa.table({"b": ["y"], "id": pa.array([5], pa.int64())}),
    ]
    for i, table in enumerate(tables):
        put(table, folder / f"g{i}.parquet")
    ours = load(pruning, str(folder), mergeSchema=True)
    assert ours.schema.simpleString() == "struct<id:bigint,a:double,b:string>"
    kept = [(r.id, r.a, r.b) for r in ours.collect()]
    wanted = [(1, 1.0, None), (2, None, None), (3, 3.0, "x"), (None, 4.0, None), (5, None, "y")]
    assert sorted(kept, key=repr) == sorted(wanted, key=repr)
    assert ours.where("b is null").agg(sf.sum("a")).collect() == [(5.0,)]
    assert ours.where("id > 2 or id is null").select("b").count() == 3


def test_partitions_prune_files(pruning, folder, tmp_path):
    for i in range(6):
        put(numbers(10, 10 * i), folder / f"year=202{i % 3}" / f"{i}.parquet")
    ours = load(pruning, str(folder), traceDir=str(tmp_path / "t"))
    theirs = pruning.read.parquet(str(folder))
    query = "year = 2021 and id > 20"
    assert rows(ours.where(query).select("id", "year")) == rows(
        theirs.where(query).select("id", "year")
    )
    assert {Path(one).name for task in gets(tmp_path / "t") for one in task["files"]} == {
        "4.parquet"
    }
