"""Names of any other fsspec filesystem."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rangeio.errors import NotFound, StoreError
from rangeio.stores.fsspec import FsspecStore, _tag, refused
from rangeio.stores.refusal import RefusedForGood
from rangeio.stores.store import Listed, Page
from rangeio.stores.url import redact

_MODIFIED = ("LastModified", "last_modified", "modified", "mtime", "created")


class FsspecLister:
    """Folders of an fsspec filesystem, through its own ``ls``; one page each.

    A synchronous filesystem runs in the loop's executor, an async one on its own loop. Tags are
    told for objects in memory alone, where ``info`` costs nothing: the store asks that, and ``ls``
    may tell the same in other words.
    """

    deep = False

    def __init__(self, store: FsspecStore) -> None:
        self._fs = store._fs
        named = self._fs.protocol
        names = {named} if isinstance(named, str) else set(named)
        self._tagged = "memory" in names
        self._web = bool(names & {"http", "https"})

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """All that is right below a folder, in one page."""
        key = folder if self._web else folder.rstrip("/")
        self._fs.invalidate_cache(key)
        try:
            found = await self._call("ls", key, detail=True)
        except NotFound:
            raise NotFound("no such directory", url=redact(folder)) from None
        kept = [one for one in found if self._below(one["name"], key)]
        folders = (one["name"] for one in kept if one.get("type") == "directory")
        files = (self._listed(one) for one in kept if one.get("type") != "directory")
        return Page(tuple(files), tuple(f"{one.rstrip('/')}/" for one in folders))

    async def look(self, key: str) -> Listed | None:
        """What ``info`` tells of a name."""
        self._fs.invalidate_cache(self._fs._parent(key))
        try:
            info = await self._call("info", key)
        except NotFound:
            return None
        return self._listed(info) if info.get("type") != "directory" else None

    def _below(self, name: str, key: str) -> bool:
        """Whether a name is one right below; what is not below at all cannot be placed."""
        above, bare = _bare(key), _bare(name)
        rest = bare[len(above) :]
        if not bare.startswith(above) or (above and rest and rest[0] != "/"):
            raise RefusedForGood("the filesystem lists what is not below", url=redact(key))
        if self._web and ("?" in rest or "#" in rest or "/" in rest[1:]):
            return False  # a link of the page, to something else
        return bool(rest)

    def _listed(self, info: Mapping[str, Any]) -> Listed:
        size, name = info.get("size"), info["name"]
        known = size if isinstance(size, int) else -1
        return Listed(name, known, self._tag(name), _modified(info))

    def _tag(self, key: str) -> str:
        try:
            return _tag(self._fs.info(key)) if self._tagged else ""
        except FileNotFoundError:  # gone since
            return ""

    async def _call(self, name: str, key: str, **options: object) -> Any:
        failure: StoreError
        try:
            if self._fs.async_impl:
                call = getattr(self._fs, f"_{name}")(key, **options)
                asked = asyncio.run_coroutine_threadsafe(call, self._fs.loop)
                return await asyncio.wrap_future(asked)
            work = functools.partial(getattr(self._fs, name), key, **options)
            return await asyncio.get_running_loop().run_in_executor(None, work)
        except Exception as error:
            failure = refused(error, key)
        # Raised out here, so that a traceback does not show the inner error and its urls.
        raise failure

    def __repr__(self) -> str:
        return f"FsspecLister({type(self._fs).__name__})"


def _bare(name: str) -> str:
    return name.strip("/")


def _modified(info: Mapping[str, Any]) -> float | None:
    """When a file was written, by the names that filesystems have for it."""
    found = next((info[name] for name in _MODIFIED if info.get(name) is not None), None)
    if isinstance(found, datetime):
        return found.timestamp()
    return float(found) if isinstance(found, (int, float)) else None
