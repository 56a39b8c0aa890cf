"""A ColumnChunk of Thrift as the tables of a FlatBuffer."""

from __future__ import annotations

from rangeio.codecs.thrift import Struct
from rangeio.errors import Corrupt, RequestError
from rangeio.formats.parquet.flatbuffer.buffers import I8, I32, I64, U8, U32, U64
from rangeio.formats.parquet.flatbuffer.building import Building, Built, Field
from rangeio.formats.parquet.flatbuffer.chunk import (
    DATA_PAGE,
    DATA_PAGE_V2,
    PLAIN_DICTIONARY,
    RLE_DICTIONARY,
)
from rangeio.formats.parquet.flatbuffer.extremes import Kind, Packed, Value, packed
from rangeio.formats.parquet.flatbuffer.slots import Bloom, Chunk, Meta, Stats


def written_chunk(out: Building, kind: Kind, chunk: Struct, rows: int) -> Built:
    """A ColumnChunk of a leaf, in a row group of ``rows`` rows.

    Left out is what the FlatBuffer footer leaves out, besides the metadata of a chunk of its own
    and geospatial statistics. Raises RequestError for a chunk that is encrypted or in another file,
    Corrupt for one without the metadata that it must have.
    """
    if chunk.get(1) is not None:
        raise RequestError("a FlatBuffer footer cannot name another file for a column chunk")
    if chunk.get(8) is not None or chunk.get(9) is not None:
        raise RequestError("the footer of an encrypted file takes no FlatBuffer: it is signed")
    meta = chunk.struct(3)
    if meta is None:
        raise Corrupt("a column chunk without metadata")
    return out.table({Chunk.METADATA: _metadata(out, kind, meta, rows)})


def _metadata(out: Building, kind: Kind, meta: Struct, rows: int) -> Built:
    fields: dict[int, Field] = {
        Meta.CODEC: (_required(meta, 4), I8),
        Meta.UNCOMPRESSED: (_required(meta, 6), I64),
        Meta.COMPRESSED: (_required(meta, 7), I64),
        Meta.DATA_PAGE: (_required(meta, 9), I64),
        Meta.FULLY_DICTIONARY: (int(_fully_dictionary(meta)), U8),
    }
    if _required(meta, 5) != rows:
        fields[Meta.NUM_VALUES] = (_required(meta, 5), I64)
    for field, slot in ((10, Meta.INDEX_PAGE), (11, Meta.DICTIONARY_PAGE)):
        number = meta.integer(field)
        if number is not None:
            fields[slot] = (number, I64)
    bloom = meta.integer(14)
    if bloom is not None:
        place: dict[int, Field] = {Bloom.OFFSET: (bloom, I64)}
        place[Bloom.LENGTH] = (meta.integer(15) or 0, I32)
        fields[Meta.BLOOM_FILTER] = out.table(place)
    statistics = meta.struct(12)
    if statistics is not None:
        fields[Meta.STATISTICS] = _statistics(out, kind, statistics)
    return out.table(fields)


def _required(meta: Struct, field: int) -> int:
    number = meta.integer(field)
    if number is None:
        raise Corrupt(f"a column chunk's metadata without field {field}")
    return number


def _fully_dictionary(meta: Struct) -> bool:
    """Whether it is known that all data pages are dictionary-encoded."""
    pages = [
        one.integer(2)
        for one in meta.list(13) or []
        if one.integer(1) in (DATA_PAGE, DATA_PAGE_V2) and one.integer(3)
    ]
    return bool(pages) and set(pages) <= {PLAIN_DICTIONARY, RLE_DICTIONARY}


def _statistics(out: Building, kind: Kind, statistics: Struct) -> Built:
    fields: dict[int, Field] = {}
    for field, slot in ((3, Stats.NULL_COUNT), (4, Stats.DISTINCT_COUNT)):
        count = statistics.integer(field)
        if count is not None:
            fields[slot] = (count, I64)
    least, most = statistics.binary(6), statistics.binary(5)
    if least is not None and most is not None:
        exact = bool(statistics.flag(8)), bool(statistics.flag(7))
        bounds = packed(kind, Value(least, exact[0]), Value(most, exact[1]))
        if bounds is not None:
            low, high, prefix = bounds
            fields |= _bound(low, Stats.MIN, Stats.MIN_LENGTH)
            fields |= _bound(high, Stats.MAX, Stats.MAX_LENGTH)
            if prefix:
                fields[Stats.PREFIX] = out.binary(prefix)
    return out.table(fields)


def _bound(bound: Packed, slot: int, length: int) -> dict[int, Field]:
    """The slots of a bound; zeros are left out, but for its length."""
    out: dict[int, Field] = {length: (bound.length, I8)}
    for at, part, size in ((0, bound.lo4, U32), (1, bound.lo8, U64), (2, bound.hi8, U64)):
        if part:
            out[slot + at] = (part, size)
    return out
