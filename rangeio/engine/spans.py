"""Things that each stand for one byte range of one object, found by position."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from rangeio.ranges import ByteRange

V = TypeVar("V")


class Spans(Generic[V]):
    """Ranges sorted by start, a value each; O(log n) to find.

    Ranges should be disjoint. Where two overlap all the same, ``overlapping`` may miss the
    earlier one, which costs a fetch and never a wrong byte.
    """

    __slots__ = ("_entries", "_starts")

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._entries: list[tuple[ByteRange, V]] = []

    @classmethod
    def of(cls, entries: Iterable[tuple[ByteRange, V]]) -> Spans[V]:
        """The spans of many entries at once: one sort."""
        spans: Spans[V] = cls()
        spans._entries = sorted(entries, key=lambda entry: entry[0].start)
        spans._starts = [at.start for at, _ in spans._entries]
        return spans

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[tuple[ByteRange, V]]:
        return iter(self._entries)

    def put(self, at: ByteRange, value: V) -> None:
        """Add a range."""
        i = bisect_right(self._starts, at.start)
        self._starts.insert(i, at.start)
        self._entries.insert(i, (at, value))

    def remove(self, at: ByteRange, value: V) -> None:
        """Take out the entry of this very value, if it is there."""
        i = bisect_left(self._starts, at.start)
        while i < len(self._starts) and self._starts[i] == at.start:
            if self._entries[i][1] is value:
                del self._starts[i], self._entries[i]
                return
            i += 1

    def covering(self, at: ByteRange) -> tuple[ByteRange, V] | None:
        """An entry that holds all of ``at``."""
        i = bisect_right(self._starts, at.start) - 1
        if i >= 0 and self._entries[i][0].stop >= at.stop:
            return self._entries[i]
        return None

    def overlapping(self, at: ByteRange) -> list[tuple[ByteRange, V]]:
        """Entries that share a byte with ``at``, in order."""
        lo = max(bisect_right(self._starts, at.start) - 1, 0)
        hi = bisect_left(self._starts, at.stop)
        return [e for e in self._entries[lo:hi] if e[0].stop > at.start]
