"""Schemas of imagined files, and their tables as a format would read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from rangeio.datasets.evolving.evolution import DatasetSchema, Generation, unified
from rangeio.datasets.evolving.fitting import fit
from rangeio.schema import Column, ColumnId, Schema
from rangeio.select import Words, select

EMPTY = pa.schema([])


def field(
    name: str,
    kind: pa.DataType,
    unique_id: int | None = None,
    *,
    nullable: bool = True,
    default: str | None = None,
) -> pa.Field:
    metadata = {} if unique_id is None else {"PARQUET:field_id": str(unique_id)}
    if default is not None:
        metadata["default"] = default
    return pa.field(name, kind, nullable, metadata=metadata or None)


def column(one: pa.Field, above: tuple[str, ...] = (), inherited: int = 0, told=False) -> Column:
    metadata = one.metadata or {}
    word = metadata.get(b"PARQUET:field_id")
    unique_id = inherited if word is None else int(word)
    declared = told or word is not None
    kind, inner = one.type, []
    if pa.types.is_map(kind):
        inner = [kind.key_field, kind.item_field]
    elif pa.types.is_nested(kind):
        inner = [kind.field(i) for i in range(kind.num_fields)]
    path = (*above, one.name)
    children = tuple(column(c, path, unique_id, declared) for c in inner)
    return Column(
        ColumnId(unique_id, path), kind, one.nullable, declared, children, metadata, "of the file"
    )


def schema_of(*fields: pa.Field) -> Schema:
    """As Parquet numbers columns: those without an id below zero."""
    return Schema.of([column(one, (), -1 - i) for i, one in enumerate(fields)])


def generation(n: int, *fields: pa.Field, files: int = 1) -> Generation:
    return Generation(schema_of(*fields), f"mem://g{n}.parquet", files)


def evolved(*generations: Sequence[pa.Field], **words) -> DatasetSchema:
    """A dataset of generations of fields, oldest first."""
    made = [generation(n, *fields) for n, fields in enumerate(generations)]
    return unified(made, partitions=words.pop("partitions", EMPTY), **words)


def taken(table: pa.Table, fields: Sequence[Column]) -> pa.Table:
    """What a format reads of a file: the columns, pruned."""
    arrays = [pruned(table.column(one.name).combine_chunks(), one) for one in fields]
    if not arrays:
        return table.select([])
    return pa.Table.from_arrays(arrays, schema=pa.schema([one.arrow for one in fields]))


def pruned(array: pa.Array, want: Column) -> pa.Array:
    """An array with only what a pruned column has of it."""
    if array.type == want.type:
        return array
    kind = want.type
    if pa.types.is_struct(kind):
        names = [array.type.field(i).name for i in range(array.type.num_fields)]
        children = [pruned(array.field(names.index(c.name)), c) for c in want.children]
        mask = array.is_null()
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
    assert pa.types.is_list(kind)
    items = pruned(array.values, want.children[0])
    return pa.ListArray.from_arrays(array.offsets, items, type=kind, mask=array.is_null())


def read(
    dataset: DatasetSchema,
    tables: Sequence[pa.Table],
    words: Words | None = None,
    values: Mapping[str, object] | None = None,
) -> pa.Table:
    """All files, one of each generation, as one table, checked in full."""
    fields = select(dataset.schema, words).fields
    out = []
    for n, table in enumerate(tables):
        made = fit(dataset, n, fields)
        fitted = made.table(taken(table, made.fields), values or {}, dataset.generations[n].url)
        fitted.validate(full=True)
        assert fitted.schema.equals(pa.schema([one.arrow for one in fields]), check_metadata=True)
        assert [c.type for c in fitted.columns] == [one.type for one in fields]
        assert fitted.num_rows == table.num_rows
        out.append(fitted)
    return pa.concat_tables(out)
