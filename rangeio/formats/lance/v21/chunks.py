"""Where the chunks of a mini-block page lie, and which of them hold which rows.

Rows are counted in the page, in *elements*: below a fixed-size list of structs a top-level row
has several. An element is an item where the page has no lists, else an outer-most list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rangeio.codecs.bounds import Offsets
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21.layouts import MiniBlock
from rangeio.plan import Rows
from rangeio.ranges import ByteRange


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Some chunks of a page, as runs of neighbours.

    starts: in the bytes that hold them. items: visible slots in each. runs: chunks in each run.
    firsts: the first element that begins in each run. begun: how many do, None where the page was
    read without its repetition index (it is one run then, of all elements).
    """

    starts: Offsets
    sizes: Offsets
    items: Offsets
    runs: Offsets
    firsts: Offsets
    begun: Offsets | None


@dataclass(frozen=True, slots=True, eq=False)
class ChunkTable:
    """All chunks of a page.

    begun, finished: elements that have begun, or ended, by the end of each chunk; None for a page
    of lists without its repetition index.
    """

    starts: Offsets
    sizes: Offsets
    items: Offsets
    begun: Offsets | None
    finished: Offsets | None

    @classmethod
    def parse(
        cls,
        layout: MiniBlock,
        words: memoryview,
        index: memoryview | None,
        room: int,
        elements: int,
    ) -> ChunkTable:
        """The table of a page with ``room`` bytes of chunks and ``elements`` elements.

        Raises Corrupt where chunks leave the room, or items or elements do not add up.
        """
        each = _words(layout, words)
        sizes = ((each >> 4) + 1) * 8
        items = np.left_shift(1, each & 15)
        if len(items):
            items[-1] = layout.items - int(items[:-1].sum())
        if int(sizes.sum()) > room:
            raise Corrupt(f"chunks of {sizes.sum()} bytes in a buffer of {room}")
        if int(items.sum()) != layout.items or (len(items) and items[-1] < 0):
            raise Corrupt(f"{len(items)} chunks do not hold {layout.items} items")
        begun = finished = None
        if not layout.layers.lists:
            begun = finished = np.cumsum(items)
        elif index is not None:
            begun, finished = _rows(index, len(sizes))
        if finished is not None and (int(finished[-1]) if len(finished) else 0) != elements:
            raise Corrupt(f"chunks that do not hold the {elements} rows of their page")
        return cls(np.cumsum(sizes) - sizes, sizes, items, begun, finished)

    def all(self) -> Chunks:
        """Every chunk, where it lies in the page's buffer."""
        one = np.array([len(self.sizes)])
        return Chunks(self.starts, self.sizes, self.items, one, np.zeros(1, np.int64), None)

    def pick(self, elements: Rows) -> Chunks:
        """The chunks that hold these elements, where they lie in the page's buffer."""
        first, last = self._touched(elements)
        runs = last - first + 1
        chosen = Rows(first, last + 1).array()
        assert self.begun is not None
        before = np.where(first > 0, self.begun[first - 1], 0)
        return Chunks(
            self.starts[chosen],
            self.sizes[chosen],
            self.items[chosen],
            runs,
            before,
            self.begun[last] - before,
        )

    def bytes(self, chunks: Chunks, base: int) -> tuple[ByteRange, ...]:
        """The ranges of picked chunks, one a run, of a buffer that begins at ``base``."""
        last = np.cumsum(chunks.runs) - 1
        first = last + 1 - chunks.runs
        starts = (chunks.starts[first] + base).tolist()
        stops = (chunks.starts[last] + chunks.sizes[last] + base).tolist()
        return tuple(ByteRange(a, b) for a, b in zip(starts, stops, strict=True))

    def cuts(self, elements: Rows, size: int) -> list[int]:
        """Elements at which to cut so that the chunks of each part are about ``size`` bytes."""
        assert self.begun is not None
        first, last = self._touched(elements)
        chosen = Rows(first, last + 1).array()
        parts = (np.cumsum(self.sizes[chosen]) - self.sizes[chosen]) // size
        edges = chosen[np.flatnonzero(np.diff(parts)) + 1]
        return [int(x) for x in self.begun[edges - 1]]

    def _touched(self, elements: Rows) -> tuple[Offsets, Offsets]:
        """First and last chunk of each run of chunks, runs that touch made one."""
        assert self.begun is not None
        assert self.finished is not None
        first = np.searchsorted(self.begun, elements.starts, "right")
        last = np.searchsorted(self.finished, elements.stops, "left")
        last = np.maximum(last, first)
        if len(last) and int(last.max()) >= len(self.sizes):
            raise Corrupt("rows beyond the chunks of their page")
        new = np.ones(len(first), bool)
        new[1:] = first[1:] > last[:-1] + 1
        ends = np.append(new[1:], True)[: len(new)]
        return first[new], last[ends]


def _words(layout: MiniBlock, words: memoryview) -> Offsets:
    size = 4 if layout.large else 2
    if words.nbytes % size:
        raise Corrupt(f"chunk metadata of {words.nbytes} bytes")
    return np.frombuffer(words, f"<u{size}").astype(np.int64)


def _rows(index: memoryview, chunks: int) -> tuple[Offsets, Offsets]:
    """Rows begun and rows finished by the end of each chunk."""
    if index.nbytes != 16 * chunks:
        raise Corrupt(f"a repetition index of {index.nbytes} bytes for {chunks} chunks")
    pairs = np.frombuffer(index, "<u8").reshape(-1, 2)
    if len(pairs) and int(pairs.max()) > 1 << 48:
        raise Corrupt("a repetition index of more than 2^48 rows")
    finished = np.cumsum(pairs[:, 0].astype(np.int64))
    open_ = (pairs[:, 1] > 0).astype(np.int64)
    begun = finished + open_
    if (np.diff(begun) < 0).any():
        raise Corrupt("a repetition index whose rows fall")
    return begun, finished


def joined(chunks: Chunks) -> Chunks:
    """The same chunks, in bytes that hold them one after the other."""
    starts: Offsets = np.cumsum(chunks.sizes) - chunks.sizes
    return Chunks(starts, chunks.sizes, chunks.items, chunks.runs, chunks.firsts, chunks.begun)
