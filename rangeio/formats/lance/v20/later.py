"""What the hops behind the first may ask for, known from metadata alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rangeio.formats.lance.pages import Page, physical
from rangeio.formats.lance.v20 import blob, page
from rangeio.formats.lance.v20.branch import Metas, Paged, is_list, is_struct, paged
from rangeio.formats.lance.v20.encodings import Binary, FixedList, List, Node, Nullable
from rangeio.formats.lance.v20.span import Span
from rangeio.formats.lance.v20.strings import exact
from rangeio.plan import Later, Rows
from rangeio.ranges import ByteRange
from rangeio.schema import Column

Hops = list[Later]


def of_page(column: Column, metas: Metas, own: Paged, i: int, span: Span) -> Hops:
    """The later hops of the rows of one page of a leaf or a list."""
    if is_list(column):
        (child,) = column.children
        first, items = own.items[i], own.listed(i).items
        if span.whole:
            return _rows(child, metas, Rows.span(first, first + items))
        return _window(child, metas, first, first + items, len(span.rows))
    if metas[column.id].blob:
        return blob.later(span, metas[column.id].limit)
    if physical(column).paired and isinstance(own.node(i), List):
        if span.whole:
            return []
        below = metas[column.id].below
        return [Later(_buffers(below), len(span.rows) + len(below))]
    return page.later(own.node(i), span)


def _rows(column: Column, metas: Metas, rows: Rows) -> Hops:
    """The later hops of known rows of a column."""
    if is_struct(column):
        return _beside([_rows(child, metas, rows) for child in column.children])
    own = paged(column, metas)
    return _beside([of_page(column, metas, own, i, span) for i, span in own.cut(rows)])


def _window(column: Column, metas: Metas, start: int, stop: int, runs: int) -> Hops:
    """All hops, the first too, of unknown rows within a window: at most so many runs of them."""
    if is_struct(column):
        return _beside([_window(c, metas, start, stop, runs) for c in column.children])
    own = paged(column, metas)
    cut = list(own.cut(Rows.span(start, stop)))
    if not cut:
        return []
    pages = [own.pages[i] for i, _ in cut]
    most = (runs + len(pages)) * max(len(p.buffers) for p in pages)
    hops = [Later(_buffers(pages), most)]
    if is_list(column):
        (child,) = column.children
        window = own.items[cut[0][0]], own.items[cut[-1][0] + 1]
        return hops + _window(child, metas, *window, runs + len(pages))
    if metas[column.id].blob:
        return [*hops, *blob.later(Span.all(stop - start), metas[column.id].limit)]
    if physical(column).paired:
        below = metas[column.id].below
        return [*hops, Later(_buffers(below), runs + len(pages) + len(below))]
    if any(_twice(own.node(i)) for i, _ in cut):
        hops.append(Later(_buffers(pages), runs + len(pages)))
    return hops


def _twice(node: Node) -> bool:
    """Whether part of a page of this encoding takes two hops."""
    while isinstance(node, Nullable | FixedList):
        node = node.values if isinstance(node, Nullable) else node.items
    return isinstance(node, Binary) and exact(node)


def _buffers(pages: Sequence[Page]) -> tuple[ByteRange, ...]:
    return tuple(b for one in pages for b in one.buffers)


def _beside(many: Sequence[Hops]) -> Hops:
    """The hops of parts that advance together."""
    hops = []
    for bounds in zip_longest(*many):
        some = [b for b in bounds if b is not None]
        within = tuple(dict.fromkeys(at for b in some for at in b.within))
        hops.append(Later(within, sum(b.at_most for b in some)))
    return hops
