"""A value of a filter, placed among the values that a column's type can hold. Pure.

``5.5`` lies between two integers and 1000 above every int8: a comparison with either has one exact
meaning, which is found here once, so that nothing is rounded row by row.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import pyarrow as pa

Order: TypeAlias = int | float | bytes
"""What stands for a value in comparisons: integers, decimals unscaled and times in the type's own
unit as int, floats as float, strings and binaries as bytes."""

_DAY = 86_400 * 10**9
_NANOSECONDS = {"D": _DAY, "h": 3600 * 10**9, "m": 60 * 10**9} | {
    "s": 10**9,
    "ms": 10**6,
    "us": 10**3,
    "ns": 1,
}
_EPOCH = dt.datetime(1970, 1, 1)


class UnfitError(ValueError):
    """The value means nothing in comparison with the type."""


@dataclass(frozen=True, slots=True)
class Literal:
    """The values of a type next to one that was asked for.

    below: the greatest that is not above it; above: the least that is not below it; None where
    there is none. Both are equal where the type holds the value exactly. nan: it is not a number.
    """

    below: Order | None
    above: Order | None
    nan: bool = False

    @property
    def exact(self) -> bool:
        """Whether the type can hold the value."""
        return self.below is not None and self.below == self.above


@dataclass(frozen=True, slots=True)
class Instant:
    """A point or span of time. aware: it names its time zone; None: it has none to name."""

    kind: str
    nanoseconds: int
    aware: bool | None = None


def plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values themselves, encodings and extensions taken off."""
    while True:
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        elif isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        else:
            return kind


