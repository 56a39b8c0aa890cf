"""Values as bytes whose order is the order of the values: the keys of Doris' indexes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes
from rangeio.errors import RequestError
from rangeio.formats.doris.encodings.values import Binary, Fixed, Values
from rangeio.formats.doris.words import FieldType, worded

NULL, NORMAL = b"\x01", b"\x02"
LEAST, MOST = b"\x00", b"\xff"
"""What stands before the key of a column in a row's key: below and above all values."""

_F = FieldType
_SIGNED = frozenset(
    (
        *(_F.TINYINT, _F.SMALLINT, _F.INT, _F.BIGINT, _F.LARGEINT, _F.DATETIME),
        *(_F.DECIMAL32, _F.DECIMAL64, _F.DECIMAL128I, _F.DECIMAL256),
    )
)
_UNSIGNED = frozenset(
    (
        *(_F.UTINYINT, _F.USMALLINT, _F.UINT, _F.UBIGINT, _F.BOOL),
        *(_F.DATE, _F.DATEV2, _F.DATETIMEV2, _F.TIMESTAMPTZ, _F.IPV4, _F.IPV6),
    )
)
_FLOATS = frozenset((_F.FLOAT, _F.DOUBLE, _F.DISCRETE_DOUBLE))
_STRINGS = frozenset((_F.CHAR, _F.VARCHAR, _F.STRING))


def encoded(field: int, values: Values) -> Values:
    """The keys of values: strings as they are, all else big-endian bytes of one size.

    Numbers with a sign have its bit flipped. Of floats NaN is the greatest, whatever its bits.
    Raises RequestError for types that are no keys.
    """
    if isinstance(values, Binary):
        if field in _STRINGS:
            return values
    elif field == _F.DECIMAL:
        parts = _flipped(values.data[:, :8]), _flipped(values.data[:, 8:])
        return Fixed(np.concatenate(parts, axis=1))
    elif field in _SIGNED:
        return Fixed(_flipped(values.data))
    elif field in _UNSIGNED:
        return Fixed(np.ascontiguousarray(values.data[:, ::-1]))
    elif field in _FLOATS:
        return Fixed(_floats(values.data))
    raise RequestError(f"a {worded(FieldType, field)} is no key in Doris")


def key(field: int, raw: bytes) -> bytes:
    """The key of one value from its storage bytes."""
    if field in _STRINGS:
        return raw
    found = encoded(field, Fixed(np.frombuffer(raw, np.uint8).reshape(1, -1)))
    assert isinstance(found, Fixed)
    return found.data.tobytes()


def _flipped(data: Bytes) -> Bytes:
    out = np.ascontiguousarray(data[:, ::-1])
    if out is data or np.shares_memory(out, data):
        out = out.copy()
    out[:, :1] ^= np.uint8(0x80)
    return out


def _floats(data: Bytes) -> Bytes:
    kind = np.dtype(f"<f{data.shape[1]}")
    numbers = data.view(kind)
    canonical = np.where(np.isnan(numbers), kind.type(np.nan), numbers).astype(kind)
    words = canonical.view(f"<i{kind.itemsize}")
    sortable = np.where(words < 0, ~words, words ^ np.iinfo(words.dtype).min)
    return sortable.astype(words.dtype.newbyteorder(">")).view(np.uint8)


# ---- keys of rows --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class KeyColumn:
    """One column of a row's key.

    values: dense, of the rows that are not NULL. nulls: of every row, None where none is NULL.
    size: bytes that a string is cut to; 0 is none.
    """

    field: int
    values: Values
    nulls: npt.NDArray[np.bool_] | None = None
    size: int = 0


def row_keys(columns: Sequence[KeyColumn]) -> list[bytes]:
    """The key of every row: a marker and the key of each column, NULL below all values.

    For the few rows that a short key index names: a step in Python for each.
    """
    parts = [_parts(column) for column in columns]
    return [b"".join(row) for row in zip(*parts, strict=True)]


def _parts(column: KeyColumn) -> list[bytes]:
    found = encoded(column.field, column.values)
    if isinstance(found, Fixed):
        keys = [NORMAL + one.tobytes() for one in found.data]
    else:
        stops = found.offsets[1:]
        if column.size:
            stops = np.minimum(stops, found.offsets[:-1] + column.size)
        edges = zip(found.offsets[:-1].tolist(), stops.tolist(), strict=True)
        keys = [NORMAL + found.data[start:stop].tobytes() for start, stop in edges]
    if column.nulls is None:
        return keys
    rest = iter(keys)
    return [NULL if null else next(rest) for null in column.nulls.tolist()]
