"""What to read of a file for a dataset's columns, and how it becomes theirs. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.condition import Compared, Given, IsNull, Within, parts
from rangeio.datasets.evolving.evolution import DatasetSchema
from rangeio.datasets.evolving.filling import Fill
from rangeio.datasets.evolving.reshaping import (
    SAME,
    Cast,
    Lacking,
    Listed,
    Mapped,
    Nulls,
    Pick,
    Same,
    Sized,
    Step,
    Struct,
    Viewed,
    of_column,
    unchanged,
)
from rangeio.datasets.evolving.translation import Translation, path_value
from rangeio.datasets.evolving.unifying import FromPath, Sources, inner, shape_of
from rangeio.errors import RangeIOError
from rangeio.predicate import Predicate
from rangeio.schema import Column, ColumnId, Schema

_NO_VALUES: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Part:
    """One column of the result: of the file's ``index``-th column that was read, else one value,
    which is the path's where there is neither."""

    column: Column
    index: int | None = None
    step: Step = SAME
    fill: Fill | None = None


@dataclass(frozen=True, slots=True)
class Fit:
    """How the files of one generation give a dataset's columns.

    fields: the file's own columns that must be read, pruned, each once; there may be none.
    schema: of the tables that come of it.
    """

    fields: tuple[Column, ...]
    schema: pa.Schema
    parts: tuple[Part, ...]
    dataset: DatasetSchema | None
    generation: int

    def bare(self) -> Fit:
        """The same for :meth:`table` alone: small without the dataset's schema, and it pickles."""
        return replace(self, dataset=None)

    def table(
        self, table: pa.Table, partition_values: Mapping[str, object] = _NO_VALUES, url: str = ""
    ) -> pa.Table:
        """The rows of a file as the dataset has them.

        ``table`` has the columns of :attr:`fields`, in order; without any it counts the rows. What
        needs no change shares its memory. Raises Unsupported, with the url, for a value that the
        dataset's type does not hold (a time, in finer units), and RequestError for a partition's.
        """
        if not self.parts:
            return table.select([])
        try:
            columns = [self._column(part, table, partition_values) for part in self.parts]
        except RangeIOError as error:
            raise error.located(url) from None
        return pa.Table.from_arrays(columns, schema=self.schema)

    def _column(
        self, part: Part, table: pa.Table, values: Mapping[str, object]
    ) -> pa.ChunkedArray | pa.Array:
        if part.index is not None:
            return of_column(table, part.index, part.step, part.column.type)
        fill = part.fill
        if fill is None:
            fill = Fill(part.column.type, path_value(part.column, values))
        return fill.rows(table.num_rows)

    def predicate(
        self, predicate: Predicate, partition_values: Mapping[str, object] = _NO_VALUES
    ) -> Predicate:
        """The dataset's filter for pruning inside the file, and for nothing else.

        It never rules out a row that matches; rows are chosen by ``predicate`` itself, on the
        fitted table: the expression is true. ``keep({})`` is NEVER where no row of the file can
        match. columns: those of the file that statistics are asked of.
        """
        assert self.dataset is not None
        translation = Translation(self.dataset.schema, self.generation, partition_values)
        condition = translation.of(predicate.condition)
        leaves = (one for one, _ in parts(condition))
        asked = (one for one in leaves if isinstance(one, (Given, IsNull, Compared, Within)))
        return Predicate(tuple(dict.fromkeys(c.path for c in asked)), condition, pc.scalar(True))


def fit(dataset: DatasetSchema, generation: int | Schema, fields: Sequence[Column]) -> Fit:
    """How files of a generation (its position, or its schema) give ``fields``.

    fields: columns of the dataset, pruned as ``select`` gives them, and :func:`settled`. Raises
    RequestError for a schema that is none of the dataset's.
    """
    g = generation if isinstance(generation, int) else dataset.generation(generation)
    asked: dict[ColumnId, set[tuple[str, ...]]] = {}
    own: dict[ColumnId, Column] = {}
    for field in fields:
        source = source_of(field, g)
        if source is not None and not pa.types.is_null(source.type):
            own[source.id] = source
            asked.setdefault(source.id, set()).update(_needed(field, source, g))
    read = {key: own[key].pruned(frozenset(paths)) for key, paths in asked.items()}
    places = {key: i for i, key in enumerate(read)}
    made = tuple(_part(field, g, read, places) for field in fields)
    schema = pa.schema([field.arrow for field in fields])
    return Fit(tuple(read.values()), schema, made, dataset, g)


