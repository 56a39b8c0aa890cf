"""The real driver: one generator, advanced inline or in the pool, its needs awaited on the loop.

One owner advances a generator. A step that runs in the pool when its reader is cancelled is told
to drop: its own thread closes the generator (closing a running one from outside raises), and only
then, through the loop, are its bytes given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

from rangeio.steps import Need, Steps

T = TypeVar("T")
Fetch = Callable[[Need], Awaitable[Sequence[memoryview]]]


async def run(steps: Steps[T], fetch: Fetch, pool: Executor | None, done: Callable[[], None]) -> T:
    """Advance ``steps`` to its end; each step in ``pool``, or in place where that is None.

    ``done`` is called exactly once, on this loop, when nothing reads the fetched bytes any more:
    before this returns or raises, but after it where a cancelled step still runs in the pool.
    An error of ``fetch`` is thrown into the generator, so its traceback shows the asking line.
    """
    runner = _Runner(steps, pool)
    try:
        ended, value = await runner.step(None, None)
        while not ended:
            try:
                reply = await fetch(value)
            except Exception as error:
                ended, value = await runner.step(None, error)
            else:
                ended, value = await runner.step(reply, None)
        result: T = value
        return result
    finally:
        runner.finish(done)


class _Runner:
    __slots__ = ("_busy", "_pool", "_started", "_steps")

    def __init__(self, steps: Steps[Any], pool: Executor | None) -> None:
        self._steps = steps
        self._pool = pool
        self._busy: Future[tuple[bool, Any]] | None = None
        self._started = False

    async def step(
        self, reply: Sequence[memoryview] | None, error: Exception | None
    ) -> tuple[bool, Any]:
        """(whether it has ended, its result or its next need)."""
        # The first step only states the first need: no work worth a thread.
        if self._pool is None or not self._started:
            self._started = True
            return self._advance(reply, error)
        self._busy = self._pool.submit(self._advance, reply, error)
        value = await asyncio.wrap_future(self._busy)
        self._busy = None
        return value

    def finish(self, done: Callable[[], None]) -> None:
        """Close the generator, now or in the thread that runs it, then call ``done``."""
        busy = self._busy
        if busy is None or busy.cancel() or busy.done():
            self._steps.close()
            done()
            return
        loop = asyncio.get_running_loop()
        busy.add_done_callback(lambda _: self._dropped(loop, done))

    def _dropped(self, loop: asyncio.AbstractEventLoop, done: Callable[[], None]) -> None:
        """In the thread of the step that has just ended."""
        self._steps.close()
        try:
            loop.call_soon_threadsafe(done)
        except RuntimeError:
            # The loop ended while the step ran: nothing is left to give the bytes back to.
            return

    def _advance(
        self, reply: Sequence[memoryview] | None, error: Exception | None
    ) -> tuple[bool, Any]:
        try:
            if error is not None:
                return False, self._steps.throw(error)
            return False, self._steps.send(reply) if reply is not None else next(self._steps)
        except StopIteration as stop:
            return True, stop.value
