"""Tables that together have every kind of column, and segments of them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
from doris_parts import made

from rangeio.formats.doris.format import FORMAT
from rangeio.testing.formats import InMemory


def table(rows: int, seed: int = 0) -> pa.Table:
    """Scalars and nested columns, with nulls at every level."""
    rng = np.random.default_rng(seed)

    def some(values: list[object]) -> list[object]:
        return [None if rng.random() < 0.1 else one for one in values]

    every = range(rows)
    pairs = [[(f"k{j}", j if j % 3 else None) for j in range(k % 3)] for k in every]
    return pa.table(
        {
            "int": pa.array(some(rng.integers(-5, 10**6, rows).tolist()), pa.int32()),
            "text": pa.array(some([f"word{k % 50}" for k in every]), pa.string()),
            "flag": pa.array(some([k % 3 == 0 for k in every]), pa.bool_()),
            "list": pa.array(some([[None, k] * (k % 3) for k in every]), pa.list_(pa.int64())),
            "lists": pa.array(
                some([[[k, None], None, []][: k % 4] for k in every]),
                pa.list_(pa.list_(pa.int32())),
            ),
            "map": pa.array(some(pairs), pa.map_(pa.string(), pa.float64())),
            "struct": pa.array(
                some([{"a": k if k % 3 else None, "b": {"c": str(k), "d": [k]}} for k in every]),
                pa.struct(
                    {"a": pa.int64(), "b": pa.struct({"c": pa.string(), "d": pa.list_(pa.int8())})}
                    if rows < 100
                    else {"a": pa.int64(), "b": pa.struct({"c": pa.string()})}
                ),
            ),
            "structs": pa.array(
                some([[{"x": k, "y": [str(k)] * (k % 2)}] * (k % 3) for k in every]),
                pa.list_(pa.struct({"x": pa.int64(), "y": pa.list_(pa.string())})),
            ),
        }
    )


def documents(rows: int) -> pa.Table:
    """A number, and JSON with a path that is a value in some rows and an object in others."""
    found = [
        {"user": {"name": f"n{k}", "age": k}, "a": k if k % 2 else {"b": k}, "tags": [1, k]}
        for k in range(rows)
    ]
    return pa.table({"id": list(range(rows)), "v": [json.dumps(one) for one in found]})


def wide(columns: int, rows: int = 8) -> pa.Table:
    """Many columns of whole numbers."""
    data = np.arange(rows, dtype=np.int32)
    return pa.Table.from_arrays(
        [pa.array(data + k) for k in range(columns)], [f"c{k}" for k in range(columns)]
    )


def in_memory(data: bytes, **words) -> InMemory:
    return InMemory(FORMAT, data, **words)


def same(found: pa.Table, wanted: pa.Table) -> None:
    """The same rows; names and types aside, which a segment does not keep."""
    assert found.num_rows == wanted.num_rows
    for mine, theirs in zip(found.columns, wanted.columns, strict=True):
        mine.validate(full=True)
        assert mine.to_pylist() == theirs.to_pylist()


__all__ = ["documents", "in_memory", "made", "same", "table", "wide"]
