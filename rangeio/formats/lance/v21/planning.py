"""From rows to pages to exact bytes.

A page read whole asks for all its buffers at once: no hop comes before. A page read in part needs
its chunk metadata (and repetition index) first, and so does one too large to be read at once; the
metadata of all such pages of all columns is one wide hop. Whether partly read pages are read in
part at all is what ``cost.seconds`` says, for all of them together: one hop with all their bytes,
or two hops with metadata and the estimated bytes of the chunks alone. A store without latency
(a file, memory) so always reads just the chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.pages import LanceMeta
from rangeio.formats.lance.v21 import fullzip
from rangeio.formats.lance.v21.arrays import row_size
from rangeio.formats.lance.v21.blob import DESCRIPTION
from rangeio.formats.lance.v21.chunks import ChunkTable, joined
from rangeio.formats.lance.v21.layouts import Blob, Constant, FullZip, MiniBlock, layout_of
from rangeio.formats.lance.v21.leaf import merged
from rangeio.formats.lance.v21.parts import (
    Chunked,
    Limits,
    Part,
    Records,
    Spans,
    Whole,
)
from rangeio.formats.lance.v21.shape import shape_of
from rangeio.plan import DecodeUnit, Later, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import ColumnId
from rangeio.steps import Steps, needs

_LIGHT = 16 << 10
_LIGHT_ROWS = 4096


def plan(
    metas: Mapping[ColumnId, LanceMeta], query: Query, cost: CostModel, limits: Limits
) -> Steps[Plan]:
    """The units of a query; a hop only for the metadata of pages that are not read whole."""
    every = list(_parts(metas, query, limits))
    indexed = _indexed(every, cost)
    asked = [_boundaries(part) if id(part) in indexed else () for part in every]
    got = yield from needs([at for ranges in asked for at in ranges], "lance.page_index")
    units: list[tuple[int, DecodeUnit]] = []
    shared: list[SharedLoad] = []
    at = 0
    for part, ranges in zip(every, asked, strict=True):
        views = got[at : at + len(ranges)]
        at += len(ranges)
        made = _units(part, metas[part.leaf], id(part) in indexed, views, shared)
        units += ((part.order, unit) for unit in made)
    units.sort(key=lambda one: (one[1].rows[0], one[0]))
    return Plan(tuple(unit for _, unit in units), tuple({one.key: one for one in shared}.values()))


def _parts(metas: Mapping[ColumnId, LanceMeta], query: Query, limits: Limits) -> Iterator[Part]:
    if not query.rows.count:
        return  # an empty file may have types that no page can hold
    order, asked = 0, merged(query.rows)
    for field in query.fields:
        for leaf, shape in shape_of(field):
            found = 0
            for number, page in enumerate(metas[leaf.id].pages):
                start = shape.rows(page.first)
                rows = asked.within(start, start + shape.rows(page.rows))
                if not len(rows):
                    continue
                found += rows.count
                layout = layout_of(page)
                shape.check(layout.layers.kinds)
                part = Part(leaf.id, order, number, page, layout, rows, shape.scale, limits)
                _check_buffers(part)
                yield part
            if found != query.rows.count:
                raise Corrupt(f"the pages of column {leaf.id.name} do not hold all its rows")
            order += 1


def _check_buffers(part: Part) -> None:
    layout, have = part.layout, len(part.page.buffers)
    least = 0
    if isinstance(layout, MiniBlock):
        least = 2 + (layout.dictionary is not None) + layout.indexed
        # A chunk takes 8 bytes at least, and counts its levels in 16 bits.
        if have >= 2 and part.total > part.page.buffers[1].size << 13:
            raise Corrupt(f"{part.total} rows in {part.page.buffers[1].size} bytes of chunks")
    elif isinstance(layout, FullZip):
        least = 1 + layout.indexed
        _check_zip(part, layout)
    if have < least:
        raise Corrupt(f"a page of {have} buffers, where its layout has {least}")


def _check_zip(part: Part, layout: FullZip) -> None:
    elements = part.total
    if not layout.indexed:
        wanted = elements * fullzip.record(layout)
        if not part.page.buffers or part.page.buffers[0].size != wanted:
            raise Corrupt(f"{elements} full-zip values do not take {wanted} bytes")
    elif len(part.page.buffers) > 1:
        width, rest = divmod(part.page.buffers[1].size, elements + 1)
        if rest or width not in (1, 2, 4, 8):
            raise Corrupt(f"a repetition index of {part.page.buffers[1].size} bytes")


# ---- what is read in part ----------------------------------------------------------------------


def _indexed(parts: Sequence[Part], cost: CostModel) -> set[int]:
    """The parts (by identity) whose index the plan reads first."""
    able = [p for p in parts if not isinstance(p.layout, Constant) and _has_index(p)]
    large = [p for p in able if p.size > p.limits.large]
    partial = [p for p in able if not p.complete and p.size <= p.limits.large]
    whole = cost.seconds(1, sum(p.size for p in partial))
    exact = cost.seconds(2, sum(p.expected for p in partial))
    chosen = partial if large or exact < whole else []
    return {id(p) for p in (*large, *chosen)}


def _has_index(part: Part) -> bool:
    return not isinstance(part.layout, FullZip) or part.layout.indexed


def _boundaries(part: Part) -> tuple[ByteRange, ...]:
    """What the plan needs of a part that is not read whole."""
    if isinstance(part.layout, MiniBlock):
        return part.index
    if _entries_later(part):
        return ()
    return tuple(_entry(part, element) for element in _marks(part))


def _entries_later(part: Part) -> bool:
    """Whether a full-zip part has too many runs of rows for the plan to look each up."""
    return len(part.rows) > part.limits.runs


def _entry(part: Part, first: int, stop: int | None = None) -> ByteRange:
    """Entries of the repetition index: one, or those up to ``stop``."""
    index = part.page.buffers[1]
    width = index.size // (part.total + 1)
    last = first + 1 if stop is None else stop
    return ByteRange(index.start + width * first, index.start + width * last)


def _marks(part: Part) -> list[int]:
    """The elements whose position a full-zip part's plan looks up: the ends of its runs, and in
    large pages enough between them to cut it into pieces."""
    found: list[int] = []
    elements = part.elements
    for a, b in elements.runs():
        share, cuts = part.size * (b - a) // max(part.total, 1), 1
        if share > part.limits.large:
            cuts = min(4 * share // part.limits.piece, b - a, part.limits.pieces)
        inner = {a + (b - a) * i // cuts // part.scale * part.scale for i in range(cuts)}
        found += [*sorted(inner), b]
    return found


# ---- units -------------------------------------------------------------------------------------


def _units(
    part: Part,
    meta: LanceMeta,
    indexed: bool,
    views: Sequence[memoryview],
    shared: list[SharedLoad],
) -> Iterator[DecodeUnit]:
    if isinstance(part.outer, Blob):
        return _blobs(part, meta, indexed, views, shared)
    return _plain(part, meta.column.type, indexed, views, shared)


def _blobs(
    part: Part,
    meta: LanceMeta,
    indexed: bool,
    views: Sequence[memoryview],
    shared: list[SharedLoad],
) -> Iterator[DecodeUnit]:
    """The units of the descriptions, few rows each: how much they point at is not known yet."""
    for rows in _pieces(part.rows, _every(part.rows, part.limits.blobs, part.limits)):
        piece = replace(part, rows=rows)
        for unit in _plain(piece, DESCRIPTION, indexed, views, shared):
            later = Later((ByteRange(0, meta.limit),), piece.rows.count)
            yield replace(unit, later=(*unit.later, later))


def _plain(
    part: Part,
    kind: pa.DataType,
    indexed: bool,
    views: Sequence[memoryview],
    shared: list[SharedLoad],
) -> Iterator[DecodeUnit]:
    layout = part.layout
    if isinstance(layout, Constant):
        return _filled(part, layout, kind)
    if isinstance(layout, FullZip) and not layout.indexed:
        return _records(part, layout)
    if not indexed:
        return iter([_whole(part, part.rows)])
    if isinstance(layout, FullZip):
        return _spans_later(part) if _entries_later(part) else _spans(part, views)
    return _chunked(part, layout, views, shared)


def _unit(
    part: Part,
    rows: Rows,
    ranges: tuple[ByteRange, ...],
    args: object,
    uses: tuple[object, ...] = (),
    later: tuple[Later, ...] = (),
) -> DecodeUnit:
    extent = (int(rows.starts[0]), int(rows.stops[-1]))
    light = sum(at.size for at in ranges) < _LIGHT and rows.count * part.scale <= _LIGHT_ROWS
    return DecodeUnit(part.leaf, extent, ranges, args, uses, later, light)


def _whole(part: Part, rows: Rows) -> DecodeUnit:
    return _unit(part, rows, part.buffers, Whole(part.number, rows, part.scale))


def _pieces(rows: Rows, cuts: Sequence[int]) -> Iterator[Rows]:
    """The rows, cut at some of their numbers."""
    if not cuts:
        yield rows
        return
    edges = sorted({int(rows.starts[0]), int(rows.stops[-1]), *cuts})
    for a, b in pairwise(edges):
        piece = rows.within(a, b)
        if len(piece):
            yield piece


def _every(rows: Rows, step: int, limits: Limits) -> list[int]:
    """Every ``step``-th of the rows, or fewer where that were too many; 0: none."""
    if step <= 0:
        return []
    counts = rows.stops - rows.starts
    before = np.cumsum(counts) - counts
    nth = np.arange(0, rows.count, max(step, rows.count // limits.pieces))
    run = np.searchsorted(before, nth, "right") - 1
    found: list[int] = (rows.starts[run] + nth - before[run]).tolist()
    return found


def _filled(part: Part, layout: Constant, kind: pa.DataType) -> Iterator[DecodeUnit]:
    """A page without levels is made in pieces: nothing bounds its rows but their number."""
    if len(part.page.buffers) > 1:
        yield _whole(part, part.rows)
        return
    value = len(layout.value or b"") + sum(at.size for at in part.page.buffers)
    size = max(row_size(kind), value, 1) * part.scale
    step = max(part.limits.filled // size, 1)
    start, stop = int(part.rows.starts[0]), int(part.rows.stops[-1])
    if (stop - start) // step > part.limits.pieces:
        raise Unsupported(f"a constant page of {part.page.rows} rows of {size} bytes")
    for rows in _pieces(part.rows, range(start, stop, step)):
        yield _whole(part, rows)


def _records(part: Part, layout: FullZip) -> Iterator[DecodeUnit]:
    size = fullzip.record(layout) * part.scale
    base = part.page.buffers[0].start
    cuts: Sequence[int] = ()
    if part.rows.count * size > part.limits.large:
        step = max(part.limits.piece // size, 1)
        cuts = range(int(part.rows.starts[0]), int(part.rows.stops[-1]), step)
    for rows in _pieces(part.rows, cuts):
        local = rows.shifted(-part.first)
        ranges = tuple(ByteRange(base + a * size, base + b * size) for a, b in local.runs())
        args = Records(part.number, rows, part.scale)
        yield _unit(part, rows, ranges, args)


def _spans_later(part: Part) -> Iterator[DecodeUnit]:
    """Units whose index entries are their first need; cut by the mean size of the page's rows."""
    mean = max(part.size // max(part.total, 1) * part.scale, 1)
    step = part.limits.piece // mean if part.rows.count * mean > part.limits.large else 0
    for rows in _pieces(part.rows, _every(part.rows, step, part.limits)):
        piece = replace(part, rows=rows)
        ranges = tuple(_entry(part, a, b + 1) for a, b in piece.elements.runs())
        later = Later((part.page.buffers[0],), len(rows))
        args = Spans(part.number, rows, part.scale, known=False)
        yield _unit(part, rows, ranges, args, later=(later,))


def _spans(part: Part, views: Sequence[memoryview]) -> Iterator[DecodeUnit]:
    """Units of full-zip rows whose positions the plan has looked up."""
    at = {m: int.from_bytes(v, "little") for m, v in zip(_marks(part), views, strict=True)}
    room = part.page.buffers[0].size
    if any(b < a for a, b in pairwise([*at.values(), room])):
        raise Corrupt("a repetition index whose positions fall or leave their page")
    for rows in _span_pieces(part, at):
        shifted = rows.shifted(-part.first)
        runs = list(Rows(shifted.starts * part.scale, shifted.stops * part.scale).runs())
        base = part.page.buffers[0].start
        index = tuple(_entry(part, a, b + 1) for a, b in runs)
        data = tuple(ByteRange(base + at[a], base + at[b]) for a, b in runs)
        args = Spans(part.number, rows, part.scale, known=True)
        yield _unit(part, rows, index + data, args)


def _span_pieces(part: Part, at: Mapping[int, int]) -> Iterator[Rows]:
    """The rows, cut at looked-up positions into pieces of about the limit."""
    if sum(at[b] - at[a] for a, b in part.elements.runs()) <= part.limits.large:
        yield part.rows
        return
    cuts, last = [], next(iter(at.values()))
    for element, position in at.items():
        if position - last >= part.limits.piece:
            cuts.append(part.first + element // part.scale)
            last = position
    yield from _pieces(part.rows, cuts)


def _chunked(
    part: Part,
    layout: MiniBlock,
    views: Sequence[memoryview],
    shared: list[SharedLoad],
) -> Iterator[DecodeUnit]:
    chunks = part.page.buffers[1]
    total = part.total
    index = views[1] if layout.indexed else None
    table = ChunkTable.parse(layout, views[0], index, chunks.size, total)
    cuts = table.cuts(part.elements, part.limits.piece) if part.size > part.limits.large else []
    rows = list(_pieces(part.rows, [part.first + c // part.scale for c in cuts]))
    uses: tuple[object, ...] = ()
    last: tuple[ByteRange, ...] = part.buffers[2:]
    if len(rows) > 1 and last:
        uses, last = (("dict", last[0].start),), ()
        shared.append(SharedLoad(uses[0], part.buffers[2:], (part.leaf, part.number)))
    for one in rows:
        local = one.shifted(-part.first)
        picked = table.pick(Rows(local.starts * part.scale, local.stops * part.scale))
        ranges = table.bytes(picked, chunks.start) + last
        args = Chunked(part.number, one, part.scale, joined(picked), bool(uses))
        yield _unit(part, one, ranges, args, uses)
