"""A small file read whole: Arrow reads it by its own footer, and nothing is planned or cut.

It gives what the plan of all columns would, by the same GETs, and leaves all else to that.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.errors import Corrupt, FormatError
from rangeio.formats.format import Image
from rangeio.formats.parquet.checks import dictionaries, indexed
from rangeio.formats.parquet.chunks import dense, merged, miscounted, placed
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.metas import facts_of
from rangeio.formats.parquet.schema.columns import LITTLE
from rangeio.formats.parquet.schema.surgery import MAGIC, framed
from rangeio.formats.parquet.table import ParquetTable
from rangeio.ranges import ByteRange

MOST = 16 << 20
"""Bytes of a file, at most."""
_THREADS = 256 << 10  # bytes that are worth more than one thread


def entire(table: ParquetTable) -> Image | None:
    """All rows of all columns, with the schema that the plan gives them; None where the file is
    large, or anything about it is not as it should be."""
    footer = table.footer
    if not 0 < len(footer.data) <= LITTLE or table.size > MOST or not len(footer.group_rows):
        return None
    end = framed(bytes(footer.data))[len(MAGIC) :]
    start = table.size - len(end)
    try:
        ranges = _ranges(table)
    except FormatError:
        return None
    if not ranges or ranges[-1].stop > start:
        return None
    known = ((ByteRange(start, table.size), end),)
    return Image(tuple(ranges), known, "parquet.data", partial(_read, table, ranges))


def _ranges(table: ParquetTable) -> list[ByteRange]:
    """The bytes of all chunks, neighbours merged; none where they are not what they should be."""
    footer, tree = table.footer, table.columns.tree
    leaves, groups = tree.num_leaves, len(footer.group_rows)
    chunks = [footer.chunk(group, leaf) for group in range(groups) for leaf in range(leaves)]
    facts = facts_of(chunks).reshape(groups, leaves, len(Fact))
    starts, stops, bad = placed(facts, table.size, footer.created_by)
    rows = footer.group_rows[:, None]
    if facts[:, :, Fact.FLAGS].any() or bad.any() or dense(facts).any() or (rows <= 0).any():
        return []
    if miscounted(facts, rows, tree.repeated(footer.elements)).any():
        return []
    return merged(starts, stops)


def _read(table: ParquetTable, ranges: Sequence[ByteRange], image: pa.Buffer) -> pa.Table | None:
    """The table; None where a column is not what it should be, for the plan to say which."""
    size = sum(at.size for at in ranges)
    try:
        with pq.ParquetFile(pa.BufferReader(image), pre_buffer=False) as file:
            found = file.read(use_threads=size > _THREADS and table.columns.tree.num_leaves > 1)
        if found.num_rows != int(table.group_starts[-1]):
            return None
        for column in dictionaries(found):
            indexed(column)
    except (pa.ArrowException, OSError, ValueError, MemoryError, Corrupt):
        return None
    return found.replace_schema_metadata(table.footer.metadata() or None)
