"""Filters that may skip what Spark would drop anyway, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyspark.sql.types as st

from rangeio.errors import RequestError
from rangeio.predicate import Filters, parse
from rangeio.schema import Schema
from rangeio.select import one_of
from rangeio.spark.filters.paths import path_of
from rangeio.spark.types import spark_type

Condition = tuple[Any, ...]
"""A column, an operator, and a value where it takes one, as in the lists of pyarrow."""


def usable(filters: Filters | None, known: Schema, schema: st.StructType) -> Filters | None:
    """The filters where the files hold what Spark will compare; None where a value may look
    different there: finer times, other types, columns that some query calls by another name."""
    if filters is None:
        return None
    try:
        predicate = parse(filters, known)
    except RequestError:
        return None
    kinds = {field.name: field.dataType for field in schema}
    for path in predicate.columns:
        _, column = one_of(known, path)
        if path[0] not in kinds or not _same(column.type, _at(kinds[path[0]], path[1:])):
            return None
    return filters


def expression(groups: Sequence[Sequence[Condition]], schema: st.StructType) -> pc.Expression:
    """Lists of conditions (any of the lists, all in one) as Spark means them: for it NaN is
    greater than any number, and equal to itself."""
    return _joined([_all(group, schema) for group in groups], False)


def _all(group: Sequence[Condition], schema: st.StructType) -> pc.Expression:
    return _joined([_said(condition, schema) for condition in group], True)


def _said(condition: Condition, schema: st.StructType) -> pc.Expression:
    """The condition; true where Arrow has no word for it, for then it skips nothing."""
    try:
        return _one(condition, schema)
    except (pa.ArrowException, RequestError, TypeError, ValueError, KeyError):
        return pc.scalar(True)


def _joined(parts: Iterable[pc.Expression], every: bool) -> pc.Expression:
    found: pc.Expression | None = None
    for part in parts:
        found = part if found is None else found & part if every else found | part
    return pc.scalar(every) if found is None else found


def _one(condition: Condition, schema: st.StructType) -> pc.Expression:
    word, operator, *values = condition
    path = path_of(word, schema)
    column = pc.field(*path)
    if operator == "is null":
        return column.is_null()
    if operator == "is not null":
        return ~column.is_null()
    (value,) = values
    kind = _at(schema, path)
    if not all(_certain(one, kind) for one in (value if operator in LISTED else values)):
        return pc.scalar(True)
    if operator in LISTED:
        return _within(column, value, operator == "in")
    if _is_nan(value):
        return pc.scalar(True)
    number = isinstance(kind, st.FloatType | st.DoubleType)
    if operator in (">", ">=") and number:  # NaN is not less, so it matches
        return ~(column <= value) if operator == ">" else ~(column < value)
    return COMPARED[operator](column, value)


def _certain(value: object, kind: st.DataType | None) -> bool:
    """Whether it needs no zone to say what a day or a time is in a column of this type: Spark's
    session has one, and files are read where nobody knows it."""
    if value is None:
        return True
    if isinstance(kind, st.TimestampType | st.TimestampNTZType):
        local = isinstance(kind, st.TimestampNTZType)
        return isinstance(value, datetime) and (value.tzinfo is None) is local
    if isinstance(kind, st.DateType):
        return isinstance(value, date) and not isinstance(value, datetime)
    return not isinstance(value, date)  # which a datetime is too


def _within(column: pc.Expression, values: Iterable[object], inside: bool) -> pc.Expression:
    held = [one for one in values if one is not None]
    numbers = [one for one in held if isinstance(one, float)]
    if not held or any(map(_is_nan, held)) or (numbers and not inside):
        return pc.scalar(True)
    # In a list Arrow tells -0.0 from 0.0, Spark does not.
    found = column.isin(pa.array([*held, *(-one for one in numbers if one == 0)]))
    return found if inside else ~found & ~column.is_null()


COMPARED: dict[str, Any] = {
    "=": eq,
    "==": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
"""Of columns, pyarrow's and Spark's alike."""


LISTED = ("in", "not in")
"""Operators that take a list of values."""

NULL = ("is null", "is not null")
"""Operators that take none."""


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and value != value


def _same(kind: pa.DataType, asked: st.DataType | None) -> bool:
    """Whether values compare in the file as they do in Spark."""
    if asked is None or (pa.types.is_timestamp(kind) and kind.unit == "ns"):
        return False
    try:
        return spark_type(kind, "") == asked
    except RequestError:
        return False


def _at(kind: st.DataType, path: Sequence[str]) -> st.DataType | None:
    for name in path:
        if not isinstance(kind, st.StructType) or name not in kind.names:
            return None
        kind = kind[name].dataType
    return kind
