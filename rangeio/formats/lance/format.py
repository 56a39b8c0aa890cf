"""Lance 2.0, 2.1 and 2.2 as a format: the container here, the pages by their generation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from hashlib import sha256
from importlib import import_module

import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.format import Hint, Opening, PageInfo
from rangeio.formats.lance.fields import Descriptor
from rangeio.formats.lance.footer import MAGIC
from rangeio.formats.lance.metadata import Metadata
from rangeio.formats.lance.opening import learnt, opened
from rangeio.formats.lance.pages import LanceMeta, Pages, physical
from rangeio.formats.lance.table import SPARING, LanceTable
from rangeio.picking import rebased
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange, CostModel, hull
from rangeio.schema import Column, ColumnId, Schema
from rangeio.sought import Sought
from rangeio.statistics import Statistics
from rangeio.steps import Steps, need, needs


class Lance:
    """Reads Lance data files; legacy (v1) and 2.3 files are refused by name."""

    name = "lance"
    takes_schema = False

    def claims(self, tail: memoryview) -> bool:
        """Whether the bytes end in the magic, which legacy files share."""
        return bytes(tail[-4:]) == MAGIC

    def open(self, opening: Opening) -> Steps[LanceTable]:
        """Footer, offset table and what the cost model says goes with it."""
        return opened(opening)

    def schema(self, table: LanceTable) -> Steps[Schema]:
        """The schema; Stale where it is not the one that was assumed."""
        return (yield from _described(table)).schema

    def assumed(self, table: LanceTable) -> Schema | None:
        """A neighbour's schema, until this file's own was compared with it."""
        if table.known is None or table.memo.descriptor is not None:
            return None
        return table.known.schema

    def sought(self, table: LanceTable, words: Sought) -> None:
        """None: the schema lies apart from the columns' metadata."""

    def known(self, table: LanceTable, metas: Mapping[ColumnId, LanceMeta]) -> Schema:
        """Never asked."""
        raise NotImplementedError

    def paths(self, table: LanceTable, name: str, prefix: str) -> None:
        """None: every column has a fixed structure."""

    def generation(self, table: LanceTable) -> Hashable | None:
        """By the schema's own bytes, once there are any."""
        held = table.memo.descriptor or table.known
        if held is None:
            return None
        return (table.footer.version, table.footer.num_columns, sha256(held.encoded).digest())

    def num_rows(self, table: LanceTable) -> Steps[int]:
        """Top-level rows."""
        return (yield from _described(table)).rows

    def needed(self, field: Column) -> Sequence[Column]:
        """The columns below ``field`` that a read of it needs the metadata of."""
        return _pages(field).needed(field)

    def columns(
        self, table: LanceTable, columns: Sequence[Column]
    ) -> Steps[Mapping[ColumnId, LanceMeta]]:
        """The metadata of these columns in one need, or none where it is held.

        Where the schema was assumed, the need brings it too.
        """
        wanted = [at for c in columns for at in _ranges(table, c)]
        if self.assumed(table) is not None:
            wanted.append(table.described)
        heads = [table.held.missing(at) for at in wanted]
        gap = None if self.assumed(table) is None else SPARING
        missing = [h for h in heads if h is not None]
        replies = iter((yield from _together(missing, table.cost, gap)))
        parts = [
            table.held.joined(at, None if head is None else next(replies))
            for at, head in zip(wanted, heads, strict=True)
        ]
        if self.assumed(table) is not None:
            table.learn(parts[-1])
        return _parsed(table, columns, parts)

    def plan(
        self,
        table: LanceTable,
        metas: Mapping[ColumnId, LanceMeta],
        query: Query,
        cost: CostModel,
    ) -> Steps[Plan]:
        """Rows to pages to exact bytes."""
        if not query.fields:
            return Plan(())
        return (yield from _pages(query.fields[0]).plan(metas, query, cost))

    def load(
        self, shared: SharedLoad, metas: Mapping[ColumnId, LanceMeta]
    ) -> Steps[tuple[object, int]]:
        """A shared value and its size in bytes."""
        first = next(iter(metas.values()))
        return (yield from _pages(first.column).load(shared, metas))

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, LanceMeta],
        shared: Mapping[Hashable, object],
    ) -> Steps[object]:
        """The unit's data."""
        return _pages(metas[unit.column].column).decode(unit, metas, shared)

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.Array | pa.ChunkedArray:
        """The rows of one top-level field."""
        return rebased(_pages(field).assemble(field, rows, leaves))

    def pages(self, meta: LanceMeta) -> Sequence[PageInfo]:
        """The pages of one physical column; below a list of 2.0, ``rows`` counts items."""
        told = _pages(meta.column)
        return [
            PageInfo(
                meta.column.id,
                (page.first, page.first + page.rows),
                sum(buffer.size for buffer in page.buffers),
                told.words(page),
            )
            for page in (*meta.pages, *meta.below)
        ]

    def statistics(self, meta: LanceMeta) -> Statistics | None:
        """None: the files keep no statistics that these versions read."""
        return None

    def learn(self, table: LanceTable) -> Hint | None:
        """The tail that fits, and the schema to assume; None before the schema was read."""
        return learnt(table)


FORMAT = Lance()


def _pages(column: Column) -> Pages:
    """The generation of pages that the column's file has; imported when one is read."""
    room = "v21" if physical(column).version in ((2, 1), (2, 2)) else "v20"
    found: Pages = import_module(f"rangeio.formats.lance.{room}").PAGES
    return found


def _described(table: LanceTable) -> Steps[Descriptor]:
    if table.memo.descriptor is not None:
        return table.memo.descriptor
    return table.learn((yield from table.held.ask(table.described, "lance.schema")))


def _together(
    wanted: Sequence[ByteRange], cost: CostModel, gap: int | None
) -> Steps[Sequence[memoryview]]:
    """The bytes of column metadata: one by one, or all that lies between where that is faster."""
    whole = hull(wanted, cost)
    if whole is None:
        return (yield from needs(wanted, "lance.column_meta", gap=gap))
    data = yield from need(whole, "lance.column_meta")
    return [data[at.start - whole.start : at.stop - whole.start] for at in wanted]


def _ranges(table: LanceTable, column: Column) -> list[ByteRange]:
    """Where the metadata of a column lies; a paired string has two."""
    own = physical(column)
    indexes = [own.index, own.index + 1] if own.paired else [own.index]
    return [table.metadata(i) for i in indexes]


def _parsed(
    table: LanceTable, columns: Sequence[Column], parts: Sequence[memoryview]
) -> dict[ColumnId, LanceMeta]:
    reader = Metadata(table.footer.version, table.footer.end)
    descriptor = table.memo.descriptor
    found: dict[ColumnId, LanceMeta] = {}
    left = iter(parts)
    for column in columns:
        own = physical(column)
        offset = int(table.offsets[own.index, 0])
        data = next(left)
        below = next(left) if own.paired else None
        meta = found[column.id] = reader.column(column, data, offset, below)
        if descriptor is not None and not own.inner and meta.rows != descriptor.rows:
            raise _disagrees(meta, descriptor, offset)
    return found


def _disagrees(meta: LanceMeta, descriptor: Descriptor, offset: int) -> Corrupt:
    """Pages hold as many rows as the file says it has; below a list or fixed-size list they may
    count items, which whoever plans compares with the asked rows."""
    return Corrupt(
        f"the pages of column {meta.column.id.name!r} hold {meta.rows} rows, the file has "
        f"{descriptor.rows}",
        offset=offset,
    )
