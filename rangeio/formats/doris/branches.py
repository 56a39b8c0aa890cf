"""The columns with pages below a field, and the pages' columns below each of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.doris.columns import Absent, Place
from rangeio.formats.doris.meta import DorisMeta, Node
from rangeio.formats.doris.words import FieldType
from rangeio.schema import Column, ColumnId

NULLS = "\0nulls"
"""The name of what says where a struct is null: no field is called so."""

Metas = Mapping[ColumnId, DorisMeta]


def place_of(column: Column) -> Place:
    """Where a column with pages, or with columns of pages below it, is in the file."""
    assert isinstance(column.payload, Place)
    return column.payload


def node_of(column: Column, metas: Metas) -> Node:
    """What the file says of a column."""
    place = place_of(column)
    return metas[place.meta].node.below(place.steps)


def nulls_of(column: Column, node: Node) -> Column | None:
    """The column that says where another one is null; None where it never is."""
    if node.nulls < 0:
        return None
    own = ColumnId(column.unique_id, (*column.path, NULLS))
    return Column(own, pa.int8(), False, payload=place_of(column).below(node.nulls))


def branches(field: Column, metas: Metas) -> Iterator[Column]:
    """What a read of ``field`` decodes each by itself: leaves, topmost lists and maps, and what
    says where structs are null. None of a column that the file lacks."""
    if isinstance(field.payload, Absent):
        return
    if not pa.types.is_struct(field.type):
        yield field
        return
    if field.payload is not None:
        nulls = nulls_of(field, node_of(field, metas))
        if nulls is not None:
            yield nulls
    for child in field.children:
        yield from branches(child, metas)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of pages. depth: how many lists and maps lie above it. rows: that it has."""

    place: Place
    node: Node
    depth: int
    rows: int
    name: str


def leaves(column: Column, metas: Metas, rows: int) -> list[Leaf]:
    """The columns of pages of a branch that has ``rows`` rows. Raises Corrupt where it has not."""
    return list(_leaves(column, node_of(column, metas), rows, 0))


def _leaves(column: Column, node: Node, rows: int, depth: int) -> Iterator[Leaf]:
    place, name = place_of(column), column.id.name.replace(NULLS, "nulls")
    if node.rows >= 0 and node.rows != rows:
        raise Corrupt(f"{name!r} has {node.rows} rows where {rows} belong")
    if node.type not in (FieldType.ARRAY, FieldType.MAP, FieldType.STRUCT):
        yield Leaf(place, node, depth, rows, name)
        return
    for child in (node.offsets, node.nulls):
        if child >= 0:
            own = node.children[child]
            if own.rows not in (-1, rows):
                raise Corrupt(f"{name!r}: its child {child} has {own.rows} rows, not {rows}")
            yield Leaf(place.below(child), own, depth, rows, name)
    for below in column.children:
        own = node.children[place_of(below).steps[-1]]
        if node.offsets < 0:
            yield from _leaves(below, own, rows, depth)
        else:
            yield from _leaves(below, own, _items(own, below.id.name), depth + 1)


def _items(node: Node, name: str) -> int:
    """How many items a list or map has in all, of which only the items' own metadata tells."""
    if node.rows >= 0:
        return node.rows
    if node.offsets >= 0:
        return _items(node.children[node.offsets], name)
    if node.type == FieldType.STRUCT and node.children:
        return _items(node.children[0], name)
    raise Corrupt(f"{name!r} does not say how many rows it has")
