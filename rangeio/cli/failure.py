"""What a command's failure looks like from outside: one line, and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable

import pyarrow as pa

from rangeio.cli.legible import clean
from rangeio.errors import (
    Denied,
    FormatError,
    ObjectChanged,
    RangeIOError,
    RequestError,
    ShortReply,
    StoreError,
    Throttled,
    TimedOut,
    Unreachable,
)

DONE, FAILED, WORDS, INTERRUPTED = 0, 1, 2, 130

_ADVICE: tuple[tuple[type[StoreError], str], ...] = (
    (Denied, "check the credentials and what they may read"),
    (ObjectChanged, "run the command again"),
    (Throttled, "try later, or set RANGEIO_MAX_IN_FLIGHT lower"),
    (TimedOut, "check the network"),
    (Unreachable, "check the address and the network"),
)


def guarded(command: Callable[[], int]) -> int:
    """The command's exit code, whatever it raises; see :func:`rangeio.cli.main.main`."""
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except SystemExit as end:  # argparse has said what it had to say
        return end.code if isinstance(end.code, int) else FAILED if end.code else DONE
    except BrokenPipeError:
        _hang_up()
        return DONE
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> int:
    if os.environ.get("RANGEIO_DEBUG", "") not in ("", "0"):
        traceback.print_exc()
    _say(_words(error))
    return WORDS if isinstance(error, RequestError) else FAILED


def _words(error: Exception) -> str:
    if isinstance(error, RangeIOError):
        return _located(error)
    if isinstance(error, OSError):
        what = error.strerror or str(error) or type(error).__name__
        return f"{error.filename}: {what}" if error.filename else what
    if isinstance(error, pa.ArrowException):
        return f"Arrow: {error}"
    return (
        f"this should not happen: {type(error).__name__}: {error} (RANGEIO_DEBUG=1 shows where; "
        f"please report it)"
    )


def _located(error: RangeIOError) -> str:
    """Which object, what is wrong, what to do. A range says something only of bytes that came."""
    where, words = error.url, error.reason or type(error).__name__
    if isinstance(error, ShortReply | FormatError) and error.at is not None:
        where = f"{where}[{error.at}]"
    if isinstance(error, FormatError) and error.offset is not None:
        words += f" (at byte {error.offset})"
    if isinstance(error, StoreError):
        words += f" (tried {error.attempts} times)" if error.attempts > 1 else ""
        advice = next((text for kind, text in _ADVICE if isinstance(error, kind)), "")
        words += f"; {advice}" if advice else ""
    return f"{where}: {words}" if where else words


def _say(words: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"rangeio: {clean(words)}\n")
        sys.stderr.flush()


def _hang_up() -> None:
    """Let what is still buffered go nowhere: whoever read our output has had enough of it."""
    try:
        stdout = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stdout)
    os.close(nowhere)
