"""Columns and schemas: what a file holds, and which of it was asked for. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import pyarrow as pa

from rangeio.errors import NoSuchColumn, RequestError


@dataclass(frozen=True, slots=True, order=True)
class ColumnId:
    """What identifies a column inside one file: its id, and its path from the root.

    A column without an id of its own carries its nearest ancestor's.
    """

    unique_id: int
    path: tuple[str, ...]

    @property
    def name(self) -> str:
        """The dotted path."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Column:
    """One column, top-level or nested.

    type: Arrow type of the whole column. id_declared: whether ``unique_id`` means the same column
    in other files too. children: for structs, lists and maps the columns below, in order; empty
    for a physical leaf. payload: private to the format (a physical position, say).
    """

    id: ColumnId
    type: pa.DataType
    nullable: bool = True
    id_declared: bool = False
    children: tuple[Column, ...] = ()
    metadata: Mapping[bytes, bytes] = field(default_factory=dict, compare=False)
    payload: object = field(default=None, compare=False, repr=False)

    @property
    def unique_id(self) -> int:
        """The id inside this file; across files only where :attr:`id_declared`."""
        return self.id.unique_id

    @property
    def path(self) -> tuple[str, ...]:
        """Names from the root."""
        return self.id.path

    @property
    def name(self) -> str:
        """The last name of the path."""
        return self.id.path[-1]

    @property
    def arrow(self) -> pa.Field:
        """The Arrow field, metadata included. One of type null is nullable: Arrow has no other."""
        nullable = self.nullable or pa.types.is_null(self.type)
        return pa.field(self.name, self.type, nullable, metadata=dict(self.metadata) or None)

    def leaves(self) -> Iterator[Column]:
        """The physical leaves below, in order; the column itself where it is one."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def walk(self) -> Iterator[Column]:
        """The column and everything below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def pruned(self, keep: frozenset[tuple[str, ...]]) -> Column:
        """The column with only what lies on or below a path of ``keep``, its type rebuilt.

        A map keeps both of its sides: half a map is no map. So does an extension its storage.
        """
        if self.path in keep or not self.children or _whole(self.type):
            return self
        depth = len(self.path)
        wanted = {path[depth] for path in keep if path[:depth] == self.path and len(path) > depth}
        children = tuple(c.pruned(keep) for c in self.children if c.name in wanted)
        if len(children) == len(self.children) and all(
            a is b for a, b in zip(children, self.children, strict=True)
        ):
            return self
        return replace(self, children=children, type=rebuilt(self.type, children))


def _whole(kind: pa.DataType) -> bool:
    """Whether the type means nothing without all of its children."""
    return pa.types.is_map(kind) or isinstance(kind, pa.BaseExtensionType)


def rebuilt(kind: pa.DataType, children: Sequence[Column]) -> pa.DataType:
    """The nested Arrow type ``kind`` with its fields replaced by ``children``."""
    fields = [c.arrow for c in children]
    if pa.types.is_struct(kind):
        return pa.struct(fields)
    (item,) = fields
    if pa.types.is_large_list(kind):
        return pa.large_list(item)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(item, kind.list_size)
    if pa.types.is_list_view(kind):
        return pa.list_view(item)
    if pa.types.is_large_list_view(kind):
        return pa.large_list_view(item)
    return pa.list_(item)


_SINGLY = 32  # names that are found one by one, before all of them are gone through


def _holders(column: Column, unique_id: int) -> Iterator[Column]:
    """The topmost columns at or below ``column`` that carry the id."""
    if column.unique_id == unique_id:
        yield column
        return
    for child in column.children:
        yield from _holders(child, unique_id)


