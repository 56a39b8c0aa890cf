"""VARIANT columns: a root, and below it a column for every path.

The values of a path become BOOLEAN, BIGINT, DOUBLE, STRING or an ARRAY of those; of a struct they
keep their own types. The root has a cell for every row, empty where the row is not NULL: Doris'
binary JSON is not made. A struct as it is read from a variant is written as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Offsets
from rangeio.errors import RequestError
from rangeio.formats.doris.blooms import is_taken
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.paths import SPARSE
from rangeio.formats.doris.types import Declared, field_of
from rangeio.formats.doris.words import NO_ID, FieldType
from rangeio.formats.doris.writing.collected import Collected
from rangeio.formats.doris.writing.column import (
    About,
    ColumnWriter,
    Mask,
    Setup,
    Wanted,
    listed,
    null_mask,
)
from rangeio.formats.doris.writing.columns import Asked, declared_of, writer_of
from rangeio.formats.doris.writing.jsontext import parsed, type_of
from rangeio.formats.doris.writing.leaf import Leaf
from rangeio.formats.doris.writing.nested import stored
from rangeio.formats.doris.writing.sparse import Sparse
from rangeio.literal import is_binary, is_string, plain

ROOT = ""
"""The field of a struct that is the variant's own cell, in Doris' binary JSON: as it is read."""
STEP = 1 << 16
"""Rows of a list's column that are made at once."""


class Variant:
    """One VARIANT column.

    Attributes: most: how many paths may have columns, 0 for all. root: writes it. below: what
    writes the columns of its paths, in the order of the paths as bytes; paths: those, without the
    root's name; sparse: what writes the paths without a column of their own, None where all have
    one. The last three are there when it is finished.
    """

    def __init__(
        self, field: pa.Field, about: About, setup: Setup, asked: Asked, most: int
    ) -> None:
        kind = plain(field.type)
        if not pa.types.is_struct(kind) and not is_string(kind):
            raise RequestError(f"{field.name!r} is {kind}: a variant is a struct, or JSON text")
        if asked.encoding is not None:
            raise RequestError(f"{field.name!r} is VARIANT, which takes no encoding")
        # A variant that was read says by its root alone which rows are NULL.
        nullable = about.nullable or (pa.types.is_struct(kind) and ROOT in kind.names)
        self.about = replace(about, nullable=nullable)
        self.root = Leaf(self.about, setup, Wanted())
        self.below: list[ColumnWriter] = []
        self.paths: list[bytes] = []
        self.sparse: Sparse | None = None
        self._places: dict[bytes, int] = {}
        self._setup, self._asked, self.most = setup, asked, most
        self._rows = 0
        self._collected: Collected | None = Collected()
        if pa.types.is_struct(kind) and not most:
            self._collected = None
            self._declare(kind)

    def append(self, array: pa.Array) -> None:
        """Append rows. RequestError names the row whose text is no JSON object."""
        array = _decoded(array)
        nulls = null_mask(array)
        cells = pa.array(np.full(len(array), b"", object), pa.binary(), mask=nulls)
        if self._collected is None:
            cells = self._append_leaves(_leaves(array), cells, nulls)
        else:
            self._collect(array, self._collected)
        self.root.append(cells)
        self._rows += len(array)

    def finish(self) -> None:
        """Make the last pages, and the columns whose types only all rows tell."""
        self.root.finish()
        if self._collected is not None:
            self._settle(self._collected)
            self._collected = None
        for one in self.below:
            one.finish()
        if self.sparse is not None:
            self.sparse.finish()

    # ---- of a struct's fields ----

    def _declare(self, kind: pa.DataType) -> None:
        """Make the columns of a struct's leaves; a leaf of type null has none."""
        found: dict[bytes, tuple[int, pa.Field]] = {}
        for k, (path, field) in enumerate(_fields(kind, "")):
            if path.encode() in self._places:
                raise RequestError(f"{self.about.name!r} has two fields of the path {path!r}")
            self._places[path.encode()] = k
            if path == ROOT:
                _check_root(field.type)
            elif path == SPARSE and pa.types.is_map(field.type):
                self.sparse = Sparse(self._below_sparse(), self._setup)
            elif not pa.types.is_null(field.type):
                _check_item(field.type, path)
                found[path.encode()] = k, field
        for own, (_, field) in sorted(found.items()):
            self._add(own, field)

    def _append_leaves(self, every: list[pa.Array], cells: pa.Array, nulls: Mask) -> pa.Array:
        """Append to the columns of paths; the root's cells, which are those of its own field where
        there is one."""
        for writer, path in zip(self.below, self.paths, strict=True):
            writer.append(every[self._places[path]])
        if self.sparse is not None:
            self.sparse.append_counted(every[self._places[SPARSE.encode()]], nulls)
        own = self._places.get(ROOT.encode())
        return cells if own is None else every[own]

    def _add(self, path: bytes, field: pa.Field) -> ColumnWriter:
        name = path.decode()
        about = self._below(name, declared_of(field, f"{self.about.name}.{name}"))
        blooms = self._asked.blooms and is_taken(about.declared.field)
        asked = replace(self._asked, blooms=blooms)
        writer = writer_of(field, about, self._setup, asked)
        self.below.append(writer)
        self.paths.append(path)
        return writer

    def _below(self, path: str, declared: Declared) -> About:
        """What the column of a path is. Rows without the path are NULL in it."""
        return About(
            f"{self.about.name}.{path}",
            declared,
            number=self.about.number,
            unique_id=NO_ID,
            nullable=True,
            path=sub_path(self.about.name, path, self.about.unique_id),
        )

    def _below_sparse(self) -> About:
        return replace(self._below(SPARSE, Declared(FieldType.MAP, length=65535)), nullable=False)

    # ---- of JSON ----

    def _collect(self, array: pa.Array, collected: Collected) -> None:
        text = is_string(array.type)
        for row, value in enumerate(listed(array, self.about.name), self._rows):
            if value is not None:
                try:
                    collected.add(row, parsed(value) if text else value)
                except RequestError as error:
                    where = f"row {row:,} of {self.about.name!r}"
                    raise RequestError(f"{where}: {error.reason}") from None

    def _settle(self, collected: Collected) -> None:
        """Give the paths with the most values columns; the others share one."""
        every = sorted(collected.paths, key=lambda path: path.encode())
        kept = set(every)
        if self.most:
            by_count = sorted(every, key=lambda path: -collected.paths[path].count)
            kept = set(by_count[: self.most])
        for path in (one for one in every if one in kept):
            found = collected.paths.pop(path)
            field = pa.field(path, type_of(found.kind()))
            _fill(self._add(path.encode(), field), *found.values(), self._rows)
        if collected.paths:
            self.sparse = Sparse(self._below_sparse(), self._setup)
            self.sparse.append_paths(collected.paths, self._rows)


