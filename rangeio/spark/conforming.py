"""Batches brought into exactly the schema that Spark was promised. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rangeio.errors import Unsupported


def conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of ``schema``, by name, in its types; what the batch has not is null.

    A name in another case is the same where there is no other, as in Spark. What needs no change
    shares its memory. Raises Unsupported, with the column, for a value that its type does not hold.
    """
    arrays = []
    for place, field in zip(places(schema.names, batch.schema.names), schema, strict=True):
        if place is None:
            arrays.append(pa.nulls(batch.num_rows, field.type))
        else:
            arrays.append(_column(batch.column(place), field))
    if not arrays:  # how many rows there are is all that is asked
        rows = pa.StructArray.from_arrays([pa.nulls(batch.num_rows)], ["_"])
        return pa.RecordBatch.from_struct_array(rows).select([])
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def places(wanted: Iterable[str], names: Iterable[str]) -> list[int | None]:
    """Where each wanted name stands: in its own case, else in any."""
    exact: dict[str, int] = {}
    folded: dict[str, int] = {}
    for i, name in enumerate(names):
        exact.setdefault(name, i)
        folded.setdefault(name.casefold(), i)
    return [exact.get(name, folded.get(name.casefold())) for name in wanted]


def _column(array: pa.Array, field: pa.Field) -> pa.Array:
    try:
        return _as(array, field.type)
    except (pa.ArrowException, ValueError) as error:
        why = str(error).splitlines()[0]
        raise Unsupported(
            f"column {field.name!r} is {array.type} and was asked as {field.type}: {why}"
        ) from None


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    have = array.type
    if have.equals(kind):
        return array
    if pa.types.is_null(have):
        return pa.nulls(len(array), kind)
    if isinstance(have, pa.BaseExtensionType):
        return _as(array.storage, kind)
    if pa.types.is_dictionary(have) or pa.types.is_run_end_encoded(have):
        return _as(array.cast(have.value_type), kind)
    if pa.types.is_struct(kind) and pa.types.is_struct(have):
        return _struct(array, kind)
    if pa.types.is_map(kind) and pa.types.is_map(have):
        return _map(array, kind)
    if pa.types.is_list(kind) and hasattr(have, "value_type"):
        return _list(array, kind)
    return _value(array, kind)


def _value(array: pa.Array, kind: pa.DataType) -> pa.Array:
    have = array.type
    if pa.types.is_timestamp(have) and have.unit == "ns" and pa.types.is_timestamp(kind):
        array = pc.floor_temporal(array, unit="microsecond")  # Spark knows no finer ones
    elif pa.types.is_duration(have) and have.unit == "ns":
        return array.cast(kind, safe=False)
    return array.cast(kind)


def _struct(array: pa.Array, kind: pa.DataType) -> pa.Array:
    have = [one.name for one in array.type]
    fields = list(kind)
    inner = []
    for place, field in zip(places([f.name for f in fields], have), fields, strict=True):
        found = pa.nulls(len(array), field.type) if place is None else array.field(place)
        inner.append(_as(found, field.type))
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(inner, fields=fields, mask=mask)


def _list(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if not pa.types.is_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    array = _settled(array)
    offsets, items = _parts(array, array.values)
    return pa.ListArray.from_arrays(offsets, _as(items, kind.value_type), type=kind)


def _map(array: pa.Array, kind: pa.DataType) -> pa.Array:
    array = _settled(array)
    offsets, keys = _parts(array, array.keys)
    _, values = _parts(array, array.items)
    found = _as(keys, kind.key_type), _as(values, kind.item_type)
    return pa.MapArray.from_arrays(offsets, *found, type=kind)


def _settled(array: pa.Array) -> pa.Array:
    """Lists of which null ones hold nothing: what they hold would be added to those before them,
    for offsets tell the nulls."""
    if not array.null_count:
        return array
    held = np.diff(array.offsets.to_numpy())[array.is_null().to_numpy(zero_copy_only=False)]
    return array.take(pa.array(np.arange(len(array)))) if held.any() else array


def _parts(array: pa.Array, items: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Offsets that tell the nulls, and the items that they reach, from the first on."""
    offsets = array.offsets
    start, stop = (offsets[0].as_py(), offsets[-1].as_py()) if len(offsets) else (0, 0)
    offsets = pc.subtract(offsets, pa.scalar(start, offsets.type))
    if array.null_count:
        none = pa.concat_arrays([array.is_null(), pa.array([False])])
        offsets = pc.if_else(none, pa.scalar(None, offsets.type), offsets)
    return offsets, items.slice(start, stop - start)
