"""Where the data of benchmarks lives, and how it gets there: written once, kept outside git."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

OUT = Path(__file__).parent / "out"


def cache() -> Path:
    """``RANGEIO_BENCH_DATA``, or a folder of the user's cache."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("RANGEIO_BENCH_DATA") or Path(home) / "rangeio-bench")


@dataclass(frozen=True, slots=True)
class Ground:
    """full: the sizes that figures are quoted for, minutes to write, gigabytes of disk."""

    full: bool = False
    rounds: int | None = None

    def file(self, name: str, write: Callable[[Path], None]) -> Path:
        """The file ``name`` in the cache; ``write`` makes it where it is not there yet, whole."""
        path = cache() / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{os.getpid()}-{path.name}")
            print(f"writing {path.name} ...", flush=True)
            try:
                write(part)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
        return path
