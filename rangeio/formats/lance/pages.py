"""What both generations of Lance pages share: where a physical column's pages lie."""

from __future__ import annotations

from dataclasses import dataclass

from rangeio.ranges import ByteRange
from rangeio.schema import Column


@dataclass(frozen=True, slots=True)
class Physical:
    """The payload of a Lance column: its place in the file.

    index: physical column, -1 where the node has none (2.1+: structs, lists and maps).
    version: of the file, ``(0, 3)`` for what users call 2.0. logical: the field's logical type.
    """

    index: int
    version: tuple[int, int]
    logical: str
    blob: bool = False
    packed: bool = False


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
    """The metadata of one physical column: pure and immutable."""

    column: Column
    pages: tuple[Page, ...]
    weight: int
    blob: bool = False

    @property
    def rows(self) -> int:
        """Rows of the column (items, below a list in 2.0)."""
        return self.pages[-1].first + self.pages[-1].rows if self.pages else 0


def physical(column: Column) -> Physical:
    """The payload of a Lance column."""
    assert isinstance(column.payload, Physical)
    return column.payload
