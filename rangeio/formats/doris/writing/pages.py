"""Pages of every kind, from their bodies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.errors import RequestError
from rangeio.formats.doris.encodings import Binary, encoded, nullmap_bytes
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import IndexEntries, framed, index_body
from rangeio.formats.doris.words import Compression, Encoding, PageType

LEAF = 1
MOST = (1 << 31) - 1
"""Bytes of a page's values."""
BLOCK = 1024
"""Rows of which the short-key page keeps the first key."""


def data_page(
    values: bytes,
    first: int,
    rows: int,
    scheme: Compression,
    *,
    nulls: npt.NDArray[np.bool_] | None = None,
    next_item: int | None = None,
) -> bytes:
    """A page of encoded values, of ``rows`` rows from the row ``first``.

    nulls: bool[rows], None where no row is NULL. next_item: of offsets, the first item of the row
    after the page.
    """
    if len(values) > MOST:
        raise RequestError(f"a page of {len(values):,} bytes: Doris holds values of up to 2 GiB")
    bitmap = b"" if nulls is None else nullmap_bytes(nulls)
    about = MESSAGES.DataPageFooter(first_ordinal=first, num_values=rows, nullmap_size=len(bitmap))
    if next_item is not None:
        about.next_array_item_ordinal = next_item
    footer = MESSAGES.PageFooter(type=PageType.DATA, data_page_footer=about)
    return framed(values + bitmap, footer, scheme)


def dictionary_page(words: Binary, encoding: Encoding, scheme: Compression) -> bytes:
    """The page of a column's words; a word's code is its position."""
    about = MESSAGES.DictPageFooter(encoding=encoding)
    footer = MESSAGES.PageFooter(type=PageType.DICTIONARY, dict_page_footer=about)
    return framed(encoded(encoding, 0, words), footer, scheme)


def index_page(entries: IndexEntries, scheme: Compression) -> bytes:
    """The one page of an index: all its entries, however many."""
    about = MESSAGES.IndexPageFooter(num_entries=len(entries.keys), type=LEAF)
    footer = MESSAGES.PageFooter(type=PageType.INDEX, index_page_footer=about)
    return framed(index_body(entries), footer, scheme)


def short_key_page(keys: bytes, offsets: bytes, items: int, rows: int) -> bytes:
    """The page of the keys of every block's first row; never compressed."""
    about = MESSAGES.ShortKeyFooter(
        num_items=items,
        key_bytes=len(keys),
        offset_bytes=len(offsets),
        segment_id=0,
        num_rows_per_block=BLOCK,
        num_segment_rows=rows,
    )
    footer = MESSAGES.PageFooter(type=PageType.SHORT_KEY, short_key_page_footer=about)
    return framed(keys + offsets, footer, Compression.NONE)


def ordinal_key(first: int) -> bytes:
    """The key of a page in an ordinal index: its first row, big-endian."""
    return first.to_bytes(8, "big")
