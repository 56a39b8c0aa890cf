"""Doris' field types and Arrow's, both ways."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from rangeio.errors import Corrupt, RequestError, Unsupported
from rangeio.formats.doris.words import FieldType, worded
from rangeio.literal import is_binary, is_string, plain

METADATA_TYPE = b"doris.type"
"""Key of an Arrow field's metadata that names its Doris type where the Arrow type does not."""

_F = FieldType
_SIZES: Mapping[int, int] = {
    **dict.fromkeys((_F.TINYINT, _F.UTINYINT, _F.BOOL), 1),
    **dict.fromkeys((_F.SMALLINT, _F.USMALLINT), 2),
    _F.DATE: 3,
    **dict.fromkeys((_F.INT, _F.UINT, _F.FLOAT, _F.DATEV2, _F.DECIMAL32, _F.IPV4), 4),
    **dict.fromkeys((_F.BIGINT, _F.UBIGINT, _F.DOUBLE, _F.DISCRETE_DOUBLE, _F.DATETIME), 8),
    **dict.fromkeys((_F.DATETIMEV2, _F.TIMESTAMPTZ, _F.TIMEV2, _F.DECIMAL64), 8),
    _F.DECIMAL: 12,
    **dict.fromkeys((_F.LARGEINT, _F.DECIMAL128I, _F.IPV6), 16),
    _F.DECIMAL256: 32,
}
_TEXTS = frozenset((_F.CHAR, _F.VARCHAR, _F.STRING))
_NESTED = frozenset((_F.STRUCT, _F.ARRAY, _F.MAP))
_PLAIN: Mapping[int, pa.DataType] = {
    _F.TINYINT: pa.int8(),
    _F.UTINYINT: pa.uint8(),
    _F.SMALLINT: pa.int16(),
    _F.USMALLINT: pa.uint16(),
    _F.INT: pa.int32(),
    _F.UINT: pa.uint32(),
    _F.BIGINT: pa.int64(),
    _F.UBIGINT: pa.uint64(),
    _F.LARGEINT: pa.decimal256(39, 0),  # 2^127 has 39 digits, decimal128 holds 38
    _F.FLOAT: pa.float32(),
    _F.DOUBLE: pa.float64(),
    _F.DISCRETE_DOUBLE: pa.float64(),
    _F.BOOL: pa.bool_(),
    _F.DATE: pa.date32(),
    _F.DATEV2: pa.date32(),
    _F.DATETIME: pa.timestamp("s"),
    _F.DATETIMEV2: pa.timestamp("us"),
    _F.TIMESTAMPTZ: pa.timestamp("us", "UTC"),
    _F.TIMEV2: pa.float64(),
    _F.DECIMAL: pa.decimal128(27, 9),
    _F.IPV4: pa.uint32(),
    _F.IPV6: pa.binary(16),
    **dict.fromkeys(_TEXTS, pa.string()),
}
_DIGITS: Mapping[int, int] = {
    _F.DECIMAL32: 9,
    _F.DECIMAL64: 18,
    _F.DECIMAL128I: 38,
    _F.DECIMAL256: 76,
}
"""The most digits of the decimals that say their own."""

