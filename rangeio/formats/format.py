"""What a format is: pure code that says which bytes it needs, receives them, and parses."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from rangeio.declared import Declared
from rangeio.errors import RequestError
from rangeio.plan import DecodeUnit, Piece, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, ColumnId, Schema
from rangeio.sought import Sought
from rangeio.statistics import Statistics
from rangeio.steps import Steps

Options = TypeVar("Options")


class Stale(Exception):
    """What was assumed from a neighbour file does not hold for this one.

    Raised by a format's steps and caught by the engine, which opens again without the hint. The
    bytes that were read stay held. Never reaches a user.
    """


@dataclass(frozen=True, slots=True)
class Hint:
    """What one file of a directory teaches about the next: assumed, then verified, never trusted.

    tail: size in bytes of a suffix GET that would have held all that ``open`` needs.
    known: the format's own, e.g. the bytes of a schema; ``weight`` is its size in memory.
    """

    tail: int
    known: Any = None
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Opening:
    """What a format is told when it opens a file.

    size: of the object, in bytes. held: how many of its last bytes the engine already has; a need
    within them costs no hop. cost: the store's cost model. few_bytes: None lets the cost model
    choose between few bytes and few hops, else it is forced. declared: the caller's ``schema=``,
    for formats that take one.
    """

    size: int
    held: int
    cost: CostModel
    hint: Hint | None = None
    few_bytes: bool | None = None
    declared: Declared | None = None


@dataclass(frozen=True, slots=True)
class PageInfo:
    """One page, for people.

    column: the physical column it belongs to. rows: top-level rows ``start..stop`` (of a child of
    a list, items, where only they are known). size: bytes in the file, -1 where that is not known.
    encoding: in words. count: how many pages it stands for, -1 where only an index tells.
    """

    column: ColumnId
    rows: tuple[int, int]
    size: int
    encoding: str
    count: int = 1


class Table(Protocol):
    """An opened file, immutable: its column-metadata offset table and little else."""

    @property
    def num_columns(self) -> int:
        """Top-level columns, or -1 where that is only known with the schema."""
        ...

    @property
    def version(self) -> str:
        """The format's version, as its users call it; "" where there is none."""
        ...

    @property
    def metadata_size(self) -> int:
        """Bytes of the file that are no data, or -1 where that is not known."""
        ...

    @property
    def choice(self) -> str:
        """In words: what the cost model chose while opening, and why. Empty: no choice."""
        ...


class ColumnMeta(Protocol):
    """The parsed metadata of one column: pure and immutable; cached by weight."""

    @property
    def weight(self) -> int:
        """Bytes of memory it holds, roughly."""
        ...


