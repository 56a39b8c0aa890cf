"""The tree of an Arrow expression, read from Arrow's own serialization of it. Pure.

Arrow offers no way to walk an expression, but it writes one as a record batch: the literals and
the options of calls are columns, and the metadata of the schema lists the nodes in order.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.condition import (
    UNREAD,
    All,
    AnyOf,
    Condition,
    Fixed,
    IsNull,
    Not,
    Operator,
    Within,
    comparison,
)
from rangeio.errors import BadFilter
from rangeio.literal import compared, is_binary, is_string, place, plain
from rangeio.schema import Column
from rangeio.statistics import Outcome


@dataclass(frozen=True, slots=True)
class Reference:
    """A column, by the names from the root."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal."""

    value: pa.Scalar


@dataclass(frozen=True, slots=True)
class Call:
    """A function of Arrow's, by its name. options: a struct scalar of them, None for none."""

    function: str
    arguments: tuple[Node, ...]
    options: pa.StructScalar | None = None


Node: TypeAlias = Reference | Constant | Call


def tree_of(expression: pc.Expression) -> Node:
    """The tree of an expression. Raises BadFilter where it refers to columns by position."""
    try:
        _, (written,) = expression.__reduce__()
        reader = pa.ipc.open_file(written)
        batch = reader.get_batch(0)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise BadFilter(f"name the columns of an expression, do not number them: {error}") from None
    words = _metadata(reader.schema)
    try:
        node = _node(words, batch)
    except (StopIteration, KeyError, IndexError, ValueError, RecursionError) as error:
        raise BadFilter(f"an expression that cannot be read: {error!r}") from None
    return node


def references(node: Node) -> Iterator[tuple[str, ...]]:
    """The paths of all columns of a tree, as often as they occur."""
    if isinstance(node, Reference):
        yield node.path
    elif isinstance(node, Call):
        for argument in node.arguments:
            yield from references(argument)


def _node(words: Iterator[tuple[str, str]], batch: pa.RecordBatch) -> Node:
    """The node that begins at the next word."""
    return _made(*next(words), words, batch)


def _made(kind: str, word: str, words: Iterator[tuple[str, str]], batch: pa.RecordBatch) -> Node:
    if kind == "field_ref":
        return Reference((word,))
    if kind == "nested_field_ref":
        return Reference(tuple(_expected(words, "field_ref") for _ in range(int(word))))
    if kind == "literal":
        return Constant(batch.column(int(word))[0])
    if kind == "call":
        return _call(word, words, batch)
    raise ValueError(f"a node of the unknown kind {kind!r}")


def _call(function: str, words: Iterator[tuple[str, str]], batch: pa.RecordBatch) -> Call:
    arguments: list[Node] = []
    options = None
    for kind, word in words:
        if kind == "end":
            return Call(function, tuple(arguments), options)
        if kind == "options":
            options = batch.column(int(word))[0]
        else:
            arguments.append(_made(kind, word, words, batch))
    raise ValueError(f"a call of {function} without an end")


def _expected(words: Iterator[tuple[str, str]], kind: str) -> str:
    found, word = next(words)
    if found != kind:
        raise ValueError(f"{found} where {kind} belongs")
    return word


# ---- what statistics can say of it -------------------------------------------------------------


def condition_of(node: Node, columns: Mapping[tuple[str, ...], Column]) -> Condition:
    """What a tree says of statistics: comparisons, lists, nulls, and their combinations. Anything
    else can have any result."""
    if isinstance(node, Constant) and pa.types.is_boolean(node.value.type):
        return Fixed(_TRUTH[node.value.as_py()])
    if not isinstance(node, Call):
        return UNREAD
    arguments = node.arguments
    if node.function in ("and_kleene", "or_kleene"):
        parts = tuple(condition_of(one, columns) for one in arguments)
        return All(parts) if node.function == "and_kleene" else AnyOf(parts)
    if node.function == "invert":
        return Not(condition_of(arguments[0], columns))
    if node.function in _OPERATORS and len(arguments) == 2:
        return _comparison(_OPERATORS[node.function], arguments[0], arguments[1], columns)
    if arguments and isinstance(arguments[0], Reference):
        return _test(node, columns[arguments[0].path])
    return UNREAD


_TRUTH = {True: Outcome.TRUE, False: Outcome.FALSE, None: Outcome.NULL}
_OPERATORS = {
    "equal": Operator.EQUAL,
    "not_equal": Operator.UNEQUAL,
    "less": Operator.LESS,
    "less_equal": Operator.AT_MOST,
    "greater": Operator.MORE,
    "greater_equal": Operator.AT_LEAST,
}


def _comparison(
    asked: Operator, left: Node, right: Node, columns: Mapping[tuple[str, ...], Column]
) -> Condition:
    if isinstance(left, Constant):
        asked, left, right = asked.mirrored, right, left
    if not isinstance(left, Reference) or not isinstance(right, Constant):
        return UNREAD
    kind = plain(columns[left.path].type)
    if not right.value.is_valid or not _alike(kind, plain(right.value.type)):
        return UNREAD
    return comparison(left.path, kind, asked, place(right.value, kind))


def _test(node: Call, column: Column) -> Condition:
    """A condition on one column and nothing else."""
    options = dict(node.options) if node.options is not None else {}
    if node.function == "is_valid":
        return Not(IsNull(column.path))
    if node.function == "is_null" and not options["nan_is_null"].as_py():
        return IsNull(column.path)
    kind = plain(column.type)
    if node.function != "is_in" or options["null_matching_behavior"].as_py() != 0:
        return UNREAD
    values = options["value_set"].values
    if values.type != kind or kind != compared(kind):
        return UNREAD
    found = [place(value, kind) for value in values if value.is_valid]
    orders = sorted({one.below for one in found if one.below is not None})
    null = Outcome.TRUE if values.null_count else Outcome.FALSE
    return Within(column.path, kind, tuple(orders), any(one.nan for one in found), null)


def _alike(kind: pa.DataType, other: pa.DataType) -> bool:
    """Whether Arrow compares the two types without rounding either."""
    if kind == other:
        return not pa.types.is_nested(kind) and not pa.types.is_interval(kind)
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(other):
        return (kind.tz is None) == (other.tz is None)
    families = (pa.types.is_integer, pa.types.is_floating, is_string, is_binary)
    return any(family(kind) and family(other) for family in families)


# ---- the metadata of a schema, in order --------------------------------------------------------


class _CSchema(ctypes.Structure):
    """The head of ``struct ArrowSchema`` of the Arrow C data interface."""

    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
    )


def _metadata(schema: pa.Schema) -> Iterator[tuple[str, str]]:
    """The metadata of a schema in order, equal keys kept: ``schema.metadata`` is a dict and drops
    all but one of them. The layout is that of the C data interface: native int32 lengths."""
    capsule = schema.__arrow_c_schema__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    at = _CSchema.from_address(pointer(capsule, b"arrow_schema")).metadata
    pairs: list[tuple[str, str]] = []
    if at:
        count, at = _int32(at), at + 4
        for _ in range(count):
            key, at = _text(at)
            value, at = _text(at)
            pairs.append((key, value))
    del capsule  # it owns the memory that was just read
    return iter(pairs)


def _int32(at: int) -> int:
    return int.from_bytes(ctypes.string_at(at, 4), sys.byteorder, signed=True)


def _text(at: int) -> tuple[str, int]:
    size = _int32(at)
    return ctypes.string_at(at + 4, size).decode(), at + 4 + size
