"""Load each key once, however many ask at once; keep what was used last within a byte budget.

cachetools keeps; the flying side is ours. It lives on the portal's loop, so tasks and threads
meet here through the portal and no lock is held while anything loads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Generic, TypeVar

from rangeio.engine.lru import SegmentedLRU

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Load(Generic[K, V]):
    __slots__ = ("keys", "task", "waiters")

    def __init__(self, keys: tuple[K, ...], task: asyncio.Future[Mapping[K, V]]) -> None:
        self.keys, self.task, self.waiters = keys, task, 0


class OnceCache(Generic[K, V]):
    """A cache whose misses are claimed in batches, so that a batch still coalesces into few GETs.

    Whoever asks first for a key loads it, together with every other key that the same call found
    missing. A load that fails is told to all who waited, and forgotten. A waiter who gives up
    does not stop a load; the last one to give up does. A value over the budget is served, not kept.
    """

    def __init__(self, budget: int, weigh: Callable[[V], int]) -> None:
        self._kept: SegmentedLRU[K, V] = SegmentedLRU(budget, weigh)
        self._flying: dict[K, _Load[K, V]] = {}
        self.loads = 0
        self.hits = 0

    @property
    def weight(self) -> int:
        """Bytes kept now."""
        return self._kept.weight

    @property
    def flying(self) -> int:
        """How many keys are being loaded."""
        return len(self._flying)

    def __contains__(self, key: K) -> bool:
        return key in self._kept

    def held(self, key: K) -> V | None:
        """The value of a key where it is kept."""
        return self._kept.get(key) if key in self._kept else None

    def keep(self, key: K, value: V) -> None:
        """Keep a value that was not loaded for it."""
        self._kept.put(key, value)

    def forgo(self, key: K) -> None:
        """Drop a value that newcomers would evict before those that were asked for twice."""
        if not self._kept.lasting(key):
            self._kept.drop(key)

    async def get(
        self, keys: Sequence[K], load: Callable[[tuple[K, ...]], Awaitable[Mapping[K, V]]]
    ) -> dict[K, V]:
        """The values of ``keys``; ``load`` is called at most once, with what is nowhere yet."""
        found: dict[K, V] = {}
        joined: dict[K, _Load[K, V]] = {}
        missing: list[K] = []
        for key in dict.fromkeys(keys):
            if key in self._kept:
                found[key] = self._kept.get(key)  # type: ignore[assignment]
                self.hits += 1
            elif key in self._flying:
                joined[key] = self._flying[key]
            else:
                missing.append(key)
        if missing:  # no await since the look-ups: nobody else can have claimed these
            joined |= self._start(tuple(missing), load)
        if joined:
            await self._wait(joined, found)
        return {key: found[key] for key in keys}

    def forget(self, *keys: K) -> None:
        """Drop values, and disown loads under way: the object changed underneath us."""
        for key in keys:
            self._kept.drop(key)
            self._flying.pop(key, None)

    def _start(
        self, keys: tuple[K, ...], load: Callable[[tuple[K, ...]], Awaitable[Mapping[K, V]]]
    ) -> dict[K, _Load[K, V]]:
        self.loads += 1
        started: _Load[K, V] = _Load(keys, asyncio.ensure_future(load(keys)))
        started.task.add_done_callback(lambda _: self._land(started))
        mine = dict.fromkeys(keys, started)
        self._flying |= mine
        return mine

    async def _wait(self, joined: dict[K, _Load[K, V]], found: dict[K, V]) -> None:
        loads = list(dict.fromkeys(joined.values()))
        for one in loads:
            one.waiters += 1
        try:
            for one in loads:
                values = await asyncio.shield(one.task)
                found |= {k: values[k] for k, j in joined.items() if j is one}
        finally:
            for one in loads:
                one.waiters -= 1
                if not one.waiters and not one.task.done():
                    self._disown(one)
                    one.task.cancel()

    def _disown(self, load: _Load[K, V]) -> list[K]:
        mine = [k for k in load.keys if self._flying.get(k) is load]
        for key in mine:
            del self._flying[key]
        return mine

    def _land(self, load: _Load[K, V]) -> None:
        mine = self._disown(load)
        if load.task.cancelled() or load.task.exception() is not None:
            return
        values = load.task.result()
        for key in mine:
            if key in values:
                self._kept.put(key, values[key])
