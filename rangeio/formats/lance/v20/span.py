"""Rows of a buffer, and the bytes that hold them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.errors import Corrupt
from rangeio.plan import Rows
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, needs

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
_MOST = 1 << 60


@dataclass(frozen=True, slots=True)
class Span:
    """``rows`` out of ``of``; of a page, or of the items or bytes below it."""

    rows: Rows
    of: int

    @classmethod
    def all(cls, of: int) -> Span:
        """Every row."""
        return cls(Rows.span(0, of), of)

    @property
    def whole(self) -> bool:
        """Whether no row is left out."""
        return self.rows.count == self.of

    @property
    def count(self) -> int:
        """How many rows are asked for."""
        return self.rows.count

    @property
    def stop(self) -> int:
        """Behind the last asked row."""
        return int(self.rows.stops[-1]) if len(self.rows) else 0

    def times(self, by: int) -> Span:
        """The items of these rows, ``by`` a row."""
        if self.of * by > _MOST:
            raise Corrupt(f"a page of {self.of} rows of {by} items")
        return Span(Rows(self.rows.starts * by, self.rows.stops * by), self.of * by)


def checked(at: ByteRange, span: Span, bits: int) -> None:
    """Raise Corrupt unless the buffer holds values of ``bits`` for all rows that are asked for."""
    if span.stop * bits > at.size * 8:
        raise Corrupt(
            f"a buffer of {at.size} bytes for {span.stop} values of {bits} bits", offset=at.start
        )


def fetched(at: ByteRange, starts: Rows, why: str) -> Steps[memoryview]:
    """The runs of bytes ``starts``, relative to ``at``, one after the other.

    One run is handed on as it came; more are copied into one buffer.
    """
    ranges = [ByteRange(at.start + a, at.start + b) for a, b in starts.runs()]
    replies = yield from needs(ranges, why)
    if len(replies) == 1:
        return replies[0]
    return memoryview(b"".join(replies))


def values(at: ByteRange, span: Span, width: int, why: str) -> Steps[memoryview]:
    """The values of the rows, ``width`` bytes each."""
    checked(at, span, width * 8)
    rows = span.rows
    return (yield from fetched(at, Rows(rows.starts * width, rows.stops * width), why))


def bitmap(at: ByteRange, span: Span, why: str) -> Steps[Bytes]:
    """The bits of the rows, packed from bit 0 on; what follows the last is undefined."""
    checked(at, span, 1)
    rows = span.rows
    runs = _merged(rows.starts // 8, -(-rows.stops // 8))
    data = np.frombuffer((yield from fetched(at, runs, why)), np.uint8)
    if not len(rows):
        return data
    if len(rows) == 1:
        shift = int(rows.starts[0]) % 8
        return data if not shift else _shifted(data, shift, span.count)
    return np.packbits(_picked(data, runs, rows.array()), bitorder="little")


def _shifted(data: Bytes, shift: int, count: int) -> Bytes:
    low = data >> np.uint8(shift)
    low[:-1] |= data[1:] << np.uint8(8 - shift)
    return low[: -(-count // 8)]


def _picked(data: Bytes, runs: Rows, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Bits ``rows``, where ``data`` holds the byte ``runs`` one after the other."""
    sizes = runs.stops - runs.starts
    held = np.cumsum(sizes) - sizes
    byte = rows >> 3
    run = np.searchsorted(runs.starts, byte, "right") - 1
    at = held[run] + byte - runs.starts[run]
    bits = data[at] >> (rows & 7).astype(np.uint8) & 1
    return np.asarray(bits, np.bool_)


def _merged(starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]) -> Rows:
    """Ascending runs of bytes, those that touch or share a byte made one."""
    if len(starts) < 2:
        return Rows(starts, stops)
    first = np.concatenate(([True], starts[1:] > stops[:-1]))
    last = np.concatenate((first[1:], [True]))
    return Rows(starts[first], stops[last])
