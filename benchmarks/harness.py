"""Runs contestants in turn, A B C A B C, and tells what each round took.

A round is cold: a contestant's ``fresh`` makes what must be new (a session, a reader's options)
outside the clock, and yields the call that is timed. Values are compared, outside the clock too.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from benchmarks.ground import Ground
from benchmarks.servers import Counts, Watched

OURS = "rangeio"

Fresh = Callable[[], AbstractContextManager[Callable[[], object]]]


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way to do the work. ``fresh`` yields the call to time; its value is compared."""

    name: str
    fresh: Fresh


@dataclass(frozen=True, slots=True)
class Weighed:
    """What a call gives that ran in a process of its own: a value, and the bytes of memory that
    process came to hold at most for it."""

    value: object
    peak: int


@dataclass(frozen=True, slots=True)
class Round:
    """What one timed call took: seconds on the wall, and of this process' CPU in all threads; what
    a watched server counted; the peak memory of a call that was weighed."""

    wall_s: float
    cpu_s: float
    counts: Counts | None = None
    peak: int = 0


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a round. ``more`` says that more of it is better."""

    unit: str
    of: Callable[[Round], float]
    more: bool = False


MILLISECONDS = Metric("ms", lambda r: r.wall_s * 1e3)
MEGABYTES = Metric("MB", lambda r: r.peak / 1e6)


def cpu_us(gets: int) -> Metric:
    """Microseconds of CPU a GET."""
    return Metric("CPU us/GET", lambda r: r.cpu_s * 1e6 / gets)


def gets_per_s(gets: int) -> Metric:
    """GETs a second."""
    return Metric("GET/s", lambda r: gets / r.wall_s, more=True)


def gb_per_s(size: int) -> Metric:
    """Gigabytes a second, of 10^9 bytes."""
    return Metric("GB/s", lambda r: size / r.wall_s / 1e9, more=True)


@dataclass(frozen=True, slots=True)
class Goal:
    """``metric`` of ours is to be at least ``factor`` times as good as ``peer``'s; without a peer,
    ``limit`` is the worst value that will do."""

    metric: str
    peer: str = ""
    factor: float = 1.0
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """What the server counted of ours is to be so in every round."""

    words: str
    holds: Callable[[Counts], bool]


@dataclass(frozen=True, slots=True)
class Case:
    """One question put to several contestants, over the same bytes."""

    name: str
    contestants: Sequence[Contestant]
    same: Callable[[object, object], bool]
    metrics: Sequence[Metric] = (MILLISECONDS,)
    goals: Sequence[Goal | Bound] = ()
    rounds: int = 7
    watched: Watched | None = None


class Scenario(Protocol):
    """A family of cases; each is made when the one before it is done, and cleaned up after."""

    name: str
    title: str

    def prepare(self, ground: Ground) -> Iterator[Case]:
        """The cases. What a case needs (files, a server) lives until the next one is asked for."""
        ...


@dataclass(slots=True)
class Score:
    """All rounds of one contestant. ``failure`` ends its run."""

    name: str
    rounds: list[Round] = field(default_factory=list)
    failure: str = ""

    @property
    def counts(self) -> Counts | None:
        """Of the last round."""
        return self.rounds[-1].counts if self.rounds else None

    def median(self, metric: Metric) -> float:
        return statistics.median(map(metric.of, self.rounds))

    def span(self, metric: Metric) -> tuple[float, float]:
        values = [metric.of(r) for r in self.rounds]
        return min(values), max(values)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case with its scores, in the order of the contestants."""

    case: Case
    scores: Sequence[Score]

    def score(self, name: str) -> Score | None:
        """A contestant's score, None where it did not finish a round."""
        return next((s for s in self.scores if s.name == name and s.rounds and not s.failure), None)

    def edge(self, score: Score, metric: Metric) -> float | None:
        """How many times as good as this contestant rangeio is; below 1 the peer is ahead."""
        ours = self.score(OURS)
        if ours is None or not score.rounds or score.failure:
            return None
        mine, theirs = ours.median(metric), score.median(metric)
        return mine / theirs if metric.more else theirs / mine

    def met(self, goal: Goal | Bound) -> bool | None:
        """Whether a goal is reached; None where one of the two gave no figure."""
        ours = self.score(OURS)
        if isinstance(goal, Bound):
            counted = [r.counts for r in ours.rounds if r.counts is not None] if ours else []
            return all(map(goal.holds, counted)) if counted else None
        metric = next(m for m in self.case.metrics if m.unit == goal.metric)
        if goal.limit is not None:
            return None if ours is None else ours.median(metric) <= goal.limit
        peer = self.score(goal.peer)
        edge = self.edge(peer, metric) if peer else None
        return None if edge is None else edge >= goal.factor


def run(case: Case) -> Outcome:
    """One warm-up each, which is also compared, then the rounds, interleaved."""
    scores = [Score(c.name) for c in case.contestants]
    reference: tuple[str, object] | None = None
    for number in range(case.rounds + 1):
        for contestant, score in zip(case.contestants, scores, strict=True):
            if score.failure:
                continue
            try:
                taken, value = _once(contestant, case.watched)
            except Exception as error:
                score.failure = f"{type(error).__name__}: {error}".split("\n")[0][:200]
                continue
            reference = reference or (score.name, value)
            if not case.same(reference[1], value):
                score.failure = f"gave other values than {reference[0]}"
            elif number:
                score.rounds.append(taken)
            del value
    return Outcome(case, scores)


def _once(contestant: Contestant, watched: Watched | None) -> tuple[Round, object]:
    with contestant.fresh() as call:
        gc.collect()
        if watched is not None:
            watched.forget()
        before, start = time.process_time(), time.perf_counter()
        value = call()
        wall, cpu = time.perf_counter() - start, time.process_time() - before
        counts = watched.counts() if watched is not None else None
    if isinstance(value, Weighed):
        return Round(wall, cpu, counts, value.peak), value.value
    return Round(wall, cpu, counts), value
