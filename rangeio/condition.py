"""Conditions on single columns, and their combination: what statistics say of each. Pure."""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, TypeAlias

import pyarrow as pa

from rangeio.literal import Literal, Order
from rangeio.statistics import Outcome, Statistics

Path: TypeAlias = tuple[str, ...]
Known: TypeAlias = Mapping[Path, Statistics]

_UNKNOWN = Statistics()


class Operator(enum.Enum):
    """A comparison of two values."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="

    @property
    def mirrored(self) -> Operator:
        """The same comparison with its sides exchanged."""
        return _MIRRORED.get(self, self)


_MIRRORED = {
    Operator.LESS: Operator.MORE,
    Operator.MORE: Operator.LESS,
    Operator.AT_MOST: Operator.AT_LEAST,
    Operator.AT_LEAST: Operator.AT_MOST,
}


_ABSENT = {Operator.EQUAL: Outcome.FALSE, Operator.UNEQUAL: Outcome.TRUE}
"""What comes of comparing with a value that is not there."""


class Condition(Protocol):
    """A condition on one row."""

    def outcomes(self, known: Known) -> Outcome:
        """Every result that it can have in rows with these statistics."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """A condition of which this much is known, whatever the statistics."""

    known: Outcome

    def outcomes(self, known: Known) -> Outcome:
        """Always the same."""
        return self.known


UNREAD = Fixed(Outcome.ANY)
"""A condition of which nothing can be told."""


@dataclass(frozen=True, slots=True)
class Given:
    """A condition with one result for every value that is not null; null where one is."""

    path: Path
    result: bool

    def outcomes(self, known: Known) -> Outcome:
        """The result, and null where there can be nulls."""
        result = Outcome.TRUE if self.result else Outcome.FALSE
        return _with_nulls(result, known.get(self.path, _UNKNOWN), Outcome.NULL)


@dataclass(frozen=True, slots=True)
class IsNull:
    """True for a null, else false; never null itself."""

    path: Path

    def outcomes(self, known: Known) -> Outcome:
        """From the count of nulls."""
        return known.get(self.path, _UNKNOWN).nulls


@dataclass(frozen=True, slots=True)
class Compared:
    """``column operator value``, the value one that the column's plain type can hold."""

    path: Path
    kind: pa.DataType
    operator: Operator
    value: Order

    def outcomes(self, known: Known) -> Outcome:
        """From the bounds, and from what is known to be absent."""
        statistics = known.get(self.path, _UNKNOWN)
        if not statistics.numbers(self.kind):
            result = Outcome(0)
        elif self.operator in _ABSENT and statistics.without(self.value):
            result = _ABSENT[self.operator]
        else:
            low, high = statistics.bounds(self.kind)
            result = _against(self.operator, low, high, self.value)
        if statistics.nans(self.kind):
            result |= Outcome.TRUE if self.operator is Operator.UNEQUAL else Outcome.FALSE
        return _with_nulls(result, statistics, Outcome.NULL)


def comparison(
    path: Path, kind: pa.DataType, asked: Operator, literal: Literal
) -> Compared | Given:
    """``column asked literal`` as a comparison with a value that the type can hold; what is the
    same for all of its values needs none."""
    if literal.exact and literal.below is not None:
        return Compared(path, kind, asked, literal.below)
    if literal.nan or asked in (Operator.EQUAL, Operator.UNEQUAL):
        return Given(path, asked is Operator.UNEQUAL)
    upward = asked in (Operator.MORE, Operator.AT_LEAST)
    value = literal.above if upward else literal.below
    if value is None:
        return Given(path, False)
    return Compared(path, kind, Operator.AT_LEAST if upward else Operator.AT_MOST, value)


