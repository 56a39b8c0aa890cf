"""The pipeline of examples/, by spark-submit, as the README says it is run."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import CONF, ROOT, settings
from lakes import numbers, put

SUBMIT = Path(sys.executable).with_name("spark-submit")


def test_the_pipeline(tmp_path):
    for i in range(4):
        put(numbers(50, 50 * i), tmp_path / "lake" / f"k={i % 2}" / f"{i}.parquet")
    conf = [word for item in CONF.items() for word in ("--conf", "=".join(item))]
    words = [str(tmp_path / "lake"), str(tmp_path / "made"), "--format", "doris"]
    done = subprocess.run(
        [str(SUBMIT), "--master", "local[2]", *conf, "examples/spark_pipeline.py", *words],
        cwd=ROOT,
        env={**os.environ, **settings()},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "convert: 4 converted" in done.stdout
    assert "verify: 4 ok" in done.stdout
    assert f"sum of id: {sum(range(200))} in the lake, {sum(range(200))} in what" in done.stdout
    assert len(list((tmp_path / "made").rglob("*.dat"))) == 4
