"""Columns of the schema, from the metadata of those of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from rangeio.declared import UNIQUE_ID, default_of
from rangeio.errors import FormatError
from rangeio.formats.doris import types
from rangeio.formats.doris.meta import DorisMeta, Node
from rangeio.formats.doris.paths import extra
from rangeio.formats.doris.words import FieldType
from rangeio.schema import Column, ColumnId

DEEPEST = 64
"""Parts into which a path is cut at most."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a column of the schema is in the file.

    position: of its metadata, or of its nearest ancestor's that has one, in the directory. meta:
    the id of that. steps: the way from there, by numbers of children.
    """

    position: int
    meta: ColumnId
    steps: tuple[int, ...] = ()

    def below(self, child: int) -> Place:
        """Of a child."""
        return replace(self, steps=(*self.steps, child))


@dataclass(frozen=True, slots=True)
class Absent:
    """A column that the segment lacks. value: of every row, the default that was declared."""

    value: pa.Scalar


def stub(column: ColumnId, position: int) -> Column:
    """A column of which only the id and the place of its metadata are known."""
    return Column(column, pa.null(), payload=Place(position, column))


def top(meta: DorisMeta) -> Column:
    """A top-level column; of a Variant only what its root holds."""
    if meta.node.type == FieldType.VARIANT:
        return variant(meta.column, meta, ())
    made = nested(meta.node, meta.column, Place(meta.position, meta.column))
    return replace(made, metadata={**made.metadata, **identified(meta.column)})


def identified(column: ColumnId) -> dict[bytes, bytes]:
    """The metadata that keeps the id of a top-level column, so that it can be written again."""
    return {UNIQUE_ID: str(column.unique_id).encode()}


def nested(node: Node, column: ColumnId, place: Place) -> Column:
    """A column and all below it. Errors name it."""
    try:
        children = tuple(
            nested(
                node.children[i], ColumnId(column.unique_id, (*column.path, name)), place.below(i)
            )
            for i, name in enumerate(field_names(node))
        )
        metadata = types.metadata(node.type, node.precision, node.frac, node.length)
        kind = _kind(node, children)
    except FormatError as error:
        raise type(error)(f"{column.name!r}: {error.reason}") from None
    return Column(column, kind, node.nullable, True, children, metadata, place)


def field_names(node: Node) -> Sequence[str]:
    """The names of the children that hold data, which come first."""
    if node.type == FieldType.ARRAY:
        return ("item",)
    if node.type == FieldType.MAP:
        return ("key", "value")
    if node.type != FieldType.STRUCT:
        return ()
    names = node.names[: node.fields]
    return names if len(names) == node.fields else [f"f{i}" for i in range(node.fields)]


def _kind(node: Node, children: Sequence[Column]) -> pa.DataType:
    if node.type == FieldType.ARRAY:
        return pa.list_(children[0].arrow)
    if node.type == FieldType.MAP:
        key, value = (one.arrow for one in children)
        return pa.map_(key.with_nullable(False), value)
    if node.type == FieldType.STRUCT:
        return pa.struct([one.arrow for one in children])
    return types.arrow_type(node.type, node.precision, node.frac)


def absent(column: ColumnId, field: pa.Field | None) -> Column:
    """A column that was declared and is not there: null, or the default that was declared."""
    metadata: Mapping[bytes, bytes] = (field.metadata if field is not None else None) or {}
    own = {k: v for k, v in metadata.items() if k != UNIQUE_ID} | identified(column)
    value = pa.scalar(None, pa.null()) if field is None else default_of(field)
    nullable = field is None or field.nullable or not value.is_valid
    return Column(column, value.type, nullable, True, (), own, Absent(value))


# ---- Variants ------------------------------------------------------------------------------------


def parts(path: str) -> tuple[str, ...]:
    """The names along a Variant's path."""
    return tuple(path.split(".", DEEPEST - 1))


def variant(column: ColumnId, root: DorisMeta | None, leaves: Sequence[DorisMeta]) -> Column:
    """A Variant as a struct of its sub-columns, nested as their paths are.

    A field without a name is the value of the path itself where paths go on below it; at the top it
    is the root: what has no sub-column, as Doris' JSONB. Fields of the root that hold many paths
    (sparse, documents) have the names that Doris gives them. No struct is ever null: which rows
    have no such object is not stored.
    """
    tree: dict[str, Any] = {}
    if root is not None:
        _grow(tree, ("",), _leaf(root))
        for i, child in enumerate(root.node.children):
            place = Place(root.position, root.column, (i,))
            _grow(tree, parts(child.path or f"{i}"), (child, place))
    for leaf in leaves:
        _grow(tree, leaf.column.path[1:], _leaf(leaf))
    made = _struct(tree, column)
    return replace(made, metadata=identified(column))


def _leaf(meta: DorisMeta) -> tuple[Node, Place]:
    return meta.node, Place(meta.position, meta.column)


def _grow(tree: dict[str, Any], path: Sequence[str], leaf: tuple[Node, Place]) -> None:
    """Put a leaf where its path leads; what lies in the way becomes a field without a name."""
    for name in path[:-1]:
        below = tree.setdefault(name, {})
        if not isinstance(below, dict):
            below = tree[name] = {"": below}
        tree = below
    name = path[-1]
    while isinstance(tree.get(name), dict):
        tree, name = tree[name], ""
    while name in tree:  # names of no letters can meet
        name += "."
    tree[name] = leaf


def _struct(tree: Mapping[str, Any], column: ColumnId) -> Column:
    children = []
    for name, below in tree.items():
        own = ColumnId(column.unique_id, (*column.path, name))
        if isinstance(below, dict):
            children.append(_struct(below, own))
        else:
            made = nested(below[0], own, below[1])
            children.append(_opaque(made) if extra(".".join(own.path[1:])) else made)
    kind = pa.struct([one.arrow for one in children])
    return Column(column, kind, False, True, tuple(children))


def _opaque(column: Column) -> Column:
    """A map of paths to values that are declared as text and are Doris' own cells."""
    if not pa.types.is_map(column.type):
        return column
    key, value = column.children
    value = replace(value, type=pa.binary(), metadata={})
    kind = pa.map_(key.arrow.with_nullable(False), value.arrow)
    return replace(column, children=(key, value), type=kind)