@dataclass(frozen=True, slots=True)
class Within:
    """``column in values``. values: ascending. nan: NaN is one of them. null: result for nulls."""

    path: Path
    kind: pa.DataType
    values: tuple[Order, ...]
    nan: bool
    null: Outcome

    def outcomes(self, known: Known) -> Outcome:
        """From the bounds, and from what is known to be absent."""
        statistics = known.get(self.path, _UNKNOWN)
        result = self._numbers(statistics) if statistics.numbers(self.kind) else Outcome(0)
        if statistics.nans(self.kind):
            # In a list of values Arrow finds a NaN only by its very bits.
            result |= Outcome.TRUE | Outcome.FALSE if self.nan else Outcome.FALSE
        return _with_nulls(result, statistics, self.null)

    def _numbers(self, statistics: Statistics) -> Outcome:
        """Of the values that are neither null nor NaN."""
        low, high = statistics.bounds(self.kind)
        first = 0 if low is None else bisect_left(self.values, low)
        last = len(self.values) if high is None else bisect_right(self.values, high)
        if all(statistics.without(one) for one in self.values[first:last]):
            return Outcome.FALSE
        # Arrow tells 0.0 and -0.0 apart in a list of values, bounds do not.
        zero = isinstance(low, float) and low == 0
        all_equal = low is not None and low == high and not zero
        return Outcome.TRUE if all_equal else Outcome.TRUE | Outcome.FALSE


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; null stays null."""

    condition: Condition

    def outcomes(self, known: Known) -> Outcome:
        """The opposites."""
        return self.condition.outcomes(known).negated()


@dataclass(frozen=True, slots=True)
class All:
    """Every one of them, in three-valued logic."""

    conditions: tuple[Condition, ...]

    def outcomes(self, known: Known) -> Outcome:
        """Of all together, as if they were independent."""
        return reduce(Outcome.both, (c.outcomes(known) for c in self.conditions))


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of them, in three-valued logic."""

    conditions: tuple[Condition, ...]

    def outcomes(self, known: Known) -> Outcome:
        """Of all together, as if they were independent."""
        return reduce(Outcome.either, (c.outcomes(known) for c in self.conditions))


def parts(condition: Condition, negated: bool = False) -> Iterator[tuple[Condition, bool]]:
    """The conditions that a condition is joined from, each with whether its opposite counts."""
    if isinstance(condition, Not):
        yield from parts(condition.condition, not negated)
    elif isinstance(condition, (All, AnyOf)):
        for one in condition.conditions:
            yield from parts(one, negated)
    else:
        yield condition, negated


def sought(condition: Condition, negated: bool) -> tuple[Order, ...]:
    """The values without which a condition, or its opposite, is true of no value but NaN; none
    where there are no such values."""
    if isinstance(condition, Within):
        return () if negated else condition.values
    equality = Operator.UNEQUAL if negated else Operator.EQUAL
    if isinstance(condition, Compared) and condition.operator is equality:
        return (condition.value,)
    return ()


def _with_nulls(result: Outcome, statistics: Statistics, null: Outcome) -> Outcome:
    """``result`` holds for rows that are not null, ``null`` for those that are."""
    nulls = statistics.nulls
    if nulls is Outcome.FALSE:
        return result
    return null if nulls is Outcome.TRUE else result | null


def _against(operator: Operator, low: Order | None, high: Order | None, value: Order) -> Outcome:
    """Comparing each of ``low..high`` with a value."""
    under = low is None or low < value  # type: ignore[operator]
    over = high is None or high > value  # type: ignore[operator]
    here = (under or low == value) and (over or high == value)
    more = over or here
    less = under or here
    if operator is Operator.LESS:
        return _RESULTS[under, more]
    if operator is Operator.AT_MOST:
        return _RESULTS[less, over]
    if operator is Operator.MORE:
        return _RESULTS[over, less]
    if operator is Operator.AT_LEAST:
        return _RESULTS[more, under]
    if operator is Operator.EQUAL:
        return _RESULTS[here, under or over]
    return _RESULTS[under or over, here]


_RESULTS = {
    (False, False): Outcome(0),
    (True, False): Outcome.TRUE,
    (False, True): Outcome.FALSE,
    (True, True): Outcome.TRUE | Outcome.FALSE,
}
"""By whether a condition can be true, and whether it can be false."""
