"""A unit's pages to Arrow arrays of exactly the asked rows; lists ask for their items' pages."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Offsets
from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats.doris.branches import NULLS, Metas, nulls_of, place_of
from rangeio.formats.doris.columns import Place
from rangeio.formats.doris.encodings import Binary
from rangeio.formats.doris.meta import Node
from rangeio.formats.doris.ordinals import Ordinals
from rangeio.formats.doris.pagedata import PageData, arrays, page_data
from rangeio.formats.doris.planning import Cut
from rangeio.formats.doris.words import FieldType
from rangeio.plan import DecodeUnit, Rows
from rangeio.ranges import ByteRange
from rangeio.schema import Column, ColumnId
from rangeio.steps import Need, Steps, needs, together

Arrays: TypeAlias = list[pa.Array]
_WHY = "doris.pages"
_MOST_ITEMS = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Decoded:
    """The asked rows of branches, in order, each in one array or more."""

    rows: Rows
    arrays: Mapping[ColumnId, Arrays]


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What all parts of one decode look at. held: the pages that are here, by their offset."""

    metas: Metas
    cut: Cut
    shared: Mapping[Hashable, object]
    held: dict[int, memoryview]

    def node(self, place: Place) -> Node:
        """What the file says of a column."""
        return self.metas[place.meta].node.below(place.steps)

    def words(self, node: Node) -> Binary | None:
        """The dictionary of a column."""
        if node.dictionary is None:
            return None
        found = self.shared[("doris.dictionary", node.dictionary.start)]
        assert isinstance(found, Binary)
        return found


def decode(unit: DecodeUnit, metas: Metas, shared: Mapping[Hashable, object]) -> Steps[Decoded]:
    """The rows of a unit."""
    replies = yield Need(unit.ranges, _WHY)
    held = {at.start: data for at, data in zip(unit.ranges, replies, strict=True)}
    cuts: tuple[Cut, ...] = unit.args
    found: dict[ColumnId, Arrays] = {}
    for cut in cuts:
        job = Job(metas, cut, shared, held)
        found[cut.column.id] = yield from _built(job, cut.column, cut.rows)
    return Decoded(cuts[0].rows, found)


def _built(job: Job, column: Column, rows: Rows) -> Steps[Arrays]:
    """The rows of a column, and of all below it."""
    node = job.node(place_of(column))
    if node.type == FieldType.STRUCT:
        return [(yield from _struct(job, column, node, rows))]
    if node.offsets >= 0:
        return [(yield from _listed(job, column, node, rows))]
    pages = yield from _pages(job, place_of(column), rows)
    try:
        return arrays(pages, node, column.type, rows)
    except FormatError as error:
        name = column.id.name.replace(NULLS, "nulls")
        at = error.offset if error.offset is not None else pages[0].at.start
        raise type(error)(f"{name!r}: {error.reason}", offset=at) from None


def _single(job: Job, column: Column, rows: Rows) -> Steps[pa.Array]:
    """The rows of a column as one array."""
    found = yield from _built(job, column, rows)
    if len(found) == 1:
        return found[0]
    try:
        return pa.concat_arrays(found)
    except pa.ArrowException as error:
        raise Unsupported(
            f"{column.id.name!r} has more than one array holds ({error}): read fewer rows at a time"
        ) from None


def _pages(job: Job, place: Place, rows: Rows) -> Steps[list[PageData]]:
    """The pages that hold some rows, each decoded; a hop for those that are not here."""
    every = job.cut.pages[place]
    chosen = every.chosen(every.touched(rows))
    ranges = chosen.ranges()
    missing = [at for at in ranges if at.start not in job.held]
    replies = yield from needs(missing, _WHY)
    fresh = {at.start: data for at, data in zip(missing, replies, strict=True)}
    node = job.node(place)
    words = job.words(node)
    return [
        page_data(fresh.get(at.start, job.held.get(at.start)), at, node, words, first, stop)
        for at, first, stop in _spans(chosen, ranges)
    ]


def _spans(chosen: Ordinals, ranges: Sequence[ByteRange]) -> zip[tuple[ByteRange, int, int]]:
    return zip(ranges, chosen.firsts.tolist(), chosen.stops.tolist(), strict=True)


def _nulls(job: Job, column: Column, node: Node, rows: Rows) -> Steps[pa.Array | None]:
    """Where a nested column is null; None where it never is."""
    own = nulls_of(column, node)
    if own is None:
        return None
    found = yield from _single(job, own, rows)
    return null_mask(found)


def null_mask(array: pa.Array) -> pa.Array | None:
    """The rows of a column of nulls as booleans; None where none is true."""
    mask = np.asarray(array) != 0
    return pa.array(mask) if mask.any() else None


def _struct(job: Job, column: Column, node: Node, rows: Rows) -> Steps[pa.Array]:
    parts: list[Steps[pa.Array | None]] = [_nulls(job, column, node, rows)]
    parts += [_single(job, child, rows) for child in column.children]
    nulls, *children = yield from together(parts, _WHY)
    return struct_of(column, children, nulls, rows.count)