def settled(column: Column, absent: frozenset[str]) -> Column:
    """A column of the dataset as it is for files whose path lacks these partition columns."""
    path = column.payload
    if isinstance(path, FromPath) and path.own is not None and column.name in absent:
        return replace(column, payload=path.own)
    return column


def source_of(column: Column, generation: int) -> Column | None:
    """The file's own column for one of the dataset; None where the file has none."""
    if isinstance(column.payload, FromPath):
        return None
    if isinstance(column.payload, Sources):
        return column.payload.columns[generation]
    return column


def _needed(want: Column, have: Column, g: int) -> Iterator[tuple[str, ...]]:
    """The file's paths to read for a column. Of a struct of which the file has nothing that was
    asked, one leaf tells where it is null."""
    shape = shape_of(want.type)
    if not isinstance(want.payload, Sources):
        yield from (leaf.path for leaf in want.leaves())
    elif not want.children and want.type.num_fields:
        yield have.path
    elif shape == "struct":
        found = [(child, source_of(child, g)) for child in want.children]
        known = [(c, s) for c, s in found if s is not None and not pa.types.is_null(s.type)]
        for child, source in known:
            yield from _needed(child, source, g)
        if not known:
            yield min(have.leaves(), key=_cost).path
    elif shape in ("value", "map"):
        yield have.path
    else:
        (item,) = want.children
        yield from _needed(item, inner(have)[0], g)


def _cost(leaf: Column) -> tuple[int, int]:
    """What is cheaper to read comes first: fewer levels, then small values of one size."""
    primitive = pa.types.is_primitive(leaf.type)
    return len(leaf.path), leaf.type.bit_width if primitive else 1 << 16


def _part(
    field: Column, g: int, read: Mapping[ColumnId, Column], places: Mapping[ColumnId, int]
) -> Part:
    if isinstance(field.payload, FromPath):
        return Part(field)
    source = source_of(field, g)
    if source is None:
        return Part(field, fill=_fill(field))
    if source.id not in read:  # of type null
        return Part(field, fill=Fill(field.type))
    return Part(field, places[source.id], _step(field, read[source.id], g))


def _fill(column: Column) -> Fill:
    assert isinstance(column.payload, Sources)
    return Fill(column.type, column.payload.default)


def _step(want: Column, have: Column, g: int) -> Step:
    """What makes the file's (pruned) column the dataset's."""
    if not isinstance(want.payload, Sources):
        return SAME
    if pa.types.is_null(have.type):
        return SAME if pa.types.is_null(want.type) else Nulls(want.type)
    shape = shape_of(want.type)
    if shape == "value" or (not want.children and want.type.num_fields):
        return SAME if have.type == want.type else Cast(want.type, have.id.name)
    if shape == "struct":
        return _struct(want, have, g)
    steps = [_step(w, h, g) for w, h in zip(inner(want), inner(have), strict=True)]
    if have.type == want.type and all(isinstance(one, Same) for one in steps):
        return SAME
    if shape == "map":
        return Mapped(want.type, *steps)
    if shape == "list":
        return Listed(want.type, *steps)
    return (Viewed if shape.endswith("view") else Sized)(want.type, *steps)


def _struct(want: Column, have: Column, g: int) -> Step:
    places = {child.id: i for i, child in enumerate(have.children)}
    picks: list[Pick | Lacking] = []
    for child in want.children:
        source = source_of(child, g)
        if source is None:
            picks.append(Lacking(_fill(child)))
        elif source.id not in places:  # of type null
            picks.append(Lacking(Fill(child.type)))
        else:
            i = places[source.id]
            picks.append(Pick(i, _step(child, have.children[i], g)))
    if have.type == want.type and unchanged(picks):
        return SAME
    return Struct(want.type, tuple(picks))
