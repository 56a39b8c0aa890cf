"""The storage bytes that a value of a filter can have in a file."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import numpy as np

from rangeio.errors import RequestError
from rangeio.formats.doris import dates
from rangeio.formats.doris.types import size_of
from rangeio.formats.doris.words import FieldType
from rangeio.literal import Order

_F = FieldType
_SIGNED = frozenset(
    (
        *(_F.TINYINT, _F.SMALLINT, _F.INT, _F.BIGINT, _F.LARGEINT),
        *(_F.DECIMAL32, _F.DECIMAL64, _F.DECIMAL128I, _F.DECIMAL256),
    )
)
_UNSIGNED = frozenset((_F.UTINYINT, _F.USMALLINT, _F.UINT, _F.UBIGINT, _F.IPV4, _F.BOOL))
_BILLION = 10**9


def forms(field: int, length: int, order: Order) -> tuple[bytes, ...]:
    """The bytes of all stored values that read as this one, none where it cannot be told.

    order: the value as :mod:`rangeio.literal` has it. length: of the column's metadata. A CHAR may
    be padded or not; the first day of a month may be a zero date.
    """
    if isinstance(order, bytes):
        return _texts(field, length, order)
    if isinstance(order, float):
        return _float(field, order)
    make = _NUMBERS.get(field)
    try:
        return () if make is None else make(field, order)
    except (OverflowError, RequestError):
        return ()


def _texts(field: int, length: int, order: bytes) -> tuple[bytes, ...]:
    if field == _F.IPV6:
        return (order[::-1],)
    if field in (_F.VARCHAR, _F.STRING):
        return (order,)
    if field != _F.CHAR or b"\0" in order:
        return ()
    return tuple(dict.fromkeys((order, order.ljust(min(max(length, 0), 255), b"\0"))))


def _float(field: int, order: float) -> tuple[bytes, ...]:
    if field == _F.DOUBLE:
        return (struct.pack("<d", order),)
    if field != _F.FLOAT:
        return ()
    with np.errstate(over="ignore"):
        near = float(np.float32(order))
    return (struct.pack("<f", order),) if near == order else ()


def _integer(field: int, order: int) -> tuple[bytes, ...]:
    return (order.to_bytes(size_of(field), "little", signed=field in _SIGNED),)


def _decimal(field: int, order: int) -> tuple[bytes, ...]:
    whole, part = divmod(abs(order), _BILLION)
    sign = -1 if order < 0 else 1
    return (
        (sign * whole).to_bytes(8, "little", signed=True)
        + (sign * part).to_bytes(4, "little", signed=True),
    )


def _day(field: int, order: int) -> tuple[bytes, ...]:
    raw = dates.stored(field, np.array([order])).tobytes()
    number = int.from_bytes(raw, "little")
    return tuple(one.to_bytes(len(raw), "little") for one in _zeroed(number, 32, 16))


def _seconds(field: int, order: int) -> tuple[bytes, ...]:
    number = int.from_bytes(dates.stored(field, np.array([order])).tobytes(), "little")
    date, time = divmod(number, 10**6)
    return tuple((one * 10**6 + time).to_bytes(8, "little") for one in _zeroed(date, 100, 100))


def _microseconds(field: int, order: int) -> tuple[bytes, ...]:
    number = int.from_bytes(dates.stored(field, np.array([order])).tobytes(), "little")
    date, time = divmod(number, 1 << 37)
    return tuple(((one << 37) + time).to_bytes(8, "little") for one in _zeroed(date, 32, 16))


def _zeroed(date: int, days: int, months: int) -> list[int]:
    """The date, and where it is the first day of a month also the zero dates that read as it."""
    found = [date]
    if date % days == 1:
        found.append(date - 1)
        if date // days % months == 1:
            found += [date - days, date - days - 1]
    elif date // days % months == 1:
        found.append(date - days)
    return found


_NUMBERS: Mapping[int, Callable[[int, int], tuple[bytes, ...]]] = {
    **dict.fromkeys(_SIGNED | _UNSIGNED, _integer),
    _F.DECIMAL: _decimal,
    _F.DATE: _day,
    _F.DATEV2: _day,
    _F.DATETIME: _seconds,
    _F.DATETIMEV2: _microseconds,
    _F.TIMESTAMPTZ: _microseconds,
}
