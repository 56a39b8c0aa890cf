"""What everything that a process opens shares: stores, caches, limits, what was learnt."""

from __future__ import annotations

import asyncio
import atexit
import os
import posixpath
import threading
from collections.abc import Hashable, MutableMapping
from itertools import count
from typing import Any, Self

from cachetools import LRUCache

from rangeio.engine.core import Engine
from rangeio.engine.flights import Pinned
from rangeio.engine.portal import Portal, portal
from rangeio.environment import flag, number, text
from rangeio.errors import Closed, RequestError
from rangeio.formats.format import Hint
from rangeio.stores.address import Options, Target, resolve
from rangeio.stores.identity import Identity
from rangeio.stores.store import Store
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.profile import PROFILES, Profile
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace
from rangeio.transport.transport import Transport

_HINTS = 32 << 20  # bytes of what directories taught: a schema of 100,000 columns weighs about 10


class Session:
    """Caches, limits and connections, shared by every file opened with it.

    Every argument is also an environment variable ``RANGEIO_<NAME>``: argument > environment >
    default.

    Args:
        memory_cache: bytes of the range cache.
        column_cache: bytes of the column metadata cache.
        disk_cache: reserved for a second tier on disk.
        max_in_flight: GETs at once, over all files.
        max_buffer: bytes in flight or waiting to be decoded, over all files.
        profile: a Profile, or the name of one, for every store; None: each store's own.
        deadline: seconds that one GET may take with all its retries.
        hedge: send a second GET where the first byte is late and the store's profile agrees.
    """

    def __init__(
        self,
        memory_cache: int | None = None,
        column_cache: int | None = None,
        disk_cache: str | None = None,
        max_in_flight: int | None = None,
        max_buffer: int | None = None,
        profile: Profile | str | None = None,
        deadline: float | None = None,
        hedge: bool | None = None,
    ) -> None:
        self.memory_cache = int(number("memory_cache", memory_cache, 256 << 20))
        self.column_cache = int(number("column_cache", column_cache, 64 << 20))
        self.disk_cache = text("disk_cache", disk_cache)
        self.max_in_flight = int(number("max_in_flight", max_in_flight, 64, least=1))
        self.max_buffer = int(number("max_buffer", max_buffer, 512 << 20, least=1))
        self.profile = _profile(profile if profile is not None else text("profile", None))
        seconds = number("deadline", deadline, 0)
        self.deadline = float(seconds) if seconds else None
        self.hedge = flag("hedge", hedge)
        self.closed = False
        self._live: _Live | None = None
        self._making = threading.Lock()

    # ---- for the files that are opened with it ----

    def source(
        self, target: Target, storage_options: Options | None, filesystem: Any
    ) -> tuple[Source, Hashable]:
        """The source of an object, nothing asked of it yet, and who it is in the caches."""
        self._open()
        apart = isinstance(target, bytes | bytearray | memoryview)
        stores = None if apart else self.live.stores
        store, key, url, named = resolve(target, storage_options, filesystem, stores)
        profile = self.profile or PROFILES[named]
        # Stores live as long as the session, so an id names one; bytes come with one of their own.
        return Source(store, key, url, profile), object() if apart else (id(store), key)

    def pinned(self, source: Source) -> Pinned:
        """A new handle on a source: its own trace, its own count of hops."""
        return Pinned(source, None, Trace(), count(1), self.deadline)

    def version(self, of: Pinned, who: Hashable) -> Hashable:
        """The caches' key of what was opened; without a version tag nobody else shares it."""
        tag = of.source.pin
        return (who, tag or object(), of.source.size)

    @property
    def live(self) -> _Live:
        """The parts that belong to this process; made anew after a fork."""
        self._open()
        if self._live is None or self._live.pid != os.getpid():
            if self._live is not None:
                self._making = threading.Lock()  # the parent may have held it at the fork
            with self._making:
                if self._live is None or self._live.pid != os.getpid():
                    self._live = _Live(self)
        return self._live

    # ---- for people ----

    def close(self) -> None:
        """Close connections and drop the caches. Files opened with it raise Closed afterwards."""
        if self.closed:
            return
        self.closed = True
        live, self._live = self._live, None
        if live is not None and live.pid == os.getpid():
            live.portal.run(live.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        if self.closed:
            raise Closed("the session was closed")

    def __reduce__(self) -> tuple[object, ...]:
        return Session, (
            self.memory_cache,
            self.column_cache,
            self.disk_cache,
            self.max_in_flight,
            self.max_buffer,
            self.profile,
            self.deadline,
            self.hedge,
        )


class _Live:
    """What cannot cross a fork: the engine, open stores, what was learnt."""

    def __init__(self, session: Session) -> None:
        self.pid = os.getpid()
        self.portal: Portal = portal()
        self.stores: MutableMapping[Identity, Store] = {}
        self.hints: LRUCache[Hashable, tuple[str, Hint]] = LRUCache(
            _HINTS, getsizeof=lambda known: max(known[1].weight, 1)
        )
        self.engine: Engine = self.portal.run(self._make(session))

    async def _make(self, session: Session) -> Engine:
        transport = Transport(Limits(session.max_in_flight), Policy(hedge=session.hedge))
        return Engine(
            transport,
            max_buffer=session.max_buffer,
            memory_cache=session.memory_cache,
            column_cache=session.column_cache,
        )

    async def close(self) -> None:
        """Close every connection, on the loop that opened it."""
        self.engine.close()
        await self.engine.transport.close()
        await asyncio.gather(*(store.close() for store in self.stores.values()))
        self.stores.clear()

    def hint(self, source: Source) -> tuple[str, Hint] | None:
        """What the directory of an object taught, and of which format."""
        return self.hints.get(neighbours(source))

    def learn(self, source: Source, fmt: str, hint: Hint | None) -> None:
        """Keep what one file of a directory teaches about the next."""
        if hint is not None and hint.weight <= _HINTS:
            self.hints[neighbours(source)] = (fmt, hint)


def neighbours(source: Source) -> Hashable:
    """What files that are likely alike share: store, directory and extension."""
    folder, name = posixpath.split(source.key.partition("?")[0])
    return id(source.store), folder, posixpath.splitext(name)[1]


def _profile(given: Profile | str | None) -> Profile | None:
    if given is None or isinstance(given, Profile):
        return given
    if given not in PROFILES:
        raise RequestError(f"no profile is called {given!r}; there are: {', '.join(PROFILES)}")
    return PROFILES[given]


_default: Session | None = None
_default_lock = threading.Lock()


def default_session() -> Session:
    """The process's session, made on first use."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = Session()
        return _default


@atexit.register
def _goodbye() -> None:
    """Close the default session's connections, so that none is reported as left open."""
    if _default is not None and _default._live is not None and not _default.closed:
        _default.close()


def _after_fork() -> None:
    global _default_lock
    _default_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
