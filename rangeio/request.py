"""Row words to row numbers: what a caller may pass as ``rows=``. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.errors import BadRows
from rangeio.picking import taken
from rangeio.plan import Rows

Numbers: TypeAlias = npt.NDArray[np.int64]
RowWords: TypeAlias = (
    slice | range | Rows | Sequence[int] | npt.NDArray[np.integer] | pa.Array | pa.ChunkedArray
)


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Which rows are read, and how they are handed on.

    rows: the distinct rows, ascending. take: positions among them, one per row of the result;
    None where the result is just ``rows`` in order.
    """

    rows: Rows
    take: Numbers | None = None

    @property
    def count(self) -> int:
        """Rows of the result, duplicates counted."""
        return self.rows.count if self.take is None else len(self.take)

    def within(self, kept: Rows) -> RowSelection:
        """The selection without what is not in ``kept``, some of its rows."""
        if self.take is None:
            return RowSelection(kept)
        numbers, left = self.rows.array()[self.take], kept.array()
        places = np.searchsorted(left, numbers)
        there = places < len(left)
        there[there] = left[places[there]] == numbers[there]
        return RowSelection(kept, places[there])

    def arranged(self, table: pa.Table) -> pa.Table:
        """The table of ``rows``, brought into the asked order with its duplicates."""
        return table if self.take is None else taken(table, self.take)


def rows_of(rows: RowWords | None, num_rows: int, what: str = "file") -> RowSelection:
    """Turn row words into row numbers of a file of ``num_rows`` rows; None is all of them.

    A slice is clipped as Python's; a list, range, numpy or Arrow array of row numbers keeps its
    order and duplicates. O(n log n). Raises BadRows: negative or outside the file, a slice with a
    step, anything but whole numbers. what: has the rows, for the error.
    """
    if rows is None:
        return RowSelection(Rows.span(0, num_rows))
    if isinstance(rows, slice):
        return RowSelection(_sliced(rows, num_rows))
    if isinstance(rows, range):
        return _ranged(rows, num_rows, what)
    if isinstance(rows, Rows):
        if len(rows):
            _inside(int(rows.starts[0]), int(rows.stops[-1]) - 1, num_rows, what)
        return RowSelection(rows)
    return _listed(_numbers(rows, num_rows, what))


def _sliced(rows: slice, num_rows: int) -> Rows:
    if rows.step is not None and (isinstance(rows.step, bool) or rows.step != 1):
        raise BadRows(f"a slice of rows has step 1, not {rows.step!r}")
    start = 0 if rows.start is None else _whole(rows.start)
    stop = num_rows if rows.stop is None else _whole(rows.stop)
    return Rows.span(min(start, num_rows), min(stop, num_rows))


def _whole(bound: object) -> int:
    """The bound of a slice as an int that is not negative."""
    if isinstance(bound, (bool, np.bool_)):
        raise BadRows(f"a row number is a whole number, not {bound!r}")
    try:
        number = index(bound)  # type: ignore[arg-type]
    except TypeError:
        raise BadRows(f"a row number is a whole number, not {bound!r}") from None
    if number < 0:
        raise BadRows(f"row {number} is negative; rows are counted from the first, 0")
    return number


def _ranged(rows: range, num_rows: int, what: str) -> RowSelection:
    """A range is checked by its ends, before anything of its length is allocated."""
    if not rows:
        return RowSelection(Rows.span(0, 0))
    _inside(min(rows[0], rows[-1]), max(rows[0], rows[-1]), num_rows, what)
    if rows.step == 1:
        return RowSelection(Rows.span(rows.start, rows.stop))
    return _listed(np.arange(rows.start, rows.stop, rows.step, dtype=np.int64))


def _listed(numbers: Numbers) -> RowSelection:
    if len(numbers) < 2 or bool((np.diff(numbers) > 0).all()):
        return RowSelection(Rows.of(numbers))
    distinct, take = np.unique(numbers, return_inverse=True)
    return RowSelection(Rows.of(distinct), take.astype(np.int64, copy=False))


def _numbers(rows: object, num_rows: int, what: str) -> Numbers:
    """Row numbers as an array of int64, every one of them there."""
    found = _array(rows)
    if found.ndim != 1:
        raise BadRows(f"row numbers come in one dimension, not {found.ndim}")
    if not found.size:
        return np.empty(0, np.int64)
    if found.dtype.kind not in "iu":
        raise BadRows(f"row numbers are whole numbers, not {found.dtype}")
    _inside(int(found.min()), int(found.max()), num_rows, what)
    return found.astype(np.int64, copy=False)


def _array(rows: object) -> npt.NDArray[np.generic]:
    if isinstance(rows, (pa.Array, pa.ChunkedArray)):
        if rows.null_count:
            raise BadRows("a row number is null")
        return np.asarray(rows)
    if isinstance(rows, (list, tuple)):
        odd = {type(one) for one in rows} & {bool, np.bool_}
        if odd:
            raise BadRows("row numbers are whole numbers; a mask of booleans is a filter")
    elif isinstance(rows, (str, bytes)) or not hasattr(rows, "__array__"):
        raise BadRows(f"rows are a slice or a list of row numbers, not {type(rows).__name__}")
    try:
        return np.asarray(rows)
    except (ValueError, OverflowError, TypeError) as error:
        raise BadRows(f"not a list of row numbers: {error}") from None


def _inside(least: int, most: int, num_rows: int, what: str) -> None:
    if least < 0:
        raise BadRows(f"row {least} is negative; rows are counted from the first, 0")
    if most >= num_rows:
        raise BadRows(f"row {most} is outside the {what}, which has {num_rows} rows")
