"""Page indexes of row groups: which rows lie in pages whose statistics let them match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rangeio.condition import Path
from rangeio.errors import FormatError
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.offsets import OffsetIndex, column_index, offset_index
from rangeio.formats.parquet.pruning.search import Int64, Known, Search, names, touched
from rangeio.formats.parquet.pruning.statistics import Pages
from rangeio.plan import Rows
from rangeio.ranges import ByteRange
from rangeio.statistics import Statistics
from rangeio.steps import Steps, needs


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """What page indexes leave of a row group.

    rows: those of its rows that may match, numbered within it; None: all that were asked. why: what
    was left out, in words. indexes: the offset indexes that were read, by index of the leaf.
    """

    rows: Rows | None
    why: str
    indexes: Mapping[int, OffsetIndex]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the page index of a chunk lies."""

    path: Path
    meta: ParquetMeta
    columns: ByteRange
    offsets: ByteRange


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """The pages of a chunk. said: of each. sizes: rows of each. chunk: what is known of all."""

    path: Path
    offsets: OffsetIndex
    said: Pages
    sizes: list[int]
    chunk: Statistics
    _made: dict[int, Statistics] = field(default_factory=dict)

    def at(self, rows: Int64) -> list[int]:
        """The pages that hold some rows."""
        found: list[int] = (np.searchsorted(self.offsets.first_rows, rows, "right") - 1).tolist()
        return found

    def statistics(self, page: int) -> Statistics:
        """What is known of a page."""
        if page not in self._made:
            one = self.said.statistics(page, self.sizes[page])
            self._made[page] = replace(one, lacks=self.chunk.lacks) if self.chunk.lacks else one
        return self._made[page]


def paged(
    search: Search, left: Mapping[int, Known], rows: Mapping[int, Rows]
) -> Steps[dict[int, Matching]]:
    """What page indexes leave of row groups; only of those whose indexes are worth their bytes.
    One hop.

    rows: the asked ones of each row group, numbered within it.
    """
    places = {group: own for group in left if (own := _worthwhile(search, group))}
    ranges = [at for own in places.values() for one in own for at in (one.columns, one.offsets)]
    replies = iter((yield from needs(ranges, "parquet.page_index")))
    found: dict[int, Matching] = {}
    for group, own in places.items():
        read = [(one, next(replies), next(replies)) for one in own]
        indexes, pages = _pages(group, left[group], read)
        kept, why = _kept(search, left[group], rows[group], pages) if pages else (None, "")
        found[group] = Matching(kept, why, indexes)
    return found


def _worthwhile(search: Search, group: int) -> list[Place]:
    """The indexes of the filter's leaves in a row group, if they can spare more than they cost."""
    found = []
    for path, meta in search.leaves.items():
        columns, offsets = (
            search.placed(meta.fact(group, at), meta.fact(group, size))
            for at, size in (
                (Fact.COLUMN_INDEX, Fact.COLUMN_INDEX_SIZE),
                (Fact.OFFSET_INDEX, Fact.OFFSET_INDEX_SIZE),
            )
        )
        if columns is not None and offsets is not None:
            found.append(Place(path, meta, columns, offsets))
    cost = sum(one.columns.size + one.offsets.size for one in found)
    return found if search.pays(group, cost) else []


def _pages(
    group: int, known: Known, read: Sequence[tuple[Place, memoryview, memoryview]]
) -> tuple[dict[int, OffsetIndex], list[Indexed]]:
    """The offset indexes, and the pages of the chunks whose column index can be believed."""
    indexes: dict[int, OffsetIndex] = {}
    pages: list[Indexed] = []
    for place, columns, offsets in read:
        leaf, count = place.meta.leaf, int(place.meta.group_rows[group])
        try:
            index = offset_index(offsets, place.offsets, count)
        except FormatError:  # then this chunk is told apart no further
            continue
        indexes[leaf.index] = index
        sizes = np.diff(index.first_rows, append=count)
        said = column_index(columns, place.columns, leaf, len(index), sizes)
        if said is not None:
            own = Pages(leaf, said)
            pages.append(Indexed(place.path, index, own, sizes.tolist(), known[place.path]))
    return indexes, pages


def _kept(
    search: Search, known: Known, rows: Rows, pages: Sequence[Indexed]
) -> tuple[Rows | None, str]:
    """Ask the filter of every run of rows that no page boundary parts and that holds an asked one.

    Gives the runs in which a row may match, None for all of them, and says what was left out.
    """
    firsts = [one.offsets.first_rows for one in pages]
    edges = np.unique(np.concatenate([*firsts, [sum(pages[0].sizes)]]))
    asked = touched(rows, edges[:-1], edges[1:])
    starts, stops = edges[:-1][asked], edges[1:][asked]
    at = [one.at(starts) for one in pages]
    never = [
        search.never(
            known | {one.path: one.statistics(n) for one, n in zip(pages, own, strict=True)}
        )
        for own in zip(*at, strict=True)
    ]
    if not any(never):
        return None, ""
    gone = np.array(never, np.bool_)
    words = []
    for one, own in zip(pages, map(np.asarray, at), strict=True):
        if count := len(np.setdiff1d(own[gone], own[~gone])):
            words.append(f"{count} of {len(one.offsets)} pages of {names([one.path])}")
    if not words:  # only parts of pages, where those of several leaves overlap
        lost = sum(rows.within(a, b).count for a, b in Rows(starts[gone], stops[gone]).runs())
        words = [f"{lost} rows by the pages of {names(one.path for one in pages)}"]
    return Rows(starts[~gone], stops[~gone]), ", ".join(words)
