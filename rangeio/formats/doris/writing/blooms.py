"""The bloom filters of a column's pages."""

from __future__ import annotations

from typing import Any

from rangeio.errors import RequestError
from rangeio.formats.doris.blooms import built, is_taken
from rangeio.formats.doris.encodings import Values
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.words import Compression, Encoding, FieldType, IndexType
from rangeio.formats.doris.writing.column import About
from rangeio.formats.doris.writing.indexed import write_indexed
from rangeio.formats.doris.writing.outlet import Outlet

MURMUR3, BLOCK = 0, 0


class Blooms:
    """Those of one column; RequestError where Doris makes none of its type."""

    def __init__(self, about: About) -> None:
        field = about.declared.field
        if not is_taken(field):
            raise RequestError(f"{about.name!r} is {field.name}, which has no bloom filters")
        self._pages: list[bytes] = []

    def add(self, values: Values, *, null: bool) -> None:
        """A page."""
        self._pages.append(built(values, null))

    def write(self, outlet: Outlet) -> Any:
        """Write the filters; the ColumnIndex that leads to them."""
        filters = write_indexed(
            outlet, self._pages, FieldType.VARCHAR, Encoding.PLAIN, Compression.NONE
        )
        about = MESSAGES.BloomFilterIndex(
            hash_strategy=MURMUR3, algorithm=BLOCK, bloom_filter=filters
        )
        return MESSAGES.ColumnIndex(type=IndexType.BLOOM_FILTER, bloom_filter_index=about)
