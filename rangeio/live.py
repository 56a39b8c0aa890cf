"""What of a session lives in threads and on a loop, and so cannot cross a fork."""

from __future__ import annotations

import asyncio
import posixpath
import threading
from collections.abc import Coroutine, Hashable, MutableMapping
from typing import Any, TypeVar

from cachetools import LRUCache

from rangeio.engine.core import Engine
from rangeio.engine.disk.settings import DiskCache
from rangeio.engine.portal import Portal, portal
from rangeio.errors import Closed
from rangeio.formats.format import Hint
from rangeio.stores.address import Options, Target, locate, resolve
from rangeio.stores.identity import Identity
from rangeio.stores.store import Store
from rangeio.transport.buffers import KEPT
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.source import Source
from rangeio.transport.transport import Transport

T = TypeVar("T")

_HINTS = 32 << 20  # bytes of what directories taught: a schema of 100,000 columns weighs about 10


class Live:
    """The engine, open stores, and what was learnt of directories, of one process."""

    def __init__(
        self,
        limits: Limits,
        policy: Policy,
        *,
        max_buffer: int,
        memory_cache: int,
        column_cache: int,
        disk_cache: DiskCache | None,
    ) -> None:
        self.portal: Portal = portal()
        self._stores: MutableMapping[Identity, Store] = {}
        self._hints: LRUCache[Hashable, tuple[str, Hint]] = LRUCache(
            _HINTS, getsizeof=lambda known: max(known[1].weight, 1)
        )
        self._resolving = threading.Lock()
        self._closing = False

        async def make() -> Engine:
            return Engine(
                Transport(limits, policy, kept=min(KEPT, max_buffer // 8)),
                max_buffer=max_buffer,
                memory_cache=memory_cache,
                column_cache=column_cache,
                disk_cache=disk_cache,
            )

        self.engine = self.portal.run(make())

    def find(
        self, target: Target, storage_options: Options | None, filesystem: Any
    ) -> tuple[Store, str, str, str, Hashable]:
        """(store, key, url, name of its profile, who it is in the caches). Any thread may ask.

        Stores live as long as the session, so an id names one; bytes come with one of their own.
        """
        if isinstance(target, bytes | bytearray | memoryview):
            return (*resolve(target, storage_options, filesystem), object())
        with self._resolving:
            found = resolve(target, storage_options, filesystem, self._stores)
        return (*found, (id(found[0]), found[1]))

    def near(
        self, target: Target, storage_options: Options | None, filesystem: Any
    ) -> tuple[Store, str, str, str, Hashable] | None:
        """The same, at once: None where the store is not open yet."""
        if isinstance(target, bytes | bytearray | memoryview):
            return None
        at = locate(target, storage_options, filesystem)
        store = self._stores.get(at.identity)
        if store is None:
            return None
        return store, at.key, at.url, at.profile, (id(store), at.key)

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Work that :meth:`close` ends; it raises Closed then, whatever the end looked like."""
        task = self.engine.spawn(work)
        try:
            return await task
        except (asyncio.CancelledError, RuntimeError):
            if not self._closing:
                task.cancel()
                raise
        raise Closed("the session was closed")

    async def close(self) -> None:
        """End all work, then close every connection, on the loop that opened it."""
        self._closing = True
        await self.engine.close()
        await self.engine.transport.close()
        await asyncio.gather(*(store.close() for store in self._stores.values()))
        self._stores.clear()

    def hint(self, source: Source) -> tuple[str, Hint] | None:
        """What the directory of an object taught, and of which format."""
        return self._hints.get(neighbours(source))

    def learn(self, source: Source, fmt: str, hint: Hint | None) -> None:
        """Keep what one file of a directory teaches about the next."""
        if hint is not None and hint.weight <= _HINTS:
            self._hints[neighbours(source)] = (fmt, hint)


def neighbours(source: Source) -> Hashable:
    """What files that are likely alike share: store, directory and extension."""
    folder, name = posixpath.split(source.key.partition("?")[0])
    return id(source.store), folder, posixpath.splitext(name)[1]
