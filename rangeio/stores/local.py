"""Files of the local disk."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from rangeio.errors import Denied, NotFound, ObjectChanged, ServerFault, StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.refusal import RefusedForGood
from rangeio.stores.store import Reply

INLINE = 256 << 10
"""Reads of up to so many bytes are done on the loop: the page cache answers faster than a pool."""

_POOLED = 128 << 10  # bytes for which Arrow's memory is asked: it is warm where Arrow was at work

_KINDS: dict[int, tuple[type[StoreError], str]] = {
    errno.ENOENT: (NotFound, "no such file"),
    errno.ENOTDIR: (NotFound, "no such file"),
    errno.EACCES: (Denied, "no permission to read the file"),
    errno.EPERM: (Denied, "no permission to read the file"),
    errno.EISDIR: (RefusedForGood, "this is a directory, not a file"),
    errno.ENAMETOOLONG: (NotFound, "no such file: its name is too long"),
}


class LocalStore:
    """Ranged reads of files by path.

    The tag is made of inode, mtime and size, taken before and after the bytes are read, so that a
    file which is overwritten or replaced meanwhile is seen. No descriptor outlives its read.
    """

    profile = "file"
    pinned = True

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the asked bytes; small ones are read at once, large ones by its body."""
        fd = _open(key, at)
        try:
            tag, total = _version(fd, key, at)
            if if_match is not None and if_match != tag:
                raise ObjectChanged("the file was changed", url=key, at=at, status=412)
            part = _part(at, total)
            if not part.size:
                return Reply(None, total, tag, status=416)
            body = _Body(fd, key, part, tag)
            if part.size > INLINE:
                fd = -1
                return Reply(part, total, tag, body=body, size=part.size)
            data = memoryview(bytearray(part.size))
            got = body.read(data)
            return Reply(part, total, tag, data[:got].toreadonly(), size=part.size)
        finally:
            if fd >= 0:
                os.close(fd)

    def at_hand(
        self,
        key: str,
        ranges: Sequence[ByteRange | Suffix],
        *,
        if_match: str | None = None,
        into: Sequence[memoryview | None] | None = None,
    ) -> list[Reply]:
        """Ranges that are read at once, through one descriptor."""
        fd = _open(key, ranges[0])
        try:
            tag, total = _version(fd, key, ranges[0])
            if if_match is not None and if_match != tag:
                raise ObjectChanged("the file was changed", url=key, at=ranges[0], status=412)
            parts = [_part(at, total) for at in ranges]
            datas = [
                _read(fd, at, buffer)
                for at, buffer in zip(parts, into or [None] * len(parts), strict=True)
            ]
            if _version(fd, key, ranges[0])[0] != tag:
                raise ObjectChanged("the file changed while it was read", url=key, at=ranges[0])
        except OSError as error:
            raise _refused(error, key, ranges[0]) from error
        finally:
            os.close(fd)
        return [
            Reply(at, total, tag, data, size=len(data))
            for at, data in zip(parts, datas, strict=True)
        ]

    async def close(self) -> None:
        """Nothing is held between reads."""

    def __repr__(self) -> str:
        return "LocalStore()"


@dataclass(slots=True)
class _Body:
    """The bytes of one open file that are still to be read; owns its descriptor."""

    fd: int
    key: str
    left: ByteRange
    tag: str
    reading: asyncio.Future[int] | None = None

    async def receive(self, into: memoryview) -> int:
        size = min(len(into), self.left.size)
        if not size:
            return 0
        loop = asyncio.get_running_loop()
        self.reading = loop.run_in_executor(None, self.read, into[:size])
        # A cancelled read still writes into the buffer: the descriptor stays open until it ends.
        return await asyncio.shield(self.reading)

    def read(self, into: memoryview) -> int:
        """Fill ``into`` as far as the file reaches; raises ObjectChanged if it was changed."""
        at = self.left.start
        got = 0
        try:
            while got < len(into):
                count = os.preadv(self.fd, [into[got:]], at + got)
                if not count:
                    break
                got += count
        except OSError as error:
            raise _refused(error, self.key, self.left) from error
        if _version(self.fd, self.key, self.left)[0] != self.tag:
            raise ObjectChanged("the file changed while it was read", url=self.key, at=self.left)
        self.left = ByteRange(at + got, self.left.stop)
        return got

    def close(self, *, reuse: bool) -> None:
        fd, self.fd = self.fd, -1
        if fd < 0:
            return
        if self.reading is None or self.reading.done():
            os.close(fd)
        else:
            self.reading.add_done_callback(lambda done: _drop(fd, done))


def _part(at: ByteRange | Suffix, total: int) -> ByteRange:
    """What a file of ``total`` bytes has of a range."""
    if isinstance(at, Suffix):
        return ByteRange(max(0, total - at.size), total)
    return ByteRange(min(at.start, total), min(at.stop, total))


def _read(fd: int, at: ByteRange, into: memoryview | None) -> memoryview:
    """As much of a range as one read gives."""
    if into is None and at.size < _POOLED:
        return memoryview(os.pread(fd, at.size, at.start))
    if into is None:
        into = memoryview(pa.allocate_buffer(at.size)).cast("B")
    got = 0
    while got < at.size:
        count = os.preadv(fd, [into[got:]], at.start + got)
        if not count:
            break
        got += count
    return into[:got].toreadonly()


def _drop(fd: int, done: asyncio.Future[int]) -> None:
    if not done.cancelled():
        done.exception()
    os.close(fd)


def _open(key: str, at: ByteRange | Suffix) -> int:
    try:
        return os.open(key, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise _refused(error, key, at) from error
    except ValueError as error:
        raise NotFound("no such file: its name holds a null byte", url=key, at=at) from error


def _version(fd: int, key: str, at: ByteRange | Suffix) -> tuple[str, int]:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        kind = "a directory" if stat.S_ISDIR(found.st_mode) else "a pipe, socket or device"
        raise RefusedForGood(f"this is {kind}, not a file", url=key, at=at)
    return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}", found.st_size


def _refused(error: OSError, key: str, at: ByteRange | Suffix) -> StoreError:
    kind, words = _KINDS.get(error.errno or 0, (ServerFault, f"the disk failed: {error.strerror}"))
    return kind(words, url=key, at=at)
