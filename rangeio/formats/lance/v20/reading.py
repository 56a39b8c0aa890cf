"""Version 2.0 pages: from rows to units, from units to arrays, from arrays to a field.

A unit is one page of a leaf, or of the topmost list with all that its rows need below. It is
planned by the very steps that decode it, advanced to their first need: what is planned is what is
asked. Reads are exact in rows; nothing is read to save a hop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.lance.pages import LanceMeta, Page
from rangeio.formats.lance.v20.assembly import Block, assembled
from rangeio.formats.lance.v20.branch import Metas, Paged, is_struct, page_of
from rangeio.formats.lance.v20.encodings import encoding
from rangeio.formats.lance.v20.later import of_page
from rangeio.formats.lance.v20.span import Span
from rangeio.formats.lance.words import words
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, ColumnId
from rangeio.steps import Need, Steps

_LIGHT = 64 << 10


@dataclass(frozen=True, slots=True)
class Work:
    """What a unit is: rows of one page of a branch, whose column may be pruned."""

    column: Column
    page: int
    span: Span


class V20:
    """The pages of Lance 2.0 files."""

    def needed(self, field: Column) -> Sequence[Column]:
        """Leaves and lists; a struct's own column holds nothing."""
        if is_struct(field):
            return [one for child in field.children for one in self.needed(child)]
        return [field, *(one for child in field.children for one in self.needed(child))]

    def plan(self, metas: Metas, query: Query, cost: CostModel) -> Steps[Plan]:
        """One unit a page that holds asked rows; no hop."""
        yield from ()
        units = [
            unit
            for field in query.fields
            for branch in _branches(field)
            for unit in _units(branch, metas, query.rows)
        ]
        return Plan(tuple(sorted(units, key=lambda unit: unit.rows[0])))

    def load(self, shared: SharedLoad, metas: Metas) -> Steps[tuple[object, int]]:
        """Pages of version 2.0 share nothing."""
        yield from ()
        raise Corrupt(f"nothing is shared by pages of version 2.0: {shared.key}")

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, LanceMeta],
        shared: Mapping[Hashable, object],
    ) -> Steps[Block]:
        """The unit's rows as one array."""
        work = unit.args
        assert isinstance(work, Work)
        own = Paged(metas[work.column.id].pages, work.column)
        if not unit.ranges:
            yield Need((), "lance.page")
        array = yield from page_of(work.column, metas, own, work.page, work.span)
        return Block(work.span.rows.shifted(own.pages[work.page].first), array)

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.Array | pa.ChunkedArray:
        """Chunks as the pages had them; structs are cut where any of their leaves is."""
        return assembled(field, rows, leaves)

    def words(self, page: Page) -> str:
        """The page's encoding tree."""
        return words(encoding(page))


def _branches(field: Column) -> Iterator[Column]:
    """The topmost lists, and the leaves that lie below none."""
    if is_struct(field):
        for child in field.children:
            yield from _branches(child)
    else:
        yield field


def _units(column: Column, metas: Metas, rows: Rows) -> Iterator[DecodeUnit]:
    own = Paged(metas[column.id].pages, column)
    for i, span in own.cut(rows):
        first = own.pages[i].first
        ranges = _first(page_of(column, metas, own, i, span))
        yield DecodeUnit(
            column.id,
            (first + int(span.rows.starts[0]), first + span.stop),
            ranges,
            args=Work(column, i, span),
            later=tuple(of_page(column, metas, own, i, span)),
            light=sum(at.size for at in ranges) <= _LIGHT,
        )


def _first(steps: Steps[pa.Array]) -> tuple[ByteRange, ...]:
    """The ranges of the first need, none where there is none."""
    try:
        ranges = next(steps).ranges
    except StopIteration:
        return ()
    finally:
        steps.close()
    assert all(isinstance(at, ByteRange) for at in ranges)
    return ranges  # type: ignore[return-value]
