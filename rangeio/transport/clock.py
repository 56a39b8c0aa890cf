"""Time, as the transport sees it; tests bring a clock of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that was put off."""

    def cancel(self) -> None:
        """Forget it; does nothing once it ran."""
        ...


class Clock(Protocol):
    """Monotonic seconds, and ways to wait for them on the running loop."""

    def now(self) -> float:
        """Seconds since some fixed moment."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Come back no earlier than ``seconds`` from now."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call ``callback`` on the running loop, ``seconds`` from now."""
        ...


class LoopClock:
    """The real clock."""

    now = staticmethod(time.monotonic)

    async def sleep(self, seconds: float) -> None:
        """Come back no earlier than ``seconds`` from now."""
        await asyncio.sleep(seconds)

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call ``callback`` on the running loop, ``seconds`` from now."""
        return asyncio.get_running_loop().call_later(seconds, callback)
