"""Lance files by pylance, and every kind of store to read them from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rangeio
from rangeio.testing.server import RangeServer
from rangeio.testing.sigv4 import Bucket, SigV4Server

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    lance_file = pytest.importorskip("lance.file")


def write(path, table, version="2.1"):
    path.parent.mkdir(parents=True, exist_ok=True)
    with lance_file.LanceFileWriter(str(path), table.schema, version=version) as writer:
        writer.write_batch(table)
    return path


def oracle(path, columns=None):
    return lance_file.LanceFileReader(str(path), columns=columns).read_all().to_table()


def mixed(rows=5000, seed=0):
    """Scalars, strings, nulls, structs and lists."""
    rng = np.random.default_rng(seed)
    nulls = rng.random(rows) < 0.1
    words = [f"word-{i}" for i in rng.integers(0, 400, rows)]
    struct = pa.StructArray.from_arrays(
        [
            pa.array(rng.integers(0, 99, rows)),
            pa.array([f"{i}!" for i in range(rows)]),
            pa.StructArray.from_arrays([pa.array(rng.random(rows))], ["deep"]),
        ],
        ["a", "b", "c"],
    )
    lists = pa.array([list(range(i % 4)) for i in range(rows)], pa.list_(pa.int32()))
    return pa.table(
        {
            "id": pa.array(np.arange(rows)),
            "x": pa.array(rng.random(rows), mask=nulls),
            "word": pa.array(words),
            "v": struct,
            "tags": lists,
            "day": pa.array(rng.integers(0, 20_000, rows).astype("i4")).cast(pa.date32()),
        }
    )


def wide(columns):
    """As the tables that rangeio is for: float and int features."""
    rows = 2000 if columns < 10_000 else 500
    rng = np.random.default_rng(columns)
    pool = [
        pa.array(rng.standard_normal(rows).astype("f4")),
        pa.array(rng.integers(0, 1_000_000, rows)),
    ]
    names = [f"feature_{i:05d}" for i in range(columns)]
    return pa.table([pool[i % 2] for i in range(columns)], names=names)


@dataclass
class Files:
    root: Path
    tables: dict = field(default_factory=dict)

    def mixed(self, version="2.1"):
        return self._made(f"mixed/{version}.lance", mixed, version)

    def wide(self, columns, version="2.1", name="one"):
        return self._made(f"wide{columns}/{name}-{version}.lance", lambda: wide(columns), version)

    def _made(self, name, make, version):
        path = self.root / name
        if not path.exists():
            write(path, make(), version)
        return path


@dataclass
class Place:
    """One way to reach the bytes of a file."""

    target: object
    options: dict | None = None
    server: object = None

    def open(self, session, **words):
        return rangeio.open(self.target, storage_options=self.options, session=session, **words)


def reach(stack, kind, path):
    """The place of a kind that serves the file; its server ends with ``stack``."""
    if kind == "file":
        return Place(str(path))
    if kind == "memory":
        return Place(path.read_bytes())
    if kind == "http":
        server = stack.enter_context(RangeServer({path.name: path.read_bytes()}))
        return Place(server.at(path.name), None, server)
    bucket = Bucket(objects={f"d/{path.name}": path.read_bytes()})
    server = stack.enter_context(SigV4Server({"bucket": bucket}))
    options = {
        "key": server.credentials.access,
        "secret": server.credentials.secret,
        "endpoint_url": server.url,
        "client_kwargs": {"region_name": bucket.region},
    }
    return Place(f"s3://bucket/d/{path.name}", options, server)


def settled(session):
    """Nothing in the air, nothing charged."""
    live = session.live
    live.portal.run(live.engine.idle())
    return True
