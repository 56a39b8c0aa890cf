"""Batches cut to a size in bytes, by what their values take once they are decoded. Pure.

A dictionary, or a run, may stand for far more bytes than it holds. Counted from lengths alone:
nothing is decoded, or copied, before it is known to be small.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def cut(batch: pa.RecordBatch, most: int) -> Iterator[pa.RecordBatch]:
    """The rows in batches of at most ``most`` bytes, or of one row. They share its memory. Columns
    of values of one size count for nothing: their rows alone tell what they take."""
    counted = [i for i, one in enumerate(batch.schema) if not pa.types.is_primitive(one.type)]
    return _cut(batch, counted, most)


def _cut(batch: pa.RecordBatch, counted: list[int], most: int) -> Iterator[pa.RecordBatch]:
    if batch.num_rows < 2 or sum(weight(batch.column(i)) for i in counted) <= most:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _cut(batch.slice(0, half), counted, most)
    yield from _cut(batch.slice(half), counted, most)


def weight(array: pa.Array) -> int:
    """Bytes of the values once they are decoded, roughly; below a null they count too."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return weight(array.storage)
    if pa.types.is_dictionary(kind):
        return _chosen(array.dictionary, array.indices)
    if pa.types.is_run_end_encoded(kind):
        return len(array) * _each(array.values)
    if pa.types.is_struct(kind):
        return sum(weight(array.field(i)) for i in range(kind.num_fields))
    if pa.types.is_map(kind):
        return 4 * len(array) + sum(
            weight(_reached(array, one)) for one in (array.keys, array.items)
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return 8 * len(array) + weight(_reached(array, array.values))
    if hasattr(kind, "value_type"):  # other lists tell the items of nulls, or in no order
        return 8 * len(array) + weight(array.flatten())
    return int(_lengths(array).sum()) if _is_view(kind) else int(array.nbytes)


def _reached(array: pa.Array, items: pa.Array) -> pa.Array:
    """The items of these lists, without those of others that they are a slice of."""
    if not len(array):
        return items.slice(0, 0)
    start, stop = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return items.slice(start, stop - start)


def _chosen(values: pa.Array, indices: pa.Array) -> int:
    """Of the values at these places."""
    if pa.types.is_primitive(values.type) or not len(values):
        return len(indices) * _each(values)
    if _is_view(values.type):
        lengths = pa.array(_lengths(values))
    else:
        try:
            lengths = pc.binary_length(values)
        except pa.ArrowNotImplementedError:  # neither texts nor bytes
            return len(indices) * _each(values)
    found = pc.sum(lengths.cast(pa.int64()).take(indices)).as_py()
    return 4 * len(indices) + (found or 0)


def _each(values: pa.Array) -> int:
    """Bytes of one value, on the average."""
    return -(-weight(values) // len(values)) if len(values) else 0


def _is_view(kind: pa.DataType) -> bool:
    return kind in (pa.string_view(), pa.binary_view())


def _lengths(array: pa.Array) -> np.ndarray:
    """Of views, whose buffers Arrow counts whole for every slice. The first 4 bytes of 16 tell."""
    told = np.frombuffer(array.buffers()[1], np.int32)[::4]
    found = told[array.offset : array.offset + len(array)].astype(np.int64)
    if array.null_count:  # what is there may be anything
        found[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return found
