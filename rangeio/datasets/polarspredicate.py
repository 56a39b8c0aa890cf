"""What of a polars predicate a scan can prune by. Imports polars.

polars writes an expression as JSON, but promises no shape of it: a node that is not known here is
not pushed down. What is pushed down is true in every row in which the predicate is true, and maybe
in more, for the predicate itself is applied to what was read.
"""

from __future__ import annotations

import io
import json
import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rangeio.literal import is_binary, is_string, plain

Node: TypeAlias = Mapping[str, Any]
Compare: TypeAlias = Callable[[pc.Expression, pc.Expression], pc.Expression]

_COMPARED: dict[str, Compare] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
}
_OPPOSITE = {"Eq": "NotEq", "Lt": "GtEq", "Gt": "LtEq"}
_OPPOSITE |= {value: key for key, value in _OPPOSITE.items()}
_MIRRORED = {"Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}
_JOINED = {"And": True, "LogicalAnd": True, "Or": False, "LogicalOr": False}
_WITH_NULLS = {"EqValidity": "Eq", "NotEqValidity": "NotEq"}
_BETWEEN = {
    "Both": ("GtEq", "LtEq"),
    "Left": ("GtEq", "Lt"),
    "Right": ("Gt", "LtEq"),
    "None": ("Gt", "Lt"),
}
_ENDS = (("GtEq", "min"), ("LtEq", "max"))
_MOST = 1000  # values of a list that are looked for one by one
_MOST_FLOATS = 64  # these are comparisons of their own

_ALIKE: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    is_string,
    is_binary,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_duration,
    pa.types.is_time,
)


def pushed(predicate: pl.Expr, schema: pa.Schema) -> pc.Expression | None:
    """A filter over the columns of ``schema`` that no row fails in which ``predicate`` is true;
    None where there is none but that which every row passes."""
    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
        return _Reading(schema).wanted(tree, True)
    except (pl.exceptions.PolarsError, pa.ArrowException, LookupError, ValueError, RecursionError):
        return None


class _Reading:
    """Of one predicate. Methods answer None for what is not understood, or tells nothing."""

    def __init__(self, schema: pa.Schema) -> None:
        self._kinds = {field.name: field.type for field in schema}

    def wanted(self, node: Node, truth: bool) -> pc.Expression | None:
        """What holds wherever ``node`` is ``truth``. So a NOT only turns the truth around, and
        nulls, which are neither, take care of themselves."""
        match node:
            case {"Column": str(name)} if pa.types.is_boolean(self._kinds.get(name, pa.null())):
                return pc.field(name) == pc.scalar(truth)
            case {"Literal": {"Scalar": _}}:
                return self._constant(node, truth)
            case {"BinaryExpr": {"left": left, "op": str(op), "right": right}} if op in _JOINED:
                found = self.wanted(left, truth), self.wanted(right, truth)
                return _both(*found) if _JOINED[op] is truth else _either(*found)
            case {"BinaryExpr": {"left": left, "op": str(op), "right": right}}:
                return self._sides(left, op, right, truth)
            case {"Function": {"input": [*given], "function": {"Boolean": asked}}}:
                return self._asked(given, asked, truth)
        return None

    def _constant(self, node: Node, truth: bool) -> pc.Expression | None:
        value = _value(node)
        if not pa.types.is_boolean(value.type):
            return None
        return None if value.as_py() is truth else pc.scalar(False)

    def _asked(self, given: list[Node], asked: object, truth: bool) -> pc.Expression | None:
        match asked, given:
            case "Not", [node]:
                return self.wanted(node, not truth)
            case (("IsNull" | "IsNotNull"), [{"Column": str(name)}]):
                return self._missing(name, (asked == "IsNull") is truth)
            case {"IsIn": {"nulls_equal": False}}, [{"Column": str(name)}, values]:
                return self._listed(name, values, truth)
            case {"IsBetween": {"closed": str(closed)}}, [node, low, high]:
                above, below = _BETWEEN[closed]
                least, most = (above, low), (below, high)
                found = [self._sides(node, op, end, truth) for op, end in (least, most)]
                return _both(*found) if truth else _either(*found)
        return None

    def _sides(self, left: Node, op: str, right: Node, truth: bool) -> pc.Expression | None:
        match left, right:
            case {"Column": str(name)}, {"Literal": {"Scalar": _}}:
                return self._against(name, op, _value(right), truth)
            case {"Literal": {"Scalar": _}}, {"Column": str(name)}:
                return self._against(name, _MIRRORED.get(op, op), _value(left), truth)
        return None

    def _missing(self, name: str, null: bool) -> pc.Expression | None:
        if name not in self._kinds or not _plainly_null(self._kinds[name]):
            return None
        return pc.field(name).is_null() if null else pc.field(name).is_valid()

    def _against(self, name: str, op: str, given: pa.Scalar, truth: bool) -> pc.Expression | None:
        """A comparison of a column with a value; NaN is above all numbers, as polars has it."""
        total = op in _WITH_NULLS
        op = _WITH_NULLS.get(op, op)
        if op not in _COMPARED or name not in self._kinds:
            return None
        op = op if truth else _OPPOSITE[op]
        kind = self._kinds[name]
        fitted = _fitted(pa.array([given], given.type), kind)
        # A dictionary may have an order of its own, and truth values are not ordered by Arrow.
        unordered = pa.types.is_dictionary(kind) or pa.types.is_boolean(kind)
        if fitted is None or (unordered and op not in ("Eq", "NotEq")):
            return None
        field, held = pc.field(name), pc.scalar(fitted[0])
        if op in ("Gt", "GtEq") and pa.types.is_floating(plain(kind)):
            return ~_COMPARED[_OPPOSITE[op]](field, held)
        found = _COMPARED[op](field, held)
        return found | field.is_null() if total and op == "NotEq" else found

    def _listed(self, name: str, node: Node, truth: bool) -> pc.Expression | None:
        """A column in a list; where the list has nulls, the others of it decide."""
        given, kind = _values(node), self._kinds.get(name, pa.null())
        if given is None:
            return None
        values = _fitted(given.drop_null(), kind)
        if values is None:
            return None
        if not len(values):
            return pc.scalar(False) if truth else None
        floats = pa.types.is_floating(plain(kind))
        if len(values) > (_MOST_FLOATS if floats else _MOST):
            return self._around(name, values) if truth else None
        if not floats:
            found = pc.field(name).isin(values)
            return found if truth else ~found
        # Arrow tells 0.0 and -0.0 apart in a list, polars does not.
        parts = [self._against(name, "Eq", one, truth) for one in values]
        return reduce(_either if truth else _both, parts)

    def _around(self, name: str, values: pa.Array) -> pc.Expression | None:
        """The least and the greatest of many."""
        ends = pc.min_max(values)
        low, high = (self._against(name, op, ends[end], True) for op, end in _ENDS)
        return _both(low, high)


