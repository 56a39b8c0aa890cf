"""A plan over bytes at hand, carried out without a loop: each unit reads its bytes and decodes them
on one thread, several units on several threads where they are large."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from rangeio.engine.batches import Prepared, assembled
from rangeio.engine.drive import drive
from rangeio.engine.flights import Hop, located
from rangeio.engine.hand import Hand, Held
from rangeio.engine.spans import Spans
from rangeio.plan import DecodeUnit, Piece
from rangeio.ranges import ByteRange
from rangeio.schema import ColumnId
from rangeio.steps import Need, Steps
from rangeio.transport.source import Received

SMALL = 4 << 20
"""Bytes of a plan that are not worth a second thread."""


def table(read: Prepared, held: Held, *, most: int) -> pa.Table:
    """All rows of a plan as one table. Raises NotAtHand.

    held: the blocks of the file that are here already. most: bytes that units under way may have
    in memory together, where there is more than one.
    """
    units = read.plan.units
    with located(read.handle.of):
        carried = _Carried(read, held)
        pieces: dict[ColumnId, list[Piece]] = {}
        for unit, data in zip(units, carried.all(_threads(units, most)), strict=True):
            pieces.setdefault(unit.column, []).append(Piece(unit.rows, data))
        return assembled(read, read.rows, pieces)


def _threads(units: Sequence[DecodeUnit], most: int) -> int:
    """How many units of a large plan are decoded at once."""
    largest = max((sum(at.size for at in unit.ranges) for unit in units), default=0)
    return max(1, min(os.cpu_count() or 1, len(units), most // max(largest, 1)))


def _first(steps: Steps[object]) -> Need | StopIteration:
    """The first need of some steps, or their end: a page of one value has nothing to read."""
    try:
        return next(steps)
    except StopIteration as end:
        return end


class _Get:
    """One GET of the plan: made for the first unit that wants it, let go after the last."""

    __slots__ = ("at", "data", "left", "lock")

    def __init__(self, at: ByteRange) -> None:
        self.at = at
        self.left = 0
        self.data: Received | None = None
        self.lock = threading.Lock()


class _Carried:
    """One plan on its way: its GETs, what units share, and one hop for each depth of needs."""

    def __init__(self, read: Prepared, held: Held) -> None:
        plan = read.plan
        self._read = read
        self._held = held.copy()
        self._alone = True
        wants = [at for unit in plan.units for at in unit.ranges]
        wants += [at for one in plan.shared for at in one.ranges]
        gets = held.missing(wants)
        self.size = sum(at.size for at in gets)
        self._gets = Spans[_Get].of((at, _Get(at)) for at in gets)
        for ranges in [one.ranges for one in plan.units] + [one.ranges for one in plan.shared]:
            for get in self._near(ranges):
                get.left += 1
        self._shares = {one.key: one for one in plan.shared}
        self._values: dict[Hashable, object] = {}
        self._hops: list[Hop] = []
        self._lock = threading.Lock()

    def all(self, threads: int) -> Iterator[object]:
        """The data of every unit, in order; ``threads``: for large ones."""
        units = self._read.plan.units
        for key in dict.fromkeys(key for unit in units for key in unit.uses):
            self._values[key] = self._shared(key)
        if self.size <= SMALL or len(units) < 2:
            yield from self._one_by_one(units)
            return
        self._alone = False
        pool = ThreadPoolExecutor(threads, "rangeio-decode")
        try:
            yield from pool.map(lambda unit: self._ended(unit, self._steps(unit)), units)
        finally:
            pool.shutdown(cancel_futures=True)

    def _one_by_one(self, units: Sequence[DecodeUnit]) -> Iterator[object]:
        """The units, decoded after the plan's GETs are made: what a later hop asks for may be in
        one of them."""
        begun = [(unit, self._steps(unit)) for unit in units]
        asked = [_first(steps) for _, steps in begun]
        hand = Hand(self._read.handle.of, self._held)
        for (unit, _), first in zip(begun, asked, strict=True):
            if isinstance(first, Need):
                self._hold(hand, unit.ranges, first.why)
        for (unit, steps), first in zip(begun, asked, strict=True):
            yield self._ended(unit, steps, first) if isinstance(first, Need) else first.value

    def _steps(self, unit: DecodeUnit) -> Steps[object]:
        shared = {key: self._values[key] for key in unit.uses}
        return self._read.handle.format.decode(unit, self._read.metas, shared)

    def _ended(self, unit: DecodeUnit, steps: Steps[object], asked: Need | None = None) -> object:
        """The data of a unit."""
        try:
            return drive(steps, self._fetcher(unit.ranges, copies=unit.borrows), asked)
        finally:
            self._done(unit.ranges)

    def _shared(self, key: Hashable) -> object:
        one = self._shares[key]
        steps = self._read.handle.format.load(one, self._read.metas)
        try:
            return drive(steps, self._fetcher(one.ranges, copies=True))[0]
        finally:
            self._done(one.ranges)

    def _fetcher(
        self, ranges: Sequence[ByteRange], *, copies: bool
    ) -> Callable[[Need], Sequence[memoryview]]:
        """What answers the needs of one unit: the first with the plan's GETs."""
        # Alone, units find what the others have read; at once, each holds its own.
        held = self._held if self._alone else self._held.copy()
        hand = Hand(self._read.handle.of, held)
        depth = 0

        def fetch(asked: Need) -> Sequence[memoryview]:
            nonlocal depth
            hop, planned = self._hop(depth), False
            if not depth:
                assert asked.ranges == tuple(ranges), f"{asked.why}: not what was planned"
                planned = self._hold(hand, ranges, asked.why)
            depth += 1
            self._read.handle.of.data.add(asked.why)
            return hand.fetch(asked, hop, copies=copies, planned=planned)

        return fetch

    def _hold(self, hand: Hand, ranges: Sequence[ByteRange], why: str) -> bool:
        """Hold the plan's GETs that bring some of ``ranges``; whether there are any."""
        made = self._made(hand, ranges, why, self._hop(0))
        hand.held.put([one for one in made if hand.held.find(one.at) is None])
        return bool(made)

    def _made(self, hand: Hand, ranges: Sequence[ByteRange], why: str, hop: Hop) -> list[Received]:
        """The bytes of the GETs that bring some of ``ranges``; those that nobody has made are made
        together."""
        near = self._near(ranges)
        if all(get.left == 1 and get.data is None for get in near):  # nobody else asks for them
            found = hand.read([get.at for get in near], why, hop) if near else []
            for get, data in zip(near, found, strict=True):
                get.data = data
            return found
        found = []
        for get in near:
            with get.lock:
                if get.data is None:
                    (get.data,) = hand.read([get.at], why, hop)
                found.append(get.data)
        return found

    def _near(self, ranges: Sequence[ByteRange]) -> list[_Get]:
        near = (get for want in ranges for _, get in self._gets.overlapping(want))
        return list(dict.fromkeys(near))

    def _done(self, ranges: Sequence[ByteRange]) -> None:
        for get in self._near(ranges):
            with get.lock:
                get.left -= 1
                if not get.left:
                    get.data = None

    def _hop(self, depth: int) -> Hop:
        with self._lock:
            while len(self._hops) <= depth:
                self._hops.append(self._read.handle.of.hop())
            return self._hops[depth]
