"""The values that indexes keep of each page of some columns, with where these pages lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rangeio.errors import FormatError
from rangeio.formats.doris import ordinals
from rangeio.formats.doris.indexed import Leaves, entries, leaf
from rangeio.formats.doris.meta import Indexed
from rangeio.formats.doris.ordinals import Ordinals, Wanted
from rangeio.formats.doris.page import check
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, needs, together

_WHY = "doris.page_index"

Held: TypeAlias = dict[ByteRange, memoryview]


def values_by_page(
    wanted: Sequence[Wanted], indexes: Sequence[Indexed | None], limit: int
) -> Steps[tuple[list[Ordinals], list[list[bytes]]]]:
    """The pages of columns, and the values of indexes; none of an index that is absent or broken.

    One hop, or two where an index has more than one page. Raises Corrupt where a page's checksum
    is not that of its bytes, whatever leads to it.
    """
    both: list[Steps[object]] = [ordinals.read(wanted, limit), _values(indexes, limit)]
    pages, values = yield from together(both, _WHY)
    return pages, values  # type: ignore[return-value]


def _values(indexes: Sequence[Indexed | None], limit: int) -> Steps[list[list[bytes]]]:
    roots = [one.ordinal for one in indexes if one is not None and one.ordinal is not None]
    ranges = sorted({root.at for root in roots})
    replies = yield from needs(ranges, _WHY)
    held = _sound(ranges, replies)
    below = [_leaves(one, held, limit) for one in indexes]
    missing = sorted({at for own in below for at in own.ranges if at not in held})
    held |= _sound(missing, (yield from needs(missing, _WHY)))
    return [_read(one, own, held) for one, own in zip(indexes, below, strict=True)]


def _sound(ranges: Sequence[ByteRange], replies: Sequence[memoryview]) -> Held:
    for at, data in zip(ranges, replies, strict=True):
        check(data, at.start)
    return dict(zip(ranges, replies, strict=True))


def _leaves(index: Indexed | None, held: Held, limit: int) -> Leaves:
    none = Leaves((), ())
    if index is None or index.ordinal is None:
        return none
    if index.ordinal.is_page:
        return Leaves((b"",), (index.ordinal.at,))
    try:
        return entries(index, index.ordinal, held[index.ordinal.at], limit)
    except FormatError:
        return none


def _read(index: Indexed | None, own: Leaves, held: Held) -> list[bytes]:
    found: list[bytes] = []
    try:
        for at in own.ranges:
            assert index is not None
            one = leaf(index, held[at], at)
            if one.first != len(found):
                return []
            found += one.values
    except FormatError:
        return []
    return found
