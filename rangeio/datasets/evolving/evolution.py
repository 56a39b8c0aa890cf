"""One schema over files of many schemas. Pure.

A *generation* is one distinct file schema. What a dataset's column is, in which files it is, and
its type are worked out when it is looked at: many columns and one generation cost what that
generation's schema costs.

Columns stand in the order in which they first appear, under the name that they had last. Partition
columns come last; one that a file has too takes its place, for the path tells what is true of all
rows of the files below it. Files whose path lacks the key have their own column there. Nothing of
what the files hold is lost: see :class:`EvolvedSchema` for columns whose names were taken over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from rangeio.datasets.evolving.matching import Label, Renames, Slot, matched, top_labels
from rangeio.datasets.evolving.reachable import EvolvedSchema, Joined
from rangeio.datasets.evolving.target import target_schema
from rangeio.datasets.evolving.unifying import (
    FromPath,
    Place,
    Sources,
    Unifier,
    other_name,
    wanted,
)
from rangeio.errors import RequestError
from rangeio.schema import Column, ColumnId, Schema

How: TypeAlias = Literal["id", "name", "mixed"]
"""How a file's columns were matched: all by declared ids, all by name, or some so and some so."""


_FOLDERS = "the folders' names"
"""Where partition columns are, for who is told of two types that do not go together."""


@dataclass(frozen=True, slots=True)
class Generation:
    """A schema that files have, the url of the first of them, and how many they are.

    lacking: partition columns that are not in the path of each of them.
    """

    schema: Schema
    url: str
    files: int = 1
    lacking: frozenset[str] = frozenset()


class DatasetSchema:
    """One schema over generations, oldest first.

    schema: the dataset's columns; for ``select`` and ``parse`` as any schema. matched: how the
    columns of each generation were found.
    """

    def __init__(
        self,
        generations: Sequence[Generation],
        partitions: pa.Schema,
        schema: Schema,
        how: Callable[[], Sequence[How]],
    ) -> None:
        self.generations = tuple(generations)
        self.partitions = partitions
        self.schema = schema
        self._how = how

    @cached_property
    def matched(self) -> tuple[tuple[str, int, How], ...]:
        """By generation: the url of its first file, its count of files, and how it was matched."""
        pairs = zip(self.generations, self._how(), strict=True)
        return tuple((one.url, one.files, how) for one, how in pairs)

    def generation(self, schema: Schema) -> int:
        """The position of the generation that has this schema. Raises RequestError."""
        known = [one.schema for one in self.generations]
        same = (i for i, one in enumerate(known) if one is schema)
        found = next(same, None)
        if found is None:
            found = next((i for i, one in enumerate(known) if one == schema), None)
        if found is None:
            raise RequestError(f"{schema!r} is no schema of this dataset's files")
        return found

    def __len__(self) -> int:
        return len(self.schema)

    def __repr__(self) -> str:
        hows = ((files, how) for _, files, how in self.matched)
        return f"{Schema.__repr__(self.schema)}; {_told(hows) or 'files matched: none'}"


def unified(
    generations: Sequence[Generation],
    *,
    partitions: pa.Schema | None = None,
    declared: pa.Schema | None = None,
    names: Mapping[str, str] | None = None,
    typed: Sequence[bool] | None = None,
) -> DatasetSchema:
    """The schema of all generations, oldest first.

    declared: the columns that there are to be, in their order and types; ids are in the metadata
    of its fields (``unique_id`` or ``PARQUET:field_id``), those without match by name. A column
    that may be null in some file is nullable all the same. names: old name to new, dotted paths
    for nested ones, of columns that have no declared id. typed: by generation whether it counts for
    the types; what none of those has is of the type that the last one gives it. Raises RequestError
    for a schema or names that make no sense; what files do not agree in is told when the column is
    looked at.
    """
    partitions = pa.schema([]) if partitions is None else partitions
    alone = len(generations) == 1 and declared is None and not names
    if alone and not _entangled(generations[0], partitions):
        (only,) = generations
        schema = _appended(only.schema, partitions) if len(partitions) else only.schema
        return DatasetSchema(
            generations, partitions, schema, lambda: [_how(top_labels(only.schema, Renames()))]
        )
    counts = None if typed is None or all(typed) else frozenset(np.flatnonzero(typed).tolist())
    evolution = _Evolution(generations, partitions, declared, Renames(names or {}), counts)
    return DatasetSchema(generations, partitions, evolution.schema(), lambda: evolution.how)


