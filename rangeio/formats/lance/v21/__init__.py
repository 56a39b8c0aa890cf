"""Lance 2.1 and 2.2 pages: structural layouts with repetition and definition levels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rangeio.formats.lance.pages import LanceMeta, Page, Pages
from rangeio.formats.lance.v21 import assembly, decoding, planning
from rangeio.formats.lance.v21.layouts import layout_of
from rangeio.formats.lance.v21.parts import Limits
from rangeio.formats.lance.words import words
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import CostModel
from rangeio.schema import Column, ColumnId
from rangeio.steps import Steps

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class StructuralPages:
    """The pages of versions 2.1 and 2.2. A unit is a page of a leaf, or a part of one."""

    limits: Limits = _LIMITS

    def needed(self, field: Column) -> Sequence[Column]:
        """The leaves: struct, list and map nodes have no physical column."""
        return list(field.leaves())

    def plan(
        self, metas: Mapping[ColumnId, LanceMeta], query: Query, cost: CostModel
    ) -> Steps[Plan]:
        """Rows to pages to exact bytes."""
        return planning.plan(metas, query, cost, self.limits)

    def load(
        self, shared: SharedLoad, metas: Mapping[ColumnId, LanceMeta]
    ) -> Steps[tuple[object, int]]:
        """A page's dictionary and its size in bytes."""
        return decoding.load(shared, metas)

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, LanceMeta],
        shared: Mapping[Hashable, object],
    ) -> Steps[object]:
        """The unit's rows as a :class:`leaf.Leaf`."""
        return decoding.decode(unit, metas, shared)

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.Array | pa.ChunkedArray:
        """The asked rows of one top-level column."""
        return assembly.assemble(field, rows, leaves)

    def words(self, page: Page) -> str:
        """The page's layout."""
        return words(layout_of(page))


PAGES: Pages = StructuralPages()
