"""Which rows a filter leaves of a read, by the statistics, bloom filters and page indexes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.formats.parquet.leaf import ParquetMeta
from rangeio.formats.parquet.pages.offsets import OffsetIndex
from rangeio.formats.parquet.pruning.pages import paged
from rangeio.formats.parquet.pruning.probing import probed
from rangeio.formats.parquet.pruning.search import Int64, Known, Search, touched
from rangeio.formats.parquet.pruning.statistics import Chunks
from rangeio.plan import Rows
from rangeio.predicate import Answer, Predicate
from rangeio.steps import Steps


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The rows in which some may match, and what was left out, in words.

    indexes: the offset indexes that were read on the way, by leaf index and row group.
    """

    rows: Rows
    pruned: tuple[str, ...]
    indexes: Mapping[tuple[int, int], OffsetIndex]


def kept(
    metas: Sequence[ParquetMeta], predicate: Predicate, rows: Rows, *, size: int, sparing: int
) -> Steps[Kept]:
    """What the filter leaves of ``rows``; no row that matches is ever left out.

    metas: the leaves that the read touches, those of the filter among them. size: of the file.
    sparing: bytes that fetching a filter or index must be able to spare, beyond its own. Costs at
    most two hops for bloom filters and one for page indexes, each for all row groups together.
    Statistics, filters and indexes that are broken or contradict themselves count as absent.
    """
    if not metas:
        return Kept(rows, (), {})
    search = Search(metas, predicate, size, sparing)
    stops: Int64 = np.cumsum(metas[0].group_rows)
    starts: Int64 = stops - metas[0].group_rows
    groups = np.flatnonzero((starts < stops) & touched(rows, starts, stops)).tolist()
    spans = {g: (int(starts[g]), int(stops[g])) for g in groups}
    doubtful, why = _doubtful(search, groups)
    why |= yield from probed(search, doubtful)
    doubtful = {g: known for g, known in doubtful.items() if g not in why}
    asked = {g: rows.within(*spans[g]).shifted(-spans[g][0]) for g in doubtful}
    found = yield from paged(search, doubtful, asked)
    left = {g: Rows.span(*span) for g, span in spans.items() if g not in why}
    left |= {g: own.rows.shifted(spans[g][0]) for g, own in found.items() if own.rows is not None}
    why |= {g: own.why for g, own in found.items() if own.why}
    words = tuple(f"row group {g}: {why[g]}" for g in sorted(why))
    indexes = {(leaf, g): one for g, own in found.items() for leaf, one in own.indexes.items()}
    return Kept(_within(rows, list(left.values())) if words else rows, words, indexes)


def _doubtful(search: Search, groups: Sequence[int]) -> tuple[dict[int, Known], dict[int, str]]:
    """The row groups of which statistics do not say whether all rows match, with what is known;
    and why no row does of those of which they say that."""
    doubtful: dict[int, Known] = {}
    why: dict[int, str] = {}
    chunks = {path: Chunks(meta) for path, meta in search.leaves.items()}
    for group in groups:
        known = {path: own.statistics(group) for path, own in chunks.items()}
        answer = search.predicate.keep(known)
        if answer is Answer.MAYBE:
            doubtful[group] = known
        elif answer is Answer.NEVER:
            blamed = search.blamed(known)
            why[group] = f"statistics of {blamed}" if blamed else "the filter matches no row"
    return doubtful, why


def _within(rows: Rows, parts: Sequence[Rows]) -> Rows:
    """The rows that lie in ascending parts."""
    none = Rows([], [])
    starts = np.concatenate([part.starts for part in (none, *parts)])
    stops = np.concatenate([part.stops for part in (none, *parts)])
    edges = np.unique(np.concatenate([rows.starts, rows.stops, starts, stops]))
    inside = _covered(rows, edges[:-1]) & _covered(Rows(starts, stops), edges[:-1])
    cuts = np.flatnonzero(np.diff(inside, prepend=False, append=False)).reshape(-1, 2)
    return Rows(edges[cuts[:, 0]], edges[cuts[:, 1]])


def _covered(rows: Rows, numbers: Int64) -> npt.NDArray[np.bool_]:
    """Which numbers are among the rows."""
    begun = np.searchsorted(rows.starts, numbers, "right")
    return np.searchsorted(rows.stops, numbers, "right") < begun
