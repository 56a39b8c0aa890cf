"""The only caller of a store: no byte leaves here unchecked, unpinned or without a record."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from urllib.parse import urlsplit

from rangeio.errors import BadRows, RangeIOError, ShortReply, StoreError, Throttled
from rangeio.ranges import ByteRange, CostModel, Suffix
from rangeio.stores.store import Reply
from rangeio.transport.athand import read_now
from rangeio.transport.budget import RetryBudget
from rangeio.transport.buffers import KEPT, Buffers
from rangeio.transport.check import Head, check, refused
from rangeio.transport.clock import Clock, LoopClock
from rangeio.transport.endpoint import Endpoint
from rangeio.transport.flight import Flight
from rangeio.transport.gate import Gate
from rangeio.transport.hedge import first_reply
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.source import Received, Source
from rangeio.transport.trace import GetRecord, Trace
from rangeio.transport.watch import Watch

__all__ = ["Limits", "Policy", "Received", "Source", "Transport"]

_EMPTY = memoryview(b"")


class Transport:
    """Fetches ranges: validated, pinned, retried, bounded in number and in time.

    One a session, used on one loop. ``clock`` and ``rng`` stand in for time and chance in tests.
    ``buffers`` gives memory for bodies to who brings his own.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        policy: Policy | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        kept: int = KEPT,
    ) -> None:
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self._clock: Clock = clock or LoopClock()
        self._now = self._clock.now
        self._budget = RetryBudget(self.policy, rng or random.Random())  # noqa: S311 - jitter
        self._watch = Watch(self._clock, self.policy)
        self._gate = Gate(self.limits.in_flight)
        self.buffers = Buffers(kept)
        self._endpoints: dict[tuple[str, str], Endpoint] = {}

    async def get(
        self,
        source: Source,
        at: ByteRange | Suffix,
        *,
        why: str,
        hop: int,
        trace: Trace,
        into: memoryview | None = None,
        deadline: float | None = None,
        unplanned: bool = False,
    ) -> Received:
        """The bytes of ``at``, of the version that ``source`` is pinned to.

        into: a writable buffer of exactly ``at.size`` bytes to receive them; after an error it is
        of no use any more, for a read that was given up may still write to it. deadline: seconds
        that all attempts may take together. A suffix longer than the object is the whole object.
        The first reply sets the source's pin and size.
        Raises StoreError, or BadRows for a range outside the object.
        """
        at = _within(source, at)
        if isinstance(at, ByteRange) and at.start == at.stop:
            return Received(_EMPTY, at, source.size or 0, source.pin or "")
        if into is not None and (isinstance(at, Suffix) or len(into) != at.size):
            raise ValueError(f"a buffer of {len(into)} bytes for {at}")
        begun = self._now()
        total_s = self.policy.total_s
        end = begun + (total_s if deadline is None else min(deadline, total_s))
        flight = Flight(source, at, into, begun, end, self.buffers)
        self._watch.add(flight)
        try:
            return await self._persist(flight)
        except RangeIOError as error:
            error.located(source.url, at)
            if isinstance(error, StoreError):
                error.attempts = flight.attempts
                flight.status = error.status or flight.status
            raise
        finally:
            self._watch.drop(flight)
            trace.add(self._record(flight, hop, why, unplanned))

    def at_hand(
        self, source: Source, ranges: Sequence[ByteRange], *, why: str, hop: int, trace: Trace
    ) -> list[memoryview] | None:
        """The bytes of ranges that the store has at hand, now; None where it has not, or where
        something is wrong, which :meth:`get` will find and say."""
        if not source.pin:
            return None
        found = read_now(source, ranges, self._now, why=why, hop=lambda: hop, trace=trace)
        return None if found is None else [one.data for one in found]

    def cost(self, source: Source) -> CostModel:
        """The profile's cost model, its gap moved by what was learnt of the endpoint."""
        if self.policy.deterministic:
            return source.profile.cost
        return self._endpoint(source).learnt.cost(source.profile.cost)

    async def close(self) -> None:
        """Stop its timers and free what memory it keeps; GETs in flight go on."""
        self.buffers.clear()
        self._watch.stop()

    async def _persist(self, flight: Flight) -> Received:
        """Attempts until one brings the bytes, or no other is worth while."""
        wait = 0.0
        while True:
            error: RangeIOError
            try:
                if wait > 0.0:
                    await self._clock.sleep(wait)
                return await self._attempt(flight)
            except asyncio.CancelledError:
                late = flight.timed_out(self._now()) if flight.late else None
                if late is None:
                    raise
                error = late
            except StoreError as refusal:
                error = refusal
            wait = self._pause(flight, error)

    def _pause(self, flight: Flight, error: StoreError) -> float:
        """Seconds until the next attempt; raises ``error`` where there is none."""
        delay = self._budget.delay(error, flight.attempts)
        if delay is None or self._now() + delay >= flight.end:
            raise error
        flight.allow(flight.end, "the deadline passed")
        return delay

    async def _attempt(self, flight: Flight) -> Received:
        """One GET, with a place at the file, the endpoint and the process while it lasts."""
        endpoint = self._endpoint(flight.source)
        gate = flight.source.gate
        assert gate is not None, "made with the endpoint"
        if not gate.enter_now():
            await gate.enter()
        try:
            if not endpoint.gate.enter_now():
                await endpoint.gate.enter()
            try:
                if not self._gate.enter_now():
                    await self._gate.enter()
                try:
                    return await self._fetch(flight, endpoint)
                finally:
                    self._gate.leave()
            finally:
                endpoint.gate.leave()
        finally:
            gate.leave()

    async def _fetch(self, flight: Flight, endpoint: Endpoint) -> Received:
        flight.attempts += 1
        begun = endpoint.begin()
        try:
            reply = await self._ask(flight, endpoint, flight.left())
        except Throttled:
            endpoint.slow_down(begun)
            raise
        if reply.status == 416:
            return await self._refused(flight, endpoint, reply)
        received = await self._take(flight, reply)
        now = self._now()
        size = received.at.stop - received.at.start
        endpoint.learnt.note(flight.first_byte_s, size, now - flight.headed)
        endpoint.went_well()
        self._budget.earn()
        return received

    async def _ask(self, flight: Flight, endpoint: Endpoint, at: ByteRange | Suffix) -> Reply:
        """The head of the reply, in time."""
        source = flight.source
        pin = source.pin
        if_match = pin if pin and not pin.startswith("W/") else None
        self._watch.allow(flight, self.policy.first_byte_s, "no reply came in time")
        asked = self._now()
        if self.policy.hedge and source.profile.hedge:
            reply = await first_reply(self._clock, self.policy, endpoint, flight, at, if_match)
        else:
            reply = await source.store.get(source.key, at, if_match=if_match)
        flight.headed = now = self._now()
        flight.first_byte_s = now - asked
        flight.status = reply.status
        self._watch.body(flight, now)
        return reply

    async def _refused(self, flight: Flight, endpoint: Endpoint, reply: Reply) -> Received:
        """Learn the object's size from a 416, or by one more GET, and judge by it."""
        source = flight.source
        asked = flight.left()
        again = refused(reply, asked, source)
        if again is None:
            flight.attempts += 1
            probe = await self._ask(flight, endpoint, ByteRange(0, 1))
            if probe.body is not None:
                probe.body.close(reuse=False)
            total = probe.total
            if probe.status != 416 and total is not None:
                check(probe, ByteRange(0, 1), source)
            reply = Reply(None, total or 0, probe.tag, status=416)
            again = refused(reply, asked, source) or ByteRange(0, 0)
        _pin(source, reply.tag, again.stop)
        flight.at = again
        if not again.size:
            return Received(_EMPTY, again, 0, reply.tag)
        flight.attempts += 1
        return await self._take(flight, await self._ask(flight, endpoint, again))

    async def _take(self, flight: Flight, reply: Reply) -> Received:
        """Examine the head, then receive the body into its buffer."""
        body = reply.body
        ended = False
        try:
            head = check(reply, flight.left(), flight.source)
            _pin(flight.source, reply.tag, head.total)
            if flight.at is None:
                flight.at = head.at
            if body is None:
                data = _held(flight, reply, head)
            elif head.body == head.at.size:
                data = flight.room()
                await self._receive(flight, reply, data, keep=True)
            else:
                data = await self._cut(flight, reply, head)
            ended = True
        finally:
            if body is not None:
                body.close(reuse=ended)
        return Received(flight.whole(data), flight.at, head.total, reply.tag)

    async def _receive(self, flight: Flight, reply: Reply, into: memoryview, *, keep: bool) -> None:
        """Fill ``into`` with the body; ``keep``: what came is good, should the rest not come."""
        body = reply.body
        assert body is not None, "a reply has data or a body"
        size, got = len(into), 0
        while got < size:
            count = await body.receive(into[got:] if got else into)
            if not count:
                raise ShortReply(f"the body ended after {got} of {size} bytes", status=reply.status)
            got += count
            flight.wired += count
            if keep:
                flight.got += count
        if reply.size is None and await body.receive(memoryview(bytearray(1))):
            flight.got = 0
            raise ShortReply("the body holds more than the head says", status=reply.status)

    async def _cut(self, flight: Flight, reply: Reply, head: Head) -> memoryview:
        """The asked part of a small object that came whole."""
        every = self.buffers.take(head.body)
        await self._receive(flight, reply, every, keep=False)
        room = flight.room()
        room[:] = every[head.skip : head.skip + head.at.size]
        return room

    def _endpoint(self, source: Source) -> Endpoint:
        """The endpoint of a source, and its gate, made at its first GET."""
        if source.endpoint is None:
            where = urlsplit(source.url)
            key = (source.profile.name, f"{where.scheme}://{where.netloc}")
            if key not in self._endpoints:
                self._endpoints[key] = Endpoint(source.profile)
            most = self.limits.in_flight_file or source.profile.in_flight_file
            source.gate = Gate(most)
            source.endpoint = self._endpoints[key]
        return source.endpoint

    def _record(self, flight: Flight, hop: int, why: str, unplanned: bool) -> GetRecord:
        at, asked = flight.at, flight.asked
        if at is not None:
            start, stop = at.start, at.stop
        else:
            start, stop = (-asked.size, 0)
        return GetRecord(
            hop,
            start,
            stop,
            why,
            flight.status,
            flight.attempts,
            flight.first_byte_s,
            self._now() - flight.begun,
            False,
            False,
            unplanned,
            flight.wired,
            flight.source.url,
        )


def _within(source: Source, at: ByteRange | Suffix) -> ByteRange | Suffix:
    """``at`` as a range of the object, where its size is known; nothing outside is ever asked."""
    size = source.size
    if size is None:
        return at
    if isinstance(at, Suffix):
        return ByteRange(max(0, size - at.size), size)
    if at.stop > size:
        raise BadRows(f"bytes {at} reach beyond the object's end at {size}", url=source.url, at=at)
    return at


def _pin(source: Source, tag: str, total: int) -> None:
    """Hold the source to the version that its first reply showed."""
    if source.pin is None:
        source.pin = tag
    if source.size is None:
        source.size = total


def _held(flight: Flight, reply: Reply, head: Head) -> memoryview:
    """The asked part of bytes that the store had at hand: a view of them where that will do."""
    data = reply.data
    if data is None or len(data) != head.body:
        count = 0 if data is None else len(data)
        raise ShortReply(f"got {count} of {head.body} bytes", status=reply.status)
    flight.wired += head.body
    part = data[head.skip : head.skip + head.at.size]
    if flight.own and not flight.got:
        return part
    room = flight.room()
    room[:] = part
    return room
