"""Conditions as JSON, so that they can travel in an option of Spark's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rangeio.errors import BadFilter
from rangeio.spark.filters.filtering import COMPARED, LISTED, NULL, Condition
from rangeio.spark.filters.values import many, single

Groups = list[list[Condition]]


def as_groups(filters: Any) -> Groups:
    """The lists of pyarrow and pandas: a list of conditions, or a list of such lists, any of which
    may match. Values are plain Python's from here on. Raises BadFilter for anything else."""
    if not isinstance(filters, list | tuple):
        raise BadFilter(
            f"filters= of a DataFrame are lists of conditions, not a {type(filters).__name__}: "
            "for others use .where() of the DataFrame"
        )
    if not filters:
        raise BadFilter("filters= has no condition: None is all rows")
    if _is_condition(filters):
        return [[_condition(filters)]]
    if all(map(_is_condition, filters)):
        return [[_condition(one) for one in filters]]
    return [_group(one) for one in filters]


def _group(group: Any) -> list[Condition]:
    if not isinstance(group, list | tuple) or not group or _is_condition(group):
        raise BadFilter(f"conditions and lists of conditions are not mixed: {group!r}")
    for one in group:
        if not _is_condition(one):
            raise BadFilter(f"a condition is (column, operator, value), not {one!r}")
    return [_condition(one) for one in group]


def _is_condition(one: Any) -> bool:
    return isinstance(one, list | tuple) and len(one) in (2, 3) and isinstance(one[1], str)


def _condition(one: Sequence[Any]) -> Condition:
    word, operator = _word(one[0]), " ".join(one[1].lower().split())
    values = list(one[2:])
    if operator in NULL:
        if any(value is not None for value in values):
            raise BadFilter(f"{operator!r} takes no value: {one!r}")
        return (word, operator)
    if operator not in COMPARED and operator not in LISTED:
        known = ", ".join([*COMPARED, *LISTED, *NULL])
        raise BadFilter(f"{one[1]!r} is no operator; there are: {known}")
    if not values:
        raise BadFilter(f"{operator!r} needs a value: {one!r}")
    return (word, operator, (many if operator in LISTED else single)(values[0]))


def _word(word: Any) -> str | tuple[str, ...]:
    if isinstance(word, str):
        return word
    if isinstance(word, list | tuple) and word and all(isinstance(name, str) for name in word):
        return tuple(word)
    raise BadFilter(f"the column of a filter is a name, a dotted path or a path, not {word!r}")


def write_conditions(groups: Groups) -> str:
    """JSON of conditions. Raises BadFilter for a value of a type that it has no word for."""
    told = [[[one[0], one[1], *map(_told, one[2:])] for one in group] for group in groups]
    return json.dumps(told)


def read_conditions(text: str) -> Groups:
    """The opposite. Raises BadFilter."""
    try:
        return [[_back(one) for one in group] for group in json.loads(text)]
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise BadFilter(f"the option filters: {error}") from None


def _back(one: Sequence[Any]) -> Condition:
    word, operator, *values = one
    return (word if isinstance(word, str) else tuple(word), operator, *map(_read, values))


def _told(value: Any) -> Any:
    if isinstance(value, list):
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
