"""From what a user names to an open handle, on the portal's loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from rangeio.engine.flights import located
from rangeio.engine.handle import Handle, opened
from rangeio.errors import RequestError
from rangeio.explanation import Explanation
from rangeio.formats import named, sniff
from rangeio.formats.format import Format, PageInfo
from rangeio.reading import Reading, Request, prepare
from rangeio.schema import Column, ColumnId, Schema
from rangeio.session import Session
from rangeio.statistics import Statistics
from rangeio.stores.address import Options, Target
from rangeio.stores.local import LocalStore


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``open`` was called with; enough to open the file again elsewhere.

    pin, size: the version that was opened; opening another raises ObjectChanged. storage_options
    travel in pickles as the user passed them; like the target, which may be signed, they stay out
    of the repr.
    """

    target: Target = field(repr=False)
    storage_options: Options | None = field(default=None, repr=False)
    filesystem: Any = field(default=None, repr=False)
    format: str | None = None
    pin: str | None = None
    size: int | None = None

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
        if schema is not None:
            raise RequestError("schema= is for formats whose files carry none; this one does")
        if index not in ("auto", "off"):
            raise RequestError(f"index={index!r}: metadata indexes are not read yet; leave it out")
        return cls(target, storage_options, filesystem, fmt)

    def find(self, tail: memoryview) -> Format:
        """The format that was named, else the one that claims the bytes."""
        return named(self.format) if self.format is not None else sniff(tail)


async def connect(asked: Asked, session: Session) -> Handle:
    """Open the file: one suffix GET, then what the format needs.

    Where a version was opened before, the first GET asks for that version already.
    """
    live = session.live
    of, who = await session.connect(asked.target, asked.storage_options, asked.filesystem)
    if asked.size is not None:
        of.source.pin, of.source.size = asked.pin, asked.size
    taught = live.hint(of.source)
    return await opened(
        live.engine, of, asked.find, taught, lambda pinned: session.version(pinned, who)
    )


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

    async def here(self) -> Handle:
        """The handle of this process."""
        if self.handle.engine is not self.session.live.engine:
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
