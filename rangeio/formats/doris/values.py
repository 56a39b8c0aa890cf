"""The values of scalar columns as Arrow arrays, and back."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rangeio.codecs.bounds import Bytes
from rangeio.errors import Corrupt, RequestError
from rangeio.formats.doris import dates, decimals, strings
from rangeio.formats.doris.encodings.values import Binary, Fixed, Values
from rangeio.formats.doris.types import Declared, arrow_type, size_of
from rangeio.formats.doris.words import FieldType, worded
from rangeio.literal import plain

Nulls: TypeAlias = npt.NDArray[np.bool_]
"""Of every row, whether it is NULL."""

_F = FieldType
_TIMES = (_F.DATE, _F.DATEV2, _F.DATETIME, _F.DATETIMEV2, _F.TIMESTAMPTZ)


# ---- to Arrow ------------------------------------------------------------------------------------


def to_arrow(
    field: int,
    precision: int,
    frac: int,
    values: Values,
    nulls: Nulls | None,
    kind: pa.DataType | None = None,
) -> pa.Array:
    """The rows of a scalar column.

    values: dense, a NULL row has none. nulls: None where no row is NULL. kind: the Arrow type where
    it is known already, else that of the field. Buffers are shared with ``values`` where they can
    be. Raises Corrupt where there are not as many values as rows that need one, for text that is
    not UTF-8, for impossible dates, and for decimals of too many digits; Unsupported for more text
    than one array holds.
    """
    kind = arrow_type(field, precision, frac) if kind is None else kind
    valid, bitmap = _validity(nulls, len(values), field)
    if isinstance(values, Binary):
        if size_of(field):
            raise Corrupt(f"values of any size in a column of type {worded(FieldType, field)}")
        found = strings.unpadded(values) if field == _F.CHAR else values
        return strings.to_binary(found, valid, bitmap, kind)
    if values.data.shape[1] != size_of(field):
        size = values.data.shape[1]
        raise Corrupt(f"values of {size} bytes in a column of type {worded(FieldType, field)}")
    data = _fixed_to_arrow(field, values.data, kind)
    rows = len(values) if valid is None else len(valid)
    buffer = _buffer(field, data, valid)
    array = pa.Array.from_buffers(kind, rows, [bitmap, buffer], rows - len(values))
    _check_digits(field, array, kind)
    return array


def _validity(nulls: Nulls | None, count: int, field: int) -> tuple[Nulls | None, pa.Buffer | None]:
    """Which rows have a value, and that as a bitmap; None where all do."""
    if nulls is None:
        return None, None
    valid = ~nulls
    present = int(np.count_nonzero(valid))
    if present != count:
        name = worded(FieldType, field)
        raise Corrupt(f"{count} values of type {name} for {present} rows that are not NULL")
    if present == len(valid):
        return None, None
    return valid, pa.py_buffer(np.packbits(valid, bitorder="little"))


def _fixed_to_arrow(field: int, data: Bytes, kind: pa.DataType) -> Bytes:
    """The values as Arrow stores them, of shape (count, size); bits as a byte each."""
    if field in _TIMES:
        counts = dates.counts(field, data)
        days = counts.astype(np.int32) if field in (_F.DATE, _F.DATEV2) else counts
        return days.view(np.uint8).reshape(len(data), days.itemsize)
    if pa.types.is_decimal(kind):
        return decimals.widened(field, data, kind.byte_width)
    return data[:, ::-1] if field == _F.IPV6 else data


def _buffer(field: int, data: Bytes, valid: Nulls | None) -> pa.Buffer:
    """One value a row, zeros where there is none."""
    flat = np.ascontiguousarray(data).view(np.dtype((np.void, data.shape[1])))[:, 0]
    if valid is not None:
        rows = np.zeros(len(valid), flat.dtype)
        rows[valid] = flat
        flat = rows
    if field == _F.BOOL:
        return pa.py_buffer(np.packbits(flat.view(np.uint8), bitorder="little"))
    return pa.py_buffer(_aligned(flat.view(np.uint8), data.shape[1]))


def _aligned(data: Bytes, size: int) -> Bytes:
    """The bytes where Arrow's own kernels want them, which complain about odd places."""
    step = min(size & -size, 8)
    return data if data.ctypes.data % step == 0 else data.copy()


