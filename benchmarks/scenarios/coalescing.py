"""Turning 30,000 byte ranges into GETs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fsspec.utils import merge_offset_ranges

from benchmarks.files import SEED
from benchmarks.ground import Ground
from benchmarks.harness import MILLISECONDS, Case, Contestant, Fresh, Goal
from rangeio import ranges

COUNT = 30_000


def _spans(spread: int, gap: int) -> list[tuple[int, int]]:
    """Ranges of 1 to 4 KiB in random order, ``gap`` bytes apart at most."""
    rng = random.Random(SEED)
    at, out = 0, []
    for _ in range(COUNT):
        at += rng.randrange(gap)
        size = rng.randrange(1, spread)
        out.append((at, at + size))
        at += size
    rng.shuffle(out)
    return out


class Coalescing:
    """The merge alone, no I/O: adjacent ranges, and ranges too far apart to merge."""

    name = "coalescing"
    title = "Coalescing 30,000 ranges"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        for name, gap in (("near each other", 64), ("far apart", 1 << 24)):
            spans = _spans(4096, gap)
            yield Case(
                name,
                (
                    Contestant("rangeio", _ours(spans)),
                    Contestant("fsspec", _fsspec(spans)),
                ),
                lambda a, b: a == b,
                (MILLISECONDS,),
                (Goal("ms", limit=50.0),),
            )


def _ours(spans: list[tuple[int, int]]) -> Fresh:
    # The peer knows a gap and a span, so ours is given no more than that.
    policy = ranges.Coalescing(gap=1 << 20, span=1 << 60, amplification=float("inf"))
    wants = [ranges.ByteRange(*span) for span in spans]

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield lambda: [(r.start, r.stop) for r in ranges.coalesce(wants, policy)]

    return fresh


def _fsspec(spans: list[tuple[int, int]]) -> Fresh:
    starts, stops = ([s[i] for s in spans] for i in (0, 1))
    paths = ["o"] * len(spans)

    def merge() -> object:
        _, a, b = merge_offset_ranges(paths, starts, stops, max_gap=1 << 20)
        return list(zip(a, b, strict=True))

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield merge

    return fresh
