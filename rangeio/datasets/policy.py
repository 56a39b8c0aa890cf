"""How a scan goes about it, and what it does about files that it cannot read."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from rangeio.errors import FormatError, RangeIOError, RequestError, StoreError

OnError: TypeAlias = Literal["raise", "skip"]
Progress: TypeAlias = Callable[[int, int], object]
"""Called on the session's loop with the files that are done, and all that will be."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out. rows: of it that had been handed on before it failed."""

    url: str
    error: RangeIOError
    rows: int = 0

    def __str__(self) -> str:
        after = f" after {self.rows:,} rows" if self.rows else ""
        return f"{self.url}: left out{after}: {self.error.reason or self.error}"


@dataclass(slots=True)
class Options:
    """How a scan goes about it. limit: rows that are enough. rows_each: of a table at most.

    every_file: the types are those of all files, not of those alone that are read. left_out: by
    the number of the file.
    """

    rows_each: int | None = None
    limit: int | None = None
    ordered: bool = True
    on_error: OnError = "raise"
    progress: Progress | None = None
    every_file: bool = False
    left_out: dict[int, Skipped] = field(default_factory=dict)

    @classmethod
    def of(cls, limit: int | None, on_error: OnError, progress: Progress | None) -> Options:
        """From a caller's words; RequestError for those that make no sense."""
        if isinstance(limit, np.integer):
            limit = int(limit)
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise RequestError(f"limit is a whole number of rows, not {limit!r}")
        if limit is not None and limit < 0:
            raise RequestError(f"limit is at least 0, not {limit}")
        if on_error not in ("raise", "skip"):
            raise RequestError(f'on_error is "raise" or "skip", not {on_error!r}')
        return cls(limit=limit, on_error=on_error, progress=progress)

    @property
    def forgiving(self) -> bool:
        """Whether files that cannot be read are left out."""
        return self.on_error == "skip"

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was left out, in the order of the files."""
        return tuple(self.left_out[i] for i in sorted(self.left_out))

    def leave_out(self, index: int, url: str, error: RangeIOError, rows: int = 0) -> None:
        """Note a file, once: what it failed with first."""
        if error.url != url:
            error = copy.copy(error)
            error.url = url
        self.left_out.setdefault(index, Skipped(url, error, rows))

    def check_some(self, known: Collection[int], count: int) -> None:
        """Raise what the first file failed with, where none of ``count`` could be read."""
        if known or not count or len(self.left_out) < count:
            return
        first, *_ = self.skipped
        kind = type(first.error)
        assert issubclass(kind, (StoreError, FormatError))
        reason = f"none of {count:,} files could be read; this one: {first.error.reason}"
        raise kind(reason, url=first.url) from first.error
