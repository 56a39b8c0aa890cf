"""A small file read whole: Arrow reads it by its own footer, and nothing is planned or cut.

It gives what the plan of all columns would, by the same GETs, and leaves all else to that.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.errors import Corrupt, FormatError
from rangeio.formats.parquet.checks import indexed
from rangeio.formats.parquet.chunks import dense, merged, miscounted, placed
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.metas import facts_of
from rangeio.formats.parquet.table import ParquetTable
from rangeio.formats.sparsemap import mapped
from rangeio.ranges import ByteRange
from rangeio.steps import Need, Steps

MOST = 16 << 20
"""Bytes of a file, at most."""
_THREADS = 256 << 10  # bytes that are worth more than one thread


def entire(table: ParquetTable) -> Steps[pa.Table | None] | None:
    """All rows of all columns, with the schema that the plan gives them; None where the file is
    large, or anything about it is not as it should be."""
    whole = table.columns.origin.whole
    if whole is None or table.size > MOST or not whole.num_row_groups:
        return None
    try:
        ranges = _ranges(table, whole)
    except FormatError:
        return None
    return None if not ranges else _read(table, whole, ranges)


def _ranges(table: ParquetTable, whole: pq.FileMetaData) -> list[ByteRange]:
    """The bytes of all chunks, neighbours merged; none where they are not what they should be."""
    footer = table.footer
    leaves, groups = whole.num_columns, whole.num_row_groups
    if (leaves, groups) != (table.columns.tree.num_leaves, len(footer.group_rows)):
        return []
    chunks = [footer.chunk(group, leaf) for group in range(groups) for leaf in range(leaves)]
    facts = facts_of(chunks).reshape(groups, leaves, len(Fact))
    starts, stops, bad = placed(facts, table.size, footer.created_by)
    repeated = [whole.schema.column(i).max_repetition_level > 0 for i in range(leaves)]
    rows = footer.group_rows[:, None]
    if facts[:, :, Fact.FLAGS].any() or bad.any() or dense(facts).any():
        return []
    if (rows <= 0).any() or miscounted(facts, rows, repeated).any():
        return []
    return merged(starts, stops)


def _read(
    table: ParquetTable, whole: pq.FileMetaData, ranges: list[ByteRange]
) -> Steps[pa.Table | None]:
    """The table; None where a column is not what it should be, for the plan to say which."""
    views = yield Need(tuple(ranges), "parquet.data")
    buffer = mapped(table.size, list(zip(ranges, views, strict=True)))
    if buffer is None:
        return None
    try:
        with pq.ParquetFile(pa.BufferReader(buffer), metadata=whole, pre_buffer=False) as file:
            size = sum(at.size for at in ranges)
            found = file.read(use_threads=size > _THREADS and whole.num_columns > 1)
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        return None
    if found.num_rows != whole.num_rows or found.num_rows != int(table.group_starts[-1]):
        return None
    try:
        for column in found.columns:
            indexed(column)
    except Corrupt:
        return None
    return found.replace_schema_metadata(table.footer.metadata() or None)
