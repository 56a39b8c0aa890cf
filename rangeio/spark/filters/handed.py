"""The filters that Spark hands to a Python data source, as conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyspark.sql import datasource as sd

from rangeio.spark.filters.filtering import Condition


def conditions(filters: Iterable[object]) -> list[Condition]:
    """Those that can be told in rangeio's words; a row that one of them refuses, Spark's own
    filter refuses too. The others are left out."""
    found = (_condition(one) for one in filters)
    return [one for one in found if one is not None]


def _condition(one: Any) -> Condition | None:
    name = type(one).__name__
    if name in _COMPARED:
        return None if one.value is None else (one.attribute, _COMPARED[name], one.value)
    if name in _OTHERS:
        return _OTHERS[name](one)
    return None


def _same(one: Any) -> Condition:
    """Equal, where null is equal to null."""
    if one.value is None:
        return (one.attribute, "is null")
    return (one.attribute, "=", one.value)


def _not(one: Any) -> Condition | None:
    inner = one.child
    if isinstance(inner, sd.EqualTo) and inner.value is not None:
        return (inner.attribute, "!=", inner.value)
    if isinstance(inner, sd.In) and None not in inner.value:
        return (inner.attribute, "not in", list(inner.value))
    if isinstance(inner, sd.IsNull):
        return (inner.attribute, "is not null")
    return None


_COMPARED = {
    "EqualTo": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_OTHERS: dict[str, Callable[[Any], Condition | None]] = {
    "EqualNullSafe": _same,
    "In": lambda one: (one.attribute, "in", list(one.value)),
    "IsNull": lambda one: (one.attribute, "is null"),
    "IsNotNull": lambda one: (one.attribute, "is not null"),
    "StringStartsWith": lambda one: (one.attribute, ">=", one.value),
    "Not": _not,
}
