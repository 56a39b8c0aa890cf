"""Filters that Spark pushed down, as an expression that keeps at least the rows that they keep.

Their JSON is that of java/FilterText.java. Spark checks every row again, so a filter may become
weaker here, never stronger: what is not understood drops out of an AND and takes its OR with it.
"""

from __future__ import annotations

import base64
import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.literal import is_binary, is_string

Node: TypeAlias = Mapping[str, Any]
Join: TypeAlias = Callable[[pc.Expression, pc.Expression], pc.Expression]
Check: TypeAlias = Callable[[pa.DataType], bool]

_DEEPEST = 200  # Arrow walks an expression by recursion, and so do we
_UNREADABLE = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    pa.ArrowException,
)


def filters_of(text: str, schema: pa.Schema | None = None) -> pc.Expression | None:
    """What every row fulfils for which Spark's filters are true; None where nothing is known.

    schema: the types that the columns have before they become Spark's. With it, what compares
    otherwise in those than in Spark's, or is no column of it, is left out.
    """
    try:
        node = json.loads(text)
        return _Reading(schema).wanted(node, True, 0)
    except _UNREADABLE:
        return None


class _Reading:
    """Of one text. Methods answer None for what is not understood, or tells nothing."""

    def __init__(self, schema: pa.Schema | None) -> None:
        self._schema = schema

    def wanted(self, node: Node, truth: bool, depth: int) -> pc.Expression | None:
        """What holds wherever ``node`` is ``truth``. So a NOT only turns the truth around, and
        nulls, for which a node is neither, take care of themselves."""
        if depth > _DEEPEST:
            return None
        match node:
            case {"op": "and" | "or" as op, "of": [*parts]}:
                found = [self.wanted(part, truth, depth + 1) for part in parts]
                return _every(found) if (op == "and") is truth else _some(found)
            case {"op": "not", "of": part}:
                return self.wanted(part, not truth, depth + 1)
            case {"op": "true" | "false" as op}:
                return None if (op == "true") is truth else pc.scalar(False)
            case {"op": str(), "column": [*_]}:
                return self._leaf(node, truth)
        return None

    def _leaf(self, node: Node, truth: bool) -> pc.Expression | None:
        """One column's. An error in it is one's own: its neighbours still tell something."""
        try:
            return self._condition(node, truth)
        except _UNREADABLE:
            return None

    def _condition(self, node: Node, truth: bool) -> pc.Expression | None:
        path = [str(name) for name in node["column"]]
        field = pc.field(*path) if len(path) > 1 else pc.field(path[0])
        match node:
            case {"op": "isNull" | "isNotNull" as op} if self._fits(path, _any):
                return field.is_null() if (op == "isNull") is truth else field.is_valid()
            case {"type": str(name)}:
                kind, same = _type(name)
                return self._typed(node, field, kind, truth) if self._fits(path, same) else None
        return None

    def _typed(
        self, node: Node, field: pc.Expression, kind: pa.DataType, truth: bool
    ) -> pc.Expression | None:
        match node:
            case {"op": "in", "values": [*values]}:
                return _listed(field, [_value(one, kind) for one in values], kind, truth)
            case {"op": "eqNullSafe", "value": None}:
                return field.is_null() if truth else field.is_valid()
            case {"op": "eqNullSafe", "value": str(value)} if not truth:
                other = _compared("ne", field, _value(value, kind), kind)
                return other | field.is_null()
            case {"op": "startsWith" | "endsWith" | "contains" as op, "value": str(value)}:
                return _textual(op, field, value, truth) if pa.types.is_string(kind) else None
            case {"op": str(op), "value": str(value)} if op in _OPPOSITE:
                op = _PLAIN.get(op, op) if truth else _OPPOSITE[op]
                return _compared(op, field, _value(value, kind), kind)
        return None

    def _fits(self, path: list[str], same: Check) -> bool:
        """Whether the column is there, under this very name, in a type that compares as Spark's."""
        if self._schema is None:
            return True
        kind: Any = pa.struct(list(self._schema))
        for name in path:
            if not pa.types.is_struct(kind) or len(kind.get_all_field_indices(name)) != 1:
                return False
            kind = kind.field(name).type
        return same(kind)


def _every(parts: list[pc.Expression | None]) -> pc.Expression | None:
    known = [part for part in parts if part is not None]
    return _joined(known, operator.and_) if known else None


def _some(parts: list[pc.Expression | None]) -> pc.Expression | None:
    known = [part for part in parts if part is not None]
    return _joined(known, operator.or_) if known and len(known) == len(parts) else None


