"""The sparse column of a variant: for every row a map from path to value, as Doris packs it.

A value is its type's number in a byte, then its bytes; a text and an array have their size and
their number of items, 8 bytes each, before what they hold.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Offsets
from rangeio.formats.doris.types import Declared
from rangeio.formats.doris.words import FieldType
from rangeio.formats.doris.writing.collected import Path
from rangeio.formats.doris.writing.column import (
    About,
    Mask,
    Setup,
    Wanted,
    listed,
    null_mask,
)
from rangeio.formats.doris.writing.leaf import Leaf
from rangeio.formats.doris.writing.nested import Repeated, as_lists

TEXT = Declared(FieldType.STRING, length=2147483647)
STEP = 1 << 16


class Sparse(Repeated):
    """The column, a MAP of texts; it counts the values of each path."""

    def __init__(self, about: About, setup: Setup) -> None:
        sides = [
            Leaf(About(about.name, TEXT, about.number, k, nullable=False), setup, Wanted())
            for k in (1, 2)
        ]
        super().__init__(about, setup, sides)
        self._counts: Counter[str] = Counter()

    def append_paths(self, paths: Mapping[str, Path], rows: int) -> None:
        """Append ``rows`` rows of what these paths have."""
        names = sorted(paths, key=lambda path: path.encode())
        self._counts.update({name: paths[name].count for name in names})
        maps = _maps(names, paths, rows)
        for at in range(0, rows, STEP):
            self.append(maps.slice(at, STEP))

    def append_counted(self, maps: pa.Array, absent: Mask) -> None:
        """Append maps of packed values, as they were read."""
        empty = absent | null_mask(maps)
        entries = as_lists(maps)
        kept = entries.filter(pa.array(~empty)).flatten().field(0)
        for one in listed(kept.value_counts(), self.about.name):
            self._counts[one["values"]] += one["counts"]
        self.append(entries, empty)

    def meta(self) -> Any:
        """The ColumnMeta, which names the paths."""
        found = super().meta()
        for path, count in sorted(self._counts.items()):
            found.variant_statistics.sparse_column_non_null_size.add(key=path, value=count)
        return found


def _maps(names: Sequence[str], paths: Mapping[str, Path], rows: int) -> pa.Array:
    """Of every row its paths, ascending, and their values."""
    at: list[Offsets] = []
    cells: list[bytes] = []
    for name in names:
        kind = paths[name].kind()
        own, values = paths[name].values()
        at.append(own)
        cells += [cell(value, kind) for value in values.to_pylist()]
    which = np.repeat(np.arange(len(names)), [len(own) for own in at])
    every = np.concatenate(at)
    order = pa.array(np.lexsort((which, every)))
    keys = pa.array(names, pa.string()).take(pa.array(which)).take(order)
    entries = pa.StructArray.from_arrays(
        [keys, pa.array(cells, pa.large_binary()).take(order)], ["key", "value"]
    )
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(every, minlength=rows), out=offsets[1:])
    return pa.LargeListArray.from_arrays(pa.array(offsets), entries)


def cell(value: Any, kind: str) -> bytes:
    """A value of a kind (see :mod:`.jsontext`) as the sparse column holds it."""
    if value is None:
        return bytes([FieldType.NONE])
    if kind == "b":
        return bytes([FieldType.BOOL, value])
    if kind in ("i", "w"):
        return struct.pack("<Bq", FieldType.BIGINT, value)
    if kind == "d":
        return struct.pack("<Bd", FieldType.DOUBLE, value)
    if kind[0] == "l":
        items = b"".join(cell(one, kind[1:]) for one in value)
        return struct.pack("<BQ", FieldType.ARRAY, len(value)) + items
    text: bytes = value.encode()
    return struct.pack("<BQ", FieldType.STRING, len(text)) + text
