"""One data page, decoded: its values, and which of its rows are NULL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.codecs.bounds import Offsets
from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats.doris.encodings import Binary, Fixed, Values, decoded, nullmap
from rangeio.formats.doris.meta import Node
from rangeio.formats.doris.page import Page, unframed
from rangeio.formats.doris.types import size_of
from rangeio.formats.doris.values import to_arrow
from rangeio.formats.doris.words import PageType, worded
from rangeio.plan import Rows
from rangeio.ranges import ByteRange

Mask = npt.NDArray[np.bool_]

_MOST_TEXT = (1 << 31) - 1  # bytes that one Arrow array of text holds
_SLICES = 64  # runs that are sliced; more are taken in one go
_FAR = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class PageData:
    """The rows ``first..first + rows`` of a column. values: dense. nulls: None where none is NULL.

    next: the ordinal after the last item of a page of offsets, -1 where it is not said.
    """

    at: ByteRange
    first: int
    rows: int
    values: Values
    nulls: Mask | None
    next: int

    def numbers(self) -> Offsets:
        """The values of a page of offsets."""
        fits = isinstance(self.values, Fixed) and self.values.data.shape[1] == 8
        if not fits or self.nulls is not None:
            raise Corrupt("a page of offsets that holds no offsets", offset=self.at.start)
        found = np.ascontiguousarray(self.values.data).view("<u8")[:, 0]
        if len(found) and int(found.max()) > _FAR:
            raise Corrupt("an offset beyond 2^62", offset=self.at.start)
        return found.astype(np.int64)

    def next_item(self, most: int) -> int:
        """Where the items of the last row end; ``most`` where the page does not say."""
        return self.next if 0 <= self.next <= _FAR else most


def page_data(
    data: memoryview | None, at: ByteRange, node: Node, words: Binary | None, first: int, stop: int
) -> PageData:
    """The page at ``at``, which must hold the rows ``first..stop``. Errors have its offset."""
    assert data is not None
    try:
        return _page_data(unframed(data, node.compression, at.start), at, node, words, first, stop)
    except FormatError as error:
        if error.offset is None:
            error.offset = at.start
        raise


def _page_data(
    page: Page, at: ByteRange, node: Node, words: Binary | None, first: int, stop: int
) -> PageData:
    if page.kind is not PageType.DATA:
        raise Corrupt(f"a page of {worded(PageType, page.kind)} where data belongs")
    own, rows = page.footer.data_page_footer, stop - first
    if own.num_values != rows or own.first_ordinal != first:
        begin, end = own.first_ordinal, own.first_ordinal + own.num_values
        raise Corrupt(f"a page of the rows {begin}..{end} where {first}..{stop} belong")
    nulls, size = None, own.nullmap_size
    if size > len(page.body):
        raise Corrupt(f"a null map of {size} bytes in a page of {len(page.body)}")
    if size:
        nulls = nullmap(page.body[len(page.body) - size :], rows)
    count = rows if nulls is None else rows - int(np.count_nonzero(nulls))
    body = page.body[: len(page.body) - size]
    values = decoded(node.encoding, size_of(node.type), body, count, words)
    following = own.next_array_item_ordinal if own.HasField("next_array_item_ordinal") else -1
    return PageData(at, first, rows, values, nulls, following)


def arrays(pages: Sequence[PageData], node: Node, kind: pa.DataType, rows: Rows) -> list[pa.Array]:
    """The asked rows of consecutive pages; more than one array only where text is too long."""
    found = []
    for group in _groups(pages):
        values = _joined([page.values for page in group])
        array = to_arrow(node.type, node.precision, node.frac, values, _masks(group), kind)
        found.append(_chosen(array, group, rows))
    return found or [pa.array([], kind)]


def _groups(pages: Sequence[PageData]) -> list[list[PageData]]:
    """The pages, cut where text would overflow one array."""
    groups: list[list[PageData]] = []
    size = 0
    for page in pages:
        own = int(page.values.offsets[-1]) if isinstance(page.values, Binary) else 0
        if not groups or size + own > _MOST_TEXT:
            groups.append([])
            size = 0
        if own > _MOST_TEXT:
            raise Unsupported(f"a page of {own} bytes of text", offset=page.at.start)
        groups[-1].append(page)
        size += own
    return groups


def _joined(values: Sequence[Values]) -> Values:
    """The values of pages, one after the other."""
    if len(values) == 1:
        return values[0]
    texts = [one for one in values if isinstance(one, Binary)]
    if not texts:
        return Fixed(np.concatenate([one.data for one in values]))
    sizes = np.concatenate([np.diff(one.offsets) for one in texts])
    data = [one.data[int(one.offsets[0]) : int(one.offsets[-1])] for one in texts]
    return Binary(np.concatenate(([0], np.cumsum(sizes))), np.concatenate(data))


def _masks(pages: Sequence[PageData]) -> Mask | None:
    if all(page.nulls is None for page in pages):
        return None
    none = [np.zeros(page.rows, np.bool_) if page.nulls is None else page.nulls for page in pages]
    return np.concatenate(none)


def _chosen(array: pa.Array, pages: Sequence[PageData], rows: Rows) -> pa.Array:
    """The asked rows among those of the pages."""
    span = pages[0].first, pages[-1].first + pages[-1].rows
    if len(rows) == 1 and rows.extent == span and span[1] - span[0] == len(array):
        return array
    mine = rows.within(*span)
    if mine.count == len(array):
        return array
    firsts = np.array([page.first for page in pages], np.int64)
    sizes = np.array([page.rows for page in pages], np.int64)
    before = np.cumsum(sizes) - sizes
    numbers = mine.array() if len(mine) > _SLICES else None
    if numbers is not None:
        at = np.searchsorted(firsts, numbers, "right") - 1
        return array.take(pa.array(before[at] + numbers - firsts[at]))
    parts = []
    for start, stop in _within_pages(mine, firsts, firsts + sizes):
        k = int(np.searchsorted(firsts, start, "right")) - 1
        parts.append(array.slice(int(before[k] + start - firsts[k]), stop - start))
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def _within_pages(rows: Rows, firsts: Offsets, stops: Offsets) -> list[tuple[int, int]]:
    """The runs of rows, cut where pages do not follow one another."""
    cuts = firsts[1:][firsts[1:] != stops[:-1]].tolist()
    found: list[tuple[int, int]] = []
    for start, stop in rows.runs():
        edges = [start, *(cut for cut in cuts if start < cut < stop), stop]
        found += pairwise(edges)
    return found
