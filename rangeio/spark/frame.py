"""A DataFrame from Python's words. Uses what classic sessions and Spark Connect have in common."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sf
from pyspark.sql.types import DataType

from rangeio.errors import BadFilter
from rangeio.spark.enabling import automatic, hide_options
from rangeio.spark.filters.filtering import COMPARED, Condition
from rangeio.spark.filters.literals import Groups, as_groups, write_conditions
from rangeio.spark.source import WIDE, remedy
from rangeio.spark.storage import storage_texts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def frame(
    spark: SparkSession,
    url: str | Sequence[str],
    columns: str | Sequence[str] | None,
    filters: Any,
    storage_options: Mapping[str, object] | None,
    options: Mapping[str, Any],
) -> DataFrame:
    """What :func:`rangeio.spark.read` promises."""
    groups = None if filters is None else as_groups(filters)
    reader = spark.read.format("rangeio")
    told = {name: _text(value) for name, value in options.items() if value is not None}
    told.update(storage_texts(storage_options or {}))
    if storage_options:
        hide_options(spark)
    if columns is not None:
        asked = [columns] if isinstance(columns, str) else list(columns)
        told["columns"] = json.dumps(_with_filtered(asked, groups))
    if groups is not None:
        told["filters"] = write_conditions(groups)
    found = reader.options(**told).load(url if isinstance(url, str) else list(url))
    if columns is None and len(found.columns) > WIDE and not automatic(spark):
        warnings.warn(remedy(len(found.columns)), stacklevel=3)
    if groups is None:
        return found
    found = found.where(_condition(groups))
    return found if columns is None else _without(found, columns, groups)


def _text(value: Any) -> str:
    if isinstance(value, DataType):
        return str(value.json())
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value)


def _with_filtered(columns: list[str], groups: Groups | None) -> list[str]:
    """The asked columns, and behind them those that only filters name."""
    return list(dict.fromkeys([*columns, *(_top(one) for one in _conditions(groups))]))


def _without(found: DataFrame, columns: str | Sequence[str], groups: Groups) -> DataFrame:
    """Drop what was read for the filters alone, where no word for columns may mean it."""
    asked = [columns] if isinstance(columns, str) else list(columns)
    if any(mark in word for word in asked for mark in "*?["):
        return found
    tops = {word.casefold() for word in asked} | {w.partition(".")[0].casefold() for w in asked}
    extra = {_top(one) for one in _conditions(groups)}
    return found.drop(*sorted(one for one in extra if one.casefold() not in tops))


def _conditions(groups: Groups | None) -> list[Condition]:
    return [one for group in groups or () for one in group]


def _top(condition: Condition) -> str:
    word = condition[0]
    return str(word if isinstance(word, str) else word[0])


def _condition(groups: Groups) -> Column:
    every = [reduce(and_, map(_one, group), sf.lit(True)) for group in groups]
    return reduce(or_, every) if every else sf.lit(True)


def _one(condition: Condition) -> Column:
    word, operator, *values = condition
    path = (word,) if isinstance(word, str) else tuple(word)
    column = sf.col(".".join(f"`{name.replace('`', '``')}`" for name in path))
    if operator not in _OPERATORS:
        raise BadFilter(f"{operator!r} is no operator; there are: {', '.join(_OPERATORS)}")
    found: Column = _OPERATORS[operator](column, *values)
    return found


_OPERATORS: dict[str, Any] = COMPARED | {
    "in": lambda column, values: column.isin(list(values)),
    "not in": lambda column, values: ~column.isin(list(values)),
    "is null": lambda column: column.isNull(),
    "is not null": lambda column: column.isNotNull(),
}