_LARGEST = 2_147_483_647
_SIZED: Mapping[int, tuple[int, int]] = {_F.CHAR: (0, 255), _F.VARCHAR: (2, 65_533)}
"""Of text with a size: how much more Doris counts as its length, and the largest size."""
_NUMBERS = frozenset(map(int, FieldType))
_UNNAMED = frozenset((_F.VARIANT, _F.AGG_STATE, *_NESTED))
_LENGTHS: Mapping[int, int] = dict.fromkeys(_NESTED, 65_535)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a column's metadata says of its type.

    precision, frac: digits, and those after the point, of a decimal; frac: of a time too. length:
    as Doris counts it: bytes of a value, and for strings the most of them and of their own length.
    """

    field: FieldType
    precision: int = 0
    frac: int = 0
    length: int = 0


def size_of(field: int) -> int:
    """Bytes of a value; 0 where that varies, as it does for what is not known. Nested: Corrupt."""
    if field in _NESTED:
        raise Corrupt(f"a page of values in a column of type {worded(FieldType, field)}")
    return _SIZES.get(field, 0)


def is_text(field: int) -> bool:
    """Whether the values are text."""
    return field in _TEXTS


def arrow_type(field: int, precision: int = 0, frac: int = 0) -> pa.DataType:
    """The Arrow type of a scalar field; it never depends on values.

    What is opaque to us, and what is not known, is binary: its pages tell whether that is true.
    Raises Corrupt for decimals of impossible digits, Unsupported for what has no values.
    """
    found = _PLAIN.get(field)
    if found is not None:
        return found
    if field in _DIGITS:
        return _decimal(field, precision, frac)
    if field in _NESTED or field in (_F.NONE, _F.UNKNOWN):
        raise Unsupported(f"the type {worded(FieldType, field)} has no values of its own")
    return pa.binary()


def _decimal(field: int, precision: int, frac: int) -> pa.DataType:
    if not 0 < precision <= _DIGITS[field] or not 0 <= frac <= precision:
        name = worded(FieldType, field)
        raise Corrupt(f"a {name} of {precision} digits, {frac} of them after the point")
    return (pa.decimal256 if field == _F.DECIMAL256 else pa.decimal128)(precision, frac)


def metadata(field: int, precision: int = 0, frac: int = 0, length: int = 0) -> dict[bytes, bytes]:
    """What an Arrow field's metadata must say so that :func:`field_of` finds this type again."""
    if field in _UNNAMED or field not in _NUMBERS:
        return {}
    if field_of(arrow_type(field, precision, frac)).field == field:
        return {}
    word = FieldType(field).name
    if field in _SIZED:
        overhead, most = _SIZED[field]
        if 0 < length - overhead <= most:
            word = f"{word}({length - overhead})"
        elif field == _F.CHAR:  # which has no type without its size
            return {}
    return {METADATA_TYPE: word.encode()}


# ---- from Arrow ----------------------------------------------------------------------------------


def field_of(kind: pa.DataType, word: bytes | str = b"") -> Declared:
    """The Doris type for values of an Arrow type, encodings and extensions taken off.

    word: the Doris type by name, as in ``LARGEINT``, ``CHAR(10)``; it must be able to hold the
    values. Without one: text is STRING, bytes are BITMAP (which Doris' own indexes use for bytes of
    any kind, as it has no type for them), times are DATETIMEV2 or, with a zone, TIMESTAMPTZ.
    Raises RequestError for what has no Doris type.
    """
    kind = plain(kind)
    if word:
        return _forced(kind, word if isinstance(word, str) else word.decode(errors="replace"))
    if pa.types.is_decimal(kind):
        return _decimal_of(kind, _narrowest(kind))
    found = _default(kind)
    if found is None:
        raise RequestError(f"Doris has no type for values of {kind}")
    frac = _FRACTIONS[kind.unit] if pa.types.is_timestamp(kind) else 0
    return Declared(found, frac=frac, length=_length(found))


_BY_KIND: Mapping[pa.DataType, FieldType] = {
    pa.bool_(): _F.BOOL,
    pa.int8(): _F.TINYINT,
    pa.uint8(): _F.UTINYINT,
    pa.int16(): _F.SMALLINT,
    pa.uint16(): _F.USMALLINT,
    pa.int32(): _F.INT,
    pa.uint32(): _F.UINT,
    pa.int64(): _F.BIGINT,
    pa.uint64(): _F.UBIGINT,
    pa.float16(): _F.FLOAT,
    pa.float32(): _F.FLOAT,
    pa.float64(): _F.DOUBLE,
    pa.date32(): _F.DATEV2,
    pa.date64(): _F.DATEV2,
}
_FRACTIONS = {"s": 0, "ms": 3, "us": 6, "ns": 6}


def _default(kind: pa.DataType) -> FieldType | None:
    if is_string(kind):
        return _F.STRING
    if is_binary(kind):
        return _F.BITMAP
    if pa.types.is_timestamp(kind):
        return _F.DATETIMEV2 if kind.tz is None else _F.TIMESTAMPTZ
    if pa.types.is_map(kind):
        return _F.MAP
    if pa.types.is_struct(kind):
        return _F.STRUCT
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return _F.ARRAY
    return _BY_KIND.get(kind)


