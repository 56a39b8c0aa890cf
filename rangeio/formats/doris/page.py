"""Pages: ``[body][footer][u32 size of the footer][u32 crc32c of all before]``.

The body is compressed where it is not as long as the footer says that it is uncompressed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import google_crc32c
import numpy as np

from rangeio.codecs import varints
from rangeio.codecs.bounds import Offsets
from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt, FormatError, Truncated, Unsupported
from rangeio.formats.doris.compression import compress, decompress
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.words import Compression, PageType, worded

LEAF = 1
"""The only type of index page that is ever written."""
_FRAME = 8
_MOST_BODY = (1 << 31) - 1  # a longer one is never compressed
_PARTS = {
    PageType.DATA: "data_page_footer",
    PageType.INDEX: "index_page_footer",
    PageType.DICTIONARY: "dict_page_footer",
    PageType.SHORT_KEY: "short_key_page_footer",
}
_LEAST_SAVED = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A page without its frame.

    body: uncompressed; it may be a view of what was read. footer: the PageFooter message, which
    has the part (``data_page_footer`` ...) that belongs to ``kind``.
    """

    kind: PageType
    body: memoryview
    footer: Any


@dataclass(frozen=True, slots=True)
class IndexEntries:
    """The entries of an index page: where the pages are whose first keys are ``keys``.

    offsets and sizes: int64, in bytes of the file; they are not checked against it.
    """

    keys: list[bytes]
    offsets: Offsets
    sizes: Offsets


# ---- reading -----------------------------------------------------------------------------------


def unframed(data: memoryview, scheme: Compression, offset: int, *, checked: bool = True) -> Page:
    """The page that is the whole of ``data``, read at ``offset`` of the file.

    scheme: of the column; whether this page is compressed its sizes tell. checked: compare the
    crc32c, before anything else is looked at. Every FormatError has the page's offset.
    """
    try:
        return _unframed(data.cast("B"), scheme, checked)
    except FormatError as error:
        error.offset = offset
        raise


def check(data: memoryview, offset: int) -> None:
    """Raise Corrupt, with the page's offset, unless its crc32c is that of its bytes."""
    if crc32c(data[:-4]) != int.from_bytes(data[-4:], "little"):
        raise Corrupt("a page whose crc32c is not that of its bytes", offset=offset)


def crc32c(data: memoryview | bytes) -> int:
    """The checksum of pages and footers."""
    return int(google_crc32c.value(_readable(data)))


def index_entries(page: Page) -> IndexEntries:
    """The entries of a LEAF index page.

    Raises Corrupt unless they are as many as its footer says and the whole body, and Unsupported
    for other pages of an index, which nothing writes.
    """
    footer = page.footer.index_page_footer
    if page.kind is not PageType.INDEX or footer.type != LEAF:
        raise Unsupported(f"an index in a page of {worded(PageType, page.kind)}, {footer.type}")
    table = varints.keyed(np.frombuffer(page.body, np.uint8), footer.num_entries, 2)
    raw = page.body.tobytes()
    keys = [raw[begin:end] for begin, end in table[:, :2].tolist()]
    return IndexEntries(keys, table[:, 2].copy(), table[:, 3].copy())


def _unframed(data: memoryview, scheme: Compression, checked: bool) -> Page:
    if len(data) < _FRAME:
        raise Truncated(f"a page of {len(data)} bytes")
    if checked:
        check(data, 0)
    end = len(data) - _FRAME - int.from_bytes(data[-8:-4], "little")
    if end < 0:
        raise Corrupt(f"a page of {len(data)} bytes whose footer begins before it")
    footer = parse(MESSAGES.PageFooter, bytes(data[end : len(data) - _FRAME]), "a page's footer")
    kind = _kind(footer)
    body = data[:end]
    if end != footer.uncompressed_size:
        body = decompress(scheme, body, footer.uncompressed_size)
    return Page(kind, body, footer)


def _kind(footer: Any) -> PageType:
    try:
        kind = PageType(footer.type)
    except ValueError:
        raise Unsupported(f"a page of {worded(PageType, footer.type)}") from None
    if not footer.HasField(_PARTS[kind]):
        raise Corrupt(f"a page of {kind.name} without a footer of that kind")
    return kind


def _readable_array(data: memoryview | bytes) -> Any:
    # The compiled checksum takes no memoryview, and an array of the same bytes is no copy.
    return np.frombuffer(data, np.uint8)


_readable: Callable[[memoryview | bytes], Any] = (
    _readable_array if google_crc32c.implementation == "c" else bytes
)


# ---- writing -----------------------------------------------------------------------------------


def framed(body: bytes, footer: Any, scheme: Compression) -> bytes:
    """The page of a body, compressed where that saves a tenth or more.

    footer: a PageFooter with its type and that type's part; a copy of it gets the
    uncompressed_size. Raises RequestError for a scheme that pages do not have.
    """
    own = MESSAGES.PageFooter()
    own.CopyFrom(footer)
    own.uncompressed_size = len(body)
    tail = own.SerializeToString(deterministic=True)
    page = b"".join((_stored(body, scheme), tail, len(tail).to_bytes(4, "little")))
    return page + crc32c(page).to_bytes(4, "little")


def index_body(entries: IndexEntries) -> bytes:
    """The body of an index page of these entries."""
    numbers = zip(entries.offsets.tolist(), entries.sizes.tolist(), strict=True)
    parts: list[bytes] = []
    for key, (offset, size) in zip(entries.keys, numbers, strict=True):
        parts += varints.one(len(key)), key, varints.one(offset) + varints.one(size)
    return b"".join(parts)


def _stored(body: bytes, scheme: Compression) -> bytes:
    if len(body) > _MOST_BODY:
        return body
    small = compress(scheme, body)
    # In the terms of the format's writer, whose rounding decides where a tenth is saved exactly.
    saved = 1 - len(small) / len(body) if small is not None and body else 0.0
    return small if small is not None and saved >= _LEAST_SAVED else body
