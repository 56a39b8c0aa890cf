"""Parquet as a format: the footer located, the pages chosen, the values decoded by Arrow."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pyarrow as pa

from rangeio.formats.format import Hint, Image, Opening, PageInfo
from rangeio.formats.parquet.assembly import assembled
from rangeio.formats.parquet.decoding import decode
from rangeio.formats.parquet.entire import entire
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.metas import metas_of
from rangeio.formats.parquet.opening import learnt, opened
from rangeio.formats.parquet.planning import plan
from rangeio.formats.parquet.pruning.statistics import column_statistics
from rangeio.formats.parquet.table import ParquetTable
from rangeio.formats.parquet.words import encodings
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import CostModel
from rangeio.schema import Column, ColumnId, Schema
from rangeio.sought import Sought
from rangeio.statistics import Statistics
from rangeio.steps import Steps


class Parquet:
    """Reads Parquet files; encrypted columns are refused by name."""

    name = "parquet"
    takes_schema = False

    def claims(self, tail: memoryview) -> bool:
        """Whether the bytes end in the magic of a plain or of an encrypted footer."""
        return bytes(tail[-4:]) in (b"PAR1", b"PARE")

    def open(self, opening: Opening) -> Steps[ParquetTable]:
        """The footer, scanned."""
        return opened(opening)

    def schema(self, table: ParquetTable) -> Steps[Schema]:
        """The schema, which the footer holds: no need is asked."""
        yield from ()
        return table.schema

    def assumed(self, table: ParquetTable) -> Schema | None:
        """Nothing: the footer tells."""
        return None

    def sought(self, table: ParquetTable, words: Sought) -> None:
        """None: the schema lies apart from the columns' metadata."""

    def known(self, table: ParquetTable, metas: Mapping[ColumnId, ParquetMeta]) -> Schema:
        """Never asked."""
        raise NotImplementedError

    def paths(self, table: ParquetTable, name: str, prefix: str) -> None:
        """None: every column has a fixed structure."""

    def generation(self, table: ParquetTable) -> Hashable:
        """By the schema's own bytes."""
        return table.generation

    def entire(self, table: ParquetTable) -> Image | None:
        """All of a small file."""
        return entire(table)

    def num_rows(self, table: ParquetTable) -> Steps[int]:
        """Top-level rows."""
        yield from ()
        return int(table.group_starts[-1])

    def needed(self, field: Column) -> Sequence[Column]:
        """The leaves below ``field``."""
        return list(field.leaves())

    def columns(
        self, table: ParquetTable, columns: Sequence[Column]
    ) -> Steps[Mapping[ColumnId, ParquetMeta]]:
        """The metadata of leaves, which the footer holds: no need is asked."""
        yield from ()
        return metas_of(table, columns)

    def plan(
        self,
        table: ParquetTable,
        metas: Mapping[ColumnId, ParquetMeta],
        query: Query,
        cost: CostModel,
    ) -> Steps[Plan]:
        """Rows to row groups and pages to exact bytes."""
        return plan(table, metas, query)

    def load(
        self, shared: SharedLoad, metas: Mapping[ColumnId, ParquetMeta]
    ) -> Steps[tuple[object, int]]:
        """Nothing is shared: a dictionary page travels with its chunk."""
        raise NotImplementedError

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, ParquetMeta],
        shared: Mapping[Hashable, object],
    ) -> Steps[object]:
        """The unit's data."""
        return decode(unit, metas)

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.ChunkedArray:
        """The rows of one top-level field."""
        return assembled(field, rows, leaves)

    def pages(self, meta: ParquetMeta) -> Sequence[PageInfo]:
        """The chunks of a leaf; their pages are known only to a page index, which is not read."""
        out, first = [], 0
        for group, rows in enumerate(meta.group_rows.tolist()):
            size = max(meta.fact(group, Fact.COMPRESSED), 0)
            out.append(PageInfo(meta.column, (first, first + rows), size, encodings(meta, group)))
            first += rows
        return out

    def statistics(self, meta: ParquetMeta) -> Statistics | None:
        """What the chunks say of the leaf, all row groups together."""
        return column_statistics(meta)

    def learn(self, table: ParquetTable) -> Hint | None:
        """The tail that holds the footer of a like file."""
        return learnt(table)


FORMAT = Parquet()