def missing(value: object) -> bool:
    """Whether the value is a null: None, NaT, pandas' NA, a null scalar. NaN is not."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, pa.Scalar):
        return not value.is_valid
    return isinstance(value, (np.datetime64, np.timedelta64)) and bool(np.isnat(value))


def place(value: object, kind: pa.DataType) -> Literal:
    """Where ``value`` lies among the values of ``kind`` (a plain type). Raises UnfitError."""
    value = _python(value)
    if pa.types.is_boolean(kind):
        return _exactly(int(value)) if isinstance(value, bool) else _unfit(value, kind)
    if pa.types.is_integer(kind):
        low = 0 if pa.types.is_unsigned_integer(kind) else -(1 << (kind.bit_width - 1))
        return _stepped(_number(value, kind), low, low + (1 << kind.bit_width) - 1)
    if pa.types.is_floating(kind):
        if isinstance(value, float) and not math.isnan(value):
            return _exactly(value)  # as it is: a fraction has no -0.0
        return _floating(_number(value, kind))
    if pa.types.is_decimal(kind):
        most = 10**kind.precision - 1
        return _stepped(_number(value, kind), -most, most, Fraction(10) ** kind.scale)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _timed(value, kind)
    return _text(value, kind)


def order_of(value: object, kind: pa.DataType) -> Order | None:
    """What stands for a statistics' bound of a column of ``kind`` (plain); None where unusable.

    Takes a scalar, a Python value, the raw integer of a time, or the bytes of a string, which
    need not be whole characters.
    """
    if value is None:
        return None
    if isinstance(value, bytes) and is_string(kind):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and pa.types.is_temporal(kind):
        return value
    try:
        found = place(value, kind)
    except UnfitError:
        return None
    return found.below if found.exact and not found.nan else None


def scalar_of(order: Order, kind: pa.DataType) -> pa.Scalar:
    """The Arrow scalar that ``order`` stands for. Floats come as float64."""
    if isinstance(order, bytes):
        return pa.scalar(order.decode() if is_string(kind) else order, _unviewed(kind))
    if isinstance(order, float):
        return pa.scalar(order, pa.float64())
    if pa.types.is_decimal(kind):
        digits = tuple(map(int, str(abs(order))))
        return pa.scalar(Decimal((int(order < 0), digits, -kind.scale)), compared(kind))
    return pa.scalar(bool(order) if pa.types.is_boolean(kind) else order, kind)


def array_of(orders: Sequence[Order], kind: pa.DataType, nan: bool = False) -> pa.Array:
    """The Arrow array that the orders stand for, of the type that :func:`compared` says."""
    if pa.types.is_floating(kind):
        return pa.array([*orders, math.nan] if nan else orders, compared(kind))
    if pa.types.is_temporal(kind) or pa.types.is_integer(kind):
        return pa.array(orders, kind)
    return pa.array([scalar_of(order, kind).as_py() for order in orders], compared(kind))


def rounded(order: Order, kind: pa.DataType) -> Order:
    """The value as Arrow puts it into a list of values: floats in the precision of the type."""
    if not isinstance(order, float) or pa.types.is_float64(kind):
        return order
    with np.errstate(over="ignore"):
        return float((np.float32 if pa.types.is_float32(kind) else np.float16)(order))


def compared(kind: pa.DataType) -> pa.DataType:
    """The type as which Arrow compares values of ``kind`` (plain): it lacks kernels for some."""
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return _unviewed(kind)


def _unviewed(kind: pa.DataType) -> pa.DataType:
    if kind == pa.string_view():
        return pa.large_string()
    if kind == pa.binary_view() or pa.types.is_fixed_size_binary(kind):
        return pa.large_binary()
    return kind


def legible(bound: Any, kind: pa.DataType) -> Any:
    """A bound as people read it: a scalar of a temporal type, text where it is some."""
    if isinstance(bound, int) and pa.types.is_temporal(kind):
        return pa.scalar(bound, kind)
    if isinstance(bound, bytes) and is_string(kind):
        try:
            return bound.decode()
        except UnicodeDecodeError:
            return bound
    return bound


def is_string(kind: pa.DataType) -> bool:
    """Whether values of the type are text."""
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def is_binary(kind: pa.DataType) -> bool:
    """Whether values of the type are bytes, of one size or not."""
    sized = bool(pa.types.is_fixed_size_binary(kind))
    return sized or kind in (pa.binary(), pa.large_binary(), pa.binary_view())


def _unfit(value: object, kind: pa.DataType, why: str = "") -> Literal:
    raise UnfitError(why or f"{type(value).__name__} {value!r} does not compare with {kind}")


def _exactly(order: Order) -> Literal:
    return Literal(order, order)


# ---- numbers -----------------------------------------------------------------------------------


def _number(value: object, kind: pa.DataType) -> Fraction | float:
    """An exact number, or one of the floats that no fraction is. A float on a decimal column
    means the digits that it prints."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        _unfit(value, kind)
    assert isinstance(value, (int, float, Decimal))
    if not isinstance(value, int) and not math.isfinite(value):
        return math.nan if math.isnan(value) else math.copysign(math.inf, value)
    if isinstance(value, float):
        return Fraction(repr(value)) if pa.types.is_decimal(kind) else Fraction(value)
    if isinstance(value, Decimal):
        if abs(value.adjusted()) > 1000:  # its fraction would be a number of that many digits
            return math.copysign(math.inf, value) if value.adjusted() > 0 else Fraction(0)
        return Fraction(float(value)) if pa.types.is_floating(kind) else Fraction(value)
    return Fraction(value)


def _stepped(number: Fraction | float, low: int, high: int, steps: Fraction | int = 1) -> Literal:
    """Between whole multiples ``low..high`` of a step, ``steps`` of which make one."""
    if isinstance(number, float):
        if math.isnan(number):
            return Literal(None, None, nan=True)
        return Literal(high, None) if number > 0 else Literal(None, low)
    floor, ceil = math.floor(number * steps), math.ceil(number * steps)
    return Literal(
        min(floor, high) if floor >= low else None, max(ceil, low) if ceil <= high else None
    )


def _floating(number: Fraction | float) -> Literal:
    if isinstance(number, float):
        return Literal(None, None, nan=True) if math.isnan(number) else _exactly(number)
    try:
        near = float(number)
    except OverflowError:
        near = math.inf if number > 0 else -math.inf
    if near == number:
        return _exactly(near)
    if near > number:
        return Literal(math.nextafter(near, -math.inf), near)
    return Literal(near, math.nextafter(near, math.inf))


# ---- text and bytes ----------------------------------------------------------------------------


