"""What may stand in a condition, as plain Python. Pure."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from rangeio.errors import BadFilter

_PLAIN = (bool, int, float, str, bytes, Decimal, date)  # a datetime is a date
_MANY = (list, tuple, set, frozenset, range, np.ndarray)


def many(values: Any) -> list[Any]:
    """The values of a list. Raises BadFilter for what is none, or holds what is no value."""
    if not isinstance(values, _MANY):
        raise BadFilter(f"'in' wants a list of values, not {_shown(values)}")
    return [single(one) for one in values]


def single(value: Any) -> Any:
    """One value: numpy's and pandas' as Python's. Raises BadFilter for others."""
    if isinstance(value, np.datetime64):
        value = _moment(value)
    elif isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, datetime) and hasattr(value, "to_pydatetime"):
        value = _stamp(value)
    if value is None or isinstance(value, _PLAIN):
        return value
    raise BadFilter(f"a filter's value is a number, a text or a time, not {_shown(value)}")


def _moment(value: np.datetime64) -> date | None:
    if np.isnat(value):
        return None
    coarse = value.astype("datetime64[us]")
    if coarse != value:
        raise BadFilter(f"{value!r} is finer than the microseconds of Spark")
    found = value.item() if value.dtype == np.dtype("datetime64[D]") else coarse.item()
    if not isinstance(found, date):
        raise BadFilter(f"{value!r} lies beyond the years that Python has")
    return found


def _stamp(value: Any) -> datetime:
    """Of a pandas Timestamp."""
    if value.nanosecond:
        raise BadFilter(f"{value!r} is finer than the microseconds of Spark")
    return datetime.fromisoformat(value.isoformat())


def _shown(value: object) -> str:
    return f"a {type(value).__name__}: {value!r}"[:200]
