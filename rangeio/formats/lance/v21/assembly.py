"""Leaves joined to one top-level column: their pages are cut at different rows.

The rows are cut where the leaf with the fewest pieces is cut; the other leaves are sliced to that
grid. A flat column is its pieces, and nothing is copied.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Bytes, Levels, Offsets
from rangeio.codecs.levels import Layer, Unravelled, unravel
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.v21.leaf import Leaf, merged
from rangeio.formats.lance.v21.shape import shape_of
from rangeio.plan import Piece, Rows
from rangeio.schema import Column, ColumnId

_INT32_MOST = (1 << 31) - 1


def assemble(
    field: Column, rows: Rows, leaves: Mapping[ColumnId, Sequence[Piece]]
) -> pa.Array | pa.ChunkedArray:
    """The rows of a top-level column. Raises Corrupt where its leaves contradict each other."""
    if not rows.count:
        return pa.nulls(0, field.type)
    rows = merged(rows)
    columns = [_ordinal(rows, leaves.get(leaf.id, ())) for leaf, _ in shape_of(field)]
    coarse = min(columns, key=len)
    if not coarse:
        return pa.nulls(0, field.type)
    parts = []
    for one in coarse:
        cut = [_cut(column, _start(one), _stop(one)) for column in columns]
        cursors = [_Cursor.over(leaf) for leaf in cut]
        parts.append(_build(field, cursors))
    return parts[0] if len(parts) == 1 else pa.chunked_array(parts, field.type)


def _ordinal(rows: Rows, pieces: Sequence[Piece]) -> list[Leaf]:
    """The asked rows of each piece, numbered from 0 as they are asked."""
    found, at = [], 0
    for piece in pieces:
        leaf = piece.data
        assert isinstance(leaf, Leaf)
        wanted = rows.within(*piece.rows)
        if len(wanted):
            stop = at + wanted.count
            found.append(replace(leaf.select(wanted), rows=Rows.span(at, stop)))
            at = stop
    assert at == rows.count, f"pieces of {at} rows, where {rows.count} were asked for"
    return found


def _cut(column: Sequence[Leaf], start: int, stop: int) -> Leaf:
    """The leaf's rows ``start..stop``, of one piece or joined from many."""
    first = bisect_right(column, start, key=_stop)
    last = bisect_left(column, stop, first, key=_start)
    found = []
    for leaf in column[first:last]:
        a, b = max(start, _start(leaf)), min(stop, _stop(leaf))
        found.append(leaf.select(Rows.span(a, b)))
    if len(found) == 1:
        return found[0]
    one = found[0]
    return Leaf(
        rows=Rows.span(start, stop),
        scale=one.scale,
        kinds=one.kinds,
        values=pa.concat_arrays([leaf.values for leaf in found]),
        rep=None if one.rep is None else np.concatenate([_rep(leaf) for leaf in found]),
        defs=_defs(found),
    )


def _start(leaf: Leaf) -> int:
    return int(leaf.rows.starts[0])


def _stop(leaf: Leaf) -> int:
    return int(leaf.rows.stops[-1])


def _rep(leaf: Leaf) -> Levels:
    if leaf.rep is None:
        raise Corrupt("pages of one column of which some have repetition levels")
    return leaf.rep


def _defs(leaves: Sequence[Leaf]) -> Levels | None:
    """Joined definition levels; all 0 where a page has none and another does."""
    if all(one.defs is None for one in leaves):
        return None
    return np.concatenate(
        [np.zeros(_entries(one), np.uint16) if one.defs is None else one.defs for one in leaves]
    )


def _entries(leaf: Leaf) -> int:
    return len(leaf.values) if leaf.rep is None else len(leaf.rep)


