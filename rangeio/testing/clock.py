"""A clock that tests turn by hand, or that turns itself where all wait for it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

_SETTLE = 20
"""Turns of the loop without news after which all tasks are taken to be waiting."""


@dataclass(slots=True, order=True)
class _Timer:
    due: float
    order: int
    callback: Callable[[], object] = field(compare=False)
    live: bool = field(default=True, compare=False)

    def cancel(self) -> None:
        """Forget it."""
        self.live = False


class ManualClock:
    """Time that passes only when it is told to.

    auto: once the loop has nothing else to do, jump to where the next sleeper wakes; timers that
    fall due on the way run first, in order. Timers alone never move the time, so a deadline does
    not pass by itself while a real socket is awaited.
    """

    def __init__(self, *, auto: bool = True) -> None:
        self._now = 0.0
        self._auto = auto
        self._order = itertools.count()
        self._timers: list[_Timer] = []
        self._sleepers: list[float] = []
        self._settling = False
        self.slept: list[float] = []

    def now(self) -> float:
        """Seconds since the clock was made."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Come back when the clock reached that moment; ``slept`` keeps what was asked."""
        self.slept.append(seconds)
        awake: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        due = self._now + max(0.0, seconds)
        self.call_later(seconds, lambda: _wake(awake))
        self._sleepers.append(due)
        if self._auto and not self._settling:
            self._settling = True
            asyncio.get_running_loop().call_soon(self._settle, _SETTLE, next(self._order))
        try:
            await awake
        finally:
            self._sleepers.remove(due)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> _Timer:
        """Call ``callback`` when the clock reached that moment."""
        timer = _Timer(self._now + max(0.0, seconds), next(self._order), callback)
        heapq.heappush(self._timers, timer)
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass; runs what falls due, in order, each at its own moment."""
        self._advance_to(self._now + seconds)

    def _advance_to(self, moment: float) -> None:
        while self._timers and self._timers[0].due <= moment:
            timer = heapq.heappop(self._timers)
            self._now = max(self._now, timer.due)
            if timer.live:
                timer.callback()
        self._now = max(self._now, moment)

    def _settle(self, turns: int, seen: int) -> None:
        """Wait until ``turns`` turns of the loop set no timer, then jump to the next sleeper."""
        if not self._sleepers:
            self._settling = False
            return
        latest = next(self._order)
        if latest != seen + 1:
            turns = _SETTLE
        elif not turns:
            self._step()
            turns = _SETTLE
        loop = asyncio.get_running_loop()
        loop.call_soon(self._settle, turns - 1 if turns else 0, latest)

    def _step(self) -> None:
        """Run the earliest timer; only a sleeper ahead lets time pass at all."""
        limit = min(self._sleepers)
        while self._timers and not self._timers[0].live:
            heapq.heappop(self._timers)
        if self._timers and self._timers[0].due < limit:
            self._advance_to(self._timers[0].due)
        else:
            self._advance_to(limit)


def _wake(sleeper: asyncio.Future[None]) -> None:
    if not sleeper.done():
        sleeper.set_result(None)
