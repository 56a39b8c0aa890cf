"""How many may be in flight at once: first in, first out."""

from __future__ import annotations

import asyncio
from collections import deque


class Gate:
    """Lets at most :attr:`limit` in at a time, in the order in which they came.

    The limit may be moved while some are inside; who is inside stays. One loop only.
    """

    __slots__ = ("_queue", "held", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    def enter_now(self) -> bool:
        """Go in where nobody has to wait; says whether that was so."""
        if self.held >= self.limit or self._queue:
            return False
        self.held += 1
        return True

    async def enter(self) -> None:
        """Wait for a place. A cancelled wait takes none."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        # Who gave up in the queue may be all that stood before us.
        self.admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place back."""
        self.held -= 1
        if self._queue:
            self.admit()

    def admit(self) -> None:
        """Let in who may go in now: after the limit was moved."""
        while self._queue and self.held < self.limit:
            turn = self._queue.popleft()
            if not turn.done():
                self.held += 1
                turn.set_result(None)