def _text(value: object, kind: pa.DataType) -> Literal:
    if isinstance(value, str) and (is_string(kind) or is_binary(kind)):
        try:
            return _exactly(value.encode())
        except UnicodeEncodeError:
            return _unfit(value, kind)
    if isinstance(value, UUID) and kind == pa.binary(16):
        return _exactly(value.bytes)
    if isinstance(value, (bytes, bytearray, memoryview)) and is_binary(kind):
        return _exactly(bytes(value))
    return _unfit(value, kind)


# ---- time --------------------------------------------------------------------------------------


def _timed(value: object, kind: pa.DataType) -> Literal:
    """Times are compared in whole units of the type, dates in whole days."""
    instant = value if isinstance(value, Instant) else _instant(value)
    if instant is None or instant.kind != _time_kind(kind):
        return _unfit(value, kind)
    if pa.types.is_timestamp(kind) and instant.aware not in (None, kind.tz is not None):
        zone = "has no time zone" if kind.tz is None else "has a time zone"
        return _unfit(value, kind, f"{kind} {zone}, unlike the value")
    unit = 10**6 if pa.types.is_date64(kind) else _DAY
    if not pa.types.is_date(kind):
        unit = _NANOSECONDS[kind.unit]
    step = _DAY // unit if pa.types.is_date(kind) else 1
    bits = kind.bit_width - 1
    low, high = -((1 << bits) // step), ((1 << bits) - 1) // step
    found = _stepped(Fraction(instant.nanoseconds, unit * step), low, high)
    below, above = (None if o is None else int(o) * step for o in (found.below, found.above))
    return Literal(below, above)


def _time_kind(kind: pa.DataType) -> str:
    if pa.types.is_time(kind):
        return "time"
    return "duration" if pa.types.is_duration(kind) else "point"


def _python(value: object) -> object:
    """A numpy or Arrow scalar as a Python value, times as an Instant that keeps nanoseconds."""
    if isinstance(value, pa.Scalar):
        kind = value.type
        if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
            unit = _DAY if pa.types.is_date32(kind) else 10**6
            unit = unit if pa.types.is_date(kind) else _NANOSECONDS[kind.unit]
            aware = kind.tz is not None if pa.types.is_timestamp(kind) else None
            return Instant(_time_kind(kind), value.value * unit, aware)
        return _python(value.as_py())
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return _numpy_instant(value)
    return value.item() if isinstance(value, np.generic) else value


def _numpy_instant(value: np.datetime64 | np.timedelta64) -> Instant:
    kind, aware = ("point", False) if isinstance(value, np.datetime64) else ("duration", None)
    unit, count = np.datetime_data(value.dtype)
    if unit in ("Y", "M", "W") and (unit == "W" or kind == "point"):
        value, unit, count = value.astype(value.dtype.str[:3] + "[D]"), "D", 1
        aware = None
    if unit not in _NANOSECONDS:
        raise UnfitError(f"a time in units of {unit!r} cannot be compared")
    return Instant(
        kind,
        int(value.astype(np.int64)) * count * _NANOSECONDS[unit],
        None if unit == "D" else aware,
    )


def _instant(value: object) -> Instant | None:
    """The instant of a value of datetime, or of pandas' heirs of them, which know nanoseconds."""
    nanoseconds = int(getattr(value, "nanosecond", 0))
    if isinstance(value, dt.datetime):
        aware = value.utcoffset() is not None
        offset = value.utcoffset() or dt.timedelta()
        at = dt.datetime(*value.timetuple()[:6], value.microsecond)
        return Instant("point", _nanoseconds(at - _EPOCH - offset) + nanoseconds, aware)
    if isinstance(value, dt.date):
        return Instant("point", (value - _EPOCH.date()).days * _DAY)
    if isinstance(value, dt.timedelta):
        return Instant("duration", _nanoseconds(value) + int(getattr(value, "nanoseconds", 0)))
    if isinstance(value, dt.time) and value.tzinfo is None:
        at = dt.datetime.combine(_EPOCH, value)
        return Instant("time", _nanoseconds(at - _EPOCH))
    return None


def _nanoseconds(span: dt.timedelta) -> int:
    return ((span.days * 86_400 + span.seconds) * 10**6 + span.microseconds) * 1000
