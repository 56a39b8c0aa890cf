"""The second tier behind the range cache: what GETs brought, kept on disk, off the loop."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

from cachetools import LRUCache

from rangeio.engine.disk.block import CHUNK
from rangeio.engine.disk.cover import Cover
from rangeio.engine.disk.folder import BlockFolder
from rangeio.engine.disk.settings import DiskCache
from rangeio.errors import RangeIOError
from rangeio.ranges import ByteRange, Coalescing, gets, subtract
from rangeio.transport.source import Source

_LAYOUT = 1
_POLICY = Coalescing(gap=CHUNK, amplification=float("inf"))  # a chunk is read whole to be checked
_KNOWN = 4096  # object versions whose listings are kept
_FRESH_S = 2.0  # seconds for which a listing is believed; it costs no more than a folder's reading
_WAIT_S = 10.0  # seconds that closing waits for what is still to be written


class _Shelf:
    """What is on disk of one object version, as it was seen last."""

    __slots__ = ("blocks", "key", "lock", "seen")

    def __init__(self, key: bytes) -> None:
        self.key = key
        self.blocks = Cover()
        self.seen = float("-inf")
        self.lock = asyncio.Lock()


class DiskTier:
    """Ranges of object versions on disk. Lives on one loop; the disk is touched in threads alone.

    pool: where it reads. take: gives a buffer of a size, to any thread. waiting: bytes that may
    wait to be written; what comes while they are full is not kept.

    Only objects with a strong version tag, of a store that says where they are, have a place
    here. :meth:`look` finds it and lists it; without it everything else says "not here".
    """

    def __init__(
        self,
        settings: DiskCache,
        pool: Executor,
        take: Callable[[int], memoryview],
        waiting: int,
    ) -> None:
        self._folder = BlockFolder(settings)
        self._pool = pool
        self._take = take
        self._most = waiting
        self._waiting = 0
        self._writer = ThreadPoolExecutor(1, "rangeio-disk")
        self._writes: set[asyncio.Future[bool]] = set()
        self._shelves: LRUCache[Hashable, _Shelf] = LRUCache(_KNOWN)

    async def look(self, version: Hashable, source: Source) -> None:
        """Know what is there of an object version, as of a moment ago."""
        shelf = self._shelves.get(version)
        if shelf is None:
            key = await _key(source)
            if key is None:
                return
            shelf = self._shelves.setdefault(version, _Shelf(key))
        if time.monotonic() - shelf.seen > _FRESH_S:
            async with shelf.lock:  # many look at once, one lists
                if time.monotonic() - shelf.seen > _FRESH_S:
                    await self._list(shelf)

    def overlapping(self, version: Hashable, at: ByteRange) -> list[ByteRange]:
        """The ranges on disk that share a byte with ``at``, sorted."""
        shelf = self._shelves.get(version)
        return shelf.blocks.overlapping(at) if shelf is not None else []

    def covers(self, version: Hashable, at: ByteRange) -> bool:
        """Whether all bytes of a range seem to be there."""
        shelf = self._shelves.get(version)
        return shelf is not None and shelf.blocks.pieces(at) is not None

    def sorted_out(
        self,
        version: Hashable,
        parts: Sequence[ByteRange],
        near: Callable[[ByteRange], Sequence[ByteRange]],
    ) -> tuple[list[ByteRange], list[ByteRange]]:
        """What to read here for ``parts``, coalesced, and the parts that are missing here.

        near: what is held of a range already, sorted; it is not read through.
        """
        there: list[ByteRange] = []
        missing: list[ByteRange] = []
        for at in parts:
            lacking = subtract(at, self.overlapping(version, at))
            missing += lacking
            there += subtract(at, lacking)
        reads: list[ByteRange] = []
        for at in gets(there, _POLICY, None, near):
            # A gap that is not here in whole cannot be read through.
            reads += subtract(at, subtract(at, self.overlapping(version, at)))
        return reads, missing

    async def read(self, version: Hashable, at: ByteRange, room: int = 0) -> memoryview | None:
        """The bytes of ``at``, checked, and ``room`` more in the same buffer; None where one of
        them is not there after all."""
        shelf = self._shelves.get(version)
        pieces = shelf.blocks.pieces(at) if shelf is not None else None
        if shelf is None or pieces is None:
            return None
        work = partial(self._read, shelf.key, pieces, at, room)
        found = await asyncio.get_running_loop().run_in_executor(self._pool, work)
        if isinstance(found, ByteRange):
            shelf.blocks.drop(found)
            return None
        return found

    def keep(self, version: Hashable, at: ByteRange, data: memoryview) -> None:
        """Write ``data``, the bytes of ``at``, in a while; not where too much waits already."""
        shelf = self._shelves.get(version)
        if shelf is None or not at.size or self._waiting + at.size > self._most:
            return
        if shelf.blocks.pieces(at) is not None:
            return
        loop = asyncio.get_running_loop()
        try:
            write = loop.run_in_executor(self._writer, self._folder.write, shelf.key, at, data)
        except RuntimeError:  # the interpreter is about to end
            return
        self._waiting += at.size
        self._writes.add(write)
        write.add_done_callback(partial(self._written, shelf, at))

    async def close(self) -> None:
        """Write what still waits, for the next process, but not without end."""
        if self._writes:
            await asyncio.wait(self._writes, timeout=_WAIT_S)
        self._writer.shutdown(wait=False, cancel_futures=True)

    async def _list(self, shelf: _Shelf) -> None:
        work = partial(self._folder.listed, shelf.key)
        ranges = await asyncio.get_running_loop().run_in_executor(self._pool, work)
        shelf.blocks, shelf.seen = Cover(ranges), time.monotonic()

    def _read(
        self, key: bytes, pieces: list[tuple[ByteRange, ByteRange]], at: ByteRange, room: int
    ) -> memoryview | ByteRange:
        """In the pool: the bytes, or the block that was not good."""
        into = self._take(at.size + room)
        for block, part in pieces:
            view = into[part.start - at.start : part.stop - at.start]
            if not self._folder.read(key, block, part, view):
                return block
        return into if room else into.toreadonly()

    def _written(self, shelf: _Shelf, at: ByteRange, write: asyncio.Future[bool]) -> None:
        self._waiting -= at.size
        self._writes.discard(write)
        if not write.cancelled() and write.result():
            shelf.blocks.add(at)


async def _key(source: Source) -> bytes | None:
    """What one version of one object is known by, in every process; None where it has no place.

    A hash: neither a url nor a key can be read from a name that is made of it.
    """
    if source.consistency != "strong":
        return None
    try:
        place = await source.place()
    except (RangeIOError, ValueError):  # the GET that follows will say it better
        return None
    if not place:
        return None
    told = repr((_LAYOUT, place, source.pin, source.size))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()
