"""Hedging: a second GET for a late head, seldom, pinned, and without a loser left behind."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from rangeio.errors import NotFound, TimedOut
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.store import Reply
from rangeio.testing.clock import ManualClock
from rangeio.transport.policy import Policy
from rangeio.transport.profile import PROFILES
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace
from rangeio.transport.transport import Transport

DATA = bytes(range(200))
AT = ByteRange(10, 20)


@dataclass
class Held:
    """A body that is told how it ended."""

    data: bytes
    ended: list[bool]

    async def receive(self, into: memoryview) -> int:
        into[:] = self.data[: len(into)]
        return len(into)

    def close(self, *, reuse: bool) -> None:
        self.ended.append(reuse)


@dataclass
class Timed:
    """A store each of whose heads comes after the next of ``delays`` seconds."""

    clock: ManualClock
    delays: list[float]
    pins: list[str | None] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)
    cancelled: int = 0
    profile: str = "s3"
    pinned: bool = True

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        assert isinstance(at, ByteRange)
        self.pins.append(if_match)
        delay = self.delays.pop(0) if self.delays else 0.01
        try:
            await self.clock.sleep(abs(delay))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if delay < 0:
            raise NotFound("gone", status=404)
        body = Held(DATA[at.start : at.stop], self.ended)
        return Reply(at, len(DATA), '"t"', body=body, size=at.size)

    async def close(self) -> None:
        return


@dataclass
class Race:
    store: Timed
    transport: Transport
    source: Source
    clock: ManualClock
    trace: Trace = field(default_factory=Trace)

    async def get(self) -> bytes:
        got = await self.transport.get(self.source, AT, why="t.x", hop=1, trace=self.trace)
        return bytes(got.data)


async def warm(policy: Policy, gets: int = 100, profile: str = "s3") -> Race:
    clock = ManualClock()
    store = Timed(clock, [])
    transport = Transport(policy=policy, clock=clock)
    race = Race(store, transport, Source(store, "o", "s3://b/o", PROFILES[profile]), clock)
    for _ in range(gets):
        await race.get()
    store.pins.clear()
    store.ended.clear()
    race.trace.clear()
    return race


def test_off_by_default(run) -> None:
    async def main() -> None:
        race = await warm(Policy())
        race.store.delays = [5.0]
        assert await race.get() == DATA[10:20]
        assert race.store.pins == ['"t"']

    run(main)


def test_the_second_wins(run) -> None:
    async def main() -> None:
        race = await warm(Policy(hedge=True))
        race.store.delays = [5.0, 0.02]
        begun = race.clock.now()
        assert await race.get() == DATA[10:20]
        # The heads took 10 ms each, so 100 ms is when one is late.
        assert race.clock.now() - begun == pytest.approx(0.12)
        assert race.store.pins == ['"t"', '"t"']
        assert race.store.cancelled == 1
        (record,) = race.trace
        assert record.attempts == 2
        assert len(asyncio.all_tasks()) == 1

    run(main)


def test_the_first_wins_after_all(run) -> None:
    async def main() -> None:
        race = await warm(Policy(hedge=True))
        race.store.delays = [0.15, 5.0]
        assert await race.get() == DATA[10:20]
        assert race.store.cancelled == 1
        assert race.store.ended == [True]

    run(main)


def test_both_at_once(run) -> None:
    async def main() -> None:
        race = await warm(Policy(hedge=True))
        race.store.delays = [0.15, 0.05]
        assert await race.get() == DATA[10:20]
        # One was read to its end; the other was closed, or never came.
        assert race.store.ended.count(True) == 1
        assert race.store.ended.count(False) + race.store.cancelled == 1

    run(main)


def test_one_that_fails_leaves_it_to_the_other(run) -> None:
    async def main() -> None:
        race = await warm(Policy(hedge=True))
        race.store.delays = [0.5, -0.01]
        assert await race.get() == DATA[10:20]
        race = await warm(Policy(hedge=True))
        race.store.delays = [-0.5, -0.01]
        with pytest.raises(NotFound):
            await race.get()

    run(main)


def test_seldom(run) -> None:
    async def main() -> None:
        race = await warm(Policy(hedge=True, hedge_share=0.05), gets=100)
        race.store.delays = [1.0] * 1_000
        for _ in range(100):
            assert await race.get() == DATA[10:20]
        extra = len(race.store.pins) - 100
        assert 1 <= extra <= 10

    run(main)


def test_not_before_enough_was_seen_and_never_for_files(run) -> None:
    async def main() -> None:
        for gets, profile in ((5, "s3"), (100, "file")):
            race = await warm(Policy(hedge=True), gets=gets, profile=profile)
            race.store.delays = [5.0]
            await race.get()
            assert len(race.store.pins) == 1

    run(main)


def test_cancelling_and_timing_out_end_both(run) -> None:
    async def main() -> None:
        race = await warm(Policy(hedge=True, first_byte_s=2.0, attempts=1))
        race.store.delays = [5.0, 5.0]
        begun = race.clock.now()
        with pytest.raises(TimedOut):
            await race.get()
        assert race.clock.now() - begun == pytest.approx(2.0)
        assert race.store.cancelled == 2
        race.store.delays = [1.5, 1.5]
        task = asyncio.ensure_future(race.get())
        for _ in range(10):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1
        assert race.source.endpoint is not None
        assert race.source.endpoint.gate.held == 0

    run(main)
