"""Places that can be written, of every kind, and what is to be seen in them."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import s3fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

from rangeio.testing.moto import MotoServer

KINDS = ["file", "memory", "s3", "folder"]
PART = 5 << 20


class Folder(AbstractFileSystem):
    """Files below a directory, by a filesystem that rangeio knows nothing of."""

    protocol = "folder"
    cachable = False

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root

    def _at(self, path: str) -> str:
        return os.path.join(self._root, path.lstrip("/"))

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        return open(self._at(path), mode)

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Of one file or directory."""
        found = os.stat(self._at(path))
        kind = "directory" if stat.S_ISDIR(found.st_mode) else "file"
        return {"name": path, "size": found.st_size, "type": kind, "mtime": found.st_mtime_ns}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """What lies in a directory."""
        names = [os.path.join(path, name) for name in sorted(os.listdir(self._at(path)))]
        return [self.info(name) for name in names] if detail else names

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Make a directory and those above it."""
        os.makedirs(self._at(path), exist_ok=exist_ok)

    def mv(self, path1: str, path2: str, **_: Any) -> None:
        """Rename."""
        os.replace(self._at(path1), self._at(path2))

    def rm_file(self, path: str) -> None:
        """Remove."""
        os.unlink(self._at(path))


@dataclass
class Spot:
    """A place of its own below one root. words: of rangeio.write and rangeio.open."""

    root: str
    filesystem: Any
    prefix: str
    words: dict[str, Any] = field(default_factory=dict)

    def at(self, name: str) -> str:
        """The url of an object."""
        return f"{self.root}/{name}"

    def names(self) -> list[str]:
        """Every object, hidden ones too, and every upload that is under way."""
        self.filesystem.invalidate_cache()
        found = [n for n in self.filesystem.find(self.prefix) if n != self.prefix]
        names = [os.path.relpath(n, self.prefix) for n in found]
        return sorted(names) + [f"upload of {n}" for n in self.uploads()]

    def uploads(self) -> list[str]:
        """Keys of multipart uploads that nobody has ended."""
        if not isinstance(self.filesystem, s3fs.S3FileSystem):
            return []
        bucket = self.prefix.partition("/")[0]
        found = self.filesystem.call_s3("list_multipart_uploads", Bucket=bucket)
        return [upload["Key"] for upload in found.get("Uploads", [])]

    def data(self, name: str) -> bytes:
        """An object's bytes, read by another's hand."""
        return bytes(self.filesystem.cat_file(f"{self.prefix}/{name}"))

    def put(self, name: str, data: bytes) -> None:
        """Write an object by another's hand."""
        if not isinstance(self.filesystem, s3fs.S3FileSystem):
            self.filesystem.makedirs(self.prefix, exist_ok=True)
        self.filesystem.pipe_file(f"{self.prefix}/{name}", data)


@contextmanager
def bucket_server() -> Iterator[MotoServer]:
    """moto with one bucket."""
    with MotoServer() as server:
        server.bucket("bucket")
        yield server


def spot(kind: str, tmp_path: Any, server: MotoServer) -> Spot:
    """A place of this kind that nobody else uses."""
    own = uuid.uuid4().hex
    if kind == "file":
        return Spot(str(tmp_path), LocalFileSystem(), str(tmp_path))
    if kind == "memory":
        return Spot(f"memory://{own}", MemoryFileSystem(), f"/{own}")
    if kind == "folder":
        folder = Folder(str(tmp_path))
        return Spot(own, folder, own, {"filesystem": folder})
    options = {**server.options, "default_block_size": PART}
    return Spot(
        f"s3://bucket/{own}",
        s3fs.S3FileSystem(**options),
        f"bucket/{own}",
        {"storage_options": options},
    )
