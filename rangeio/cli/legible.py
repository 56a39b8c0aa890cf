"""Arrow's values as JSON values, as text of one line, and as cells of CSV."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence

import pyarrow as pa


def clean(text: str) -> str:
    """The text on one line, without what would move a terminal's cursor or colour."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return " " if char in "\n\r\t" else char.encode("unicode_escape", "backslashreplace").decode()


def dumped(value: object) -> str:
    """Compact JSON: bytes as base64; NaN and infinities, which JSON has not, as null."""
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_other)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=_other)


def _other(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value


def values(array: pa.Array | pa.ChunkedArray) -> list[object]:
    """The values as JSON has them, or bytes.

    Times and decimals are text, exact; durations are whole numbers of their unit; a map is a list
    of pairs.
    """
    wanted = _legible(array.type)
    if wanted != array.type:
        array = array.cast(wanted)
    found: list[object] = array.to_pylist()
    return found


def rows(batch: pa.RecordBatch) -> Iterator[dict[str, object]]:
    """The rows as JSON objects; names must differ."""
    columns = [values(column) for column in batch.columns]
    if not columns:
        return ({} for _ in range(batch.num_rows))
    names = batch.schema.names
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def flat(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch as CSV can hold it: nested values as JSON, bytes as base64."""
    columns = [_flat(column) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=flat_schema(batch.schema))


def flat_schema(schema: pa.Schema) -> pa.Schema:
    """The schema of what :func:`flat` returns."""
    return pa.schema([pa.field(one.name, _cell(one.type)) for one in schema])


def _flat(array: pa.Array) -> pa.Array:
    kind = _legible(array.type)
    if not _written(kind):
        return array.cast(kind)
    cells = [one if one is None else _text(one) for one in values(array)]
    return pa.array(cells, pa.string())


def _cell(kind: pa.DataType) -> pa.DataType:
    kind = _legible(kind)
    return pa.string() if _written(kind) else kind


def _written(kind: pa.DataType) -> bool:
    """Whether CSV holds a value of the type only as text that is made here."""
    return bool(pa.types.is_nested(kind) or pa.types.is_large_binary(kind))


def _text(value: object) -> str:
    return _other(value) if isinstance(value, bytes) else dumped(value)


def shown(value: object) -> str:
    """One value for a terminal."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return clean(repr(value)[2:-1] if isinstance(value, bytes) else dumped(value))


def _legible(kind: pa.DataType) -> pa.DataType:
    """The type whose values Python has without loss."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _legible(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _legible(kind.storage_type)
    if pa.types.is_nested(kind):
        return _nested(kind)
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind) or kind == pa.string_view():
        return kind if pa.types.is_interval(kind) else pa.string()
    fixed = pa.types.is_fixed_size_binary(kind)
    return pa.large_binary() if fixed or kind in _BINARY else kind


_BINARY = (pa.binary(), pa.large_binary(), pa.binary_view())


def _nested(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_child(field) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_child(kind.key_field), _child(kind.item_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_child(kind.value_field), kind.list_size)
    if pa.types.is_union(kind):
        return kind
    large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    return (pa.large_list if large else pa.list_)(_child(kind.value_field))


def _child(field: pa.Field) -> pa.Field:
    return field.with_type(_legible(field.type))


def columns_of(table: pa.Table) -> Sequence[list[str]]:
    """Every column's values for a terminal."""
    return [[shown(one) for one in values(column)] for column in table.columns]
