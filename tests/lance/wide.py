"""Wide Lance files, written once a process: many columns of few rows, all metadata in full size."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from corpus import write

ROWS = 500


def columns(count: int, rows: int = ROWS) -> pa.Table:
    """Columns of float32 and int64 in turn, named as feature stores name them."""
    arrays = [
        np.arange(i, i + rows, dtype=np.int64) if i % 2 else np.full(rows, i, np.float32)
        for i in range(count)
    ]
    return pa.table({f"feature_{i:05d}": a for i, a in enumerate(arrays)})


@cache
def wide(count: int, version: str) -> bytes:
    """The bytes of a file of ``count`` columns."""
    return encoded(columns(count), version)


def encoded(content: pa.Table, version: str, **options: object) -> bytes:
    """The bytes of a file that pylance writes of a table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "wide.lance"
        write(path, content, version, **options)
        return path.read_bytes()
