"""The file that a command writes: whole under its name, or not there at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import BinaryIO, NoReturn

from rangeio.errors import RangeIOError, RequestError


@contextmanager
def created(path: str) -> Iterator[BinaryIO]:
    """A file to write, which gets its name when the block ends well and is removed otherwise.

    A file of that name is replaced, and keeps its mode; links are followed. A device or pipe is
    written as it is. Raises OSError that names ``path``, RequestError for a directory.
    """
    if "://" in path:
        raise RequestError(f"-o writes local files, not {path.partition('://')[0]}:// urls")
    real = os.path.realpath(os.path.expanduser(path))
    if os.path.isdir(real):
        raise RequestError(f"-o {path} is a directory; name a file")
    special = os.path.exists(real) and not os.path.isfile(real)
    try:
        with ended_by_signals(), _written(real) if special else _replaced(real) as out:
            yield out
    except OSError as error:
        if isinstance(error, RangeIOError | BrokenPipeError):
            raise
        raise OSError(error.errno or 0, error.strerror or str(error), path) from error


@contextmanager
def _written(path: str) -> Iterator[BinaryIO]:
    with open(path, "wb") as out:
        yield out


@contextmanager
def _replaced(path: str) -> Iterator[BinaryIO]:
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError(13, "no permission to replace the file", path)
    part = os.path.join(os.path.dirname(path), f".rangeio-{secrets.token_hex(6)}.part")
    try:
        with open(part, "xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if os.path.exists(path):
            shutil.copymode(path, part)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let the signals that end a process unwind it, so that it cleans up."""
    known = (signal.SIGTERM, signal.SIGHUP)
    main = threading.current_thread() is threading.main_thread()
    ours = [n for n in known if main and signal.getsignal(n) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, _end)
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
