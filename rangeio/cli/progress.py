"""How far a long read is: one line on stderr, and only where somebody looks at it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rangeio import Trace
from rangeio.explanation import size

_EVERY_S = 0.1


class Progress:
    """Counts rows, and shows them on a terminal ten times a second."""

    def __init__(self, trace: Trace) -> None:
        self.rows = 0
        self._trace = trace
        self._shown = sys.stderr.isatty()
        self._due = time.monotonic() + _EVERY_S
        self._drawn = False

    def add(self, rows: int) -> None:
        """So many rows more are done."""
        self.rows += rows
        if self._shown and time.monotonic() >= self._due:
            sys.stderr.write(f"\r\x1b[K{self.rows:,} rows, {size(self._trace.bytes_read)} read")
            sys.stderr.flush()
            self._due = time.monotonic() + _EVERY_S
            self._drawn = True

    def end(self, words: str) -> None:
        """Say what came of it, on a terminal."""
        if self._shown:
            self._clear()
            sys.stderr.write(f"{words}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clear()

    def _clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False
