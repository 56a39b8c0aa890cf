"""Values of any size as Arrow's text and bytes, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.codecs import variable
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt, RequestError, Unsupported
from rangeio.formats.doris.encodings.values import Binary

_MOST = 2**31 - 1


def to_binary(
    values: Binary, valid: npt.NDArray[np.bool_] | None, bitmap: pa.Buffer | None, kind: pa.DataType
) -> pa.Array:
    """The values as an Arrow array, without a copy of their bytes.

    valid: which rows have one, where not all do; bitmap: the same, as Arrow has it. Raises
    Unsupported for more bytes than 32-bit offsets reach (read fewer rows at once), and Corrupt for
    text that is not UTF-8: others than Python trust an Arrow string to be it, so all is looked at,
    at some GB a second.
    """
    first, last = int(values.offsets[0]), int(values.offsets[-1])
    large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if last - first > _MOST and not large:
        raise Unsupported(f"{last - first} bytes of text in one array, which holds {_MOST}")
    edges = values.offsets if valid is None else _spread(values.offsets, valid)
    offsets = (edges - first).astype(np.int64 if large else np.int32)
    buffers = [bitmap, pa.py_buffer(offsets), pa.py_buffer(values.data[first:last])]
    rows = len(offsets) - 1
    array = pa.Array.from_buffers(kind, rows, buffers, rows - len(values))
    _validate(array, kind)
    return array


def _spread(offsets: Offsets, valid: npt.NDArray[np.bool_]) -> Offsets:
    ends = np.zeros(len(valid) + 1, np.int64)
    np.cumsum(valid, out=ends[1:])
    return offsets[ends]


def _validate(array: pa.Array, kind: pa.DataType) -> None:
    wrong = _no_text(array, kind)
    if wrong:
        raise Corrupt(f"text that is not UTF-8: {wrong}")


def check_text(array: pa.Array) -> None:
    """Raise RequestError where an array of text, other than a view, has bytes that are none: Arrow
    does not look at them, and what is written so could not be read."""
    wrong = _no_text(array, array.type)
    if wrong:
        raise RequestError(f"text that is not UTF-8: {wrong}")


def _no_text(array: pa.Array, kind: pa.DataType) -> str:
    """What is wrong with an array of text; "" where nothing is, and of others."""
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return ""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        return str(error)
    return ""


def unpadded(values: Binary) -> Binary:
    """Each value up to its first NUL, as CHAR is read."""
    first, last = int(values.offsets[0]), int(values.offsets[-1])
    used = values.data[first:last]
    if used.all():
        return values
    nuls = np.append(np.flatnonzero(used == 0) + first, last)
    starts = values.offsets[:-1]
    stops = np.minimum(nuls[np.searchsorted(nuls, starts)], values.offsets[1:])
    sizes = np.maximum(stops - starts, 0)
    offsets = np.zeros(len(values.offsets), np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return Binary(offsets, variable.gather(values.data, starts, sizes))


def padded(values: Binary, size: int) -> Binary:
    """Each value with NULs up to ``size`` bytes, as CHAR is stored.

    Raises RequestError for one that is longer, or has a NUL of its own.
    """
    sizes = np.diff(fitting(values, size, "CHAR").offsets)
    first, last = int(values.offsets[0]), int(values.offsets[-1])
    if not values.data[first:last].all():
        raise RequestError("a NUL in a value for a CHAR, which ends there")
    out = np.zeros((len(sizes), size), np.uint8)
    out[np.arange(size) < sizes[:, None]] = values.data[first:last]
    return Binary(np.arange(len(sizes) + 1, dtype=np.int64) * size, out.reshape(-1))


def fitting(values: Binary, size: int, word: str) -> Binary:
    """The values. Raises RequestError where one has more than ``size`` bytes. word: the type."""
    sizes = np.diff(values.offsets)
    if len(sizes) and int(sizes.max()) > size:
        raise RequestError(f"a value of {int(sizes.max()):,} bytes for a {word}({size})")
    return values


def from_binary(array: pa.Array) -> Binary:
    """The values of an array without nulls, of text or bytes other than views; a view of its
    bytes."""
    kind = array.type
    if pa.types.is_fixed_size_binary(kind):
        size = kind.byte_width
        offsets = np.arange(array.offset, array.offset + len(array) + 1, dtype=np.int64) * size
        return Binary(offsets, _bytes(array.buffers()[1]))
    large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    _, offsets_buffer, data = array.buffers()
    if offsets_buffer is None or not len(array):
        return Binary(np.zeros(1, np.int64), np.empty(0, np.uint8))
    words = np.frombuffer(offsets_buffer, np.int64 if large else np.int32)
    edges = words[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return Binary(edges, _bytes(data))


def _bytes(buffer: pa.Buffer | None) -> Bytes:
    if buffer is None:
        return np.empty(0, np.uint8)
    return np.frombuffer(buffer, np.uint8)
