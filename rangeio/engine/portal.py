"""One loop thread a process: all fetching lives there, callers of any kind await through it.

It works inside a notebook's running loop, because it never touches the caller's loop, and after a
fork, because the child makes a portal of its own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Portal:
    """A thread that runs an event loop. Made on first use, a daemon, never crosses a fork."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="rangeio-portal", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start ``work`` on the loop; cancelling the future cancels it there."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the loop and wait for it. Not callable from the portal's own thread."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call on the portal's own thread would never return")
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            # An interrupt of the waiting thread must not leave the work running.
            future.cancel()
            raise

    def finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Run clean-up and wait for it; on the portal's own thread, where a collected object may
        end, only start it."""
        if threading.current_thread() is self._thread:
            self.loop.create_task(work)
        else:
            self.run(work)

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the loop and await it from another loop."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        return await asyncio.wrap_future(self.submit(work))

    def stop(self) -> None:
        """End the thread; for tests, and for the end of the process."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self.loop.close()


_lock = threading.Lock()
_portal: Portal | None = None


def portal() -> Portal:
    """The process's portal, made on first use; a forked child makes its own."""
    global _portal
    with _lock:
        if _portal is None:
            _portal = Portal()
        return _portal


def _after_fork() -> None:
    """In the child: the parent's thread is not here, and it may have held the lock."""
    global _portal, _lock
    _portal, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
