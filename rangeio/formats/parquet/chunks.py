"""Where the bytes of column chunks lie, as Arrow's reader asks for them."""

from __future__ import annotations

import re

from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.ranges import ByteRange

_FORGETFUL = re.compile(r"parquet-mr(?! version (?:1\.(?:[3-9]|\d\d)|[2-9]|1\.2\.(?:9|\d\d)))")
_FORGOTTEN = 100


def chunk_range(meta: ParquetMeta, group: int, size: int, created_by: str = "") -> ByteRange:
    """The bytes of a chunk, its dictionary page included; Corrupt where a file has none such.

    size: of the file. Old parquet-mr left the dictionary page's header out of its sums: Arrow reads
    100 bytes more of its files, and so do we.
    """
    start, length = meta.fact(group, Fact.DATA_PAGE), meta.fact(group, Fact.COMPRESSED)
    dictionary = meta.fact(group, Fact.DICTIONARY_PAGE)
    if 0 < dictionary < start:
        start = dictionary
    if start < 0 or length < 0 or start + length > size:
        raise Corrupt(
            f"a chunk of column {meta.column.name!r} lies at {start}, {length} bytes, of {size}"
        )
    extra = _FORGOTTEN if _FORGETFUL.match(created_by) else 0
    return ByteRange(start, min(start + length + extra, size))
