"""Arrow arrays over buffers as they came."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.errors import Corrupt, Unsupported

Offsets = npt.NDArray[np.int64]
_MOST_EXPANDED = 1 << 31
_MOST_OFFSET = (1 << 31) - 1


def primitive(
    kind: pa.DataType, count: int, data: memoryview | npt.NDArray[np.generic]
) -> pa.Array:
    """Fixed-width values without nulls, over ``data`` unless it is not aligned."""
    array = np.frombuffer(data, np.uint8)
    need = min(kind.bit_width // 8, 8)
    if need > 1 and array.ctypes.data % need:
        array = array.copy()
    return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(array)])


def nulls(kind: pa.DataType, count: int) -> pa.Array:
    """Nothing but nulls; refuses what no memory holds, for it takes no bytes to claim it."""
    if count * _width(kind) > _MOST_EXPANDED:
        raise Unsupported(f"a page of {count} nulls, which would take too much memory")
    return pa.nulls(count, kind)


def _width(kind: pa.DataType) -> int:
    """Bytes a row of nulls takes, roughly."""
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size) * _width(kind.value_type)
    if pa.types.is_struct(kind):
        return 1 + sum(_width(kind.field(i).type) for i in range(kind.num_fields))
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 0 if pa.types.is_null(kind) else 8


def masked(array: pa.Array, bits: npt.NDArray[np.uint8]) -> pa.Array:
    """The array with the validity ``bits`` (and its own, where it has some)."""
    kind, count = array.type, len(array)
    if pa.types.is_dictionary(kind):
        indices = masked(array.indices, bits)
        return pa.DictionaryArray.from_arrays(indices, array.dictionary, ordered=kind.ordered)
    if pa.types.is_null(kind):
        return array
    buffers = array.buffers()
    own = buffers[0]
    if own is not None:
        size = -(-count // 8)
        bits = bits[:size] & np.frombuffer(own, np.uint8)[:size]
    validity = pa.py_buffer(bits)
    if pa.types.is_fixed_size_list(kind):
        return pa.Array.from_buffers(kind, count, [validity], children=[array.values])
    if pa.types.is_struct(kind):
        below = [array.field(i) for i in range(kind.num_fields)]
        return pa.Array.from_buffers(kind, count, [validity], children=below)
    return pa.Array.from_buffers(kind, count, [validity, *buffers[1:]])


def variable(
    kind: pa.DataType, offsets: Offsets, data: memoryview | npt.NDArray[np.uint8]
) -> pa.Array:
    """Strings or binaries without nulls, cut from ``data`` by n+1 checked offsets."""
    buffers = [None, pa.py_buffer(narrowed(kind, offsets)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def narrowed(kind: pa.DataType, offsets: Offsets) -> npt.NDArray[np.generic]:
    """The offsets as wide as the type has them."""
    types = pa.types
    if types.is_large_list(kind) or types.is_large_string(kind) or types.is_large_binary(kind):
        return offsets
    if len(offsets) and offsets[-1] > _MOST_OFFSET:
        raise Unsupported(f"{offsets[-1]} bytes or items in one {kind} array; read fewer rows")
    return offsets.astype(np.int32)


def is_variable(kind: pa.DataType) -> bool:
    """Whether values have offsets: strings and binaries."""
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_binary(kind)
        or types.is_large_string(kind)
        or types.is_large_binary(kind)
    )


def fitting(kind: pa.DataType, bits: int) -> None:
    """Raise Corrupt unless values of the type take ``bits``."""
    try:
        width = kind.bit_width
    except ValueError:
        width = 0
    if pa.types.is_nested(kind) or pa.types.is_dictionary(kind):
        width = 0
    if not width or width != bits:
        raise Corrupt(f"values of {bits} bits for the type {kind}")


def joined(kind: pa.DataType, parts: list[pa.Array]) -> pa.Array:
    """The parts as one array."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return pa.nulls(0, kind)
    try:
        return pa.concat_arrays(parts)
    except pa.ArrowException as error:
        raise Unsupported(f"pages that do not fit one array: {error}") from None


def wrapped(kind: pa.DataType, array: pa.Array) -> pa.Array:
    """The array as the extension type it stands for, if any."""
    if isinstance(kind, pa.BaseExtensionType) and array.type != kind:
        return pa.ExtensionArray.from_storage(kind, array)
    return array


def storage(kind: pa.DataType) -> pa.DataType:
    """What an extension type is stored as; any other type itself."""
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
