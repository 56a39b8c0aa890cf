"""What one unit of work holds: its share of the planned GETs, and the flights of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

import numpy as np

from rangeio.engine.budget import Ticket
from rangeio.engine.flights import Cause, Flight, Flights, Pinned, landed
from rangeio.engine.spans import Spans
from rangeio.errors import RequestError
from rangeio.ranges import ByteRange, Suffix, subtract
from rangeio.steps import Need
from rangeio.transport.trace import GetRecord

_NOTHING = memoryview(b"")

Held: TypeAlias = Sequence[tuple[ByteRange, memoryview]]
"""Blocks of the range cache that overlap one range, in order."""


class Planned:
    """One GET of a reader's plan: started by the first unit that wants it, kept for the last."""

    __slots__ = ("at", "flight", "left", "ticket")

    def __init__(self, at: ByteRange) -> None:
        self.at = at
        self.left = 0
        self.flight: Flight | None = None
        self.ticket: Ticket | None = None

    def done(self, flights: Flights) -> None:
        """One unit fewer needs it."""
        self.left -= 1
        if not self.left and self.flight is not None:
            assert self.ticket is not None
            flights.leave(self.flight, self.ticket)
            self.flight = None


class Lease:
    """Answers needs from held bytes, flights, the disk and new GETs, in this order, until released.

    ``planned``: the plan's GETs that hold bytes of this unit. ``copies``: hand out copies of
    views that are less than half of their buffer, because the decoded data will keep them.
    kept: bytes that the caller has, whatever the range cache keeps of them.
    """

    def __init__(
        self,
        flights: Flights,
        of: Pinned,
        ticket: Ticket,
        planned: Sequence[Planned] = (),
        *,
        copies: bool = False,
        kept: Held = (),
    ) -> None:
        self._flights = flights
        self._of = of
        self._ticket = ticket
        self._planned = planned
        self._copies = copies
        self._kept = kept
        self._mine: list[Flight] = []
        self._touched: list[Flight] = []
        self._running = False
        self._abandoned = False
        self.released = False

    def begin(self) -> None:
        """A decode now reads the bytes."""
        self._running = True

    def ended(self) -> None:
        """Nothing reads the bytes any more; they stay charged until handed on or abandoned."""
        self._running = False
        if self._abandoned:
            self.release()

    def abandon(self) -> None:
        """Release now, or as soon as the decode that still runs has ended."""
        self._abandoned = True
        if not self._running:
            self.release()

    async def fetch(self, asked: Need, cause: Cause) -> list[memoryview]:
        """The bytes of every range of ``asked``, in its order."""
        assert not self.released, "a lease that was given back holds nothing"
        if asked.of:  # answering from this object would be other bytes
            raise RequestError(f"{asked.why}: the neighbour object {asked.of!r} is not read yet")
        ranges = [self._exact(at) for at in asked.ranges]
        self._of.trace.need(sum(at.size for at in ranges))
        found = [self._held(at) for at in ranges]
        if self._flights.disk is not None and None in found:
            await self._flights.look(self._of)
            found = [self._held(at) for at in ranges]
        open_ = [at for at, view in zip(ranges, found, strict=True) if view is None]
        flights: list[Flight] = []
        if open_:
            # What is held in part now is kept by reference: it may be evicted while the rest flies.
            held = [self._near(at) for at in open_]
            flights = self._claim(open_, held, asked, cause)
            await landed(flights)
            spans = Spans[Flight].of((flight.at, flight) for flight in flights)
            built = iter([self._built(at, h, spans) for at, h in zip(open_, held, strict=True)])
            found = [next(built) if view is None else view for view in found]
        if ranges and not flights:
            self._answered(ranges, cause)
        return cast("list[memoryview]", found)

    def release(self) -> None:
        """Give everything back. Idempotent; views that are still referenced stay valid."""
        if self.released:
            return
        self.released = True
        for flight in self._touched:
            self._flights.untouch(flight, self._ticket)
        for flight in self._mine:
            self._flights.leave(flight, self._ticket)
        for get in self._planned:
            get.done(self._flights)
        self._mine = []

    def _answered(self, ranges: Sequence[ByteRange], cause: Cause) -> None:
        """Record a need that held bytes answered whole: no GET, no hop."""
        start, stop = min(r.start for r in ranges), max(r.stop for r in ranges)
        self._of.trace.add(GetRecord(0, start, stop, cause.why, 0, 0, cached=True))

    def _exact(self, at: ByteRange | Suffix) -> ByteRange:
        if isinstance(at, ByteRange):
            return at
        return ByteRange(max(self._of.size - at.size, 0), self._of.size)

    def _held(self, at: ByteRange) -> memoryview | None:
        if not at.size:
            return _NOTHING
        for have, data in self._kept:
            if have.covers(at):
                return data[at.start - have.start : at.stop - have.start]
        # What this very plan brought is not asked for twice because two units lie in one GET.
        mine = any(get.flight is not None and get.at.covers(at) for get in self._planned)
        return self._flights.cache.find(self._of.version, at, used=not mine)

    def _near(self, at: ByteRange) -> Held:
        """What is here of a range, as whole blocks, in order."""
        kept = [
            piece for piece in self._kept if piece[0].start < at.stop and at.start < piece[0].stop
        ]
        return kept or self._flights.cache.overlapping(self._of.version, at)

    def _claim(
        self, ranges: Sequence[ByteRange], held: Sequence[Held], asked: Need, cause: Cause
    ) -> list[Flight]:
        """Every flight that brings a byte of ``ranges``. No await: nobody can claim in between."""
        flights: dict[Flight, None] = {}
        planned = [
            one
            for one in self._planned
            if any(one.at.start < r.stop and r.start < one.at.stop for r in ranges)
        ]
        self._start([one for one in planned if one.flight is None], cause)
        for one in planned:
            flights[self._started(one)] = None
        parts: list[ByteRange] = []
        for at, pieces in zip(ranges, held, strict=True):
            here = [piece for piece, _ in pieces]
            for piece, flight in self._flights.overlapping(self._of.version, at):
                here.append(piece)
                if flight not in flights:
                    self._joined(flight, cause)
                    self._mine.append(self._flights.join(flight, self._ticket))
                    flights[flight] = None
            parts += subtract(at, sorted(here)) if here else (at,)
        stored, missing = self._flights.stored(self._of, parts)
        for get in [*stored, *self._flights.gets(self._of, missing, asked.gap)]:
            room = _room(get, ranges, held) if asked.span else 0
            flight = self._flights.start(
                self._of, get, self._ticket, cause, span=asked.span, room=room
            )
            self._mine.append(flight)
            flights[flight] = None
        return list(flights)

    def _joined(self, flight: Flight, cause: Cause) -> None:
        at = flight.at
        record = GetRecord(0, at.start, at.stop, cause.why, 0, 0, joined=True)
        self._of.trace.add(record)

    def _start(self, gets: Sequence[Planned], cause: Cause) -> None:
        """Start what nobody has started."""
        wanted = [get.at for get in gets]
        flights = self._flights.start_all(self._of, wanted, self._ticket, cause)
        for get, flight in zip(gets, flights, strict=True):
            get.flight, get.ticket = flight, self._ticket

    def _started(self, get: Planned) -> Flight:
        """The flight of a planned GET, with this ticket too."""
        assert get.flight is not None
        if get.ticket is not self._ticket:
            self._flights.touch(get.flight, self._ticket)
            self._touched.append(get.flight)
        return get.flight

    def _built(
        self,
        at: ByteRange,
        held: Held,
        spans: Spans[Flight],
    ) -> memoryview:
        """The bytes of one range, copied only where they came in more than one piece."""
        found = spans.covering(at)
        if found is not None:
            return self._own(found[1].view(at), found[1])
        # Rare, so slow and sure: a planned GET may reach over a flight that another reader began.
        for _, flight in spans:
            if flight.at.covers(at):
                return self._own(flight.view(at), flight)
        for _, flight in spans:
            whole = _completed(at, flight, held)
            if whole is not None:
                return whole
        pieces = [*held, *((f.at, f.view(f.at)) for _, f in spans)]
        return joined(at, sorted(pieces, key=lambda piece: piece[0].start))

    def _own(self, view: memoryview, flight: Flight) -> memoryview:
        if self._copies and 2 * len(view) < flight.at.size:
            return memoryview(bytes(view))
        return view


