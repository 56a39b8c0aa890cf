"""Needs on one file, answered at once from held blocks and from the store's hand."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable, Sequence

import pyarrow as pa

from rangeio.engine.flights import Hop, Pinned
from rangeio.engine.lease import joined
from rangeio.engine.spans import Spans
from rangeio.ranges import ByteRange, Suffix, gets, subtract
from rangeio.steps import Need
from rangeio.transport.athand import read_now
from rangeio.transport.buffers import Buffers
from rangeio.transport.source import Received
from rangeio.transport.trace import GetRecord

_LARGE = 64 << 10  # bytes of a need that are read into one buffer with what is held of its end


_images = Buffers(16 << 20)  # one for all: memory that was used a moment ago is warm


def _after_fork() -> None:
    """In the child: another thread may have held the lock."""
    global _images
    _images = Buffers(16 << 20)


os.register_at_fork(after_in_child=_after_fork)


class NotAtHand(Exception):
    """The bytes are not to be had at once. Never reaches a user."""


class Held:
    """Blocks of one object that were read, found by position."""

    def __init__(self, of: Pinned, blocks: Sequence[Received] = ()) -> None:
        self._of = of
        self._blocks: Spans[memoryview] = Spans.of((one.at, one.data) for one in blocks)

    def overlapping(self, _: Hashable, at: ByteRange) -> list[tuple[ByteRange, memoryview]]:
        """What is held of ``at``, in order, as whole blocks."""
        return self._blocks.overlapping(at)

    def put(self, blocks: Sequence[Received]) -> None:
        """Hold more."""
        for one in blocks:
            self._blocks.put(one.at, one.data)

    def copy(self) -> Held:
        """The same blocks, to which others can be put."""
        copied = Held(self._of)
        copied._blocks = Spans.of(self._blocks)
        return copied

    def find(self, at: ByteRange) -> tuple[ByteRange, memoryview] | None:
        """The block that has all of ``at``."""
        return self._blocks.covering(at)

    def missing(self, wants: Sequence[ByteRange], gap: int | None = None) -> list[ByteRange]:
        """The GETs that bring what is not held: what the engine would make of the same wants."""
        parts: list[ByteRange] = []
        for want in wants:
            if want.size and self._blocks.covering(want) is None:
                parts += subtract(want, self._at(want))
        return gets(parts, self._of.cost.coalescing, gap, self._at)

    def _at(self, want: ByteRange) -> list[ByteRange]:
        return [at for at, _ in self._blocks.overlapping(want)]


class Hand:
    """Answers needs on one file from held blocks and, for the rest, at once; NotAtHand where that
    cannot be."""

    def __init__(self, of: Pinned, held: Held) -> None:
        self._of = of
        self.held = held

    def fetch(
        self, asked: Need, hop: Hop, *, copies: bool = False, planned: bool = False
    ) -> list[memoryview]:
        """The bytes of every range of ``asked``.

        copies: as a Lease has it. planned: GETs of a plan bring some of them, so that a need which
        is held whole is no answer of the cache.
        """
        of = self._of
        if asked.of:
            raise NotAtHand
        ranges = [_exact(at, of.size) for at in asked.ranges]
        of.trace.need(sum(at.size for at in ranges))
        whole = self._large(ranges, asked, hop)
        if whole is not None:
            return [whole]
        missing = self.held.missing(ranges, asked.gap)
        if missing:
            unplanned = asked.why.startswith("unplanned")
            self.held.put(self.read(missing, asked.why, hop, unplanned=unplanned))
        elif ranges and not planned:
            start, stop = min(r.start for r in ranges), max(r.stop for r in ranges)
            of.trace.add(GetRecord(0, start, stop, asked.why, 0, 0, cached=True))
        return [self._view(at, copies) for at in ranges]

    def read(
        self,
        ranges: Sequence[ByteRange],
        why: str,
        hop: Hop,
        *,
        unplanned: bool = False,
        into: Sequence[memoryview] | None = None,
    ) -> list[Received]:
        """GETs, now; ``into``: where the bytes of each are to be received."""
        found = read_now(
            self._of.source,
            ranges,
            time.monotonic,
            why=why,
            hop=lambda: hop.number,
            trace=self._of.trace,
            unplanned=unplanned,
            into=into,
        )
        if found is None:
            raise NotAtHand
        return found

    def image(
        self,
        ranges: Sequence[ByteRange],
        known: Sequence[tuple[ByteRange, bytes]],
        why: str,
        hop: Hop,
    ) -> pa.Buffer:
        """All bytes of the file in their places, as far as they are in ``ranges``, known or held;
        zeros elsewhere."""
        self._of.trace.need(sum(at.size for at in ranges))
        image = _images.take(self._of.size)
        missing = self.held.missing(ranges)
        if missing:
            self.read(missing, why, hop, into=[image[at.start : at.stop] for at in missing])
        here: list[tuple[ByteRange, bytes | memoryview]] = [*known]
        here += self.held.overlapping(None, ByteRange(0, self._of.size))
        for at, data in here:
            image[at.start : at.stop] = data
        filled = sorted([*missing, *(at for at, _ in here)])
        for gap in subtract(ByteRange(0, self._of.size), filled):
            image[gap.start : gap.stop] = bytes(gap.size)
        return pa.py_buffer(image)

    def _large(self, ranges: Sequence[ByteRange], asked: Need, hop: Hop) -> memoryview | None:
        """A range whose end is held: the rest is read to where it belongs, and nothing moves."""
        if len(ranges) != 1 or ranges[0].size < _LARGE:
            return None
        (at,) = ranges
        (missing, *more) = self.held.missing(ranges) or [ByteRange(0, 0)]
        tail = ByteRange(missing.stop, at.stop)
        have = self.held.find(tail) if missing.start == at.start and not more else None
        if have is None or not tail.size:
            return None
        buffer = memoryview(pa.allocate_buffer(at.size)).cast("B")
        self.read([missing], asked.why, hop, into=[buffer[: missing.size]])
        first = tail.start - have[0].start
        buffer[missing.size :] = have[1][first : first + tail.size]
        return buffer.toreadonly()

    def _view(self, at: ByteRange, copies: bool) -> memoryview:
        if not at.size:
            return memoryview(b"")
        found = self.held.find(at)
        if found is None:
            return joined(at, self.held.overlapping(None, at))
        have, data = found
        view = data[at.start - have.start : at.stop - have.start]
        return memoryview(bytes(view)) if copies and 2 * at.size < have.size else view


def _exact(at: ByteRange | Suffix, size: int) -> ByteRange:
    return at if isinstance(at, ByteRange) else ByteRange(max(size - at.size, 0), size)
