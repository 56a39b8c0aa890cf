"""From what a user names to an open handle, on the portal's loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeVar, cast

import pyarrow as pa

from rangeio.declared import Declared
from rangeio.engine import atonce
from rangeio.engine.direct import DirectHandle, direct, immediate
from rangeio.engine.flights import Pinned, located
from rangeio.engine.hand import NotAtHand
from rangeio.engine.handle import Handle, opened
from rangeio.errors import RequestError
from rangeio.explanation import Explanation
from rangeio.formats import named, sniff
from rangeio.formats.format import Format, PageInfo
from rangeio.reading import Reading, Request, prepare
from rangeio.schema import Column, ColumnId, Schema
from rangeio.select import Word
from rangeio.session import Session
from rangeio.statistics import Statistics
from rangeio.stores.address import Options, Target, local
from rangeio.stores.local import LocalStore
from rangeio.transport.profile import PROFILES
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``open`` was called with; enough to open the file again elsewhere.

    pin, size: the version that was opened; opening another raises ObjectChanged. storage_options
    travel in pickles as the user passed them; like the target, which may be signed, they stay out
    of the repr. declared: the caller's ``schema=``; mixed: for those formats alone that take one.
    """

    target: Target = field(repr=False)
    storage_options: Options | None = field(default=None, repr=False)
    filesystem: Any = field(default=None, repr=False)
    format: str | None = None
    pin: str | None = None
    size: int | None = None
    declared: Declared | None = None
    mixed: bool = False

    @classmethod
    def of(
        cls,
        target: Target,
        storage_options: Options | None,
        filesystem: Any,
        fmt: str | None,
        schema: object,
        index: str,
    ) -> Asked:
        """The words of an open call, checked as far as they can be without looking."""
        if index not in ("auto", "off"):
            raise RequestError(f"index={index!r}: metadata indexes are not read yet; leave it out")
        declared = None if schema is None else Declared.of(schema)
        return cls(target, storage_options, filesystem, fmt, declared=declared)

    def find(self, tail: memoryview) -> Format:
        """The format that was named, else the one that claims the bytes."""
        return named(self.format) if self.format is not None else sniff(tail)


async def connect(asked: Asked, session: Session, trace: Trace | None = None) -> Handle:
    """Open the file: one suffix GET, then what the format needs.

    Where a version was opened before, the first GET asks for that version already.
    """
    live = session.live
    of, who = await session.connect(asked.target, asked.storage_options, asked.filesystem, trace)
    if asked.size is not None:
        of.source.pin, of.source.size = asked.pin, asked.size
    taught = live.hint(of.source)
    return await opened(
        live.engine,
        of,
        asked.find,
        taught,
        lambda pinned: session.version(pinned, who),
        asked.declared,
        mixed=asked.mixed,
    )


def at_hand(asked: Asked, session: Session) -> DirectHandle | None:
    """The file opened on this thread, where its bytes are at hand; else None.

    A profile that was asked for is one to be kept to, so its files go the engine's way.
    """
    if asked.filesystem is not None or session.profile is not None or session.closed:
        return None
    path = local(asked.target)
    if path is None:
        return None
    source = Source(LocalStore(), path, path, PROFILES[LocalStore.profile], asked.pin, asked.size)
    of = Pinned(source, None, Trace(), count(1), source.profile.cost, session.deadline)
    return direct(of, asked.find, asked.declared)


async def moved(asked: Asked, session: Session, handle: DirectHandle) -> Handle:
    """The same version of the same file, on the session's engine; its trace goes on."""
    of, who = await session.connect(asked.target, asked.storage_options, asked.filesystem)
    source = handle.of.source
    of.source.pin, of.source.size = source.pin, source.size
    of = replace(
        of,
        version=session.version(of, who),
        trace=handle.of.trace,
        hops=handle.of.hops,
        data=handle.of.data,
    )
    return handle.moved(session.live.engine, of)


async def prepared(handle: Handle, request: Request, session: Session) -> Reading:
    """Plan a read, and keep what the file taught about its neighbours."""
    with located(handle.of):
        reading = await prepare(handle, request)
    hint = handle.format.learn(handle.table)
    session.live.learn(handle.of.source, handle.format.name, hint)
    return reading


