"""What everything that a process opens shares: stores, caches, limits, what was learnt."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Coroutine, Hashable
from functools import partial
from itertools import count
from typing import Any, Self, TypeVar

from rangeio.engine.disk.settings import MAX_BYTES, DiskCache
from rangeio.engine.flights import Pinned
from rangeio.environment import flag, number, text
from rangeio.errors import Closed, RequestError
from rangeio.live import Live
from rangeio.stores.address import Options, Target
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.profile import PROFILES, Profile
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace

T = TypeVar("T")


class Session:
    """Caches, limits and connections, shared by every file opened with it.

    Every argument is also an environment variable ``RANGEIO_<NAME>``: argument > environment >
    default.

    Args:
        memory_cache: bytes of the range cache.
        column_cache: bytes of the column metadata cache.
        disk_cache: a directory, or a DiskCache, for what GETs bring of objects with a strong
            version tag; None: there is none. A directory holds at most 10 GiB, or
            ``RANGEIO_DISK_CACHE_BYTES``.
        max_in_flight: GETs at once, over all files; a store's profile may allow fewer.
        max_buffer: bytes in flight or waiting to be decoded, over all files.
        profile: a Profile, or the name of one, for every store, taken as it is; None: each
            store's own, its gap moved by what is learnt of the endpoint.
        deadline: seconds that one GET may take with all its retries.
        hedge: send a second GET where the first byte is late and the store's profile agrees.
    """

    def __init__(
        self,
        memory_cache: int | None = None,
        column_cache: int | None = None,
        disk_cache: DiskCache | str | os.PathLike[str] | None = None,
        max_in_flight: int | None = None,
        max_buffer: int | None = None,
        profile: Profile | str | None = None,
        deadline: float | None = None,
        hedge: bool | None = None,
    ) -> None:
        self.memory_cache = int(number("memory_cache", memory_cache, 256 << 20))
        self.column_cache = int(number("column_cache", column_cache, 64 << 20))
        self.disk_cache = _disk(disk_cache)
        self.max_in_flight = int(number("max_in_flight", max_in_flight, 64, least=1))
        self.max_buffer = int(number("max_buffer", max_buffer, 512 << 20, least=1))
        self.profile = _profile(profile if profile is not None else text("profile", None))
        seconds = number("deadline", deadline, 0)
        self.deadline = float(seconds) if seconds else None
        self.hedge = flag("hedge", hedge)
        self.closed = False
        self._live: Live | None = None
        self._making = threading.Lock()
        _sessions.add(self)

    # ---- for the files that are opened with it ----

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the portal and wait for it; Closed once the session is."""
        live = self._alive(work)
        return live.portal.run(live.guard(work))

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the portal and await it from any loop; Closed once the session is."""
        live = self._alive(work)
        return await live.portal.wait(live.guard(work))

    async def connect(
        self,
        target: Target,
        storage_options: Options | None,
        filesystem: Any,
        trace: Trace | None = None,
    ) -> tuple[Pinned, Hashable]:
        """A new handle on an object, nothing asked of it yet, and who it is in the caches.

        Runs on the portal. A store that is not open yet is found in a thread: a filesystem's
        constructor, or the import of its package, may take long, and other files read on meanwhile.
        trace: where its GETs are recorded; one of its own by default.
        """
        loop, live = asyncio.get_running_loop(), self.live
        found = live.near(target, storage_options, filesystem)
        if found is None:
            find = partial(live.find, target, storage_options, filesystem)
            found = await loop.run_in_executor(None, find)
        store, key, url, named, who = found
        source = Source(store, key, url, self.profile or PROFILES[named])
        trace, cost = Trace() if trace is None else trace, source.profile.cost
        return Pinned(source, None, trace, count(1), cost, self.deadline), who

    def version(self, of: Pinned, who: Hashable) -> Hashable:
        """The caches' key of what was opened; without a version tag nobody else shares it."""
        tag = of.source.pin
        return (who, tag or object(), of.source.size)

    @property
    def live(self) -> Live:
        """The parts that belong to this process; made anew after a fork."""
        if self.closed:
            raise Closed("the session was closed")
        if self._live is None:
            with self._making:
                if self._live is None:
                    self._live = Live(
                        Limits(self.max_in_flight),
                        Policy(hedge=self.hedge, deterministic=self.profile is not None),
                        max_buffer=self.max_buffer,
                        memory_cache=self.memory_cache,
                        column_cache=self.column_cache,
                        disk_cache=self.disk_cache,
                    )
        return self._live

    def _alive(self, work: Coroutine[Any, Any, T]) -> Live:
        try:
            return self.live
        except Closed:
            work.close()  # or it is reported as never awaited
            raise

    def _forked(self) -> None:
        self._live, self._making = None, threading.Lock()

    # ---- for people ----

    def close(self) -> None:
        """End its reads, close connections, drop the caches; its files raise Closed afterwards."""
        if self.closed:
            return
        self.closed = True
        live, self._live = self._live, None
        if live is not None:
            live.portal.finish(live.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


def _disk(given: DiskCache | str | os.PathLike[str] | None) -> DiskCache | None:
    if isinstance(given, DiskCache):
        return given
    path = given if given is not None else text("disk_cache", None)
    if path is None:
        return None
    return DiskCache(path, int(number("disk_cache_bytes", None, MAX_BYTES)))


def _profile(given: Profile | str | None) -> Profile | None:
    if given is None or isinstance(given, Profile):
        return given
    if given not in PROFILES:
        raise RequestError(f"no profile is called {given!r}; there are: {', '.join(PROFILES)}")
    return PROFILES[given]


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()
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
    """In the child: locks may have been held, and what lives in threads is not here."""
    global _default_lock
    _default_lock = threading.Lock()
    for session in list(_sessions):
        session._forked()


os.register_at_fork(after_in_child=_after_fork)
