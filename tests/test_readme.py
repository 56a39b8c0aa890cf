"""The README's Python runs as it stands."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lance.file import LanceFileWriter

import rangeio
from rangeio.testing.server import RangeServer

ROOT = Path(__file__).parents[1]
ROWS = 5_000


def blocks():
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """An S3-like server with the file that the README speaks of."""
    path = tmp_path_factory.mktemp("readme") / "wide.lance"
    names = ["user_id", *(f"feature_{i}" for i in range(50)), "score"]
    table = pa.table({name: np.arange(ROWS) * (i + 1) for i, name in enumerate(names)})
    with LanceFileWriter(str(path), table.schema, version="2.1") as writer:
        writer.write_batch(table)
    parquet = path.with_suffix(".parquet")
    pq.write_table(table, parquet)
    files = {f"lake/{one.name}": one.read_bytes() for one in (path, parquet)}
    with RangeServer(files) as server:
        yield server


def test_the_first_example(server):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "RANGEIO_"))}
    env |= {
        "AWS_ENDPOINT_URL": server.url,
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    server.log.clear()
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", blocks()[0]],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    first, *_, counts, last = done.stdout.splitlines()
    assert first == f"{ROWS} rows, 52 columns"
    assert counts == f"{ROWS} 100"
    gets = [r for r in server.log if r.method == "GET"]
    assert [r.method for r in server.log if r.method != "GET"] == []
    hops, told, size = map(int, re.fullmatch(r"(\d+) hops, (\d+) GETs, (\d+) bytes", last).groups())
    assert told == len(gets)
    assert size == sum(r.sent for r in gets)
    assert 1 <= hops <= 6


def test_the_second_example(server):
    """The same calls, at addresses that can be reached from here."""
    code = blocks()[1]
    for word in ("rangeio.open_async(", "await f.read(", "rangeio.fetch(", "rangeio.open_raw("):
        assert word in code
    url = server.at("lake/wide.lance")

    async def read():
        async with await rangeio.open_async(url, session=session) as f:
            return await f.read(["user_id"])

    with rangeio.Session() as session:
        assert asyncio.run(read()).num_rows == ROWS
        head, tail = rangeio.fetch(url, [(0, 4096), (-64, None)], session=session)
        assert (len(head), len(tail)) == (4096, 64)
        with rangeio.open_raw(url, session=session) as raw:
            assert raw.read(4096) == head
