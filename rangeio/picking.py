"""Rows picked out of tables, of all types: some, string views say, Arrow can only slice. Pure."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def rebased(array: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The array, copied where Arrow would take and filter wrong rows out of a slice of it."""
    if not _piled(array.type):
        return array
    if isinstance(array, pa.ChunkedArray):
        return pa.chunked_array([pa.concat_arrays([one]) for one in array.chunks], array.type)
    return pa.concat_arrays([array])


def _piled(kind: pa.DataType) -> bool:
    """Whether fixed-size lists lie right inside one another, anywhere below."""
    if isinstance(kind, pa.BaseExtensionType):
        return _piled(kind.storage_type)
    below = [kind.field(i).type for i in range(kind.num_fields)]
    fixed = pa.types.is_fixed_size_list
    return (fixed(kind) and fixed(kind.value_type)) or any(_piled(one) for one in below)


def counting(rows: int) -> pa.Table:
    """So many rows of no columns."""
    return pa.table({"_": pa.nulls(rows)}).select([])


def taken(table: pa.Table, places: npt.NDArray[np.int64]) -> pa.Table:
    """The rows at ``places``, in their order, repeated as they are."""
    if not table.num_columns:  # Arrow takes no rows of it
        return counting(len(places))
    try:
        return table.take(pa.array(places))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # of dictionaries too long for one, too
        cuts = np.flatnonzero(np.diff(places) != 1) + 1
        starts = np.concatenate(([0], cuts))[: len(places)]
        return sliced(table, places[starts], np.diff(np.append(starts, len(places))))


def filtered(table: pa.Table, mask: pa.BooleanArray) -> pa.Table:
    """The rows at which ``mask``, which has no nulls, is true."""
    try:
        return table.filter(mask)
    except pa.ArrowNotImplementedError:
        edges = np.flatnonzero(np.diff(np.asarray(mask), prepend=False, append=False))
        return sliced(table, edges[0::2], edges[1::2] - edges[0::2])


def sliced(
    table: pa.Table, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> pa.Table:
    """Runs of rows, one after the other; without copying them."""
    runs = zip(starts.tolist(), sizes.tolist(), strict=True)
    return pa.concat_tables([*(table.slice(a, n) for a, n in runs), table.slice(0, 0)])
