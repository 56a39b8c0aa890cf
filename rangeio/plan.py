"""The plan: which rows of which columns, from which bytes. Frozen plain data, picklable. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rangeio.errors import Corrupt
from rangeio.predicate import Predicate
from rangeio.ranges import ByteRange
from rangeio.schema import Column, ColumnId


class Rows:
    """A set of top-level rows, as sorted disjoint half-open runs ``starts[i]..stops[i]``."""

    __slots__ = ("starts", "stops")

    def __init__(
        self,
        starts: Sequence[int] | npt.NDArray[np.int64],
        stops: Sequence[int] | npt.NDArray[np.int64],
    ) -> None:
        self.starts = np.asarray(starts, np.int64)
        self.stops = np.asarray(stops, np.int64)

    @classmethod
    def span(cls, start: int, stop: int) -> Rows:
        """The rows ``start..stop``."""
        return cls([start], [stop]) if start < stop else cls([], [])

    @classmethod
    def of(cls, ascending: npt.NDArray[np.int64]) -> Rows:
        """The rows of a strictly ascending array."""
        if not len(ascending):
            return cls([], [])
        cut = np.flatnonzero(np.diff(ascending) != 1) + 1
        edges = np.concatenate(([0], cut, [len(ascending)]))
        return cls(ascending[edges[:-1]], ascending[edges[1:] - 1] + 1)

    @property
    def count(self) -> int:
        """How many rows."""
        return int((self.stops - self.starts).sum())

    def runs(self) -> Iterator[tuple[int, int]]:
        """The runs as pairs of Python ints."""
        return zip(self.starts.tolist(), self.stops.tolist(), strict=True)

    def within(self, start: int, stop: int) -> Rows:
        """The rows that lie in ``start..stop``, still numbered as in the file."""
        if start >= stop:
            return Rows([], [])
        lo = int(np.searchsorted(self.stops, start, "right"))
        hi = int(np.searchsorted(self.starts, stop, "left"))
        return Rows(np.maximum(self.starts[lo:hi], start), np.minimum(self.stops[lo:hi], stop))

    def part(self, start: int, stop: int) -> Rows:
        """The rows from the ``start``-th to before the ``stop``-th of the set."""
        ends = np.cumsum(self.stops - self.starts)
        lo = int(np.searchsorted(ends, start, "right"))
        hi = int(np.searchsorted(ends, stop, "left")) + 1
        starts, stops = self.starts[lo:hi].copy(), self.stops[lo:hi].copy()
        if not len(starts) or start >= stop:
            return Rows([], [])
        first = int(ends[lo] - (stops[0] - starts[0]))
        starts[0] += start - first
        over = int(ends[min(hi, len(ends)) - 1]) - stop
        stops[-1] -= max(over, 0)
        return Rows(starts, stops)

    @property
    def extent(self) -> tuple[int, int]:
        """The first row, and the row after the last; (0, 0) where there are none."""
        return (int(self.starts[0]), int(self.stops[-1])) if len(self.starts) else (0, 0)

    def shifted(self, by: int) -> Rows:
        """The same rows with ``by`` added to their numbers."""
        return Rows(self.starts + by, self.stops + by)

    def places(self, wanted: Rows) -> npt.NDArray[np.int64]:
        """Where each run of ``wanted``, which lies in one of ours, begins among our rows."""
        before = np.concatenate(([0], np.cumsum(self.stops - self.starts)[:-1]))
        at = np.searchsorted(self.starts, wanted.starts, "right") - 1
        if (at < 0).any() or (wanted.stops > self.stops[at]).any():
            raise Corrupt("rows were planned that no page holds")
        found: npt.NDArray[np.int64] = before[at] + wanted.starts - self.starts[at]
        return found

    def array(self) -> npt.NDArray[np.int64]:
        """Every row number, ascending: O(rows)."""
        sizes = self.stops - self.starts
        out = np.ones(int(sizes.sum()), np.int64)
        if not len(out):
            return out
        first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        out[first[0]] = self.starts[0]
        out[first[1:]] = self.starts[1:] - self.stops[:-1] + 1
        return np.cumsum(out)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows) or len(self.starts) != len(other.starts):
            return False
        if len(self.starts) == 1:  # comparing arrays takes ten times as long
            return self.extent == other.extent
        return bool((self.starts == other.starts).all() and (self.stops == other.stops).all())

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        """How many runs."""
        return len(self.starts)

    def __repr__(self) -> str:
        runs = ", ".join(f"{a}:{b}" for a, b in list(self.runs())[:6])
        return f"Rows({runs}{', ...' if len(self) > 6 else ''})"

    def __reduce__(self) -> tuple[object, ...]:
        return Rows, (self.starts, self.stops)


@dataclass(frozen=True, slots=True)
class Query:
    """What is to be read: top-level columns, pruned to the asked leaves, and the rows of them.

    predicate: rows that it cannot match may be left out of the plan; who reads filters exactly.
    """

    fields: tuple[Column, ...]
    rows: Rows
    predicate: Predicate | None = None


@dataclass(frozen=True, slots=True)
class Later:
    """A hop whose ranges depend on data not yet read: it stays within these, and asks for at most
    ``at_most`` separate pieces of them."""

    within: tuple[ByteRange, ...]
    at_most: int


@dataclass(frozen=True, slots=True)
class SharedLoad:
    """What several units need once, a dictionary page say.

    key: what it is within one version of the object, e.g. ``("dict", page offset)``.
    ranges: the first need of ``Format.load``.
    """

    key: Hashable
    ranges: tuple[ByteRange, ...]
    args: Any = None


@dataclass(frozen=True, slots=True)
class DecodeUnit:
    """One page, or part of one, of one branch: the topmost list or map, else the leaf.

    rows: the top-level rows ``start..stop`` that it serves (of a row list: all asked rows within).
    ranges: its first need, exactly. args: small and picklable, private to the format.
    uses: keys of the plan's shared loads. later: one bound per further hop.
    light: cheaper to decode in place than to hand to the pool (well under 100 microseconds).
    borrows: the decoded data may refer to the bytes it was sent, so small views are copied first.
    """

    column: ColumnId
    rows: tuple[int, int]
    ranges: tuple[ByteRange, ...]
    args: Any = None
    uses: tuple[Hashable, ...] = ()
    later: tuple[Later, ...] = ()
    light: bool = False
    borrows: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """Units in the order in which they are to be handed on: by first row, then column.

    pruned: in words, what the query's predicate made needless. rows: those that are left; None:
    all of the query's.
    """

    units: tuple[DecodeUnit, ...]
    shared: tuple[SharedLoad, ...] = ()
    pruned: tuple[str, ...] = ()
    rows: Rows | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A decoded unit. ``data`` is the format's own; only its ``assemble`` knows what it is."""

    rows: tuple[int, int]
    data: Any
