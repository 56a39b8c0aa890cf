"""Values of filters on partition columns, written as the paths write them. Pure.

A path says ``day=2024-01-01`` and ``month=01``; so do filters that were written where these are
text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pyarrow as pa

from rangeio.datasets.evolving.unifying import FromPath
from rangeio.datasets.finding.partitions import dated, integer
from rangeio.literal import plain
from rangeio.predicate import Filters
from rangeio.schema import Schema


def valued(filters: Filters, schema: Schema, keys: Collection[str]) -> Filters:
    """The same filters; texts against partition columns of dates and integers are read as these.

    keys: of the partition columns. A text that is neither stays what it is, and so does an Arrow
    expression.
    """
    if not keys or not isinstance(filters, (list, tuple)):
        return filters
    if _is_condition(filters):
        return _condition(filters, schema, keys)
    return [_group(one, schema, keys) for one in filters]


def _group(one: object, schema: Schema, keys: Collection[str]) -> object:
    if _is_condition(one):
        return _condition(one, schema, keys)
    if not isinstance(one, (list, tuple)):
        return one
    return [_condition(c, schema, keys) if _is_condition(c) else c for c in one]


def _is_condition(one: object) -> bool:
    return isinstance(one, (list, tuple)) and len(one) in (2, 3) and isinstance(one[1], str)


def _condition(one: Any, schema: Schema, keys: Collection[str]) -> Any:
    kind = _kind(one[0], schema, keys)
    if kind is None or len(one) != 3:
        return one
    word, asked, value = one
    if not isinstance(value, str) and isinstance(value, Iterable):
        return word, asked, [_read(inner, kind) for inner in value]
    return word, asked, _read(value, kind)


def _kind(word: object, schema: Schema, keys: Collection[str]) -> pa.DataType | None:
    """The type of the partition column that a word means, whatever its case; None: it means none,
    or one whose values are no dates and no integers."""
    name = word[0] if isinstance(word, tuple) and len(word) == 1 else word
    if not isinstance(name, str):
        return None
    if name not in keys:
        alike = [key for key in keys if key.casefold() == name.casefold()]
        name = alike[0] if len(alike) == 1 else name
    found = schema.positions.get(name, []) if name in keys else []
    column = schema.at(found[0]) if found else None
    if column is None or not isinstance(column.payload, FromPath):
        return None
    kind = plain(column.type)
    return kind if pa.types.is_integer(kind) or pa.types.is_date(kind) else None


def _read(value: object, kind: pa.DataType) -> object:
    if not isinstance(value, str):
        return value
    found = integer(value) if pa.types.is_integer(kind) else dated(value)
    return value if found is None else found
