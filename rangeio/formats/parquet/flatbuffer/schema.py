"""The schema elements of a FlatBuffer footer, most of them never looked at one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rangeio.codecs import thrift
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt
from rangeio.formats.parquet.flatbuffer import annotation, buffers
from rangeio.formats.parquet.flatbuffer.annotation import Logical
from rangeio.formats.parquet.flatbuffer.buffers import Table, Tables
from rangeio.formats.parquet.flatbuffer.slots import NEWEST, OLDER
from rangeio.formats.parquet.footer.footer import Arrays, Elements
from rangeio.formats.parquet.leaf import Physical

FOLD = 16
"""Bytes that a FlatBuffer may stand for, per byte of it: what several parts refer to (a name, a
path) is told again for each of them, and a hostile footer could let all refer to one."""

_SMALLEST = 12  # bytes of an element: its place in the vector, a table, where its name is
_PARAMETERS = [*annotation.NUMBERS, Logical.GEOMETRY]
_BYTE, _UBYTE, _INT = np.dtype("<i1"), np.dtype("<u1"), np.dtype("<i4")
_NANOSECONDS = 2
_SEPARATED = 5  # bytes that a name takes in a path, besides its own


class FlatSchema:
    """The schema of a FlatBuffer footer, checked as a whole. Raises Corrupt.

    data: the FlatBuffer. whole: the same as an array. start, count: the vector of elements in it.

    revision: whose slots hold; told by the root, which has no type: the newest revision has the
    type in slot 0, where the older one has the name. leaves: the element of every leaf.
    path_bytes: the sizes of all leaves' paths together.
    """

    def __init__(self, data: memoryview, whole: Bytes, start: int, count: int) -> None:
        if not 0 < count <= len(data) // _SMALLEST:
            raise Corrupt(f"{count} schema elements in a FlatBuffer of {len(data)} bytes")
        self._data, self._whole = data, whole
        self._at = buffers.elements(whole, start, count)
        self.revision = OLDER if Table(data, int(self._at[0])).has(0) else NEWEST
        tables = Tables(whole, self._at)
        self.elements = self._arrays(tables)
        self._starts, self._sizes = tables.spans(self.revision.name)
        self._orders = tables.numbers(self.revision.order, _UBYTE)
        leaf = self.elements.children == 0
        leaf[0] = False
        self.leaves: Offsets = np.flatnonzero(leaf).astype(np.int64)
        self._check_types(leaf)
        self._check_logical(tables)
        self._parents, self.path_bytes = self._tree(leaf)

    def _arrays(self, tables: Tables) -> Elements:
        slots = self.revision
        repetition = tables.numbers(slots.repetition, _BYTE, -1)
        if not slots.settled:
            # The default, REQUIRED, was not written.
            repetition[1:] = np.maximum(repetition[1:], 0)
        return Arrays(
            tables.numbers(slots.children, _INT),
            np.maximum(tables.numbers(slots.kind, _BYTE, -1), -1).astype(np.int32),
            np.maximum(repetition, -1).astype(np.int32),
            tables.numbers(slots.field_id, _INT),
            tables.has(slots.field_id),
        )

    def _check_types(self, leaf: npt.NDArray[np.bool_]) -> None:
        physical, repetition = self.elements.physical, self.elements.repetition
        if int(physical.max()) > max(Physical) or ((physical >= 0) != leaf).any():
            raise Corrupt("a schema element whose type and children contradict one another")
        if int(repetition.max()) > 2 or (repetition[1:] < 0).any():
            raise Corrupt("a schema element without a repetition")

    def _check_logical(self, tables: Tables) -> None:
        """All logical types are known, and have the tables that they need."""
        kinds = tables.numbers(self.revision.logical, _UBYTE)
        if int(kinds.max()) > max(Logical):
            raise Corrupt(f"no logical type has the number {kinds.max()}")
        parameters = np.flatnonzero(np.isin(kinds, _PARAMETERS))
        members = Tables(self._whole, self._at[parameters]).follow(self.revision.logical + 1)
        Tables(self._whole, members)
        timed = members[np.isin(kinds[parameters], [Logical.TIME, Logical.TIMESTAMP])]
        units = Tables(self._whole, timed).numbers(annotation.UNIT, _UBYTE)
        if int(units.max(initial=0)) > _NANOSECONDS:
            raise Corrupt(f"no unit of time has the number {units.max()}")
        places = members[np.isin(kinds[parameters], [Logical.GEOMETRY, Logical.GEOGRAPHY])]
        told = Tables(self._whole, places).has(annotation.CRS)
        sizes = Tables(self._whole, places[told]).spans(annotation.CRS)[1]
        if int(sizes.sum()) > FOLD * len(self._data):
            raise Corrupt("reference systems that are larger than the FlatBuffer")

    def _tree(self, leaf: npt.NDArray[np.bool_]) -> tuple[list[int] | None, int]:
        """The parent of every element (None: the root, of all), and the size of all paths."""
        children = self.elements.children
        # Depth first: places for elements yet to come, which run out at the last and never before.
        places = 1 + np.cumsum(children.astype(np.int64) - 1)
        if int(children.min()) < 0 or int(places[-1]) or (places[:-1] <= 0).any():
            raise Corrupt("schema elements that are no tree")
        sizes = self._sizes + _SEPARATED
        if leaf[1:].all():
            return None, int(sizes[1:].sum())
        parents, paths = [0] * len(children), [0] * len(children)
        left: list[list[int]] = [[0, int(children[0])]]
        for i, (count, size) in enumerate(
            zip(children[1:].tolist(), sizes[1:].tolist(), strict=True), 1
        ):
            parent = left[-1]
            parents[i] = parent[0]
            paths[i] = paths[parent[0]] + size
            parent[1] -= 1
            if count:
                left.append([i, count])
            while left and not left[-1][1]:
                left.pop()
        return parents, sum(paths[i] for i in self.leaves.tolist())

    @property
    def weight(self) -> int:
        """Bytes of memory that it holds besides the FlatBuffer."""
        return 64 * len(self._at)

    def name(self, element: int) -> bytes:
        """The name of an element."""
        start = int(self._starts[element])
        return bytes(self._data[start : start + int(self._sizes[element])])

    def named(self, name: bytes) -> Sequence[int]:
        """The elements of this name, but for the root."""
        found = np.flatnonzero(self._sizes[1:] == len(name)) + 1
        for k in range(len(name) - 1, -1, -1):  # names that begin alike differ at their end
            if not len(found):
                break
            found = found[self._whole[self._starts[found] + k] == name[k]]
        return [int(i) for i in found]

    def path(self, leaf: int) -> list[bytes]:
        """The names from below the root to a leaf."""
        at = int(self.leaves[leaf])
        out = [self.name(at)]
        while self._parents is not None and (at := self._parents[at]):
            out.append(self.name(at))
        return out[::-1]

    def order(self, leaf: int) -> int:
        """Which member of the union ColumnOrder a leaf has: 1, TYPE_ORDER, or 0 for none."""
        return int(self._orders[self.leaves[leaf]] == 1)

    def logical(self, element: int) -> annotation.Annotation | None:
        """The logical type of an element."""
        table = Table(self._data, int(self._at[element]))
        number = table.number(self.revision.logical, buffers.U8)
        if not number:
            return None
        kind = Logical(number)
        member = table.table(self.revision.logical + 1) if kind in _PARAMETERS else None
        if member is None:
            return annotation.Annotation(kind)
        return annotation.read(kind, member, self.revision.settled)

    def type_length(self, element: int) -> int | None:
        """Bytes of a value of fixed size."""
        table = Table(self._data, int(self._at[element]))
        if not table.has(self.revision.type_length):
            return None
        return table.number(self.revision.type_length, buffers.I32)

    def element(self, element: int) -> bytes:
        """A SchemaElement as a Thrift struct."""
        own = self.elements
        out = thrift.Struct({4: (thrift.BINARY, self.name(element))})
        numbers = {1: int(own.physical[element]), 3: int(own.repetition[element])}
        for field, number in numbers.items():
            if number >= 0:
                out[field] = (thrift.I32, number)
        length = self.type_length(element)
        if length is not None:
            out[2] = (thrift.I32, length)
        if numbers[1] < 0:
            out[5] = (thrift.I32, int(own.children[element]))
        if own.identified[element]:
            out[9] = (thrift.I32, int(own.ids[element]))
        logical = self.logical(element)
        if logical is not None:
            out.update(annotation.spelled(logical))
        return thrift.write(out)
