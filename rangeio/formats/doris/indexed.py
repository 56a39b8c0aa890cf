"""IndexedColumns: the pages that hold the values of an index, found by ordinal or by value."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

from rangeio.errors import Corrupt
from rangeio.formats.doris.encodings import Binary, decoded
from rangeio.formats.doris.meta import LEAST_PAGE, Indexed, Root
from rangeio.formats.doris.page import index_entries, unframed
from rangeio.formats.doris.words import PageType
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, need


class Texts(Sequence[bytes]):
    """Values of any size, each made into bytes when it is looked at."""

    def __init__(self, values: Binary) -> None:
        self._data = values.data.data
        self._offsets = values.offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, i: int) -> bytes: ...

    @overload
    def __getitem__(self, i: slice) -> list[bytes]: ...

    def __getitem__(self, i: int | slice) -> bytes | list[bytes]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not 0 <= i < len(self):
            raise IndexError(i)
        return bytes(self._data[int(self._offsets[i]) : int(self._offsets[i + 1])])

    def __iter__(self) -> Iterator[bytes]:
        edges = self._offsets.tolist()
        return (bytes(self._data[a:b]) for a, b in pairwise(edges))


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """The data pages of an IndexedColumn. keys: the first value of each, or its ordinal in 8 bytes,
    as the index that they come from has it; of a single page the key is not known."""

    keys: Sequence[bytes]
    ranges: Sequence[ByteRange]

    def between(self, low: bytes, high: bytes | None) -> range:
        """The pages that may hold values from ``low`` to before ``high``, None: to the end."""
        if len(self.ranges) == 1:
            return range(1)
        first = max(bisect_right(self.keys, low) - 1, 0)
        last = len(self.ranges) if high is None else bisect_left(self.keys, high)
        return range(first, max(last, first + 1))


def leaves(column: Indexed, root: Root | None, limit: int, why: str) -> Steps[Leaves]:
    """The data pages below a root; one hop where there is more than one of them."""
    if root is None:
        return Leaves((), ())
    if root.is_page:
        return Leaves((b"",), (root.at,))
    data = yield from need(root.at, why)
    return entries(column, root, data, limit)


def entries(column: Indexed, root: Root, data: memoryview, limit: int) -> Leaves:
    """The data pages that an index page names, all before ``limit``."""
    found = index_entries(unframed(data, column.compression, root.at.start))
    offsets, sizes = found.offsets, found.sizes
    if not len(sizes) or (sizes < LEAST_PAGE).any() or (offsets > limit - sizes).any():
        raise Corrupt("an index of pages that are not there", offset=root.at.start)
    ranges = [ByteRange(a, a + n) for a, n in zip(offsets.tolist(), sizes.tolist(), strict=True)]
    return Leaves(found.keys, ranges)


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The values of one page, and the ordinal of the first."""

    first: int
    values: Texts

    def between(self, low: bytes, high: bytes | None) -> Iterator[tuple[bytes, int]]:
        """The values from ``low`` to before ``high``, each with its ordinal; they are sorted."""
        a = bisect_left(self.values, low)
        b = len(self.values) if high is None else bisect_left(self.values, high)
        return ((self.values[i], self.first + i) for i in range(a, b))


def leaf(column: Indexed, data: memoryview, at: ByteRange) -> Leaf:
    """The values of the data page that lies at ``at``. Raises Corrupt."""
    page = unframed(data, column.compression, at.start)
    if page.kind is not PageType.DATA or page.footer.data_page_footer.nullmap_size:
        raise Corrupt("a page of an index that is no page of values", offset=at.start)
    own = page.footer.data_page_footer
    if own.first_ordinal + own.num_values > column.count:
        raise Corrupt(f"a page beyond the {column.count} values of an index", offset=at.start)
    try:
        values = decoded(column.encoding, 0, page.body, own.num_values)
    except Corrupt as error:
        raise Corrupt(error.reason, offset=at.start) from None
    assert isinstance(values, Binary)
    return Leaf(own.first_ordinal, Texts(values))