class Format(Protocol):
    """One file format. An instance has no state; every method may run in any thread."""

    name: str
    takes_schema: bool
    """Whether the files carry no names, so that ``schema=`` may give them."""

    def claims(self, tail: memoryview) -> bool:
        """Whether the last bytes of a file (or all of a short one) look like this format."""
        ...

    def open(self, opening: Opening) -> Steps[Table]:
        """Footer, offset table and what the cost model says goes with it."""
        ...

    def schema(self, table: Any) -> Steps[Schema]:
        """The schema; verified where a hint let ``open`` assume it. Costs a hop only once: the
        engine keeps it."""
        ...

    def assumed(self, table: Any) -> Schema | None:
        """The schema that a hint supplied and nothing has verified yet, else None."""
        ...

    def sought(self, table: Any, words: Sought) -> Steps[Sequence[Column]] | None:
        """Columns, of which only the ids count, whose metadata makes the schema as far as these
        words reach; None where the schema is had without the metadata of columns."""
        ...

    def known(self, table: Any, metas: Mapping[ColumnId, Any]) -> Schema:
        """The schema, all its names, and the columns that these make; another one raises Stale
        when it is looked at. Only asked after ``sought``."""
        ...

    def paths(self, table: Any, name: str, prefix: str) -> Steps[Sequence[str]] | None:
        """The paths inside a top-level column of no fixed structure, those that begin with
        ``prefix``; None of any other column, and where there is none of this name."""
        ...

    def generation(self, table: Any) -> Hashable | None:
        """Equal for files whose columns are the same at the same places, so that a Column of one
        serves for the other; None where that is not known, or not before the schema was read."""
        ...

    def num_rows(self, table: Any) -> Steps[int]:
        """Top-level rows in the file."""
        ...

    def columns(
        self, table: Any, columns: Sequence[Column]
    ) -> Steps[Mapping[ColumnId, ColumnMeta]]:
        """The metadata of these columns (see :meth:`needed`): one wide need.

        Where the schema was assumed, the same need brings its bytes; raises Stale if they differ.
        """
        ...

    def needed(self, field: Column) -> Sequence[Column]:
        """The columns at or below ``field`` (pruned) whose metadata a read of it needs."""
        ...

    def plan(
        self, table: Any, metas: Mapping[ColumnId, Any], query: Query, cost: CostModel
    ) -> Steps[Plan]:
        """Rows to pages to exact bytes. A hop only for page indexes of partly read pages."""
        ...

    def load(self, shared: SharedLoad, metas: Mapping[ColumnId, Any]) -> Steps[tuple[object, int]]:
        """A shared value and its size in bytes. First need: ``shared.ranges``."""
        ...

    def decode(
        self,
        unit: DecodeUnit,
        metas: Mapping[ColumnId, Any],
        shared: Mapping[Hashable, object],
    ) -> Steps[object]:
        """The unit's data. The first need is ``unit.ranges``, always; it may ask again, within
        what ``unit.later`` announced. ``shared`` is filled when the first reply arrives."""
        ...

    def assemble(
        self, field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
    ) -> pa.Array | pa.ChunkedArray:
        """The rows of one top-level field: cuts its pieces to one row grid, builds structs and
        lists. Pieces come in row order and together cover ``rows``; they may reach beyond."""
        ...

    def pages(self, meta: Any) -> Sequence[PageInfo]:
        """The pages of a column's metadata, for people."""
        ...

    def statistics(self, meta: Any) -> Statistics | None:
        """Bounds and counts of a leaf in all of the file, for people; None where it keeps none."""
        ...

    def learn(self, table: Any) -> Hint | None:
        """What this file teaches about its neighbours."""
        ...


@dataclass(frozen=True, slots=True)
class Image:
    """A file to be decoded as it lies.

    ranges: what is to be read of it. known: bytes that are here, with their places. read: makes the
    table of the whole file's bytes, zeros where nothing was read; None where a plan is to say what
    is wrong.
    """

    ranges: tuple[ByteRange, ...]
    known: tuple[tuple[ByteRange, bytes], ...]
    why: str
    read: Callable[[pa.Buffer], pa.Table | None]


class Entire(Protocol):
    """A format that reads small files whole sooner than by a plan."""

    def entire(self, table: Any) -> Image | None:
        """All rows of all columns: what a plan of them gives, of the same bytes; None where a plan
        is to be made."""
        ...


def chosen(kind: type[Options], words: Mapping[str, object], what: str) -> Options:
    """The options, a dataclass, of a writer's words; RequestError lists all where one is unknown.

    what: the files that the options are of, for people.
    """
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    for word in words:
        if word not in known:
            near = difflib.get_close_matches(word, known, 1)
            meant = f" did you mean {near[0]}?" if near else ""
            raise RequestError(
                f"{word!r} is no option of {what};{meant} there are: {', '.join(known)}"
            )
    return kind(**words)


class Encoder(Protocol):
    """One file that is being written: tables in, the bytes of the file out, in their order."""

    def write(self, table: pa.Table) -> None:
        """Append rows, of the file's schema."""
        ...

    def finish(self) -> None:
        """Hand out the rest: what is still held, and what follows the last row."""
        ...

    def drop(self) -> None:
        """The file is given up: let go of all that is held, and hand out nothing more."""
        ...


class Writer(Protocol):
    """How a format is written: ``WRITER`` in the module ``writer`` of the format's folder."""

    name: str
    suffixes: tuple[str, ...]
    """Ends of file names, with the dot, that stand for this format."""

    def options(self, words: Mapping[str, object]) -> Any:
        """The checked options; RequestError lists the known ones where one is unknown."""
        ...

    def encoder(
        self,
        schema: pa.Schema,
        options: Any,
        out: Callable[[memoryview], None],
        rows: int | None,
    ) -> Encoder:
        """An encoder of a new file; RequestError where the format has no such type.

        out: takes the bytes, and keeps no view of them. rows: how many will come, None where that
        is not known.
        """
        ...
