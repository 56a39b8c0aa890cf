"""GETs in the air: who waits for each, what it charges, and when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rangeio.engine.budget import Budget, Ticket
from rangeio.engine.disk.tier import DiskTier
from rangeio.engine.held import RangeCache
from rangeio.engine.spans import Spans
from rangeio.errors import RangeIOError
from rangeio.ranges import ByteRange, CostModel, gets, split, subtract
from rangeio.transport.trace import GetRecord, Trace
from rangeio.transport.transport import Received, Source, Transport

_AT_HAND = 256 << 10  # bytes that are read on the loop, where a store has them at hand


@dataclass(frozen=True, slots=True)
class Pinned:
    """One version of one object, and what every GET of it needs to know.

    version: the key of all caches; two handles share it only if their version tags say so.
    hops: the handle's own count of hops. cost: the store's cost model, as it was when the handle
    was opened: what is learnt meanwhile moves no plan that was explained. data: why pages were
    fetched so far, to tell their GETs from those of metadata.
    """

    source: Source
    version: Hashable
    trace: Trace
    hops: Iterator[int]
    cost: CostModel
    deadline: float | None = None
    data: set[str] = field(default_factory=set)

    def hop(self) -> Hop:
        """A hop that comes after all that were drawn."""
        return Hop(self.hops)

    @property
    def size(self) -> int:
        """Size of the object in bytes."""
        assert self.source.size is not None
        return self.source.size


class Hop:
    """One hop of one handle; its number is drawn when the first GET of it is made, so that hops
    which cost nothing are not counted."""

    __slots__ = ("_counter", "_number")

    def __init__(self, counter: Iterator[int]) -> None:
        self._counter = counter
        self._number = 0

    @property
    def number(self) -> int:
        """1 for the handle's first hop that made a GET."""
        if not self._number:
            self._number = next(self._counter)
        return self._number


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a GET is made, for the trace."""

    why: str
    hop: Hop
    unplanned: bool = False


class Flight:
    """One coalesced GET (or several parts of one span), shared by all who want bytes of it.

    It ends with ``data`` or with ``error``, which every user raises. ``room``: bytes after ``data``
    in the same buffer, for who holds what follows and wants both as one.
    """

    __slots__ = (
        "at",
        "charged",
        "data",
        "error",
        "room",
        "task",
        "tickets",
        "users",
        "version",
        "watchers",
    )

    def __init__(self, version: Hashable, at: ByteRange) -> None:
        self.version = version
        self.at = at
        self.users = 0
        self.tickets: dict[Ticket, int] = {}
        self.charged = 0
        self.data: memoryview | None = None
        self.room: memoryview | None = None
        self.error: BaseException | None = None
        self.watchers: list[Callable[[Flight], None]] = []
        self.task: asyncio.Task[None]

    @property
    def ended(self) -> bool:
        """Whether it has landed or failed."""
        return self.data is not None or self.error is not None

    def view(self, at: ByteRange) -> memoryview:
        """The bytes of a part of it, once landed."""
        assert self.data is not None
        return self.data[at.start - self.at.start : at.stop - self.at.start]


async def landed(flights: Iterable[Flight]) -> None:
    """Wait for all; raise the error of one that failed, at once. One wake-up for all of them."""
    pending = [flight for flight in flights if not flight.ended]
    if pending:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        left = len(pending)

        def ended(flight: Flight) -> None:
            nonlocal left
            left -= 1
            if (not left or flight.error is not None) and not waiter.done():
                waiter.set_result(None)

        for flight in pending:
            flight.watchers.append(ended)
        await waiter
    for flight in flights:
        if flight.error is not None:
            raise flight.error


class Flights:
    """The scheduler's air space: identical and overlapping needs of concurrent readers share
    flights; an error reaches every joiner and is not kept. Lives on one loop."""

    def __init__(
        self,
        transport: Transport,
        budget: Budget,
        cache: RangeCache,
        disk: DiskTier | None = None,
    ) -> None:
        self.transport = transport
        self.budget = budget
        self.cache = cache
        self.disk = disk
        self._air: dict[Hashable, Spans[Flight]] = {}

    @property
    def in_air(self) -> int:
        """Flights that someone still uses."""
        return sum(len(s) for s in self._air.values())

    def overlapping(self, version: Hashable, at: ByteRange) -> list[tuple[ByteRange, Flight]]:
        """Flights that will bring a byte of ``at``."""
        spans = self._air.get(version)
        return spans.overlapping(at) if spans is not None else []

    async def look(self, of: Pinned) -> None:
        """Know what the disk has of an object, before it is decided what to fetch."""
        if self.disk is not None:
            await self.disk.look(of.version, of.source)

    def missing(self, of: Pinned, wants: Sequence[ByteRange]) -> list[ByteRange]:
        """The GETs that would bring what is neither held nor in flight nor on disk: :meth:`gets`
        of it, so that what ``explain`` shows is what the scheduler does."""
        parts: list[ByteRange] = []
        for want in wants:
            if want.size and self.cache.find(of.version, want) is None:
                parts += subtract(want, self._here(of.version, want))
        return self.gets(of, parts)

    def gets(
        self, of: Pinned, parts: Sequence[ByteRange], gap: int | None = None
    ) -> list[ByteRange]:
        """Coalesce missing ``parts``. What is here or on disk is not even read as a gap.

        gap: read through no wider one than this.
        """
        return gets(parts, of.cost.coalescing, gap, partial(self._here, of.version))

    def stored(
        self, of: Pinned, parts: Sequence[ByteRange]
    ) -> tuple[list[ByteRange], list[ByteRange]]:
        """What to read from the disk for ``parts`` that are neither held nor in flight, and the
        parts that are missing there."""
        if self.disk is None:
            return [], list(parts)
        return self.disk.sorted_out(of.version, parts, partial(self._near, of.version))

    def _here(self, version: Hashable, want: ByteRange) -> list[ByteRange]:
        """What is held, in flight or on disk of a range, sorted."""
        near = self._near(version, want)
        stored = self.disk.overlapping(version, want) if self.disk is not None else []
        return sorted(near + stored) if stored else near

    def _near(self, version: Hashable, want: ByteRange) -> list[ByteRange]:
        """What is held or in flight of a range, sorted."""
        held = [at for at, _ in self.cache.overlapping(version, want)]
        flying = [at for at, _ in self.overlapping(version, want)]
        return sorted(held + flying) if flying else held

    def start(
        self,
        of: Pinned,
        at: ByteRange,
        ticket: Ticket,
        cause: Cause,
        *,
        span: int | None = None,
        room: int = 0,
    ) -> Flight:
        """Put one GET in the air, or join the one that covers it, as a user with ``ticket``.

        span: bytes that one request may move, where that is less than the store's own limit. room:
        bytes of the buffer that the flight leaves free after its own.
        """
        spans = self._air.setdefault(of.version, Spans())
        found = spans.covering(at)
        if found is not None:
            return self.join(found[1], ticket)
        flight = Flight(of.version, at)
        spans.put(at, flight)
        self.join(flight, ticket)
        flight.task = asyncio.get_running_loop().create_task(
            self._fly(of, flight, cause, span, room)
        )
        return flight

    def start_all(
        self, of: Pinned, gets: Sequence[ByteRange], ticket: Ticket, cause: Cause
    ) -> list[Flight]:
        """:meth:`start` of many; where the store has a few bytes at hand, they have landed."""
        found = self._at_hand(of, gets, ticket, cause)
        return found or [self.start(of, at, ticket, cause) for at in gets]

    def _at_hand(
        self, of: Pinned, gets: Sequence[ByteRange], ticket: Ticket, cause: Cause
    ) -> list[Flight]:
        """Flights that need no task of their own; none where one of them would have to wait."""
        spans = self._air.setdefault(of.version, Spans())
        size = sum(at.size for at in gets)
        if len(gets) < 2 or size > _AT_HAND or any(spans.covering(at) for at in gets):
            return []
        if not self.budget.charge_now(size, [ticket]):
            return []
        views = self.transport.at_hand(
            of.source, gets, why=cause.why, hop=cause.hop.number, trace=of.trace
        )
        if views is None:
            self.budget.release(size)
            return []
        flights = [Flight(of.version, at) for at in gets]
        for flight, data in zip(flights, views, strict=True):
            flight.data, flight.charged = data, flight.at.size
            spans.put(flight.at, flight)
            self.join(flight, ticket)
            self.cache.put(of.version, flight.at, data)
        return flights

    def join(self, flight: Flight, ticket: Ticket) -> Flight:
        """Become a user; a head that joins may let a queued flight through."""
        flight.users += 1
        self.touch(flight, ticket)
        return flight

    def touch(self, flight: Flight, ticket: Ticket) -> None:
        """Add a ticket without becoming a user."""
        flight.tickets[ticket] = flight.tickets.get(ticket, 0) + 1
        if not flight.charged:
            self.budget.pump()

    def untouch(self, flight: Flight, ticket: Ticket) -> None:
        """Take a ticket back."""
        left = flight.tickets.get(ticket, 0) - 1
        if left > 0:
            flight.tickets[ticket] = left
        else:
            flight.tickets.pop(ticket, None)

    def leave(self, flight: Flight, ticket: Ticket) -> None:
        """Stop using it; the last to leave ends the GET and gives the charge back."""
        flight.users -= 1
        self.untouch(flight, ticket)
        if flight.users:
            return
        if not flight.ended:
            flight.task.cancel()
        self._drop(flight)
        flight.data = None

    async def _fly(
        self, of: Pinned, flight: Flight, cause: Cause, span: int | None, room: int
    ) -> None:
        try:
            await self.budget.acquire(flight.at.size, flight.tickets)
            flight.charged = flight.at.size
            buffer = await self._recalled(of, flight.at, cause, room)
            if buffer is None:
                buffer = await self._fetch(of, flight.at, cause, span, room)
            if room:
                flight.room = buffer[flight.at.size :]
            flight.data = buffer[: flight.at.size] if room else buffer
            self.cache.put(of.version, flight.at, flight.data)
        except BaseException as error:
            # Kept for the users, not raised: nobody awaits the task itself.
            flight.error = error
            self._drop(flight)
        for tell in flight.watchers:
            tell(flight)

    async def _recalled(
        self, of: Pinned, at: ByteRange, cause: Cause, room: int
    ) -> memoryview | None:
        """The bytes from the disk; None where it has not all of them, and a GET must be made."""
        if self.disk is None or not self.disk.covers(of.version, at):
            return None
        begun = time.monotonic()
        found = await self.disk.read(of.version, at, room)
        if found is not None:
            head = (0, at.start, at.stop, cause.why, 0, 0, 0.0, time.monotonic() - begun)
            of.trace.add(GetRecord(*head, cached=True, disk=True))
        return found

    async def _fetch(
        self, of: Pinned, at: ByteRange, cause: Cause, span: int | None, room: int
    ) -> memoryview:
        limit = of.cost.coalescing.span
        span = limit if span is None else min(span, limit)
        if at.size <= span and not room:
            return (await self._get(of, at, None, cause)).data
        buffer = self.transport.buffers.take(at.size + room)
        await all_of(
            self._get(of, part, buffer[part.start - at.start : part.stop - at.start], cause)
            for part in split(at, span)
        )
        return buffer

    async def _get(
        self, of: Pinned, at: ByteRange, into: memoryview | None, cause: Cause
    ) -> Received:
        received = await self.transport.get(
            of.source,
            at,
            into=into,
            why=cause.why,
            hop=cause.hop.number,
            trace=of.trace,
            deadline=of.deadline,
            unplanned=cause.unplanned,
        )
        if self.disk is not None:
            self.disk.keep(of.version, received.at, received.data)
        return received

    def _drop(self, flight: Flight) -> None:
        spans = self._air.get(flight.version)
        if spans is not None:
            spans.remove(flight.at, flight)
            if not len(spans):
                del self._air[flight.version]
        if flight.charged:
            charged, flight.charged = flight.charged, 0
            self.budget.release(charged)


@contextmanager
def located(of: Pinned) -> Iterator[None]:
    """Let errors that leave say which file they are about."""
    try:
        yield
    except RangeIOError as error:
        error.located(of.source.url)
        raise


async def all_of(work: Iterable[Coroutine[Any, Any, Any]]) -> None:
    """Await all; where one fails, end the others and raise its error, not a group of errors."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
