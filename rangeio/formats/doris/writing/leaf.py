"""Scalar columns: pages of values, and what finds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import RequestError
from rangeio.formats.doris import dates
from rangeio.formats.doris.encodings import Fixed, Values
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import IndexEntries
from rangeio.formats.doris.texts import is_mapped
from rangeio.formats.doris.types import size_of
from rangeio.formats.doris.values import from_arrow
from rangeio.formats.doris.words import Compression, Encoding, FieldType, IndexType
from rangeio.formats.doris.writing.blooms import Blooms
from rangeio.formats.doris.writing.choice import default
from rangeio.formats.doris.writing.coders import Part, coder_of
from rangeio.formats.doris.writing.column import About, Mask, Setup, Wanted
from rangeio.formats.doris.writing.dense import empty, size_in_bytes, spread
from rangeio.formats.doris.writing.indexed import tree
from rangeio.formats.doris.writing.outlet import Outlet
from rangeio.formats.doris.writing.pages import data_page, dictionary_page, ordinal_key
from rangeio.formats.doris.writing.zonemaps import ZoneMaps

_F = FieldType
TIMES = frozenset({_F.DATE, _F.DATEV2, _F.DATETIME, _F.DATETIMEV2, _F.TIMESTAMPTZ})


class Leaf:
    """One scalar column. See :class:`ColumnWriter`."""

    def __init__(self, about: About, setup: Setup, wanted: Wanted) -> None:
        declared = about.declared
        size = size_of(declared.field)
        self.rows = 0
        self.about = about
        self._setup = setup
        self._chosen = wanted.chosen or default(declared.field, size, setup.version)
        self._coder = coder_of(self._chosen, size, setup.page_size, setup.dict_page_size)
        zoned = wanted.zone_maps and is_mapped(declared.field)
        self._zones = ZoneMaps(declared) if zoned else None
        self._blooms = Blooms(about) if wanted.blooms else None
        self._first = self._values = self._raw = self._plain = self._stored = 0
        self._pages: list[bytes] = []
        self._firsts: list[int] = []
        self._found = IndexEntries([], np.empty(0, np.int64), np.empty(0, np.int64))
        self._meta = MESSAGES.ColumnMeta()

    def append(self, array: pa.Array, absent: Mask | None = None) -> None:
        """Append rows; RequestError for a null where the column has none."""
        values, nulls = self._dense(array)
        if nulls is not None and not self.about.nullable:
            if absent is None or (nulls & ~absent).any():
                raise RequestError(f"{self.about.name!r} is not nullable, and has a null")
            values, nulls = spread(values, nulls, _nothing(self.about.declared.field)), None
        self.append_values(values, nulls, len(array))

    def append_values(self, values: Values, nulls: Mask | None, rows: int) -> None:
        """Append ``rows`` rows of dense values."""
        self._add(values, np.arange(rows) if nulls is None else np.flatnonzero(~nulls), rows)

    def append_at(self, array: pa.Array, at: Offsets, rows: int) -> None:
        """Append ``rows`` rows, NULL but for those ``at``, which have the values of ``array``."""
        values, nulls = self._dense(array)
        assert nulls is None
        self._add(values, at, rows)

    def _dense(self, array: pa.Array) -> tuple[Values, Mask | None]:
        """The values and NULLs; errors name the column."""
        try:
            return from_arrow(array, self.about.declared)
        except RequestError as error:
            raise RequestError(f"{self.about.name!r}: {error.reason}") from None

    def _add(self, values: Values, at: Offsets, rows: int) -> None:
        numbers = at + self.rows
        self.rows += rows
        self._values += len(values)
        self._raw += size_in_bytes(values)
        for page in self._coder.add(values, numbers):
            self._page(page, int(page.rows[-1]) + 1)

    def finish(self) -> None:
        """Make the last page, which has the NULL rows at the end."""
        last = self._coder.finish()
        if last is None and self._first < self.rows:
            nothing = np.empty(0, np.int64)
            last = Part(self._coder.empty(), empty(size_of(self.about.declared.field)), nothing)
        if last is not None:
            self._page(last, self.rows)

    def write_data(self, outlet: Outlet) -> None:
        """Write the data pages, then the dictionary."""
        self._found = outlet.write_all(self._pages, [ordinal_key(at) for at in self._firsts])
        self._pages = []
        words = self._coder.words()
        if words is not None:
            page = dictionary_page(words, self._chosen.plain, self._setup.scheme)
            self._meta.dict_page.CopyFrom(outlet.write(page))
            self._stored += len(page)

    def write_ordinals(self, outlet: Outlet) -> None:
        """Write the ordinal index, where there is more than one page."""
        if self._firsts:
            # Never compressed, whatever the column is.
            root = tree(outlet, self._found, Compression.NONE)
            about = MESSAGES.OrdinalIndex(root_page=root)
            self._meta.indexes.add(type=IndexType.ORDINAL, ordinal_index=about)

    def write_zone_maps(self, outlet: Outlet) -> None:
        """Write the zone maps, where there are some."""
        if self._zones is not None:
            self._meta.indexes.append(self._zones.write(outlet))

    def write_blooms(self, outlet: Outlet) -> None:
        """Write the bloom filters, where there are some."""
        if self._blooms is not None:
            self._meta.indexes.append(self._blooms.write(outlet))

    def meta(self) -> Any:
        """The ColumnMeta."""
        found, declared = described(self.about, self._setup.scheme), self.about.declared
        found.encoding = self._chosen.encoding
        found.num_rows = self.rows
        if declared.precision or declared.frac:
            found.precision, found.frac = declared.precision, declared.frac
        found.none_null_size = self._values
        found.compressed_data_bytes = self._stored
        found.uncompressed_data_bytes = self._plain
        found.raw_data_bytes = self._raw
        found.MergeFrom(self._meta)
        return found

    def _page(self, part: Part, stop: int) -> None:
        """A page that ends before the row ``stop``."""
        first, rows = self._first, stop - self._first
        nulls = _nulls(part.rows, first, rows)
        next_item = self._next_item(part, stop)
        page = data_page(
            part.body, first, rows, self._setup.scheme, nulls=nulls, next_item=next_item
        )
        self._pages.append(page)
        self._firsts.append(first)
        self._first = stop
        self._stored += len(page)
        self._plain += len(part.body)
        if self._zones is not None:
            self._zones.add(part.values, rows, null=nulls is not None)
        if self._blooms is not None:
            self._blooms.add(part.values, null=nulls is not None)

    def _next_item(self, part: Part, stop: int) -> int | None:
        """Of offsets: the first item of the row after a page."""
        return None


class OffsetLeaf(Leaf):
    """The first item of every row of a list.

    items: how many there are so far.
    """

    def __init__(self, about: About, setup: Setup) -> None:
        super().__init__(about, setup, Wanted())
        self.items = 0
        self._starts = np.empty(0, np.int64)

    def append_sizes(self, sizes: Offsets) -> None:
        """Append rows of so many items each."""
        ends = np.cumsum(sizes, dtype=np.int64)
        starts = self.items + ends - sizes
        self.items += int(sizes.sum())
        self._starts = starts
        stored = np.ascontiguousarray(starts, "<u8").view(np.uint8).reshape(-1, 8)
        self.append_values(Fixed(stored), None, len(sizes))

    def _next_item(self, part: Part, stop: int) -> int | None:
        # A page ends within the rows that are being appended, or with all of them.
        left = self.rows - stop
        return int(self._starts[-left]) if left else self.items


def described(about: About, scheme: Compression) -> Any:
    """What the ColumnMeta of any column says first."""
    found = MESSAGES.ColumnMeta(
        column_id=about.number,
        unique_id=about.unique_id,
        type=about.declared.field,
        length=about.declared.length,
        encoding=Encoding.PLAIN,
        compression=scheme,
        is_nullable=about.nullable,
    )
    if about.path is not None:
        found.column_path_info.CopyFrom(about.path)
    return found


def _nothing(field: FieldType) -> Bytes:
    """The bytes of a value that stands where there is none: zeros, but of days and times the
    epoch, for they have no valid zero."""
    if field in TIMES:
        epoch: Bytes = dates.stored(field, np.zeros(1, np.int64))[0]
        return epoch
    return np.zeros(size_of(field), np.uint8)


def _nulls(numbers: Offsets, first: int, rows: int) -> Mask | None:
    if len(numbers) == rows:
        return None
    mask = np.ones(rows, np.bool_)
    mask[numbers - first] = False
    return mask
