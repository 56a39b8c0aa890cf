"""What a Parquet file says of the values of its chunks and pages, as far as it can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rangeio.codecs import thrift
from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Fact, Leaf, Order, ParquetMeta
from rangeio.formats.parquet.pages.offsets import ColumnIndex
from rangeio.formats.parquet.pruning.values import Floats, Pair, Values, values_of
from rangeio.literal import legible, plain
from rangeio.statistics import Statistics

_LEGACY_MAX, _LEGACY_MIN, _NULLS, _DISTINCT, _MAX, _MIN, _MAX_EXACT, _MIN_EXACT, _NANS = range(
    1, 10
)


def chunk_statistics(meta: ParquetMeta, group: int) -> Statistics:
    """What is said of a leaf in one row group; what is broken or a known lie counts as unsaid."""
    return Chunks(meta).statistics(group)


class Chunks:
    """What is said of the chunks of a leaf, for many of them."""

    def __init__(self, meta: ParquetMeta) -> None:
        self._meta = meta
        self._values = values_of(meta.leaf)

    def statistics(self, group: int) -> Statistics:
        """As :func:`chunk_statistics`."""
        meta, leaf = self._meta, self._meta.leaf
        rows, at = int(meta.group_rows[group]), meta.fact(group, Fact.STATISTICS)
        if at < 0:
            return _unknown(leaf, rows)
        try:
            said, _ = thrift.read(meta.chunks[group], at)
            nulls, nans = said.integer(_NULLS), said.integer(_NANS)
            values = meta.fact(group, Fact.VALUES) if leaf.max_repetition else rows
            if not _credible(leaf, nulls, nans, values):
                return _unknown(leaf, rows)
            bounds = _bounds(leaf, self._values, said)
            exact = said.flag(_MIN_EXACT), said.flag(_MAX_EXACT)
            return _stated(leaf, bounds, nulls, rows, nans, exact, said.integer(_DISTINCT))
        except Corrupt:
            return _unknown(leaf, rows)


def page_statistics(leaf: Leaf, index: ColumnIndex, page: int, rows: int) -> Statistics:
    """What is said of a leaf in one page, which has so many rows; ``index`` is credible."""
    return Pages(leaf, index).statistics(page, rows)


class Pages:
    """What a column index says of the pages of a leaf, for many of them."""

    def __init__(self, leaf: Leaf, index: ColumnIndex) -> None:
        self._leaf, self._index = leaf, index
        values = values_of(leaf)
        self._values = values if values is not None and _ordered(leaf, values) else None

    def statistics(self, page: int, rows: int) -> Statistics:
        """As :func:`page_statistics`."""
        leaf, index = self._leaf, self._index
        nulls = None if index.null_counts is None else index.null_counts[page]
        nans = None if index.nan_counts is None else index.nan_counts[page]
        if not _credible(leaf, nulls, nans, rows if leaf.max_repetition == 0 else -1):
            return _unknown(leaf, rows)
        bounds: Pair = (None, None)
        if self._values is not None and not index.null_pages[page]:
            bounds = self._values.bounds(index.mins[page], index.maxs[page])
        return _stated(leaf, bounds, nulls, rows, nans, (None, None), None)


def _unknown(leaf: Leaf, rows: int) -> Statistics:
    """Of a leaf of which nothing is said."""
    return Statistics(
        null_count=0 if leaf.required else None, rows=None if leaf.max_repetition else rows
    )


def _credible(leaf: Leaf, nulls: int | None, nans: int | None, values: int) -> bool:
    """Whether the counts fit a leaf of so many values, nulls included; -1 where these are not
    known."""
    if nulls is not None and (nulls < 0 or nulls > values >= 0 or (leaf.required and nulls)):
        return False
    return nans is None or not (nans < 0 or nans > values - (nulls or 0) >= 0)


def _ordered(leaf: Leaf, values: Values) -> bool:
    """Whether the bounds of the leaf are ordered as its values are."""
    if leaf.order is Order.IEEE_754_TOTAL:
        return isinstance(values, Floats)
    return leaf.order is Order.TYPE


def _bounds(leaf: Leaf, values: Values | None, said: thrift.Struct) -> Pair:
    if values is None:
        return None, None
    low, high = said.binary(_MIN), said.binary(_MAX)
    if (low is not None or high is not None) and _ordered(leaf, values):
        return values.bounds(low, high)
    if values.signed:
        return values.bounds(said.binary(_LEGACY_MIN), said.binary(_LEGACY_MAX))
    return None, None


def _stated(
    leaf: Leaf,
    bounds: Pair,
    nulls: int | None,
    rows: int,
    nans: int | None,
    exact: tuple[bool | None, bool | None],
    distinct: int | None,
) -> Statistics:
    low, high = bounds
    if low is not None and high is not None and low > high:
        low = high = None
    # Only bytes are ever cut, so numbers that nothing is said of are values.
    sure = not isinstance(low, bytes) and not isinstance(high, bytes)
    return Statistics(
        min=low,
        max=high,
        null_count=0 if leaf.required else nulls,
        rows=None if leaf.max_repetition else rows,
        nan_count=nans,
        distinct_count=distinct,
        min_exact=sure if exact[0] is None else exact[0],
        max_exact=sure if exact[1] is None else exact[1],
    )


# ---- of a whole column ---------------------------------------------------------------------------


def column_statistics(meta: ParquetMeta) -> Statistics:
    """What is said of a leaf in all row groups together, for people: times are Arrow scalars, and
    text is text where its bytes are. Unknown is what is unknown of one row group that has rows."""
    chunks = Chunks(meta)
    known = [chunks.statistics(g) for g, rows in enumerate(meta.group_rows.tolist()) if rows]
    valued = [one for one in known if one.null_count is None or one.null_count != one.rows]
    low, low_exact = _extreme([(one.min, one.min_exact) for one in valued], min)
    high, high_exact = _extreme([(one.max, one.max_exact) for one in valued], max)
    return Statistics(
        min=legible(low, plain(meta.leaf.kind)),
        max=legible(high, plain(meta.leaf.kind)),
        null_count=_sum([one.null_count for one in known]),
        rows=_sum([one.rows for one in known]),
        nan_count=_sum([one.nan_count for one in known]),
        distinct_count=known[0].distinct_count if len(known) == 1 else None,
        min_exact=low_exact,
        max_exact=high_exact,
    )


def _extreme(
    bounds: Sequence[tuple[Any, bool]], choose: Callable[[list[Any]], Any]
) -> tuple[Any, bool]:
    """The outermost bound, and whether it is a value; None where one is unknown."""
    values = [value for value, _ in bounds]
    if not values or None in values:
        return None, True
    found = choose(values)
    return found, any(exact for value, exact in bounds if value == found)


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if len(known) == len(counts) else None
