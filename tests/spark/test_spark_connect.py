"""Spark Connect, in a process of its own: there is no JVM to reach into, and all the same works."""

import json
import os
import subprocess
import sys

import pytest
from conftest import CONF, settings
from lakes import gets, numbers, put

SCRIPT = """
import json, sys, warnings
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
pruning = rangeio.spark.enable(spark)
query = spark.read.format("rangeio").option("traceDir", sys.argv[3]).load(path)
found["mode"], found["reason"] = pruning.mode, pruning.reason
found["late"] = sorted(row.id for row in query.where("id > 90").select("id").collect())
print(json.dumps(found))
spark.stop()
"""


def test_connect(tmp_path):
    pytest.importorskip("grpc_status")
    table = numbers(100)
    path = put(table, tmp_path / "a.parquet")
    conf = {name: value for name, value in CONF.items() if "timeType" not in name}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path, json.dumps(conf), str(tmp_path / "t")],
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
    assert (found["mode"], found["reason"] != "") in [("automatic", False), ("manual", True)]
