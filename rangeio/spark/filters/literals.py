"""Conditions as JSON, so that they can travel in an option of Spark's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rangeio.errors import BadFilter
from rangeio.spark.filters.filtering import Condition

Groups = list[list[Condition]]


def as_groups(filters: Any) -> Groups:
    """The lists of pyarrow and pandas: a list of conditions, or a list of such lists, any of which
    may match. Raises BadFilter for anything else."""
    if not isinstance(filters, Sequence) or isinstance(filters, str):
        raise BadFilter(
            f"filters= of a DataFrame are lists of conditions, not a {type(filters).__name__}: "
            "for others use .where() of the DataFrame"
        )
    groups = [filters] if filters and isinstance(filters[0], tuple) else list(filters)
    for group in groups:
        for condition in group:
            if not isinstance(condition, tuple) or not 2 <= len(condition) <= 3:
                raise BadFilter(f"a condition is (column, operator, value), not {condition!r}")
    return [[(one[0], one[1].lower().strip(), *one[2:]) for one in group] for group in groups]


def write_conditions(groups: Groups) -> str:
    """JSON of conditions. Raises BadFilter for a value of a type that it has no word for."""
    told = [[[one[0], one[1], *map(_told, one[2:])] for one in group] for group in groups]
    return json.dumps(told)


def read_conditions(text: str) -> Groups:
    """The opposite. Raises BadFilter."""
    try:
        return [[tuple(map(_read, one)) for one in group] for group in json.loads(text)]
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise BadFilter(f"the option filters: {error}") from None


def _told(value: Any) -> Any:
    if isinstance(value, list | tuple | set | frozenset):
        return [_told(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    for name, (kind, write, _) in _KINDS.items():
        if isinstance(value, kind):
            return {name: write(value)}
    raise BadFilter(f"a filter's value of type {type(value).__name__} cannot travel to Spark")


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(one) for one in value]
    if isinstance(value, Mapping):
        ((name, text),) = value.items()
        return _KINDS[name][2](text)
    return value


_KINDS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "timestamp": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "binary": (bytes, bytes.hex, bytes.fromhex),
}
