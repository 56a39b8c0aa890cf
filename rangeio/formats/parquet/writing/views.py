"""String and binary views below structs, which pyarrow's Parquet writer cannot write in parts."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

_LISTS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Field], pa.DataType]], ...] = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def without_views(schema: pa.Schema) -> pa.Schema:
    """The schema with large strings and binaries for such views; the same one if it has none.

    In the file both are the same. The stored Arrow schema tells a reader that they were views.
    """
    fields = [field.with_type(_plain(field.type)) for field in schema]
    plain = pa.schema(fields, schema.metadata)
    return schema if plain.equals(schema) else plain


def _plain(kind: pa.DataType, *, in_struct: bool = False) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.large_string() if in_struct else kind
    if pa.types.is_binary_view(kind):
        return pa.large_binary() if in_struct else kind
    if pa.types.is_struct(kind):
        return pa.struct([f.with_type(_plain(f.type, in_struct=True)) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(_inside(kind.key_field), _inside(kind.item_field), kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_inside(kind.value_field), kind.list_size)
    for fits, make in _LISTS:
        if fits(kind):
            return make(_inside(kind.value_field))
    return kind


def _inside(field: pa.Field) -> pa.Field:
    return field.with_type(_plain(field.type))
