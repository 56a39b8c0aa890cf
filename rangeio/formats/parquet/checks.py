"""What Arrow takes on trust, checked before and after it decodes."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.header import page_header


def paged(meta: ParquetMeta, group: int, data: memoryview) -> None:
    """Raise Corrupt unless the pages of a chunk have as many values as it claims."""
    at = values = 0
    while at < len(data):
        page = page_header(data, at)
        values += 0 if page.kind == 2 else page.values
        at += page.head + page.size
    if values != meta.fact(group, Fact.VALUES):
        raise Corrupt(f"the pages of column {meta.column.name!r} have {values} values")


def dictionaries(table: pa.Table) -> Iterator[pa.ChunkedArray]:
    """The columns of a table that are, or hold, dictionaries."""
    for i, kind in enumerate(table.schema.types):
        if _dictionaries(kind):
            yield table.column(i)


def indexed(array: pa.ChunkedArray) -> None:
    """Raise Corrupt where an index of a dictionary, anywhere below, leads outside of it."""
    if not _dictionaries(array.type):
        return
    for chunk in array.chunks:
        for found in _below(chunk):
            extent = pc.min_max(found.indices)
            low, high = extent["min"].as_py(), extent["max"].as_py()
            if low is not None and (low < 0 or high >= len(found.dictionary)):
                raise Corrupt(f"an index of {high} into a dictionary of {len(found.dictionary)}")


def _dictionaries(kind: pa.DataType) -> bool:
    if pa.types.is_primitive(kind):
        return False
    if isinstance(kind, pa.BaseExtensionType):
        return _dictionaries(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return True
    return any(_dictionaries(kind.field(i).type) for i in range(kind.num_fields))


def _below(array: pa.Array) -> Iterator[pa.DictionaryArray]:
    """The dictionary arrays at or below an array."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        yield from _below(array.storage)
    elif pa.types.is_dictionary(kind):
        yield array
    elif pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            yield from _below(array.field(i))
    elif pa.types.is_map(kind):
        yield from _below(array.keys)
        yield from _below(array.items)
    elif kind.num_fields == 1:
        yield from _below(array.values)
