"""The sparse column of a variant: for every row a map from path to value, as Doris packs it.

A value is its type's number in a byte, then its bytes; a text and an array have their size and
their number of items, 8 bytes each, before what they hold.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Offsets
from rangeio.formats.doris.types import Declared
from rangeio.formats.doris.words import FieldType
from rangeio.formats.doris.writing.collected import Path
from rangeio.formats.doris.writing.column import About, Setup, Wanted
from rangeio.formats.doris.writing.leaf import Leaf
from rangeio.formats.doris.writing.nested import Repeated

TEXT = Declared(FieldType.STRING, length=2147483647)
STEP = 1 << 16


class Sparse(Repeated):
    """The column, a MAP of texts. counts: how many values each of its paths has."""

    def __init__(self, about: About, setup: Setup, counts: Mapping[str, int]) -> None:
        sides = [
            Leaf(About(about.name, TEXT, about.number, k, nullable=False), setup, Wanted())
            for k in (1, 2)
        ]
        super().__init__(about, setup, sides)
        self._counts = counts

    def meta(self) -> Any:
        """The ColumnMeta, which names the paths."""
        found = super().meta()
        for path, count in self._counts.items():
            found.variant_statistics.sparse_column_non_null_size.add(key=path, value=count)
        return found


def sparse_writer(about: About, paths: Mapping[str, Path], rows: int, setup: Setup) -> Sparse:
    """What writes these paths, with all ``rows`` rows appended."""
    names = sorted(paths, key=lambda path: path.encode())
    writer = Sparse(about, setup, {name: paths[name].count for name in names})
    maps = _maps(names, paths, rows)
    for at in range(0, rows, STEP):
        writer.append(maps.slice(at, STEP))
    return writer


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
    if kind == "i":
        return struct.pack("<Bq", FieldType.BIGINT, value)
    if kind == "d":
        return struct.pack("<Bd", FieldType.DOUBLE, value)
    if kind[0] == "l":
        items = b"".join(cell(one, kind[1:]) for one in value)
        return struct.pack("<BQ", FieldType.ARRAY, len(value)) + items
    text: bytes = value.encode()
    return struct.pack("<BQ", FieldType.STRING, len(text)) + text
