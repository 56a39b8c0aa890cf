"""Doris' dates and times, which are numbers of their parts, and Arrow's, which count."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes
from rangeio.errors import Corrupt, RequestError
from rangeio.formats.doris.words import FieldType

Counts: TypeAlias = npt.NDArray[np.int64]
Parts: TypeAlias = tuple[Counts, Counts]
"""Days since 1970, and microseconds of the day."""

_YEARS = 10_000
_EPOCH = 1970 * 12
_DAY = 86_400_000_000


def counts(field: int, data: Bytes) -> Counts:
    """The stored values, of shape (count, size), as Arrow counts them: days of DATE and DATEV2,
    seconds of DATETIME, microseconds of DATETIMEV2 and TIMESTAMPTZ; the caller's own.

    Doris stores the zero date, whose month or day is 0; Arrow has none, so that it becomes the
    first day of what it names, which keeps the order. Raises Corrupt for other parts that make no
    date or time.
    """
    if field == FieldType.DATE:
        return _packed_days(_three_bytes(data))
    if field == FieldType.DATEV2:
        return _packed_days(data.view("<u4")[:, 0].astype(np.int64))
    if field == FieldType.DATETIME:
        return _decimal_seconds(data.view("<i8")[:, 0])
    return _packed_microseconds(data.view("<u8")[:, 0])


def stored(field: int, values: Counts) -> Bytes:
    """The opposite of :func:`counts`; RequestError for years outside 0 to 9999."""
    return _STORED[field](values)


# ---- days ----------------------------------------------------------------------------------------


@functools.cache
def _months() -> Counts:
    """The day on which each month from the year 0 on begins; one more than there are."""
    months = np.arange(-_EPOCH, _YEARS * 12 - _EPOCH + 1).astype("datetime64[M]")
    starts = months.astype("datetime64[D]").astype(np.int64)
    starts.flags.writeable = False
    return starts


def days(year: Counts, month: Counts, day: Counts) -> Counts:
    """The days of dates, whose month and day may be 0; Corrupt for other impossible ones."""
    month, day = np.maximum(month, 1), np.maximum(day, 1)
    at = np.where(month > 12, -1, year * 12 + month - 1)
    _check((at >= 0) & (at < _YEARS * 12), "month")
    starts = _months()
    first = starts[at]
    _check(day <= starts[at + 1] - first, "day")
    return first + (day - 1)


def _check(good: npt.NDArray[np.bool_], what: str) -> None:
    if not good.all():
        raise Corrupt(f"value {int(np.argmin(good))} is a date or time of an impossible {what}")


def civil(of: Counts) -> tuple[Counts, Counts, Counts]:
    """Year, month and day of days; RequestError for years outside 0 to 9999."""
    starts = _months()
    if len(of) and not starts[0] <= int(of.min()) <= int(of.max()) < starts[-1]:
        raise RequestError("Doris has dates of the years 0 to 9999 only")
    months = (of - starts[0]) * 4800 // 146_097  # of 400 years; never more than one away
    months -= starts[months] > of
    months += starts[months + 1] <= of
    year = months // 12
    return year, months - year * 12 + 1, of - starts[months] + 1


def _packed_days(packed: Counts) -> Counts:
    return days(packed >> 9, packed >> 5 & 15, packed & 31)


def _packed(of: Counts) -> Counts:
    year, month, day = civil(of)
    return year << 9 | month << 5 | day


def _three_bytes(data: Bytes) -> Counts:
    low, middle, high = (data[:, k].astype(np.int64) for k in range(3))
    return low | middle << 8 | high << 16


def _dates(of: Counts) -> Bytes:
    return np.ascontiguousarray(_raw(_packed(of), "<u4")[:, :3])


def _dates_v2(of: Counts) -> Bytes:
    return _raw(_packed(of), "<u4")


# ---- times ---------------------------------------------------------------------------------------


def _decimal_seconds(value: Counts) -> Counts:
    """Of numbers whose decimal digits are YYYYMMDDhhmmss."""
    _check((value >= 0) & (value < _YEARS * 10**10), "year")
    date, time = np.divmod(value, 1_000_000)
    found = days(date // 10_000, date // 100 % 100, date % 100)
    return found * 86_400 + _seconds(time // 10_000, time // 100 % 100, time % 100)


def _seconds(hour: Counts, minute: Counts, second: Counts) -> Counts:
    _check((hour < 24) & (minute < 60) & (second < 60), "time of day")
    return (hour * 60 + minute) * 60 + second


def _packed_microseconds(packed: npt.NDArray[np.uint64]) -> Counts:
    _check(packed < np.uint64(_YEARS << 46), "year")
    value = packed.astype(np.int64)
    found = days(value >> 46, value >> 42 & 15, value >> 37 & 31)
    micros = value & 0xFFFFF
    _check(micros < 1_000_000, "fraction")
    seconds = _seconds(value >> 32 & 31, value >> 26 & 63, value >> 20 & 63)
    return (found * 86_400 + seconds) * 1_000_000 + micros


def _split(seconds: Counts) -> tuple[Counts, Counts, Counts, Counts]:
    """Days, hours, minutes and seconds."""
    whole, rest = np.divmod(seconds, 86_400)
    return whole, rest // 3600, rest // 60 % 60, rest % 60


def _datetimes(seconds: Counts) -> Bytes:
    whole, hour, minute, second = _split(seconds)
    year, month, day = civil(whole)
    date = (year * 100 + month) * 100 + day
    return _raw(((date * 100 + hour) * 100 + minute) * 100 + second, "<i8")


def _datetimes_v2(micros: Counts) -> Bytes:
    seconds, fraction = np.divmod(micros, 1_000_000)
    whole, hour, minute, second = _split(seconds)
    time = hour << 32 | minute << 26 | second << 20 | fraction
    return _raw(_packed(whole) << 37 | time, "<i8")


def _raw(values: Counts, dtype: str) -> Bytes:
    words = values.astype(dtype)
    return words.view(np.uint8).reshape(len(values), words.itemsize)


_STORED: Mapping[int, Callable[[Counts], Bytes]] = {
    FieldType.DATE: _dates,
    FieldType.DATEV2: _dates_v2,
    FieldType.DATETIME: _datetimes,
    FieldType.DATETIMEV2: _datetimes_v2,
    FieldType.TIMESTAMPTZ: _datetimes_v2,
}