class Opened:
    """A handle that belongs to one process: after a fork, or in a pickle's reader, it is opened
    again, pinned to the version that was seen first."""

    def __init__(self, asked: Asked, session: Session, handle: Handle) -> None:
        self.session = session
        self.handle = handle
        self.asked = pinned_to(asked, handle)
        self._direct = handle if isinstance(handle, DirectHandle) else None

    def at_once(self, work: Callable[[Handle], Coroutine[Any, Any, T]]) -> T | None:
        """What ``work`` makes of the handle on this thread; None where that cannot be."""
        handle = self._direct
        if handle is None or self.session.closed:
            return None
        try:
            with located(handle.of):
                return immediate(work(handle))
        except NotAtHand:
            self._direct = None
            return None

    def release(self) -> None:
        """Let go of the bytes that are held for this handle alone."""
        if self._direct is not None:
            self._direct.release()

    def table_at_once(self, request: Request) -> pa.Table | None:
        """A read on this thread, and on a few others while it is large; None where it cannot be."""
        if request.everything:
            found = self.at_once(lambda handle: cast("DirectHandle", handle).entire())
            if found is not None:
                return found
        reading = self.at_once(lambda handle: prepare(handle, request))
        if reading is None or self._direct is None:
            return None
        try:
            held = self._direct.direct.cache
            found = atonce.table(reading.prepared, held, most=self.session.max_buffer)
        except NotAtHand:
            self._direct = None
            return None
        self._direct.release()
        with located(self._direct.of):
            return reading.finished(found)

    async def here(self) -> Handle:
        """The handle of this process."""
        if isinstance(self.handle, DirectHandle):
            self.handle = await moved(self.asked, self.session, self.handle)
        elif self.handle.engine is not self.session.live.engine:
            self.handle = await connect(self.asked, self.session)
        return self.handle

    async def schema(self) -> Schema:
        """The schema, verified."""
        return await (await self.here()).schema()

    async def num_rows(self) -> int:
        """Top-level rows."""
        return await (await self.here()).num_rows()

    async def num_columns(self) -> int:
        """Top-level columns; costs the schema only where the footer does not tell."""
        handle = await self.here()
        count = handle.table.num_columns
        return count if count >= 0 else len(await handle.schema())

    async def pages(self, columns: Sequence[Column]) -> dict[ColumnId, Sequence[PageInfo]]:
        """The pages of every physical column at or below these, by its id: one hop of metadata."""
        handle = await self.here()
        metas = await handle.metas([n for c in columns for n in handle.format.needed(c)])
        return {name: handle.format.pages(meta) for name, meta in metas.items()}

    async def statistics(self, column: Column) -> Statistics | None:
        """What the file says of a leaf's values; None of anything but a leaf."""
        if column.children:
            return None
        handle = await self.here()
        meta = (await handle.metas(handle.format.needed(column))).get(column.id)
        return None if meta is None else handle.format.statistics(meta)

    async def column(self, word: Word) -> Column:
        """The one column that a word means; of a schema that is made of the columns' metadata, no
        more than that."""
        handle = await self.here()
        with located(handle.of):
            return await handle.column(word)

    async def paths(self, name: str, prefix: str) -> Sequence[str]:
        """The paths inside a top-level column of no fixed structure, of which nothing but these is
        read. RequestError of any other column."""
        handle = await self.here()
        steps = handle.format.paths(handle.table, name, prefix)
        if steps is None:
            column = await self.column(name)
            raise RequestError(f"{column.id.name!r} has a fixed structure: its schema tells")
        return await handle.steps(steps)

    async def read(self, request: Request) -> Reading:
        """A planned read."""
        return await prepared(await self.here(), request, self.session)

    async def table(self, request: Request) -> pa.Table:
        """A read, planned and carried out."""
        return await (await self.read(request)).table()

    async def explain(self, request: Request) -> Explanation:
        """A planned read's explanation; on the loop, since it looks into what the loop holds."""
        return (await self.read(request)).explanation()


def pinned_to(asked: Asked, handle: Handle) -> Asked:
    """The same words, with the version that they led to; a path is made absolute."""
    source = handle.of.source
    target = source.key if isinstance(source.store, LocalStore) else asked.target
    return replace(asked, target=target, pin=source.pin, size=source.size)
