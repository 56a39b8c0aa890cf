"""How far long work on many files is: to a callable, or on a terminal where somebody looks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rangeio.datasets.scan import Progress
from rangeio.errors import RequestError

_EVERY_S = 0.1


@contextmanager
def progress_of(told: bool | Callable[[int, int], object], verb: str) -> Iterator[Progress | None]:
    """What is to be called with the files that are done and with all, 0 where that is not known."""
    if told is False or told is None or (told is True and not sys.stderr.isatty()):
        yield None
    elif told is True:
        yield from _shown(verb)
    elif callable(told):
        yield told
    else:
        raise RequestError(f"progress is True, False or a callable, not {told!r}")


def _shown(verb: str) -> Iterator[Progress]:
    due = 0.0

    def show(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() >= due or done == total:
            of = f" of {total:,}" if total else ""
            sys.stderr.write(f"\r\x1b[K{verb}: {done:,}{of} files")
            sys.stderr.flush()
            due = time.monotonic() + _EVERY_S

    try:
        yield show
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
