"""Which columns of many files are one column, at one level of nesting. Pure.

A declared id is a column, whatever its name. A column without one is known by its name: it is the
column that has that name now, else the one that had it last, else one of its own.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TypeAlias

from rangeio.errors import RequestError
from rangeio.schema import Column, Schema

Label: TypeAlias = tuple[str, int | None]
"""A column's name, renamed as the caller wants, and its declared id if it has one."""


@dataclass(slots=True)
class Slot:
    """One column of the dataset. at: its position in each level, None where it is missing.

    unique_id: the declared one. first: the first level that has it, and where; last: the last
    level. retaken: its name belongs to a column of a later file. twins: levels in which it is one
    of several of a name, which cannot be told from its like in another.
    """

    at: list[int | None]
    name: str
    unique_id: int | None = None
    first: tuple[int, int] = (sys.maxsize, 0)
    last: int = -1
    retaken: bool = False
    twins: frozenset[int] = frozenset()

    def put(self, g: int, i: int, twin: bool = False) -> None:
        """It is the ``i``-th of level ``g``."""
        self.at[g] = i
        if twin:
            self.twins |= {g}
        if g < self.first[0]:
            self.first = (g, i)
        if g > self.last:
            self.last = g


@dataclass(frozen=True, slots=True)
class Renames:
    """The caller's names for columns without a declared id: dotted path in the file to new path.

    A new path has the same parents as the old one, under their old or their new name. Names that
    no file has are no error: the next file may have them. There are no chains: every old name is
    mapped to the newest.
    """

    names: Mapping[str, str] = field(default_factory=dict)

    def of(self, path: tuple[str, ...], parent: tuple[str, ...]) -> str:
        """The name of the column at ``path`` in a file, under ``parent`` in the dataset."""
        wanted = self.names.get(".".join(path)) if self.names else None
        if wanted is None or len(path) == 1:
            return path[-1] if wanted is None else wanted
        for above in (parent, path[:-1]):
            prefix = ".".join(above) + "."
            if wanted.startswith(prefix) and len(wanted) > len(prefix):
                return wanted[len(prefix) :]
        raise RequestError(f"names=: {'.'.join(path)!r} cannot move out of its parent: {wanted!r}")


def top_labels(schema: Schema, renames: Renames) -> list[Label]:
    """The labels of a file's top-level columns, none of which is built if the schema knows them."""
    ids, declared = schema.ids, schema.declared
    if ids is None or declared is None:
        ids = [column.unique_id for column in schema]
        declared = [column.id_declared for column in schema]
    names: Sequence[str] = schema.names
    if renames.names:
        names = [renames.of((name,), ()) for name in names]
    known = (i if told and i >= 0 else None for i, told in zip(ids, declared, strict=True))
    return _once(list(zip(names, known, strict=True)))


def alike(schemas: Sequence[Schema], names: Mapping[str, str]) -> Mapping[str, str]:
    """The caller's names, and for top-level names that differ in case alone the latest of them.

    Not of what one file has twice so, nor of columns that are known by an id.
    """
    if len(schemas) < 2:
        return names
    latest: dict[str, str] = {}
    variants: dict[str, dict[str, None]] = {}
    apart: set[str] = set()
    for schema in schemas:
        here = Counter[str]()
        for name, (_, unique_id) in zip(schema.names, top_labels(schema, Renames()), strict=True):
            told = names.get(name, name)
            fold = told.casefold()
            here[fold] += 1
            latest[fold] = told
            variants.setdefault(fold, {})[name] = None
            if unique_id is not None or here[fold] > 1:
                apart.add(fold)
    found = {
        name: latest[fold]
        for fold, known in variants.items()
        for name in known
        if fold not in apart and name != latest[fold]
    }
    return {**names, **found}


def child_labels(column: Column, renames: Renames, parent: tuple[str, ...]) -> list[Label]:
    """The labels of the columns right below one."""
    return _once([(renames.of(c.path, parent), own_id(c, column)) for c in column.children])


