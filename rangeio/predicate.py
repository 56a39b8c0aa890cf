"""Filters: which rows are wanted, asked of statistics before a read and of the data after. Pure.

Pruning only skips. What :meth:`Predicate.keep` says follows from the statistics alone, and the
rows are chosen by :meth:`Predicate.mask`, which Arrow evaluates.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.condition import (
    All,
    AnyOf,
    Compared,
    Condition,
    Given,
    IsNull,
    Known,
    Not,
    Operator,
    Path,
    Within,
    comparison,
    parts,
    sought,
)
from rangeio.errors import BadFilter
from rangeio.expression import condition_of, references, tree_of
from rangeio.literal import (
    Literal,
    Order,
    UnfitError,
    array_of,
    compared,
    missing,
    place,
    plain,
    rounded,
    scalar_of,
)
from rangeio.picking import filtered
from rangeio.schema import Column, Schema
from rangeio.select import one_of
from rangeio.statistics import Answer, Outcome, Statistics, equals

__all__ = ["Answer", "Filters", "Predicate", "Statistics", "parse"]

Filters: TypeAlias = pc.Expression | Sequence[object]
Both: TypeAlias = tuple[Condition, pc.Expression]
"""What a condition says of statistics, and how Arrow evaluates it."""

_COMPARISONS: dict[str, Operator] = {o.value: o for o in Operator} | {"=": Operator.EQUAL}
_EVALUATED: dict[Operator, Callable[[pc.Expression, pc.Expression], pc.Expression]] = {
    Operator.EQUAL: operator.eq,
    Operator.UNEQUAL: operator.ne,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
}
_WORDS = ("in", "not in", "is null", "is not null")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A filter bound to a schema.

    columns: paths of the columns that it looks at, each once; words for ``select``.
    condition: what statistics are asked. expression: what Arrow evaluates on the data.
    """

    columns: tuple[Path, ...]
    condition: Condition
    expression: pc.Expression

    def keep(self, statistics: Known) -> Answer:
        """Whether rows with these statistics of leaves match; unknown leaves may be left out.

        NEVER and ALWAYS are certain as far as the statistics are true.
        """
        return self.condition.outcomes(statistics).answer

    def asked(self) -> frozenset[Path]:
        """The leaves whose statistics :meth:`keep` looks at; of the other columns it can tell
        nothing."""
        found = (one for one, _ in parts(self.condition))
        return frozenset(c.path for c in found if isinstance(c, (Given, IsNull, Compared, Within)))

    def probes(self) -> Mapping[Path, tuple[Order, ...]]:
        """The values that rows must hold to match an equality or an ``in``, by leaf, each once.

        Where statistics lack them, :meth:`keep` may answer NEVER. Of a float zero both signs are
        given; NaN never.
        """
        found: dict[Path, dict[str, Order]] = {}
        for condition, negated in parts(self.condition):
            for value in sought(condition, negated):
                assert isinstance(condition, (Compared, Within))
                of = found.setdefault(condition.path, {})
                of.update((repr(one), one) for one in equals(value))  # 0.0 and -0.0 are two
        return {path: tuple(values.values()) for path, values in found.items()}

    def mask(self, table: pa.Table | pa.RecordBatch) -> pa.BooleanArray:
        """Which rows match, without nulls: a condition that is null does not match.

        ``table`` has the top-level columns of :attr:`columns`, and may have more.
        """
        names = list(dict.fromkeys(path[0] for path in self.columns))
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        looked_at = table.select(names) if names else pa.table({"": pa.nulls(table.num_rows)})
        try:
            found = _evaluated(looked_at, self.expression)
        except (pa.ArrowException, ValueError) as error:
            raise BadFilter(f"the filter {self} fails on the data: {error}") from None
        return found.combine_chunks().fill_null(False)

    def filter(self, table: pa.Table) -> pa.Table:
        """The rows that match, in order."""
        return filtered(table, self.mask(table))

    def __str__(self) -> str:
        return str(self.expression)


