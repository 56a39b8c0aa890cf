"""The column chunks of a FlatBuffer footer, told as Thrift structs.

What the FlatBuffer leaves out is left out here: page indexes, level histograms, metadata of a chunk
of its own, and the encodings. For these the common ones stand; readers look at the pages' headers.
"""

from __future__ import annotations

from dataclasses import dataclass

from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, FALSE, I32, I64, LIST, STRUCT, TRUE, Struct, Tagged
from rangeio.errors import Corrupt
from rangeio.formats.parquet.flatbuffer import buffers
from rangeio.formats.parquet.flatbuffer.buffers import I8, U8, U32, U64, Table
from rangeio.formats.parquet.flatbuffer.extremes import LONGEST_PREFIX, Kind, Packed, unpacked
from rangeio.formats.parquet.flatbuffer.slots import Bloom, Chunk, Meta, Revision, Stats

PLAIN, PLAIN_DICTIONARY, RLE, RLE_DICTIONARY = 0, 2, 3, 8
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3

_BY_COLUMN_KEY = 2  # of the union ColumnCryptoMetaData, here and in Thrift; 1 is by the footer's


@dataclass(frozen=True, slots=True)
class Context:
    """What a chunk does not say itself. path: of its leaf. rows, start: of its row group, how many
    and where in the file they begin."""

    kind: Kind
    path: list[bytes]
    rows: int
    start: int
    revision: Revision


def column_chunk(table: Table, context: Context) -> bytes:
    """A ColumnChunk as a Thrift struct. Raises Corrupt.

    An encrypted one has its crypto_metadata, so that readers know it for what it is.
    """
    out = Struct({2: (I64, 0)})
    meta = table.table(Chunk.METADATA)
    crypto = table.number(Chunk.CRYPTO, U8)
    if meta is None and not crypto:
        raise Corrupt("a column chunk without metadata")
    if meta is not None:
        out[3] = (STRUCT, _metadata(meta, context))
    if crypto:
        if crypto > _BY_COLUMN_KEY or table.table(Chunk.CRYPTO + 1) is None:
            raise Corrupt("a column chunk whose encryption is none that is known")
        out[8] = (STRUCT, _crypto(crypto, context.path))
    return thrift.write(out)


def _crypto(member: int, path: list[bytes]) -> Struct:
    """The union ColumnCryptoMetaData."""
    key = Struct({1: (LIST, (BINARY, path))}) if member == _BY_COLUMN_KEY else Struct()
    return Struct({member: (STRUCT, key)})


def _metadata(meta: Table, context: Context) -> Struct:
    encodings = [PLAIN, RLE, RLE_DICTIONARY] if meta.has(Meta.DICTIONARY_PAGE) else [PLAIN, RLE]
    out = Struct({1: (I32, context.kind.physical), 2: (LIST, (I32, encodings))})
    out[3] = (LIST, (BINARY, context.path))
    out[4] = (I32, _natural(meta.number(Meta.CODEC, I8)))
    values = _natural(meta.number(Meta.NUM_VALUES, buffers.I64, context.rows))
    out[5] = (I64, values)
    out[6] = (I64, _natural(meta.number(Meta.UNCOMPRESSED, buffers.I64)))
    out[7] = (I64, _natural(meta.number(Meta.COMPRESSED, buffers.I64)))
    # The proposal's own writer leaves the position out where the row group begins with the page.
    page = meta.number(Meta.DATA_PAGE, buffers.I64, context.start)
    if not page and not meta.has(Meta.DATA_PAGE) and out.integer(7):
        raise Corrupt("a column chunk that begins nowhere")
    out[9] = (I64, _natural(page))
    for field, slot in ((10, Meta.INDEX_PAGE), (11, Meta.DICTIONARY_PAGE)):
        if meta.has(slot):
            out[field] = (I64, _natural(meta.number(slot, buffers.I64)))
    statistics = meta.table(Meta.STATISTICS)
    if statistics is not None:
        told = _statistics(statistics, context, values)
        if told:
            out[12] = (STRUCT, told)
    if meta.number(Meta.FULLY_DICTIONARY, U8):
        pages = [(DICTIONARY_PAGE, PLAIN), (DATA_PAGE, RLE_DICTIONARY)]
        stats = [Struct({1: (I32, a), 2: (I32, b), 3: (I32, 1)}) for a, b in pages]
        out[13] = (LIST, (STRUCT, stats))
    if context.revision.settled:
        out.update(_bloom(meta))
    return out


def _natural(number: int) -> int:
    if number < 0:
        raise Corrupt("a column chunk with a size or position below zero")
    return number


def _bloom(meta: Table) -> Struct:
    out, bloom = Struct(), meta.table(Meta.BLOOM_FILTER)
    if bloom is not None and bloom.number(Bloom.OFFSET, buffers.I64) > 0:
        out[14] = (I64, bloom.number(Bloom.OFFSET, buffers.I64))
        if bloom.number(Bloom.LENGTH, buffers.I32) > 0:
            out[15] = (I32, bloom.number(Bloom.LENGTH, buffers.I32))
    return out


def _statistics(table: Table, context: Context, values: int) -> Struct:
    """Statistics, as far as what is told is certain; the counts only where revisions agree."""
    out = Struct()
    if context.revision.settled:
        for field, slot in ((3, Stats.NULL_COUNT), (4, Stats.DISTINCT_COUNT)):
            count = table.number(slot, buffers.I64, -1)
            if 0 <= count <= values:
                out[field] = (I64, count)
    prefix = _prefix(table, context)
    if prefix is None:
        return out
    bounds = ((5, 7, Stats.MAX, Stats.MAX_LENGTH), (6, 8, Stats.MIN, Stats.MIN_LENGTH))
    for field, exactness, slot, length in bounds:
        bound = _bound(table, slot + context.revision.shift, length + context.revision.shift)
        value = None if bound is None else unpacked(context.kind, bound, prefix)
        if value is not None:
            out[field] = (BINARY, value.data)
            out[exactness] = _flag(value.exact)
    return out


def _flag(value: bool) -> Tagged:
    return (TRUE, True) if value else (FALSE, False)


def _prefix(table: Table, context: Context) -> bytes | None:
    """What the bounds begin with; None where they are byte arrays that are not to be relied on."""
    if not context.kind.bytewise:
        return b""
    prefix = table.raw(Stats.PREFIX) if context.revision.settled else None
    if not context.revision.settled or (prefix is not None and len(prefix) > LONGEST_PREFIX):
        return None
    return b"" if prefix is None else bytes(prefix)


def _bound(table: Table, slot: int, length: int) -> Packed | None:
    """The bound whose first part is in a slot; None where there is none."""
    if not table.has(length):
        return None
    lo4 = table.number(slot, U32)
    lo8, hi8 = table.number(slot + 1, U64), table.number(slot + 2, U64)
    return Packed(lo4, lo8, hi8, table.number(length, I8))
