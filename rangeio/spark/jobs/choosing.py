"""Filters on what the names of folders tell: which files are meant, and what is left to ask of
each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.datasets.evolving.evolution import unified
from rangeio.datasets.finding.manifest import ABSENT
from rangeio.datasets.finding.partitions import partitions, verdict
from rangeio.errors import RequestError
from rangeio.expression import references, tree_of
from rangeio.predicate import Answer, parse
from rangeio.schema import Schema

Row = Sequence[object]
"""What the path of a file tells, in the order of the keys; ABSENT where it tells nothing."""


def chosen(filters: Any, names: Sequence[str]) -> list[tuple[int, Any]]:
    """The places of the files that may have rows to match, and the filters left for each; None:
    every row of it matches.

    names: with the folders below the root. What a folder tells is true of all rows below it,
    whatever the files say. Raises RequestError for a filter that makes no sense of a key, and for
    an expression on one: of that no part can be taken.
    """
    told = partitions(names)
    keys = set(told.schema.names)
    if isinstance(filters, pc.Expression):
        _refuse(filters, keys)
        return [(i, filters) for i in range(len(names))]
    groups = _groups(filters)
    if not any(_key(one) in keys for group in groups for one in group):
        return [(i, filters) for i in range(len(names))]
    known = unified((), partitions=told.schema).schema
    found = [(i, _left(groups, told.schema, known, row)) for i, row in enumerate(told.values)]
    return [(i, left or None) for i, left in found if left is not None]


def _left(groups: Sequence[Any], keys: pa.Schema, known: Schema, row: Row) -> list[Any] | None:
    """The groups without what the path answers; none of them: all rows match; None: no row does."""
    left = []
    for group in groups:
        asked = {i: _answer(one, keys, known, row) for i, one in enumerate(group)}
        if Answer.NEVER in asked.values():
            continue
        rest = [one for i, one in enumerate(group) if asked[i] is None]
        if not rest:
            return []
        left.append(rest)
    return left or None


def _answer(condition: Any, keys: pa.Schema, known: Schema, row: Row) -> Answer | None:
    """Of a condition on a key that the path has; None: the file is to be asked."""
    name = _key(condition)
    if name not in keys.names or row[keys.get_field_index(name)] is ABSENT:
        return None
    found = verdict(parse([condition], known), keys, row)
    if found is Answer.MAYBE:  # a value of which nothing but its presence is known
        raise RequestError(f"filters: {condition!r} cannot be asked of a path; name the folders")
    return found


def _key(condition: Any) -> str | None:
    word = condition[0] if isinstance(condition, (list, tuple)) and condition else None
    if isinstance(word, tuple) and len(word) == 1:
        (word,) = word
    return word if isinstance(word, str) else None


def _groups(filters: Any) -> list[list[Any]]:
    """Lists of conditions, any of which is to match. What is none goes to whom it is told."""
    if not isinstance(filters, (list, tuple)) or not filters:
        return []
    if _is_condition(filters):
        return [[filters]]
    if all(map(_is_condition, filters)):
        return [list(filters)]
    return [list(one) if isinstance(one, (list, tuple)) else [one] for one in filters]


def _is_condition(one: Any) -> bool:
    return isinstance(one, (list, tuple)) and len(one) in (2, 3) and isinstance(one[1], str)


def _refuse(expression: pc.Expression, keys: set[str]) -> None:
    named = keys.intersection(path[0] for path in references(tree_of(expression)))
    if named:
        raise RequestError(
            f"filters: {min(named)!r} is told by the names of folders, of which an expression "
            "cannot be asked: give lists of conditions, or name the folders"
        )