def _evaluated(table: pa.Table, expression: pc.Expression) -> pa.ChunkedArray:
    # Arrow loads its engine when it is first asked for, and so do we: it takes a while.
    from pyarrow import acero

    source = acero.Declaration("table_source", acero.TableSourceNodeOptions(table))
    project = acero.Declaration("project", acero.ProjectNodeOptions([expression], ["mask"]))
    steps = acero.Declaration.from_sequence([source, project])
    return steps.to_table(use_threads=False).column(0)


def parse(filters: Filters, schema: Schema, *, case_sensitive: bool = True) -> Predicate:
    """Bind a filter to a schema.

    A condition is ``(column, operator, value)``, or ``(column, "is null")``; a list of conditions
    wants all of them, a list of such lists any of them. A column is a name, a dotted path, a tuple
    of names, a unique_id or a Column. A null matches only ``is null``. An Arrow expression is taken
    as it is, its names too. Raises BadFilter, and NoSuchColumn for what the schema has not.
    """
    if isinstance(filters, pc.Expression):
        return _expressed(filters, schema)
    columns: dict[Path, Column] = {}
    bound = [
        _joined([_bound(one, schema, columns, case_sensitive) for one in group], All, operator.and_)
        for group in _groups(filters)
    ]
    condition, expression = _joined(bound, AnyOf, operator.or_)
    _check(expression, columns.keys(), schema)
    return Predicate(tuple(columns), condition, expression)


def _joined(
    parts: Sequence[Both],
    kind: Callable[[tuple[Condition, ...]], Condition],
    join: Callable[[pc.Expression, pc.Expression], pc.Expression],
) -> Both:
    conditions, expressions = zip(*parts, strict=True)
    if len(parts) == 1:
        return parts[0]
    return kind(conditions), reduce(join, expressions)


def _expressed(expression: pc.Expression, schema: Schema) -> Predicate:
    tree = tree_of(expression)
    paths = tuple(dict.fromkeys(references(tree)))
    columns = {path: _column(path, schema) for path in paths}
    for path, column in columns.items():
        if column.path != path:
            raise BadFilter(f"an expression cannot reach {column.id.name!r} through a list")
    _check(expression, paths, schema)
    return Predicate(paths, condition_of(tree, columns), expression)


def _check(expression: pc.Expression, paths: Iterable[Path], schema: Schema) -> None:
    """Let Arrow bind the expression to the types that it will meet, and want a boolean."""
    tops = dict.fromkeys(path[0] for path in paths)
    kinds = pa.schema([one_of(schema, (top,))[1].arrow for top in tops])
    empty = pa.Table.from_batches([], kinds)  # of some types Arrow makes no empty array
    try:
        kind = _evaluated(empty if tops else pa.table({"": pa.nulls(0)}), expression).type
    except (pa.ArrowException, ValueError) as error:
        raise BadFilter(f"{expression} cannot be evaluated: {error}") from None
    if not pa.types.is_boolean(kind):
        raise BadFilter(f"{expression} is {kind}, a filter is true or false")


# ---- lists of conditions -----------------------------------------------------------------------


def _groups(filters: object) -> list[Sequence[object]]:
    """The lists of conditions, any of which is to match as a whole."""
    if not isinstance(filters, (list, tuple)) or not filters:
        raise BadFilter(f"a filter is a list of conditions or an expression, not {filters!r}")
    if _is_condition(filters):
        return [[filters]]
    if all(_is_condition(one) for one in filters):
        return [filters]
    for group in filters:
        if not isinstance(group, (list, tuple)) or not group or _is_condition(group):
            raise BadFilter(f"conditions and lists of conditions are not mixed: {group!r}")
        for one in group:
            if not _is_condition(one):
                raise BadFilter(f"not a condition (column, operator, value): {one!r}")
    return list(filters)


def _is_condition(one: object) -> bool:
    return isinstance(one, (list, tuple)) and len(one) in (2, 3) and isinstance(one[1], str)


