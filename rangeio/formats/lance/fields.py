"""The schema in global buffer 0, and which physical column every field is.

The fields are listed depth first; a child names its parent's id. What 10,000 columns cost here is
one parse and one pass over names and parents; a Column is made when it is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt, FormatError, Unsupported
from rangeio.formats.lance.messages import MESSAGES
from rangeio.formats.lance.pages import Physical
from rangeio.formats.lance.types import branch, leaf
from rangeio.schema import Column, ColumnId, Schema

_DEEPEST = 64
_EXTENSION = b"ARROW:extension:name"
_PAIRED = {"string", "large_string", "binary", "large_binary"}


@dataclass(frozen=True, slots=True)
class Descriptor:
    """Global buffer 0: the rows of the file, and its schema parsed and as bytes."""

    rows: int
    encoded: bytes
    schema: Schema


def descriptor(
    data: memoryview, offset: int, version: tuple[int, int], num_columns: int
) -> Descriptor:
    """Parse global buffer 0, found at ``offset`` of a file with so many physical columns."""
    rows, encoded = split(data, offset)
    return Descriptor(rows, encoded, schema(encoded, offset, version, num_columns))


def split(data: memoryview, offset: int) -> tuple[int, bytes]:
    """The rows of the file and the bytes of its schema, which are not looked into."""
    message = parse(MESSAGES.FileDescriptor, bytes(data), "global buffer 0", offset)
    if message.length >= 1 << 62:
        raise Corrupt(f"a file cannot have {message.length} rows", offset=offset)
    return message.length, message.schema


def schema(encoded: bytes, offset: int, version: tuple[int, int], num_columns: int) -> Schema:
    """The schema of these bytes; Corrupt where it does not number ``num_columns`` columns."""
    message = parse(MESSAGES.Schema, encoded, "the schema", offset)
    fields: Sequence[Any] = list(message.fields)
    tree = _Tree.flat(fields) or _Tree.nested(fields, offset)
    _distinct(fields, offset)
    maker = _Maker(fields, tree, version, num_columns, offset)
    metadata = {k.encode(): bytes(v) for k, v in message.metadata.items()}
    return Schema([fields[i].name for i in tree.roots], maker, metadata=metadata)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Positions of the top-level fields and of every field's children."""

    roots: Sequence[int]
    children: dict[int, list[int]]

    @classmethod
    def flat(cls, fields: Sequence[Any]) -> _Tree | None:
        """The tree of a schema without nesting, None where there is some."""
        if {f.parent_id for f in fields} <= {-1} and min((f.id for f in fields), default=0) >= 0:
            return cls(range(len(fields)), {})
        return None

    @classmethod
    def nested(cls, fields: Sequence[Any], offset: int) -> _Tree:
        roots: list[int] = []
        children: dict[int, list[int]] = {}
        position: dict[int, int] = {}
        depth: list[int] = []
        last = -1
        for i, field in enumerate(fields):
            above = field.parent_id
            if above == field.id == -1 and last >= 0 and _marked(fields[last], "blob"):
                # The parts of a dataset's blob have no ids; they follow the field they belong to.
                children.setdefault(last, []).append(i)
                depth.append(depth[last] + 1)
                continue
            if above == -1:
                roots.append(i)
                depth.append(0)
            elif above not in position:
                raise Corrupt(f"field {field.name!r} has no parent {above}", offset=offset)
            else:
                children.setdefault(position[above], []).append(i)
                depth.append(depth[position[above]] + 1)
            if depth[i] > _DEEPEST:
                raise Unsupported(f"fields are nested deeper than {_DEEPEST}", offset=offset)
            position[field.id] = last = i
        return cls(roots, children)


