"""Rows of a column with all that lies below it: pages of leaves, lists over their items.

A list's items are rows of the next column, cut into pages of its own; an entry counts from the
first item of its page, which is the sum of the items of the pages before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.pages import LanceMeta, Page, physical
from rangeio.formats.lance.v20 import blob, page
from rangeio.formats.lance.v20.arrays import joined, masked, narrowed, storage, variable, wrapped
from rangeio.formats.lance.v20.encodings import List, Node, encoding
from rangeio.formats.lance.v20.span import Span
from rangeio.formats.lance.v20.strings import Ends, ends, entries, words
from rangeio.plan import Rows
from rangeio.schema import Column, ColumnId
from rangeio.steps import Steps, together

Metas = Mapping[ColumnId, LanceMeta]
Below = Callable[[Rows], Steps[pa.Array]]


class Paged:
    """The pages of one physical column, their encodings parsed when they are looked at."""

    def __init__(self, pages: Sequence[Page], column: Column) -> None:
        self.pages = pages
        self._column = column
        self._nodes: dict[int, Node] = {}

    def node(self, i: int) -> Node:
        """The encoding of page i."""
        if i not in self._nodes:
            self._nodes[i] = encoding(self.pages[i])
        return self._nodes[i]

    def listed(self, i: int) -> List:
        """The encoding of page i, which must be a list's."""
        node = self.node(i)
        if not isinstance(node, List):
            raise Corrupt(f"column {self._column.id.name!r} has pages that are no lists")
        return node

    @cached_property
    def items(self) -> list[int]:
        """How many items lie before each page's own; one more entry for the end."""
        out = [0]
        for i in range(len(self.pages)):
            out.append(out[-1] + self.listed(i).items)
            if out[-1] >= 1 << 60:
                raise Corrupt(f"column {self._column.id.name!r} claims {out[-1]} items")
        return out

    def cut(self, rows: Rows) -> Iterator[tuple[int, Span]]:
        """The pages that hold any of the rows, and which of theirs."""
        if not len(rows):
            return
        if int(rows.stops[-1]) > self.rows:
            raise Corrupt(
                f"column {self._column.id.name!r} has {self.rows} rows, not {rows.stops[-1]}"
            )
        for i, one in enumerate(self.pages):
            inside = rows.within(one.first, one.first + one.rows)
            if len(inside) and one.rows:
                yield i, Span(inside.shifted(-one.first), one.rows)

    @property
    def rows(self) -> int:
        """Rows of all pages."""
        return self.pages[-1].first + self.pages[-1].rows if self.pages else 0


def is_list(column: Column) -> bool:
    """Whether the column's pages are entries over the items of another."""
    return bool(column.children) and not pa.types.is_struct(storage(column.type))


def is_struct(column: Column) -> bool:
    """Whether the column is nothing but its fields."""
    return bool(column.children) and pa.types.is_struct(storage(column.type))


def paged(column: Column, metas: Metas) -> Paged:
    """The pages of a column."""
    return Paged(metas[column.id].pages, column)


def rows_of(column: Column, metas: Metas, rows: Rows) -> Steps[pa.Array]:
    """The rows of a column, of all its pages, as one array of its type."""
    if is_struct(column):
        steps = [rows_of(child, metas, rows) for child in column.children]
        parts = yield from together(steps, "lance.page")
        return structs(column.type, parts, rows.count)
    own = paged(column, metas)
    pages = [page_of(column, metas, own, i, span) for i, span in own.cut(rows)]
    parts = yield from together(pages, "lance.page")
    return joined(column.type, parts)


def structs(kind: pa.DataType, fields: Sequence[pa.Array], count: int) -> pa.Array:
    """Structs of these fields; version 2.0 has no null structs."""
    plain = storage(kind)
    if not fields:
        return wrapped(kind, pa.Array.from_buffers(plain, count, [None]))
    named = [plain.field(i) for i in range(plain.num_fields)]
    return wrapped(kind, pa.StructArray.from_arrays(list(fields), fields=named))


def page_of(column: Column, metas: Metas, own: Paged, i: int, span: Span) -> Steps[pa.Array]:
    """The rows of one page of a leaf or a list."""
    kind = storage(column.type)
    if is_list(column):
        array = yield from _lists(column, metas, own, i, span)
    elif metas[column.id].blob:
        array = yield from blob.blobs(own.node(i), kind, span, metas[column.id].limit)
    elif physical(column).paired and isinstance(own.node(i), List):
        array = yield from _paired(column, metas, own, i, span)
    else:
        array = yield from page.read(own.node(i), kind, span)
    return wrapped(column.type, array)


def _lists(column: Column, metas: Metas, own: Paged, i: int, span: Span) -> Steps[pa.Array]:
    if pa.types.is_map(column.type) or pa.types.is_fixed_size_list(column.type):
        raise Unsupported(f"{column.type} in version 2.0")
    (child,) = column.children

    def below(rows: Rows) -> Steps[pa.Array]:
        return rows_of(child, metas, rows)

    found, items = yield from _entries(own, i, span, below)
    kind = storage(column.type)
    offsets = pa.py_buffer(narrowed(kind, found.offsets))
    array = pa.Array.from_buffers(kind, span.count, [None, offsets], children=[items])
    return array if found.valid is None else masked_list(array, items, found)


def masked_list(array: pa.Array, items: pa.Array, found: Ends) -> pa.Array:
    """The list array with its validity."""
    buffers = [pa.py_buffer(found.bits()), array.buffers()[1]]
    return pa.Array.from_buffers(array.type, len(array), buffers, children=[items])


def _entries(own: Paged, i: int, span: Span, below: Below) -> Steps[tuple[Ends, pa.Array]]:
    """The entries of a list page and the items that they cut.

    Of a whole page the items are known before the entries are read: no second hop for them.
    """
    node = own.listed(i)
    first = own.items[i]
    indices = page.read(node.offsets, pa.uint64(), entries(span))
    if span.whole:
        both = [indices, below(Rows.span(first, first + node.items))]
        raw, items = yield from together(both, "lance.page")
        found = ends(words(raw), span, node.adjustment, node.items)
        start, stop = int(found.runs.starts[0]), int(found.runs.stops[0])
        return found, items.slice(start, stop - start)
    raw = yield from indices
    found = ends(words(raw), span, node.adjustment, node.items)
    return found, (yield from below(touching(found.runs).shifted(first)))


def touching(runs: Rows) -> Rows:
    """The same rows without empty runs, and runs that touch made one."""
    some = runs.stops > runs.starts
    starts, stops = runs.starts[some], runs.stops[some]
    if not len(starts):
        return Rows(starts, stops)
    if (starts[1:] < stops[:-1]).any():
        raise Corrupt("lists that share items")
    new = np.concatenate(([True], starts[1:] > stops[:-1]))
    return Rows(starts[new], stops[np.concatenate((new[1:], [True]))])


def _paired(column: Column, metas: Metas, own: Paged, i: int, span: Span) -> Steps[pa.Array]:
    """Strings of Lance 0.13: lists over a second column of bytes."""
    second = Paged(metas[column.id].below, column)

    def below(rows: Rows) -> Steps[pa.Array]:
        pages = [page.read(second.node(k), pa.uint8(), s) for k, s in second.cut(rows)]
        return joined(pa.uint8(), (yield from together(pages, "lance.page")))

    found, items = yield from _entries(own, i, span, below)
    array = variable(storage(column.type), found.offsets, items.to_numpy(zero_copy_only=False))
    return array if found.valid is None else masked(array, found.bits())
