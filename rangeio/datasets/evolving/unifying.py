"""One column out of what each file schema has for it, at every level of nesting. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

import pyarrow as pa

from rangeio.datasets.evolving.filling import default_of
from rangeio.datasets.evolving.matching import Label, Renames, Slot, child_labels, matched, own_id
from rangeio.datasets.evolving.widening import clash, common, fits
from rangeio.declared import DEFAULT
from rangeio.errors import RangeIOError, RequestError, Unsupported
from rangeio.schema import Column, ColumnId

Sided: TypeAlias = tuple[Column | None, ...]
"""What each generation has for a column; None where it has nothing."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The payload of a dataset's column: where its values come from.

    columns: the file's own column, by generation. default: what rows of files without it hold,
    None for null.
    """

    columns: Sided
    default: pa.Scalar | None = None


@dataclass(frozen=True, slots=True)
class FromPath:
    """The payload of a column whose value is in the paths.

    own: where it comes from in files whose path lacks the key; None: no such file has it.
    """

    own: Sources | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a column is in the dataset, before anything else is known of it."""

    path: tuple[str, ...]
    unique_id: int
    declared: bool


@dataclass(frozen=True, slots=True)
class Unifier:
    """What unifies columns: the urls of the generations' first files, and the caller's names.

    targeted: the last of the sides is no file but what the caller declared; it says what comes.
    whole: structs have the fields too whose names later ones took. typed: the generations of which
    the types come, all of them where it is None; of what none of them has, the last that has it.
    """

    urls: Sequence[str]
    renames: Renames
    targeted: bool
    whole: bool = False
    typed: frozenset[int] | None = None

    def column(self, place: Place, sides: Sided, present: Sequence[bool]) -> Column:
        """The column of a place. present: which sides have the column above it.

        Raises Unsupported where the files cannot be brought together, and RequestError where they
        cannot be brought to what the caller declared.
        """
        target = sides[-1] if self.targeted else None
        files = sides[: len(self.urls)]
        known = self._known(files)
        self._alike_shapes(place, sides, known, target)
        latest = target or next(one for one in reversed(sides) if one is not None)
        kind, children = self._typed(place, sides, known, target)
        default = self._default(place, sides, present, latest, kind)
        lacks = any(here and one is None for here, one in zip(present, files, strict=False))
        nullable = (lacks and default is None) or any(c.nullable or _empty(c) for c in _of(sides))
        return Column(
            ColumnId(place.unique_id, place.path),
            kind,
            nullable,
            place.declared,
            children,
            latest.metadata,
            Sources(files, default),
        )

    def _typed(
        self, place: Place, sides: Sided, known: Sequence[int], target: Column | None
    ) -> tuple[pa.DataType, tuple[Column, ...]]:
        """The type, and the columns below. The shapes are alike already."""
        shaped = target or (sides[known[-1]] if known else None)
        if shaped is None:
            return pa.null(), ()
        sides = self._alike(sides, known, shaped)
        if any(_whole(c) for c in _of(sides)):
            return self._value(place, sides, known, target), ()
        shape = shape_of(shaped.type)
        # A null column of a file is there, but has nothing below it.
        below = tuple(None if c is None or _empty(c) else c for c in sides)
        if shape == "struct":
            children = self._fields(place, below)
            return pa.struct([c.arrow for c in children]), children
        if shape == "value":
            kind = self._value(place, sides, known, target)
            return kind, tuple(_moved(c, place) for c in shaped.children)
        children = self._inner(place, tuple(None if c is None else inner(c) for c in below))
        types = [sides[g].type for g in known] if target is None else [target.type]  # type: ignore[union-attr]
        return _nested(types, children), children

    def _known(self, files: Sided) -> list[int]:
        """The files that tell the type of a column."""
        held = [g for g, one in enumerate(files) if one is not None and not _empty(one)]
        if self.typed is None:
            return held
        return [g for g in held if g in self.typed] or held[-1:]

    def _alike(self, sides: Sided, known: Sequence[int], shaped: Column) -> Sided:
        """The sides without those that say nothing of the type and are of another shape."""
        if self.typed is None:
            return sides
        shape = shape_of(shaped.type)

        def apt(g: int, one: Column | None) -> bool:
            if one is None or g in known or g >= len(self.urls) or _empty(one):
                return True
            return shape_of(one.type) == shape and not _whole(one)

        return tuple(one if apt(g, one) else None for g, one in enumerate(sides))

    def _fields(self, place: Place, sides: Sided) -> tuple[Column, ...]:
        """The fields of a struct."""
        slots = matched([self._labels(c, g, place.path) for g, c in enumerate(sides)])
        if self.targeted:
            slots = wanted(slots)
        present = [c is not None for c in sides]
        names = {slot.name for slot in slots}
        out = []
        for slot in (s for s in slots if self.whole or not s.retaken):
            self.told_apart(slot, place.path)
            found = tuple(
                None if c is None or i is None else c.children[i]
                for c, i in zip(sides, slot.at, strict=True)
            )
            inherited = slot.unique_id is None
            own = place.unique_id if slot.unique_id is None else slot.unique_id
            name = other_name(slot, own, names) if slot.retaken else slot.name
            path = (*place.path, name)
            declared = place.declared if inherited else True
            out.append(self.column(Place(path, own, declared), found, present))
        return tuple(out)

    def _labels(self, column: Column | None, g: int, path: tuple[str, ...]) -> list[Label] | None:
        """The labels of a struct's fields on one side; the caller's own names stay as they are."""
        if column is None:
            return None
        if g == len(self.urls):
            return child_labels(column, Renames(), path)
        named = (path[0][:-1], *path[1:]) if self.whole else path
        return child_labels(column, self.renames, named)

    def _inner(
        self, place: Place, sides: Sequence[tuple[Column, ...] | None]
    ) -> tuple[Column, ...]:
        """The item of a list, or the sides of a map: one of each, whatever their names."""
        out = []
        present = [one is not None for one in sides]
        for i in range(len(next(one for one in sides if one is not None))):
            found = tuple(None if one is None else one[i] for one in sides)
            latest = next(one for one in reversed(found) if one is not None)
            ids = [own_id(c, None) for c in _of(found) if c.unique_id != place.unique_id]
            told = next((one for one in reversed(ids) if one is not None), None)
            path = (*place.path, latest.name)
            at = Place(
                path, place.unique_id if told is None else told, told is not None or place.declared
            )
            out.append(self.column(at, found, present))
        return tuple(out)

    def _value(
        self, place: Place, sides: Sided, known: Sequence[int], target: Column | None
    ) -> pa.DataType:
        """The type of a column that has nothing to be unified below it."""
        kinds = [c.type for g in known if (c := sides[g]) is not None]
        if target is not None:
            for g, kind in zip(known, kinds, strict=True):
                if not fits(kind, target.type):
                    self._refuse(place, g, kind, None, target.type)
            return target.type
        found = common(kinds)
        if found is None:
            one, other = clash(kinds)
            self._refuse(place, known[other], kinds[other], known[one], kinds[one])
        return found

    def _alike_shapes(
        self, place: Place, sides: Sided, known: Sequence[int], target: Column | None
    ) -> None:
        """Refuse a struct in one file that is a list in another."""
        first = target or (sides[known[0]] if known else None)
        for g in known:
            column = sides[g]
            assert column is not None
            assert first is not None
            if shape_of(column.type) != shape_of(first.type):
                self._refuse(place, g, column.type, None if target else known[0], first.type)

    def _default(
        self,
        place: Place,
        sides: Sided,
        present: Sequence[bool],
        latest: Column,
        kind: pa.DataType,
    ) -> pa.Scalar | None:
        """The declared default, which the latest that has the column tells."""
        text = latest.metadata.get(DEFAULT)
        missing = any(here and one is None for here, one in zip(present, sides, strict=True))
        if text is None or not missing:
            return None
        try:
            return default_of(text, kind)
        except (ValueError, pa.ArrowException) as error:
            name = ".".join(place.path)
            reason = f"the default {text!r} of column {name!r} is no {kind}: {error}"
            raise self._error(reason, self.latest_url(sides)) from None

    def told_apart(self, slot: Slot, above: tuple[str, ...] = ()) -> None:
        """Refuse a name that a file has twice, where it is to be found in others, or where the
        caller's names made it so."""
        told = (g for g in sorted(slot.twins) if self.typed is None or g in self.typed)
        twin = next(told, None)
        if twin is None:
            return
        name = ".".join((*above, slot.name))
        url = self.urls[twin] if twin < len(self.urls) else ""
        if name in self.renames.names.values():
            raise RequestError(f"names=: the file has several columns for {name!r}", url=url)
        if sum(i is not None for i in slot.at) > 1:
            reason = f"columns named {name!r} repeat: which is which in other files is not known"
            raise Unsupported(reason, url=url)

    def latest_url(self, sides: Sequence[object]) -> str:
        """The file that is named when the latest side is wrong; none for what was declared."""
        if self.targeted:
            return ""
        return next(self.urls[g] for g in range(len(sides) - 1, -1, -1) if sides[g] is not None)

    def _error(self, reason: str, url: str) -> RangeIOError:
        # A mix of files that no type can hold is the data's fault; that they do not fit what the
        # caller declared is the caller's.
        return RequestError(reason, url=url) if self.targeted else Unsupported(reason, url=url)

    def _refuse(
        self, place: Place, g: int, kind: pa.DataType, other: int | None, wanted: pa.DataType
    ) -> NoReturn:
        whose = "as schema= declares" if other is None else f"in {self.urls[other]}"
        name = ".".join(place.path)
        reason = (
            f"column {name!r} is {kind} here and {wanted} {whose}: no type holds both losslessly"
        )
        if other is None:
            reason = f"column {name!r} is {kind} here, not {wanted} {whose}: that could lose values"
        raise self._error(reason, self.urls[g])


