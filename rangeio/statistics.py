"""What is known of the values of a page or chunk, and what follows from it. Pure."""

from __future__ import annotations

import enum
from dataclasses import dataclass
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
        swapped = self & Outcome.NULL
        if self & Outcome.TRUE:
            swapped |= Outcome.FALSE
        if self & Outcome.FALSE:
            swapped |= Outcome.TRUE
        return swapped

    def both(self, other: Outcome) -> Outcome:
        """Of this and the other."""
        out = (self & other & Outcome.TRUE) | ((self | other) & Outcome.FALSE)
        if (self & Outcome.NULL and other & ~Outcome.FALSE) or (
            other & Outcome.NULL and self & ~Outcome.FALSE
        ):
            out |= Outcome.NULL
        return out

    def either(self, other: Outcome) -> Outcome:
        """Of this or the other."""
        return self.negated().both(other.negated()).negated()

    @property
    def answer(self) -> Answer:
        """A row matches where the result is true; null is not."""
        if self == Outcome.TRUE:
            return Answer.ALWAYS
        return Answer.MAYBE if self & Outcome.TRUE else Answer.NEVER


@dataclass(frozen=True, slots=True)
class Statistics:
    """Bounds and counts of one leaf in some rows; None is unknown.

    min, max: no value lies outside; NaN and nulls aside. An Arrow scalar, a Python value as
    ``as_py`` gives it, the raw integer of a time, or the bytes of a string, whole or cut.
    min_exact, max_exact: whether the bound is a value, and not a cut or rounded one.
    null_count: rows in which the leaf is null, by itself or by a struct above it.
    rows: all rows, null or not. nan_count: rows that hold NaN.
    """

    min: Any = None
    max: Any = None
    null_count: int | None = None
    rows: int | None = None
    nan_count: int | None = None
    distinct_count: int | None = None
    min_exact: bool = True
    max_exact: bool = True

    @property
    def nulls(self) -> Outcome:
        """TRUE where a row can be null, FALSE where one can be not null."""
        if self.null_count is None:
            return Outcome.TRUE | Outcome.FALSE
        if self.null_count <= 0:
            return Outcome.FALSE
        if self.rows is not None and self.null_count >= self.rows:
            return Outcome.TRUE
        return Outcome.TRUE | Outcome.FALSE

    def nans(self, kind: pa.DataType) -> bool:
        """Whether a value of ``kind`` can be NaN."""
        return bool(pa.types.is_floating(kind)) and self.nan_count != 0

    def bounds(self, kind: pa.DataType) -> tuple[Order | None, Order | None]:
        """Both bounds in the order of ``kind``, a plain type; nonsense counts as unknown."""
        low, high = order_of(self.min, kind), order_of(self.max, kind)
        if low is not None and high is not None and low > high:  # type: ignore[operator]
            return None, None
        return low, high
