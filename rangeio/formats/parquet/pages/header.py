"""Page headers: the Thrift struct in front of every page, walked without looking at the pages."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from rangeio.codecs import thrift
from rangeio.errors import Corrupt


class PageType(enum.IntEnum):
    """Types of pages, by their numbers in the file."""

    DATA = 0
    INDEX = 1
    DICTIONARY = 2
    DATA_V2 = 3


_DETAILS: dict[int, int] = {PageType.DATA: 5, PageType.DICTIONARY: 7, PageType.DATA_V2: 8}
"""The field that says more of a page of this type; num_values is its first."""


@dataclass(frozen=True, slots=True)
class PageHeader:
    """One header.

    kind: a number of :class:`PageType`, or another one. head: bytes of the header itself. size,
    uncompressed: bytes of the page without it, as they lie in the file and decompressed. values:
    entries of the page, nulls included; 0 for a kind that has none.
    """

    kind: int
    head: int
    size: int
    uncompressed: int
    values: int


def page_header(data: memoryview, at: int = 0) -> PageHeader:
    """The header at ``at``. Raises Corrupt; whether the page itself is there is not checked."""
    read, stop = thrift.read(data, at)
    kind, uncompressed, size = read.integer(1), read.integer(2), read.integer(3)
    if kind is None or uncompressed is None or size is None:
        raise Corrupt("a page header without its type or sizes", offset=at)
    values: int | None = 0
    if kind in _DETAILS:
        details = read.struct(_DETAILS[kind])
        values = None if details is None else details.integer(1)
    if values is None or min(size, uncompressed, values) < 0:
        raise Corrupt(f"a page of {size} bytes, {uncompressed} decompressed", offset=at)
    return PageHeader(kind, stop - at, size, uncompressed, values)


def data_pages(data: memoryview) -> Iterator[PageHeader]:
    """The headers of data pages that lie back to back and fill ``data``. Raises Corrupt."""
    at = 0
    while at < len(data):
        page = page_header(data, at)
        if page.kind not in (PageType.DATA, PageType.DATA_V2):
            raise Corrupt(f"a page of type {page.kind} among data pages", offset=at)
        at += page.head + page.size
        if at > len(data):
            raise Corrupt(f"a page of {page.size} bytes reaches beyond the bytes read", offset=at)
        yield page
