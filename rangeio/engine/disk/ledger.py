"""The sum of all blocks, kept by all processes together, and what has to go when it is too much."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rangeio.engine.disk import names
from rangeio.engine.disk.names import BLOCK, FOLDER, TEMPORARY, Found

_ENTRY = struct.Struct("<8sQd")
_MAGIC = b"RIOSUM\x00\x01"
_TRIES, _PAUSE_S = 20, 0.005
_RECOUNT_S = 600.0
_ABANDONED_S = 600.0  # a file that is still being written is far younger
_ROOM = 8  # a part of the cap: what eviction frees at once, so that few writes pay for it


class Ledger:
    """Admits blocks as long as all of them take at most ``most`` bytes, across processes.

    One small file holds the sum. Its lock is never waited for long: who does not get it keeps
    nothing. A process that is killed while it holds the lock frees it, and leaves a sum that is
    too high at worst, which the next count puts right.
    """

    def __init__(self, root: str, most: int) -> None:
        self._root = root
        self._most = most

    def admit(self, size: int, publish: Callable[[], bool]) -> bool:
        """Make room for ``size`` bytes and ``publish`` them; whether that was done.

        publish: gives a finished file its name; False where it was not needed.
        """
        size = names.taken(size)
        with self._locked() as file:
            if file is None:
                return False
            total, counted = _load(file)
            age = time.time() - counted
            if total + size > self._most or not 0 <= age < _RECOUNT_S:
                total, counted = self._evict(size), time.time()
                _store(file, total, counted)
            if total + size > self._most:
                return False
            _store(file, total + size, counted)  # before the block is there: never too low
            if not publish():
                _store(file, total, counted)
            return True

    @contextmanager
    def _locked(self) -> Iterator[int | None]:
        """The ledger's file, locked; None where others keep it too long."""
        file = os.open(os.path.join(self._root, names.LEDGER), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            got = _lock(file)
            try:
                yield file if got else None
            finally:
                # Not left to close: a child that was forked meanwhile has the same open file.
                fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            os.close(file)

    def _evict(self, size: int) -> int:
        """The sum of what is left once the least recently used made room for ``size`` bytes."""
        blocks = sorted(self._found(), key=lambda one: one.used)
        total = sum(one.size for one in blocks)
        if total + size <= self._most:
            return total
        goal = min(self._most - size, self._most - self._most // _ROOM)
        for one in blocks:
            if total <= goal:
                break
            if _removed(one.path):
                total -= one.size
        return total

    def _found(self) -> Iterator[Found]:
        """Every block; what killed processes left is swept on the way."""
        begun = time.time()
        for folder in names.entries(self._root, FOLDER):
            for one in names.files(folder, BLOCK):
                yield one
            for one in names.files(folder, TEMPORARY):
                if begun - one.used > _ABANDONED_S:
                    _removed(one.path)
            with suppress(OSError):  # it is not empty: as it should be
                os.rmdir(folder)


def _lock(file: int) -> bool:
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_PAUSE_S)
    return False


def _load(file: int) -> tuple[int, float]:
    """The sum, and when the files were last counted; long ago where the ledger is not one."""
    data = os.pread(file, _ENTRY.size + 1, 0)
    if len(data) != _ENTRY.size:
        return 0, 0.0
    magic, total, counted = _ENTRY.unpack(data)
    return (total, counted) if magic == _MAGIC else (0, 0.0)


def _store(file: int, total: int, counted: float) -> None:
    os.pwrite(file, _ENTRY.pack(_MAGIC, total, counted), 0)


def _removed(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