def _check_digits(field: int, array: pa.Array, kind: pa.DataType) -> None:
    """Arrow takes it for granted that a decimal fits its type; DECIMAL was looked at."""
    if not pa.types.is_decimal(kind) or field in (_F.DECIMAL, _F.LARGEINT):
        return
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise Corrupt(f"a {worded(FieldType, field)} of too many digits: {error}") from None


# ---- from Arrow ----------------------------------------------------------------------------------


def from_arrow(array: pa.Array, declared: Declared) -> tuple[Values, Nulls | None]:
    """The values of a scalar column, dense, and which rows are NULL: None where none is.

    array: of a type for which :func:`~rangeio.formats.doris.types.field_of` gives ``declared``.
    The values share its buffers where they can. Raises RequestError for what the type of Doris does
    not hold.
    """
    array = _plain(array)
    nulls = None
    if array.null_count:
        nulls = array.is_null().to_numpy(zero_copy_only=False)
        array = array.drop_null()
    if size_of(declared.field):
        return Fixed(_fixed_from_arrow(array, declared)), nulls
    strings.check_text(array)
    values = strings.from_binary(array)
    if declared.field == _F.CHAR:
        values = strings.padded(values, declared.length)
    if declared.field == _F.VARCHAR:
        values = strings.fitting(values, declared.length - 2, "VARCHAR")
    return values, nulls


def _plain(array: pa.Array) -> pa.Array:
    """Without encodings and extensions; views as large arrays, for Arrow does little with them."""
    while array.type != plain(array.type):
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        else:
            array = pc.run_end_decode(array)
    if array.type == pa.string_view():
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if array.type == pa.binary_view() else array


def _fixed_from_arrow(array: pa.Array, declared: Declared) -> Bytes:
    """The values as Doris stores them, of shape (count, size)."""
    field = declared.field
    if field == _F.BOOL:
        return _rows(array.cast(pa.uint8()))
    if field in _TIMES:
        return dates.stored(field, _counts(array, field))
    if field == _F.DECIMAL:
        return decimals.narrowed(field, _rows(_cast(array, pa.decimal128(27, 9))), 12)
    if pa.types.is_decimal(array.type):
        wide = max(array.type.bit_width, 128)
        make = pa.decimal256 if wide == 256 else pa.decimal128
        array = _cast(array, make(array.type.precision, array.type.scale))
        return decimals.narrowed(field, _rows(array), size_of(field))
    if pa.types.is_float16(array.type):
        array = pa.array(array.to_numpy(zero_copy_only=False).astype(np.float32))
    data = _rows(array)
    return np.ascontiguousarray(data[:, ::-1]) if field == _F.IPV6 else data


def _counts(array: pa.Array, field: int) -> dates.Counts:
    if field in (_F.DATE, _F.DATEV2):
        days = _rows(_cast(array, pa.date32())).view(np.int32)
        return days[:, 0].astype(np.int64)
    unit = "s" if field == _F.DATETIME else "us"
    return _rows(_cast(array, pa.timestamp(unit, array.type.tz))).view(np.int64)[:, 0]


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if array.type == kind:
        return array
    try:
        return array.cast(kind)
    except pa.ArrowInvalid as error:
        raise RequestError(f"{array.type} to {kind} loses something: {error}") from None


def _rows(array: pa.Array) -> Bytes:
    """A view of the values of an array of a fixed size, of shape (count, size)."""
    size = array.type.bit_width // 8
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.empty((0, size), np.uint8)
    data = np.frombuffer(buffer, np.uint8, len(array) * size, array.offset * size)
    return data.reshape(len(array), size)
