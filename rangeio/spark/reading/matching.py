"""Which columns of the files a schema of Spark's means. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyspark.sql.types as st

from rangeio.errors import RequestError
from rangeio.schema import Column, Schema

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """The paths to read, in the order of the schema, and the names that no column has."""

    paths: tuple[Path, ...]
    missing: tuple[str, ...]


def matched(schema: st.StructType, known: Schema) -> Matched:
    """Match columns by name: in its own case, else in any, as Spark does.

    Of a struct only the children that the schema has are read. Raises RequestError for a name that
    means several columns.
    """
    names = _Names(known.names, known.positions)
    paths: list[Path] = []
    missing: list[str] = []
    for field in schema:
        place = names.find(field.name)
        if place is None:
            missing.append(field.name)
        else:
            paths += _below(field.dataType, known.at(place), missing)
    return Matched(tuple(paths), tuple(missing))


def cheapest(known: Schema) -> Path | None:
    """A column that tells how many rows there are; None where there is no column."""
    if not len(known):
        return None
    few = [known.at(i) for i in range(min(len(known), 64))]
    leaves = [leaf for one in few for leaf in one.leaves()]
    return min(leaves, key=_cost).path


class _Names:
    """exact: positions by name, where somebody has them already. All names are looked at only for
    one that is not there: they may be thousands."""

    def __init__(
        self, names: Sequence[str], exact: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        self._names = names
        self._exact = _positions(names) if exact is None else exact

    @cached_property
    def _folded(self) -> Mapping[str, Sequence[int]]:
        return _positions([name.casefold() for name in self._names])

    def find(self, name: str) -> int | None:
        exact = self._exact.get(name)
        if exact:
            return exact[0]
        found = self._folded.get(name.casefold(), ())
        if len(found) > 1:
            raise RequestError(f"{name!r} means {len(found)} columns that differ in case alone")
        return found[0] if found else None


def _positions(names: Sequence[str]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        found.setdefault(name, []).append(i)
    return found


def _below(kind: st.DataType, column: Column, missing: list[str]) -> Iterator[Path]:
    if not isinstance(kind, st.StructType) or not pa.types.is_struct(column.type):
        yield column.path
        return
    names = _Names([child.name for child in column.children])
    found = [(field, names.find(field.name)) for field in kind]
    known = [(field, column.children[place]) for field, place in found if place is not None]
    missing += [".".join((*column.path, f.name)) for f, place in found if place is None]
    if not known:
        yield min(column.leaves(), key=_cost).path  # it tells where the struct is null
    elif len(known) == len(column.children) and not any(c.children for _, c in known):
        yield column.path
    else:
        for field, child in known:
            yield from _below(field.dataType, child, missing)


def _cost(leaf: Column) -> tuple[int, int]:
    """Fewer levels first, then small values of one size."""
    primitive = pa.types.is_primitive(leaf.type)
    return len(leaf.path), leaf.type.bit_width if primitive else 1 << 16
