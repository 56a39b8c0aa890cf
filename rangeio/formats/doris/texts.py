"""The text that zone maps have of values, and what it means in the column's Arrow type."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from rangeio.errors import FormatError
from rangeio.formats.doris import dates
from rangeio.formats.doris.words import FieldType

MOST = 512
"""Bytes of a text; strings are cut to them, and a ``max`` of so many has its last byte counted
up."""

_F = FieldType
_SIGNED = (_F.TINYINT, _F.SMALLINT, _F.INT, _F.BIGINT, _F.LARGEINT)
_UNSIGNED = (_F.UTINYINT, _F.USMALLINT, _F.UINT, _F.UBIGINT)
_BITS: Mapping[int, int] = {
    **{field: 8 << k for k, field in enumerate(_SIGNED)},
    **{field: 8 << k for k, field in enumerate(_UNSIGNED)},
}
_DECIMALS = (_F.DECIMAL32, _F.DECIMAL64, _F.DECIMAL128I, _F.DECIMAL256)
_DATES = (_F.DATE, _F.DATEV2)
_DATETIMES = (_F.DATETIME, _F.DATETIMEV2, _F.TIMESTAMPTZ)
_TEXTS = (_F.CHAR, _F.VARCHAR, _F.STRING)
_BILLION = 10**9
_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Bounds:
    """Both ends of a zone map as :class:`rangeio.statistics.Statistics` takes them; None is
    unknown. exact: whether the end is a value."""

    min: Any = None
    max: Any = None
    min_exact: bool = True
    max_exact: bool = True


def is_mapped(field: int) -> bool:
    """Whether zone maps know values of the type."""
    return field in _WRITERS


def text(field: int, frac: int, raw: bytes) -> bytes:
    """The text of a value from its storage bytes; strings whole. Only where :func:`is_mapped`."""
    return _WRITERS[field](field, raw)


def parsed(field: int, precision: int, frac: int, raw: bytes) -> Any:
    """The value of a text, as statistics are compared: integers, floats, decimals and booleans as
    Python has them, times as Arrow counts them, text as bytes. None where it says nothing.

    Of floats it is only near: what writers of several years rounded is not known exactly.
    """
    if field in _TEXTS:
        return raw.split(b"\0", 1)[0] if field == _F.CHAR else raw
    read = _READERS.get(field)
    if read is None or len(raw) > MOST:
        return None
    try:
        return read(field, precision, frac, raw.decode("ascii"))
    except (ValueError, ArithmeticError, FormatError):
        return None


def bounds(field: int, precision: int, frac: int, low: bytes, high: bytes) -> Bounds:
    """Both ends of a zone map, never narrower than the values; None where one says nothing."""
    if field in _TEXTS:
        return _text_bounds(field, low, high)
    least, most = (parsed(field, precision, frac, one) for one in (low, high))
    if field in _FLOATS:
        below, above = _slack(field, low, least), _slack(field, high, most)
        least = None if least is None else _beside(field, least - below, -math.inf)
        most = None if most is None else _beside(field, most + above, math.inf)
        return _ordered(least, most, exact=False)
    return _ordered(least, most, exact=True)


def _ordered(least: Any, most: Any, *, exact: bool) -> Bounds:
    if least is not None and most is not None and least > most:
        return Bounds()
    return Bounds(least, most, exact, exact)


def _text_bounds(field: int, low: bytes, high: bytes) -> Bounds:
    """A ``max`` of 512 bytes was counted up: from 255 on to 0, so that one bounds nothing."""
    least = parsed(field, 0, 0, low)
    most = None if len(high) >= MOST and high[-1] == 0 else parsed(field, 0, 0, high)
    if most is not None and least > most:
        return Bounds()
    return Bounds(least, most, len(low) < MOST, len(high) < MOST)


# ---- floats --------------------------------------------------------------------------------------

_FLOATS: Mapping[int, type[np.floating]] = {
    _F.FLOAT: np.float32,
    _F.DOUBLE: np.float64,
    _F.DISCRETE_DOUBLE: np.float64,
    _F.TIMEV2: np.float64,
}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_SIX_DIGITS = re.compile(rb"[+-]?\d+\.\d{6}")


def _float(field: int, precision: int, frac: int, said: str) -> float | None:
    if _NUMBER.fullmatch(said) is None:
        return None
    with np.errstate(over="ignore"):
        return float(_FLOATS[field](float(said)))


def _slack(field: int, raw: bytes, value: float | None) -> float:
    """How far rounding to six digits may have taken the value; a step further goes for all."""
    return 1e-6 if value is not None and _SIX_DIGITS.fullmatch(raw) else 0.0


def _beside(field: int, value: float, toward: float) -> float:
    kind = _FLOATS[field]
    with np.errstate(over="ignore", under="ignore"):
        return float(np.nextafter(kind(value), kind(toward)))


def _float_text(field: int, raw: bytes) -> bytes:
    """The shortest digits that are this value and no other."""
    return str(np.frombuffer(raw, np.dtype(_FLOATS[field]).newbyteorder("<"))[0]).encode()


# ---- whole numbers and decimals ------------------------------------------------------------------

_WHOLE = re.compile(r"[+-]?\d+")
_POINTED = re.compile(r"([+-]?)(\d{1,18})(?:\.(\d{1,9}))?")


def _whole(said: str) -> int:
    if _WHOLE.fullmatch(said) is None:
        raise ValueError(said)
    return int(said)


def _integer(field: int, precision: int, frac: int, said: str) -> int | None:
    value, bits = _whole(said), _BITS[field]
    low = -(1 << bits - 1) if field in _SIGNED else 0
    return value if low <= value < low + (1 << bits) else None


def _flag(field: int, precision: int, frac: int, said: str) -> bool | None:
    return {"0": False, "1": True}.get(said)


def _unscaled(value: int, scale: int) -> Decimal:
    return Decimal((int(value < 0), tuple(map(int, str(abs(value)))), -scale))


def _decimal(field: int, precision: int, frac: int, said: str) -> Decimal | None:
    """Of the unscaled number."""
    value = _whole(said)
    return _unscaled(value, frac) if abs(value) < 10**precision else None


def _largeint(field: int, precision: int, frac: int, said: str) -> Decimal | None:
    value = _integer(field, precision, frac, said)
    return None if value is None else _unscaled(value, 0)


def _decimal_v2(field: int, precision: int, frac: int, said: str) -> Decimal | None:
    match = _POINTED.fullmatch(said)
    if match is None:
        return None
    value = int(match[2]) * _BILLION + int((match[3] or "").ljust(9, "0"))
    return _unscaled(-value if match[1] == "-" else value, 9)


def _integer_text(field: int, raw: bytes) -> bytes:
    signed = field not in _UNSIGNED
    return b"%d" % int.from_bytes(raw, "little", signed=signed)


def _flag_text(field: int, raw: bytes) -> bytes:
    return b"1" if raw != b"\0" else b"0"


def _decimal_v2_text(field: int, raw: bytes) -> bytes:
    whole = int.from_bytes(raw[:8], "little", signed=True)
    part = int.from_bytes(raw[8:], "little", signed=True)
    sign = b"-" if whole < 0 or part < 0 else b""
    return b"%s%d.%09d" % (sign, abs(whole), abs(part))


# ---- times ---------------------------------------------------------------------------------------

_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})")
_TIME = re.compile(r"[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?")
_ZONE = re.compile(r" ?([+-])(\d{2}):?(\d{2})|Z| UTC")


def _day(said: re.Match[str]) -> int:
    parts = (np.array([int(part)]) for part in said.groups())
    return int(dates.days(*parts)[0])


def _date(field: int, precision: int, frac: int, said: str) -> int | None:
    match = _DATE.match(said)
    # A date may be written with its time, which then is midnight.
    if match is None or said[match.end() :] not in ("", " 00:00:00"):
        return None
    return _day(match)


def _datetime(field: int, precision: int, frac: int, said: str) -> int | None:
    date = _DATE.match(said)
    if date is None:
        return None
    at, micros = date.end(), 0
    time = _TIME.match(said, at)
    if time is not None:
        hour, minute, second = (int(time[k]) for k in (1, 2, 3))
        if hour > 23 or minute > 59 or second > 59:
            return None
        micros = ((hour * 60 + minute) * 60 + second) * 10**6 + int((time[4] or "").ljust(6, "0"))
        at = time.end()
    ahead = _ahead(said[at:]) if field == _F.TIMESTAMPTZ else (None if said[at:] else 0)
    if ahead is None:
        return None
    value = (_day(date) * _SECONDS - ahead) * 10**6 + micros
    if field != _F.DATETIME:
        return value
    return None if value % 10**6 else value // 10**6


def _ahead(zone: str) -> int | None:
    """Seconds that a zone is ahead of UTC, 0 where none is named; None for what is no zone."""
    if not zone:
        return 0
    match = _ZONE.fullmatch(zone)
    if match is None:
        return None
    seconds = 0 if match[1] is None else (int(match[2]) * 60 + int(match[3])) * 60
    return -seconds if match[1] == "-" else seconds


def _counted(field: int, raw: bytes) -> int:
    return int(dates.counts(field, np.frombuffer(raw, np.uint8).reshape(1, -1))[0])


def _time_text(field: int, raw: bytes) -> bytes:
    count = _counted(field, raw)
    if field in _DATES:
        return _civil(count)
    if field == _F.DATETIME:
        return _civil(count // _SECONDS) + _clock(count % _SECONDS)
    seconds, micros = divmod(count, 10**6)
    zone = b"+00:00" if field == _F.TIMESTAMPTZ else b""
    clock = _clock(seconds % _SECONDS)
    return _civil(seconds // _SECONDS) + clock + b".%06d" % micros + zone


def _civil(day: int) -> bytes:
    year, month, of_month = (int(part[0]) for part in dates.civil(np.array([day])))
    return b"%04d-%02d-%02d" % (year, month, of_month)


def _clock(seconds: int) -> bytes:
    return b" %02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)


# ---- addresses and text --------------------------------------------------------------------------


def _ipv4(field: int, precision: int, frac: int, said: str) -> int:
    return int(ipaddress.IPv4Address(said))


def _ipv6(field: int, precision: int, frac: int, said: str) -> bytes:
    if "%" in said:
        raise ValueError(said)
    return ipaddress.IPv6Address(said).packed


def _ipv4_text(field: int, raw: bytes) -> bytes:
    return str(ipaddress.IPv4Address(raw[::-1])).encode()


def _ipv6_text(field: int, raw: bytes) -> bytes:
    return str(ipaddress.IPv6Address(raw[::-1])).encode()


def _own_text(field: int, raw: bytes) -> bytes:
    return raw


_READERS: Mapping[int, Callable[[int, int, int, str], Any]] = {
    **dict.fromkeys((*_SIGNED[:-1], *_UNSIGNED), _integer),
    **dict.fromkeys(_DECIMALS, _decimal),
    **dict.fromkeys(_FLOATS, _float),
    **dict.fromkeys(_DATES, _date),
    **dict.fromkeys(_DATETIMES, _datetime),
    _F.LARGEINT: _largeint,
    _F.DECIMAL: _decimal_v2,
    _F.BOOL: _flag,
    _F.IPV4: _ipv4,
    _F.IPV6: _ipv6,
}
_WRITERS: Mapping[int, Callable[[int, bytes], bytes]] = {
    **dict.fromkeys((*_SIGNED, *_UNSIGNED, *_DECIMALS), _integer_text),
    **dict.fromkeys(_FLOATS, _float_text),
    **dict.fromkeys((*_DATES, *_DATETIMES), _time_text),
    **dict.fromkeys(_TEXTS, _own_text),
    _F.DECIMAL: _decimal_v2_text,
    _F.BOOL: _flag_text,
    _F.IPV4: _ipv4_text,
    _F.IPV6: _ipv6_text,
}
