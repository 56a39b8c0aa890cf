"""Mini-block pages: small values in chunks, each with its levels in front.

A chunk: ``u16 levels, [u16 bytes of rep], [u16 bytes of def], bytes of each value buffer (u16, or
u32 in large chunks)``, then the buffers themselves, each padded to 8 bytes. All chunks are decoded
by one call per step; nothing loops over them in Python.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from rangeio.codecs import variable
from rangeio.codecs.bounds import Bytes, Levels, Offsets
from rangeio.codecs.levels import valid_bitmap
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21 import blockvalues, chunkvalues
from rangeio.formats.lance.v21.arrays import array
from rangeio.formats.lance.v21.chunks import Chunks
from rangeio.formats.lance.v21.chunkvalues import Buffers
from rangeio.formats.lance.v21.encodings import Encoding, unsupported
from rangeio.formats.lance.v21.layers import invisible
from rangeio.formats.lance.v21.layouts import MiniBlock
from rangeio.formats.lance.v21.leaf import Leaf, chosen, ordinals, slots, taken
from rangeio.formats.lance.v21.values import Coded, Fixed, Values
from rangeio.plan import Rows


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """Where the levels and value buffers of every chunk lie."""

    levels: Offsets
    rep: Buffers | None
    defs: Buffers | None
    values: list[Buffers]


def decode(
    layout: MiniBlock,
    kind: pa.DataType,
    chunks: Chunks,
    data: Bytes,
    dictionary: Values | None,
    elements: Rows,
    total: int,
) -> Leaf:
    """The asked elements of some chunks of ``data``; ``total`` is how many the page has.

    Raises Corrupt where a chunk contradicts itself or the index.
    """
    parts = _parts(layout, chunks, data)
    rep = _levels(layout.rep, parts.rep, parts.levels)
    defs = _levels(layout.defs, parts.defs, parts.levels)
    if defs is not None:
        defs = layout.layers.renumber(defs)
    before = _slots(layout, chunks, parts, rep, defs)
    values = _values(layout, chunks, parts, dictionary, defs, kind)
    if rep is None:
        above = defs if layout.layers.nulls_above else None
        held = Rows(chunks.firsts, chunks.firsts + _sums(chunks.items, chunks.runs))
        leaf = Leaf(held, 1, layout.layers.kinds, values, None, above)
    else:
        leaf = Leaf(elements, 1, layout.layers.kinds, values, rep, defs, before=before)
        leaf = _trimmed(leaf, chunks, parts.levels, total)
    if leaf.rows == elements:
        return leaf
    return leaf.pick(elements, ordinals(leaf.rows, elements))


def dictionary_of(layout: MiniBlock, data: Bytes) -> Values:
    """The values of the page's dictionary block."""
    assert layout.dictionary is not None
    return blockvalues.decode(layout.dictionary, data, layout.dictionary_items)


def _parts(layout: MiniBlock, chunks: Chunks, data: Bytes) -> _Parts:
    wide = 4 if layout.large else 2
    leveled = (layout.rep is not None) + (layout.defs is not None)
    head = 2 + 2 * leveled + wide * layout.buffers
    if (chunks.sizes < head).any() or int(chunks.sizes.sum()) > len(data):
        raise Corrupt("a chunk shorter than its head")
    heads = variable.gather(data, chunks.starts, np.full(len(chunks.starts), head))
    grid = heads.reshape(-1, head)
    levels = _column(grid, 0, 2)
    at, sizes = 2, []
    for width in [2] * leveled + [wide] * layout.buffers:
        sizes.append(_column(grid, at, width))
        at += width
    used = np.full(len(chunks.starts), (head + 7) & ~7)
    found = []
    for size in sizes:
        found.append(Buffers(data, chunks.starts + used, size))
        used = used + ((size + 7) & ~7)
        # The last buffer's padding may be cut off; its bytes may not.
        if (found[-1].starts + size > chunks.starts + chunks.sizes).any():
            raise Corrupt("a buffer that reaches beyond its chunk")
    rep = found.pop(0) if layout.rep is not None else None
    defs = found.pop(0) if layout.defs is not None else None
    return _Parts(levels, rep, defs, found)


