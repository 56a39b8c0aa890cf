"""One opened file, on the portal's loop: what the blocking and the async file both stand on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from rangeio.declared import Declared
from rangeio.engine.core import Engine
from rangeio.engine.flights import Pinned, located
from rangeio.engine.lease import Held
from rangeio.errors import RequestError
from rangeio.formats.format import ColumnMeta, Format, Hint, Opening, Stale, Table
from rangeio.plan import Plan, Query
from rangeio.ranges import ByteRange, Suffix
from rangeio.schema import Column, ColumnId, Schema
from rangeio.select import Word, one_of
from rangeio.sought import Sought
from rangeio.steps import Steps, need

T = TypeVar("T")

_INLINE = 32  # columns whose metadata is parsed in place; more may take over a millisecond


class Reached:
    """One pinned object and its format: all that a plan needs to be carried out."""

    def __init__(self, engine: Engine, of: Pinned, fmt: Format) -> None:
        self.engine = engine
        self.of = of
        self.format = fmt

    @property
    def choice(self) -> str:
        """In words: what the cost model chose while opening; "" where that is not known."""
        return ""

    async def in_pool(self, work: Callable[[], T]) -> T:
        """Run what may take over a millisecond off the loop."""
        return await asyncio.get_running_loop().run_in_executor(self.engine.pool, work)


class Handle(Reached):
    """A format's table over one pinned object, and the columns of it that were loaded.

    Every method runs on the engine's loop. What a hint let the format assume is verified with the
    first column metadata; where it does not hold, the file is opened again without it.
    """

    def __init__(
        self,
        engine: Engine,
        of: Pinned,
        fmt: Format,
        few_bytes: bool | None,
        declared: Declared | None = None,
    ) -> None:
        super().__init__(engine, of, fmt)
        self.table: Table
        self._few_bytes = few_bytes
        self._declared = declared
        self._schema: Schema | None = None
        self._num_rows: int | None = None
        self._lock = asyncio.Lock()

    async def open(self, hint: Hint | None, kept: Held = ()) -> None:
        """Read the footer and the offset table; ``kept``: bytes that are here already."""
        size = self.of.size
        last = ByteRange(max(size - 1, 0), size)
        here = self.engine.cache.overlapping(self.of.version, last)
        held = size - min((at.start for at, _ in (*here, *kept)), default=size)
        opening = Opening(size, held, self.of.cost, hint, self._few_bytes, self._declared)
        steps = self.format.open(opening)
        self.table = await self.engine.metadata(self.of, steps, pool=True, kept=kept)

    @property
    def choice(self) -> str:
        """See Table."""
        return self.table.choice

    async def steps(self, steps: Steps[T], *, pool: bool = True) -> T:
        """Drive metadata steps; errors of the file say which file."""
        return await self.engine.metadata(self.of, steps, pool=pool)

    async def schema(self) -> Schema:
        """The schema, verified."""
        async with self._lock:
            if self._schema is None:
                try:
                    self._schema = await self.steps(self.format.schema(self.table))
                except Stale:
                    await self.open(None)
                    self._schema = await self.steps(self.format.schema(self.table))
            return self._schema

    async def num_rows(self) -> int:
        """Top-level rows."""
        if self.format.assumed(self.table) is not None:
            await self.schema()
        if self._num_rows is None:
            self._num_rows = await self.steps(self.format.num_rows(self.table), pool=False)
        return self._num_rows

    async def loaded(
        self, choose: Callable[[Schema], Sequence[Column]], words: Sought | None = None
    ) -> tuple[tuple[Column, ...], Mapping[ColumnId, ColumnMeta]]:
        """The columns that ``choose`` picks from the schema, and their metadata, in one hop.

        Where the schema is made of the columns' metadata, only what ``words`` may mean is read of
        it; they are all that ``choose`` looks at. Where the schema is only assumed, the choice is
        made on it and verified by the same hop. It is made again on the real one where it did not
        hold, where the request does not fit what was assumed, or where no hop was needed that could
        have verified it.
        """
        schema = await self.sought(words) if words is not None else None
        if schema is not None:
            try:
                return await self._chosen(schema, choose)
            except Stale:  # a word meant more than its letters say
                pass
        assumed = None if self._schema else self.format.assumed(self.table)
        if assumed is not None:
            try:
                chosen = await self._chosen(assumed, choose)
            except (Stale, RequestError):
                pass
            else:
                if self.format.assumed(self.table) is None:
                    return chosen
        return await self._chosen(await self.schema(), choose)

    async def column(self, word: Word) -> Column:
        """The one column that a word means."""
        schema = await self.sought(Sought((word,)))
        if schema is not None:
            try:
                return one_of(schema, word)[1]
            except Stale:
                pass
        return one_of(await self.schema(), word)[1]

    async def sought(self, words: Sought) -> Schema | None:
        """The schema as far as the words reach, where that is less than all of it; None where the
        schema is had whole. Looking at another column of it raises Stale."""
        steps = None if self._schema else self.format.sought(self.table, words)
        if steps is None:
            return None
        return self.format.known(self.table, await self.metas(await self.steps(steps)))

    async def _chosen(
        self, schema: Schema, choose: Callable[[Schema], Sequence[Column]]
    ) -> tuple[tuple[Column, ...], Mapping[ColumnId, ColumnMeta]]:
        fields = tuple(choose(schema))
        return fields, await self.metas([c for f in fields for c in self.format.needed(f)])

    async def metas(self, columns: Sequence[Column]) -> dict[ColumnId, ColumnMeta]:
        """Column metadata: each loaded once, however many ask, in one hop for all that miss."""
        by_key: dict[Hashable, Column] = {(self.of.version, c.id): c for c in columns}

        async def load(keys: tuple[Hashable, ...]) -> Mapping[Hashable, ColumnMeta]:
            mine = [by_key[key] for key in keys]
            many = len(mine) > _INLINE
            found = await self.steps(self.format.columns(self.table, mine), pool=many)
            return {key: found[column.id] for key, column in zip(keys, mine, strict=True)}

        got = await self.engine.columns.get(tuple(by_key), load)
        return {column.id: got[key] for key, column in by_key.items()}

    async def plan(self, metas: Mapping[ColumnId, ColumnMeta], query: Query) -> Plan:
        """Rows to pages to exact bytes."""
        many = len(metas) > _INLINE or len(query.rows) > _INLINE or query.predicate is not None
        return await self.steps(self.format.plan(self.table, metas, query, self.of.cost), pool=many)


async def opened(
    engine: Engine,
    of: Pinned,
    find: Callable[[memoryview], Format],
    taught: tuple[str, Hint] | None,
    version: Callable[[Pinned], Hashable],
    declared: Declared | None = None,
    *,
    mixed: bool = False,
) -> Handle:
    """Open a file: one suffix GET pins size and version tag, its bytes sniff the format.

    taught: what the directory taught, and of which format; its tail replaces the profile's.
    version: makes the caches' key once the tag is known. declared: the caller's ``schema=``; the
    caches need not know of it, for their keys hold the names and ids of columns. mixed: a format
    that takes none is opened without it.
    """
    profile = of.source.profile
    tail = Suffix(taught[1].tail if taught is not None else profile.tail)
    end = await _held_end(engine, of, version, min(tail.size, profile.tail))
    if end is None:
        received = await engine.transport.get(
            of.source, tail, why="tail", hop=of.hop().number, trace=of.trace, deadline=of.deadline
        )
        end = received.at, received.data
    of = replace(of, version=version(of), cost=engine.transport.cost(of.source))
    await engine.flights.look(of)
    engine.keep(of, *end)
    with located(of):
        fmt = find(end[1])
        declared = None if mixed and not fmt.takes_schema else declared
        fmt = admitted(fmt, declared)
        handle = Handle(engine, of, fmt, profile.few_bytes, declared)
    hint = taught[1] if taught and taught[0] == handle.format.name else None
    await handle.open(hint, [end])
    return handle


async def _held_end(
    engine: Engine, of: Pinned, version: Callable[[Pinned], Hashable], tail: int
) -> tuple[ByteRange, memoryview] | None:
    """The end of a version that was opened before, where a cache has enough of it."""
    size = of.source.size
    if size is None or not of.source.pin:
        return None
    of = replace(of, version=version(of))
    wanted = ByteRange(max(size - tail, 0), size)
    for at, data in engine.cache.overlapping(of.version, wanted):
        if at.start <= wanted.start and at.stop == size:
            return at, data
    await engine.flights.look(of)
    if engine.flights.missing(of, [wanted]):
        return None
    return wanted, await engine.metadata(of, need(wanted, "tail"))


def admitted(fmt: Format, declared: Declared | None) -> Format:
    """The format, where it takes the ``schema=`` of the caller; else RequestError."""
    if declared is not None and not fmt.takes_schema:
        raise RequestError(f"schema= is for files without names; {fmt.name} files carry theirs")
    return fmt
