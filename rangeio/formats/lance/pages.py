"""What both generations of Lance pages share: where a physical column's pages lie."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, ColumnId
from rangeio.steps import Steps


@dataclass(frozen=True, slots=True)
class Physical:
    """The payload of a Lance column: its place in the file.

    index: physical column, -1 where the node has none (2.1+: structs, lists and maps).
    version: of the file, ``(0, 3)`` for what users call 2.0. logical: the field's logical type.
    packed: a struct stored row by row in one column. inner: below a list, map or fixed-size list.
    paired: a string of Lance 0.13, whose bytes are the next physical column.
    """

    index: int
    version: tuple[int, int]
    logical: str
    blob: bool = False
    packed: bool = False
    inner: bool = False
    paired: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a physical column.

    buffers: absolute ranges, checked to lie inside the file's data. rows: top-level rows in 2.1+,
    the node's own rows (items, below a list) in 2.0. first: sum of the rows before it in the same
    column. encoding: the value of the page's encoding message; url its type_url.
    """

    buffers: tuple[ByteRange, ...]
    rows: int
    first: int
    encoding: bytes
    url: str


@dataclass(frozen=True, slots=True)
class LanceMeta:
    """The metadata of one physical column: pure and immutable.

    limit: data (blobs that pages point at) lies below this offset of the file. below: pages of
    the second column of a paired string.
    """

    column: Column
    pages: tuple[Page, ...]
    weight: int
    blob: bool = False
    limit: int = 0
    below: tuple[Page, ...] = ()

    @property
    def rows(self) -> int:
        """Rows of the column (items, below a list in 2.0)."""
        return self.pages[-1].first + self.pages[-1].rows if self.pages else 0


def physical(column: Column) -> Physical:
    """The payload of a Lance column."""
    assert isinstance(column.payload, Physical)
    return column.payload


class Pages(Protocol):
    """One generation of page encodings: the part of a format that begins behind the metadata.

    The methods promise what those of :class:`rangeio.formats.format.Format` promise. A query's
    fields are top-level columns, pruned; ``metas`` holds all that :meth:`needed` named.
    """

    def needed(self, field: Column) -> Sequence[Column]:
        """The columns at or below ``field`` that have a physical column which a read needs."""
        ...

    def plan(
        self, metas: Mapping[ColumnId, LanceMeta], query: Query, cost: CostModel
    ) -> Steps[Plan]:
        """Rows to pages to exact bytes."""
        ...

    def load(
        self, shared: SharedLoad, metas: Mapping[ColumnId, LanceMeta]
    ) -> Steps[tuple[object, int]]:
        """A shared value and its size in bytes."""
        ...

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, LanceMeta],
        shared: Mapping[Hashable, object],
    ) -> Steps[object]:
        """The unit's data; first need ``unit.ranges``, later ones as announced."""
        ...

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.Array | pa.ChunkedArray:
        """The asked rows of one top-level field, of exactly ``field.type``."""
        ...

    def words(self, page: Page) -> str:
        """The page's encoding, for people."""
        ...
