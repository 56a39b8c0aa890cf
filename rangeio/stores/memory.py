"""Objects in memory: what ``open(b"...")`` reads, and what tests read."""

from __future__ import annotations

import itertools

from rangeio.errors import NotFound, ObjectChanged
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.store import Reply


class MemoryStore:
    """Named bytes, handed out as views of them: nothing is copied.

    An object's tag is a counter, so a second :meth:`put` under its name is a new version. Views
    of the old version stay valid; bytes are never changed in place.
    """

    profile = "memory"
    pinned = True

    def __init__(self, objects: dict[str, bytes] | None = None) -> None:
        self._versions = itertools.count(1)
        self._objects: dict[str, tuple[memoryview, str]] = {}
        for key, data in (objects or {}).items():
            self.put(key, data)

    def put(self, key: str, data: bytes | bytearray | memoryview) -> str:
        """Make ``data`` the object ``key``; returns its tag. The caller no longer changes it."""
        tag = f'"{next(self._versions)}"'
        self._objects[key] = (memoryview(data).cast("B").toreadonly(), tag)
        return tag

    def drop(self, key: str) -> None:
        """Forget the object, if there is one."""
        self._objects.pop(key, None)

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """A view of the asked bytes, or a reply with status 416 where there are none."""
        data, tag = self._objects.get(key, (None, ""))
        if data is None:
            raise NotFound("no such object", url=key, at=at, status=404)
        if if_match is not None and if_match != tag:
            raise ObjectChanged("the object was put anew", url=key, at=at, status=412)
        total = len(data)
        asked = ByteRange(max(0, total - at.size), total) if isinstance(at, Suffix) else at
        if asked.start >= total:
            return Reply(None, total, tag, status=416)
        part = ByteRange(asked.start, min(asked.stop, total))
        return Reply(part, total, tag, data[part.start : part.stop], size=part.size)

    async def close(self) -> None:
        """Forget every object."""
        self._objects.clear()

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._objects)} objects)"
