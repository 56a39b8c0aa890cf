"""Doris segments, V2 and V3, as a format."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pyarrow as pa

from rangeio.formats.doris.assembly import assembled
from rangeio.formats.doris.branches import place_of
from rangeio.formats.doris.columns import Place, stub
from rangeio.formats.doris.decoding import decode
from rangeio.formats.doris.dictionary import words
from rangeio.formats.doris.footer import MAGIC
from rangeio.formats.doris.meta import DorisMeta
from rangeio.formats.doris.opening import learnt, opened
from rangeio.formats.doris.pageinfos import page_infos
from rangeio.formats.doris.planning import plan
from rangeio.formats.doris.table import DorisTable
from rangeio.formats.doris.zonemaps import column_statistics
from rangeio.formats.format import Hint, Opening, PageInfo
from rangeio.picking import rebased
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import CostModel, hull
from rangeio.schema import Column, ColumnId, Schema
from rangeio.sought import Sought
from rangeio.statistics import Statistics
from rangeio.steps import Steps, need, needs


class Doris:
    """Reads Doris segments of both versions."""

    name = "doris"
    takes_schema = True

    def claims(self, tail: memoryview) -> bool:
        """Whether the bytes end in the magic."""
        return bytes(tail[-4:]) == MAGIC

    def open(self, opening: Opening) -> Steps[DorisTable]:
        """Footer and directory."""
        return opened(opening)

    def schema(self, table: DorisTable) -> Steps[Schema]:
        """The schema, for which the metadata of all columns is read."""
        return table.whole()

    def assumed(self, table: DorisTable) -> Schema | None:
        """Nothing: a segment's types are its own."""
        return None

    def sought(self, table: DorisTable, words: Sought) -> Steps[Sequence[Column]]:
        """The columns that the words may mean, those inside Variants by their index."""
        return table.sought(words)

    def known(self, table: DorisTable, metas: Mapping[ColumnId, DorisMeta]) -> Schema:
        """The schema as far as these columns make it."""
        return table.known(metas)

    def paths(self, table: DorisTable, name: str, prefix: str) -> Steps[Sequence[str]] | None:
        """The paths of a Variant's sub-columns; None of another column."""
        found = [number for number in table.naming.find(name) if table.has(number)]
        return table.paths(found[0], prefix) if found else None

    def generation(self, table: DorisTable) -> None:
        """None: a segment's types are in the metadata of its columns."""

    def num_rows(self, table: DorisTable) -> Steps[int]:
        """Top-level rows."""
        yield from ()
        return table.footer.num_rows

    def needed(self, field: Column) -> Sequence[Column]:
        """Those at, above or below ``field`` that have metadata of their own."""
        found: dict[ColumnId, Column] = {}
        for column in field.walk():
            if isinstance(column.payload, Place):
                place = column.payload
                found.setdefault(place.meta, stub(place.meta, place.position))
        return list(found.values())

    def columns(
        self, table: DorisTable, columns: Sequence[Column]
    ) -> Steps[Mapping[ColumnId, DorisMeta]]:
        """The metadata of these columns, in one need."""
        places = [place_of(column) for column in columns]
        ranges = [table.footer.directory.at(place.position) for place in places]
        whole = hull(ranges, table.cost)
        if whole is None:
            parts = yield from needs(ranges, "doris.column_meta")
        else:
            data = yield from need(whole, "doris.column_meta")
            parts = [data[at.start - whole.start : at.stop - whole.start] for at in ranges]
        return {
            place.meta: table.parsed(place.meta, place.position, part)
            for place, part in zip(places, parts, strict=True)
        }

    def plan(
        self,
        table: DorisTable,
        metas: Mapping[ColumnId, DorisMeta],
        query: Query,
        cost: CostModel,
    ) -> Steps[Plan]:
        """Rows to pages to exact bytes; a hop for the indexes of columns of many pages."""
        return plan(table, metas, query, cost)

    def load(
        self, shared: SharedLoad, metas: Mapping[ColumnId, DorisMeta]
    ) -> Steps[tuple[object, int]]:
        """A dictionary."""
        return words(shared, metas)

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, DorisMeta],
        shared: Mapping[Hashable, object],
    ) -> Steps[object]:
        """The unit's data."""
        return decode(unit, metas, shared)

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.ChunkedArray:
        """The rows of one top-level field."""
        return rebased(assembled(field, rows, leaves))

    def pages(self, meta: DorisMeta) -> Sequence[PageInfo]:
        """One entry for all pages of a column, whose number and sizes only its index tells."""
        return page_infos(meta)

    def statistics(self, meta: DorisMeta) -> Statistics | None:
        """What the zone map of the whole column says."""
        return column_statistics(meta)

    def learn(self, table: DorisTable) -> Hint | None:
        """The tail that holds the footer of a like file."""
        return learnt(table)


FORMAT = Doris()
