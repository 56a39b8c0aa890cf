"""The short key: of every 1,024th row the values of its first columns, as bytes that compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs import varints
from rangeio.errors import RequestError
from rangeio.formats.doris.keys import KeyColumn, encoded, row_keys
from rangeio.formats.doris.types import Declared, size_of
from rangeio.formats.doris.values import from_arrow
from rangeio.formats.doris.words import FieldType
from rangeio.formats.doris.writing.dense import empty
from rangeio.formats.doris.writing.outlet import Outlet
from rangeio.formats.doris.writing.pages import BLOCK, short_key_page

MOST_COLUMNS, MOST_BYTES = 3, 36
CUT = 20
"""Bytes of a VARCHAR that are kept."""

_F = FieldType
_NEVER = frozenset({_F.STRING, _F.FLOAT, _F.DOUBLE, _F.DISCRETE_DOUBLE, _F.TIMEV2})
"""Types of which Doris lets no key be."""


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A column of the key. size: bytes that it is cut to; 0 is none."""

    position: int
    declared: Declared
    size: int


def key_parts(
    declared: Sequence[Declared], names: Sequence[str], asked: int | None
) -> list[KeyPart]:
    """The columns of the key: the first ``asked``, or those that Doris would take.

    RequestError for one that has no keys.
    """
    if asked is None:
        return _usual(declared)
    if asked > len(declared):
        raise RequestError(f"short_key_columns={asked} of {len(declared)} columns")
    for one, name in zip(declared[:asked], names, strict=False):
        if not _orders(one.field):
            raise RequestError(f"{name!r} is {one.field.name}, which cannot be in a short key")
    return [KeyPart(k, one, _cut(one)) for k, one in enumerate(declared[:asked])]


def _usual(declared: Sequence[Declared]) -> list[KeyPart]:
    found: list[KeyPart] = []
    total = 0
    for k, one in enumerate(declared[:MOST_COLUMNS]):
        if one.field in _NEVER or not _orders(one.field):
            break
        total += size_of(one.field) or _cut(one)
        if total > MOST_BYTES:
            break
        found.append(KeyPart(k, one, _cut(one)))
        if one.field is FieldType.VARCHAR:
            break
    return found


def _cut(declared: Declared) -> int:
    if declared.field is FieldType.CHAR:
        return declared.length
    return CUT if declared.field in (FieldType.VARCHAR, FieldType.STRING) else 0


def _orders(field: FieldType) -> bool:
    """Whether values of the type are keys."""
    if field in (_F.STRUCT, _F.ARRAY, _F.MAP):
        return False
    try:
        encoded(field, empty(size_of(field)))
    except RequestError:
        return False
    return True


class ShortKey:
    """The keys of one segment."""

    def __init__(self, parts: Sequence[KeyPart]) -> None:
        self._parts = parts
        self._keys: list[bytes] = []
        self._rows = 0

    def append(self, table: pa.Table) -> None:
        """Note the keys of the rows that begin a block."""
        firsts = np.arange(-self._rows % BLOCK, table.num_rows, BLOCK)
        self._rows += table.num_rows
        if not self._parts:
            self._keys += [b""] * len(firsts)
        elif len(firsts):
            self._keys += row_keys([self._column(table, part, firsts) for part in self._parts])

    def write(self, outlet: Outlet) -> Any:
        """Write the page; the PagePointer to it."""
        starts = [0, *accumulate(len(key) for key in self._keys)][: len(self._keys)]
        offsets = varints.encode(np.array(starts, np.int64))
        page = short_key_page(b"".join(self._keys), offsets, len(starts), self._rows)
        return outlet.write(page)

    def _column(self, table: pa.Table, part: KeyPart, firsts: Any) -> KeyColumn:
        column = table.column(part.position)
        if column.type == pa.string_view():  # of which Arrow takes no rows
            column = column.cast(pa.large_string())
        array = column.take(pa.array(firsts)).combine_chunks()
        values, nulls = from_arrow(array, part.declared)
        return KeyColumn(part.declared.field, values, nulls, part.size)