def wanted(slots: Sequence[Slot]) -> list[Slot]:
    """Those that the last level has, in its order."""
    return sorted((s for s in slots if s.at[-1] is not None), key=lambda s: s.at[-1] or 0)


def other_name(slot: Slot, unique_id: int, names: set[str]) -> str:
    """A name for a column whose own a later column took: its id tells it, ``a#7``."""
    name = f"{slot.name}#{unique_id}"
    while name in names:
        name += "#"
    names.add(name)
    return name


def shape_of(kind: pa.DataType) -> str:
    """What has to be the same in all files. Types of no shape of their own are values."""
    if pa.types.is_struct(kind):
        return "struct"
    if pa.types.is_map(kind):
        return "map"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return "list"
    if pa.types.is_fixed_size_list(kind):
        return f"list of {kind.list_size}"
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return "list view" if pa.types.is_list_view(kind) else "large list view"
    return "value"


def inner(column: Column) -> tuple[Column, ...]:
    """The item of a list, the key and value of a map, however the format nests them."""
    if pa.types.is_map(column.type) and len(column.children) == 1:
        return column.children[0].children
    return column.children


def _nested(types: Sequence[pa.DataType], children: Sequence[Column]) -> pa.DataType:
    """The list or map of unified children that holds all of ``types``."""
    last = types[-1]
    if pa.types.is_map(last):
        key, value = (c.arrow for c in children)
        ordered = all(kind.keys_sorted for kind in types)
        return pa.map_(key.with_nullable(False), value, keys_sorted=ordered)
    (item,) = (c.arrow for c in children)
    if pa.types.is_fixed_size_list(last):
        return pa.list_(item, last.list_size)
    if pa.types.is_list_view(last):
        return pa.list_view(item)
    if pa.types.is_large_list_view(last):
        return pa.large_list_view(item)
    return pa.large_list(item) if any(map(pa.types.is_large_list, types)) else pa.list_(item)


def _moved(column: Column, above: Place) -> Column:
    """A column below one that is taken as a whole, under the dataset's path."""
    own = own_id(column, None)
    told = own is not None and column.id_declared
    path = (*above.path, column.name)
    place = Place(
        path, own if own is not None and told else above.unique_id, told or above.declared
    )
    children = tuple(_moved(c, place) for c in column.children)
    at = ColumnId(place.unique_id, path)
    return Column(at, column.type, column.nullable, place.declared, children, column.metadata)


def _whole(column: Column) -> bool:
    """Whether a file has nothing below a column that others may have something below: a vector
    that is one leaf, a struct that is stored row by row."""
    return not column.children and shape_of(column.type) != "value" and column.type.num_fields > 0


def _empty(column: Column) -> bool:
    return bool(pa.types.is_null(column.type))


def _of(sides: Sided) -> list[Column]:
    return [one for one in sides if one is not None]
