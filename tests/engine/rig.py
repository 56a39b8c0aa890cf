"""An engine over bytes whose GETs end in random order, and readers of it."""

from __future__ import annotations

import asyncio
import itertools
import random

from rangeio.engine.batches import Prepared, tables
from rangeio.engine.core import Engine
from rangeio.engine.flights import Pinned
from rangeio.engine.handle import Handle
from rangeio.errors import ServerFault
from rangeio.plan import Query, Rows
from rangeio.ranges import Coalescing, CostModel
from rangeio.stores.memory import MemoryStore
from rangeio.transport.policy import Policy
from rangeio.transport.profile import Profile
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace
from rangeio.transport.transport import Transport

POLICY = Coalescing(gap=4096, span=256 << 10, amplification=1e9)
PROFILE = Profile("test", CostModel(0.01, 1e8, 64, POLICY), 64, 0, 64, 256)


class Scrambled:
    """A memory store whose replies take a random number of turns of the loop."""

    profile = "memory"
    pinned = True

    def __init__(self, data, rng, turns=30):
        self.inner = MemoryStore({"o": data})
        self.rng, self.turns = rng, turns
        self.log, self.in_flight, self.cancelled = [], 0, 0
        self.fail = None

    async def get(self, key, at, *, if_match=None):
        self.log.append(at)
        self.in_flight += 1
        try:
            for _ in range(self.rng.randrange(self.turns + 1)):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1
        if self.fail is not None and self.fail(at):
            raise ServerFault("made to fail", status=418)
        return await self.inner.get(key, at, if_match=if_match)

    async def close(self):
        await self.inner.close()


class Rig:
    """One engine and one object; a handle a reader."""

    def __init__(self, data, fmt, rng, *, capacity=1 << 20, cache=0, turns=30, profile=PROFILE):
        self.store = Scrambled(data, rng, turns)
        transport = Transport(policy=Policy(attempts=1, deterministic=True))
        self.engine = Engine(
            transport, max_buffer=capacity, memory_cache=cache, column_cache=1 << 20
        )
        self.fmt, self.size, self.profile = fmt, len(data), profile
        self.tasks = asyncio.all_tasks()
        self.pin = self.store.inner._objects["o"][1]

    async def handle(self, fmt=None):
        source = Source(self.store, "o", "test://o", self.profile, self.pin, self.size)
        version, cost = ("o", self.pin, self.size), self.profile.cost
        of = Pinned(source, version, Trace(), itertools.count(1), cost)
        handle = Handle(self.engine, of, fmt or self.fmt, None)
        await handle.open(None)
        return handle

    async def prepared(self, names, rows, fmt=None, handle=None):
        handle = handle or await self.handle(fmt)
        fields, metas = await handle.loaded(lambda schema: [schema[n] for n in names])
        plan = await handle.plan(metas, Query(fields, rows))
        return Prepared(handle, fields, metas, rows, plan, {})

    async def read(self, names, rows, fmt=None):
        whole = tables(await self.prepared(names, rows, fmt), None)
        try:
            return await anext(whole)
        finally:
            await whole.aclose()

    async def settled(self):
        """Nothing in the air, nothing charged, nobody waiting, no task left but the caller's."""
        for turn in range(2000):
            busy = self.engine.flights.in_air or self.engine.budget.used or self.store.in_flight
            if not busy and not self.engine.shared.flying and asyncio.all_tasks() <= self.tasks:
                break
            await asyncio.sleep(0.001 if turn > 200 else 0)
        assert not self.engine.flights.in_air
        assert self.engine.budget.used == 0
        assert self.engine.budget.waiting == 0
        assert not self.engine.shared.flying
        assert not self.engine.columns.flying
        assert self.store.in_flight == 0
        assert asyncio.all_tasks() <= self.tasks

    async def close(self):
        await self.engine.close()
        self.engine.pool.shutdown(wait=True)
        await self.engine.transport.close()


def some_rows(count, rng):
    """A random query: a slice, all rows, or a list of rows."""
    kind = rng.randrange(4)
    if kind == 0:
        return Rows.span(0, count)
    if kind < 3:
        start = rng.randrange(count - 1)
        return Rows.span(start, min(count, start + rng.choice((1, 2, 100, 4000, count))))
    import numpy as np

    picked = sorted({rng.randrange(count) for _ in range(rng.choice((1, 10, 200)))})
    return Rows.of(np.array(picked))


def seeded(*words):
    return random.Random(repr(words))
