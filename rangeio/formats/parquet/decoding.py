"""From bytes to arrays: Arrow's reader over a footer of only what is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.checks import indexed, paged
from rangeio.formats.parquet.chunks import Chunks, chunks_of
from rangeio.formats.parquet.leaf import ParquetMeta
from rangeio.formats.parquet.pages.file import Pages, page_file
from rangeio.formats.parquet.planning import Paged, Whole
from rangeio.formats.parquet.schema.arrowschema import serialized
from rangeio.formats.parquet.schema.surgery import Origin, file_metadata, framed, parent
from rangeio.formats.sparsefile import SparseFile, decoded
from rangeio.formats.sparsemap import mapped
from rangeio.plan import DecodeUnit, Rows
from rangeio.schema import Column, ColumnId
from rangeio.steps import Need, Steps

_THREADS = 256 << 10  # bytes of chunks that are worth more than one thread

_COPIED = 256 << 10
"""Bytes of a chunk, on average, below which copying it is cheaper than a call for it."""

Metas = Mapping[ColumnId, ParquetMeta]


@dataclass(frozen=True, slots=True)
class Decoded:
    """The data of a unit. rows: of the file, that it has. arrays: of every field, by its id."""

    rows: Rows
    arrays: Mapping[ColumnId, pa.ChunkedArray]


def decode(unit: DecodeUnit, metas: Metas) -> Steps[Decoded]:
    """The data of one unit."""
    if isinstance(unit.args, Whole):
        return (yield from _whole(unit, unit.args, metas))
    assert isinstance(unit.args, Paged)
    views = yield Need(unit.ranges, "parquet.pages")
    return _paged(unit, unit.args, metas, views)


def _whole(unit: DecodeUnit, args: Whole, metas: Metas) -> Steps[Decoded]:
    """Chunks by the sparse file: it raises where Arrow reads what was not planned."""
    own = [[metas[leaf.id] for leaf in field.leaves()] for field in args.fields]
    first = own[0][0]
    assert first.origin is not None
    leaves = [meta for metas_of in own for meta in metas_of]
    chunks = chunks_of(leaves, args.groups, first.origin.size, first.origin.created_by)

    told = _described(own, args, first.origin)

    def attempt(file: SparseFile) -> pa.Table:
        for meta, group, at in chunks.crowded():
            file.seek(at.start)
            paged(meta, group, file.read(at.size))
        return _arrow(lambda: _read(file, chunks, told), args.fields, file)

    table = yield from decoded(first.origin.size, unit.ranges, "parquet.data", attempt)
    return _checked(table, args.fields, Rows.span(*unit.rows))


def _described(
    own: Sequence[Sequence[ParquetMeta]], args: Whole, origin: Origin
) -> bytes | pq.FileMetaData:
    """The footer of what is read: the file's own where that is all of it and small, else cut."""
    leaves = [meta for metas in own for meta in metas]
    whole = origin.whole
    if whole is not None:
        everything = list(range(whole.num_columns)), tuple(range(whole.num_row_groups))
        if ([meta.index for meta in leaves], args.groups) == everything:
            return whole
    branches = []
    for metas in own:
        trunk = metas[0].trunk
        assert trunk is not None
        branches.append(trunk.kept({meta.index for meta in metas}))
    chunks = [[meta.chunks[g] for meta in leaves] for g in args.groups]
    told = serialized([field.arrow for field in args.fields])
    return file_metadata(origin, branches, told, args.groups, chunks)


def _read(file: SparseFile, chunks: Chunks, footer: bytes | pq.FileMetaData) -> pa.Table:
    """What Arrow makes of the chunks that ``footer`` describes.

    Small ones are a mapping that ends in the footer, large ones are asked for; a read of what is
    not held raises.
    """
    size = int(chunks.sizes.sum())
    end = framed(footer) if isinstance(footer, bytes) else b""
    whole = None
    if size < _COPIED * chunks.starts.size and chunks.within([at for at, _ in file.held]):
        whole = mapped(file.size, file.held, end)
    if whole is not None:
        source = pa.BufferReader(whole)
        metadata = None if end else footer
    else:
        source = pa.PythonFile(file, mode="r")
        metadata = pq.read_metadata(pa.BufferReader(end)) if end else footer
    limit = max(len(end), 1 << 20)
    with (
        source,
        pq.ParquetFile(
            source,
            metadata=metadata,
            pre_buffer=False,
            thrift_string_size_limit=limit,
            thrift_container_size_limit=limit,
        ) as parquet,
    ):
        return parquet.read(use_threads=size > _THREADS and len(chunks.metas) > 1)


def _paged(unit: DecodeUnit, args: Paged, metas: Metas, views: Sequence[memoryview]) -> Decoded:
    """Chosen pages, laid out as a file of their own."""
    own = [metas[leaf.id] for leaf in args.field.leaves()]
    trunk, origin = own[0].trunk, own[0].origin
    assert trunk is not None
    assert origin is not None
    branch = trunk.kept({meta.index for meta in own})
    picked, at = args.picked, 0
    leaves = []
    for meta, count, first in zip(own, picked.counts, picked.dictionaries, strict=True):
        mine = views[at : at + count]
        at += count
        dictionary, pages = (mine[0], mine[1:]) if first else (None, mine)
        leaves.append(Pages(meta, args.group, dictionary, pages, picked.rows.count))
    parts = page_file(
        parent(origin.root, 1),
        branch.elements,
        leaves,
        picked.rows.count,
        serialized([args.field.arrow]),
        origin.created_by.encode(),
    )

    def read() -> pa.Table:
        with pq.ParquetFile(pa.BufferReader(b"".join(parts)), pre_buffer=False) as file:
            return file.read(use_threads=False)

    start = sum(origin.group_rows[: args.group])
    return _checked(_arrow(read, [args.field]), [args.field], picked.rows.shifted(start))


def _arrow(
    read: Callable[[], pa.Table], fields: Sequence[Column], file: SparseFile | None = None
) -> pa.Table:
    """What Arrow reads; its refusals become FormatError, and name the columns."""
    names = ", ".join(repr(field.id.name) for field in fields[:3])
    try:
        return read()
    except pa.ArrowNotImplementedError as error:
        raise Unsupported(f"{names}: {error}") from None
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        if file is not None and file.missed is not None:
            raise
        raise Corrupt(f"{names}: {error}") from None


def _checked(table: pa.Table, fields: Sequence[Column], rows: Rows) -> Decoded:
    """The columns by id, where they are what was planned."""
    if table.num_rows != rows.count or table.num_columns != len(fields):
        raise Corrupt(f"{table.num_rows} rows were decoded, the footer says {rows.count}")
    arrays: dict[ColumnId, pa.ChunkedArray] = {}
    for field, column in zip(fields, table.columns, strict=True):
        if column.type != field.type:
            raise Corrupt(f"{field.id.name!r} is {column.type} when decoded, not {field.type}")
        indexed(column)
        arrays[field.id] = column
    return Decoded(rows, arrays)