def _how(labels: Sequence[Label]) -> How:
    declared = sum(unique_id is not None for _, unique_id in labels)
    if not declared:
        return "name"
    return "id" if declared == len(labels) else "mixed"


def _told(hows: Iterable[tuple[int, How]]) -> str:
    """In words: how many files were matched in which way."""
    counts = Counter[str]()
    for files, how in hows:
        counts[how] += files
    words = {"id": "by id", "name": "by name", "mixed": "by id, else by name"}
    told = ", ".join(f"{count:,} {words[how]}" for how, count in counts.items())
    return f"files matched: {told}" if told else ""


def _entangled(one: Generation, partitions: pa.Schema) -> bool:
    """Whether a column that is in paths too is read of the files nevertheless: of those whose path
    lacks it, or by its id."""
    found = [(key, at[0]) for key in partitions.names if (at := one.schema.positions.get(key, []))]
    declared = one.schema.declared
    return any(
        key in one.lacking or (one.schema.at(i).id_declared if declared is None else declared[i])
        for key, i in found
    )


def _partition(field: pa.Field, position: int) -> Column:
    """A column whose value is in the paths. No format numbers a column as these are numbered."""
    own = ColumnId(-1 - position, (field.name,))
    return Column(own, field.type, True, False, (), field.metadata or {}, FromPath())


def _appended(schema: Schema, partitions: pa.Schema) -> Schema:
    """One generation's own schema, with the partition columns in it or behind it."""
    places = {field.name: schema.positions.get(field.name, []) for field in partitions}
    replaced = {i: partitions.field(name) for name, found in places.items() for i in found[:1]}
    new = [field for field in partitions if not places[field.name]]
    count = len(schema)

    def make(i: int) -> Column:
        field = replaced.get(i) if i < count else new[i - count]
        return schema.at(i) if field is None else _partition(field, i)

    ids, declared = schema.ids, schema.declared
    if ids is not None:
        ids = [*ids, *(-1 - i for i in range(count, count + len(new)))]
        for i in replaced:
            ids[i] = -1 - i
    if declared is not None:
        declared = [told and i not in replaced for i, told in enumerate(declared)]
        declared += [False] * len(new)
    behind = {field.name: [count + i] for i, field in enumerate(new)}
    return Schema(
        Joined(schema.names, list(behind)),
        make,
        metadata=schema.metadata,
        ids=ids,
        declared=declared,
        find=lambda name: behind.get(name) or schema.positions.get(name, []),
        ahead=lambda positions: schema.expect(
            [i for i in positions if i < count and i not in replaced]
        ),
    )