# ---- from levels to nested arrays --------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Cursor:
    """One leaf on the way down: its layers, inner-most first, and how many are still below.

    scale: entries a slot of the current layer, for fixed-size lists below it.
    """

    values: pa.Array
    layers: tuple[Unravelled, ...]
    below: int
    scale: int

    @classmethod
    def over(cls, leaf: Leaf) -> _Cursor:
        if not any(leaf.kinds) and leaf.defs is None:
            flat = Unravelled(len(leaf.values), None, 0)
            return cls(leaf.values, (flat,) * len(leaf.kinds), len(leaf.kinds), leaf.scale)
        layers = [Layer.NULL_AND_EMPTY_LIST if k else Layer.NULLABLE_ITEM for k in leaf.kinds]
        found = unravel(leaf.rep, leaf.defs, layers, _entries(leaf))
        if found[0].length != len(leaf.values):
            raise Corrupt(f"{len(leaf.values)} values for {found[0].length} slots")
        return cls(leaf.values, found, len(leaf.kinds), leaf.scale)

    @property
    def layer(self) -> Unravelled:
        """The current layer."""
        return self.layers[self.below - 1]

    def down(self, layers: int = 1, shrink: int = 1) -> _Cursor:
        """Inside the current layer."""
        return replace(self, below=self.below - layers, scale=self.scale // shrink)

    def slots(self) -> tuple[int, Bytes | None]:
        """How many slots the current layer has, and their validity."""
        own = self.layer
        if self.scale == 1 or own.validity is None:
            return own.length // self.scale, own.validity
        every = np.unpackbits(own.validity, count=own.length, bitorder="little")[:: self.scale]
        return len(every), None if every.all() else np.packbits(every, bitorder="little")


def _build(node: Column, cursors: Sequence[_Cursor]) -> pa.Array:
    if not node.children:
        return cursors[0].values
    kind = node.type
    if isinstance(kind, pa.BaseExtensionType):
        storage = _build(replace(node, type=kind.storage_type), cursors)
        return pa.ExtensionArray.from_storage(kind, storage)
    count, validity = _agreed(cursors)
    bitmap = None if validity is None else pa.py_buffer(validity)
    if pa.types.is_struct(kind):
        children = _children(node, [c.down() for c in cursors])
        return pa.Array.from_buffers(kind, count, [bitmap], children=children)
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        (child,) = _children(node, [c.down(shrink=size) for c in cursors])
        return pa.Array.from_buffers(kind, count, [bitmap], children=[child])
    offsets = _offsets(kind, cursors)
    if pa.types.is_map(kind):
        sides = _children(node, [c.down(2) for c in cursors])
        entries = pa.struct([kind.key_field, kind.item_field])
        child = pa.Array.from_buffers(entries, len(sides[0]), [None], children=sides)
    else:
        (child,) = _children(node, [c.down() for c in cursors])
    return pa.Array.from_buffers(kind, count, [bitmap, offsets], children=[child])


def _children(node: Column, cursors: Sequence[_Cursor]) -> list[pa.Array]:
    """The child columns, each from the cursors of its own leaves."""
    found, at = [], 0
    for child in node.children:
        leaves = sum(1 for _ in child.leaves())
        found.append(_build(child, cursors[at : at + leaves]))
        at += leaves
    if len({len(child) for child in found}) > 1:
        raise Corrupt(f"the columns below {node.id.name} have different lengths")
    return found


def _agreed(cursors: Sequence[_Cursor]) -> tuple[int, Bytes | None]:
    """Slots and validity of the current layer, which every leaf tells alike."""
    count, validity = cursors[0].slots()
    for other in cursors[1:]:
        found, bitmap = other.slots()
        if found != count or not _same(bitmap, validity):
            raise Corrupt("leaves of one column disagree about its nulls")
    return count, validity


def _offsets(kind: pa.DataType, cursors: Sequence[_Cursor]) -> pa.Buffer:
    offsets: Offsets | None = cursors[0].layer.offsets
    assert offsets is not None
    for other in cursors[1:]:
        if not _same(other.layer.offsets, offsets):
            raise Corrupt("leaves of one column disagree about its lists")
    if pa.types.is_large_list(kind):
        return pa.py_buffer(offsets)
    if int(offsets[-1]) > _INT32_MOST:
        raise Unsupported(f"{offsets[-1]} items of {kind} in one piece of a page")
    return pa.py_buffer(offsets.astype(np.int32))


def _same(one: Bytes | Offsets | None, other: Bytes | Offsets | None) -> bool:
    """Whether two arrays are equal, or both are absent."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