def struct_of(
    column: Column, children: Sequence[pa.Array], nulls: pa.Array | None, rows: int
) -> pa.StructArray:
    """A struct of its children's rows."""
    if not children:
        bitmap = None if nulls is None else _bitmap(nulls)
        return pa.Array.from_buffers(column.type, rows, [bitmap])
    fields = [column.type.field(i) for i in range(len(children))]
    return pa.StructArray.from_arrays(list(children), fields=fields, mask=nulls)


def _bitmap(nulls: pa.Array) -> pa.Buffer:
    """The validity of rows of which ``nulls`` says which are null."""
    return pa.py_buffer(np.packbits(~np.asarray(nulls), bitorder="little"))


# ---- lists and maps ------------------------------------------------------------------------------


def _listed(job: Job, column: Column, node: Node, rows: Rows) -> Steps[pa.Array]:
    """The rows of an array or map, and their items: a hop after that for the offsets."""
    place = place_of(column).below(node.offsets)
    asked: list[Steps[object]] = [_pages(job, place, rows), _nulls(job, column, node, rows)]
    pages, nulls = yield from together(asked, _WHY)
    items = job.cut.pages[_first(job, column)]
    most = int(items.stops[-1]) if len(items) else 0
    starts, stops = _edges(pages, rows, most, column.id.name)  # type: ignore[arg-type]
    sizes = stops - starts
    if nulls is not None and sizes[np.asarray(nulls)].any():
        raise Corrupt(f"{column.id.name!r} is null where it has items")
    inner = _runs(starts, stops)
    below = [_single(job, child, inner) for child in column.children]
    children = yield from together(below, _WHY)
    return _list_of(column, sizes, children, nulls)


def _first(job: Job, column: Column) -> Place:
    """A column of pages that has a row for each item of a list."""
    below = column.children[0]
    node = job.node(place_of(below))
    while node.type == FieldType.STRUCT:
        if node.nulls >= 0:
            return place_of(below).below(node.nulls)
        below = below.children[0]
        node = job.node(place_of(below))
    return place_of(below).below(node.offsets) if node.offsets >= 0 else place_of(below)


def _edges(pages: Sequence[PageData], rows: Rows, most: int, name: str) -> tuple[Offsets, Offsets]:
    """Where the items of each row begin and end. Raises Corrupt where they do not ascend."""
    starts = [page.numbers() for page in pages]
    stops = [
        np.append(own[1:], page.next_item(most)) for own, page in zip(starts, pages, strict=True)
    ]
    chosen = _places(pages, rows)
    empty = [np.empty(0, np.int64)]
    first = np.concatenate(starts or empty)[chosen]
    last = np.concatenate(stops or empty)[chosen]
    bad = (last < first) | (last > most)
    bad[1:] |= first[1:] < last[:-1]
    if bad.any():
        k = int(np.argmax(bad))
        at = pages[0].at.start
        raise Corrupt(f"{name!r}: items {first[k]} to {last[k]} of {most} in a row", offset=at)
    return first, last


def _places(pages: Sequence[PageData], rows: Rows) -> Offsets | slice:
    """Where the rows lie among those of the pages, all of which hold some."""
    firsts = np.array([page.first for page in pages], np.int64)
    sizes = np.array([page.rows for page in pages], np.int64)
    if rows.count == sizes.sum():
        return slice(None)
    numbers = rows.array()
    at = np.searchsorted(firsts, numbers, "right") - 1
    places: Offsets = (np.cumsum(sizes) - sizes)[at] + numbers - firsts[at]
    return places


def _runs(starts: Offsets, stops: Offsets) -> Rows:
    """The items of ascending rows, in as few runs as can be."""
    some = stops > starts
    starts, stops = starts[some], stops[some]
    if not len(starts):
        return Rows([], [])
    apart = np.flatnonzero(starts[1:] != stops[:-1])
    return Rows(np.append(starts[0], starts[apart + 1]), np.append(stops[apart], stops[-1]))


def _list_of(
    column: Column, sizes: Offsets, children: Sequence[pa.Array], nulls: pa.Array | None
) -> pa.Array:
    edges = np.concatenate(([0], np.cumsum(sizes)))
    if int(edges[-1]) > _MOST_ITEMS:
        raise Unsupported(f"{column.id.name!r} has {edges[-1]} items: read fewer rows at a time")
    if pa.types.is_map(column.type):
        keys, values = children
        if keys.null_count:
            raise Unsupported(f"{column.id.name!r} has NULL as a key, which no Arrow map has")
        kind = column.type
        entries = pa.StructArray.from_arrays(
            [keys, values], fields=[kind.key_field, kind.item_field]
        )
    else:
        (entries,) = children
    bitmap = None if nulls is None else _bitmap(nulls)
    buffers = [bitmap, pa.py_buffer(edges.astype(np.int32))]
    return pa.Array.from_buffers(column.type, len(sizes), buffers, children=[entries])
