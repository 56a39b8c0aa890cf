"""Every example runs, against a server, and prints what it should."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileWriter

from rangeio.testing.server import RangeServer

ROOT = Path(__file__).parents[1]
ROWS = 25_000
EXAMPLES = {"two_columns.py", "stream.py", "zip_members.py"}
BY_SPARK = {"spark_pipeline.py"}  # tests/spark runs it


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    path = tmp_path_factory.mktemp("examples") / "a.lance"
    table = pa.table({"n": np.arange(ROWS), "x": np.arange(ROWS) / 2})
    with LanceFileWriter(str(path), table.schema, version="2.1") as writer:
        writer.write_batch(table)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("first.txt", "1" * 1000)
        archive.writestr("folder/second.txt", "22")
    with RangeServer({"a.lance": path.read_bytes(), "a.zip": packed.getvalue()}) as server:
        yield server


def output(name, *words):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *words],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error::ResourceWarning"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_tested():
    assert {p.name for p in (ROOT / "examples").glob("*.py")} == EXAMPLES | BY_SPARK


def test_two_columns(server):
    said = output("two_columns.py", server.at("a.lance"), "x", "n")
    assert f"{ROWS} rows" in said
    assert "hop 1: 1 GET" in said


def test_stream(server):
    said = output("stream.py", server.at("a.lance"), "n")
    assert said.split() == [str(ROWS * (ROWS - 1) // 2), str(ROWS)]


def test_zip_members(server):
    said = output("zip_members.py", server.at("a.zip"))
    assert said.splitlines() == ["first.txt 1000", "folder/second.txt 2"]
