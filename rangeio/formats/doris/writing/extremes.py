"""The least and the greatest of stored values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from rangeio.codecs.bounds import Bytes
from rangeio.formats.doris.encodings import Binary, Fixed, Values
from rangeio.formats.doris.words import FieldType
from rangeio.formats.doris.writing.dictionary import as_arrow

_F = FieldType
SIGNED = frozenset(
    {
        *(_F.TINYINT, _F.SMALLINT, _F.INT, _F.BIGINT, _F.LARGEINT, _F.DATETIME),
        *(_F.DECIMAL32, _F.DECIMAL64, _F.DECIMAL128I, _F.DECIMAL256),
    }
)
FLOATS: Mapping[FieldType, np.dtype[np.floating[Any]]] = {
    _F.FLOAT: np.dtype("<f4"),
    _F.DOUBLE: np.dtype("<f8"),
    _F.TIMEV2: np.dtype("<f8"),
}

Numbers = Sequence["np.ndarray[tuple[int], np.dtype[Any]]"]


def extremes(field: FieldType, values: Values) -> tuple[bytes, bytes] | None:
    """The stored bytes of the least and the greatest value; None where there are none.

    Floats must be finite.
    """
    if not len(values):
        return None
    if isinstance(values, Binary):
        found = pc.min_max(as_arrow(values))
        return found["min"].as_py(), found["max"].as_py()
    parts = _parts(field, values)
    least, greatest = _first(parts, np.min), _first(parts, np.max)
    return values.data[least].tobytes(), values.data[greatest].tobytes()


def _first(parts: Numbers, pick: Any) -> int:
    """Where the least or greatest value is, by its parts from the most significant down."""
    at = np.arange(len(parts[0]))
    for one in parts:
        some = one[at]
        at = at[some == pick(some)]
        if len(at) == 1:
            break
    return int(at[0])


def _parts(field: FieldType, values: Fixed) -> Numbers:
    """The values as numbers that compare as they do, the most significant part first."""
    data = np.ascontiguousarray(values.data)
    size = data.shape[1]
    if field in FLOATS:
        return [data.view(FLOATS[field]).ravel()]
    if field is FieldType.DECIMAL:
        return [_number(data, 0, 8, "<i8"), _number(data, 8, 12, "<i4")]
    if size == 3:
        wide = np.zeros((len(data), 4), np.uint8)
        wide[:, :3] = data
        return [wide.view("<u4").ravel()]
    sign = "i" if field in SIGNED else "u"
    if size <= 8:
        return [data.view(f"<{sign}{size}").ravel()]
    parts = [_number(data, at, at + 8, "<u8") for at in range(size - 16, -1, -8)]
    return [_number(data, size - 8, size, f"<{sign}8"), *parts]


def _number(data: Bytes, start: int, stop: int, kind: str) -> np.ndarray[tuple[int], np.dtype[Any]]:
    return np.ascontiguousarray(data[:, start:stop]).view(kind).ravel()
