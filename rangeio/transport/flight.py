"""One range on its way: what was asked, what came, and until when it may take."""

from __future__ import annotations

import asyncio

from rangeio.errors import TimedOut
from rangeio.ranges import ByteRange, Suffix
from rangeio.transport.buffers import Buffers
from rangeio.transport.source import Source

NEVER = float("inf")


class Flight:
    """The state of one range over all its attempts; mutable, of one task.

    at: absolute once a head came. buffer: where the bytes go, None until their number is known;
    the first ``got`` of it are good. due: the moment at which ``reason`` has come true, ``end`` is
    that of all attempts. mark: ``got`` when the body's window began, -1 before the body.
    """

    __slots__ = (
        "_buffers",
        "_cancelling",
        "_task",
        "asked",
        "at",
        "attempts",
        "begun",
        "buffer",
        "due",
        "end",
        "first_byte_s",
        "got",
        "headed",
        "late",
        "mark",
        "own",
        "reason",
        "source",
        "status",
        "wired",
    )

    def __init__(
        self,
        source: Source,
        at: ByteRange | Suffix,
        into: memoryview | None,
        begun: float,
        end: float,
        buffers: Buffers,
    ) -> None:
        self._buffers = buffers
        self.source = source
        self.asked: ByteRange | Suffix = at
        self.at: ByteRange | None = at if isinstance(at, ByteRange) else None
        self.buffer = into
        self.own = into is None
        self.got = 0
        self.wired = 0
        self.attempts = 0
        self.status = 0
        self.first_byte_s = 0.0
        self.headed = begun
        self.begun = begun
        self.end = end
        self.due = end
        self.mark = -1
        self.late = False
        self.reason = ""
        task = asyncio.current_task()
        assert task is not None, "a range is fetched by a task"
        self._task = task
        self._cancelling = task.cancelling()

    def left(self) -> ByteRange | Suffix:
        """What is still to be asked for: only what is missing, where a strong tag holds the parts
        together, else all of it again."""
        at = self.at
        if at is None:
            return self.asked
        if not self.got:
            return at
        if self.source.consistency != "strong":
            self.got = 0
            return at
        return ByteRange(at.start + self.got, at.stop)

    def room(self) -> memoryview:
        """Where the bytes go that are still missing; made here if the caller brought no buffer."""
        if self.buffer is None:
            assert self.at is not None, "a buffer is made for a known number of bytes"
            self.buffer = self._buffers.take(self.at.size)
        return self.buffer[self.got :] if self.got else self.buffer

    def whole(self, last: memoryview) -> memoryview:
        """All bytes, ``last`` being those that came last; read-only in a buffer of our own."""
        data = last if self.buffer is None else self.buffer
        return data.toreadonly() if self.own else data

    def allow(self, due: float, reason: str) -> None:
        """Begin a phase that may take until ``due``, or to the end if that is sooner."""
        self.mark = -1
        self.reason = reason
        self.due = min(self.end, due)

    def expire(self) -> None:
        """Interrupt the task: its time is over."""
        self.late = True
        self._task.cancel()

    def timed_out(self, now: float) -> TimedOut | None:
        """The error of an interrupted wait; None where somebody else cancelled the task, too."""
        if self._task.uncancel() > self._cancelling:
            return None
        self.late = False
        over = now >= self.end
        error = TimedOut("the deadline passed" if over else self.reason, status=self.status)
        error.transient = not over
        return error
