"""Any other fsspec filesystem, read through its own ranged ``cat_file``."""

from __future__ import annotations

import asyncio
import functools
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rangeio.errors import (
    Denied,
    NotFound,
    RangeIgnored,
    RequestError,
    ServerFault,
    ShortReply,
    StoreError,
    TimedOut,
    Unreachable,
)
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.refusal import RefusedForGood
from rangeio.stores.store import Reply
from rangeio.stores.url import redact

KEPT = 1024
"""Sizes of so many objects are remembered, the latest asked for."""

_TAGS = (
    "etag",
    "ETag",
    "generation",
    "version_id",
    "md5Hash",
    "checksum",
    "mtime",
    "LastModified",
    "last_modified",
    "modified",
    "updated",
    "created",
)
_SECRETS = re.compile(r"\?[^\s'\")>]*|(?<=://)[^\s/@]*@")


@dataclass(frozen=True, slots=True)
class _Known:
    size: int
    tag: str


class FsspecStore:
    """Ranged reads through an fsspec filesystem, async or not.

    Nothing pins a version: such filesystems take no If-Match. The size comes from one ``info()``
    with each suffix GET, that is with each opening, and where it is not known; the tag, always
    weak, from what info tells.
    A synchronous filesystem runs in the loop's executor, an async one on its own loop.
    """

    pinned = False

    def __init__(self, filesystem: Any, *, profile: str = "http") -> None:
        self.profile = profile
        self._fs = apart(filesystem)
        # Where asking costs nothing, a version that was overwritten is noticed.
        self._near = "memory" in _protocols(filesystem)
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The asked bytes; ``if_match`` cannot be asked for, and is not."""
        known = await self._info(key, at)
        part = _within(at, known)
        if part is None:
            return Reply(None, known.size, known.tag, status=416)
        data = await self._call("cat_file", key, at, start=part.start, end=part.stop)
        view = memoryview(data).cast("B").toreadonly()
        if len(view) > part.size:
            raise RangeIgnored(
                f"asked for {part.size} bytes, the filesystem gave {len(view)}", url=redact(key),
                at=part,
            )  # fmt: skip
        if len(view) < part.size:
            raise ShortReply(
                f"asked for {part.size} bytes, the filesystem gave {len(view)}", url=redact(key),
                at=part,
            )  # fmt: skip
        return Reply(part, known.size, known.tag, view, size=part.size)

    async def close(self) -> None:
        """Forget the sizes; the filesystem belongs to whoever made it."""
        self._known.clear()

    def __repr__(self) -> str:
        return f"FsspecStore({type(self._fs).__name__})"

    async def _info(self, key: str, at: ByteRange | Suffix) -> _Known:
        """Size and tag: looked up for a suffix, remembered for what follows. A range that comes
        first, by a plan that was made elsewhere, looks them up too: they are what it is held to."""
        if isinstance(at, ByteRange) and key in self._known and not self._near:
            return self._known[key]
        # A listing that the filesystem has cached may tell the size of an older version.
        self._fs.invalidate_cache(self._fs._parent(key))
        info = await self._call("info", key, at)
        if info.get("type") == "directory":
            raise RefusedForGood("this is a directory, not a file", url=redact(key), at=at)
        size = info.get("size")
        if not isinstance(size, int) or size < 0:
            raise RefusedForGood("the filesystem does not tell the size", url=redact(key), at=at)
        known = self._known[key] = _Known(size, _tag(info))
        self._known.move_to_end(key)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return known

    async def _call(self, name: str, key: str, at: ByteRange | Suffix, **options: int) -> Any:
        failure: StoreError
        try:
            return await _run(self._fs, name, key, options)
        except Exception as error:
            failure = refused(error, key, at)
        # Raised out here, so that a traceback does not show the inner error and its urls.
        raise failure


def _protocols(filesystem: Any) -> tuple[str, ...]:
    found = filesystem.protocol
    return (found,) if isinstance(found, str) else tuple(found)


def apart(filesystem: Any) -> Any:
    """A filesystem whose calls are not bound to a caller's loop."""
    if not filesystem.async_impl or not filesystem.asynchronous:
        return filesystem
    options = {**filesystem.storage_options, "asynchronous": False, "loop": None}
    return type(filesystem)(*filesystem.storage_args, **options)


async def _run(fs: Any, name: str, key: str, options: Mapping[str, int]) -> Any:
    if fs.async_impl:
        asked = asyncio.run_coroutine_threadsafe(getattr(fs, f"_{name}")(key, **options), fs.loop)
        return await asyncio.wrap_future(asked)
    call = functools.partial(getattr(fs, name), key, **options)
    return await asyncio.get_running_loop().run_in_executor(None, call)


def _within(at: ByteRange | Suffix, known: _Known) -> ByteRange | None:
    """The part of the object that is asked for; None where there is no such byte."""
    if isinstance(at, Suffix):
        return ByteRange(max(0, known.size - at.size), known.size) if known.size else None
    return ByteRange(at.start, min(at.stop, known.size)) if at.start < known.size else None


def _tag(info: Mapping[str, object]) -> str:
    for name in _TAGS:
        value = info.get(name)
        if value:
            text = str(value).replace('"', "").removeprefix("W/")
            return f'W/"{text}"'
    return ""


def refused(error: Exception, key: str, at: ByteRange | Suffix | None = None) -> StoreError:
    """The error that an fsspec filesystem's exception means, without the secrets in its text."""
    url = redact(key)
    said = _SECRETS.sub("", f"{type(error).__name__}: {error}")[:300]
    if isinstance(error, FileNotFoundError):
        return NotFound("no such object", url=url, at=at)
    if isinstance(error, PermissionError):
        return Denied(f"access denied: {said}", url=url, at=at)
    if isinstance(error, IsADirectoryError):
        return RefusedForGood("this is a directory, not a file", url=url, at=at)
    if isinstance(error, TimeoutError):
        return TimedOut(f"the filesystem gave up waiting: {said}", url=url, at=at)
    if isinstance(error, ConnectionError):
        return Unreachable(f"the connection failed: {said}", url=url, at=at)
    if isinstance(error, TypeError | ValueError | NotImplementedError | RequestError):
        return RefusedForGood(f"the filesystem cannot read this: {said}", url=url, at=at)
    return ServerFault(f"the filesystem failed: {said}", url=url, at=at)
