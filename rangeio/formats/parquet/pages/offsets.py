"""The page index of a column chunk: where its pages lie, and what is said of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rangeio.codecs import thrift
from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Leaf
from rangeio.ranges import ByteRange

Int64 = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_FAR = 1 << 62  # positions below it cannot wrap an int64
_LARGEST = (1 << 31) - 1
_INTEGERS = (thrift.I16, thrift.I32, thrift.I64)


@dataclass(frozen=True, slots=True, eq=False)
class OffsetIndex:
    """The data pages of a chunk in their order; a dictionary page is not among them.

    offsets: positions in the file. sizes: bytes, each page's header included. first_rows: the row
    of the row group that a page begins with; it ends where the next one begins. All ascend, pages
    do not overlap, and the first row is 0.
    """

    offsets: Int64
    sizes: Int64
    first_rows: Int64

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnIndex:
    """What a chunk's writer says of its pages' values; one entry a page in every list.

    null_pages: pages without a value. mins, maxs: bounds as PLAIN bytes, byte arrays without their
    length; they may be wider than the values, and mean nothing for a null page. order: 0 unordered,
    1 ascending, 2 descending, null pages aside, as the writer says. null_counts, nan_counts: None
    where they are not known.
    """

    null_pages: list[bool]
    mins: list[bytes]
    maxs: list[bytes]
    order: int
    null_counts: list[int] | None
    nan_counts: list[int] | None


# ---- OffsetIndex ---------------------------------------------------------------------------------


def offset_index(data: memoryview, at: ByteRange, rows: int) -> OffsetIndex:
    """The OffsetIndex in ``data``, whose position in the file is ``at``, of a group of ``rows``.

    Raises Corrupt for broken Thrift, for pages that overlap or are out of order, for rows that do
    not ascend from 0 or reach ``rows``. What follows the list of pages is not looked at.
    """
    try:
        found = usual_locations(data)
        offsets, sizes, first_rows = locations(data) if found is None else found
        _check_places(offsets, sizes)
        _check_rows(first_rows, rows)
    except Corrupt as error:
        reason = f"OffsetIndex: {error.reason}"
        raise Corrupt(reason, at=at, offset=at.start + (error.offset or 0)) from None
    return OffsetIndex(offsets, sizes, first_rows)


def usual_locations(data: memoryview) -> tuple[Int64, Int64, Int64] | None:
    """Offsets, sizes and first rows of pages that are spelt as all writers do; None for others.

    A PageLocation of that spelling is ``16`` offset ``15`` size ``16`` row ``00``. Every byte below
    128 ends a varint or stands alone, so seven of them make a page.
    """
    if len(data) < 2 or data[0] != 0x19 or data[1] & 15 != thrift.STRUCT:
        return None
    try:
        count, _, start = thrift.sized(data, 1)
    except (Corrupt, IndexError):
        return None
    raw = np.frombuffer(data, np.uint8)[start:]
    ends = np.flatnonzero(raw < 128)[: 7 * count]
    if len(ends) < 7 * count:
        return None
    grid = ends.reshape(count, 7)
    heads = grid[:, (0, 2, 4, 6)]
    before = np.concatenate(([-1], ends))[:-1].reshape(count, 7)[:, (0, 2, 4, 6)]
    if (raw[heads] != (0x16, 0x15, 0x16, 0)).any() or (heads != before + 1).any():
        return None
    starts, sizes = grid[:, 0:6:2] + 1, grid[:, 1:6:2] - grid[:, 0:6:2]
    if sizes.size and int(sizes.max()) > 10:
        return None
    numbers = _numbers(raw, starts.T.ravel(), sizes.T.ravel()).reshape(3, count)
    return numbers[0], numbers[1], numbers[2]


def _numbers(raw: Bytes, starts: Int64, sizes: Int64) -> Int64:
    """Signed varints of 1 to 10 bytes, which lie at ``starts``."""
    values = np.zeros(len(starts), np.uint64)
    for k in range(int(sizes.max(initial=0))):
        chosen = np.flatnonzero(sizes > k)
        low = (raw[starts[chosen] + k] & 127).astype(np.uint64)
        values[chosen] |= low << np.uint64(7 * k)
    return (values >> np.uint64(1)).view(np.int64) ^ -(values & np.uint64(1)).view(np.int64)


def locations(data: memoryview) -> tuple[Int64, Int64, Int64]:
    """The same, whatever the spelling. Raises Corrupt."""
    rows = []
    for field, kind, start, _ in thrift.fields(data):
        if field != 1:
            continue
        if kind != thrift.LIST:
            raise Corrupt(f"the list of pages has the Thrift type {kind}", offset=start)
        count, element, place = thrift.sized(data, start)
        if count and element != thrift.STRUCT:
            raise Corrupt(f"pages have the Thrift type {element}", offset=start)
        for _ in range(count):
            page, place = thrift.read(data, place)
            rows.append(_location(page, place))
        table = np.array(rows, np.int64).reshape(-1, 3)
        return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()
    raise Corrupt("there is no list of pages")


def _location(page: thrift.Struct, stop: int) -> tuple[int, int, int]:
    offset, size, row = (page.integer(field) for field in (1, 2, 3))
    if offset is None or size is None or row is None:
        raise Corrupt("a page without its offset, size or first row", offset=stop)
    return offset, size, row


def _check_places(offsets: Int64, sizes: Int64) -> None:
    if not len(offsets):
        return
    if int(sizes.min()) <= 0 or int(sizes.max()) > _LARGEST:
        raise Corrupt(f"pages of {sizes.min()} to {sizes.max()} bytes")
    if int(offsets.min()) < 0 or int(offsets.max()) > _FAR:
        raise Corrupt(f"pages at {offsets.min()} to {offsets.max()}")
    inside = offsets[1:] < offsets[:-1] + sizes[:-1]
    if inside.any():
        raise Corrupt(f"page {int(np.argmax(inside)) + 1} begins before the one before it ends")


def _check_rows(first_rows: Int64, rows: int) -> None:
    if not len(first_rows):
        if rows:
            raise Corrupt(f"no pages for {rows} rows")
        return
    if first_rows[0] != 0 or int(first_rows[-1]) >= rows:
        raise Corrupt(f"pages begin at rows {first_rows[0]} to {first_rows[-1]} of {rows}")
    if (first_rows[1:] <= first_rows[:-1]).any():
        raise Corrupt("the first rows of pages do not ascend")


# ---- ColumnIndex ---------------------------------------------------------------------------------


def column_index(
    data: memoryview, at: ByteRange, leaf: Leaf, pages: int, page_rows: Int64
) -> ColumnIndex | None:
    """The ColumnIndex in ``data``; None for one that must not be believed.

    That is one of broken Thrift, one without an entry for each of the ``pages`` (``page_rows``:
    rows of each) or with an unknown order, and a known liar: counts below zero or above the rows,
    null pages of a required leaf, null pages that their null counts do not confirm. The index only
    helps, so no lie of it may fail a read: nothing is raised.
    """
    try:
        found = _parsed(data)
    except (Corrupt, IndexError):
        return None
    if found is None or not _shaped(found, pages) or not _honest(found, leaf, page_rows):
        return None
    return found


def _parsed(data: memoryview) -> ColumnIndex | None:
    """What the struct says, None where it lacks a list that it must have."""
    found: dict[int, Any] = {}
    for field, kind, start, stop in thrift.fields(data):
        if kind == thrift.LIST and field in _LISTS:
            found[field] = _LISTS[field](data[:stop], start)
        elif kind in _INTEGERS and field == 4:
            found[field] = thrift.integer(data, start)[0]
    if not found.keys() >= {1, 2, 3, 4}:
        return None
    return ColumnIndex(found[1], found[2], found[3], found[4], found.get(5), found.get(8))


def _flags(data: memoryview, at: int) -> list[bool]:
    count, element, at = thrift.sized(data, at)
    flags = bytes(data[at : at + count])
    if count and (element not in (thrift.TRUE, thrift.FALSE) or max(flags) > thrift.FALSE):
        raise Corrupt("null_pages are no booleans", offset=at)
    return [flag == thrift.TRUE for flag in flags]


def _texts(data: memoryview, at: int) -> list[bytes]:
    count, element, at = thrift.sized(data, at)
    if count and element != thrift.BINARY:
        raise Corrupt(f"bounds have the Thrift type {element}", offset=at)
    texts = []
    for _ in range(count):
        size, at = thrift.varint(data, at)
        texts.append(bytes(data[at : at + size]))
        at += size
    return texts


def _counts(data: memoryview, at: int) -> list[int]:
    count, element, at = thrift.sized(data, at)
    if count and element not in _INTEGERS:
        raise Corrupt(f"counts have the Thrift type {element}", offset=at)
    raw = np.frombuffer(data, np.uint8)[at:]
    ends = np.flatnonzero(raw < 128)[:count]
    starts = np.concatenate(([0], ends + 1))[:count]
    counts: list[int] = _numbers(raw, starts, ends + 1 - starts).tolist()
    return counts


_LISTS = {1: _flags, 2: _texts, 3: _texts, 5: _counts, 8: _counts}


def _shaped(index: ColumnIndex, pages: int) -> bool:
    lists: Sequence[Sequence[object] | None] = (
        *(index.null_pages, index.mins, index.maxs),
        *(index.null_counts, index.nan_counts),
    )
    return 0 <= index.order <= 2 and all(one is None or len(one) == pages for one in lists)


def _honest(index: ColumnIndex, leaf: Leaf, page_rows: Int64) -> bool:
    """Whether the counts of nulls and NaN confirm the null pages, and fit the leaf and its rows."""
    empty = np.array(index.null_pages, np.bool_)
    if index.null_counts is None:
        return not empty.any() and _fitting(index.nan_counts, leaf, page_rows)
    nulls = np.array(index.null_counts, np.int64)
    if (nulls < 0).any() or not _fitting(index.nan_counts, leaf, page_rows - nulls):
        return False
    if leaf.required:
        return not empty.any() and not nulls.any()
    if leaf.max_repetition:  # how many values a page has is not known
        return not (empty & (nulls == 0)).any()
    return bool((nulls <= page_rows).all() and (empty == (nulls == page_rows)).all())


def _fitting(counts: list[int] | None, leaf: Leaf, most: Int64) -> bool:
    """Whether the counts are none below zero and, in a flat leaf, none above ``most``."""
    if counts is None:
        return True
    found = np.array(counts, np.int64)
    return bool((found >= 0).all() and (leaf.max_repetition > 0 or (found <= most).all()))