def _column(grid: Bytes, at: int, width: int) -> Offsets:
    raw = np.ascontiguousarray(grid[:, at : at + width])
    return raw.view(f"<u{width}").reshape(-1).astype(np.int64)


def _levels(encoding: Encoding | None, buffers: Buffers | None, counts: Offsets) -> Levels | None:
    if encoding is None or buffers is None:
        return None
    return blockvalues.levels(encoding, buffers, counts)


def _slots(
    layout: MiniBlock, chunks: Chunks, parts: _Parts, rep: Levels | None, defs: Levels | None
) -> Offsets | None:
    """Visible slots before each entry, None where every entry is one; Corrupt unless each chunk
    has as many as the page's metadata say."""
    if rep is None or defs is None:
        leveled = rep is not None or defs is not None
        if leveled and not np.array_equal(parts.levels, chunks.items):
            raise Corrupt("a chunk whose levels are not as many as its items")
        return None
    before = slots(layout.layers.kinds, defs)
    stops = np.cumsum(parts.levels)
    if not np.array_equal(before[stops] - before[stops - parts.levels], chunks.items):
        raise Corrupt("a chunk whose visible levels are not as many as its items")
    return before


def _values(
    layout: MiniBlock,
    chunks: Chunks,
    parts: _Parts,
    dictionary: Values | None,
    defs: Levels | None,
    kind: pa.DataType,
) -> pa.Array:
    found = chunkvalues.decode(layout.values, parts.values, chunks.items)
    if dictionary is not None:
        if not isinstance(found, Fixed) or found.size not in (1, 2, 4, 8):
            raise unsupported(layout.values, "dictionary indices")
        found = Coded(found.data.view(f"<u{found.size}"), dictionary)
    return array(kind, found, validity(layout.layers.kinds, defs))


def validity(kinds: tuple[bool, ...], defs: Levels | None) -> Bytes | None:
    """The bitmap of the visible slots, None where all are valid."""
    if defs is None:
        return None
    seen = invisible(kinds)
    if len(defs) and any(kinds) and int(defs.max()) >= seen:
        defs = defs[defs < seen]
    return valid_bitmap(defs)[0]


def _trimmed(leaf: Leaf, chunks: Chunks, levels: Offsets, total: int) -> Leaf:
    """The rows that begin in the chunks: without what belongs to rows that begin before them."""
    assert leaf.rep is not None
    stops = np.cumsum(_sums(levels, chunks.runs))
    starts = np.concatenate((np.zeros(1, np.int64), stops[:-1]))
    begins = np.flatnonzero(leaf.rep == leaf.lists)
    at = np.searchsorted(begins, starts, "left")
    number = np.searchsorted(begins, stops, "left") - at
    wanted = np.array([total]) if chunks.begun is None else chunks.begun
    if not np.array_equal(number, wanted):
        raise Corrupt("repetition levels that contradict the repetition index")
    held = Rows(chunks.firsts, chunks.firsts + number)
    edges = np.append(begins, len(leaf.rep))
    firsts = edges[at]
    if np.array_equal(firsts, starts):
        return replace(leaf, rows=held, edges=edges)
    entries = Rows(np.minimum(firsts, stops), stops)
    kept = chosen(leaf.values, leaf.visible(entries))
    defs = None if leaf.defs is None else taken(leaf.defs, entries)
    return Leaf(held, 1, leaf.kinds, kept, taken(leaf.rep, entries), defs)


def _sums(counts: Offsets, runs: Offsets) -> Offsets:
    """The sum over each run."""
    total = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    stops = np.cumsum(runs)
    sums: Offsets = total[stops] - total[stops - runs]
    return sums
