"""Segments made by the writer, and taken apart with the messages and pages alone."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa

from rangeio.formats.doris import page as pages
from rangeio.formats.doris.encodings import decoded, nullmap
from rangeio.formats.doris.encodings import words as words_in
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.types import arrow_type, size_of
from rangeio.formats.doris.values import to_arrow
from rangeio.formats.doris.words import (
    NO_ID,
    Compression,
    Encoding,
    FieldType,
    IndexType,
    PageType,
)
from rangeio.formats.doris.writer import WRITER


def made(data, schema=None, **words) -> bytes:
    """The bytes of a segment of these tables."""
    tables = [data] if isinstance(data, pa.Table) else list(data)
    schema = tables[0].schema if schema is None else schema
    out = bytearray()
    encoder = WRITER.encoder(schema, WRITER.options(words), out.extend, None)
    for one in tables:
        encoder.write(one)
    encoder.finish()
    return bytes(out)


@dataclass(frozen=True)
class DataPage:
    """A data page of a column: where it lies, and what it holds."""

    offset: int
    size: int
    first: int
    rows: int
    footer: Any
    values: memoryview
    nulls: np.ndarray | None


class Segment:
    """The footer of a segment, and what it leads to."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        size, crc = struct.unpack("<II", data[-12:-4])
        assert data[-4:] == b"D0R1"
        self.footer_at = len(data) - 12 - size
        own = data[self.footer_at : -12]
        assert google_crc32c.value(own) == crc
        self.footer = MESSAGES.SegmentFooter.FromString(own)

    @cached_property
    def metas(self) -> list[Any]:
        """Of every column, sub-columns included, in the order of the file."""
        if not self.footer.HasField("version"):
            assert not self.footer.column_meta_entries
            return list(self.footer.columns)
        assert self.footer.version == 2
        assert not self.footer.columns
        at, found = self.footer.col_meta_region_start, []
        for entry in self.footer.column_meta_entries:
            found.append(MESSAGES.ColumnMeta.FromString(self.data[at : at + entry.length]))
            at += entry.length
            assert entry.unique_id % (1 << 32) == found[-1].unique_id
        assert at == self.footer_at
        return found

    def page(self, pointer: Any, scheme: int) -> pages.Page:
        """The page at a PagePointer, its crc32c checked."""
        data = memoryview(self.data)[pointer.offset : pointer.offset + pointer.size]
        return pages.unframed(data, Compression(scheme), pointer.offset)

    def spots(self, tree: Any, scheme: int) -> tuple[list[bytes | None], list[Any]]:
        """The keys (None where the only page is the root) and the PagePointers of an index."""
        if tree.is_root_data_page:
            return [None], [tree.root_page] if tree.root_page.size else []
        page = self.page(tree.root_page, scheme)
        assert page.kind == PageType.INDEX
        found = pages.index_entries(page)
        assert page.footer.index_page_footer.num_entries == len(found.keys)
        pairs = zip(found.offsets.tolist(), found.sizes.tolist(), strict=True)
        return list(found.keys), [MESSAGES.PagePointer(offset=a, size=b) for a, b in pairs]

    def pages(self, meta: Any) -> list[DataPage]:
        """The data pages of a scalar column, checked against its ordinal index."""
        tree = index(meta, IndexType.ORDINAL)
        if tree is None:
            return []
        keys, spots = self.spots(tree.ordinal_index.root_page, Compression.NONE)
        found = [self._data_page(spot, meta.compression) for spot in spots]
        row = 0
        for key, one in zip(keys, found, strict=True):
            assert one.first == row
            assert key is None or key == row.to_bytes(8, "big")
            row += one.rows
        assert row == meta.num_rows
        return found

    def _data_page(self, spot: Any, scheme: int) -> DataPage:
        page = self.page(spot, scheme)
        assert page.kind == PageType.DATA
        about = page.footer.data_page_footer
        end = len(page.body) - about.nullmap_size
        nulls = nullmap(page.body[end:], about.num_values) if about.nullmap_size else None
        return DataPage(
            spot.offset,
            spot.size,
            about.first_ordinal,
            about.num_values,
            about,
            page.body[:end],
            nulls,
        )

    def indexed(self, about: Any) -> list[bytes]:
        """The values of an IndexedColumn."""
        _, spots = self.spots(about.ordinal_index_meta, about.compression)
        found: list[bytes] = []
        for spot in spots:
            one = self._data_page(spot, about.compression)
            assert one.first == len(found)
            values = decoded(about.encoding, 0, one.values, one.rows)
            found += [values.data[a:b].tobytes() for a, b in pairwise(values.offsets)]
        assert len(found) == about.num_values
        return found

    # ---- values ----

    def words(self, meta: Any) -> Any:
        """The dictionary of a column, or None."""
        if not meta.HasField("dict_page"):
            return None
        page = self.page(meta.dict_page, meta.compression)
        assert page.kind == PageType.DICTIONARY
        return words_in(page.footer.dict_page_footer.encoding, page.body)

    def values(self, meta: Any) -> list[Any]:
        """The rows of a column as Python has them."""
        kind = FieldType(meta.type)
        if kind in (FieldType.ARRAY, FieldType.MAP):
            return self._lists(meta, kind)
        if kind is FieldType.STRUCT:
            return self._structs(meta)
        rows: list[Any] = []
        words = self.words(meta)
        for one in self.pages(meta):
            count = one.rows - (0 if one.nulls is None else int(one.nulls.sum()))
            own = decoded(meta.encoding, size_of(kind), one.values, count, words)
            arrow = arrow_type(kind, meta.precision, meta.frac)
            rows += to_arrow(kind, meta.precision, meta.frac, own, one.nulls, arrow).to_pylist()
        assert meta.none_null_size == sum(row is not None for row in rows)
        return rows

    def _nulls(self, meta: Any, at: int) -> list[int]:
        if not meta.is_nullable:
            assert len(meta.children_columns) == at
            return [0] * meta.num_rows
        child = meta.children_columns[at]
        assert (child.type, child.unique_id) == (FieldType.TINYINT, at + 1)
        assert not child.is_nullable
        return self.values(child)

    def _lists(self, meta: Any, kind: FieldType) -> list[Any]:
        sides = 1 if kind is FieldType.ARRAY else 2
        child = meta.children_columns[sides]
        assert (child.type, child.unique_id) == (FieldType.UBIGINT, sides + 1)
        starts = self.values(child)
        items = [self.values(one) for one in meta.children_columns[:sides]]
        rows = items[0] if sides == 1 else list(zip(*items, strict=True))
        for one in self.pages(child):
            stop = one.first + one.rows
            expected = starts[stop] if stop < len(starts) else len(rows)
            assert one.footer.next_array_item_ordinal == expected
        ends = [*starts[1:], len(rows)][: len(starts)]
        nulls = self._nulls(meta, sides + 1)
        assert all(a == b for a, b, null in zip(starts, ends, nulls, strict=True) if null)
        return [None if null else rows[a:b] for a, b, null in zip(starts, ends, nulls, strict=True)]

    def _structs(self, meta: Any) -> list[Any]:
        names = list(meta.children_column_names)
        fields = [self.values(one) for one in meta.children_columns[: len(names)]]
        nulls = self._nulls(meta, len(names))
        return [
            None if null else dict(zip(names, row, strict=True))
            for null, row in zip(nulls, zip(*fields, strict=True), strict=True)
        ]


def index(meta: Any, kind: IndexType) -> Any:
    """The index of this kind, None where there is none."""
    found = [one for one in meta.indexes if one.type == kind]
    assert len(found) <= 1
    return found[0] if found else None


def walk(meta: Any):
    """A column's metadata and all below it."""
    yield meta
    for child in meta.children_columns:
        yield from walk(child)


__all__ = ["NO_ID", "Encoding", "Segment", "index", "made", "walk"]