class _Evolution:
    """The columns of a dataset of several generations, or of what the caller declared."""

    def __init__(
        self,
        generations: Sequence[Generation],
        partitions: pa.Schema,
        declared: pa.Schema | None,
        renames: Renames,
        typed: frozenset[int] | None,
    ) -> None:
        self.files = [one.schema for one in generations]
        self.target = None if declared is None else target_schema(declared)
        levels = [top_labels(one, renames) for one in self.files]
        self.how = [_how(level) for level in levels]
        if self.target is not None:
            levels.append(top_labels(self.target, Renames()))
        slots = matched(levels)
        slots = slots if self.target is None else wanted(slots)
        self.shown = [slot for slot in slots if not slot.retaken]
        self.retaken = [slot for slot in slots if slot.retaken]
        self.counts = [one.files for one in generations]
        urls = [one.url for one in generations]
        self.unifier = Unifier(urls, renames, self.target is not None, typed=typed)
        self.whole = replace(self.unifier, whole=True)
        self._place(partitions, [one.lacking for one in generations])
        self.slots = [*self.shown, *self.retaken]
        self._name()

    def _place(self, partitions: pa.Schema, lacking: Sequence[frozenset[str]]) -> None:
        """The partition columns: in the place of a column of that name, else behind. Of declared
        columns only those are there that were declared, of the type that was."""
        names = {slot.name: i for i, slot in reversed(list(enumerate(self.shown)))}
        self.paths: dict[int, pa.Field] = {}
        self.own: dict[int, Slot] = {}  # what files have there whose path lacks the key
        for field in partitions:
            if field.name in names:
                position = names[field.name]
                if self.target is not None:
                    field = self.target[field.name].arrow
                self.paths[position] = field
                self._keep(position, [field.name in one for one in lacking])
            elif self.target is None:
                position = len(self.shown)
                self.shown.append(Slot([None] * len(self.files), field.name))
                self.paths[position] = field

    def _keep(self, position: int, lacking: Sequence[bool]) -> None:
        """What files have in the place of a partition column, seen where their path lacks it; all
        of it is found by its id."""
        slot = self.shown[position]
        seen = [i if lacks else None for i, lacks in zip(slot.at, lacking, strict=False)]
        if any(i is not None for i in seen):
            self.own[position] = replace(slot, at=[*seen, *slot.at[len(seen) :]])
        if slot.unique_id is not None and any(i is not None for i in slot.at[: len(seen)]):
            self.retaken.append(replace(slot, retaken=True))

    def _name(self) -> None:
        """Ids and names. A column without a declared id is numbered by its place, below zero where
        others have one, which it might equal."""
        numbered = any(slot.unique_id is not None for slot in self.slots)
        self.ids = [-1 - i if numbered else i for i in range(len(self.slots))]
        for i, slot in enumerate(self.slots):
            if i in self.paths:
                self.ids[i] = -1 - i
            elif slot.unique_id is not None:
                self.ids[i] = slot.unique_id
        self.names = [slot.name for slot in self.shown]
        taken = set(self.names)
        lost = zip(self.retaken, self.ids[len(self.shown) :], strict=True)
        self.names += [other_name(slot, unique_id, taken) for slot, unique_id in lost]

    def schema(self) -> EvolvedSchema:
        """All of them, each made when it is looked at."""
        count = len(self.shown)
        latest = self.target or (self.files[-1] if self.files else None)
        known = (slot.unique_id is not None for slot in self.shown)
        return EvolvedSchema(
            self.names[:count],
            self.column,
            ids=self.ids[:count],
            declared=[told and i not in self.paths for i, told in enumerate(known)],
            retaken=list(zip(self.names, self.ids, strict=True))[count:],
            metadata={} if latest is None else latest.metadata,
            ahead=self.ahead,
            told=self.mixture,
        )

    def mixture(self) -> str:
        """How files were matched, where it was not the same for all of them."""
        if set(self.how) <= {"name"} or set(self.how) == {"id"}:
            return ""
        return _told(zip(self.counts, self.how, strict=True))

    def column(self, position: int) -> Column:
        """The column at a position, as :class:`EvolvedSchema` counts them."""
        again, i = divmod(position, len(self.slots))
        if i in self.paths:
            return self._from_path(i)
        unifier, name = (
            (self.whole, f"{self.names[i]}#") if again else (self.unifier, self.names[i])
        )
        slot = self.slots[i]
        unifier.told_apart(slot)
        place = Place((name,), self.ids[i], slot.unique_id is not None)
        return unifier.column(place, self.sides(slot), [True] * len(slot.at))

    def _from_path(self, i: int) -> Column:
        """A partition column, of a type that holds what files without the key have as well."""
        made, slot = _partition(self.paths[i], i), self.own.get(i)
        if slot is None:
            return made
        self.unifier.told_apart(slot)
        sides = (made, *self.sides(slot))
        typed = self.unifier.typed
        typed = None if typed is None else frozenset((0, *(g + 1 for g in typed)))
        unifier = replace(self.unifier, urls=(_FOLDERS, *self.unifier.urls), typed=typed)
        column = unifier.column(Place(made.path, made.unique_id, False), sides, [True] * len(sides))
        assert isinstance(column.payload, Sources)
        own = replace(column.payload, columns=column.payload.columns[1:])
        return replace(column, nullable=True, payload=FromPath(own))

    def sides(self, slot: Slot) -> tuple[Column | None, ...]:
        """What each file has for a column, and what was declared last."""
        schemas = chain(self.files, () if self.target is None else (self.target,))
        pairs = zip(schemas, slot.at, strict=True)
        return tuple(None if i is None else schema.at(i) for schema, i in pairs)

    def ahead(self, positions: Sequence[int]) -> None:
        """Let the formats make the columns of their files together."""
        count = len(self.slots)
        asked = [i % count for i in positions]
        chosen = [self.slots[i] for i in asked if i not in self.paths]
        chosen += [self.own[i] for i in asked if i in self.own]
        for g, schema in enumerate(self.files):
            schema.expect([i for slot in chosen if (i := slot.at[g]) is not None])
