"""Rows to row groups and pages to exact bytes: units that each hold a part of some columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.formats.parquet.chunks import Chunks, chunks_of, counted, merged
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.formats.parquet.pages.offsets import OffsetIndex
from rangeio.formats.parquet.pages.picked import Picked, indexed, picked
from rangeio.formats.parquet.pruning.kept import Kept, kept
from rangeio.formats.parquet.table import ParquetTable
from rangeio.plan import DecodeUnit, Plan, Query, Rows
from rangeio.schema import Column, ColumnId
from rangeio.steps import Steps

UNIT = 4 << 20
"""Bytes of chunks that one unit decodes, about: enough to be worth a thread, few enough that
decoding begins while later ones are still on their way."""


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole chunks of some fields in consecutive row groups: the arguments of a unit."""

    fields: tuple[Column, ...]
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Paged:
    """Chosen pages of one field in one row group: the arguments of a unit."""

    field: Column
    group: int
    picked: Picked


@dataclass(frozen=True, slots=True)
class _Job:
    """What all parts of one plan look at."""

    table: ParquetTable
    metas: Mapping[ColumnId, ParquetMeta]
    fields: tuple[Column, ...]


def plan(table: ParquetTable, metas: Mapping[ColumnId, ParquetMeta], query: Query) -> Steps[Plan]:
    """The units of a query, by row and then by column."""
    rows, pruned, indexes = query.rows, tuple[str, ...](), {}
    if query.predicate is not None and rows.count:
        found: Kept = yield from kept(
            list(metas.values()), query.predicate, rows, size=table.size, sparing=table.sparing
        )
        rows, pruned, indexes = found.rows, found.pruned, dict(found.indexes)
    job = _Job(table, metas, query.fields)
    if not rows.count or not query.fields:
        return Plan((), pruned=pruned, rows=rows)
    whole, parts = _divided(job, rows)
    indexes |= yield from _missing(job, parts, indexes)
    units = list(_paged(job, parts, indexes, whole))
    units += _whole(job, whole)
    order = {field.id: i for i, field in enumerate(query.fields)}
    units.sort(key=lambda unit: (unit.rows[0], order[unit.column]))
    return Plan(tuple(units), pruned=pruned, rows=rows)


def _divided(job: _Job, rows: Rows) -> tuple[dict[int, list[Column]], dict[int, Rows]]:
    """The row groups that are read whole, with all fields, and the rows of those read in part."""
    starts = job.table.group_starts
    whole: dict[int, list[Column]] = {}
    parts: dict[int, Rows] = {}
    for group in range(len(starts) - 1):
        start, stop = int(starts[group]), int(starts[group + 1])
        here = rows.within(start, stop)
        if here.count == stop - start and start < stop:
            whole[group] = list(job.fields)
        elif here.count:
            parts[group] = here.shifted(-start)
    return whole, parts


def _missing(
    job: _Job, parts: Mapping[int, Rows], known: Mapping[tuple[int, int], OffsetIndex]
) -> Steps[dict[tuple[int, int], OffsetIndex]]:
    """The offset indexes of partly read chunks, where they are likely to save enough."""
    wanted = [
        (job.metas[leaf.id], group)
        for group in parts
        for field in job.fields
        if _spares(job, field, group)
        for leaf in field.leaves()
    ]
    wanted = [(m, g) for m, g in wanted if (m.index, g) not in known]
    return (yield from indexed(wanted, job.table.size))


def _spares(job: _Job, field: Column, group: int) -> bool:
    """Whether every leaf has an offset index, and reading pages can save more than it costs."""
    metas = [job.metas[leaf.id] for leaf in field.leaves()]
    sizes = [m.fact(group, Fact.OFFSET_INDEX_SIZE) for m in metas]
    if any(m.fact(group, Fact.OFFSET_INDEX) <= 0 for m in metas) or min(sizes) <= 0:
        return False
    chunks = sum(m.fact(group, Fact.COMPRESSED) for m in metas)
    return chunks > sum(sizes) + job.table.sparing


