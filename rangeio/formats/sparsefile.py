"""A random-access file over held ranges, for decoders that want a file (Arrow's C++ readers).

It raises on a read outside what is held; the engine then fetches what was missed and the decoder
runs again. A mapping with holes would not do: a hole decodes to zeros without an error.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rangeio.errors import Corrupt
from rangeio.ranges import ByteRange
from rangeio.steps import Need, Steps

T = TypeVar("T")

MISSES = 8
"""A decoder that misses more often than this was not planned for at all."""


class Missed(Exception):
    """A decoder read bytes that are not held. Never reaches a user."""

    def __init__(self, at: ByteRange) -> None:
        super().__init__(f"{at} is not held")
        self.at = at


class SparseFile(io.RawIOBase):
    """``size`` bytes of which only ``held`` can be read; read-only, seekable.

    size: of the whole file. ``missed`` remembers the first read outside, for decoders wrap the
    exception in their own.
    """

    def __init__(self, size: int, held: Sequence[tuple[ByteRange, memoryview]]) -> None:
        super().__init__()
        self.size = size
        self._held = sorted(held, key=lambda piece: (piece[0].start, piece[0].stop))
        self._starts = [at.start for at, _ in self._held]
        self._at = 0
        self.missed: ByteRange | None = None

    @property
    def held(self) -> Sequence[tuple[ByteRange, memoryview]]:
        """What can be read, in order."""
        return self._held

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position."""
        origin = (0, self._at, self.size)[whence]
        self._at = origin + offset
        return self._at

    def read(self, size: int | None = -1, /) -> Any:
        """The next bytes, as a view of what is held; raises Missed, which the decoder may wrap."""
        stop = self.size if size is None or size < 0 else min(self._at + size, self.size)
        if stop <= self._at:
            return b""
        at = ByteRange(self._at, stop)
        self._at = stop
        return self._find(at)

    def _find(self, at: ByteRange) -> memoryview:
        i = bisect_right(self._starts, at.start) - 1
        while i >= 0:  # held ranges may nest: the one that covers may begin earlier
            have, data = self._held[i]
            if have.covers(at):
                return data[at.start - have.start : at.stop - have.start]
            i -= 1
        self.missed = self.missed or at
        raise Missed(at)


def decoded(
    size: int, ranges: Sequence[ByteRange], why: str, decode: Callable[[SparseFile], T]
) -> Steps[T]:
    """Run ``decode`` over the bytes of ``ranges``; what it misses is asked for, and it runs again.

    Each miss is one more need, named ``unplanned <why>``. Raises Corrupt after MISSES of them.
    """
    held = list(zip(ranges, (yield Need(tuple(ranges), why)), strict=True))
    for _ in range(MISSES + 1):
        file = SparseFile(size, held)
        try:
            return decode(file)
        except Exception:
            if file.missed is None:
                raise
            missed = file.missed
        held.append((missed, (yield Need((missed,), f"unplanned {why}"))[0]))
    raise Corrupt(
        f"{why}: the decoder went on asking for bytes that no plan knew", offset=missed.start
    )
