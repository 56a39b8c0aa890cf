"""From landed pieces to tables: the pieces of all fields are cut to one row grid."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rangeio.engine.flights import located
from rangeio.engine.handle import Reached
from rangeio.engine.reader import AHEAD, Reader
from rangeio.formats.format import ColumnMeta
from rangeio.picking import counting
from rangeio.plan import Piece, Plan, Rows
from rangeio.schema import Column, ColumnId

_SMALL = 4096  # values that are put together sooner than they could be handed to the pool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A read that is planned and not begun."""

    handle: Reached
    fields: tuple[Column, ...]
    metas: Mapping[ColumnId, ColumnMeta]
    rows: Rows
    plan: Plan
    metadata: Mapping[bytes, bytes]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of what it reads, with the file's metadata."""
        fields = [field.arrow for field in self.fields]
        return pa.schema(fields, metadata=dict(self.metadata) or None)


async def tables(
    read: Prepared, rows_each: int | None, *, ahead: int = AHEAD
) -> AsyncGenerator[pa.Table, None]:
    """Tables of ``rows_each`` rows, in order, the last one shorter; None is one table of all.

    Each is handed on as soon as the units that reach into it have landed. ahead: see Reader.
    """
    units, handle = read.plan.units, read.handle
    await handle.engine.flights.look(handle.of)
    pieces = Reader(
        handle.engine, handle.of, handle.format, read.metas, read.plan, ahead=ahead
    ).pieces()
    held: dict[ColumnId, list[Piece]] = {}
    landed = 0
    try:
        for rows in grid(read.rows, rows_each):
            _, stop = rows.extent
            while landed < len(units) and units[landed].rows[0] < stop:
                unit, data = await anext(pieces)
                held.setdefault(unit.column, []).append(Piece(unit.rows, data))
                landed += 1
            build = partial(assembled, read, rows, dict(held))
            small = rows.count * len(read.fields) <= _SMALL
            with located(read.handle.of):
                table = build() if small else await read.handle.in_pool(build)
            yield table
            for column, kept in held.items():
                held[column] = [piece for piece in kept if piece.rows[1] > stop]
    finally:
        await pieces.aclose()


def grid(rows: Rows, each: int | None) -> Sequence[Rows]:
    """The asked rows, cut to sets of ``each``; one empty set where there are none."""
    count = rows.count
    if each is None or count <= each:
        return [rows]
    return [rows.part(start, min(start + each, count)) for start in range(0, count, each)]


def assembled(read: Prepared, rows: Rows, held: Mapping[ColumnId, Sequence[Piece]]) -> pa.Table:
    """One table of ``rows``: every field built from the pieces that overlap it."""
    start, stop = rows.extent
    near = {
        column: [p for p in pieces if p.rows[0] < stop and p.rows[1] > start]
        for column, pieces in held.items()
    }
    arrays = [read.handle.format.assemble(field, rows, near) for field in read.fields]
    if not arrays:
        return counting(rows.count)
    return pa.Table.from_arrays(arrays, schema=read.schema)
