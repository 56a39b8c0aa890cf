"""What is known of the values of a page or chunk, and what follows from it. Pure."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from rangeio.literal import Order, order_of


class Answer(enum.Enum):
    """Whether rows with certain statistics match."""

    NEVER = 0
    MAYBE = 1
    ALWAYS = 2


class Outcome(enum.IntFlag):
    """Which results a condition can have in some row: a set, never too small."""

    TRUE = 1
    FALSE = 2
    NULL = 4
    ANY = 7

    def negated(self) -> Outcome:
        """Of the opposite; the opposite of null is null."""
        return _NEGATED[self]

    def both(self, other: Outcome) -> Outcome:
        """Of this and the other."""
        return _BOTH[self, other]

    def either(self, other: Outcome) -> Outcome:
        """Of this or the other."""
        return _NEGATED[_BOTH[_NEGATED[self], _NEGATED[other]]]

    @property
    def answer(self) -> Answer:
        """A row matches where the result is true; null is not."""
        if self == Outcome.TRUE:
            return Answer.ALWAYS
        return Answer.MAYBE if self & Outcome.TRUE else Answer.NEVER


def _negated(one: Outcome) -> Outcome:
    swapped = one & Outcome.NULL
    if one & Outcome.TRUE:
        swapped |= Outcome.FALSE
    if one & Outcome.FALSE:
        swapped |= Outcome.TRUE
    return swapped


def _both(one: Outcome, other: Outcome) -> Outcome:
    out = (one & other & Outcome.TRUE) | ((one | other) & Outcome.FALSE)
    if (one & Outcome.NULL and other & ~Outcome.FALSE) or (
        other & Outcome.NULL and one & ~Outcome.FALSE
    ):
        out |= Outcome.NULL
    return out


# Statistics of thousands of pages are asked in a row, and arithmetic of flags is slow.
_ALL = [Outcome(i) for i in range(8)]
_NEGATED = {one: _negated(one) for one in _ALL}
_BOTH = {(one, other): _both(one, other) for one in _ALL for other in _ALL}
_EITHER_WAY = Outcome.TRUE | Outcome.FALSE


def equals(value: Order) -> tuple[Order, ...]:
    """All values that compare equal to one: the float zero has two signs."""
    return (0.0, -0.0) if isinstance(value, float) and value == 0 else (value,)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Bounds and counts of one leaf in some rows; None is unknown.

    min, max: no value lies outside; NaN and nulls aside. An Arrow scalar, a Python value as
    ``as_py`` gives it, the raw integer of a time, or the bytes of a string, whole or cut.
    min_exact, max_exact: whether the bound is a value, and not a cut or rounded one.
    null_count: rows in which the leaf is null, by itself or by a struct above it.
    rows: all rows, null or not. nan_count: rows that hold NaN.
    lacks: whether it is certain that no value is this one, in the order of the column's plain type;
    it tells 0.0 and -0.0 apart.
    """

    min: Any = None
    max: Any = None
    null_count: int | None = None
    rows: int | None = None
    nan_count: int | None = None
    distinct_count: int | None = None
    min_exact: bool = True
    max_exact: bool = True
    lacks: Callable[[Order], bool] | None = field(default=None, compare=False, repr=False)

    @property
    def nulls(self) -> Outcome:
        """TRUE where a row can be null, FALSE where one can be not null."""
        if self.null_count is None:
            return _EITHER_WAY
        if self.null_count <= 0:
            return Outcome.FALSE
        if self.rows is not None and self.null_count >= self.rows:
            return Outcome.TRUE
        return _EITHER_WAY

    def nans(self, kind: pa.DataType) -> bool:
        """Whether a value of ``kind`` can be NaN."""
        return bool(pa.types.is_floating(kind)) and self.nan_count != 0

    def numbers(self, kind: pa.DataType) -> bool:
        """Whether a value of ``kind`` can be other than NaN."""
        if not self.nan_count or self.null_count is None or self.rows is None:
            return True
        return not pa.types.is_floating(kind) or self.nan_count + self.null_count < self.rows

    def without(self, value: Order) -> bool:
        """Whether it is certain that no value equals this one; both zeros are equal."""
        if self.lacks is None:
            return False
        return all(self.lacks(one) for one in equals(value))

    def bounds(self, kind: pa.DataType) -> tuple[Order | None, Order | None]:
        """Both bounds in the order of ``kind``, a plain type; nonsense counts as unknown."""
        low, high = _order(self.min, kind), _order(self.max, kind)
        if low is not None and high is not None and low > high:  # type: ignore[operator]
            return None, None
        return low, high


def _order(bound: Any, kind: pa.DataType) -> Order | None:
    """As :func:`order_of`, at once for what stands for itself."""
    if type(bound) is int and pa.types.is_integer(kind):
        return bound
    if type(bound) is float and bound == bound and pa.types.is_floating(kind):
        return bound
    return order_of(bound, kind)
