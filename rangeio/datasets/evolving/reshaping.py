"""Arrays of a file's column made into arrays of the dataset's, level by level. Pure.

What needs no change is handed on as it is, and so are the buffers of offsets and validity of lists
and structs of which only something below changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rangeio.datasets.evolving.filling import Fill
from rangeio.errors import Unsupported
from rangeio.picking import rebased


class Step(Protocol):
    """Makes one array of another, row by row."""

    def apply(self, array: pa.Array) -> pa.Array:
        """The array in the dataset's type, of as many rows. Raises Unsupported."""
        ...


@dataclass(frozen=True, slots=True)
class Same:
    """No change."""

    def apply(self, array: pa.Array) -> pa.Array:
        """The very array."""
        return array


SAME = Same()


@dataclass(frozen=True, slots=True)
class Nulls:
    """Nulls of a type that the file does not know."""

    kind: pa.DataType

    def apply(self, array: pa.Array) -> pa.Array:
        """As many nulls."""
        return pa.nulls(len(array), self.kind)


@dataclass(frozen=True, slots=True)
class Cast:
    """A wider type. name: the file's column, for the error of a value that does not fit."""

    kind: pa.DataType
    name: str

    def apply(self, array: pa.Array) -> pa.Array:
        """The array cast; Arrow checks every value that could be too large."""
        plain = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        try:
            return plain.cast(self.kind)
        except (pa.ArrowException, ValueError) as error:
            reason = f"column {self.name!r} of type {array.type} does not fit {self.kind}: {error}"
            raise Unsupported(reason) from None


@dataclass(frozen=True, slots=True)
class Pick:
    """A field of a struct: which of the file's, and what becomes of it."""

    index: int
    step: Step

    def of(self, array: pa.StructArray) -> pa.Array:
        """The field's values. What is below a null may be anything, even what cannot be cast."""
        if array.null_count and not isinstance(self.step, Same):
            return self.step.apply(pc.struct_field(array, [self.index]))
        return self.step.apply(array.field(self.index))


@dataclass(frozen=True, slots=True)
class Lacking:
    """A field of a struct that the file lacks."""

    fill: Fill

    def of(self, array: pa.StructArray) -> pa.Array:
        """The same value in every row."""
        return self.fill.rows(len(array))


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct of other fields."""

    kind: pa.StructType
    fields: tuple[Pick | Lacking, ...]

    def apply(self, array: pa.StructArray) -> pa.Array:
        """A struct that is null where the file's is."""
        children = [one.of(array) for one in self.fields]
        return pa.Array.from_buffers(
            self.kind, len(array), [_validity(array)], array.null_count, children=children
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A list of other items."""

    kind: pa.DataType
    item: Step

    def apply(self, array: pa.Array) -> pa.Array:
        """Lists of the same lengths."""
        wide = pa.types.is_large_list(self.kind)
        array = _settled(array)
        offsets, start, stop = _offsets(array, wide)
        items = self.item.apply(array.values.slice(start, stop - start))
        buffers = [_validity(array), offsets]
        return pa.Array.from_buffers(
            self.kind, len(array), buffers, array.null_count, children=[items]
        )


@dataclass(frozen=True, slots=True)
class Sized:
    """A list of one size, of other items."""

    kind: pa.FixedSizeListType
    item: Step

    def apply(self, array: pa.FixedSizeListArray) -> pa.Array:
        """Lists of the same size."""
        size = self.kind.list_size
        array = _settled(array)
        items = self.item.apply(array.values.slice(array.offset * size, len(array) * size))
        return pa.Array.from_buffers(
            self.kind, len(array), [_validity(array)], array.null_count, children=[items]
        )


@dataclass(frozen=True, slots=True)
class Viewed:
    """A list view of other items."""

    kind: pa.DataType
    item: Step

    def apply(self, array: pa.Array) -> pa.Array:
        """Views of the same items, in the same places."""
        items = self.item.apply(array.values)
        return pa.Array.from_buffers(
            self.kind,
            len(array),
            array.buffers()[:3],
            offset=array.offset,
            children=[items],
        )


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map of other keys or values."""

    kind: pa.MapType
    key: Step
    value: Step

    def apply(self, array: pa.MapArray) -> pa.Array:
        """Maps of as many entries."""
        array = _settled(array)
        offsets, start, stop = _offsets(array, False)
        sides = [
            step.apply(side.slice(start, stop - start))
            for step, side in ((self.key, array.keys), (self.value, array.items))
        ]
        fields = [self.kind.key_field, self.kind.item_field]
        entries = pa.Array.from_buffers(pa.struct(fields), stop - start, [None], 0, children=sides)
        buffers = [_validity(array), offsets]
        return pa.Array.from_buffers(
            self.kind, len(array), buffers, array.null_count, children=[entries]
        )


def _validity(array: pa.Array) -> pa.Buffer | None:
    """The bitmap of an array's rows from its first, None where none is null."""
    if not array.null_count:
        return None
    if not array.offset:
        return array.buffers()[0]
    valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
    return pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())


def _settled(array: pa.Array) -> pa.Array:
    """Lists without the items that null ones hold, where they hold some: those may be anything."""
    if not array.null_count:
        return array
    if not pa.types.is_fixed_size_list(array.type):
        lengths = np.diff(array.offsets.to_numpy())
        if not lengths[array.is_null().to_numpy(zero_copy_only=False)].any():
            return array
    try:
        return rebased(array).take(pa.array(np.arange(len(array))))
    except pa.ArrowNotImplementedError:  # of some types Arrow picks no rows
        return array


def _offsets(array: pa.Array, wide: bool) -> tuple[pa.Buffer, int, int]:
    """The offsets of lists from 0 on, in 8 bytes each or as they are, and the range of items."""
    offsets = array.offsets
    if not len(array):
        return pa.py_buffer(bytes(8)), 0, 0
    start, stop = offsets[0].as_py(), offsets[-1].as_py()
    if wide:
        offsets = offsets.cast(pa.int64())
    if start:
        offsets = pc.subtract(offsets, pa.scalar(start, offsets.type))
    held = offsets.buffers()[1]
    width = offsets.type.bit_width // 8
    return held.slice(offsets.offset * width), start, stop


def of_column(table: pa.Table, index: int, step: Step, kind: pa.DataType) -> pa.ChunkedArray:
    """A column of a table, brought into the dataset's type chunk by chunk."""
    column = table.column(index)
    if isinstance(step, Same):
        return column
    return pa.chunked_array([step.apply(chunk) for chunk in column.chunks], kind)


def unchanged(fields: Sequence[Pick | Lacking]) -> bool:
    """Whether a struct's fields are those of the file, in order and as they are."""
    return all(
        isinstance(one, Pick) and one.index == i and isinstance(one.step, Same)
        for i, one in enumerate(fields)
    )