def _length(field: FieldType) -> int:
    if field in _SIZES:
        return _SIZES[field]
    return _LENGTHS.get(field, _LARGEST)


def _narrowest(kind: pa.DataType) -> FieldType:
    if kind.bit_width > 128:
        return _F.DECIMAL256
    fits = (field for field, digits in _DIGITS.items() if kind.precision <= digits)
    return FieldType(next(fits))


def _decimal_of(kind: pa.DataType, field: FieldType) -> Declared:
    if not 0 <= kind.scale <= kind.precision <= _DIGITS[field]:
        raise RequestError(f"a {field.name} of Doris cannot hold {kind}")
    return Declared(field, kind.precision, kind.scale, _SIZES[field])


# ---- by name -------------------------------------------------------------------------------------

_WORD = re.compile(r"([A-Z0-9_]+)(?:\((\d{1,10})\))?")
_INTEGERS = (_F.TINYINT, _F.SMALLINT, _F.INT, _F.BIGINT)
_UNSIGNED = (_F.UTINYINT, _F.USMALLINT, _F.UINT, _F.UBIGINT)


def _forced(kind: pa.DataType, word: str) -> Declared:
    match = _WORD.fullmatch(word.strip().upper())
    if match is None or match[1] not in FieldType.__members__:
        raise RequestError(f"doris.type {word!r} names no type of Doris")
    field = FieldType[match[1]]
    if field in _TEXTS or (match[2] is not None):
        return _sized(kind, field, word, None if match[2] is None else int(match[2]))
    if not _holds(field, kind):
        raise RequestError(f"a {field.name} of Doris cannot hold {kind}")
    if field in _DIGITS:
        return _decimal_of(kind, field)
    precision, frac = (27, 9) if field == _F.DECIMAL else (0, 0)
    if field in (_F.DATETIMEV2, _F.TIMESTAMPTZ):
        frac = _FRACTIONS[kind.unit]
    return Declared(field, precision, frac, _length(field))


def _sized(kind: pa.DataType, field: FieldType, word: str, size: int | None) -> Declared:
    """CHAR, VARCHAR and STRING, the first two with their size."""
    if field not in _TEXTS or (field == _F.STRING and size is not None):
        raise RequestError(f"doris.type {word!r} takes no size")
    if not is_string(kind):
        raise RequestError(f"a {field.name} of Doris cannot hold {kind}")
    if field == _F.STRING:
        return Declared(field, length=_LARGEST)
    if field == _F.CHAR and size is None:
        raise RequestError("doris.type CHAR needs its size, as in CHAR(10)")
    overhead, most = _SIZED[field]
    size = most if size is None else size
    if not 0 < size <= most:
        raise RequestError(f"doris.type {word!r}: the size is 1 to {most}")
    return Declared(field, length=size + overhead)


def _holds(field: FieldType, kind: pa.DataType) -> bool:
    """Whether the type holds every value, or says where one does not fit."""
    decimal = pa.types.is_decimal(kind)
    if field in _DIGITS:
        return bool(decimal)
    if field == _F.DECIMAL:
        return bool(decimal) and kind.scale <= 9 and kind.precision - kind.scale <= 18
    if field == _F.LARGEINT:
        return bool(decimal) and kind.scale == 0 and kind.precision <= 39
    if field in (_F.DATETIME, _F.DATETIMEV2, _F.TIMESTAMPTZ):
        aware = field == _F.TIMESTAMPTZ
        return bool(pa.types.is_timestamp(kind)) and (kind.tz is not None) == aware
    if field == _F.IPV6:
        return bool(kind == pa.binary(16))
    if field in (_F.JSONB, _F.HLL, _F.BITMAP, _F.QUANTILE_STATE, _F.VARIANT):
        return is_binary(kind)
    if field in (_F.DATE, _F.DATEV2):
        return bool(pa.types.is_date(kind))
    if field in _NESTED:
        return _default(kind) == field
    return bool(_PLAIN.get(field) == kind) or (field == _F.FLOAT and bool(kind == pa.float16()))