def _room(get: ByteRange, ranges: Sequence[ByteRange], held: Sequence[Held]) -> int:
    """Bytes that a GET leaves free, for what is held of the range that it is the head of."""
    for at, pieces in zip(ranges, held, strict=True):
        if get.start == at.start and get.stop < at.stop:
            tail = ByteRange(get.stop, at.stop)
            if any(have.covers(tail) for have, _ in pieces):
                return tail.size
    return 0


def _completed(at: ByteRange, flight: Flight, held: Held) -> memoryview | None:
    """The bytes of ``at``: those of the flight, and what is held put where it left room for it.

    None where it left too little: it may be another reader's, who wanted less.
    """
    tail = ByteRange(min(flight.at.stop, at.stop), at.stop)
    if flight.room is None or at.start < flight.at.start or len(flight.room) < tail.size:
        return None
    for have, data in held:
        if have.covers(tail):
            assert flight.data is not None
            first = tail.start - have.start
            flight.room[: tail.size] = data[first : first + tail.size]
            whole = memoryview(flight.data.obj)
            return whole[at.start - flight.at.start : at.stop - flight.at.start].toreadonly()
    return None


def joined(at: ByteRange, pieces: Sequence[tuple[ByteRange, memoryview]]) -> memoryview:
    """One buffer of the bytes of ``at``, from pieces that are sorted by start and cover it."""
    into = np.empty(at.size, np.uint8).data
    reached = at.start
    for have, data in pieces:
        stop = min(have.stop, at.stop)
        if have.start <= reached < stop:
            into[reached - at.start : stop - at.start] = data[
                reached - have.start : stop - have.start
            ]
            reached = stop
    assert reached == at.stop, f"{at} was claimed but not covered beyond {reached}"
    return into.toreadonly()
