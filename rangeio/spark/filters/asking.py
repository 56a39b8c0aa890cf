"""Conditions and words for columns, in the words of DataFrames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark.sql.types as st
from pyspark.sql import functions as sf

from rangeio.datasets.evolving.target import target_schema
from rangeio.select import select
from rangeio.spark.filters.filtering import COMPARED, Condition
from rangeio.spark.filters.literals import Groups
from rangeio.spark.filters.paths import Path, path_of
from rangeio.spark.types import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def condition(groups: Groups, schema: st.StructType) -> Column:
    """What Spark itself applies. Raises NoSuchColumn, RequestError."""
    every = [reduce(and_, (_one(one, schema) for one in group)) for group in groups]
    return reduce(or_, every)


def asked(found: DataFrame, words: Sequence[str | Path]) -> DataFrame:
    """The columns of these words, without what was read for filters alone."""
    known = target_schema(arrow_schema(found.schema))
    wanted = select(known, list(words), case_sensitive=False).arrow_schema
    kept = [field for field in found.schema if field.name in wanted.names]
    return found.select(*(_pruned(one, wanted.field(one.name).type) for one in kept))


def _pruned(field: st.StructField, wanted: pa.DataType) -> Column:
    column = sf.col(_quoted((field.name,)))
    extra = [_quoted(path) for path in _extra(field.dataType, wanted)]
    return column.dropFields(*extra).alias(field.name) if extra else column


def _extra(kind: st.DataType, wanted: pa.DataType) -> Iterator[Path]:
    """Paths to the fields of a struct, below structs too, that nobody asked for."""
    if not isinstance(kind, st.StructType) or not pa.types.is_struct(wanted):
        return
    for field in kind:
        place = wanted.get_field_index(field.name)
        if place < 0:
            yield (field.name,)
            continue
        for rest in _extra(field.dataType, wanted.field(place).type):
            yield (field.name, *rest)


def _one(one: Condition, schema: st.StructType) -> Column:
    word, operator, *values = one
    path = path_of(word, schema)
    kind: Any = schema
    for name in path:
        kind = kind[name].dataType
    found: Column = _OPERATORS[operator](sf.col(_quoted(path)), *(_said(v, kind) for v in values))
    return found


def _quoted(path: Path) -> str:
    return ".".join(f"`{name.replace('`', '``')}`" for name in path)


def _said(value: Any, kind: st.DataType) -> Any:
    """A time without a zone is a local time to a column of such, else one of the session's zone,
    as in Spark's SQL; PySpark's own literals take it for one of the zone of this machine."""
    if isinstance(value, list):
        return [_said(one, kind) for one in value]
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is not None:
        value = value.astimezone(UTC)
    local = value.tzinfo is None and isinstance(kind, st.TimestampNTZType)
    return sf.lit(value.isoformat()).cast("timestamp_ntz" if local else "timestamp")


_OPERATORS: dict[str, Any] = COMPARED | {
    "in": lambda column, values: column.isin(values),
    "not in": lambda column, values: ~column.isin(values),
    "is null": lambda column: column.isNull(),
    "is not null": lambda column: column.isNotNull(),
}
