"""A word of the command line as a value that compares with a column's type."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.errors import BadFilter
from rangeio.literal import plain
from rangeio.schema import Column

_SPAN = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?)\s*(ns|us|ms|s|m|h|d)")
_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86_400 * 10**9,
}
_MOST_DIGITS = 1000


def value_of(text: str, column: Column) -> object:
    """The value that ``text`` writes for the column's type; BadFilter where it writes none.

    A time without an offset is one of the column's own time zone.
    """
    kind = plain(column.type)
    for fits, make, form in _MAKERS:
        if fits(kind):
            try:
                return make(text, kind)
            except (ValueError, LookupError, ArithmeticError, pa.ArrowException):
                raise BadFilter(
                    f"{text[:80]!r} is no value of column {column.id.name!r}, which is {kind}; "
                    f"write {form}"
                ) from None
    return text


def _boolean(text: str, _: pa.DataType) -> object:
    return {"true": True, "false": False}[text.lower()]


def _number(text: str, _: pa.DataType) -> object:
    if len(text) > _MOST_DIGITS:
        raise ValueError
    try:
        return int(text)
    except ValueError:
        number = Decimal(text)
        return number if number.is_finite() else float(number)


def _floating(text: str, _: pa.DataType) -> object:
    return float(text)


def _instant(text: str, kind: pa.DataType) -> object:
    """A date or a time of a date; as precise as its digits."""
    for unit in ("ns", "us", "s"):
        zoned = _cast(text, pa.timestamp(unit, "UTC"))
        if zoned is not None:
            return zoned
        local = _cast(text, pa.timestamp(unit))
        if local is not None:
            aware = pa.types.is_timestamp(kind) and kind.tz is not None
            return pc.assume_timezone(local, kind.tz) if aware else local
    raise ValueError(text)


def _time(text: str, _: pa.DataType) -> object:
    found = _cast(f"1970-01-01 {text}", pa.timestamp("ns"))
    if found is None:
        raise ValueError(text)
    return pa.scalar(found.value, pa.time64("ns"))


def _span(text: str, _: pa.DataType) -> object:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return pa.scalar(int(Decimal(found[1]) * _NANOSECONDS[found[2]]), pa.duration("ns"))


def _cast(text: str, kind: pa.DataType) -> pa.Scalar | None:
    try:
        return pa.scalar(text).cast(kind)
    except pa.ArrowInvalid:
        return None


def _dated(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def _counted(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))


_Maker = tuple[Callable[[pa.DataType], bool], Callable[[str, pa.DataType], object], str]
_MAKERS: tuple[_Maker, ...] = (
    (pa.types.is_boolean, _boolean, "true or false"),
    (_counted, _number, "a number"),
    (pa.types.is_floating, _floating, "a number"),
    (_dated, _instant, "2024-01-31 or 2024-01-31T12:00:00Z"),
    (pa.types.is_time, _time, "12:00:00"),
    (pa.types.is_duration, _span, "a number and its unit: 90s, 1.5h, 250ms"),
)
