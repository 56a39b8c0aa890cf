"""The budget of bytes in flight, and who may overdraw it.

Each reader's oldest unfinished unit (its head) may overdraw; all others queue first in, first
out. The rule is per reader: a consumer that zips two scans would hang under one head for all.
Two weaker rules were tried and hang: "a larger need runs alone" (units that hold the bytes of
their first hop wait for the second) and shared pages charged here without a head of their own.
Everything here runs on one loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field


class Lane:
    """One reader: ``head`` is its oldest unfinished unit. ``always``: every unit is a head."""

    __slots__ = ("always", "head")

    def __init__(self, *, always: bool = False) -> None:
        self.head = 0
        self.always = always


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """Unit ``index`` of a lane: what a flight carries for each of its users."""

    lane: Lane
    index: int = 0

    @property
    def is_head(self) -> bool:
        """Whether its reader waits for this unit before all others."""
        return self.lane.always or self.lane.head == self.index


@dataclass(slots=True, eq=False)
class _Waiting:
    size: int
    tickets: dict[Ticket, int]
    granted: asyncio.Future[None] = field(repr=False)

    @property
    def is_head(self) -> bool:
        return any(t.is_head for t in self.tickets)


class Budget:
    """At most ``capacity`` bytes charged at once, heads apart."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.used = 0
        self.peak = 0
        self._queue: deque[_Waiting] = deque()

    @property
    def waiting(self) -> int:
        """How many charges wait."""
        return len(self._queue)

    async def acquire(self, size: int, tickets: dict[Ticket, int]) -> None:
        """Charge ``size`` bytes, waiting for room unless a ticket is a head.

        ``tickets`` is the flight's own live mapping: a head that joins later lets it through.
        """
        if self.charge_now(size, tickets):
            return
        one = _Waiting(size, tickets, asyncio.get_running_loop().create_future())
        self._queue.append(one)
        try:
            await one.granted
        except asyncio.CancelledError:
            if one.granted.done() and not one.granted.cancelled():
                self.release(size)
            elif one in self._queue:
                self._queue.remove(one)
            self.pump()
            raise

    def charge_now(self, size: int, tickets: Iterable[Ticket]) -> bool:
        """Charge ``size`` bytes where nothing has to wait for it; whether it was done."""
        free = (not self._queue and self._fits(size)) or any(t.is_head for t in tickets)
        if free:
            self._charge(size)
        return free

    def release(self, size: int) -> None:
        """Give back what was charged."""
        self.used -= size
        self.pump()

    def pump(self) -> None:
        """Grant what may go now: in order as far as there is room, and heads out of order."""
        if not self._queue:
            return
        kept: deque[_Waiting] = deque()
        blocked = False
        for one in self._queue:
            if one.granted.done():
                continue
            if one.is_head or (not blocked and self._fits(one.size)):
                self._charge(one.size)
                one.granted.set_result(None)
            else:
                blocked = True
                kept.append(one)
        self._queue = kept

    def _fits(self, size: int) -> bool:
        return self.used + size <= self.capacity

    def _charge(self, size: int) -> None:
        self.used += size
        self.peak = max(self.peak, self.used)