def _joined(parts: list[pc.Expression], by: Join) -> pc.Expression:
    """In pairs, and these in pairs: a tree of a thousand is ten deep."""
    while len(parts) > 1:
        pairs = [by(*parts[at : at + 2]) for at in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


# ---- one condition -----------------------------------------------------------------------------

_PLAIN = {"eqNullSafe": "eq"}
_OPPOSITE = {"eq": "ne", "eqNullSafe": "ne", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def _compared(op: str, field: pc.Expression, value: Any, kind: pa.DataType) -> pc.Expression:
    """To Spark a NaN equals itself and lies above all numbers, to Arrow it compares with none:
    so "greater" is said as "not at most", which a NaN fulfils in Arrow too."""
    if isinstance(value, float) and math.isnan(value):
        return _with_nan(op, field)
    held = pc.scalar(pa.scalar(value, kind))
    if pa.types.is_floating(kind) and op in ("gt", "ge"):
        return ~_EVALUATED[_OPPOSITE[op]](field, held)
    return _EVALUATED[op](field, held)


_EVALUATED: dict[str, Join] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _with_nan(op: str, field: pc.Expression) -> pc.Expression:
    if op in ("eq", "ge"):
        return field.is_nan()
    if op in ("lt", "ne"):
        return ~field.is_nan()
    return field.is_valid() if op == "le" else pc.scalar(False)


def _listed(
    field: pc.Expression, values: list[Any], kind: pa.DataType, truth: bool
) -> pc.Expression | None:
    """A null in a list is never found; it makes "not in" true of nothing, which is not used."""
    if not truth:
        # Spark finds a 0.0 in a long list only by its sign, so fewer rows are in it than it seems.
        tricky = pa.types.is_floating(kind) or None in values
        return None if tricky else ~field.isin(pa.array(values, kind))
    known = [value for value in values if value is not None]
    if not pa.types.is_floating(kind):
        return field.isin(pa.array(known, kind)) if known else pc.scalar(False)
    # Arrow tells -0.0 from 0.0 and one NaN from another in a list, Spark does not.
    numbers = [value for value in known if not math.isnan(value)]
    zeros = [-value for value in numbers if value == 0]
    found = field.isin(pa.array([*numbers, *zeros], kind))
    return found | field.is_nan() if len(numbers) < len(known) else found


def _textual(op: str, field: pc.Expression, value: str, truth: bool) -> pc.Expression | None:
    """A prefix as a range of texts, which statistics can answer; the others row by row."""
    if not truth:
        return None  # hardly anything would be left out
    if op == "startsWith":
        after = _after(value)
        above = field >= pc.scalar(value)
        return above if after is None else above & (field < pc.scalar(after))
    found = pc.match_substring if op == "contains" else pc.ends_with
    return found(field, pattern=value)


def _after(prefix: str) -> str | None:
    """The least text above all those with a prefix, in the order of code points, which is that of
    the bytes of UTF-8; None where there is none."""
    head = prefix.rstrip("\U0010ffff")
    if not head:
        return None
    following = ord(head[-1]) + 1
    return head[:-1] + chr(0xE000 if following == 0xD800 else following)


# ---- values and their types --------------------------------------------------------------------


def _any(kind: pa.DataType) -> bool:
    """Types in which a null is a null: not those of which the parts have their own."""
    return not (pa.types.is_union(kind) or pa.types.is_dictionary(kind) or _encoded(kind))


def _encoded(kind: pa.DataType) -> bool:
    return bool(pa.types.is_run_end_encoded(kind)) or isinstance(kind, pa.BaseExtensionType)


def _whole(kind: pa.DataType) -> bool:
    """Integers that become Spark's without another value; uint64 becomes a decimal."""
    return bool(pa.types.is_integer(kind)) and kind != pa.uint64()


def _held(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def _text(kind: pa.DataType) -> bool:
    return is_string(kind) and _held(kind)


def _bytes(kind: pa.DataType) -> bool:
    return is_binary(kind) and _held(kind)


def _instant(kind: pa.DataType) -> bool:
    """Not nanoseconds: of these Spark's value is a rounded one."""
    return bool(pa.types.is_timestamp(kind)) and kind.unit != "ns" and kind.tz is not None


def _local(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind)) and kind.unit != "ns" and kind.tz is None


_TYPES: dict[str, tuple[pa.DataType, Check]] = {
    "boolean": (pa.bool_(), pa.types.is_boolean),
    "byte": (pa.int8(), _whole),
    "short": (pa.int16(), _whole),
    "integer": (pa.int32(), _whole),
    "long": (pa.int64(), _whole),
    "float": (pa.float32(), pa.types.is_float32),
    "double": (pa.float64(), pa.types.is_float64),
    "string": (pa.string(), _text),
    "binary": (pa.binary(), _bytes),
    "date": (pa.date32(), pa.types.is_date32),
    "timestamp": (pa.timestamp("us", "UTC"), _instant),
    "timestamp_ntz": (pa.timestamp("us"), _local),
}


def _type(name: str) -> tuple[pa.DataType, Check]:
    """Arrow's type for Spark's, and which others compare like it. Raises KeyError."""
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    if decimal is None:
        return _TYPES[name]
    kind = pa.decimal128(*map(int, decimal.groups()))
    return kind, kind.equals


def _value(text: object, kind: pa.DataType) -> Any:
    """The value that a text stands for; None for a null. Raises ValueError."""
    if not isinstance(text, str):
        return None if text is None else _no_text(text)
    if pa.types.is_string(kind):
        return text
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[text]
    if pa.types.is_floating(kind):
        return float(text)
    if pa.types.is_binary(kind):
        return base64.b64decode(text, validate=True)
    return Decimal(text) if pa.types.is_decimal(kind) else int(text)


def _no_text(value: object) -> None:
    raise TypeError(f"a value that is no text: {value!r}")
