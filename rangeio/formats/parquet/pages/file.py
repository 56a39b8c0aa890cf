"""Chosen pages as a Parquet file of their own, of one field and one row group, for any decoder."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rangeio.codecs import thrift
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.header import PageType, data_pages, page_header
from rangeio.ranges import ByteRange

Buffer: TypeAlias = bytes | memoryview

MAGIC = b"PAR1"
_LENGTH = struct.Struct("<I")
_VERSION = 2

# Fields of ColumnChunk: all positions but that of the chunk's own metadata.
_FILE_OFFSET, _META, _INDEXES, _ENCRYPTED = 2, 3, (4, 5, 6, 7), (8, 9)
# Fields of ColumnMetaData, and those that speak of pages that may not be there: the index page,
# statistics, encoding_stats, the bloom filter's two, size and geospatial statistics.
_VALUES, _UNCOMPRESSED, _COMPRESSED, _DATA_PAGE, _DICTIONARY_PAGE = 5, 6, 7, 9, 11
_OF_ALL_PAGES = (10, 12, 13, 14, 15, 16, 17)
_NUM_CHILDREN = 5


@dataclass(frozen=True, slots=True)
class Pages:
    """The bytes of one leaf's chosen pages, in the order of the row group ``group``.

    dictionary: the bytes of :func:`dictionary_range`. pages: runs of whole data pages, each run of
    one page or several that lie back to back. rows: of all of them.
    """

    meta: ParquetMeta
    group: int
    dictionary: memoryview | None
    pages: Sequence[memoryview]
    rows: int


def dictionary_range(meta: ParquetMeta, group: int, first_page: int) -> ByteRange | None:
    """Where a chunk's dictionary page lies if it has one: all that is before its data pages.

    first_page: where the OffsetIndex says that the data pages begin. Raises Corrupt where that is
    outside the chunk.
    """
    data, dictionary = meta.fact(group, Fact.DATA_PAGE), meta.fact(group, Fact.DICTIONARY_PAGE)
    start = dictionary if 0 < dictionary < data else data  # 0 where old writers had none to name
    size = meta.fact(group, Fact.COMPRESSED)
    if start < 0 or not 0 <= first_page - start <= size:
        reason = f"the first page lies at {first_page}, its chunk at {start}, {size} bytes long"
        raise Corrupt(reason, offset=first_page)
    return ByteRange(start, first_page) if start < first_page else None


def page_file(
    root: bytes,
    subtree: Sequence[bytes],
    leaves: Sequence[Pages],
    rows: int,
    arrow_schema: bytes | None,
    created_by: bytes | None,
) -> list[Buffer]:
    """A Parquet file of one top-level field, in parts to be joined once; the pages lie in it as is.

    root, subtree: the schema elements of the root and of the field, depth first; leaves: the pages
    of each leaf of it, all of the same ``rows``. arrow_schema: the value of ``ARROW:schema`` of a
    schema of this field. Statistics and indexes are left out, unknown fields are kept. Raises
    Corrupt for pages that do not fit their headers or their rows, Unsupported for encrypted ones.

    How many rows the pages of a repeated leaf hold shows only when they are decoded.
    """
    parts: list[Buffer] = [MAGIC]
    chunks: list[bytes] = []
    at, total = len(MAGIC), 0
    for leaf in leaves:
        laid = _laid_out(leaf, rows)
        chunks.append(_column_chunk(leaf, laid, at))
        parts += laid.parts
        at += laid.size
        total += laid.uncompressed
    group: _Fields = {
        1: (thrift.LIST, thrift.listed(thrift.STRUCT, chunks)),
        2: _int64(total),
        3: _int64(rows),
    }
    footer = _footer(root, subtree, _rebuilt(group), rows, arrow_schema, created_by)
    return [*parts, footer, _LENGTH.pack(len(footer)), MAGIC]


# ---- a leaf's pages ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Laid:
    """A leaf's pages as they will lie in the file: ``head`` bytes of dictionary page go first."""

    parts: list[Buffer]
    head: int
    size: int
    uncompressed: int
    values: int


