"""Files over every kind of store, blocking and async: pyarrow's values, and the same transcript of
GETs for the same profile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import fsspec
import pyarrow as pa
import pytest
from corpus_files import made
from parquet_peer import Peer, same
from parquet_ways import cut

import rangeio
from rangeio.testing.gcs import GcsBucket, GcsObject, GcsServer
from rangeio.testing.moto import MotoServer
from rangeio.testing.server import RangeServer
from rangeio.transport.profile import PROFILES

PROFILE = replace(PROFILES["s3"], tail=1024, few_bytes=True, small_file=0)
NAMES = [
    "pyarrow-setting-page_index",
    "shape-field_ids",
    "shape-empty_row_groups",
]
PART = slice(7, 40)
PICKED = [29, 3, 4, 4, 0, 11]
KINDS = ["file", "bytes", "memory", "http", "s3", "gcs"]
Place = tuple[Any, dict[str, Any] | None]


@dataclass
class Places:
    """Every store, each begun when it is first asked for."""

    root: Path
    stack: ExitStack
    servers: dict[str, Any] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> Place:
        """(target, storage_options) of a file in a store of that kind."""
        data = made(name)
        if kind == "bytes":
            return data, None
        if kind == "file":
            path = self.root / name
            path.write_bytes(data)
            return path, None
        if kind == "memory":
            fsspec.filesystem("memory").pipe_file(f"/everywhere/{name}", data)
            return f"memory://everywhere/{name}", None
        if kind not in self.servers:
            self.servers[kind] = self.stack.enter_context(_server(kind))
        server = self.servers[kind]
        if kind == "http":
            server.put(name, data)
            return server.at(name), None
        if kind == "s3":
            return server.put("lake", f"d/{name}", data), server.options
        server.buckets["lake"].objects[f"d/{name}"] = GcsObject(data)
        return f"gs://lake/d/{name}", {"token": "anon", "endpoint_url": server.url}


def _server(kind: str) -> Any:
    if kind == "http":
        return RangeServer()
    if kind == "gcs":
        return GcsServer({"lake": GcsBucket({}, public=True)})
    return _Moto()


class _Moto(MotoServer):
    """With the bucket made."""

    def __enter__(self) -> Self:
        super().__enter__()
        self.bucket("lake")
        return self


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    with ExitStack() as stack:
        yield Places(tmp_path_factory.mktemp("everywhere"), stack)


def filtered(table: pa.Table) -> tuple[list[Any], pa.Table]:
    """A filter that keeps a part of the first column, and what it keeps."""
    name = table.column_names[0]
    value = table.column(0).drop_null()[len(table.column(0).drop_null()) // 2]
    return [(name, "<=", value)], table.filter(pa.compute.field(name) <= value)


def blocking(place: Place, asked: list[Any]) -> tuple[list[pa.Table], str]:
    target, options = place
    with (
        rangeio.Session(profile=PROFILE) as session,
        rangeio.open(target, storage_options=options, session=session) as file,
    ):
        tables = [
            file.read(rows=PART),
            file.read(rows=PICKED),
            file.read(filters=asked),
            file.read(),
            file.scan(batch_rows=170).read_all(),
        ]
        return tables, file.trace.transcript()


def awaited(place: Place, asked: list[Any]) -> tuple[list[pa.Table], str]:
    target, options = place

    async def main(session: rangeio.Session) -> tuple[list[pa.Table], str]:
        file = await rangeio.open_async(target, storage_options=options, session=session)
        async with file:
            tables = [
                await file.read(rows=PART),
                await file.read(rows=PICKED),
                await file.read(filters=asked),
                await file.read(),
                pa.Table.from_batches([b async for b in file.scan(batch_rows=170)]),
            ]
            return tables, file.trace.transcript()

    with rangeio.Session(profile=PROFILE) as session:
        return asyncio.run(main(session))


@pytest.mark.parametrize("name", NAMES)
def test_every_store_reads_the_same_by_the_same_gets(places: Places, name: str) -> None:
    wanted = Peer(made(name)).read()
    assert wanted is not None
    asked, kept = filtered(wanted)
    assert 0 < kept.num_rows < wanted.num_rows
    expected = [cut(wanted, PART), cut(wanted, PICKED), kept, wanted, wanted]
    transcripts = {}
    for kind in KINDS:
        for way in (blocking, awaited):
            tables, transcript = way(places.of(kind, name), asked)
            for found, other in zip(tables, expected, strict=True):
                same(found, other, f"{kind} {way.__name__}")
            transcripts[kind, way.__name__] = transcript
    assert len(set(transcripts.values())) == 1, transcripts


def test_each_store_was_really_asked(places: Places) -> None:
    name = NAMES[0]
    for kind in ("http", "gcs"):
        blocking(places.of(kind, name), filtered(Peer(made(name)).read())[0])
    assert any(r.key == name for r in places.servers["http"].log)
    assert places.servers["gcs"].requests


@pytest.mark.parametrize("kind", KINDS)
def test_the_profile_of_each_store_reads_equal(places: Places, kind: str) -> None:
    target, options = places.of(kind, NAMES[0])
    wanted = Peer(made(NAMES[0])).read()
    with (
        rangeio.Session() as session,
        rangeio.open(target, storage_options=options, session=session) as file,
    ):
        same(file.read(), wanted, kind)
        assert file.format == "parquet"
