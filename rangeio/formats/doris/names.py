"""What the columns of a segment are called, which does not say so itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from rangeio.declared import Declared
from rangeio.formats.doris.directory import Directory, Ints

_PREFIX = "col_"


class Numbered(Sequence[str]):
    """``col_<unique_id>`` for every id, made when it is looked at."""

    def __init__(self, ids: Ints) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, i: int) -> str: ...

    @overload
    def __getitem__(self, i: slice) -> list[str]: ...

    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [f"{_PREFIX}{one}" for one in self._ids[i].tolist()]
        return f"{_PREFIX}{self._ids[i]}"

    def __iter__(self) -> Iterator[str]:
        return (f"{_PREFIX}{one}" for one in self._ids.tolist())


@dataclass(frozen=True, slots=True, eq=False)
class Naming:
    """The top-level columns, by number: their names, unique_ids, and positions in the directory.

    declared: what the caller said; a column that the segment lacks has the position -1, and one
    that the caller did not name is not there.
    """

    directory: Directory
    names: Sequence[str]
    ids: Ints
    positions: Ints | range
    declared: Declared | None

    @classmethod
    def of(cls, directory: Directory, declared: Declared | None) -> Naming:
        """The caller's names, else ``col_<unique_id>`` of all columns that have an id."""
        if declared is None:
            tops = directory.tops()
            whole = isinstance(tops, range)
            ids = directory.ids if whole else directory.ids[np.asarray(tops)]
            return cls(directory, Numbered(ids), ids, tops, None)
        numbers = [one.unique_id for one in declared.columns]
        positions = np.array([directory.find(one) for one in numbers], np.int64)
        names = tuple(one.name for one in declared.columns)
        return cls(directory, names, np.array(numbers, np.int64), positions, declared)

    def __len__(self) -> int:
        return len(self.names)

    def find(self, name: str) -> list[int]:
        """The number of the column of a name."""
        if self.declared is not None:
            found = self.declared.positions.get(name)
            return [] if found is None else [found]
        digits = name.removeprefix(_PREFIX)
        if not digits.isdecimal() or len(digits) > 10 or f"{_PREFIX}{int(digits)}" != name:
            return []
        return self.holders(int(digits))

    def holders(self, unique_id: int) -> list[int]:
        """The number of the column of an id."""
        if self.declared is not None:
            return np.flatnonzero(self.ids == unique_id).tolist()
        position = self.directory.find(unique_id)
        if position < 0 or isinstance(self.positions, range):
            return [] if position < 0 else [position]
        return [int(np.searchsorted(self.positions, position))]
