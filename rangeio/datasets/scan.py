"""One read of many files: what is wanted of each, planned, read ahead, handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

import numpy as np
import pyarrow as pa

from rangeio.datasets.choice import Choice
from rangeio.datasets.evolving.fitting import Fit
from rangeio.datasets.inventory import Inventory, Order
from rangeio.datasets.policy import Options
from rangeio.datasets.wanted import Wanted, relaxed
from rangeio.datasets.window import Claim, Reach, Tables, Window
from rangeio.engine.batches import tables
from rangeio.picking import counting
from rangeio.plan import Rows
from rangeio.reading import Batches, Request, batches_of
from rangeio.session import Session

AT_ONCE = 32
"""Files that are read at once."""

_FEW = 16 << 10  # values that are put in shape sooner than they could be handed to the pool


class Scan(Choice):
    """Runs on the portal's loop: :meth:`prepare` once, then what is wanted of it."""

    def __init__(self, inventory: Inventory, request: Request, options: Options) -> None:
        super().__init__(inventory, request, options)
        self._done = 0
        self._kept: dict[int, list[Rows]] = {}  # rows that were read, where they are rearranged

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of the result. Where files are looked into only when their turn comes,
        any of them may turn out to lack a column: all are nullable."""
        found = self.wanted.arrow
        return relaxed(found) if self.inventory.declared else found

    # ---- reading ----

    async def batches(self) -> Tables:
        """Tables in the schema of the result, each of one file's rows; of what is rearranged,
        tables of all that was read for it."""
        left, schema, whole = self.options.limit, self.arrow, self.rearranged
        if left == 0:
            return
        if whole:
            left = None
        async with aclosing(self._window()) as window:
            async for table in window:
                if left is not None:
                    table = table.slice(0, left)
                    left -= table.num_rows
                if table.num_rows:
                    yield table if whole else _of(table, schema)
                del table
                if left == 0:
                    return

    async def record_batches(self, batch_rows: int) -> Batches:
        """The result, in batches of at most so many rows."""
        if self.rearranged:
            for batch in batches_of(await self.table(), batch_rows):
                yield batch
            return
        async with aclosing(self.batches()) as found:
            async for table in found:
                for batch in batches_of(table, batch_rows):
                    yield batch
                del table

    async def table(self) -> pa.Table:
        """All of it."""
        found = [table async for table in self.batches()]
        return self._arranged(found)

    def _arranged(self, found: list[pa.Table]) -> pa.Table:
        wanted, selection = self.wanted, self.selection
        if selection is None or not self.rearranged:
            return joined(found, self.arrow)
        schema = pa.schema([one.arrow for one in wanted.fields])
        if self.inventory.declared:
            schema = relaxed(schema)
        table = joined([_of(one, schema) for one in found], schema)
        kept = [rows.shifted(self._starts[i]) for i in sorted(self._kept) for rows in self._kept[i]]
        # Filters, or policy, may have left out some of the rows.
        selection = selection.within(_united(kept))
        # Of a table without columns Arrow would take no rows.
        table = selection.arranged(table) if wanted.fields else counting(selection.count)
        return _of(wanted.finished(table).slice(0, self.options.limit), self.arrow)

    def _window(self) -> Tables:
        session = self.inventory.session
        engine = session.live.engine
        first = AT_ONCE if self.options.limit is None else 2
        ordered = self.options.ordered or self.rearranged
        reach = Reach(AT_ONCE, first, session.max_buffer // 4, ordered)
        return Window(engine, self._guarded_tables, self.files, reach).tables()

    async def _guarded_tables(self, index: int, claim: Claim) -> Tables:
        handed = 0
        with self.forgiven(index, lambda: handed):
            async with aclosing(self._tables(index, claim)) as found:
                async for table in found:
                    yield table
                    handed += table.num_rows
                    del table
        self._done += 1
        if self.options.progress is not None:
            self.options.progress(self._done, len(self.files))

    async def _tables(self, index: int, claim: Claim) -> AsyncGenerator[pa.Table, None]:
        inventory = self.inventory
        order = self.order(index) if index in inventory.facts else None
        held = None if order is None else inventory.decoded(index, order)
        if order is not None and held is not None:
            yield await self._result(index, order, *held)
            return
        plan = await self.plan(index)
        order = self.order(index)
        if plan is None or order is None or not plan.rows.count:
            return
        read = await plan.reached(inventory.way, inventory.session, inventory.trace)
        ahead = read_ahead(inventory.session)
        await claim(plan.held(ahead))
        done = 0
        async with aclosing(tables(read, self.options.rows_each, ahead=ahead)) as found:
            async for table in found:
                if table.num_rows == plan.rows.count:
                    inventory.keep(index, order, table, plan.rows)
                rows = plan.rows.part(done, done + table.num_rows)
                done += table.num_rows
                yield await self._result(index, order, table, rows)
                del table

    async def _result(self, index: int, order: Order, table: pa.Table, rows: Rows) -> pa.Table:
        """What becomes of a file's rows; off the loop where it may take long."""
        made = await self._made(index, order, table)
        if self.rearranged:
            self._kept.setdefault(index, []).append(rows)
        return made

    async def _made(self, index: int, order: Order, table: pa.Table) -> pa.Table:
        _, wanted = self.wanted_of(index)
        work = partial(self._finished, index, wanted, order.fit, table)
        if table.num_rows * max(table.num_columns, 1) <= _FEW:
            return work()
        pool = self.inventory.session.live.engine.pool
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def _finished(self, index: int, wanted: Wanted, fitted: Fit, table: pa.Table) -> pa.Table:
        values = self.values(index)
        if self.rearranged:
            return fitted.table(table, values, self.inventory.url(index))
        return wanted.result(fitted, table, values, self.inventory.url(index))


def read_ahead(session: Session) -> int:
    """Bytes of one file that are read ahead of what is handed on."""
    return max(session.max_buffer // (2 * AT_ONCE), 1 << 20)


def _of(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if not len(schema) or table.schema.equals(schema, check_metadata=True):
        return table
    columns = [
        column if column.type == kind else column.cast(kind)
        for column, kind in zip(table.columns, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def joined(found: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """The tables, all of this schema, as one."""
    if found and not len(schema):  # of tables without columns Arrow would lose the rows
        return counting(sum(one.num_rows for one in found))
    return pa.concat_tables(found) if found else schema.empty_table()


def _united(parts: list[Rows]) -> Rows:
    """Sets of rows, each behind the one before, as one set."""
    if not parts:
        return Rows([], [])
    starts = np.concatenate([rows.starts for rows in parts])
    return Rows(starts, np.concatenate([rows.stops for rows in parts]))
