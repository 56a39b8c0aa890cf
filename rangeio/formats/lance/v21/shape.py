"""How a leaf nests below its top-level column: the layers that its pages must have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from rangeio.errors import Corrupt, Unsupported
from rangeio.schema import Column


@dataclass(frozen=True, slots=True)
class Shape:
    """kinds: for each layer, inner-most first, whether it is a list. scale: entries, or outer-most
    lists, of a top-level row: the sizes of the fixed-size lists above."""

    kinds: tuple[bool, ...]
    scale: int

    def rows(self, elements: int) -> int:
        """The top-level rows of so many elements, which is how a page counts."""
        rows, rest = divmod(elements, self.scale)
        if rest:
            raise Corrupt(f"a page of {elements} items of fixed-size lists of {self.scale}")
        return rows

    def check(self, kinds: tuple[bool, ...]) -> None:
        """Raise Corrupt where a page's layers are others."""
        if kinds != self.kinds:
            raise Corrupt(f"a page of {len(kinds)} layers that do not fit its column's type")


def shape_of(field: Column) -> Iterator[tuple[Column, Shape]]:
    """The leaves of a top-level column, each with its shape."""
    yield from _walk(field, (), 1)


def _walk(node: Column, outer: tuple[bool, ...], scale: int) -> Iterator[tuple[Column, Shape]]:
    if not node.children:
        yield node, Shape((False, *outer), scale)
        return
    kind = node.type
    layers: tuple[bool, ...] = (False,)
    if pa.types.is_map(kind):
        layers = (False, True)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        layers = (True,)
    elif pa.types.is_fixed_size_list(kind):
        if any(outer):
            raise Unsupported("fixed-size lists of structs inside lists")
        scale *= kind.list_size
    elif not pa.types.is_struct(kind):
        raise Unsupported(f"a column of {kind} with columns below it")
    if scale > 1 << 31:
        raise Corrupt(f"fixed-size lists of {scale} items")
    for child in node.children:
        yield from _walk(child, layers + outer, scale)
