"""One read of one file, from words to tables: what the blocking and the async file both do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.engine.batches import Prepared, tables
from rangeio.engine.handle import Handle
from rangeio.engine.reader import parts, planned_gets
from rangeio.errors import RequestError
from rangeio.explanation import Explanation, PlannedGet
from rangeio.plan import DecodeUnit, Plan, Query
from rangeio.predicate import Filters, Predicate, parse
from rangeio.ranges import ByteRange
from rangeio.request import RowSelection, RowWords, rows_of
from rangeio.schema import Column, Schema
from rangeio.select import Selection, Words, select
from rangeio.sought import Sought

Batches: TypeAlias = AsyncGenerator[pa.RecordBatch, None]


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks of a file. Rows are chosen first, filters apply to them."""

    columns: Words | None = None
    rows: RowWords | None = None
    filters: Filters | None = None
    flatten: bool = False
    case_sensitive: bool = True

    @property
    def everything(self) -> bool:
        """Whether it is for all columns and rows, as they are."""
        given = (self.columns, self.rows, self.filters)
        return all(one is None for one in given) and not self.flatten


@dataclass(slots=True)
class Reading:
    """A request, resolved and planned against one handle; nothing of the data is read yet."""

    request: Request
    selection: Selection
    predicate: Predicate | None
    rows: RowSelection
    prepared: Prepared

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the result."""
        if not self.request.flatten:
            return self._arrow
        return self._finished(self.prepared.schema.empty_table()).schema

    async def table(self) -> pa.Table:
        """All of it, as one table."""
        whole = tables(self.prepared, None)
        try:
            table = await anext(whole)
        finally:
            await whole.aclose()
        if self._as_it_is:
            return table
        return await self.prepared.handle.in_pool(partial(self._result, table))

    def finished(self, table: pa.Table) -> pa.Table:
        """What was asked for, of the table that was read."""
        return table if self._as_it_is else self._result(table)

    async def batches(self, batch_rows: int) -> Batches:
        """Record batches of at most ``batch_rows`` rows, in order; each is handed on while later
        GETs are still out."""
        if self.rows.take is not None:  # any order: what comes first is known only with the last
            for batch in batches_of(await self.table(), batch_rows):
                yield batch
            return
        whole = tables(self.prepared, batch_rows)
        try:
            async for table in whole:
                cut = partial(self._batches, table, batch_rows)
                for batch in await self.prepared.handle.in_pool(cut):
                    yield batch
        finally:
            await whole.aclose()

    def explanation(self) -> Explanation:
        """What reading it now would fetch."""
        handle, plan = self.prepared.handle, self.prepared.plan
        gets = parts(handle.of, planned_gets(handle.engine, handle.of, plan))
        later = [bound for unit in plan.units for bound in unit.later]
        source = handle.of.source
        made = [get for get in handle.of.trace if not (get.cached or get.joined)]
        metadata = [get for get in made if get.why not in handle.of.data]
        return Explanation(
            url=source.url,
            format=handle.format.name,
            rows=self.rows.count,
            columns=tuple(leaf.id.name for f in self.prepared.fields for leaf in f.leaves()),
            planned=tuple(_planned(gets, plan)),
            bytes_needed=_needed(plan),
            cost=handle.of.cost,
            profile=source.profile.name,
            later_hops=max((len(unit.later) for unit in plan.units), default=0),
            later_gets=sum(bound.at_most for bound in later),
            later_bytes=sum(at.size for bound in later for at in bound.within),
            metadata_hops=len({get.hop for get in metadata}),
            metadata_gets=len(metadata),
            metadata_bytes=sum(get.size for get in metadata),
            choice=handle.choice,
            pruned=plan.pruned,
            consistency=source.consistency,
        )

    @property
    def _as_it_is(self) -> bool:
        return self.rows.take is None and self.predicate is None and not self.request.flatten

    @property
    def _arrow(self) -> pa.Schema:
        return self.selection.arrow_schema.with_metadata(self.prepared.schema.metadata)

    def _batches(self, table: pa.Table, batch_rows: int) -> list[pa.RecordBatch]:
        return batches_of(self._result(table), batch_rows)

    def _result(self, table: pa.Table) -> pa.Table:
        """The asked rows in the asked order, filtered exactly."""
        table = self.rows.arranged(table)
        if self.predicate is not None:
            table = self.predicate.filter(table)
        return self._finished(table)

    def _finished(self, table: pa.Table) -> pa.Table:
        """Only the asked columns: what was read for the filters alone is taken away."""
        if self.predicate is not None:
            return projected(table, self.selection, self._arrow, self.request.flatten)
        return self.selection.flatten(table) if self.request.flatten else table


def projected(table: pa.Table, selection: Selection, schema: pa.Schema, flatten: bool) -> pa.Table:
    """The asked columns, which are the first of ``table``, cut to what was asked of each.

    schema: of the result, before it is flattened.
    """
    columns = [
        column if column.type == field.type else column.cast(field.type)
        for field, column in zip(selection.fields, table.columns, strict=False)
    ]
    # Without columns, only a selection of none keeps the number of rows.
    kept = pa.Table.from_arrays(columns, schema=schema) if columns else table.select([])
    return selection.flatten(kept) if flatten else kept


def batches_of(table: pa.Table, batch_rows: int) -> list[pa.RecordBatch]:
    """A table in batches of at most so many rows: as few as can be, more only where 32-bit offsets
    would overflow, or where the dictionaries of its parts together are too long for one."""
    with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):  # then it keeps the dictionaries
        table = table.combine_chunks()
    batches: list[pa.RecordBatch] = table.to_batches(batch_rows)
    return batches


def checked(batch_rows: int) -> int:
    """``batch_rows`` where it is a whole number of at least 1, else RequestError."""
    if isinstance(batch_rows, bool) or not isinstance(batch_rows, int) or batch_rows < 1:
        raise RequestError(f"batch_rows is a whole number of at least 1, not {batch_rows!r}")
    return batch_rows


async def prepare(handle: Handle, request: Request) -> Reading:
    """Resolve the words, load the columns' metadata, plan: all hops but those of the data."""
    chosen: list[tuple[Selection, Predicate | None, Mapping[bytes, bytes]]] = []

    def choose(schema: Schema) -> Sequence[Column]:
        asked = select(schema, request.columns, case_sensitive=request.case_sensitive)
        predicate: Predicate | None = None
        if request.filters is not None:
            predicate = parse(request.filters, schema, case_sensitive=request.case_sensitive)
        chosen[:] = [(asked, predicate, schema.metadata)]
        if predicate is None:
            return asked.fields
        words: list[Any] = [*asked.fields, *predicate.columns]
        return select(schema, words).fields

    words = Sought.of(request.columns, request.filters, request.case_sensitive)
    fields, metas = await handle.loaded(choose, words)
    rows = rows_of(request.rows, await handle.num_rows())
    (selection, predicate, metadata), *_ = chosen
    plan = await handle.plan(metas, Query(fields, rows.rows, predicate))
    if plan.rows is not None:
        rows = rows.within(plan.rows)
    prepared = Prepared(handle, fields, metas, rows.rows, plan, metadata)
    return Reading(request, selection, predicate, rows, prepared)


