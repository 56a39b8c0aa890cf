"""Which rows lie in which page of a column: its ordinal index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rangeio.codecs.bounds import Offsets
from rangeio.errors import Corrupt, FormatError
from rangeio.formats.doris.meta import LEAST_PAGE, Root
from rangeio.formats.doris.page import index_entries, unframed
from rangeio.formats.doris.words import Compression
from rangeio.plan import Rows
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, needs

_NONE, _FIRST = np.empty(0, np.int64), np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Ordinals:
    """Pages of one column, or some of them, in order.

    firsts: the first row of each. stops: the row after its last. offsets, sizes: where it lies.
    last: the position of the column's last page among them, -1 where it is not one of them.
    """

    firsts: Offsets
    stops: Offsets
    offsets: Offsets
    sizes: Offsets
    last: int

    def __len__(self) -> int:
        return len(self.firsts)

    @property
    def size(self) -> int:
        """Bytes of all pages."""
        return int(self.sizes.sum())

    def touched(self, rows: Rows) -> Offsets:
        """The pages that hold one of the rows, ascending."""
        if len(self) == 1 and len(rows) == 1:  # as in every column of a wide table
            start, stop = rows.extent
            return _FIRST if start < int(self.stops[0]) and stop > int(self.firsts[0]) else _NONE
        first = np.searchsorted(rows.stops, self.firsts, "right")
        return np.flatnonzero(np.searchsorted(rows.starts, self.stops, "left") > first)

    def chosen(self, pages: Offsets) -> Ordinals:
        """Only these pages, which ascend."""
        if len(pages) == len(self):
            return self
        last = len(pages) - 1 if len(pages) and int(pages[-1]) == self.last else -1
        first, stop, at, size = self.firsts, self.stops, self.offsets, self.sizes
        return Ordinals(first[pages], stop[pages], at[pages], size[pages], last)

    def ranges(self) -> tuple[ByteRange, ...]:
        """Where the pages lie."""
        ends = (self.offsets + self.sizes).tolist()
        return tuple(map(ByteRange, self.offsets.tolist(), ends))


EMPTY = Ordinals(_NONE, _NONE, _NONE, _NONE, -1)


def single(at: ByteRange, rows: int) -> Ordinals:
    """Of a column whose rows all lie in one page."""
    one = [np.array([n], np.int64) for n in (0, rows, at.start, at.size)]
    return Ordinals(one[0], one[1], one[2], one[3], 0)


def parsed(data: memoryview, root: Root, scheme: Compression, rows: int, limit: int) -> Ordinals:
    """The pages that an index page names; together they hold ``rows`` rows, before ``limit``.

    Raises Corrupt where they do not.
    """
    at = root.at.start
    found = index_entries(unframed(data, scheme, at))
    if not found.keys or any(len(key) != 8 for key in found.keys):
        raise Corrupt("an ordinal index without ordinals", offset=at)
    numbers = np.frombuffer(b"".join(found.keys), ">u8")
    if int(numbers[0]) or int(numbers.max()) >= rows or bool((numbers[1:] <= numbers[:-1]).any()):
        raise Corrupt(f"an ordinal index that does not part {rows} rows", offset=at)
    firsts = numbers.astype(np.int64)
    if (found.sizes < LEAST_PAGE).any() or (found.offsets > limit - found.sizes).any():
        raise Corrupt("an ordinal index of pages that are not there", offset=at)
    return Ordinals(
        firsts, np.append(firsts[1:], rows), found.offsets, found.sizes, len(firsts) - 1
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """An ordinal index to be read. rows: of the column, for its last page's sake."""

    root: Root | None
    rows: int
    compression: Compression
    name: str


def read(wanted: Sequence[Wanted], limit: int) -> Steps[list[Ordinals]]:
    """The pages of many columns: one hop for all that have more than one."""
    roots = {w.root.at: w for w in wanted if w.root is not None and not w.root.is_page and w.rows}
    ranges = sorted(roots)
    replies = yield from needs(ranges, "doris.ordinal_index")
    held = dict(zip(ranges, replies, strict=True))
    return [_of(one, held, limit) for one in wanted]


def _of(one: Wanted, held: Mapping[ByteRange, memoryview], limit: int) -> Ordinals:
    if not one.rows:
        return EMPTY
    if one.root is None:
        raise Corrupt(f"{one.name!r} has {one.rows} rows and no page")
    if one.root.is_page:
        return single(one.root.at, one.rows)
    try:
        return parsed(held[one.root.at], one.root, one.compression, one.rows, limit)
    except FormatError as error:
        error.reason = f"{one.name!r}: {error.reason}"
        raise