def own_id(column: Column, above: Column | None) -> int | None:
    """The id that a column declares for itself; one that it has of the column above is none."""
    if not column.id_declared or column.unique_id < 0:
        return None
    inherited = above is not None and above.unique_id == column.unique_id
    return None if inherited else column.unique_id


def _once(labels: list[Label]) -> list[Label]:
    """Ids that one level has twice tell nobody which column it is: they are left out."""
    ids = [one for _, one in labels if one is not None]
    if len(set(ids)) == len(ids):
        return labels
    counts = Counter(ids)
    return [(name, None if one is None or counts[one] > 1 else one) for name, one in labels]


def matched(levels: Sequence[Sequence[Label] | None]) -> list[Slot]:
    """The columns of levels, oldest first, in the order in which they first appear.

    A level is None where the column above it is missing. Of columns of one name the one of the
    latest level keeps it, the others are ``retaken``.
    """
    distinct: list[Sequence[Label] | None] = []
    places = []
    for level in levels:  # files often differ in types alone
        if not distinct or level != distinct[-1]:
            distinct.append(level)
        places.append(len(distinct) - 1)
    slots = _matched(distinct)
    if len(distinct) < len(levels):
        for slot in slots:
            slot.at = [slot.at[place] for place in places]
            if slot.twins:
                slot.twins = frozenset(g for g, place in enumerate(places) if place in slot.twins)
    return slots


def _matched(levels: Sequence[Sequence[Label] | None]) -> list[Slot]:
    matching = _Matching(len(levels))
    for g, level in enumerate(levels):
        matching.declared(g, level or ())
    matching.claim()
    for g, level in enumerate(levels):
        matching.positional(g, level or ())
    slots = sorted(matching.slots, key=attrgetter("first"))
    _retake(slots)
    return slots


class _Matching:
    """The slots of one level, while they are found."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.slots: list[Slot] = []
        self.by_id: dict[int, Slot] = {}
        self.by_name: dict[tuple[str, int], Slot] = {}
        self.current: dict[str, Slot] = {}
        self.earlier: dict[str, Slot] = {}

    def slot(self, name: str, unique_id: int | None = None) -> Slot:
        made = Slot([None] * self.count, name, unique_id)
        self.slots.append(made)
        return made

    def declared(self, g: int, level: Sequence[Label]) -> None:
        """Those with an id. The last name that a column has is its name."""
        for i, (name, unique_id) in enumerate(level):
            if unique_id is None:
                continue
            slot = self.by_id.get(unique_id)
            if slot is None:
                slot = self.by_id[unique_id] = self.slot(name, unique_id)
            slot.put(g, i)
            slot.name = name
            self.earlier[name] = slot

    def claim(self) -> None:
        """Whose the names are now: the latest level's."""
        for slot in sorted(self.by_id.values(), key=attrgetter("last")):
            self.current[slot.name] = slot

    def positional(self, g: int, level: Sequence[Label]) -> None:
        """Those without an id, by name: first those that have a declared column's present name."""
        left = [(i, name) for i, (name, unique_id) in enumerate(level) if unique_id is None]
        counts = Counter(name for _, name in left)
        for known in (self.current, self.earlier) if self.by_id else ():
            left = [one for one in left if not self.taken(g, *one, known, counts)]
        seen = Counter[str]()
        for i, name in left:
            key = (name, seen[name])
            seen[name] += 1
            slot = self.by_name.get(key)
            if slot is None:
                slot = self.by_name[key] = self.slot(name)
            slot.put(g, i, counts[name] > 1)

    def taken(
        self, g: int, i: int, name: str, known: Mapping[str, Slot], counts: Mapping[str, int]
    ) -> bool:
        """Whether the declared column of a name is this one: unless the file has it already."""
        slot = known.get(name)
        if slot is None or slot.at[g] is not None:
            return False
        slot.put(g, i, counts[name] > 1)
        return True


def _retake(slots: Sequence[Slot]) -> None:
    latest: dict[str, int] = {}
    for slot in slots:
        latest[slot.name] = max(slot.last, latest.get(slot.name, -1))
    for slot in slots:
        slot.retaken = slot.last < latest[slot.name]
