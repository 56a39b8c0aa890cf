"""What ranges are there, and which of them together hold another."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from rangeio.ranges import ByteRange


class Cover:
    """Ranges that may overlap, none of which lies within another; O(log n) to find."""

    __slots__ = ("_ranges", "_starts")

    def __init__(self, ranges: Iterable[ByteRange] = ()) -> None:
        self._ranges: list[ByteRange] = []
        # Of those that begin together the longest comes first, and hides the others.
        for at in sorted(ranges, key=lambda at: (at.start, -at.stop)):
            if at.size and (not self._ranges or at.stop > self._ranges[-1].stop):
                self._ranges.append(at)
        self._starts = [at.start for at in self._ranges]

    def __len__(self) -> int:
        return len(self._ranges)

    def add(self, at: ByteRange) -> None:
        """Add a range; those within it go."""
        if not at.size or self._around(at) is not None:
            return
        lo = bisect_left(self._starts, at.start)
        hi = lo
        while hi < len(self._ranges) and self._ranges[hi].stop <= at.stop:
            hi += 1
        self._ranges[lo:hi], self._starts[lo:hi] = [at], [at.start]

    def drop(self, at: ByteRange) -> None:
        """Take one out, if it is there."""
        i = bisect_left(self._starts, at.start)
        if i < len(self._ranges) and self._ranges[i] == at:
            del self._ranges[i], self._starts[i]

    def overlapping(self, at: ByteRange) -> list[ByteRange]:
        """Those that share a byte with ``at``, in order."""
        i = max(bisect_right(self._starts, at.start) - 1, 0)
        # Their ends ascend like their starts, but the one before may still reach into it.
        while i and self._ranges[i - 1].stop > at.start:
            i -= 1
        hi = bisect_left(self._starts, at.stop)
        return [one for one in self._ranges[i:hi] if one.stop > at.start]

    def pieces(self, at: ByteRange) -> list[tuple[ByteRange, ByteRange]] | None:
        """The ranges that together hold ``at``, each with its part of it; None where a byte is
        missing. As few as can be."""
        found: list[tuple[ByteRange, ByteRange]] = []
        reached = at.start
        while reached < at.stop:
            i = bisect_right(self._starts, reached) - 1
            if i < 0 or self._ranges[i].stop <= reached:
                return None
            stop = min(self._ranges[i].stop, at.stop)
            found.append((self._ranges[i], ByteRange(reached, stop)))
            reached = stop
        return found

    def _around(self, at: ByteRange) -> ByteRange | None:
        i = bisect_right(self._starts, at.start) - 1
        return self._ranges[i] if i >= 0 and self._ranges[i].stop >= at.stop else None
