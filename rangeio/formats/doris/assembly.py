"""The asked rows of one field, cut from the units that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.doris.branches import NULLS
from rangeio.formats.doris.columns import Absent
from rangeio.formats.doris.decoding import Decoded, null_mask, struct_of
from rangeio.formats.doris.planning import SEVERAL
from rangeio.picking import sliced
from rangeio.plan import Piece, Rows
from rangeio.schema import Column, ColumnId

Pieces = Mapping[ColumnId, Sequence[Piece]]


def assembled(field: Column, rows: Rows, leaves: Pieces) -> pa.ChunkedArray:
    """The rows of a top-level field, in order."""
    if isinstance(field.payload, Absent):
        return _absent(field.payload.value, rows.count)
    if not pa.types.is_struct(field.type):
        return _branch(field.id, field.type, rows, leaves)
    nulls = ColumnId(field.unique_id, (*field.path, NULLS))
    parts = [assembled(child, rows, leaves) for child in field.children]
    if _pieces(nulls, leaves):
        parts.append(_branch(nulls, pa.int8(), rows, leaves))
    if not parts:
        whole = struct_of(field, (), None, rows.count)
        return pa.chunked_array([whole], field.type)
    return pa.chunked_array(_structs(field, parts), field.type)


def _structs(field: Column, parts: Sequence[pa.ChunkedArray]) -> Iterable[pa.Array]:
    """Structs of the rows that no chunk of any part divides."""
    count = len(field.children)
    for batch in pa.Table.from_arrays(parts, [str(i) for i in range(len(parts))]).to_batches():
        nulls = null_mask(batch.column(count)) if len(parts) > count else None
        yield struct_of(field, batch.columns[:count], nulls, batch.num_rows)


def _absent(value: pa.Scalar, count: int) -> pa.ChunkedArray:
    """The default, in every row."""
    made = pa.repeat(value, count) if value.is_valid else pa.nulls(count, value.type)
    return pa.chunked_array([made], value.type)


def _branch(column: ColumnId, kind: pa.DataType, rows: Rows, leaves: Pieces) -> pa.ChunkedArray:
    """The rows of what was decoded by itself."""
    chunks: list[pa.Array] = []
    for piece in _pieces(column, leaves):
        data: Decoded = piece.data
        wanted = rows.within(*piece.rows)
        if wanted == data.rows:
            chunks += data.arrays[column]
        elif wanted.count:
            chunks += _cut(data.arrays[column], data.rows, wanted)
    found = pa.chunked_array(chunks, kind)
    if len(found) != rows.count:
        raise Corrupt(f"{column.name!r}: {len(found)} rows were read of {rows.count}")
    return found


def _pieces(column: ColumnId, leaves: Pieces) -> list[Piece]:
    """What was decoded of a column, in the order of rows."""
    found = [*leaves.get(column, ())]
    found += [piece for piece in leaves.get(SEVERAL, ()) if column in piece.data.arrays]
    return sorted(found, key=lambda piece: piece.rows)


def _cut(arrays: Sequence[pa.Array], held: Rows, wanted: Rows) -> list[pa.Array]:
    """The wanted rows of those that are held."""
    table = pa.Table.from_arrays([pa.chunked_array(arrays)], ["0"])
    starts, sizes = held.places(wanted), wanted.stops - wanted.starts
    return list(sliced(table, starts, sizes).column(0).chunks)
