"""The range layer by itself: validated, pinned, coalesced and cached bytes of any object."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, BinaryIO, TypeAlias, cast

from rangeio.engine.budget import Lane, Ticket
from rangeio.engine.flights import Cause, Pinned, located
from rangeio.engine.lease import Lease
from rangeio.errors import BadRows, RequestError
from rangeio.ranges import ByteRange, Suffix, coalesce
from rangeio.session import Session, default_session
from rangeio.steps import Need
from rangeio.stores.address import Options, Target

Asked: TypeAlias = tuple[int | None, int | None] | slice
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
    session = session or default_session()
    work = _fetch(session, target, ranges, storage_options, filesystem)
    return session.live.portal.run(work)


async def fetch_async(
    target: Target,
    ranges: Sequence[Asked],
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    session: Session | None = None,
) -> list[bytes]:
    """:func:`fetch`, for async callers on any loop."""
    session = session or default_session()
    work = _fetch(session, target, ranges, storage_options, filesystem)
    return await session.live.portal.wait(work)


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
    session = session or default_session()
    of = session.live.portal.run(_pin(session, target, storage_options, filesystem, Suffix(1)))
    return cast("BinaryIO", io.BufferedReader(RawFile(of, session), _BLOCK))


class RawFile(io.RawIOBase):
    """The unbuffered side of :func:`open_raw`: a read is one fetch of whole blocks, or none."""

    def __init__(self, of: Pinned, session: Session) -> None:
        super().__init__()
        self._of = of
        self._session = session
        self._at = 0

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
        at = ByteRange(self._at // _BLOCK * _BLOCK, min(-(-stop // _BLOCK) * _BLOCK, self._of.size))
        (data,) = self._session.live.portal.run(_views(self._session, self._of, [at]))
        size = stop - self._at
        view[:size] = data[self._at - at.start : stop - at.start]
        self._at = stop
        return size


async def _fetch(
    session: Session,
    target: Target,
    ranges: Sequence[Asked],
    storage_options: Options | None,
    filesystem: Any,
) -> list[bytes]:
    asked = [_bounds(one) for one in ranges]
    if not asked:
        return []
    first = _first(asked, session, target, storage_options, filesystem)
    of = await _pin(session, target, storage_options, filesystem, first)
    exact = [_exact(one, of.size) for one in asked]
    found: list[bytes] = []
    for group in _groups(exact, session.max_buffer // 2):
        found += [bytes(view) for view in await _views(session, of, group)]
    return found


async def _views(session: Session, of: Pinned, ranges: Sequence[ByteRange]) -> list[memoryview]:
    engine = session.live.engine
    lease = Lease(engine.flights, of, Ticket(Lane(always=True)))
    try:
        with located(of):
            return await lease.fetch(Need(tuple(ranges), "fetch"), Cause("fetch", of.hop()))
    finally:
        lease.release()


async def _pin(
    session: Session,
    target: Target,
    storage_options: Options | None,
    filesystem: Any,
    first: ByteRange | Suffix,
) -> Pinned:
    """Make the first GET, which pins size and version, and keep its bytes."""
    source, who = session.source(target, storage_options, filesystem)
    of = session.pinned(source)
    engine = session.live.engine
    received = await engine.transport.get(
        source, first, why="fetch", hop=of.hop().number, trace=of.trace, deadline=of.deadline
    )
    of = replace(of, version=session.version(of, who))
    engine.cache.put(of.version, received.at, received.data)
    return of


def _first(
    asked: Sequence[tuple[int, int | None]],
    session: Session,
    target: Target,
    storage_options: Options | None,
    filesystem: Any,
) -> ByteRange | Suffix:
    """The GET that goes first, alone: the first that coalescing makes, so that none is wasted."""
    known = [ByteRange(a, b) for a, b in asked if a >= 0 and b is not None and b > a]
    if not known:
        return Suffix(max([-a for a, _ in asked if a < 0], default=1))
    source, _ = session.source(target, storage_options, filesystem)
    policy = source.profile.cost.coalescing
    first = coalesce(known, policy)[0]
    return ByteRange(first.start, min(first.stop, first.start + policy.span))


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


def _bounds(asked: Asked) -> tuple[int, int | None]:
    start, stop = (asked.start, asked.stop) if isinstance(asked, slice) else asked
    start = 0 if start is None else start
    if start < 0 and stop is not None:
        raise RequestError("a range from the end is (-n, None)")
    if stop is not None and not 0 <= start <= stop:
        raise BadRows(f"not a byte range: {start}:{stop}")
    return start, stop


def _exact(asked: tuple[int, int | None], size: int) -> ByteRange:
    start, stop = asked
    if start < 0:
        return ByteRange(max(size + start, 0), size)
    stop = size if stop is None else stop
    if start > size or stop > size:
        raise BadRows(f"{start}:{stop} lies outside the object of {size} bytes")
    return ByteRange(start, stop)
