"""Rows to pages to exact bytes: units of many pages, of one branch each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from rangeio.codecs.bounds import Offsets
from rangeio.formats.doris import ordinals
from rangeio.formats.doris.branches import Leaf, Metas, branches, leaves
from rangeio.formats.doris.columns import Place
from rangeio.formats.doris.ordinals import Ordinals, Wanted
from rangeio.formats.doris.pruning import kept
from rangeio.formats.doris.table import DorisTable
from rangeio.formats.doris.types import size_of
from rangeio.plan import DecodeUnit, Later, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, ColumnId
from rangeio.steps import Steps

UNIT = 2 << 20
"""Bytes of pages that one unit decodes, about: enough to be worth a thread, few enough that
decoding begins while later ones are still on their way."""

SEVERAL = ColumnId(-1, ("several columns",))
"""Whose unit it is that holds those of many columns."""

_MANY = 64  # units from which on they are put together
_WHOLE = 64 << 20  # bytes of a list column up to which it is read in one hop and one unit
_LIGHT = 16 << 10
_TEXT, _SHRUNK = 16, 4  # bytes of a text, about; how much smaller than that a page should count


@dataclass(frozen=True, slots=True)
class Cut:
    """Some rows of one branch; a unit has one or more as its arguments. pages: of all columns that
    it may read."""

    column: Column
    rows: Rows
    pages: Mapping[Place, Ordinals]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A branch and its columns of pages, those of its own rows first."""

    column: Column
    leaves: Sequence[Leaf]
    pages: Mapping[Place, Ordinals]
    dictionaries: tuple[SharedLoad, ...]

    @property
    def outer(self) -> list[Leaf]:
        """The columns with a row for each of the file's."""
        return [leaf for leaf in self.leaves if not leaf.depth]

    @property
    def inner(self) -> list[Leaf]:
        """The columns of items."""
        return [leaf for leaf in self.leaves if leaf.depth]


def plan(table: DorisTable, metas: Metas, query: Query, cost: CostModel) -> Steps[Plan]:
    """The units of a query, by row and then by column."""
    rows, pruned = query.rows, tuple[str, ...]()
    if query.predicate is not None and rows.count:
        found = yield from kept(table, query.fields, metas, query.predicate, rows)
        rows, pruned = found.rows, found.pruned
    if not rows.count or not query.fields:
        return Plan((), pruned=pruned, rows=rows)
    found_branches = yield from _branches(table, metas, query.fields)
    units: list[DecodeUnit] = []
    for branch in found_branches:
        units += _units(branch, rows, table.footer.num_rows, cost)
    order = {branch.column.id: i for i, branch in enumerate(found_branches)}
    units.sort(key=lambda unit: (unit.rows[0], order[unit.column]))
    if len(units) > _MANY:
        units = list(_merged(units))
    used = {key for unit in units for key in unit.uses}
    shared = {load.key: load for branch in found_branches for load in branch.dictionaries}
    loads = tuple(load for key, load in shared.items() if key in used)
    return Plan(tuple(units), loads, pruned, rows)


def _branches(table: DorisTable, metas: Metas, fields: Sequence[Column]) -> Steps[list[Branch]]:
    """All branches with their pages: one hop for all ordinal indexes."""
    columns = [branch for field in fields for branch in branches(field, metas)]
    found = [leaves(column, metas, table.footer.num_rows) for column in columns]
    wanted = [wanted_of(leaf) for own in found for leaf in own]
    pages = iter((yield from ordinals.read(wanted, table.limit)))
    out = []
    for column, own in zip(columns, found, strict=True):
        by_place = {leaf.place: next(pages) for leaf in own}
        out.append(Branch(column, own, by_place, tuple(_dictionaries(own))))
    return out


def wanted_of(leaf: Leaf) -> Wanted:
    """The ordinal index of a column of pages."""
    return Wanted(leaf.node.ordinal, leaf.rows, leaf.node.compression, leaf.name)


def _dictionaries(leaves: Sequence[Leaf]) -> Iterator[SharedLoad]:
    for leaf in leaves:
        at = leaf.node.dictionary
        if at is not None:
            yield SharedLoad(("doris.dictionary", at.start), (at,), leaf.place)


