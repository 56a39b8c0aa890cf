"""ColumnIndex: of real writers, and of liars, who are not believed."""

from __future__ import annotations

import io
import random
import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from page_files import Taken, shared
from page_tables import made

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.formats.parquet.leaf import Fact, Leaf, Order
from rangeio.formats.parquet.pages.offsets import ColumnIndex, column_index
from rangeio.ranges import ByteRange


def values(file: Taken, name: str, group: int) -> list[list[Any]]:
    """The values of every page of a top-level leaf, as pyarrow reads them."""
    column = pq.ParquetFile(io.BytesIO(file.data)).read_row_group(group, columns=[name]).column(0)
    meta = next(m for m in file.metas if m.leaf.path == (name,))
    index = file.offset_index(meta, group)
    assert index is not None
    edges = [*index.first_rows.tolist(), len(column)]
    rows = column.to_pylist()
    return [rows[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize("group", [0, 1])
def test_bounds_and_counts_of_a_writer(group: int) -> None:
    file = made()
    plain = {
        "n": lambda b: struct.unpack("<q", b)[0],
        "f": lambda b: struct.unpack("<d", b)[0],
        "t": bytes.decode,
    }
    for name, decoded in plain.items():
        meta = next(m for m in file.metas if m.leaf.path == (name,))
        index = file.column_index(meta, group)
        assert index is not None
        pages = values(file, name, group)
        some = [[v for v in page if v is not None] for page in pages]
        assert index.null_pages == [not page for page in some]
        assert index.null_counts == [page.count(None) for page in pages]
        for k, page in enumerate(some):
            if page:
                assert (decoded(index.mins[k]), decoded(index.maxs[k])) == (min(page), max(page))
            else:
                assert index.mins[k] == index.maxs[k] == b""
        assert index.order == {"n": 1, "f": 1, "t": 0}[name]
    n = next(m for m in file.metas if m.leaf.path == ("n",))
    nulls = file.column_index(n, 0)
    assert nulls is not None
    assert nulls.null_pages.count(True) == 4


def test_nested_leaves_have_an_index_too() -> None:
    file = made()
    nested = [meta for meta in file.metas if len(meta.leaf.path) > 1]
    assert len(nested) == 3
    for meta in nested:
        index = file.column_index(meta, 0)
        assert index is not None
        assert len(index.mins) == 20


@pytest.mark.parametrize(
    ("name", "order", "pages"),
    [("fixed_length_byte_array", 2, 10), ("alltypes_tiny_pages", 0, 325)],
)
def test_orders_of_other_writers(name: str, order: int, pages: int) -> None:
    file = Taken(shared(name))
    index = file.column_index(file.metas[0], 0)
    assert index is not None
    assert (index.order, len(index.mins), len(index.null_pages)) == (order, pages, pages)


def test_counts_of_nan() -> None:
    file = Taken(shared("floating_orders_nan_count"))
    meta = next(m for m in file.metas if m.leaf.path == ("float_ieee754",))
    found = [file.column_index(meta, group) for group in range(5)]
    assert [index and index.nan_counts for index in found] == [[0], [4], [10], [0], [0]]


@pytest.mark.parametrize("kind", ["snappy-compressed", "uncompressed"])
def test_known_liars_are_not_believed(kind: str) -> None:
    file = Taken(shared(f"datapage_v1-{kind}-checksum"))
    assert len(file.metas) == 2
    for meta in file.metas:
        at = file.span(meta, 0, Fact.COLUMN_INDEX, Fact.COLUMN_INDEX_SIZE)
        assert at is not None
        assert thrift.read(file.part(at))[0].list(1) == [True, True]
        assert file.column_index(meta, 0) is None


def leaf(definition: int = 1, repetition: int = 0) -> Leaf:
    return Leaf(0, ("x",), pa.int32(), Struct(), definition, repetition, Order.TYPE)


def said(**changes: Any) -> Struct:
    """The ColumnIndex of three pages of 10 rows: the second one is all null."""
    word = struct.Struct("<i").pack
    fields = {
        "nulls": (1, (thrift.LIST, (thrift.TRUE, [False, True, False]))),
        "mins": (2, (thrift.LIST, (thrift.BINARY, [word(1), b"", word(5)]))),
        "maxs": (3, (thrift.LIST, (thrift.BINARY, [word(3), b"", word(9)]))),
        "order": (4, (thrift.I32, 1)),
        "counts": (5, (thrift.LIST, (thrift.I64, [0, 10, 3]))),
    }
    numbers = {**{name: field for name, (field, _) in fields.items()}, "nans": 8, "new": 99}
    struct_ = Struct(dict(fields.values()))
    for name, value in changes.items():
        if value is None:
            del struct_[numbers[name]]
        else:
            struct_[numbers[name]] = value
    return struct_


def believed(data: bytes, of: Leaf | None = None) -> ColumnIndex | None:
    rows = np.array([10, 10, 10], np.int64)
    return column_index(memoryview(data), ByteRange(0, len(data)), of or leaf(), 3, rows)


def counted(*values: int, kind: int = thrift.I64) -> Any:
    return thrift.LIST, (kind, list(values))


def flags(*values: bool) -> Any:
    return thrift.LIST, (thrift.TRUE, list(values))


def texts(*values: bytes) -> Any:
    return thrift.LIST, (thrift.BINARY, list(values))


GOOD = [
    {},
    {"counts": None, "nulls": flags(False, False, False)},
    {"counts": counted(0, 10, 9)},
    {"order": (thrift.I32, 0)},
    {"order": (thrift.I32, 2)},
    {"nans": counted(1, 0, 7)},
    {"new": texts(b"unknown")},
]


@pytest.mark.parametrize("changes", GOOD, ids=str)
def test_what_is_believed(changes: dict[str, Any]) -> None:
    given = said(**changes)
    index = believed(thrift.write(given))
    assert index is not None
    assert index.null_pages == given.list(1)
    assert index.mins == given.list(2)
    assert index.maxs == given.list(3)
    assert index.order == given.integer(4)
    assert index.null_counts == given.list(5)
    assert index.nan_counts == given.list(8)


def test_booleans_that_are_spelt_as_zero() -> None:
    data = thrift.write(said())
    assert data.startswith(b"\x19\x31\x02\x01\x02")
    for head in (b"\x19\x31\x00\x01\x00", b"\x19\x32\x00\x01\x02"):
        index = believed(head + data[5:])
        assert index is not None
        assert index.null_pages == [False, True, False]
    assert believed(b"\x19\x31\x02\x01\x03" + data[5:]) is None


def test_histograms_are_passed_over() -> None:
    given = said(nans=counted(0, 0, 0))
    given[6] = counted(*range(100))
    given[7] = counted(*range(200))
    index = believed(thrift.write(given))
    assert index is not None
    assert index.nan_counts == [0, 0, 0]


LIES = [
    {"nulls": None},
    {"mins": None},
    {"maxs": None},
    {"order": None},
    {"order": (thrift.I32, 3)},
    {"order": (thrift.I32, -1)},
    {"order": (thrift.BINARY, b"1")},
    {"nulls": flags(False, True)},
    {"nulls": flags(False, True, False, False)},
    {"nulls": counted(0, 1, 0)},
    {"nulls": (thrift.I32, 1)},
    {"mins": texts(b"1234", b"")},
    {"maxs": texts(b"1234", b"", b"1234", b"1234")},
    {"maxs": counted(0, 0, 0)},
    {"counts": counted(0, 10)},
    {"counts": texts(b"", b"", b""), "nulls": flags(False, False, False)},
    {"nans": counted(0)},
    {"counts": counted(-1, 10, 0)},
    {"counts": counted(0, 10, 11)},
    {"counts": counted(0, 9, 0)},
    {"counts": counted(0, 0, 0)},
    {"counts": counted(10, 10, 0)},
    {"counts": None},
    {"counts": counted(0, (1 << 63) - 1, 0)},
    {"nans": counted(-1, 0, 0)},
    {"nans": counted(0, 1, 0)},
    {"nans": counted(0, 0, 8)},
    {"counts": None, "nulls": flags(False, False, False), "nans": counted(0, 0, 11)},
]


@pytest.mark.parametrize("changes", LIES, ids=str)
def test_what_is_not_believed(changes: dict[str, Any]) -> None:
    assert believed(thrift.write(said(**changes))) is None


def test_required_leaves_have_no_nulls() -> None:
    none = {"nulls": flags(False, False, False)}
    required = leaf(definition=0)
    assert believed(thrift.write(said()), required) is None
    assert believed(thrift.write(said(counts=counted(0, 1, 0), **none)), required) is None
    assert believed(thrift.write(said(counts=counted(0, 0, 0), **none)), required) is not None
    assert believed(thrift.write(said(counts=None, **none)), required) is not None


def test_repeated_leaves_may_have_more_values_than_rows() -> None:
    repeated = leaf(definition=3, repetition=1)
    for counts in (counted(400, 10, 3), counted(0, 1, 0)):
        assert believed(thrift.write(said(counts=counts)), repeated) is not None
    assert believed(thrift.write(said(nans=counted(30, 0, 0))), repeated) is not None
    assert believed(thrift.write(said(counts=counted(400, 0, 3))), repeated) is None
    assert believed(thrift.write(said(counts=counted(-1, 1, 0))), repeated) is None


def test_every_cut_is_not_believed() -> None:
    data = thrift.write(said(nans=counted(0, 0, 0)))
    assert believed(data) is not None
    for stop in range(len(data)):
        assert believed(data[:stop]) is None


def test_flipped_bits_never_fail_a_read() -> None:
    rng = random.Random(3)
    data = thrift.write(said(nans=counted(0, 0, 0)))
    kept = 0
    for _ in range(5000):
        flipped = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        index = believed(bytes(flipped))
        if index is not None:
            kept += 1
            assert len(index.null_pages) == len(index.mins) == len(index.maxs) == 3
    assert 100 < kept < 4900
