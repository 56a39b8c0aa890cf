"""The engine of one session: what all its files share, on the portal's loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from rangeio.engine.budget import Budget, Lane, Ticket
from rangeio.engine.disk.settings import DiskCache
from rangeio.engine.disk.tier import DiskTier
from rangeio.engine.flights import Cause, Flights, Pinned, located
from rangeio.engine.held import RangeCache
from rangeio.engine.lease import Held, Lease
from rangeio.engine.once import OnceCache
from rangeio.engine.run import run
from rangeio.formats.format import ColumnMeta
from rangeio.ranges import ByteRange
from rangeio.steps import Need, Steps
from rangeio.transport.transport import Transport

T = TypeVar("T")

_UNWRITTEN = 64 << 20  # bytes that may wait for the disk; more memory than this is not lent to it
_SHARED = 8  # a part of max_buffer: decoded dictionary pages and the like, for the next plan


class Engine:
    """Transport, budget, caches and the decode pool. Made on the loop that uses it.

    max_buffer: bytes in flight or waiting to be decoded. memory_cache, column_cache: budgets in
    bytes of the range cache and of the column metadata cache. disk_cache: the tier behind the
    range cache, where there is one.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        max_buffer: int,
        memory_cache: int,
        column_cache: int,
        disk_cache: DiskCache | None = None,
    ) -> None:
        self.transport = transport
        self.budget = Budget(max_buffer)
        self.cache = RangeCache(memory_cache)
        self.columns: OnceCache[Hashable, ColumnMeta] = OnceCache(column_cache, _weight)
        self.shared: OnceCache[Hashable, tuple[Any, int]] = OnceCache(
            max_buffer // _SHARED, lambda v: v[1]
        )
        self.pool = ThreadPoolExecutor(os.cpu_count() or 1, "rangeio-decode")
        self.disk: DiskTier | None = None
        if disk_cache is not None:
            waiting = min(_UNWRITTEN, max_buffer // 8)
            self.disk = DiskTier(disk_cache, self.pool, transport.buffers.take, waiting)
        self.flights = Flights(transport, self.budget, self.cache, self.disk)
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task that :meth:`close` ends."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def metadata(
        self, of: Pinned, steps: Steps[T], *, pool: bool = False, kept: Held = ()
    ) -> T:
        """Drive steps over metadata: outside the data budget, one hop a need.

        ``pool``: parse in the pool, for steps that may take more than a millisecond. ``kept``:
        bytes that are here already, whatever the range cache keeps of them.
        """
        await self.flights.look(of)
        lease = Lease(self.flights, of, Ticket(Lane(always=True)), kept=kept)

        async def fetch(asked: Need) -> Sequence[memoryview]:
            return await lease.fetch(asked, Cause(asked.why, of.hop()))

        with located(of):
            return await run(steps, fetch, self.pool if pool else None, lease.release)

    def keep(self, of: Pinned, at: ByteRange, data: memoryview) -> None:
        """Put bytes that came without a flight into the caches."""
        self.cache.put(of.version, at, data)
        if self.disk is not None:
            self.disk.keep(of.version, at, data)

    async def close(self) -> None:
        """End every task, then let the pool's threads go; a step that runs goes on to its end."""
        mine = asyncio.current_task()
        while tasks := [task for task in self._tasks if task is not mine]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if self.disk is not None:
            await self.disk.close()
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.cache.clear()

    async def idle(self, settled: Callable[[], bool] | None = None) -> None:
        """Wait until nothing is in the air and nothing is charged; for tests and for closing."""
        while self.flights.in_air or self.budget.used or (settled is not None and not settled()):
            await asyncio.sleep(0)


def _weight(meta: ColumnMeta) -> int:
    return meta.weight
