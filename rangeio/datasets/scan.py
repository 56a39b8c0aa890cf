"""One read of many files: what is wanted of each, planned, read ahead, handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from rangeio.datasets.evolving.fitting import Fit
from rangeio.datasets.fileplan import FilePlan
from rangeio.datasets.inventory import Inventory, Order
from rangeio.datasets.wanted import Wanted
from rangeio.datasets.window import Claim, Reach, Tables, Window
from rangeio.engine.batches import tables
from rangeio.errors import FormatError, NoSuchColumn, RangeIOError, RequestError, StoreError
from rangeio.picking import counting
from rangeio.plan import Rows
from rangeio.predicate import Predicate
from rangeio.reading import Batches, Request
from rangeio.request import RowSelection, rows_of
from rangeio.statistics import Answer

AT_ONCE = 32
"""Files that are read at once."""

_FEW = 16 << 10  # values that are put in shape sooner than they could be handed to the pool

OnError: TypeAlias = Literal["raise", "skip"]
Progress: TypeAlias = Callable[[int, int], object]
"""Called on the session's loop with the files that are done, and all that will be."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out. rows: of it that had been handed on before it failed."""

    url: str
    error: RangeIOError
    rows: int = 0

    def __str__(self) -> str:
        after = f" after {self.rows:,} rows" if self.rows else ""
        return f"{self.url}: left out{after}: {self.error.reason or self.error}"


@dataclass(slots=True)
class Options:
    """How a scan goes about it. limit: rows that are enough. rows_each: of a table at most."""

    rows_each: int | None = None
    limit: int | None = None
    ordered: bool = True
    on_error: OnError = "raise"
    progress: Progress | None = None
    skipped: list[Skipped] = field(default_factory=list)


