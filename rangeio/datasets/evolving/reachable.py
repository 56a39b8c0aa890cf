"""The columns of a dataset, and those that lost their names but are still there. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rangeio.schema import Column, NameList, Positions, Schema


class Joined(NameList):
    """Names, and more of them behind; the first are decoded when they are looked at."""

    def __init__(self, first: Sequence[str], second: Sequence[str]) -> None:
        self._parts = (first, second)

    def __len__(self) -> int:
        return len(self._parts[0]) + len(self._parts[1])

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        """A name, or a list of them."""
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        first, second = self._parts
        return first[at] if at < len(first) else second[at - len(first)]

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part


class EvolvedSchema(Schema):
    """A schema with columns outside of it, which are found by id alone, or by a name of their own.

    A column whose name a later one took is named ``a#7`` after its id. A struct of which that is
    true of a field is found a second time, with that field, as ``s#``. Neither is among the names,
    the columns and the Arrow schema; ``make`` builds them at the positions behind: first the
    ``retaken`` ones, then every column again with all of its fields.
    """

    def __init__(
        self,
        names: Sequence[str],
        make: Callable[[int], Column],
        *,
        ids: Sequence[int],
        declared: Sequence[bool],
        retaken: Sequence[tuple[str, int]],
        metadata: Mapping[bytes, bytes],
        ahead: Callable[[Sequence[int]], None],
        told: Callable[[], str] = str,
    ) -> None:
        super().__init__(names, make, ids=ids, declared=declared, metadata=metadata, ahead=ahead)
        self._told = told
        self._lost = [unique_id for _, unique_id in retaken]
        self._whole = len(names) + len(retaken)  # where the whole ones begin
        self.positions = _Reachable([*names, *(name for name, _ in retaken)], self._second)

    def __repr__(self) -> str:
        """The columns; and how they were matched, where that was not the same for all files."""
        how = self._told()
        return f"{super().__repr__()[:-1]}; {how})" if how else super().__repr__()

    def at(self, position: int) -> Column:
        """The column at a position, those outside of the schema too."""
        if not 0 <= position < 2 * self._whole:
            return super().at(position)
        if position not in self._made:
            self._made[position] = self._make(position)
        return self._made[position]

    def numbered(self, unique_id: int) -> Sequence[int]:
        """The top-level positions of an id, of the lost ones too."""
        first = len(self)
        lost = [first + i for i, one in enumerate(self._lost) if one == unique_id]
        return [*super().numbered(unique_id), *lost]

    def with_id(self, unique_id: int) -> list[tuple[int, Column]]:
        """All columns of an id, each with its position: top-level, else nested, else lost ones."""
        found = self.numbered(unique_id)
        if found:
            return [(i, self.at(i)) for i in found]
        held = self._nested(range(self._whole), unique_id)
        again = (self._whole + i for i in range(self._whole) if not held and self.at(i).children)
        return held or self._nested(again, unique_id)

    def _nested(self, positions: Iterable[int], unique_id: int) -> list[tuple[int, Column]]:
        columns = ((i, c) for i in positions for c in self.at(i).walk())
        return _topmost([(i, c) for i, c in columns if c.unique_id == unique_id])

    def _second(self, position: int) -> list[int]:
        """Where the column at a position is found with all of its fields, if it has others."""
        second = self._whole + position
        shown, whole = (sum(1 for _ in self.at(i).walk()) for i in (position, second))
        return [second] if whole > shown else []


class _Reachable(Positions):
    """Positions of names, ``s#`` among them."""

    def __init__(self, names: Sequence[str], second: Callable[[int], list[int]]) -> None:
        super().__init__(names, None)
        self._second = second

    def __getitem__(self, name: str) -> list[int]:
        try:
            return super().__getitem__(name)
        except KeyError:
            shown = self._all.get(name[:-1], []) if name.endswith("#") else []
            found = [i for one in shown for i in self._second(one)]
            if not found:
                raise
            return found


def _topmost(held: Sequence[tuple[int, Column]]) -> list[tuple[int, Column]]:
    """Without those that lie below another and have their id from it."""
    paths = {column.path for _, column in held}

    def top(path: tuple[str, ...]) -> bool:
        return not any(path[:n] in paths for n in range(1, len(path)))

    return [(i, column) for i, column in held if top(column.path)]
