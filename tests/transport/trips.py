from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.http import HttpStore
from rangeio.stores.url import redact
from rangeio.testing.clock import ManualClock
from rangeio.testing.server import RangeServer
from rangeio.transport.clock import Clock, LoopClock
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.profile import PROFILES
from rangeio.transport.source import Received, Source
from rangeio.transport.trace import Trace
from rangeio.transport.transport import Transport

SMALL = random.Random(7).randbytes(300_000)
LARGE = random.Random(8).randbytes(5 << 20)


@dataclass
class Trip:
    """One transport at work on one object of a server."""

    server: RangeServer
    store: HttpStore
    transport: Transport
    source: Source
    clock: Clock
    trace: Trace = field(default_factory=Trace)

    async def get(
        self,
        at: ByteRange | Suffix,
        into: memoryview | None = None,
        deadline: float | None = None,
    ) -> Received:
        return await self.transport.get(
            self.source, at, why="test.range", hop=1, trace=self.trace, into=into, deadline=deadline
        )

    async def opened(self) -> Received:
        """Pin the source, then forget that the server was asked."""
        received = await self.get(Suffix(8))
        self.server.log.clear()
        self.trace.clear()
        return received


@dataclass
class Trips:
    server: RangeServer

    @asynccontextmanager
    async def to(
        self,
        key: str = "small",
        *,
        policy: Policy | None = None,
        limits: Limits | None = None,
        manual: bool = True,
        url: str = "",
        store: HttpStore | None = None,
        profile: str = "http",
    ) -> AsyncIterator[Trip]:
        """A trip whose backoffs take no time unless ``manual`` is off; all is let go at its end."""
        clock: Clock = ManualClock() if manual else LoopClock()
        store = store or HttpStore()
        where = url or self.server.at(key)
        source = Source(store, where, redact(where), PROFILES[profile])
        transport = Transport(limits, policy, clock, random.Random(1))
        trip = Trip(self.server, store, transport, source, clock)
        before = asyncio.all_tasks()
        try:
            yield trip
            assert len(transport._watch) == 0
            assert transport._gate.held == 0
            assert source.gate is None or source.gate.held == 0
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == before
        finally:
            await transport.close()
            await store.close()
            await asyncio.sleep(0)