def _fill(writer: ColumnWriter, at: Offsets, values: pa.Array, rows: int) -> None:
    """Append ``rows`` rows, those ``at`` with values and the others NULL."""
    if isinstance(writer, Leaf):
        writer.append_at(values, at, rows)
        return
    for start in range(0, rows, STEP):
        stop = min(start + STEP, rows)
        a, b = np.searchsorted(at, [start, stop]).tolist()
        mask: Mask = np.ones(stop - start, np.bool_)
        mask[at[a:b] - start] = False
        chosen = np.zeros(stop - start, np.int64)
        chosen[~mask] = np.arange(a, b)
        writer.append(values.take(pa.array(chosen, mask=mask)))


def _fields(kind: pa.DataType, above: str) -> list[tuple[str, pa.Field]]:
    """The leaves of a struct, by dotted path, in the order in which :func:`_leaves` has them."""
    found: list[tuple[str, pa.Field]] = []
    for field in kind:
        path = f"{above}{field.name}"
        if pa.types.is_struct(plain(field.type)):
            found += _fields(plain(field.type), f"{path}.")
        else:
            found.append((path, field))
    return found


def _check_root(kind: pa.DataType) -> None:
    if not is_binary(plain(kind)):
        raise RequestError("a field of a variant without a name is its root, which is binary")


def _check_item(kind: pa.DataType, path: str) -> None:
    item = plain(kind)
    while _is_list(item):
        item = plain(item.value_field.type)
    if pa.types.is_map(item) or pa.types.is_struct(item):
        raise RequestError(f"{path!r} has {item}, which a variant has no column for: give JSON")
    if not pa.types.is_null(item):
        field_of(item)


def _is_list(kind: pa.DataType) -> bool:
    return hasattr(plain(kind), "value_field") and not pa.types.is_map(plain(kind))


def _leaves(array: pa.Array) -> list[pa.Array]:
    """The leaves of a struct, null where anything above is."""
    found: list[pa.Array] = []
    for one in stored(array).flatten():
        found += _leaves(one) if pa.types.is_struct(plain(one.type)) else [one]
    return found


def _decoded(array: pa.Array) -> pa.Array:
    array = stored(array)
    return array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else array


# ---- paths as the metadata has them --------------------------------------------------------------


def root_path(name: str, unique_id: int) -> Any:
    """The ColumnPath of a variant itself."""
    return _path([name.lower()], unique_id)


def sub_path(name: str, path: str, unique_id: int) -> Any:
    """The ColumnPath of a path of the variant ``name``, whose unique_id is given."""
    return _path([name.lower(), *path.split(".")], unique_id)


def _path(parts: Sequence[str], unique_id: int) -> Any:
    found = MESSAGES.ColumnPath(
        path=".".join(parts), has_nested=False, parrent_column_unique_id=unique_id, is_typed=False
    )
    for part in parts:
        found.path_part_infos.add(key=part, is_nested=False, anonymous_array_level=0)
    return found
