"""The range layer by itself: validated, pinned, coalesced and cached bytes of any object."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, TypeAlias, cast

from rangeio.engine.budget import Lane, Ticket
from rangeio.engine.flights import Cause, Pinned, located
from rangeio.engine.lease import Held, Lease
from rangeio.errors import BadRows, RequestError
from rangeio.ranges import ByteRange, Coalescing, Suffix, coalesce
from rangeio.session import Session, default_session
from rangeio.steps import Need
from rangeio.stores.address import Options, Target

Asked: TypeAlias = tuple[int | None, int | None] | slice
_GROUP = 32 << 20  # bytes of ranges that are copied out together, and so are in memory twice
_BLOCK = 256 << 10  # what a raw file fetches at once, aligned so that a second look finds it held


def fetch(
    target: Target,
    ranges: Sequence[Asked],
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    session: Session | None = None,
) -> list[bytes]:
    """The bytes of many ranges of one object, in their order, with as few GETs as pay.

    ranges: ``(start, stop)`` half-open, ``(start, None)`` to the end, ``(-n, None)`` the last n
    bytes. All come from one version of the object. Raises BadRows for a range outside the object.
    """
    session = default_session() if session is None else session
    return session.run(_fetch(session, target, ranges, storage_options, filesystem))


async def fetch_async(
    target: Target,
    ranges: Sequence[Asked],
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    session: Session | None = None,
) -> list[bytes]:
    """:func:`fetch`, for async callers on any loop."""
    session = default_session() if session is None else session
    return await session.wait(_fetch(session, target, ranges, storage_options, filesystem))


def open_raw(
    target: Target,
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    session: Session | None = None,
) -> BinaryIO:
    """A seekable, read-only binary file over the same cache, for pandas, pyarrow, h5py, zipfile.

    Fetches aligned blocks of 256 KiB; all bytes come from one version of the object.
    """
    session = default_session() if session is None else session
    of = session.run(_opened(session, target, storage_options, filesystem))
    return cast("BinaryIO", io.BufferedReader(RawFile(of, session), _BLOCK))


class RawFile(io.RawIOBase):
    """The unbuffered side of :func:`open_raw`: a read is one fetch of whole blocks, or none."""

    def __init__(self, of: Pinned, session: Session) -> None:
        super().__init__()
        self._of = of
        self._session = session
        self._at = 0
        self._last = (ByteRange(0, 0), memoryview(b""))

    @property
    def name(self) -> str:
        """The redacted url."""
        return self._of.source.url

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """The position in bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move; a position beyond the end reads nothing."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._of.size}.get(whence)
        if origin is None or origin + offset < 0:
            raise ValueError(f"no such position: {offset} from {whence}")
        self._at = origin + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` as far as the object goes; returns how many bytes."""
        view = memoryview(buffer).cast("B")
        stop = min(self._at + len(view), self._of.size)
        if stop <= self._at:
            return 0
        at = ByteRange(self._at, stop)
        view[: at.size] = self._held(at)
        self._at = stop
        return at.size

    def readall(self) -> bytes:
        """The rest of the object, in one fetch."""
        if self._at >= self._of.size:
            return b""
        at = ByteRange(self._at, self._of.size)
        (data,) = self._session.run(_copied(self._session, self._of, [at], [self._last]))
        self._at = at.stop
        return data

    def _held(self, at: ByteRange) -> memoryview:
        """The bytes of a range, from the blocks that were fetched last where they hold it."""
        have, data = self._last
        if not have.covers(at):
            stop = min(-(-at.stop // _BLOCK) * _BLOCK, self._of.size)
            have = ByteRange(at.start // _BLOCK * _BLOCK, stop)
            data = self._session.run(_block(self._session, self._of, have))
            self._last = have, data
        return data[at.start - have.start : at.stop - have.start]


async def _fetch(
    session: Session,
    target: Target,
    ranges: Sequence[Asked],
    storage_options: Options | None,
    filesystem: Any,
) -> list[bytes]:
    asked = _listed(ranges)
    if not asked:
        return []
    of, who = await session.connect(target, storage_options, filesystem)
    with located(of):
        first = _first(asked, of.cost.coalescing)
        try:
            of, kept = await _pin(session, of, who, first)
        except BadRows as error:
            raise _beyond(asked, error) from None
        exact = [_exact(one, of.size) for one in asked]
        return await _copied(session, of, exact, kept)


async def _copied(
    session: Session, of: Pinned, ranges: Sequence[ByteRange], kept: Held
) -> list[bytes]:
    """The bytes of all ranges, copied out group by group; the first that is not done may overdraw
    the budget, the others wait for room."""
    engine, lane = session.live.engine, Lane()
    cause = Cause("fetch", of.hop())

    async def copy(index: int, group: list[ByteRange]) -> list[bytes]:
        lease = Lease(engine.flights, of, Ticket(lane, index), kept=kept)
        try:
            views = await lease.fetch(Need(tuple(group), "fetch"), cause)
            return [bytes(view) for view in views]
        finally:
            lease.release()

    tasks = [engine.spawn(copy(i, group)) for i, group in enumerate(_groups(ranges, _GROUP))]
    found: list[bytes] = []
    try:
        for lane.head, task in enumerate(tasks):
            engine.budget.pump()
            found += await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return found


async def _block(session: Session, of: Pinned, at: ByteRange) -> memoryview:
    lease = Lease(session.live.engine.flights, of, Ticket(Lane()))
    try:
        with located(of):
            (view,) = await lease.fetch(Need((at,), "fetch"), Cause("fetch", of.hop()))
            return view
    finally:
        lease.release()


async def _pin(
    session: Session, of: Pinned, who: Hashable, first: ByteRange | Suffix
) -> tuple[Pinned, Held]:
    """Make the first GET, which pins size and version; its bytes are the caller's to keep."""
    engine = session.live.engine
    received = await engine.transport.get(
        of.source, first, why="fetch", hop=of.hop().number, trace=of.trace, deadline=of.deadline
    )
    of = replace(of, version=session.version(of, who), cost=engine.transport.cost(of.source))
    await engine.flights.look(of)
    engine.keep(of, received.at, received.data)
    return of, [(received.at, received.data)]


async def _opened(
    session: Session, target: Target, storage_options: Options | None, filesystem: Any
) -> Pinned:
    of, who = await session.connect(target, storage_options, filesystem)
    with located(of):
        return (await _pin(session, of, who, Suffix(1)))[0]


def _first(asked: Sequence[tuple[int, int | None]], policy: Coalescing) -> ByteRange | Suffix:
    """The GET that goes first, alone: the first that coalescing makes, so that none is wasted.

    Where only open ends are asked for, it is the longest suffix, or the last byte, for the size.
    """
    known = [ByteRange(a, b) for a, b in asked if a >= 0 and b is not None and b > a]
    if not known:
        return Suffix(max([-a for a, _ in asked if a < 0], default=1))
    first = coalesce(known, policy)[0]
    return ByteRange(first.start, min(first.stop, first.start + policy.span))


def _beyond(asked: Sequence[tuple[int, int | None]], error: BadRows) -> BadRows:
    """The first GET is a part of what was asked for: say what that was."""
    start, stop = max(asked, key=lambda one: (one[1] or one[0], one[0]))
    reach = f"{start}:" if stop is None else f"{start}:{stop}"
    return BadRows(f"{reach} reaches beyond the object's end", url=error.url)


def _groups(ranges: Sequence[ByteRange], most: int) -> Iterator[list[ByteRange]]:
    """Runs of ranges of at most ``most`` bytes together: what is in memory twice is bounded."""
    group: list[ByteRange] = []
    size = 0
    for at in ranges:
        if group and size + at.size > most:
            yield group
            group, size = [], 0
        group.append(at)
        size += at.size
    if group:
        yield group


def _listed(ranges: Sequence[Asked]) -> list[tuple[int, int | None]]:
    if isinstance(ranges, str | bytes) or not isinstance(ranges, Iterable):
        raise RequestError(f"ranges are a list of (start, stop), not {ranges!r}")
    return [_bounds(one) for one in ranges]


def _bounds(asked: object) -> tuple[int, int | None]:
    if isinstance(asked, slice):
        if asked.step not in (None, 1):
            raise RequestError(f"a byte range has no step: {asked!r}")
        asked = (asked.start, asked.stop)
    if not isinstance(asked, tuple | list) or len(asked) != 2:
        raise RequestError(f"a range is (start, stop), not {asked!r}")
    if not all(
        one is None or (isinstance(one, int) and not isinstance(one, bool)) for one in asked
    ):
        raise RequestError(f"positions are whole numbers of bytes, not {asked!r}")
    start, stop = asked[0] or 0, asked[1]
    if start < 0 and stop is not None:
        raise RequestError(f"a range from the end is (-n, None), not {asked!r}")
    if stop is not None and not 0 <= start <= stop:
        raise BadRows(f"not a byte range: {start}:{stop}")
    return start, stop


def _exact(asked: tuple[int, int | None], size: int) -> ByteRange:
    start, stop = asked
    if start < 0:
        return ByteRange(max(size + start, 0), size)
    if start > size or (stop or 0) > size:
        reach = f"{start}:" if stop is None else f"{start}:{stop}"
        raise BadRows(f"{reach} reaches beyond the object's end at {size}")
    return ByteRange(start, size if stop is None else stop)
