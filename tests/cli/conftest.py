"""Small Lance files by pylance, servers of them, and the command line run in process."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
import warnings
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rangeio.cli.main import main
from rangeio.testing.server import RangeServer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lance_file = pytest.importorskip("lance.file")

ROOT = Path(__file__).parents[2]
ROWS = 3000


def written(path, table, version="2.1", **more):
    with lance_file.LanceFileWriter(str(path), table.schema, version=version, **more) as writer:
        for batch in table.to_batches(1 << 16):
            writer.write_batch(batch)
    return str(path)


def mixed():
    """Every kind of type that is shown, written or compared in a way of its own."""
    rng = np.random.default_rng(7)
    ids = range(ROWS)
    start = dt.datetime(2024, 1, 1)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array([f"n{i}" if i % 7 else None for i in ids]),
            "ts": pa.array(
                [start + dt.timedelta(hours=i) for i in ids], pa.timestamp("us", tz="UTC")
            ),
            "local": pa.array(
                [i * 10**9 + i for i in ids], pa.timestamp("ns")
            ),  # not whole microseconds
            "day": pa.array([start.date() + dt.timedelta(days=i) for i in ids], pa.date32()),
            "s": pa.array([{"x": i, "y": [i, i + 1]} for i in ids]),
            "f": pa.array(rng.random(ROWS), mask=rng.random(ROWS) < 0.1),
            "ok": pa.array([i % 3 == 0 for i in ids]),
            "raw": pa.array([bytes([i % 256, 0]) for i in ids]),
            "price": pa.array([Decimal(i) / 4 for i in ids], pa.decimal128(12, 2)),
            "took": pa.array(ids, pa.duration("s")),
        }
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Paths by what they hold."""
    folder = tmp_path_factory.mktemp("cli")
    wide = pa.table({f"feature_{i:05d}": pa.array(np.arange(300) * i) for i in range(2500)})
    hostile = pa.table({"\x1b[31mred": pa.array(["\x1b]0;x\x07", "a\nb"]), "NaN": [1.0, np.nan]})
    found = {"wide": written(folder / "wide.lance", wide)}
    found["hostile"] = written(folder / "hostile.lance", hostile)
    found["large"] = written(folder / "large.lance", large())
    found["long"] = written(folder / "long.lance", long(), data_cache_bytes=1 << 19)
    for version in ("2.0", "2.1", "2.2"):
        found[version] = written(folder / f"mixed-{version}.lance", mixed(), version)
    (folder / "text.txt").write_text("not a table, but long enough to have an end")
    found["text"] = str(folder / "text.txt")
    return found


def large():
    """Eight MB that do not compress, so that its metadata is a small part of it."""
    rng = np.random.default_rng(1)
    return pa.table({name: rng.integers(0, 1 << 62, 1 << 18) for name in ("a", "b", "c", "d")})


def long():
    """One column of twelve MB: several pages, and more than one GET of any store's span."""
    return pa.table({"a": np.random.default_rng(2).integers(0, 1 << 62, 3 << 19)})


@pytest.fixture
def server(files):
    objects = {name: Path(path).read_bytes() for name, path in files.items()}
    with RangeServer(objects) as server:
        yield server


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def cli(capsys):
    """Run a command in this process; an error is one line and no traceback."""

    def run(*words):
        code = main([str(word) for word in words])
        said = capsys.readouterr()
        if code:
            assert said.err.count("\n") == 1
            assert said.err.endswith("\n")
            assert "Traceback" not in said.err
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def good(cli):
    """The same, of a command that must do well and say nothing on stderr."""

    def run(*words):
        ran = cli(*words)
        assert (ran.code, ran.err) == (0, "")
        return ran

    return run


def environment(**more):
    """What a process of its own sees: none of this machine's settings."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("AWS_", "RANGEIO_"))}
    kept["AWS_EC2_METADATA_DISABLED"] = "true"
    return {**kept, "PYTHONPATH": str(ROOT), **more}


@pytest.fixture
def process():
    """Run a command in a process of its own, or start one with ``start=True``."""
    started = []

    def run(*words, env=None, start=False, **more):
        command = [sys.executable, "-W", "error", "-m", "rangeio", *map(str, words)]
        one = subprocess.Popen(
            command,
            env=environment(**(env or {})),
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
        )
        started.append(one)
        if start:
            return one
        out, err = one.communicate(timeout=60)
        return Ran(one.returncode, (out or b"").decode(), (err or b"").decode())

    yield run
    for one in started:
        if one.poll() is None:
            one.kill()
        one.communicate()


@pytest.fixture
def python():
    """Run code in a process of its own."""

    def run(code, **env):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env=environment(**env),
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