def _units(branch: Branch, rows: Rows, num_rows: int, cost: CostModel) -> Iterator[DecodeUnit]:
    if not branch.inner:
        yield from _leaf_units(branch, rows)
        return
    inner = sum(branch.pages[leaf.place].size for leaf in branch.inner)
    # Bytes that move while a further hop would be under way.
    worth = min(int(cost.latency_s * cost.bytes_per_s), _WHOLE)
    if inner <= (_WHOLE if rows.count == num_rows else worth):
        yield _unit(branch, rows, at_once=True)
        return
    offsets = branch.pages[branch.leaves[0].place]
    sizes = offsets.sizes + (offsets.stops - offsets.firsts) * inner // num_rows
    for start, stop in _spans(offsets, offsets.touched(rows), sizes):
        yield _unit(branch, rows.within(start, stop), at_once=False)


def _leaf_units(branch: Branch, rows: Rows) -> Iterator[DecodeUnit]:
    pages = branch.pages[branch.column.payload]  # type: ignore[index]
    if len(pages) == 1:  # as in every column of a wide table
        yield _unit(branch, rows, at_once=True)
        return
    # What compresses well is decoded in parts all the same.
    width = size_of(branch.leaves[0].node.type) or _TEXT
    sizes = np.maximum(pages.sizes, (pages.stops - pages.firsts) * width // _SHRUNK)
    for start, stop in _spans(pages, pages.touched(rows), sizes):
        yield _unit(branch, rows.within(start, stop), at_once=True)


def _spans(pages: Ordinals, touched: Offsets, sizes: Offsets) -> Iterator[tuple[int, int]]:
    """Runs of rows whose touched pages together are about a unit each."""
    numbers = (np.cumsum(sizes[touched]) - sizes[touched] // 2) // UNIT
    for _, group in groupby(zip(numbers.tolist(), touched.tolist(), strict=True), lambda g: g[0]):
        own = [page for _, page in group]
        yield int(pages.firsts[own[0]]), int(pages.stops[own[-1]])


def _unit(branch: Branch, rows: Rows, *, at_once: bool) -> DecodeUnit:
    """The unit of some rows of a branch. at_once: items are read in the first hop."""
    pages: dict[Place, Ordinals] = {}
    ranges: list[ByteRange] = []
    for leaf in branch.leaves:
        own = branch.pages[leaf.place]
        pages[leaf.place] = own if leaf.depth else own.chosen(own.touched(rows))
        if at_once or not leaf.depth:
            ranges += pages[leaf.place].ranges()
    light = len(ranges) == 1 and ranges[0].size <= _LIGHT
    return DecodeUnit(
        branch.column.id,
        rows.extent,
        tuple(ranges),
        (Cut(branch.column, rows, pages),),
        tuple(load.key for load in branch.dictionaries),
        () if at_once else tuple(_later(branch)),
        light=light,
        borrows=True,
    )


def _merged(units: Sequence[DecodeUnit]) -> Iterator[DecodeUnit]:
    """The units, small neighbours of the same rows as one: a task each would cost more than its
    work."""
    mine: list[DecodeUnit] = []
    size = 0
    for unit in units:
        own = sum(at.size for at in unit.ranges)
        if mine and (unit.later or unit.rows != mine[0].rows or size + own > UNIT):
            yield _one(mine)
            mine, size = [], 0
        if unit.later or own > UNIT // 2:
            yield unit
            continue
        mine.append(unit)
        size += own
    if mine:
        yield _one(mine)


def _one(units: Sequence[DecodeUnit]) -> DecodeUnit:
    if len(units) == 1:
        return units[0]
    ranges = tuple(at for unit in units for at in unit.ranges)
    cuts = tuple(cut for unit in units for cut in unit.args)
    uses = tuple(dict.fromkeys(key for unit in units for key in unit.uses))
    return DecodeUnit(SEVERAL, units[0].rows, ranges, cuts, uses)


def _later(branch: Branch) -> Iterator[Later]:
    """A hop for every list above items, with all pages that it may ask for."""
    for depth in range(1, max(leaf.depth for leaf in branch.inner) + 1):
        own = [branch.pages[leaf.place] for leaf in branch.inner if leaf.depth == depth]
        within = tuple(at for pages in own for at in pages.ranges())
        yield Later(within, len(within))
