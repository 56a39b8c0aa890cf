"""The columns that a caller declares, out of an Arrow schema. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import pyarrow as pa

from rangeio.datasets.evolving.matching import own_id
from rangeio.declared import UNIQUE_ID
from rangeio.errors import RequestError
from rangeio.schema import Column, ColumnId, Schema

_FIELD_ID = b"PARQUET:field_id"


def target_schema(schema: pa.Schema) -> Schema:
    """The columns of an Arrow schema, ids taken from the metadata of its fields.

    A field without an id is known by its name. Raises RequestError where a name or an id is there
    twice, or an id is none.
    """
    columns = [_column(field, -1 - i, False, ()) for i, field in enumerate(schema)]
    _once("name", [c.name for c in columns])
    _once("unique_id", [c.unique_id for c in columns])
    return Schema.of(columns, schema.metadata)


def identified(schema: Schema, partitions: Collection[str] = ()) -> bool:
    """Whether each column that has a name has an id of its own too, at every level; those that
    paths tell apart."""
    return all(_identified(column, None) for column in schema if column.name not in partitions)


def _identified(column: Column, above: Column | None) -> bool:
    named = above is None or pa.types.is_struct(above.type)
    if named and own_id(column, above) is None:
        return False
    return all(_identified(child, column) for child in column.children)


def _once(what: str, found: Sequence[object]) -> None:
    twice = next((one for one, count in Counter(found).items() if count > 1), None)
    if twice is not None:
        raise RequestError(f"schema=: the {what} {twice!r} is there twice")


def _column(field: pa.Field, above: int, declared: bool, path: tuple[str, ...]) -> Column:
    told = _told(field)
    own = above if told is None else told
    declared = declared or told is not None
    path = (*path, field.name)
    children = tuple(_column(one, own, declared, path) for one in _below(field.type))
    return Column(
        ColumnId(own, path), field.type, field.nullable, declared, children, field.metadata or {}
    )


def _told(field: pa.Field) -> int | None:
    """The id in a field's metadata."""
    metadata = field.metadata or {}
    word = metadata.get(UNIQUE_ID, metadata.get(_FIELD_ID))
    if word is None:
        return None
    if not word.isdigit():
        raise RequestError(f"schema=: {word!r} is no unique_id ({field.name!r})")
    return int(word)


def _below(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        return []
    return [kind.field(i) for i in range(kind.num_fields)]