class Scan:
    """Runs on the portal's loop: :meth:`prepare` once, then what is wanted of it."""

    def __init__(self, inventory: Inventory, request: Request, options: Options) -> None:
        self.inventory = inventory
        self.request = request
        self.options = options
        self.files: list[int] = []
        self.selection: RowSelection | None = None
        self._starts: list[int] = []
        self._wanted: tuple[int, Wanted] | None = None
        self._done = 0
        self._kept: dict[int, list[Rows]] = {}  # rows that were read, where they are rearranged

    @property
    def wanted(self) -> Wanted:
        """The request, resolved against what is known of the schema by now."""
        known = self.inventory.changes
        if self._wanted is None or self._wanted[0] != known:
            self._wanted = known, Wanted(self.inventory.schema, self.request)
        return self._wanted[1]

    @property
    def rearranged(self) -> bool:
        """Whether rows are asked in an order of their own, some twice: only all of them together
        can be brought into it, and filtered."""
        return self.selection is not None and self.selection.take is not None

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema of the result. Where files are looked into only when their turn comes,
        any of them may turn out to lack a column: all are nullable."""
        found = self.wanted.arrow
        if not self.inventory.declared:
            return found
        return pa.schema([one.with_nullable(True) for one in found], metadata=found.metadata)

    async def prepare(self) -> None:
        """Find out which files may hold what is wanted, and, where nobody declared it, the schema
        that they have in common: the metadata of those files, and of the first and the last."""
        count = len(self.inventory.manifest)
        every = range(count)
        await self._look({0, count - 1} if count else set())
        if self.request.rows is not None:
            await self._look(every)
            self._choose_rows()
        try:
            wanted = self.wanted
        except (NoSuchColumn, RequestError):
            await self._look(every)  # some other file may have it
            wanted = self.wanted
        values = [file.partition for file in self.inventory.manifest]
        lost = {one.url for one in self.options.skipped}
        self.files = [
            i for i in every if wanted.may_hold(values[i]) and self.inventory.url(i) not in lost
        ]
        if not self.inventory.declared:
            await self._survey()

    async def look_at_all(self) -> None:
        """Learn the facts of every file."""
        await self._look(range(len(self.inventory.manifest)))

    async def _look(self, indexes: range | set[int]) -> None:
        """Learn the facts of these files."""
        await self.inventory.each(
            (i for i in indexes if i not in self.inventory.facts), self._guarded(self._fact)
        )

    async def _fact(self, index: int) -> None:
        await self.inventory.look(index)

    async def _survey(self) -> None:
        """Have the schema of all files that are read; their plans are made by the way."""
        unknown = [i for i in self.files if i not in self.inventory.facts]
        if not unknown:
            return
        limit, every = self.options.limit, self.request.filters is None
        # Where files may be left out, nobody knows how many of them are enough.
        if limit is not None and every and self.options.on_error == "raise":
            await self._enough(limit)
        else:
            await self.inventory.each(unknown, self._guarded(self._plan_ahead))
        lost = {one.url for one in self.options.skipped}
        self.files = [i for i in self.files if self.inventory.url(i) not in lost]

    async def _plan_ahead(self, index: int) -> None:
        await self.plan(index)

    async def _enough(self, limit: int) -> None:
        """Look at files until they have enough rows; no others are read."""
        rows, some = 0, 1
        for start in _steps(len(self.files)):
            part = self.files[start : start + some]
            await self._look(set(part))
            rows += sum(self.inventory.facts[i].rows for i in part if i in self.inventory.facts)
            if rows >= limit:
                self.files = self.files[: start + some]
                return
            some = start + some

    def _guarded(self, work: Callable[[int], object]) -> Callable[[int], object]:
        async def guarded(index: int) -> None:
            with self._forgiven(index):
                await work(index)  # type: ignore[misc]

        return guarded

    @contextmanager
    def _forgiven(self, index: int, rows: Callable[[], int] = int) -> Iterator[None]:
        """What is wrong with a file is noted, where that is wanted, and the file left out."""
        try:
            yield
        except (StoreError, FormatError) as error:
            url = self.inventory.url(index)
            if url.endswith(error.url):  # of some stores the error knows the path alone
                error.url = url
            if self.options.on_error != "skip":
                raise
            self.options.skipped.append(Skipped(url, error, rows()))

    # ---- what is wanted of one file ----

    def _choose_rows(self) -> None:
        facts = self.inventory.facts
        counts = (facts[i].rows if i in facts else 0 for i in range(len(self.inventory.manifest)))
        self._starts = list(accumulate(counts, initial=0))
        self.selection = rows_of(self.request.rows, self._starts[-1])

    def order(self, index: int) -> Order | None:
        """What to read of a file whose facts are known; None: nothing."""
        facts, wanted = self.inventory.facts[index], self.wanted
        rows = None
        if self.selection is not None:
            start = self._starts[index]
            rows = self.selection.rows.within(start, start + facts.rows).shifted(-start)
        if not facts.rows or (rows is not None and not rows.count):
            return None
        fitted = wanted.fit(self.place(index))
        predicate = self.predicate(index)
        if predicate is not None and predicate.keep({}) is Answer.NEVER:
            return None
        return Order(fitted, predicate, rows)

    def predicate(self, index: int) -> Predicate | None:
        """The filter in the words of a file whose facts are known."""
        wanted = self.wanted
        if wanted.predicate is None:
            return None
        return wanted.translated(self.place(index), self.inventory.manifest[index].partition)

    def place(self, index: int) -> int:
        """Where the generation of a file, whose facts are known, stands in the schema."""
        return self.inventory.place(self.inventory.facts[index].generation)

    def values(self, index: int) -> Mapping[str, object]:
        """The partition columns of a file."""
        manifest = self.inventory.manifest
        return dict(zip(manifest.partitions.names, manifest[index].partition, strict=True))

    async def plan(self, index: int) -> FilePlan | None:
        """What is read of a file; None: nothing."""
        return await self.inventory.plan(index, self.order)

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
            for batch in (await self.table()).combine_chunks().to_batches(batch_rows):
                yield batch
            return
        async with aclosing(self.batches()) as found:
            async for table in found:
                for batch in table.combine_chunks().to_batches(batch_rows):
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
        table = joined(found, pa.schema([one.arrow for one in wanted.fields]))
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
        with self._forgiven(index, lambda: handed):
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
        ahead = max(inventory.session.max_buffer // (2 * AT_ONCE), 1 << 20)
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
        work = partial(self._finished, index, self.wanted, order.fit, table)
        if table.num_rows * max(table.num_columns, 1) <= _FEW:
            return work()
        pool = self.inventory.session.live.engine.pool
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def _finished(self, index: int, wanted: Wanted, fitted: Fit, table: pa.Table) -> pa.Table:
        values = self.values(index)
        if self.rearranged:
            return fitted.table(table, values, self.inventory.url(index))
        return wanted.result(fitted, table, values, self.inventory.url(index))


def _of(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if not len(schema) or table.schema.equals(schema, check_metadata=True):
        return table
    return pa.Table.from_arrays(table.columns, schema=schema)


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


def _steps(count: int) -> Iterator[int]:
    """0, 1, 2, 4, 8, ...: where ever larger parts begin."""
    start = 0
    while start < count:
        yield start
        start = max(2 * start, 1)
