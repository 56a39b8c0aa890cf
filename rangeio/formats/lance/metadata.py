"""Column metadata: the pages of one physical column, every buffer checked before it is asked for.

Almost every message of a file begins with the same type urls. Their bytes are compared as they
are; only what differs is parsed as a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.footer import ALIGNMENT
from rangeio.formats.lance.messages import MESSAGES
from rangeio.formats.lance.pages import LanceMeta, Page, physical
from rangeio.ranges import ByteRange
from rangeio.schema import Column

_COLUMN = "/lance.encodings.ColumnEncoding"
_PAGES = {
    (0, 3): "/lance.encodings.ArrayEncoding",
    (2, 0): "/lance.encodings.ArrayEncoding",
    (2, 1): "/lance.encodings21.PageLayout",
    (2, 2): "/lance.encodings21.PageLayout",
}
_VALUES = MESSAGES.Any(type_url=_COLUMN, value=b"\x0a\x00").SerializeToString()
_PREFIX = {v: MESSAGES.Any(type_url=url).SerializeToString() + b"\x12" for v, url in _PAGES.items()}
_PAGE_WEIGHT = 400
_MOST_ROWS = 1 << 62


@dataclass(frozen=True, slots=True)
class Metadata:
    """Parses the metadata of columns of one file, whose data lies below ``limit``."""

    version: tuple[int, int]
    limit: int

    def column(
        self, column: Column, data: memoryview, offset: int, below: memoryview | None = None
    ) -> LanceMeta:
        """The pages of ``column``, whose metadata was found at ``offset``.

        below: the metadata of the second column of a paired string.
        """
        pages, blob, size = self._pages(column, data, offset)
        second: tuple[Page, ...] = ()
        if below is not None:
            second, _, more = self._pages(column, below, offset)
            size += more
        weight = size + _PAGE_WEIGHT * (1 + len(pages) + len(second))
        marked = blob or physical(column).blob
        return LanceMeta(column, pages, weight, marked, self.limit, second)

    def _pages(
        self, column: Column, data: memoryview, offset: int
    ) -> tuple[tuple[Page, ...], bool, int]:
        what = f"the metadata of column {column.id.name!r}"
        message = parse(MESSAGES.ColumnMetadata, bytes(data), what, offset)
        blob = self._blob(message.encoding, what, offset)
        first = 0
        pages = []
        for raw in message.pages:
            page = self._page(raw, first, what, offset)
            first += page.rows
            pages.append(page)
        if first >= _MOST_ROWS:
            raise Corrupt(f"{what} claims {first} rows", offset=offset)
        # Pages that share bytes would make far more of them than the file holds.
        if len(pages) > 1 and sum(b.size for p in pages for b in p.buffers) > self.limit:
            raise Corrupt(f"{what} has pages of more bytes than the file", offset=offset)
        return tuple(pages), blob, len(data)

    def _blob(self, encoding: Any, what: str, offset: int) -> bool:
        """Whether the column holds blobs; checks that its own encoding is one we know."""
        direct = _direct(encoding, what, offset)
        if direct == _VALUES:
            return False
        message = parse(MESSAGES.Any, direct, what, offset)
        if message.type_url != _COLUMN:
            raise Unsupported(f"{what} has the encoding {message.type_url!r}", offset=offset)
        inner = parse(MESSAGES.ColumnEncoding, message.value, what, offset)
        blob = False
        while (kind := inner.WhichOneof("kind")) in ("zoned", "blob"):
            blob = blob or kind == "blob"
            inner = getattr(inner, kind).inner
        if kind is None and not blob and self.version < (2, 1):
            raise Corrupt(f"{what} has no column encoding", offset=offset)
        return blob

    def _page(self, raw: Any, first: int, what: str, offset: int) -> Page:
        starts, sizes = list(raw.buffer_offsets), list(raw.buffer_sizes)
        if len(starts) != len(sizes):
            raise Corrupt(f"{what} counts its buffers twice and differently", offset=offset)
        buffers = []
        for start, size in zip(starts, sizes, strict=True):
            if start > self.limit or size > self.limit - start:
                raise Corrupt(
                    f"{what} has a page buffer at {start}, {size} bytes, outside the file's data",
                    offset=offset,
                )
            if start % ALIGNMENT and self.version >= (2, 1):
                raise Corrupt(f"{what} has a page buffer at {start}, unaligned", offset=offset)
            buffers.append(ByteRange(start, start + size))
        encoding = self._encoding(_direct(raw.encoding, what, offset), what, offset)
        return Page(tuple(buffers), raw.length, first, encoding, _PAGES[self.version])

    def _encoding(self, direct: bytes, what: str, offset: int) -> bytes:
        """The value of the page's encoding message, of the version's own type."""
        prefix = _PREFIX[self.version]
        at = len(prefix)
        # One byte of length, then nothing but the value: no need to parse it.
        if (
            direct.startswith(prefix)
            and len(direct) > at
            and direct[at] < 128
            and len(direct) == at + 1 + direct[at]
        ):
            return direct[at + 1 :]
        message = parse(MESSAGES.Any, direct, what, offset)
        if message.type_url != _PAGES[self.version]:
            words = ".".join(str(part) for part in self.version)
            raise Unsupported(
                f"{what} has pages of type {message.type_url!r}, which is not what Lance "
                f"{words} files hold",
                offset=offset,
            )
        value: bytes = message.value
        return value


def _direct(encoding: Any, what: str, offset: int) -> bytes:
    kind = encoding.WhichOneof("kind")
    if kind == "indirect":
        raise Unsupported(f"{what} refers to an encoding stored elsewhere", offset=offset)
    if kind != "direct":
        raise Corrupt(f"{what} has no encoding", offset=offset)
    value: bytes = encoding.direct.encoding
    return value
