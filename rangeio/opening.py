"""From what a user names to an open handle, on the portal's loop."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from rangeio.engine.handle import Handle, opened
from rangeio.errors import ObjectChanged
from rangeio.formats import named, sniff
from rangeio.formats.format import Format
from rangeio.reading import Reading, Request, prepare
from rangeio.session import Session
from rangeio.stores.address import Options, Target


@dataclass(frozen=True, slots=True)
class Asked:
    """What ``open`` was called with; enough to open the file again elsewhere.

    pin, size: the version that was opened; opening another raises ObjectChanged. storage_options
    travel in pickles as the user passed them, and stay out of the repr.
    """

    target: Target
    storage_options: Options | None = field(default=None, repr=False)
    filesystem: Any = field(default=None, repr=False)
    format: str | None = None
    pin: str | None = None
    size: int | None = None

    def find(self, tail: memoryview) -> Format:
        """The format that was named, else the one that claims the bytes."""
        return named(self.format) if self.format is not None else sniff(tail)


async def connect(asked: Asked, session: Session) -> Handle:
    """Open the file: one suffix GET, then what the format needs."""
    live = session.live
    source, who = session.source(asked.target, asked.storage_options, asked.filesystem)
    taught = live.hint(source)
    handle = await opened(
        live.engine,
        session.pinned(source),
        asked.find,
        taught,
        lambda of: session.version(of, who),
    )
    if asked.size is not None and (asked.pin, asked.size) != (source.pin, source.size):
        raise ObjectChanged("the object is not the version that was opened", url=source.url)
    return handle


async def prepared(handle: Handle, request: Request, session: Session) -> Reading:
    """Plan a read, and keep what the file taught about its neighbours."""
    reading = await prepare(handle, request)
    hint = handle.format.learn(handle.table)
    session.live.learn(handle.of.source, handle.format.name, hint)
    return reading


class Opened:
    """A handle that belongs to one process: after a fork, or in a pickle's reader, it is opened
    again, pinned to the version that was seen first."""

    def __init__(self, asked: Asked, session: Session, handle: Handle | None = None) -> None:
        self.session = session
        self.pid = os.getpid()
        self.handle = handle
        self.asked = asked if handle is None else pinned_to(asked, handle)

    async def here(self) -> Handle:
        """The handle of this process."""
        live = self.session.live
        if self.handle is None or self.pid != os.getpid() or self.handle.engine is not live.engine:
            self.handle = await connect(self.asked, self.session)
            self.pid = os.getpid()
        return self.handle

    async def read(self, request: Request) -> Reading:
        """A planned read."""
        return await prepared(await self.here(), request, self.session)


def pinned_to(asked: Asked, handle: Handle) -> Asked:
    """The same words, with the version that they led to."""
    return replace(asked, pin=handle.of.source.pin, size=handle.of.source.size)
