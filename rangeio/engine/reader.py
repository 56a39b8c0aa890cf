"""One plan being carried out: units start ahead, land freely, and are handed on in order."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncGenerator, Hashable, Iterable, Mapping, Sequence
from typing import Any

from rangeio.engine.budget import Lane, Ticket
from rangeio.engine.core import Engine
from rangeio.engine.flights import Cause, Hop, Pinned, located
from rangeio.engine.lease import Lease, Planned
from rangeio.engine.run import run
from rangeio.formats.format import Format
from rangeio.plan import DecodeUnit, Plan, SharedLoad
from rangeio.ranges import ByteRange, split
from rangeio.schema import ColumnId
from rangeio.steps import Need

AHEAD = 64 << 20
"""Bytes that are read ahead of what is handed on, where nobody says otherwise."""

_AHEAD = 1024  # units started and not handed on: a bound for tasks, where the bytes bound nothing


class Reader:
    """Carries out one plan. Use :meth:`pieces` once; closing it ends everything it started.

    ahead: bytes of units that may be started before the oldest of them is handed on.
    """

    def __init__(
        self,
        engine: Engine,
        of: Pinned,
        fmt: Format,
        metas: Mapping[ColumnId, Any],
        plan: Plan,
        *,
        ahead: int = AHEAD,
    ) -> None:
        self._engine = engine
        self._of = of
        self._format = fmt
        self._metas = metas
        self._plan = plan
        self._ahead = ahead
        self._lane = Lane()
        self._loads = {one.key: one for one in plan.shared}
        self._users = Counter(key for unit in plan.units for key in unit.uses)
        self._values: dict[Hashable, Any] = {}
        self._hops: list[Hop] = []
        self._planned = [Planned(at) for at in planned_gets(engine, of, plan)]
        self._leases = [self._lease(i, unit) for i, unit in enumerate(plan.units)]
        self._shares = {key: self._share(one.ranges) for key, one in self._loads.items()}

    async def pieces(self) -> AsyncGenerator[tuple[DecodeUnit, Any], None]:
        """Every unit with its decoded data, in the plan's order."""
        units = self._plan.units
        tasks: dict[int, asyncio.Task[Any]] = {}
        started = ahead = 0
        try:
            for i, unit in enumerate(units):
                while started < len(units) and (
                    started == i or (ahead < self._ahead and started - i < _AHEAD)
                ):
                    tasks[started] = self._engine.spawn(self._decode(started))
                    ahead += _size(units[started])
                    started += 1
                self._lane.head = i
                self._engine.budget.pump()
                data = await tasks[i]
                del tasks[i]
                ahead -= _size(unit)
                self._leases[i].release()
                yield unit, data
                del data
        finally:
            await self._end(tasks)

    async def _end(self, tasks: Mapping[int, asyncio.Task[Any]]) -> None:
        """End what was started; give back every share of what was not."""
        for task in tasks.values():
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        for lease in self._leases:
            lease.abandon()
        for key in list(self._shares):
            self._unshare(key)
        self._values.clear()

    async def _decode(self, i: int) -> Any:
        unit, lease = self._plan.units[i], self._leases[i]
        loads = {key: self._engine.spawn(self._shared(key)) for key in unit.uses}
        shared: dict[Hashable, Any] = {}
        depth = 0

        async def fetch(asked: Need) -> Sequence[memoryview]:
            nonlocal depth
            if not depth and asked.ranges != unit.ranges:
                raise AssertionError(f"{asked.why}: the first need is not what was planned")
            self._of.data.add(asked.why)
            cause = Cause(asked.why, self._hop(depth), asked.why.startswith("unplanned"))
            depth += 1
            views = await lease.fetch(asked, cause)
            for key, load in loads.items():
                shared[key] = await load
            return views

        pool = None if unit.light else self._engine.pool
        lease.begin()
        try:
            steps = self._format.decode(unit, self._metas, shared)
            with located(self._of):
                return await run(steps, fetch, pool, lease.ended)
        finally:
            for load in loads.values():
                load.cancel()
            self._used(unit.uses)

    async def _shared(self, key: Hashable) -> Any:
        """The value of a shared load, made once, and kept while this plan has users of it."""
        if key not in self._values:
            whole = (self._of.version, key)

            async def load(_: object) -> Mapping[Hashable, tuple[Any, int]]:
                return {whole: await self._load(self._loads[key])}

            self._values[key] = (await self._engine.shared.get([whole], load))[whole][0]
            self._unshare(key)
        return self._values[key]

    async def _load(self, one: SharedLoad) -> tuple[Any, int]:
        """A head of its own: charged like a unit that waits, it would deadlock with its users."""
        shares = self._shares.pop(one.key, ())
        lease = Lease(
            self._engine.flights, self._of, Ticket(Lane(always=True)), shares, copies=True
        )

        async def fetch(asked: Need) -> Sequence[memoryview]:
            self._of.data.add(asked.why)
            return await lease.fetch(asked, Cause(asked.why, self._hop(0)))

        return await run(
            self._format.load(one, self._metas), fetch, self._engine.pool, lease.release
        )

    def _used(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            self._users[key] -= 1
            if not self._users[key]:
                self._values.pop(key, None)

    def _hop(self, depth: int) -> Hop:
        while len(self._hops) <= depth:
            self._hops.append(self._of.hop())
        return self._hops[depth]

    def _lease(self, i: int, unit: DecodeUnit) -> Lease:
        ticket = Ticket(self._lane, i)
        mine = self._share(unit.ranges)
        return Lease(self._engine.flights, self._of, ticket, mine, copies=unit.borrows)

    def _share(self, ranges: Sequence[ByteRange]) -> list[Planned]:
        """The planned GETs that hold bytes of ``ranges``, each told of one more user."""
        mine: dict[Planned, None] = {}
        for at in ranges:
            i = max(bisect_right(self._planned, at.start, key=lambda p: p.at.start) - 1, 0)
            while i < len(self._planned) and self._planned[i].at.start < at.stop:
                if self._planned[i].at.stop > at.start:
                    mine[self._planned[i]] = None
                i += 1
        for one in mine:
            one.left += 1
        return list(mine)

    def _unshare(self, key: Hashable) -> None:
        for one in self._shares.pop(key, ()):
            one.done(self._engine.flights)


def planned_gets(engine: Engine, of: Pinned, plan: Plan) -> list[ByteRange]:
    """The GETs of a plan's first hop: what ``explain`` shows and the reader makes."""
    return engine.flights.missing(of, _wants(engine, of, plan))


def secure(engine: Engine, of: Pinned, plan: Plan) -> None:
    """Count a use of all that the caches have for a plan."""
    for one in plan.shared:
        engine.shared.held((of.version, one.key))
    engine.cache.secure(of.version, _wants(engine, of, plan))


def forgo(engine: Engine, of: Pinned, plan: Plan) -> None:
    """Drop what the caches have for a plan and might evict before it is carried out."""
    for one in plan.shared:
        engine.shared.forgo((of.version, one.key))
    engine.cache.forgo(of.version, _wants(engine, of, plan))


def _wants(engine: Engine, of: Pinned, plan: Plan) -> list[ByteRange]:
    wants = [at for unit in plan.units for at in unit.ranges]
    for one in plan.shared:
        if (of.version, one.key) not in engine.shared:
            wants += one.ranges
    return wants


def parts(of: Pinned, gets: Sequence[ByteRange]) -> list[ByteRange]:
    """The same, cut as the store's span limit has it: one range a request on the wire."""
    span = of.cost.coalescing.span
    return [part for get in gets for part in split(get, span)]


def _size(unit: DecodeUnit) -> int:
    return sum(at.size for at in unit.ranges)