def _bound(one: object, schema: Schema, columns: dict[Path, Column], case_sensitive: bool) -> Both:
    """One condition, bound; its column is added to ``columns``."""
    assert isinstance(one, (list, tuple))
    column = _column(one[0], schema, case_sensitive)
    columns[column.path] = column
    word = " ".join(one[1].lower().split())
    if word in ("is null", "is not null"):
        if len(one) == 3 and one[2] is not None:
            raise BadFilter(f"{word!r} takes no value: {one!r}")
        return _null(column, word == "is not null")
    if word not in _COMPARISONS and word not in _WORDS:
        known = " ".join([*_COMPARISONS, *_WORDS])
        raise BadFilter(f"the operator {one[1]!r} is none of {known}")
    if len(one) != 3:
        raise BadFilter(f"{word!r} needs a value: {one!r}")
    kind = plain(column.type)
    if pa.types.is_nested(kind):
        raise BadFilter(f"{column.id.name!r} is {kind}, of which only 'is null' can be asked")
    if word in ("in", "not in"):
        return _listed(column, kind, one[2], word == "not in")
    return _compared(column, kind, _COMPARISONS[word], one[2])


def _column(word: object, schema: Schema, case_sensitive: bool = True) -> Column:
    """The column of a condition, with nothing but structs above it."""
    if not isinstance(word, (str, tuple, int, Column)) or isinstance(word, bool):
        raise BadFilter(f"the column of a filter is a name or a path, not {word!r}")
    position, column = one_of(schema, word, case_sensitive=case_sensitive)
    above = schema.at(position)
    for name in column.path[1:]:
        if not pa.types.is_struct(above.type):
            raise BadFilter(f"{column.id.name!r} lies in a {above.type}: a row has many of them")
        above = next(child for child in above.children if child.name == name)
    if len(schema.positions[column.path[0]]) > 1:
        raise BadFilter(f"{column.path[0]!r} names more than one column, none can be filtered by")
    return column


def _reference(column: Column, kind: pa.DataType) -> pc.Expression:
    """The column as Arrow is to compare it."""
    field = pc.field(*column.path)
    wanted = compared(kind)
    encoded = column.type != kind and not pa.types.is_dictionary(column.type)
    return field.cast(wanted) if encoded or wanted != kind else field


def _null(column: Column, negated: bool) -> Both:
    field = pc.field(*column.path)
    condition = IsNull(column.path)
    return (Not(condition), field.is_valid()) if negated else (condition, field.is_null())


def _given(column: Column, result: bool) -> Both:
    """What is the same for every value but null."""
    valid = pc.field(*column.path).is_valid()
    return Given(column.path, result), valid if result else valid & pc.scalar(False)


def _compared(column: Column, kind: pa.DataType, asked: Operator, value: object) -> Both:
    if pa.types.is_null(kind):
        return _given(column, False)
    condition = comparison(column.path, kind, asked, _placed(column, kind, value))
    if isinstance(condition, Given):
        return _given(column, condition.result)
    held = pc.scalar(scalar_of(condition.value, kind))
    return condition, _EVALUATED[condition.operator](_reference(column, kind), held)


def _listed(column: Column, kind: pa.DataType, values: object, negated: bool) -> Both:
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        raise BadFilter(f"{column.id.name!r} 'in' wants a list of values, not {values!r}")
    placed = [] if pa.types.is_null(kind) else [_placed(column, kind, v) for v in values]
    nan = any(one.nan for one in placed)
    held = [rounded(one.below, kind) for one in placed if one.exact and one.below is not None]
    orders = sorted({repr(order): order for order in held}.values())  # 0.0 and -0.0 are two
    if not orders and not nan:
        return _given(column, negated)
    found = _reference(column, kind).isin(array_of(orders, kind, nan))
    within = Within(column.path, kind, tuple(orders), nan, Outcome.NULL)
    if not negated:
        return within, found
    return Not(within), ~found & pc.field(*column.path).is_valid()


def _placed(column: Column, kind: pa.DataType, value: object) -> Literal:
    if missing(value):
        raise BadFilter(f"{column.id.name!r} against a null: nothing equals it, ask 'is null'")
    try:
        return place(value, kind)
    except UnfitError as error:
        raise BadFilter(f"column {column.id.name!r} of type {column.type}: {error}") from None
