"""The metadata of columns: their chunks' bytes, cut out of the footer, and what these say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rangeio.codecs import native, thrift
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.leaf import Fact, Facts, ParquetMeta, Unread
from rangeio.formats.parquet.table import ParquetTable
from rangeio.schema import Column, ColumnId

_CHUNK = {4: Fact.OFFSET_INDEX, 5: Fact.OFFSET_INDEX_SIZE} | {
    6: Fact.COLUMN_INDEX,
    7: Fact.COLUMN_INDEX_SIZE,
}
_META = {1: Fact.PHYSICAL, 4: Fact.CODEC, 5: Fact.VALUES, 6: Fact.UNCOMPRESSED} | {
    7: Fact.COMPRESSED,
    9: Fact.DATA_PAGE,
    11: Fact.DICTIONARY_PAGE,
    14: Fact.BLOOM,
    15: Fact.BLOOM_SIZE,
}
_ENCRYPTED, _ABSENT, _ELSEWHERE = 1, 2, 4


def metas_of(table: ParquetTable, columns: Sequence[Column]) -> Mapping[ColumnId, ParquetMeta]:
    """The metadata of leaves. Raises Unsupported for encrypted ones, by name."""
    footer, made = table.footer, table.columns
    groups = range(len(footer.group_rows))
    chunks = [tuple(footer.chunk(g, _ordinal(c)) for g in groups) for c in columns]
    facts = facts_of([chunk for own in chunks for chunk in own])
    found: dict[ColumnId, ParquetMeta] = {}
    doubtful = bool(facts[:, Fact.FLAGS].any())
    for i, (column, own) in enumerate(zip(columns, chunks, strict=True)):
        mine = facts[i * len(groups) : (i + 1) * len(groups)]
        if doubtful:
            _readable(column, mine)
        index = _ordinal(column)
        top = made.tree.top_of(index)
        place = Unread(index, made.repeated(index, top), column.type)
        found[column.id] = ParquetMeta(
            column.id, place, own, mine, footer.group_rows, made.trunk(top), made.origin
        )
    return found


def _ordinal(column: Column) -> int:
    """Which leaf of the file a leaf of the schema is."""
    assert isinstance(column.payload, int)
    return column.payload


def facts_of(chunks: Sequence[bytes], *, kernels: native.Kernels | None = native.kernels) -> Facts:
    """The facts of ColumnChunk structs, (chunks, Fact). Raises Corrupt."""
    out = np.empty((len(chunks), len(Fact)), np.int64)
    if kernels is None:
        for i, chunk in enumerate(chunks):
            out[i] = _facts(chunk)
        return out
    data = np.frombuffer(b"".join(chunks), np.uint8)
    starts = np.zeros(len(chunks), np.int64)
    np.cumsum([len(chunk) for chunk in chunks[:-1]], out=starts[1:])
    bad = kernels.chunk_facts(data, starts, out)
    if bad >= 0:
        raise Corrupt("a column chunk of the footer is no ColumnChunk")
    return out


def _facts(chunk: bytes) -> list[int]:
    found = [-1] * len(Fact)
    found[Fact.ENCODINGS], found[Fact.FLAGS] = 0, _ABSENT
    for field, kind, start, stop in thrift.fields(chunk):
        if field == 3 and kind == thrift.STRUCT:
            found[Fact.FLAGS] &= ~_ABSENT
            _meta_facts(chunk, start, found)
        elif field in _CHUNK:
            found[_CHUNK[field]] = _number(chunk, kind, start)
        elif field in (1, 8):
            found[Fact.FLAGS] |= _ENCRYPTED if field == 8 else _ELSEWHERE
        del stop
    return found


def _meta_facts(chunk: bytes, at: int, found: list[int]) -> None:
    for field, kind, start, stop in thrift.fields(chunk, at):
        if field in _META:
            found[_META[field]] = _number(chunk, kind, start)
            if found[_META[field]] < 0:
                raise Corrupt("a column chunk with a size or position below zero")
        elif field == 12 and kind == thrift.STRUCT:
            found[Fact.STATISTICS] = start
        elif field == 2 and kind == thrift.LIST:
            found[Fact.ENCODINGS] = _encodings(chunk, start)
        del stop


def _encodings(chunk: bytes, at: int) -> int:
    count, kind, at = thrift.sized(chunk, at)
    out = 0
    for _ in range(count):
        one = _number(chunk, kind, at)
        at = thrift.skip(chunk, at, kind, inside=True)
        out |= 1 << (one if 0 <= one < 62 else 62)
    return out


def _number(chunk: bytes, kind: int, at: int) -> int:
    if kind not in (thrift.I16, thrift.I32, thrift.I64):
        raise Corrupt(f"a column chunk with the Thrift type {kind} where a number belongs")
    return thrift.integer(chunk, at)[0]


def _readable(column: Column, facts: Facts) -> None:
    """Raise for what no reader without a key, or of this file alone, can read."""
    flags = int(np.bitwise_or.reduce(facts[:, Fact.FLAGS], initial=0))
    if flags & _ENCRYPTED:
        raise Unsupported(f"column {column.id.name!r} is encrypted")
    if flags & _ELSEWHERE:
        raise Unsupported(f"column {column.id.name!r} lies in another file")
    if flags & _ABSENT:
        raise Corrupt(f"column {column.id.name!r} has a chunk without metadata")