def _laid_out(leaf: Pages, rows: int) -> _Laid:
    path = ".".join(leaf.meta.leaf.path)
    try:
        dictionary = _dictionary(leaf.dictionary)
        pages = [page for run in leaf.pages for page in data_pages(run)]
    except Corrupt as error:  # its offset is one in the run, not in the file
        raise Corrupt(f"pages of {path}: {error.reason}") from None
    values = sum(page.values for page in pages)
    flat = not leaf.meta.leaf.max_repetition
    if leaf.rows != rows or values < rows or (flat and values != rows):
        raise Corrupt(f"pages of {path} have {values} values in {leaf.rows} rows of {rows}")
    parts: list[Buffer] = list(leaf.pages)
    head, uncompressed = 0, sum(page.head + page.uncompressed for page in pages)
    if dictionary is not None:
        parts.insert(0, dictionary[0])
        head, uncompressed = len(dictionary[0]), uncompressed + dictionary[1]
    return _Laid(parts, head, sum(len(part) for part in parts), uncompressed, values)


def _dictionary(data: memoryview | None) -> tuple[memoryview, int] | None:
    """The dictionary page and its bytes when decompressed; None where ``data`` is something else.

    Offsets of dictionary pages are often wrong. What is lost by that the decoder will notice.
    """
    if data is None:
        return None
    try:
        page = page_header(data)
    except Corrupt:
        return None
    if page.kind != PageType.DICTIONARY:
        return None
    if page.head + page.size > len(data):
        raise Corrupt(f"a dictionary page of {page.size} bytes reaches into the data pages")
    return data[: page.head + page.size], page.head + page.uncompressed


# ---- the structs of the footer -------------------------------------------------------------------

_Fields: TypeAlias = dict[int, tuple[int, Buffer]]


def _fields(data: Buffer) -> _Fields:
    """The fields of a struct by id: type, and the value as it is encoded."""
    return {field: (kind, data[a:b]) for field, kind, a, b in thrift.fields(data)}


def _rebuilt(fields: _Fields) -> bytes:
    return thrift.rebuilt([(field, *value) for field, value in sorted(fields.items())])


def _int64(value: int) -> tuple[int, bytes]:
    return thrift.I64, thrift.encoded(thrift.I64, value)


def _column_chunk(leaf: Pages, laid: _Laid, at: int) -> bytes:
    """The leaf's ColumnChunk where its pages lie at ``at`` of the new file."""
    path = ".".join(leaf.meta.leaf.path)
    chunk = _fields(leaf.meta.chunks[leaf.group])
    if chunk.keys() & set(_ENCRYPTED):
        raise Unsupported(f"the column {path} is encrypted")
    kind, data = chunk.get(_META, (0, b""))
    if kind != thrift.STRUCT:
        raise Corrupt(f"a chunk of {path} without ColumnMetaData")
    meta = _fields(data)
    for field in (*_OF_ALL_PAGES, _DICTIONARY_PAGE):
        meta.pop(field, None)
    for field in _INDEXES:
        chunk.pop(field, None)
    if laid.head:
        meta[_DICTIONARY_PAGE] = _int64(at)
    meta[_DATA_PAGE] = _int64(at + laid.head)
    meta[_VALUES] = _int64(laid.values)
    meta[_UNCOMPRESSED] = _int64(laid.uncompressed)
    meta[_COMPRESSED] = _int64(laid.size)
    chunk[_META] = thrift.STRUCT, _rebuilt(meta)
    chunk[_FILE_OFFSET] = _int64(0)  # the ColumnMetaData lies nowhere but here
    return _rebuilt(chunk)


def _footer(
    root: bytes,
    subtree: Sequence[bytes],
    group: bytes,
    rows: int,
    arrow_schema: bytes | None,
    created_by: bytes | None,
) -> bytes:
    """FileMetaData of one row group."""
    top = _fields(root)
    top[_NUM_CHILDREN] = thrift.I32, thrift.encoded(thrift.I32, 1)
    footer: _Fields = {
        1: (thrift.I32, thrift.encoded(thrift.I32, _VERSION)),
        2: (thrift.LIST, thrift.listed(thrift.STRUCT, [_rebuilt(top), *subtree])),
        3: _int64(rows),
        4: (thrift.LIST, thrift.listed(thrift.STRUCT, [group])),
    }
    if arrow_schema is not None:
        pair = thrift.Struct(
            {1: (thrift.BINARY, b"ARROW:schema"), 2: (thrift.BINARY, arrow_schema)}
        )
        footer[5] = (thrift.LIST, thrift.listed(thrift.STRUCT, [thrift.write(pair)]))
    if created_by is not None:
        footer[6] = (thrift.BINARY, thrift.encoded(thrift.BINARY, created_by))
    return _rebuilt(footer)
