"""From the bytes of a unit to the leaf that it holds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pyarrow as pa

from rangeio.codecs import bounds
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt
from rangeio.formats.lance.pages import LanceMeta
from rangeio.formats.lance.v21 import blob, constant, fullzip, miniblock
from rangeio.formats.lance.v21.chunks import Chunks, ChunkTable
from rangeio.formats.lance.v21.layouts import Blob, Constant, FullZip, MiniBlock, layout_of
from rangeio.formats.lance.v21.leaf import Leaf
from rangeio.formats.lance.v21.parts import Chunked, Part, Records, Spans, Whole
from rangeio.formats.lance.v21.values import Values, size_of
from rangeio.plan import DecodeUnit, Rows, SharedLoad
from rangeio.ranges import ByteRange
from rangeio.schema import ColumnId
from rangeio.steps import Steps, needs

Views = Sequence[memoryview]


def load(shared: SharedLoad, metas: Mapping[ColumnId, LanceMeta]) -> Steps[tuple[Values, int]]:
    """A dictionary that several units of one page use, and its size in bytes."""
    leaf, number = shared.args
    outer = layout_of(metas[leaf].pages[number])
    layout = outer.inner if isinstance(outer, Blob) else outer
    got = yield from needs(shared.ranges, "lance.dictionary")
    assert isinstance(layout, MiniBlock)
    values = miniblock.dictionary_of(layout, _bytes(got))
    return values, size_of(values)


def decode(
    unit: DecodeUnit, metas: Mapping[ColumnId, LanceMeta], shared: Mapping[Hashable, object]
) -> Steps[Leaf]:
    """The asked rows of one unit."""
    meta, args = metas[unit.column], unit.args
    page = meta.pages[args.page]
    outer = layout_of(page)
    part = Part(unit.column, 0, args.page, page, outer, args.rows, args.scale)
    got = yield from needs(unit.ranges, "lance.page")
    if isinstance(args, Spans) and not args.known:
        got = [*got, *(yield from needs(_spans(part, got), "lance.zipped"))]
    if not isinstance(outer, Blob):
        return _named(_leaf(part, args, meta.column.type, got, unit, shared), args)
    leaf = _named(_leaf(part, args, blob.DESCRIPTION, got, unit, shared), args)
    at = blob.payloads(outer, leaf, meta.limit)
    payloads = yield from needs(at.ranges, "lance.blob")
    return blob.decode(outer, meta.column.type, at, payloads)


def _named(leaf: Leaf, args: Whole | Chunked | Records | Spans) -> Leaf:
    """The leaf with its elements told as top-level rows of the file."""
    edges = leaf.edges if args.scale == 1 else None
    return replace(leaf, rows=args.rows, scale=args.scale, edges=edges).indexed()


def _leaf(
    part: Part,
    args: Whole | Chunked | Records | Spans,
    kind: pa.DataType,
    got: Views,
    unit: DecodeUnit,
    shared: Mapping[Hashable, object],
) -> Leaf:
    layout, elements = part.layout, part.elements
    total = part.total
    if isinstance(layout, Constant):
        buffers = [np.frombuffer(view, np.uint8) for view in got]
        return constant.decode(layout, kind, buffers, elements, total)
    if isinstance(layout, FullZip):
        return _zipped(part, layout, args, kind, got)
    chunks: Chunks
    if isinstance(args, Chunked):
        chunks, ranges = args.chunks, len(args.chunks.runs)
        data, rest = _bytes(got[:ranges]), got[ranges:]
    else:
        table = ChunkTable.parse(layout, got[0], None, got[1].nbytes, total)
        every = part.complete or layout.layers.lists
        chunks = table.all() if every else table.pick(elements)
        data, rest = _bytes(got[1:2]), got[2:]
    dictionary: Values | None = None
    if unit.uses:
        dictionary = cast("Values", shared[unit.uses[0]])
    elif layout.dictionary is not None:
        dictionary = miniblock.dictionary_of(layout, _bytes(rest))
    return miniblock.decode(layout, kind, chunks, data, dictionary, elements, total)


def _bytes(views: Views) -> Bytes:
    """Some views as one array; one view alone is not copied."""
    return np.frombuffer(views[0] if len(views) == 1 else b"".join(views), np.uint8)


# ---- full-zip ----------------------------------------------------------------------------------


def _zipped(part: Part, layout: FullZip, args: object, kind: pa.DataType, got: Views) -> Leaf:
    elements = part.elements
    if isinstance(args, Records):
        sizes = np.array([view.nbytes for view in got])
        stops = np.cumsum(sizes)
        return fullzip.decode(layout, kind, _bytes(got), stops - sizes, stops, elements)
    if isinstance(args, Whole):
        index = _index(got[1], part.total + 1)
        rows = elements.array()
        data = np.frombuffer(got[0], np.uint8)
        return fullzip.decode(layout, kind, data, index[rows], index[rows + 1], elements)
    runs = len(elements)
    starts, stops = _segments(elements, got[:runs], got[runs:])
    return fullzip.decode(layout, kind, _bytes(got[runs:]), starts, stops, elements)


def _index(view: memoryview, entries: int) -> Offsets:
    """Some entries of a repetition index."""
    width = view.nbytes // entries
    return bounds.offsets(np.frombuffer(view, f"<u{width}"))


def _segments(elements: Rows, indexes: Views, data: Views) -> tuple[Offsets, Offsets]:
    """Where each row lies in the joined data; Corrupt where the index contradicts them."""
    starts, stops, base = [], [], 0
    for (a, b), index, view in zip(elements.runs(), indexes, data, strict=True):
        at = _index(index, b - a + 1)
        if int(at[-1]) - int(at[0]) != view.nbytes:
            raise Corrupt("a repetition index that contradicts itself")
        starts.append(at[:-1] + (base - at[0]))
        stops.append(at[1:] + (base - at[0]))
        base += view.nbytes
    return np.concatenate(starts), np.concatenate(stops)


def _spans(part: Part, indexes: Views) -> list[ByteRange]:
    """The bytes of each run of rows, by the entries of the repetition index."""
    room = part.page.buffers[0]
    found = []
    for (a, b), index in zip(part.elements.runs(), indexes, strict=True):
        at = _index(index, b - a + 1)
        first, last = int(at[0]), int(at[-1])
        if not 0 <= first <= last <= room.size:
            raise Corrupt(f"rows at {first}..{last} of a page of {room.size} bytes")
        found.append(ByteRange(room.start + first, room.start + last))
    return found
