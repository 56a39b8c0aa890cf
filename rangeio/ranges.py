"""Byte ranges, and the arithmetic that turns needs into GETs under a cost model. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

_BY_POSITION = attrgetter("start", "stop")


@dataclass(frozen=True, slots=True, order=True)
class ByteRange:
    """Bytes ``start`` to ``stop`` of an object, half-open: like ``range``, unlike HTTP."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.stop:
            raise ValueError(f"not a byte range: {self.start}..{self.stop}")

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.stop - self.start

    def covers(self, other: ByteRange) -> bool:
        """Whether every byte of ``other`` is one of ours."""
        return self.start <= other.start and other.stop <= self.stop

    def __str__(self) -> str:
        return f"{self.start}:{self.stop}"


@dataclass(frozen=True, slots=True)
class Suffix:
    """The last ``size`` bytes of an object whose length is not known yet."""

    size: int

    def __post_init__(self) -> None:
        if self.size <= 0:
            raise ValueError(f"not a suffix: {self.size}")

    def __str__(self) -> str:
        return f"-{self.size}:"


@dataclass(frozen=True, slots=True)
class Coalescing:
    """When two needs share one GET.

    gap: bytes between two needs that are worth reading through; 0 merges only what is adjacent.
    span: bytes that one GET may reach by merging; a larger single need is split into parts of it.
    amplification: bytes of a merged GET per byte that was asked for, at most.
    head: bytes that the heads of one more GET take on the wire; a gap no wider than this is read
    through whatever the amplification, for thousands of tiny wants lie so.
    merge: False merges nothing at all, not even what is adjacent (duplicates still share a GET).
    """

    gap: int = 1 << 20
    span: int = 16 << 20
    amplification: float = 4.0
    head: int = 0
    merge: bool = True


@dataclass(frozen=True, slots=True)
class CostModel:
    """What a store charges: ``latency_s`` a hop, ``bytes_per_s`` on one connection, ``in_flight``
    requests at once, and the coalescing that follows."""

    latency_s: float
    bytes_per_s: float
    in_flight: int = 16
    coalescing: Coalescing = Coalescing()

    def seconds(self, hops: int, size: int) -> float:
        """The time of ``hops`` dependent round trips that move ``size`` bytes in all."""
        return hops * self.latency_s + size / self.bytes_per_s


def coalesce(wants: Iterable[ByteRange], policy: Coalescing) -> list[ByteRange]:
    """Cover ``wants`` with few ranges: sorted, disjoint but for what overlapped with ``merge`` off.

    Two wants that overlap always share a range where merging is on. A range that results from
    merging is at most ``policy.span`` bytes unless one want alone, or wants that overlap, are
    more; see :func:`split`. O(n log n).
    """
    ordered = sorted(wants, key=_BY_POSITION)
    if not policy.merge:
        return [w for w in dict.fromkeys(ordered) if w.start < w.stop]
    gap, limit, amplification, head = policy.gap, policy.span, policy.amplification, policy.head
    merged: list[ByteRange] = []
    start = stop = useful = -1
    for piece in _united(ordered):
        a, b = piece.start, piece.stop
        span = b - start
        if (
            merged
            and a - stop <= gap
            and span <= limit
            and (a - stop <= head or span <= amplification * (useful + b - a))
        ):
            useful += b - a
            merged[-1] = ByteRange(start, b)
        else:
            start, useful = a, b - a
            merged.append(piece)
        stop = b
    return merged


def _united(ordered: Sequence[ByteRange]) -> list[ByteRange]:
    """The unions of what overlaps, without the empty ones: no policy parts them."""
    united: list[ByteRange] = []
    stop = -1
    for want in ordered:
        a, b = want.start, want.stop
        if b <= stop or a == b:
            continue
        if a < stop:
            united[-1] = ByteRange(united[-1].start, b)
        else:
            united.append(want)
        stop = b
    return united


def split(at: ByteRange, span: int) -> list[ByteRange]:
    """Cut ``at`` into the fewest parts of at most ``span`` bytes, equal to within one byte."""
    if at.size <= span:
        return [at]
    count = -(-at.size // span)
    cuts = [at.start + at.size * i // count for i in range(count + 1)]
    return [ByteRange(a, b) for a, b in itertools.pairwise(cuts)]


def subtract(want: ByteRange, held: Sequence[ByteRange]) -> list[ByteRange]:
    """The parts of ``want`` that no range of ``held`` (sorted by start) covers, in order."""
    missing: list[ByteRange] = []
    at = want.start
    for have in held:
        if have.stop <= at or not have.size:
            continue
        if have.start >= want.stop:
            break
        if have.start > at:
            missing.append(ByteRange(at, have.start))
        at = max(at, have.stop)
    if at < want.stop:
        missing.append(ByteRange(at, want.stop))
    return missing


def gets(
    parts: Sequence[ByteRange],
    policy: Coalescing,
    gap: int | None,
    here: Callable[[ByteRange], Sequence[ByteRange]],
) -> list[ByteRange]:
    """Coalesce what is missing; what is here already is not even read as a gap.

    gap: read through no wider one than this. here: what is held of a range, sorted.
    """
    if gap is not None and gap < policy.gap:
        policy = replace(policy, gap=gap)
    merged = coalesce(parts, policy)
    if len(merged) == len(parts):  # nothing was merged: there are no gaps
        return merged
    return [part for get in merged for part in subtract(get, here(get))]


def hull(wants: Sequence[ByteRange], cost: CostModel) -> ByteRange | None:
    """The span from the first byte of ``wants`` to the last, where reading all of it takes less
    time than the many small GETs that coalescing would leave; else None.

    For sparse wants without end: every tenth of 10,000 columns, of 120 bytes of metadata each.
    """
    gets = coalesce(wants, cost.coalescing)
    if len(gets) <= cost.in_flight:
        return None
    waves = -(-len(gets) // cost.in_flight)
    apart = cost.seconds(waves, sum(get.size for get in gets) // cost.in_flight)
    whole = ByteRange(gets[0].start, gets[-1].stop)
    parts = min(len(split(whole, cost.coalescing.span)), cost.in_flight)
    return whole if cost.seconds(1, whole.size // parts) < apart else None
