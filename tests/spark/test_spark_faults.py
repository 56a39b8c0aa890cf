"""Workers killed, tasks repeated or run twice: the same result, and nothing partial."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cluster import Cluster
from conftest import CONF, settings
from lakes import put

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "200ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.multiplier": "1.5",
    "spark.executor.memory": "512m",
}
FILES, ROWS = 6, 300


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder after all jobs, and what they told."""
    folder = tmp_path_factory.mktemp("faults")
    for i in range(FILES):
        ids = range(i * ROWS, (i + 1) * ROWS)
        put(pa.table({"id": ids, "x": [n / 2 for n in ids]}), folder / "lake" / f"{i}.parquet")
    script = str(Path(__file__).with_name("faults.py"))
    with Cluster(folder / "cluster") as cluster:
        words = [cluster.url, str(folder), json.dumps({**CONF, **SPECULATION})]
        run = subprocess.run(
            [sys.executable, script, *words],
            env={**os.environ, **settings()},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert run.returncode == 0, run.stderr[-3000:]
    return folder, json.loads(run.stdout.strip().splitlines()[-1])


def test_a_worker_killed_while_it_writes(done):
    folder, told = done
    assert "write" in told["seen"]  # it was
    assert told["killed"][0] == "_SUCCESS"
    assert all(name.startswith("part-") for name in told["killed"][1:])
    table = pq.read_table(folder / "killed").sort_by("id")
    assert table["id"].to_pylist() == list(range(FILES * ROWS))
    assert table["x"].to_pylist() == [n / 2 for n in range(FILES * ROWS)]


def test_a_worker_killed_while_it_converts(done):
    _, told = done
    assert "convert" in told["seen"]
    assert told["converted"] == ["converted"] * FILES
    assert told["verified"] == ["ok"] * FILES
    segments = [name for name in told["made"] if name.endswith(".dat")]
    assert segments == [f"{i}.dat" for i in range(FILES)]
    assert len(told["made"]) == 2 * FILES + 1  # with a mark each, and their columns


def test_a_task_that_runs_twice(done):
    folder, told = done
    assert {"slow-3-0", "slow-3-1"} <= set(told["seen"])
    assert len(told["slow"]) == 5
    ids = pq.read_table(folder / "slow")["id"].to_pylist()
    assert sorted(ids) == list(range(400))
