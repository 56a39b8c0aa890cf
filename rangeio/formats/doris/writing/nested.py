"""Arrays, maps and structs: columns of nothing but columns below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rangeio.errors import RequestError
from rangeio.formats.doris.encodings import Fixed
from rangeio.formats.doris.types import Declared
from rangeio.formats.doris.words import FieldType
from rangeio.formats.doris.writing.column import (
    About,
    ColumnWriter,
    Mask,
    Setup,
    Wanted,
    null_mask,
)
from rangeio.formats.doris.writing.leaf import Leaf, OffsetLeaf, described
from rangeio.formats.doris.writing.outlet import Outlet

OFFSETS = Declared(FieldType.UBIGINT, length=8)
NULLS = Declared(FieldType.TINYINT, length=1)


class Nested:
    """What the nested columns have in common. See :class:`ColumnWriter`.

    below: the columns below it, in the order of the metadata. Its NULLs are a column of their own.
    """

    def __init__(
        self, about: About, setup: Setup, below: Sequence[ColumnWriter], names: Sequence[str]
    ) -> None:
        self.rows = 0
        self.about = about
        self._setup = setup
        self._names = names
        self._nulls: Leaf | None = None
        self._below = list(below)
        if about.nullable:
            self._nulls = Leaf(_inner(about, NULLS, len(below) + 1), setup, Wanted())
            self._below.append(self._nulls)

    def finish(self) -> None:
        """Make the last pages of all."""
        for one in self._below:
            one.finish()

    def write_data(self, outlet: Outlet) -> None:
        """Write all data: what says where first, then what is there."""
        for one in self._in_order():
            one.write_data(outlet)

    def write_ordinals(self, outlet: Outlet) -> None:
        """Write all ordinal indexes."""
        for one in self._in_order():
            one.write_ordinals(outlet)

    def write_zone_maps(self, outlet: Outlet) -> None:
        """Nothing: there are none below nested columns."""

    def write_blooms(self, outlet: Outlet) -> None:
        """Nothing."""

    def meta(self) -> Any:
        """The ColumnMeta, those of the columns below in it."""
        found = described(self.about, self._setup.scheme)
        found.num_rows = self.rows
        found.children_column_names.extend(self._names)
        found.children_columns.extend([one.meta() for one in self._below])
        return found

    def _in_order(self) -> list[ColumnWriter]:
        return self._below

    def _took(self, array: pa.Array, absent: Mask | None) -> Mask | None:
        """Count rows and note which are NULL; those that hold nothing, None where all do."""
        self.rows += len(array)
        nulls = null_mask(array) if array.null_count else None
        if self._nulls is not None:
            mask = np.zeros(len(array), np.uint8) if nulls is None else nulls.view(np.uint8)
            self._nulls.append_values(Fixed(mask.reshape(-1, 1)), None, len(array))
        elif nulls is not None and (absent is None or (nulls & ~absent).any()):
            raise RequestError(f"{self.about.name!r} is not nullable, and has a null")
        if nulls is None or absent is None:
            return absent if nulls is None else nulls
        return nulls | absent


class Repeated(Nested):
    """An ARRAY, or a MAP: items, and where those of every row begin."""

    def __init__(self, about: About, setup: Setup, items: Sequence[ColumnWriter]) -> None:
        self._items = list(items)
        self._offsets = OffsetLeaf(_inner(about, OFFSETS, len(self._items) + 1), setup)
        super().__init__(about, setup, [*self._items, self._offsets], ())

    def append(self, array: pa.Array, absent: Mask | None = None) -> None:
        """Append rows; a NULL row has no items, whatever lies under it."""
        array = as_lists(array)
        self._took(array, absent)
        sizes = pc.list_value_length(array).fill_null(0).to_numpy().astype(np.int64)
        items = array.flatten()
        if absent is not None:
            # What lies under a NULL further up is none of its items either.
            items = items.filter(pa.array(np.repeat(~absent, sizes)))
            sizes = np.where(absent, 0, sizes)
        self._offsets.append_sizes(sizes)
        if len(self._items) == 1:
            self._items[0].append(items)
            return
        for k, side in enumerate(self._items):
            side.append(items.field(k))

    def _in_order(self) -> list[ColumnWriter]:
        nulls = [] if self._nulls is None else [self._nulls]
        return [self._offsets, *nulls, *self._items]


class Struct(Nested):
    """A STRUCT: fields, each with a row for each of its own."""

    def append(self, array: pa.Array, absent: Mask | None = None) -> None:
        """Append rows; the fields of a NULL row are NULL, or zero where they cannot be."""
        array = stored(array)
        empty = self._took(array, absent)
        for child, values in zip(self._below, array.flatten(), strict=False):
            child.append(values, empty)


def _inner(about: About, declared: Declared, unique_id: int) -> About:
    """A column that Doris adds below a nested one."""
    return About(about.name, declared, about.number, unique_id, nullable=False)


def stored(array: pa.Array) -> pa.Array:
    """The array without extensions."""
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array


def as_lists(array: pa.Array) -> pa.Array:
    """A list of any kind, or a map, as one whose items come by ``flatten``."""
    array = stored(array)
    kind = array.type
    if pa.types.is_map(kind):
        entry = pa.struct([kind.key_field, kind.item_field])
        return array.cast(pa.list_(pa.field("entries", entry, nullable=False)))
    if pa.types.is_fixed_size_list(kind):
        return array.cast(pa.list_(kind.value_field))
    return array
