"""The files that are read: written by the reference writers, from a fixed seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from lance.file import LanceFileWriter

SEED = 20240601


def name(column: int) -> str:
    """The name of a column of :func:`wide`."""
    return f"feature_{column:05d}"


def wide(path: Path, *, columns: int, rows: int, version: str) -> None:
    """A Lance file of ``columns`` columns, alternating float32 and int64."""
    rng = np.random.default_rng(SEED)
    arrays: list[pa.Array] = []
    for i in range(columns):
        if i % 2:
            arrays.append(pa.array(rng.integers(0, 1 << 20, rows)))
        else:
            arrays.append(pa.array(rng.random(rows, np.float32)))
    _write(path, pa.table(arrays, names=[name(i) for i in range(columns)]), version)


def plain(path: Path, field: pa.Field, values: pa.Array, version: str = "2.1") -> None:
    """A Lance file of one column."""
    _write(path, pa.table([values], schema=pa.schema([field])), version)


def _write(path: Path, table: pa.Table, version: str) -> None:
    with LanceFileWriter(str(path), table.schema, version=version) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)


def typical(rows: int) -> Iterator[tuple[str, pa.Field, pa.Array]]:
    """One column each of the types whose decoding is compared: name, field, values."""
    rng = np.random.default_rng(SEED)
    floats = rng.random(rows)
    words = [f"user-{n:08x}@example.org" for n in rng.integers(0, 1 << 32, rows)]
    # This field metadata tells the Lance writer to leave strings as they are.
    as_is = {"lance-encoding:compression": "none"}
    yield "int64", pa.field("v", pa.int64()), pa.array(rng.integers(0, 1 << 40, rows))
    yield "float64", pa.field("v", pa.float64()), pa.array(floats)
    yield (
        "nullable float64",
        pa.field("v", pa.float64()),
        pa.array(floats, mask=rng.random(rows) < 0.1),
    )
    yield "plain strings", pa.field("v", pa.string(), metadata=as_is), pa.array(words)
    yield "FSST strings", pa.field("v", pa.string()), pa.array(words)


def noise(path: Path, *, size: int) -> None:
    """``size`` bytes without a repeating pattern that a misplaced range could hide in."""
    rng = np.random.default_rng(SEED)
    block = 8 << 20
    with path.open("wb") as out:
        for start in range(0, size, block):
            out.write(rng.bytes(min(block, size - start)))