def _both(one: pc.Expression | None, other: pc.Expression | None) -> pc.Expression | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _either(one: pc.Expression | None, other: pc.Expression | None) -> pc.Expression | None:
    return None if one is None or other is None else one | other


def _value(node: Node) -> Any:
    """The value of a literal, a scalar of Arrow, as polars itself reads it back; a null where it
    does not: JSON has no NaN and no infinity."""
    match node:
        case {"Literal": {"Scalar": _}}:
            found = _series(node)
            return pa.scalar(None) if found is None else found.to_arrow()[0]
    return pa.scalar(None)


def _values(node: Node) -> pa.Array | None:
    """The values of a literal list."""
    match node:
        case {"Literal": {"Series": _}}:
            found = _series(node)
            return None if found is None else found.to_arrow()
    one = _value(node)
    return one.values if isinstance(one, (pa.ListScalar, pa.LargeListScalar)) else None


def _series(node: Node) -> pl.Series | None:
    try:
        made = pl.Expr.deserialize(io.StringIO(json.dumps(node)), format="json")
        return pl.select(made).to_series()
    except pl.exceptions.PolarsError:
        return None


def _fitted(values: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The very values in the type of a column; None where that cannot hold one of them, or where
    polars may compare them in another way than Arrow."""
    if not _comparable(kind) or values.null_count:
        return None
    kind, given = plain(kind), values.type
    if not any(alike(kind) and alike(given) for alike in _ALIKE):
        return None
    if pa.types.is_timestamp(kind) and (kind.tz is None) != (given.tz is None):
        return None
    try:
        fitted = values.cast(kind)
        return fitted if fitted.cast(given).equals(values) else None
    except (pa.ArrowException, ValueError):
        return None


def _plainly_null(kind: pa.DataType) -> bool:
    """Whether Arrow finds every null that polars finds: of encoded values it does not."""
    odd = (pa.types.is_dictionary, pa.types.is_run_end_encoded, pa.types.is_union)
    seconds = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
    return not any(one(kind) for one in odd) and not (seconds and kind.unit == "s")


def _comparable(kind: pa.DataType) -> bool:
    """Whether Arrow compares values of the type as they are, and polars reads them as they are:
    it counts seconds as milliseconds, which hold fewer."""
    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_run_end_encoded(kind):
        return False
    kind = plain(kind)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return bool(kind.unit != "s")
    if pa.types.is_decimal(kind):
        return bool(pa.types.is_decimal128(kind))
    odd = (pa.float16(), pa.string_view(), pa.binary_view(), pa.date64())
    return kind not in odd and not pa.types.is_fixed_size_binary(kind)