def column_of(table: pa.Table, path: Sequence[str]) -> pa.ChunkedArray:
    """The only column of ``table``, opened along ``path`` as far as structs go."""
    column = table.column(0)
    for name in path[1:]:
        if not pa.types.is_struct(column.type):
            break
        column = pc.struct_field(column, name)
    return column


def _planned(gets: Sequence[ByteRange], plan: Plan) -> list[PlannedGet]:
    """The GETs, each with the columns whose units reach into it."""
    starts = [get.start for get in gets]
    names: list[dict[str, None]] = [{} for _ in gets]

    def reach(ranges: Sequence[ByteRange], name: str) -> None:
        for at in ranges:
            i = max(bisect_right(starts, at.start) - 1, 0)
            while i < len(gets) and gets[i].start < at.stop:
                if gets[i].stop > at.start:
                    names[i][name] = None
                i += 1

    users: dict[object, DecodeUnit] = {}
    for unit in plan.units:
        reach(unit.ranges, unit.column.name)
        users.update(dict.fromkeys(unit.uses, unit))
    for shared in plan.shared:
        if shared.key in users:
            reach(shared.ranges, users[shared.key].column.name)
    return [PlannedGet(at, tuple(n)) for at, n in zip(gets, names, strict=True)]


def _needed(plan: Plan) -> int:
    ranges = {at for unit in plan.units for at in unit.ranges}
    ranges.update(at for shared in plan.shared for at in shared.ranges)
    return sum(at.size for at in ranges)
