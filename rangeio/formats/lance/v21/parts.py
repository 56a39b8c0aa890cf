"""The part of one page that a query asks for, and what reading it takes."""

from __future__ import annotations

from dataclasses import dataclass

from rangeio.formats.lance.pages import Page
from rangeio.formats.lance.v21.chunks import Chunks
from rangeio.formats.lance.v21.layouts import Blob, Constant, FullZip, Layout, MiniBlock
from rangeio.plan import Rows
from rangeio.ranges import ByteRange
from rangeio.schema import ColumnId


@dataclass(frozen=True, slots=True)
class Limits:
    """How pages are cut.

    large: bytes beyond which a page is read in pieces, so that a scan needs little memory.
    piece: bytes of such a piece, about. runs: up to so many runs of rows, the ends of full-zip
    rows are looked up by the plan; those of more are a hop of their unit. filled: bytes that a
    unit of a constant page makes. blobs: rows of a unit of blobs. pieces: units of one page, at
    most, where nothing but its number of rows bounds them.
    """

    large: int = 32 << 20
    piece: int = 12 << 20
    runs: int = 4
    filled: int = 8 << 20
    blobs: int = 256
    pieces: int = 1 << 14


@dataclass(frozen=True, slots=True)
class Whole:
    """How to decode a unit that has all of its page's buffers. rows: top-level, in the file."""

    page: int
    rows: Rows
    scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Chunked:
    """A unit of some chunks. shared: its dictionary is a shared load, else the last range."""

    page: int
    rows: Rows
    scale: int
    chunks: Chunks
    shared: bool


@dataclass(frozen=True, slots=True)
class Records:
    """A unit of full-zip entries of fixed width: one range a run of rows."""

    page: int
    rows: Rows
    scale: int


@dataclass(frozen=True, slots=True)
class Spans:
    """A unit of full-zip rows found by the repetition index: the index of each run of rows, then
    the bytes of each run, which come in a later hop where they are not ``known``."""

    page: int
    rows: Rows
    scale: int
    known: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One page and the rows that are asked of it.

    order: of the leaf in the query. rows: top-level, in the file. scale: elements a row. limits:
    how it is cut.
    """

    leaf: ColumnId
    order: int
    number: int
    page: Page
    outer: Layout
    rows: Rows
    scale: int
    limits: Limits = Limits()

    @property
    def layout(self) -> MiniBlock | FullZip | Constant:
        """The layout of the page, that of a blob's descriptions for a blob."""
        return self.outer.inner if isinstance(self.outer, Blob) else self.outer

    @property
    def elements(self) -> Rows:
        """The asked rows in elements, counted in the page."""
        shifted = self.rows.shifted(-self.first)
        return Rows(shifted.starts * self.scale, shifted.stops * self.scale)

    @property
    def total(self) -> int:
        """Elements of the page: what a page counts as its rows."""
        return self.page.rows

    @property
    def first(self) -> int:
        """The top-level row that the page begins with."""
        return self.page.first // self.scale

    @property
    def complete(self) -> bool:
        """Whether every row of the page is asked for."""
        return self.rows.count * self.scale == self.page.rows

    @property
    def buffers(self) -> tuple[ByteRange, ...]:
        """All that decoding the whole page needs; a repetition index only of full-zip pages."""
        found = self.page.buffers
        if isinstance(self.layout, MiniBlock):
            return found[: 2 + (self.layout.dictionary is not None)]
        if isinstance(self.layout, FullZip):
            return found[: 1 + self.layout.indexed]
        return found

    @property
    def size(self) -> int:
        """Bytes of the whole page."""
        return sum(at.size for at in self.buffers)

    @property
    def index(self) -> tuple[ByteRange, ...]:
        """Chunk metadata and repetition index of a mini-block page."""
        assert isinstance(self.layout, MiniBlock)
        found = self.page.buffers
        return (found[0], found[-1]) if self.layout.indexed else (found[0],)

    @property
    def expected(self) -> int:
        """Bytes that an exact read of the rows takes, estimated: index, share, and one chunk."""
        page = max(self.page.rows // self.scale, 1)
        if isinstance(self.layout, MiniBlock):
            chunks = max(self.page.buffers[0].size // (4 if self.layout.large else 2), 1)
            index = sum(at.size for at in self.index)
            data, fixed = self.page.buffers[1].size, sum(at.size for at in self.buffers[2:])
        else:
            chunks, index, fixed, data = page, 0, 0, self.size
        share = data * self.rows.count // page + len(self.rows) * (data // chunks)
        return index + fixed + min(share, data)
