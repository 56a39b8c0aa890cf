"""From decoded pages to the rows of one field."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.lance.v20.branch import is_struct, structs
from rangeio.plan import Piece, Rows
from rangeio.schema import Column, ColumnId


@dataclass(frozen=True, slots=True)
class Block:
    """Decoded rows: numbered as in the file, in the order of the array."""

    rows: Rows
    array: pa.Array


def assembled(
    field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
) -> pa.Array | pa.ChunkedArray:
    """The asked rows of a field, one chunk a page that they touch."""
    chunks = _chunks(field, rows, leaves)
    if sum(len(c) for c in chunks) != rows.count:
        raise Corrupt(f"the pages of {field.id.name!r} do not hold the rows that were asked for")
    return chunks[0] if len(chunks) == 1 else pa.chunked_array(chunks, field.type)


def _chunks(
    column: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
) -> list[pa.Array]:
    if not is_struct(column):
        cut = [_cut(piece.data, rows) for piece in leaves.get(column.id, ())]
        return [one for one in cut if len(one)]
    fields = [_chunks(child, rows, leaves) for child in column.children]
    return [
        structs(column.type, [_slice(chunks, a, b) for chunks in fields], b - a)
        for a, b in _grid(fields)
    ]


def _cut(block: Block, rows: Rows) -> pa.Array:
    """The asked rows of a block, without a copy where they are one stretch of it."""
    have = block.rows
    if not len(have):
        return block.array
    wanted = rows.within(int(have.starts[0]), int(have.stops[-1]))
    if wanted == have:
        return block.array
    held = np.cumsum(have.stops - have.starts) - (have.stops - have.starts)
    run = np.searchsorted(have.starts, wanted.starts, "right") - 1
    if (run < 0).any() or (wanted.stops > have.stops[run]).any():
        raise Corrupt("a page was decoded without rows that were asked for")
    at = Rows(
        held[run] + wanted.starts - have.starts[run], held[run] + wanted.stops - have.starts[run]
    )
    if not len(at):
        return block.array.slice(0, 0)
    first, last = int(at.starts[0]), int(at.stops[-1])
    if last - first == at.count:
        return block.array.slice(first, last - first)
    return block.array.take(pa.array(at.array()))


def _grid(fields: Sequence[Sequence[pa.Array]]) -> list[tuple[int, int]]:
    """The rows between any two cuts of any field."""
    edges = {0}
    for chunks in fields:
        edges |= set(np.cumsum([len(c) for c in chunks]).tolist())
    cuts = sorted(edges)
    return list(itertools.pairwise(cuts))


def _slice(chunks: Sequence[pa.Array], start: int, stop: int) -> pa.Array:
    """Rows that lie in one chunk."""
    at = 0
    for chunk in chunks:
        if start < at + len(chunk):
            if stop > at + len(chunk):
                break
            return chunk if len(chunk) == stop - start else chunk.slice(start - at, stop - start)
        at += len(chunk)
    raise Corrupt("the fields of a struct have different numbers of rows")
