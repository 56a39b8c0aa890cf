"""Files of datasets, in stores of every kind."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

import rangeio
from rangeio.testing.moto import MotoServer
from rangeio.testing.server import RangeServer
from rangeio.transport.profile import PROFILES

KINDS = ["file", "memory", "http", "s3"]
SMALL_TAIL = replace(PROFILES["http"], tail=1024, small_file=0)
"""So that a file's data is not there with its footer."""


def parquet(table: pa.Table, **words: Any) -> bytes:
    """The bytes of a Parquet file, as pyarrow writes it."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **words)
    return sink.getvalue()


def doris(table: pa.Table, folder: Path, **words: Any) -> bytes:
    """The bytes of a Doris segment."""
    path = folder / f"{uuid4().hex}.dat"
    rangeio.write(table, str(path), format="doris", **words)
    return path.read_bytes()


def lance(table: pa.Table, folder: Path, version: str = "2.1") -> bytes | None:
    """The bytes of a Lance file; None where there is no pylance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from lance.file import LanceFileWriter
        except ImportError:
            return None
        path = folder / f"{uuid4().hex}.lance"
        with LanceFileWriter(str(path), table.schema, version=version) as writer:
            writer.write_batch(table)
    return path.read_bytes()


def numbered(**ids: tuple[int, pa.Array]) -> pa.Table:
    """A table whose columns carry Parquet field ids and unique_ids alike."""
    fields = [
        pa.field(name, values.type, metadata={"PARQUET:field_id": str(i), "unique_id": str(i)})
        for name, (i, values) in ids.items()
    ]
    return pa.Table.from_arrays([values for _, values in ids.values()], schema=pa.schema(fields))


@dataclass
class Lake:
    """A folder of its own in a store. words: of rangeio.dataset. server: where there is one."""

    kind: str
    root: str
    filesystem: Any = None
    words: dict[str, Any] = field(default_factory=dict)
    server: Any = None
    names: list[str] = field(default_factory=list)

    def put(self, name: str, data: bytes) -> str:
        """Write an object, the same or another; its url."""
        if name not in self.names:
            self.names.append(name)
        if self.kind == "http":
            self.server.put(f"lake/{name}", data)
        else:
            place = f"{self.root}/{name}"
            self.filesystem.makedirs(place.rpartition("/")[0], exist_ok=True)
            self.filesystem.pipe_file(place, data)
        return self.at(name)

    def drop(self, name: str) -> None:
        """Remove an object."""
        if self.kind == "http":
            self.server.drop(f"lake/{name}")
        else:
            self.filesystem.rm(f"{self.root}/{name}")

    def at(self, name: str) -> str:
        """The url of an object, as a dataset shows it."""
        if self.kind == "http":
            return str(self.server.at(f"lake/{name}"))
        return f"{self.root}/{name}"

    @property
    def target(self) -> Any:
        """What a dataset of all of it is opened by: plain HTTP has no listings."""
        return [self.at(name) for name in sorted(self.names)] if self.kind == "http" else self.root

    def open(self, session: rangeio.Session, **words: Any) -> Any:
        """All of it as a dataset."""
        return rangeio.dataset(self.target, session=session, **self.words, **words)


class Stores:
    """Stores of every kind, each begun when it is first asked for."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._moto: MotoServer | None = None

    def lake(self, kind: str) -> Lake:
        """An empty folder in a store of this kind."""
        name = uuid4().hex
        if kind == "file":
            (self._folder / name).mkdir()
            return Lake(kind, str(self._folder / name), fsspec.filesystem("file"))
        if kind == "memory":
            return Lake(kind, f"memory://{name}", fsspec.filesystem("memory"))
        if kind == "http":
            return Lake(kind, "", server=self._stack.enter_context(RangeServer()))
        if self._moto is None:
            self._moto = self._stack.enter_context(MotoServer())
            self._moto.bucket("lake")
        options = {"storage_options": self._moto.options}
        return Lake(kind, f"s3://lake/{name}", Bucket(self._moto), options, self._moto)


@dataclass
class Bucket:
    """Writes to moto, as far as a lake needs it."""

    server: MotoServer

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Nothing: there are no folders."""

    def pipe_file(self, path: str, data: bytes) -> None:
        """Write an object."""
        bucket, _, key = path.removeprefix("s3://").partition("/")
        self.server.put(bucket, key, data)


def plain(table: pa.Table, kinds: Mapping[str, pa.DataType] | None = None) -> pa.Table:
    """Without metadata; columns in other types where they are named."""
    fields = [pa.field(f.name, (kinds or {}).get(f.name, f.type)) for f in table.schema]
    return table.cast(pa.schema(fields)) if fields else table.replace_schema_metadata(None)


def data_gets(dataset: Any, before: int = 0) -> list[Any]:
    """The GETs of data that were made since so many records: those behind the metadata's hops."""
    return [r for r in list(dataset.trace)[before:] if not (r.cached or r.joined) and r.hop >= 10]


def own_gets(dataset: Any, before: int = 0) -> list[Any]:
    """All GETs that were made since so many records."""
    return [r for r in list(dataset.trace)[before:] if not (r.cached or r.joined)]
