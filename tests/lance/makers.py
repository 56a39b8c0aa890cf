"""Builders of columns: each makes ``rows`` values from a seeded generator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

Make = Callable[[int, np.random.Generator], pa.Array]


def masked(make: Make, share: float = 0.1) -> Make:
    """The same column with some nulls."""

    def build(n: int, rng: np.random.Generator) -> pa.Array:
        column = make(n, rng)
        return pa.array(_with_nulls(column, rng.random(n) < share))

    return build


def _with_nulls(column: pa.Array, mask: np.ndarray) -> pa.Array:
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_dictionary(kind):
        rows = column.to_pylist()
        return pa.array([None if m else r for r, m in zip(rows, mask, strict=True)], kind)
    return pc.if_else(pa.array(mask), pa.scalar(None, kind), column)


def ints(kind: pa.DataType, low: int, high: int) -> Make:
    """Uniform integers, bit-cast to ``kind``."""
    width = np.dtype(f"i{kind.bit_width // 8}")
    signed = pa.from_numpy_dtype(width)

    def build(n: int, rng: np.random.Generator) -> pa.Array:
        raw = rng.integers(low, high, n, dtype=np.int64 if low < 0 else np.uint64)
        return pa.array(raw.astype(width), signed).view(kind)

    return build


def floats(kind: str) -> Make:
    """Uniform floats."""
    return lambda n, rng: pa.array(rng.random(n).astype(kind))


def texts(kind: pa.DataType, form: Callable[[int, int], object]) -> Make:
    """``form(i, random)`` of every row."""

    def build(n: int, rng: np.random.Generator) -> pa.Array:
        draws = rng.integers(0, 1 << 30, n).tolist()
        return pa.array([form(i, r) for i, r in enumerate(draws)], kind)

    return build


def nested(kind: pa.DataType, form: Callable[[int, int], object]) -> Make:
    """The same as texts; the name says what it is for."""
    return texts(kind, form)


def fixed(child: pa.DataType, size: int, *, nulls: bool = False, items: bool = False) -> Make:
    """Fixed-size lists, with null lists, null items, or both."""

    def build(n: int, rng: np.random.Generator) -> pa.Array:
        values = rng.integers(0, 100, n * size)
        hole = pa.array(values, pa.int64(), mask=rng.random(n * size) < 0.1) if items else values
        flat = pa.array(hole).cast(child)
        mask = pa.array(rng.random(n) < 0.1) if nulls else None
        return pa.FixedSizeListArray.from_arrays(flat, size, mask=mask)

    return build
