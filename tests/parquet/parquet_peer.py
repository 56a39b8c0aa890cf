"""What pyarrow reads of a Parquet file: the oracle, column by column and leaf by leaf."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

REFUSALS = (pa.ArrowException, OSError, ValueError)
"""How pyarrow says no."""


class Peer:
    """One file as pyarrow reads it. Raises one of :data:`REFUSALS` where it cannot be opened.

    Columns and leaves go by position, for names may repeat and hold dots.
    """

    def __init__(self, data: bytes) -> None:
        self.file = pq.ParquetFile(pa.BufferReader(data))

    @property
    def rows(self) -> int:
        return int(self.file.metadata.num_rows)

    @cached_property
    def schema(self) -> pa.Schema:
        return self.file.schema_arrow

    @cached_property
    def spans(self) -> list[range]:
        """The leaves of every top-level column."""
        spans, start = [], 0
        for one in self.schema:
            spans.append(range(start, start + leaves(one.type)))
            start = spans[-1].stop
        assert start == len(self.file.schema)
        return spans

    def read(self, leaves: Sequence[int] | None = None) -> pa.Table | None:
        """The columns that have these leaves, pruned to them; None where pyarrow refuses, or gives
        other than all rows."""
        try:
            found = self.file.reader.read_all(column_indices=leaves)
            found.validate(full=True)
        except REFUSALS:
            return None
        return found if found.num_rows == self.rows or not found.num_columns else None

    def by_groups(self, leaves: Sequence[int] | None = None) -> pa.Table | None:
        """The same, one row group at a time: pyarrow joins no nested dictionaries of several."""
        try:
            parts = [
                self.file.reader.read_row_group(group, column_indices=leaves)
                for group in range(self.file.num_row_groups)
            ]
            return pa.concat_tables(parts)
        except REFUSALS:
            return None


def leaves(kind: pa.DataType) -> int:
    """How many physical leaves a column of this type has."""
    if isinstance(kind, pa.BaseExtensionType):
        return leaves(kind.storage_type)
    if not pa.types.is_nested(kind):
        return 1
    return sum(leaves(kind.field(i).type) for i in range(kind.num_fields))


def same(actual: pa.Table, wanted: pa.Table, what: str, *, pruned: bool = False) -> None:
    """Equal types, names and values, NaN equal to itself; chunks and numbers of dictionaries do
    not count.

    pruned: lists were cut to some of their leaves, whose items pyarrow then calls nullable.
    """
    one, other = actual.schema, wanted.schema
    if pruned:
        one, other = (pa.schema([_loose(field) for field in kind]) for kind in (one, other))
    assert one.equals(other), f"{what}: {actual.schema} is not {wanted.schema}"
    assert actual.num_rows == wanted.num_rows, what
    for at, (a, b) in enumerate(zip(actual.columns, wanted.columns, strict=True)):
        a.validate(full=_valid(b))
        if not _bits(a).equals(_bits(b)):
            _like(a, b, f"{what}: {wanted.schema.names[at]}")


def _valid(column: pa.ChunkedArray) -> bool:
    """Whether the values mean something in their type; pyarrow does not ask when it reads."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _loose(field: pa.Field) -> pa.Field:
    """With the items of all lists nullable."""
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_loose(kind.field(i)) for i in range(kind.num_fields)])
    elif pa.types.is_list(kind):
        kind = pa.list_(_loose(kind.value_field).with_nullable(True))
    return field.with_type(kind)


def _bits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats as the integers of their bits: equal where they are the same NaN."""
    if not pa.types.is_floating(column.type):
        return column
    kind = pa.from_numpy_dtype(f"u{column.type.bit_width // 8}")
    return pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)


def _like(one: pa.ChunkedArray, other: pa.ChunkedArray, what: str) -> None:
    pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
    unlike = ((i, a, b) for i, (a, b) in enumerate(pairs) if a != b and repr(a) != repr(b))
    found = next(unlike, None)
    assert found is None, f"{what}: row {found[0]} is {found[1]!r}, not {found[2]!r}"


def bounded(table: pa.Table, start: int, stop: int) -> pa.Table:
    """The rows ``start..stop`` of a table, clipped."""
    stop = min(stop, table.num_rows)
    return table.slice(start, max(stop - start, 0))