class _Maker:
    """Builds the i-th top-level column; knows every field's physical column."""

    def __init__(
        self,
        fields: Sequence[Any],
        tree: _Tree,
        version: tuple[int, int],
        num_columns: int,
        offset: int,
    ) -> None:
        self._fields = fields
        self._tree = tree
        self._version = version
        self._offset = offset
        self._paired = False
        self._count = len(fields)
        self._index: Sequence[int] = range(len(fields))
        if tree.children or num_columns != len(fields):
            self._number(num_columns)

    def _number(self, num_columns: int) -> None:
        """Give every field its column; files of Lance 0.13 have two for a string."""
        self._index = self._numbered()
        if self._count == num_columns:
            return
        self._paired = self._version < (2, 1)
        self._index = self._numbered()
        if self._count != num_columns:
            raise Corrupt(
                f"the schema's fields do not make {num_columns} columns", offset=self._offset
            )

    def _numbered(self) -> list[int]:
        index = [-1] * len(self._fields)
        at = 0
        todo = list(reversed(self._tree.roots))
        while todo:
            i = todo.pop()
            below = self._below(i)
            if not below or self._version < (2, 1):
                index[i] = at
                at += 1 + (self._paired and self._fields[i].logical_type in _PAIRED)
            todo.extend(reversed(below))
        self._count = at
        return index

    def _below(self, i: int) -> Sequence[int]:
        """The children that have columns of their own."""
        below = self._tree.children.get(i, ())
        return () if below and self._whole(i) else below

    def _whole(self, i: int) -> bool:
        """Whether the field is one column with all that lies below it."""
        return _marked(self._fields[i], "packed") or _marked(self._fields[i], "blob")

    def __call__(self, position: int) -> Column:
        try:
            return self._column(self._tree.roots[position], (), inner=False)
        except FormatError as error:
            error.offset = self._offset if error.offset is None else error.offset
            raise

    def _column(self, i: int, above: tuple[str, ...], *, inner: bool) -> Column:
        field = self._fields[i]
        logical = field.logical_type
        path = (*above, field.name)
        if logical == "struct" and _marked(field, "blob"):
            raise Unsupported(
                f"column {'.'.join(path)!r} holds blobs of a dataset, whose bytes may lie in other "
                f"files"
            )
        listed = inner or logical.startswith(("list", "large_list", "map", "fixed_size_list"))
        children = tuple(self._column(k, path, inner=listed) for k in self._members(i))
        kind = self._type(logical, [c.arrow for c in children])
        metadata = {k.encode(): bytes(v) for k, v in field.metadata.items()}
        kind, metadata = _extended(kind, metadata)
        payload = Physical(
            self._index[i],
            self._version,
            logical,
            blob=_marked(field, "blob"),
            packed=_marked(field, "packed") and bool(children),
            inner=inner,
            paired=self._paired and logical in _PAIRED,
        )
        return Column(
            ColumnId(field.id, path),
            kind,
            field.nullable or pa.types.is_null(kind),
            children=() if self._whole(i) else children,
            metadata=metadata,
            payload=payload,
        )

    def _members(self, i: int) -> Sequence[int]:
        """The children as Arrow has them: a map's are its key and value."""
        below = self._tree.children.get(i, [])
        if self._fields[i].logical_type != "map":
            return below
        if len(below) != 1 or len(self._tree.children.get(below[0], ())) != 2:
            raise Corrupt(f"the map {self._fields[i].name!r} has no entries of key and value")
        return self._tree.children[below[0]]

    @staticmethod
    def _type(logical: str, children: list[pa.Field]) -> pa.DataType:
        if children or logical == "struct":
            return branch(logical, children)
        return leaf(logical)


def _distinct(fields: Sequence[Any], offset: int) -> None:
    """Raise Corrupt where two fields are the same: of one id, one name and one parent."""
    named = [f.id for f in fields if f.id >= 0]
    if len(set(named)) < len(named):
        keys = {(f.id, f.parent_id, f.name) for f in fields if f.id >= 0}
        if len(keys) < len(named):
            raise Corrupt("two fields of one id, name and parent", offset=offset)


def _marked(field: Any, what: str) -> bool:
    """Whether the field's metadata says so; older writers left the prefix away."""
    metadata = field.metadata
    keys = (f"lance-encoding:{what}", what)
    return len(metadata) > 0 and any(bytes(metadata.get(k, b"")).lower() == b"true" for k in keys)


def _extended(
    kind: pa.DataType, metadata: dict[bytes, bytes]
) -> tuple[pa.DataType, dict[bytes, bytes]]:
    """The registered extension type that the metadata names, if any, as Arrow's own readers do."""
    if _EXTENSION not in metadata:
        return kind, metadata
    plain = pa.schema([pa.field("", kind, metadata=metadata)])
    try:
        read = pa.ipc.read_schema(plain.serialize()).field(0)
    except (pa.ArrowException, ValueError, TypeError, KeyError):
        return kind, metadata
    return read.type, dict(read.metadata or {})