class NameList(Sequence[str]):
    """Names that may be decoded when they are looked at; equal to a list or tuple of the same."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (NameList, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class Listed(NameList):
    """Names that are there already."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        """A name, or a list of them."""
        return list(self._names[at]) if isinstance(at, slice) else self._names[at]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


class Positions(Mapping[str, list[int]]):
    """Top-level name to its positions; more than one where names repeat.

    The names are gone through once they are asked for, or once too many were found one by one.
    """

    def __init__(self, names: Sequence[str], find: Callable[[str], list[int]] | None) -> None:
        self._names = names
        self._find = find
        self._found = 0

    @cached_property
    def _all(self) -> dict[str, list[int]]:
        out: dict[str, list[int]] = {}
        for i, name in enumerate(self._names):
            out.setdefault(name, []).append(i)
        return out

    def __getitem__(self, name: str) -> list[int]:
        self._found += 1
        if self._find is None or self._found > _SINGLY:
            return self._all[name]
        found = self._find(name)
        if not found:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


class Schema(Collection[Column]):
    """The top-level columns of a file, made when they are looked at.

    A file of C columns costs C names, not C objects: ``make(i)`` builds the i-th column.
    ids: the unique_id of every top-level column, where they are known without building it.
    declared: whether each of them is declared, likewise.
    find: the positions of a top-level name, where they are known without looking at all names.
    ahead: told which columns are about to be looked at, where it pays to make them together.
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[int], Column],
        *,
        metadata: Mapping[bytes, bytes] | None = None,
        ids: Sequence[int] | None = None,
        declared: Sequence[bool] | None = None,
        find: Callable[[str], list[int]] | None = None,
        ahead: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        self.names = names if isinstance(names, NameList) else Listed(names)
        self.ids = ids
        self.declared = declared
        self.metadata = dict(metadata or {})
        self.positions: Mapping[str, list[int]] = Positions(names, find)
        self._make = make
        self._ahead = ahead
        self._made: dict[int, Column] = {}

    def expect(self, positions: Sequence[int]) -> None:
        """Say which columns will be looked at: many are made sooner together than one by one."""
        if self._ahead is not None:
            self._ahead([i for i in positions if i not in self._made])

    @classmethod
    def of(cls, columns: Sequence[Column], metadata: Mapping[bytes, bytes] | None = None) -> Schema:
        """A schema of columns that are made already."""
        return cls([c.name for c in columns], columns.__getitem__, metadata=metadata)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Column]:
        return (self.at(i) for i in range(len(self)))

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return key in self.positions
        if isinstance(key, int):
            return bool(self.with_id(key))
        return any(column == key for column in self)

    def __getitem__(self, key: str | int) -> Column:
        """The column of a top-level name or of a unique_id; :meth:`at` takes a position.

        Raises NoSuchColumn, and RequestError for a name that repeats.
        """
        if isinstance(key, str):
            found = self.positions.get(key, [])
            if len(found) > 1:
                ids = ", ".join(str(self.at(i).unique_id) for i in found)
                raise RequestError(f"{key!r} names {len(found)} columns: ask by id, one of {ids}")
            if found:
                return self.at(found[0])
        elif isinstance(key, int):
            holders = self.with_id(key)
            if holders:
                return holders[0][1]
        else:
            raise TypeError(f"a column is asked for by name or unique_id, not {key!r}")
        raise NoSuchColumn(f"no column {key!r}")

    def at(self, position: int) -> Column:
        """The top-level column at a position; negative ones count from the end."""
        position = range(len(self))[position]
        if position not in self._made:
            self._made[position] = self._make(position)
        return self._made[position]

    @cached_property
    def _by_id(self) -> dict[int, list[int]]:
        ids = self.ids if self.ids is not None else [c.unique_id for c in self]
        out: dict[int, list[int]] = {}
        for i, one in enumerate(ids):
            out.setdefault(one, []).append(i)
        return out

    def numbered(self, unique_id: int) -> Sequence[int]:
        """The top-level positions of an id, where ids are known without building columns."""
        return () if self.ids is None else self._by_id.get(unique_id, ())

    def with_id(self, unique_id: int) -> list[tuple[int, Column]]:
        """All columns of an id, each with its top-level position; none is an empty list.

        Nested columns are looked at (and all columns built) only where no top-level one has it. A
        column that inherits its ancestor's id does not count beside that ancestor.
        """
        found = self._by_id.get(unique_id)
        if found is not None:
            return [(i, self.at(i)) for i in found]
        return [(i, c) for i, top in enumerate(self) for c in _holders(top, unique_id)]

    @cached_property
    def leaves(self) -> list[Column]:
        """All physical leaves, in order. Builds every column."""
        return [leaf for column in self for leaf in column.leaves()]

    @property
    def arrow(self) -> pa.Schema:
        """The Arrow schema. Builds every column."""
        return pa.schema([c.arrow for c in self], metadata=self.metadata or None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}" for n in self.names[:8])
        more = f", ... {len(self) - 8} more" if len(self) > 8 else ""
        return f"Schema({len(self)} columns: {shown}{more})"
