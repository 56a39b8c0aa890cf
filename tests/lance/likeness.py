"""Whether two Arrow columns hold the same values: bit for bit, NaNs included, nulls blind.

Unlike Arrow's own ``equals`` it numbers no dictionary, looks below no null, and lets the one
column be pruned to some of the other's struct fields.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def difference(actual: pa.Table, wanted: pa.Table) -> str | None:
    """The first difference in words, None where there is none.

    Columns go by position. A struct of ``actual`` may lack fields of ``wanted``'s.
    """
    if actual.column_names != wanted.column_names:
        return f"columns {actual.column_names}, not {wanted.column_names}"
    for name, a, b in zip(actual.column_names, actual.columns, wanted.columns, strict=True):
        if len(a) != len(b):
            return f"{name}: {len(a)} rows, not {len(b)}"
        a.validate(full=True)
        for one, other in _aligned(a, b):
            found = next(_differences(one, other, name), None)
            if found is not None:
                return found
    return None


def _aligned(a: pa.ChunkedArray, b: pa.ChunkedArray) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Both cut where either is: Arrow cannot combine all dictionaries and extensions."""
    ends = {int(end) for one in (a, b) for end in np.cumsum([len(c) for c in one.chunks])}
    start = 0
    for end in sorted(ends - {0}):
        yield _within(a, start, end), _within(b, start, end)
        start = end


def _within(column: pa.ChunkedArray, start: int, end: int) -> pa.Array:
    (found,) = (c for c in column.slice(start, end - start).chunks if len(c))
    return found


def _differences(a: pa.Array, b: pa.Array, path: str) -> Iterator[str]:
    if isinstance(a, pa.ExtensionArray) and isinstance(b, pa.ExtensionArray):
        a, b = a.storage, b.storage
    if isinstance(a, pa.DictionaryArray) and isinstance(b, pa.DictionaryArray):
        a, b = a.dictionary_decode(), b.dictionary_decode()
    nested = pa.types.is_nested(a.type)
    if a.type.id != b.type.id or (not nested and a.type != b.type):
        yield f"{path}: {a.type}, not {b.type}"
    elif len(a) != len(b):
        yield f"{path}: {len(a)} values, not {len(b)}"
    elif (at := _first(a.is_null(), b.is_null())) is not None:
        yield f"{path}[{at}]: valid is {a[at].is_valid}, not {b[at].is_valid}"
    elif pa.types.is_struct(a.type):
        yield from _of_structs(a, b, path)
    elif pa.types.is_nested(a.type):
        yield from _of_lists(a, b, path)
    else:
        yield from _of_values(a, b, path)


def _of_structs(a: pa.StructArray, b: pa.StructArray, path: str) -> Iterator[str]:
    ones, others = a.flatten(), b.flatten()
    for i, one in enumerate(ones):
        name = a.type.field(i).name
        at = i if a.type.num_fields == b.type.num_fields else b.type.get_field_index(name)
        if at < 0 or b.type.field(at).name != name:
            yield f"{path}.{name}: no such field in {b.type}"
        else:
            yield from _differences(one, others[at], f"{path}.{name}")


def _of_lists(a: pa.Array, b: pa.Array, path: str) -> Iterator[str]:
    if pa.types.is_map(a.type):
        a, b = _listed(a), _listed(b)
    if pa.types.is_fixed_size_list(a.type) and a.type.list_size != b.type.list_size:
        yield f"{path}: {a.type}, not {b.type}"
        return
    at = _first(pc.list_value_length(a), pc.list_value_length(b))
    if at is not None:
        yield f"{path}[{at}]: {len(a[at])} items, not {len(b[at])}"
        return
    yield from _differences(_items(a), _items(b), f"{path}[]")


def _items(a: pa.Array) -> pa.Array:
    """The items of the lists that are not null."""
    try:
        return a.flatten()
    except pa.ArrowInvalid:  # Arrow joins no dictionaries with null items: gather them instead
        stops = np.cumsum(pc.fill_null(pc.list_value_length(a), 0).to_numpy())
        if pa.types.is_fixed_size_list(a.type):
            starts = (a.offset + np.arange(len(a))) * a.type.list_size
        else:
            starts = a.offsets.to_numpy()[:-1]
        sizes = np.diff(stops, prepend=0)
        picks = np.repeat(starts - (stops - sizes), sizes) + np.arange(sizes.sum())
        return a.values.take(pa.array(picks))


def _listed(a: pa.MapArray) -> pa.ListArray:
    """A map as the list of its entries."""
    entries = pa.StructArray.from_arrays([a.keys, a.items], ["key", "value"])
    kind = pa.list_(entries.type)
    return pa.Array.from_buffers(kind, len(a), a.buffers()[:2], -1, a.offset, [entries])


def _of_values(a: pa.Array, b: pa.Array, path: str) -> Iterator[str]:
    if pa.types.is_floating(a.type):
        bits = pa.from_numpy_dtype(np.dtype(f"u{a.type.bit_width // 8}"))
        a, b = a.view(bits), b.view(bits)
    if not a.equals(b):
        at = next(i for i in range(len(a)) if not a[i].equals(b[i]))
        yield f"{path}[{at}]: {str(a[at])[:60]}, not {str(b[at])[:60]}"


def _first(a: pa.Array, b: pa.Array) -> int | None:
    """The first position where two arrays without nulls of their own, or with the same, differ."""
    if a.equals(b):
        return None
    unlike = pc.fill_null(pc.not_equal(a, b), True)
    found = pc.index(unlike, True).as_py()
    return None if found < 0 else int(found)
