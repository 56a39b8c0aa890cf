"""Spark Connect, in a process of its own: there is no JVM to reach into, and all the same works."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import CONF, settings
from lakes import gets, numbers, put

SCRIPT = """
import contextlib, io, json, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import rangeio.spark
builder = SparkSession.builder.remote("local[2]")
for name, value in json.loads(sys.argv[2]).items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
path = sys.argv[1]
frame = rangeio.spark.read(spark, path, ["a", "text"], [("id", ">", 90)])
loaded = spark.read.format("rangeio").schema("id long").load(path)
found = {
    "columns": frame.columns,
    "rows": sorted([row.a, row.text] for row in frame.where("a is not null").collect()),
    "sum": loaded.selectExpr("sum(id) s").collect()[0].s,
    "count": spark.read.format("rangeio").load(path).count(),
}
from rangeio.spark.jar import load
found["loaded"] = [load(spark, Path(sys.argv[4])) for _ in range(2)] if sys.argv[4] else None
query = spark.read.format("rangeio").option("traceDir", sys.argv[3]).load(path)
late = query.where("id > 90").select("id")
found["late"] = sorted(row.id for row in late.collect())
with contextlib.redirect_stdout(io.StringIO()) as out:
    late.explain()
found["plan"], found["all"] = out.getvalue(), query.count()
query.write.format("rangeio").mode("append").save(sys.argv[3] + "-written")
found["written"] = spark.read.format("rangeio").load(sys.argv[3] + "-written").count()
done = rangeio.spark.convert(spark, path, sys.argv[3] + "-made", format="doris")
found["made"] = [row.status for row in done.collect()]
print(json.dumps(found))
spark.stop()
"""


def test_connect(tmp_path, request):
    pytest.importorskip("grpc_status")
    jar = str(request.getfixturevalue("jar")) if shutil.which("javac") else ""
    table = numbers(100)
    path = put(table, tmp_path / "a.parquet")
    conf = {name: value for name, value in CONF.items() if "timeType" not in name}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path, json.dumps(conf), str(tmp_path / "t"), jar],
        env={**os.environ, **settings()},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    late = table.slice(91).to_pylist()
    assert found["columns"] == ["a", "text"]
    assert sorted(map(str, found["rows"])) == sorted(
        str([row["a"], row["text"]]) for row in late if row["a"] is not None
    )
    assert (found["sum"], found["count"]) == (sum(range(100)), 100)
    assert found["late"] == list(range(91, 100))
    made = {get["why"] for task in gets(tmp_path / "t") for get in task["gets"]}
    assert made == {"parquet.data"}
    assert (found["all"], found["written"], found["made"]) == (100, 100, ["converted"])
    if jar:
        assert found["loaded"] == [None, None]
        assert "rangeio columns: 1 of 6" in found["plan"]
