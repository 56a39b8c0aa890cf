"""One file whose bytes are at hand, read on the caller's thread: no loop, no pool, no hand-over.

It carries a Handle as far as metadata goes, and carries out small plans. What it cannot do, or what
goes wrong with the bytes, is left to the engine of the session: the handle moves there.
"""

from __future__ import annotations

import contextlib
import time
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Any, TypeVar, cast

import pyarrow as pa

from rangeio.declared import Declared
from rangeio.engine.core import Engine
from rangeio.engine.drive import drive
from rangeio.engine.flights import Pinned, located
from rangeio.engine.hand import Hand, Held, NotAtHand
from rangeio.engine.handle import Handle, admitted
from rangeio.formats.format import ColumnMeta, Format, Image
from rangeio.ranges import ByteRange, Suffix
from rangeio.schema import Schema
from rangeio.steps import Steps
from rangeio.transport.athand import read_now
from rangeio.transport.source import Received

T = TypeVar("T")

_TAILS = 256  # files whose tails are held, of all that are open: those that were opened last
_METAS = 8 << 20  # bytes of column metadata that one file keeps


def immediate(work: Coroutine[Any, Any, T]) -> T:
    """Run what never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise AssertionError("what is at hand was waited for")


class _Metas:
    """Column metadata of one file. Any thread may ask: what two load at once, one of them keeps."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, ColumnMeta] = {}
        self._weight = 0

    async def get(
        self,
        keys: Sequence[Hashable],
        load: Callable[[tuple[Hashable, ...]], Awaitable[Mapping[Hashable, ColumnMeta]]],
    ) -> dict[Hashable, ColumnMeta]:
        """The values of ``keys``; ``load`` is called with what is not kept."""
        kept = self._kept
        found = {key: kept[key] for key in keys if key in kept}
        missing = tuple(key for key in keys if key not in found)
        if missing:
            loaded = await load(missing)
            found.update(loaded)
            self._keep(loaded)
        return {key: found[key] for key in keys}

    def _keep(self, loaded: Mapping[Hashable, ColumnMeta]) -> None:
        weight = sum(one.weight for one in loaded.values())
        if self._weight + weight > _METAS:
            self._kept, self._weight = {}, 0
        if weight <= _METAS:
            self._kept.update(loaded)
            self._weight += weight


_opened_last: deque[weakref.ref[DirectHandle]] = deque()


class Direct:
    """What a handle needs of an engine, for as long as the bytes are at hand.

    cache: what opening read; nothing is added to it, so any thread may look.
    """

    def __init__(self, of: Pinned, tail: Sequence[Received]) -> None:
        self.cache = Held(of, tail)
        self.columns = _Metas()

    async def metadata(
        self, of: Pinned, steps: Steps[T], *, pool: bool = False, kept: object = ()
    ) -> T:
        """Drive steps over metadata, one hop a need; ``pool`` and ``kept`` mean nothing here."""
        hand = Hand(of, self.cache.copy())
        with located(of):
            return drive(steps, lambda asked: hand.fetch(asked, of.hop()))


class DirectHandle(Handle):
    """A handle whose methods never wait, see :func:`immediate`; any thread may call them."""

    def __init__(
        self,
        direct: Direct,
        of: Pinned,
        fmt: Format,
        few_bytes: bool | None,
        declared: Declared | None,
    ) -> None:
        super().__init__(cast("Engine", direct), of, fmt, few_bytes, declared)
        self.direct = direct
        _opened_last.append(weakref.ref(self))
        while len(_opened_last) > _TAILS:
            with contextlib.suppress(IndexError):  # another thread was sooner
                oldest = _opened_last.popleft()()
                if oldest is not None:
                    oldest.release()

    async def schema(self) -> Schema:
        """The schema; what two threads make at once, one of them keeps."""
        if self._schema is None:
            self._schema = await self.steps(self.format.schema(self.table))
        return self._schema

    async def in_pool(self, work: Callable[[], T]) -> T:
        """Run it here."""
        return work()

    async def entire(self) -> pa.Table | None:
        """All of the file, where its format reads it whole."""
        entire = getattr(self.format, "entire", None)  # see Entire
        image: Image | None = entire and entire(self.table)
        if image is None:
            return None
        self.of.data.add(image.why)
        hand = Hand(self.of, self.direct.cache)
        return image.read(hand.image(image.ranges, image.known, image.why, self.of.hop()))

    def release(self) -> None:
        """Let go of what opening read."""
        self.direct.cache = Held(self.of)

    def moved(self, engine: Engine, of: Pinned) -> Handle:
        """The same file on an engine: ``of`` is what that one knows it by."""
        handle = Handle(engine, of, self.format, self._few_bytes, self._declared)
        handle.table, handle._schema = self.table, self._schema
        handle._num_rows = self._num_rows
        whole = ByteRange(0, of.size)
        for at, data in self.direct.cache.overlapping(None, whole):
            engine.cache.put(of.version, at, data)
        return handle


def direct(
    of: Pinned, find: Callable[[memoryview], Format], declared: Declared | None
) -> DirectHandle | None:
    """Open a file whose bytes are at hand; None where they are not."""
    profile = of.source.profile
    tail = read_now(
        of.source,
        [Suffix(profile.tail)],
        time.monotonic,
        why="tail",
        hop=lambda: of.hop().number,
        trace=of.trace,
    )
    if tail is None:
        return None
    with located(of):
        fmt = admitted(find(tail[0].data), declared)
        handle = DirectHandle(Direct(of, tail), of, fmt, profile.few_bytes, declared)
        try:
            immediate(handle.open(None))
        except NotAtHand:
            return None
    return handle
