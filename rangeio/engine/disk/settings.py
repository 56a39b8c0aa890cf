"""Where the disk cache is, and how large it may become."""

from __future__ import annotations

import os
from dataclasses import dataclass

from rangeio.errors import RequestError

MAX_BYTES = 10 << 30


@dataclass(frozen=True, slots=True)
class DiskCache:
    """A directory for ranges that were read, for all processes of one user on one machine.

    path: made at first use, readable by nobody else; an existing one must belong to the user and
    be writable by nobody else. Made absolute here, so that it means the same in other processes.
    max_bytes: of all its files, each rounded up to 4 KiB.
    """

    path: str | os.PathLike[str]
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        try:
            path = os.fspath(self.path)
        except TypeError:
            raise RequestError(f"disk_cache is a path, not a {type(self.path).__name__}") from None
        if not isinstance(path, str) or not path or "\0" in path:
            raise RequestError(f"disk_cache is a path, not {path!r}")
        most = self.max_bytes
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise RequestError(f"max_bytes is a number of bytes, not {most!r}")
        object.__setattr__(self, "path", os.path.abspath(os.path.expanduser(path)))

    def __str__(self) -> str:
        return f"{self.path}, {self.max_bytes / (1 << 20):g} MiB at most"
