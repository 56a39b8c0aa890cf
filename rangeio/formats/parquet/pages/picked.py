"""The pages of partly read chunks: which of them hold the asked rows, and where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.errors import FormatError
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.file import dictionary_range
from rangeio.formats.parquet.pages.offsets import OffsetIndex, offset_index
from rangeio.plan import Rows
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, needs


@dataclass(frozen=True, slots=True)
class Picked:
    """Pages of every leaf of one field in one row group.

    rows: the rows of the row group that they hold, the same for every leaf. ranges: of every leaf
    its dictionary page, where it has one, and the runs of its pages. counts: how many of
    ``ranges`` are a leaf's; dictionaries: whether the first of them is a dictionary.
    """

    rows: Rows
    ranges: tuple[ByteRange, ...]
    counts: tuple[int, ...]
    dictionaries: tuple[bool, ...]


def indexed(
    wanted: Sequence[tuple[ParquetMeta, int]], size: int
) -> Steps[dict[tuple[int, int], OffsetIndex]]:
    """The offset indexes of (leaf, row group), in one need; senseless ones are left out."""
    places = []
    for meta, group in wanted:
        start = meta.fact(group, Fact.OFFSET_INDEX)
        stop = start + meta.fact(group, Fact.OFFSET_INDEX_SIZE)
        if 0 < start < stop <= size:
            places.append((meta, group, ByteRange(start, stop)))
    replies = yield from needs([at for _, _, at in places], "parquet.offset_index")
    found: dict[tuple[int, int], OffsetIndex] = {}
    for (meta, group, at), data in zip(places, replies, strict=True):
        try:
            found[meta.index, group] = offset_index(data, at, int(meta.group_rows[group]))
        except FormatError:
            continue  # an index is a help; the chunk can be read without it
    return found


def picked(
    metas: Sequence[ParquetMeta],
    group: int,
    indexes: Sequence[OffsetIndex | None],
    rows: Rows,
    count: int,
) -> Picked | None:
    """The pages that hold ``rows`` of a row group of ``count`` rows.

    None where a leaf has no index, where it would be all pages, or where the leaves of a nested
    field are cut at rows that do not meet.
    """
    known = [index for index in indexes if index is not None and len(index)]
    if len(known) < len(metas) or not rows.count:
        return None
    edges = [np.append(index.first_rows, count) for index in known]
    common = edges[0]
    for other in edges[1:]:
        common = np.intersect1d(common, other, assume_unique=True)
    taken = _touched(common, rows)
    if taken.all():
        return None
    held = _rows(common, taken)
    ranges: list[ByteRange] = []
    counts, dictionaries = [], []
    for meta, index, own in zip(metas, known, edges, strict=True):
        runs = _runs(index, _touched(own, held))
        try:
            first = dictionary_range(meta, group, int(index.offsets[0]))
        except FormatError:
            return None
        mine = [*([] if first is None else [first]), *runs]
        if any(at.stop > _end(meta, group) for at in mine):
            return None
        ranges += mine
        counts.append(len(mine))
        dictionaries.append(first is not None)
    return Picked(held, tuple(ranges), tuple(counts), tuple(dictionaries))


def _end(meta: ParquetMeta, group: int) -> int:
    """Where a chunk ends at the latest: its pages lie in it."""
    start, first = meta.fact(group, Fact.DATA_PAGE), meta.fact(group, Fact.DICTIONARY_PAGE)
    return (first if 0 < first < start else start) + meta.fact(group, Fact.COMPRESSED)


def _touched(edges: npt.NDArray[np.int64], rows: Rows) -> npt.NDArray[np.bool_]:
    """Which of the spans between ``edges`` hold one of ``rows``."""
    out = np.zeros(len(edges), np.int64)
    lows = np.searchsorted(edges, rows.starts, "right") - 1
    highs = np.searchsorted(edges, rows.stops, "left")
    np.add.at(out, lows, 1)
    np.add.at(out, highs, -1)
    return np.cumsum(out)[:-1] > 0


def _rows(edges: npt.NDArray[np.int64], taken: npt.NDArray[np.bool_]) -> Rows:
    """The rows of the taken spans, neighbours joined."""
    change = np.flatnonzero(np.diff(np.concatenate(([0], taken.astype(np.int8), [0]))))
    return Rows(edges[change[0::2]], edges[change[1::2]])


def _runs(index: OffsetIndex, taken: npt.NDArray[np.bool_]) -> list[ByteRange]:
    """The bytes of the taken pages; pages that lie back to back are one run."""
    out: list[ByteRange] = []
    pages = np.flatnonzero(taken)
    starts, sizes = index.offsets[pages].tolist(), index.sizes[pages].tolist()
    for start, size in zip(starts, sizes, strict=True):
        if out and out[-1].stop == start:
            out[-1] = ByteRange(out[-1].start, start + size)
        else:
            out.append(ByteRange(start, start + size))
    return out
