"""Decoded values as Arrow arrays: buffers are handed over, not copied, where the layouts agree."""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.codecs import bounds, variable
from rangeio.codecs.bounds import Bytes
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.v21.chunkvalues import words
from rangeio.formats.lance.v21.values import (
    MOST,
    Bits,
    Coded,
    Fixed,
    FixedLists,
    Nulls,
    Structs,
    Values,
    Varied,
)

_INT32_MOST = (1 << 31) - 1


def array(kind: pa.DataType, values: Values, validity: Bytes | None = None) -> pa.Array:
    """An array of exactly ``kind``. ``validity``: an Arrow bitmap, None where nothing is null.

    Keeps the values' buffers alive. Raises Corrupt where the values are not of the kind's width,
    Unsupported for kinds without values in a page and for strings beyond 2 GiB in one array.
    """
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, array(kind.storage_type, values, validity))
    if isinstance(values, Nulls) or pa.types.is_null(kind):
        return nulls(values.count, kind)
    if pa.types.is_dictionary(kind):
        return _dictionary(kind, values, validity)
    if isinstance(values, Coded):
        return array(kind, _plain(values, validity), validity)
    bitmap = None if validity is None else pa.py_buffer(validity)
    if isinstance(values, Varied):
        return _varied(kind, values, bitmap)
    if isinstance(values, FixedLists):
        return _fixed_lists(kind, values, bitmap)
    if isinstance(values, Structs):
        return _structs(kind, values, bitmap)
    return _primitive(kind, values, bitmap)


def _primitive(kind: pa.DataType, values: Fixed | Bits, bitmap: pa.Buffer | None) -> pa.Array:
    try:
        width = kind.bit_width
    except ValueError:
        raise Corrupt(f"values of fixed width for a column of {kind}") from None
    found = 1 if isinstance(values, Bits) else 8 * values.size
    if width != found or pa.types.is_nested(kind):
        raise Corrupt(f"values of {found} bits for a column of {kind}")
    return pa.Array.from_buffers(kind, values.count, [bitmap, pa.py_buffer(_aligned(values))])


def _aligned(values: Fixed | Bits) -> Bytes:
    """The bytes where Arrow may read them by the word; a copy where a range began elsewhere."""
    words = isinstance(values, Fixed) and values.size % 2 == 0
    if words and values.data.__array_interface__["data"][0] % 8:
        return values.data.copy()
    return values.data


def _varied(kind: pa.DataType, values: Varied, bitmap: pa.Buffer | None) -> pa.Array:
    large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not (large or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        raise Corrupt(f"values of variable width for a column of {kind}")
    offsets = values.offsets
    if not large:
        if int(offsets[-1]) > _INT32_MOST:
            raise Unsupported(f"{offsets[-1]} bytes of {kind} in one piece of a page")
        offsets = cast("bounds.Offsets", offsets.astype(np.int32))
    buffers = [bitmap, pa.py_buffer(offsets), pa.py_buffer(values.data)]
    return pa.Array.from_buffers(kind, values.count, buffers)


def _fixed_lists(kind: pa.DataType, values: FixedLists, bitmap: pa.Buffer | None) -> pa.Array:
    if not pa.types.is_fixed_size_list(kind) or kind.list_size != values.size:
        raise Corrupt(f"lists of {values.size} items for a column of {kind}")
    items = array(kind.value_type, values.items, values.validity)
    return pa.Array.from_buffers(kind, values.count, [bitmap], children=[items])


def _structs(kind: pa.DataType, values: Structs, bitmap: pa.Buffer | None) -> pa.Array:
    if not pa.types.is_struct(kind) or kind.num_fields != len(values.fields):
        raise Corrupt(f"packed structs of {len(values.fields)} fields for a column of {kind}")
    children = [array(kind.field(i).type, one) for i, one in enumerate(values.fields)]
    return pa.Array.from_buffers(kind, values.count, [bitmap], children=children)


# ---- dictionaries ------------------------------------------------------------------------------


def _usable(values: Coded, validity: Bytes | None) -> npt.NDArray[np.unsignedinteger]:
    """The indices, those of null slots 0; Corrupt where one of the others is outside."""
    indices = values.indices
    if validity is not None:
        valid = np.unpackbits(validity, count=len(indices), bitorder="little").view(bool)
        indices = np.where(valid, indices, indices.dtype.type(0))
    if len(indices) and int(indices.max()) >= values.items.count:
        raise Corrupt(f"index {indices.max()} into a dictionary of {values.items.count}")
    return indices


def _plain(values: Coded, validity: Bytes | None) -> Values:
    """The values that the indices stand for."""
    items = values.items
    if not items.count and validity is not None and not validity.any():
        return Nulls(values.count)
    indices = _usable(values, validity)
    if isinstance(items, Fixed):
        bounds.total(np.array([len(indices) * items.size]), MOST, "bytes of values")
        chosen = words(items.data, items.size)[indices]
        return Fixed(chosen.view(np.uint8).reshape(-1), items.size, values.count)
    if isinstance(items, Varied):
        return Varied(*variable.take(items.offsets, items.data, indices, most=MOST))
    raise Unsupported(f"a dictionary of {type(items).__name__} values")


def _dictionary(kind: pa.DictionaryType, values: Values, validity: Bytes | None) -> pa.Array:
    if not isinstance(values, Coded):
        return _encoded(kind, array(kind.value_type, values, validity))
    items = array(kind.value_type, values.items)
    width = kind.index_type.bit_width
    if values.items.count > 1 << (
        width - (1 if pa.types.is_signed_integer(kind.index_type) else 0)
    ):
        raise Corrupt(f"a dictionary of {values.items.count} values for indices of {width} bits")
    if not len(items) and values.count:
        return nulls(values.count, kind)
    indices = _usable(values, validity).astype(f"<u{width // 8}", copy=False)
    bitmap = None if validity is None else pa.py_buffer(validity)
    buffers = [bitmap, pa.py_buffer(np.ascontiguousarray(indices))]
    whole = pa.Array.from_buffers(kind.index_type, values.count, buffers)
    return pa.DictionaryArray.from_arrays(whole, items, ordered=kind.ordered, safe=False)


def _encoded(kind: pa.DictionaryType, plain: pa.Array) -> pa.Array:
    """Plain values as a dictionary of their distinct ones."""
    coded = plain.dictionary_encode()
    try:
        indices = coded.indices.cast(kind.index_type)
    except pa.ArrowInvalid:
        raise Corrupt(f"{len(coded.dictionary)} distinct values for {kind.index_type}") from None
    return pa.DictionaryArray.from_arrays(indices, coded.dictionary, ordered=kind.ordered)


def row_size(kind: pa.DataType) -> int:
    """Bytes that one null of the kind takes at least."""
    if isinstance(kind, pa.BaseExtensionType):
        return row_size(kind.storage_type)
    if pa.types.is_fixed_size_list(kind):
        return max(1, int(kind.list_size) * row_size(kind.value_type))
    if pa.types.is_struct(kind):
        return 1 + sum(row_size(kind.field(i).type) for i in range(kind.num_fields))
    if pa.types.is_dictionary(kind):
        return row_size(kind.index_type)
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 8


def nulls(count: int, kind: pa.DataType) -> pa.Array:
    """``count`` nulls; Unsupported where they would take more than a unit may."""
    if count * row_size(kind) > MOST:
        raise Unsupported(f"{count} nulls of {kind} in one piece of a page")
    return pa.nulls(count, kind)
