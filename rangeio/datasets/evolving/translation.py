"""A dataset's filter in the words of one file: for pruning, so nothing may be lost. Pure.

What cannot be said of the file may have any result, and then prunes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import pyarrow as pa

from rangeio.condition import (
    UNREAD,
    All,
    AnyOf,
    Compared,
    Condition,
    Fixed,
    Given,
    IsNull,
    Not,
    Within,
    comparison,
)
from rangeio.datasets.evolving.filling import constant, partition_value
from rangeio.datasets.evolving.unifying import FromPath, Sources
from rangeio.errors import RequestError
from rangeio.literal import Order, UnfitError, place, plain, scalar_of
from rangeio.schema import Column, Schema
from rangeio.select import one_of
from rangeio.statistics import Statistics

Origin: TypeAlias = Column | Statistics
"""The file's column, or what is known of rows that it says nothing of."""
Leaf: TypeAlias = Given | IsNull | Compared | Within


@dataclass(frozen=True, slots=True)
class Translation:
    """From a dataset's columns to those of the files of one generation.

    values: what the file's path says of the partition columns, without those that it lacks.
    """

    schema: Schema
    generation: int
    values: Mapping[str, object]

    def of(self, condition: Condition) -> Condition:
        """The condition, asked of the file."""
        if isinstance(condition, Not):
            return Not(self.of(condition.condition))
        if isinstance(condition, (All, AnyOf)):
            return type(condition)(tuple(self.of(one) for one in condition.conditions))
        if isinstance(condition, Fixed):
            return condition
        if isinstance(condition, (Given, IsNull, Compared, Within)):
            return self.leaf(condition)
        return UNREAD

    def leaf(self, condition: Leaf) -> Condition:
        """A condition on one column: settled where the file lacks it."""
        origin = self.origin(condition.path)
        if isinstance(origin, Statistics):
            return Fixed(condition.outcomes({condition.path: origin}))
        if isinstance(condition, (Given, IsNull)):
            return replace(condition, path=origin.path)
        kind = plain(origin.type)
        if kind == condition.kind:
            return replace(condition, path=origin.path)
        try:
            if isinstance(condition, Compared):
                literal = place(scalar_of(condition.value, condition.kind), kind)
                return comparison(origin.path, kind, condition.operator, literal)
            return _within(condition, origin.path, kind)
        except (UnfitError, ValueError, TypeError, pa.ArrowException):
            return UNREAD

    def origin(self, path: tuple[str, ...]) -> Origin:
        """Where the file has a column of the dataset, or what it has in its stead."""
        _, column = one_of(self.schema, path[:1])
        if isinstance(column.payload, FromPath):
            own = column.payload.own
            if own is None or column.name in self.values:
                return constant(path_value(column, self.values))
            column = replace(column, payload=own)
        nullable = False
        for name in path[1:]:
            found = self.here(column)
            if isinstance(found, Statistics):
                return constant(None)  # with the struct all of its fields are null
            nullable = nullable or found.nullable
            column = next(child for child in column.children if child.name == name)
        found = self.here(column)
        if isinstance(found, Statistics) and nullable and found.null_count == 0:
            return replace(found, null_count=None)
        return found

    def here(self, column: Column) -> Origin:
        """The file's own column for one of the dataset."""
        sources = column.payload
        if not isinstance(sources, Sources):
            return column  # of a dataset of one generation, whose columns are the file's
        found = sources.columns[self.generation]
        if found is None:
            return constant(sources.default)
        return constant(None) if pa.types.is_null(found.type) else found


def path_value(column: Column, values: Mapping[str, object]) -> pa.Scalar:
    """The value of a partition column in a file; null where its path has none.

    Raises RequestError where the value is none of the column's type.
    """
    value = values.get(column.name)
    try:
        return partition_value(value, column.type)
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        reason = f"partition column {column.name!r}: {value!r} is no {column.type}: {error}"
        raise RequestError(reason) from None


def _within(condition: Within, path: tuple[str, ...], kind: pa.DataType) -> Condition:
    """A list of values, without those that the file's type cannot hold."""
    if not pa.types.is_floating(kind) and any(map(_negative_zero, condition.values)):
        return UNREAD  # Arrow tells it from 0.0, an integer does not
    placed = [place(scalar_of(one, condition.kind), kind) for one in condition.values]
    values = tuple(one.below for one in placed if one.exact and one.below is not None)
    nan = condition.nan and bool(pa.types.is_floating(kind))
    return Within(path, kind, values, nan, condition.null)


def _negative_zero(value: Order) -> bool:
    return isinstance(value, float) and value == 0 and math.copysign(1, value) < 0
