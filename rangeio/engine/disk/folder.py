"""The cache's directory: blocks are listed, read and written, and no failure is an error."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rangeio.engine.disk import block, names
from rangeio.engine.disk.ledger import Ledger
from rangeio.engine.disk.settings import DiskCache
from rangeio.ranges import ByteRange

_log = logging.getLogger("rangeio.disk")

_TOUCH_S = 60.0  # a block's time of use is kept no more exactly than this
_SHARE = 4  # a part of the cap that one block may take: a larger one would evict all others


class BlockFolder:
    """Blocks on disk, by key of their object and range. Any thread of any process may use it.

    Nothing is made before the first write. What is broken, foreign or gone is a miss; what the
    system refuses is one, too, and the first refusal is logged.
    """

    def __init__(self, settings: DiskCache) -> None:
        self._root = os.fspath(settings.path)
        self._most = settings.max_bytes
        self._ledger = Ledger(self._root, settings.max_bytes)
        self._complained = False

    def listed(self, key: bytes) -> list[ByteRange]:
        """The ranges that are there of one object."""
        with self._quiet():
            if self._trusted():
                ranges = map(names.parsed, os.listdir(self._of(key)))
                return [at for at in ranges if at is not None]
        return []

    def read(self, key: bytes, at: ByteRange, part: ByteRange, into: memoryview) -> bool:
        """Fill ``into`` with ``part`` of the block ``at``; False where that cannot be.

        A block that is not what was written is removed.
        """
        path = os.path.join(self._of(key), names.block(at))
        with self._quiet():
            file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                good = block.read(file, key, at, part, into)
                if good:
                    _touch(file)
                else:
                    os.unlink(path)
                return good
            finally:
                os.close(file)
        return False

    def write(self, key: bytes, at: ByteRange, data: memoryview) -> bool:
        """Keep ``data``, the bytes of ``at``; whether they are there now."""
        size = block.size_of(at)
        if size > self._most // _SHARE:
            return False
        with self._quiet():
            if not self._trusted(make=True):
                return False
            folder = self._of(key)
            temporary = self._written(folder, block.header(key, at, data), data)
            try:
                path = os.path.join(folder, names.block(at))
                return self._ledger.admit(size, lambda: _publish(temporary, path))
            finally:
                with suppress(OSError):
                    os.unlink(temporary)  # it was refused, or is not needed
        return False

    def _written(self, folder: str, *parts: bytes | memoryview) -> str:
        """A file of a name of its own that holds the parts."""
        path = os.path.join(folder, names.temporary())
        file = _created(folder, path)
        try:
            for part in parts:
                view = memoryview(part)
                while len(view):
                    view = view[os.write(file, view) :]
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(file)
        return path

    def _trusted(self, *, make: bool = False) -> bool:
        """Whether the directory is there, and nobody else could have put anything into it."""
        if make and not os.path.isdir(self._root):
            os.makedirs(os.path.dirname(self._root), exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(self._root, 0o700)
        try:
            told = os.stat(self._root)
        except FileNotFoundError:
            return False
        if told.st_uid != os.geteuid() or told.st_mode & 0o022:
            raise PermissionError(0, "others may write to it: name a directory that is not there")
        return True

    @contextmanager
    def _quiet(self) -> Iterator[None]:
        """What is not there is a miss; of what fails otherwise, the first is told."""
        try:
            yield
        except FileNotFoundError:
            return
        except OSError as error:
            if not self._complained:
                self._complained = True
                _log.warning("the disk cache at %s does not work: %s", self._root, error.strerror)

    def _of(self, key: bytes) -> str:
        return os.path.join(self._root, key.hex())


def _created(folder: str, path: str) -> int:
    """A new file, and its folder, which another process may take away until the file is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for _ in range(8):
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        with suppress(FileNotFoundError):
            return os.open(path, flags, 0o600)
    return os.open(path, flags, 0o600)


def _publish(temporary: str, path: str) -> bool:
    """Give a finished file its name, unless another process was sooner."""
    if os.path.lexists(path):
        return False
    os.replace(temporary, path)
    return True


def _touch(file: int) -> None:
    """Note that it was used, for eviction takes the least recently used."""
    if time.time() - os.fstat(file).st_mtime > _TOUCH_S:
        with suppress(OSError):
            os.utime(file)
