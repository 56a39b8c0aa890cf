"""The asked rows of one field, cut from the units that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.parquet.decoding import Decoded
from rangeio.picking import rebased, sliced, taken
from rangeio.plan import Piece, Rows
from rangeio.schema import Column, ColumnId

_SLICES = 64  # runs that are sliced; more are taken in one go


def assembled(
    field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
) -> pa.ChunkedArray:
    """The rows of a top-level field, in order."""
    mine = [
        (piece.rows, piece.data)
        for pieces in leaves.values()
        for piece in pieces
        if field.id in piece.data.arrays
    ]
    mine.sort(key=lambda one: one[0])
    if len(mine) == 1 and mine[0][1].rows == rows:
        return mine[0][1].arrays[field.id]
    chunks: list[pa.Array] = []
    for (start, stop), data in mine:
        wanted = rows.within(start, stop)
        if wanted.count:
            chunks += _cut(data, data.arrays[field.id], wanted, field.name)
    found = pa.chunked_array(chunks, field.type)
    if len(found) != rows.count:
        raise Corrupt(f"{field.id.name!r}: {len(found)} rows were read of {rows.count}")
    return found


def _cut(data: Decoded, array: pa.ChunkedArray, wanted: Rows, field: str) -> list[pa.Array]:
    """The wanted rows of what was decoded."""
    if wanted == data.rows:
        return list(array.chunks)
    table = pa.Table.from_arrays([array], names=[field])
    starts = data.rows.places(wanted)
    sizes = wanted.stops - wanted.starts
    if len(starts) <= _SLICES:
        found = sliced(table, starts, sizes)
    else:
        found = taken(table, Rows(starts, starts + sizes).array())
    return list(rebased(found.column(0)).chunks)