def _paged(
    job: _Job,
    parts: Mapping[int, Rows],
    indexes: Mapping[tuple[int, int], OffsetIndex],
    whole: dict[int, list[Column]],
) -> Iterator[DecodeUnit]:
    """The units of chosen pages. Fields whose pages cannot be chosen go to ``whole``."""
    starts = job.table.group_starts
    for group, rows in parts.items():
        first, stop = int(starts[group]), int(starts[group + 1])
        for field in job.fields:
            metas = [job.metas[leaf.id] for leaf in field.leaves()]
            own = [indexes.get((m.index, group)) for m in metas]
            chosen = picked(metas, group, own, rows, stop - first)
            if chosen is None:
                whole.setdefault(group, []).append(field)
                continue
            low, high = rows.extent
            yield DecodeUnit(
                field.id,
                (first + low, first + high),
                chosen.ranges,
                Paged(field, group, chosen),
                borrows=False,
            )


def _whole(job: _Job, whole: Mapping[int, Sequence[Column]]) -> Iterator[DecodeUnit]:
    """The units of whole chunks: small row groups together, large ones field by field."""
    alike: dict[tuple[ColumnId, ...], list[int]] = {}
    for group in sorted(whole):
        alike.setdefault(tuple(field.id for field in whole[group]), []).append(group)
    for groups in alike.values():
        yield from _runs(job, _Block.of(job, tuple(whole[groups[0]]), groups))


@dataclass(frozen=True, slots=True)
class _Block:
    """Whole chunks of some fields. first: the leaf at which each field begins, and their number."""

    fields: tuple[Column, ...]
    first: npt.NDArray[np.int64]
    chunks: Chunks

    @classmethod
    def of(cls, job: _Job, fields: tuple[Column, ...], groups: Sequence[int]) -> _Block:
        """The chunks of these fields in these row groups, checked against the file."""
        own = [[job.metas[leaf.id] for leaf in field.leaves()] for field in fields]
        first = np.concatenate(([0], np.cumsum([len(metas) for metas in own])))
        metas = [meta for mine in own for meta in mine]
        table = job.table
        chunks = chunks_of(metas, groups, table.size, table.footer.created_by)
        counted(chunks)
        return cls(fields, first, chunks)

    def unit(self, job: _Job, groups: slice, fields: slice = slice(None)) -> DecodeUnit:
        """A unit of some of its row groups and fields, by their positions in the block."""
        first, stop, _ = fields.indices(len(self.fields))
        leaves = slice(int(self.first[first]), int(self.first[stop]))
        ranges = merged(self.chunks.starts[groups, leaves], self.chunks.stops[groups, leaves])
        mine, own = tuple(self.chunks.groups[groups]), self.fields[fields]
        starts = job.table.group_starts
        rows = (int(starts[mine[0]]), int(starts[mine[-1] + 1]))
        return DecodeUnit(own[0].id, rows, tuple(ranges), Whole(own, mine), borrows=False)


def _runs(job: _Job, block: _Block) -> Iterator[DecodeUnit]:
    """Units of consecutive row groups."""
    groups = block.chunks.groups
    start = size = 0
    for i, mine in enumerate(block.chunks.sizes.sum(axis=1).tolist()):
        if i > start and (size + mine > UNIT or groups[i] != groups[i - 1] + 1):
            yield block.unit(job, slice(start, i))
            start, size = i, 0
        if mine > UNIT and len(block.fields) > 1:
            yield from _cut(job, block, i)
            start = i + 1
        else:
            size += mine
    if start < len(groups):
        yield block.unit(job, slice(start, len(groups)))


def _cut(job: _Job, block: _Block, at: int) -> Iterator[DecodeUnit]:
    """A large row group, by sets of fields."""
    start = size = 0
    for i, more in enumerate(np.add.reduceat(block.chunks.sizes[at], block.first[:-1]).tolist()):
        if i > start and size + more > UNIT:
            yield block.unit(job, slice(at, at + 1), slice(start, i))
            start, size = i, 0
        size += more
    yield block.unit(job, slice(at, at + 1), slice(start, len(block.fields)))
