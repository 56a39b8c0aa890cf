"""Bounds of chunks and pages: what pyarrow wrote, what the format leaves open, what must not be
believed."""

from __future__ import annotations

import datetime as dt
import math
import struct
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metas import DATA, Described, meta, written
from page_files import Taken
from parquet_filters import POOLS

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.formats.parquet.leaf import Fact, Leaf, Order, ParquetMeta, Physical
from rangeio.formats.parquet.pages.offsets import ColumnIndex
from rangeio.formats.parquet.pruning.statistics import (
    chunk_statistics,
    column_statistics,
    page_statistics,
)
from rangeio.formats.parquet.pruning.values import values_of
from rangeio.literal import order_of
from rangeio.literal import plain as plain_type
from rangeio.statistics import Statistics

NAN = math.nan

# ---- what pyarrow writes -------------------------------------------------------------------------

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "no schema": {"store_schema": False},
    "integers": {"store_decimal_as_integer": True},
    "millis": {"coerce_timestamps": "ms", "allow_truncated_timestamps": True},
}


def orders(values: pa.Array) -> list[Any]:
    """What stands for the values that are neither null nor NaN, in no order."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    return [order_of(v, values.type) for v in values.drop_null() if v.as_py() == v.as_py()]


def flat(column: pa.ChunkedArray) -> pa.Array:
    """All of a column as one array."""
    one = column.combine_chunks()
    return one.chunk(0) if isinstance(one, pa.ChunkedArray) else one


def pooled() -> pa.Table:
    """Every pool ten times over, with nulls, in no order."""
    rng = np.random.default_rng(5)
    picks = {name: rng.integers(0, len(pool) + 1, 120) for name, pool in POOLS.items()}
    return pa.table(
        {
            name: POOLS[name].take(pa.array(own, mask=own == len(POOLS[name])))
            for name, own in picks.items()
        }
    )


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_bounds_of_every_type_are_those_of_its_values(options):
    described = written(
        pooled(), row_group_size=40, max_rows_per_page=13, write_page_index=True, **options
    )
    pages = Taken(described.data)
    for own in described.metas:
        kind = plain_type(own.leaf.kind)
        for group in range(3):
            values = flat(described.arrow.read_row_group(group).column(own.leaf.index))
            exactly(chunk_statistics(own, group), values, kind)
            if own.fact(group, Fact.COLUMN_INDEX) < 0:
                assert pa.types.is_floating(kind), "a page of nothing but NaN"
                continue
            index = pages.column_index(own, group)
            assert index is not None
            sizes = pages.page_rows(own, group).tolist()
            for page, start in enumerate(np.cumsum([0, *sizes[:-1]]).tolist()):
                found = page_statistics(own.leaf, index, page, sizes[page])
                exactly(found, values.slice(start, sizes[page]), kind)


def exactly(found: Statistics, values: pa.Array, kind: pa.DataType) -> None:
    """The bounds are the least and the greatest value, the counts those of the values."""
    held = orders(values)
    assert found.null_count == values.null_count
    assert found.rows == len(values)
    assert found.bounds(kind) == ((min(held), max(held)) if held else (None, None)), kind
    if not pa.types.is_floating(kind):
        assert not found.nans(kind)


def test_a_column_has_the_bounds_of_all_its_chunks():
    content = pooled()
    described = written(content, row_group_size=40)
    for own in described.metas:
        kind = plain_type(own.leaf.kind)
        values = flat(described.arrow.read().column(own.leaf.index))
        exactly(column_statistics(own), values, kind)


def test_bounds_of_a_column_are_for_people():
    shown = {
        "day": pa.array([dt.date(2020, 1, 2), dt.date(2021, 1, 1)]),
        "stamp": pa.array([5, 7], pa.timestamp("us", "UTC")),
        "text": pa.array(["é", "z"]),
        "raw": pa.array([b"\xff", b"a"]),
        "number": pa.array([Decimal("1.50"), Decimal("-2.25")]),
        "flag": pa.array([True, False]),
    }
    described = written(pa.table(shown))
    found = {one.leaf.path[0]: column_statistics(one) for one in described.metas}
    assert (found["day"].min.as_py(), found["day"].max.as_py()) == tuple(shown["day"].to_pylist())
    assert found["stamp"].max == pa.scalar(7, pa.timestamp("us", "UTC"))
    assert (found["text"].min, found["text"].max) == ("z", "é")
    assert (found["raw"].min, found["raw"].max) == (b"a", b"\xff")
    assert (found["number"].min, found["number"].max) == (Decimal("-2.25"), Decimal("1.50"))
    assert (found["flag"].min, found["flag"].max) == (False, True)


def test_what_one_chunk_does_not_say_is_unknown_of_the_column():
    content = pa.table({"x": pa.array([1, 2, None, None, 5, 6], pa.int64())})
    described = written(content, row_group_size=2)
    found = column_statistics(described.meta("x"))
    assert (found.min, found.max, found.null_count, found.rows) == (1, 6, 2, 6)
    silent = [Struct(chunk) for chunk in (group.list(1)[0] for group in described.groups)]
    silent[2][3] = (
        thrift.STRUCT,
        Struct({k: v for k, v in silent[2].struct(3).items() if k != 12}),
    )
    found = column_statistics(meta(described.meta("x").leaf, silent, described.group_rows))
    assert (found.min, found.max, found.null_count, found.rows) == (None, None, None, 6)


def test_nested_leaves_count_the_nulls_above_them():
    content = pa.table(
        {
            "s": pa.array([{"a": {"b": 1}}, {"a": None}, None, {"a": {"b": None}}]),
            "l": pa.array([[1, 2], [], None, [None, 3]]),
        }
    )
    described = written(content, write_page_index=True)
    found = chunk_statistics(described.meta("s", "a", "b"), 0)
    assert (found.min, found.max, found.null_count, found.rows) == (1, 1, 3, 4)
    (item,) = [one for one in described.metas if one.leaf.path[0] == "l"]
    found = chunk_statistics(item, 0)
    assert (found.min, found.max, found.rows) == (1, 3, None)
    assert column_statistics(item).max == 3


def test_a_required_leaf_has_no_nulls_whatever_is_said_of_it():
    schema = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    described = written(pa.table({"x": [1, 2]}, schema), write_statistics=False)
    found = chunk_statistics(described.meta("x"), 0)
    assert found == Statistics(null_count=0, rows=2)


# ---- what a leaf and its annotation say ----------------------------------------------------------


def logical(member: int, **fields: Any) -> Struct:
    """A SchemaElement with a LogicalType."""
    own = Struct({int(k[1:]): v for k, v in fields.items()})
    return Struct({10: (thrift.STRUCT, Struct({member: (thrift.STRUCT, own)}))})


def converted(number: int, scale: int | None = None) -> Struct:
    own = Struct({6: (thrift.I32, number)})
    if scale is not None:
        own[7] = (thrift.I32, scale)
    return own


def timed(member: int, unit: int) -> Struct:
    union = Struct({unit: (thrift.STRUCT, Struct())})
    return logical(member, f1=(thrift.TRUE, True), f2=(thrift.STRUCT, union))


def sized(element: Struct, size: int) -> Struct:
    return Struct({**element, 2: (thrift.I32, size)})


def integer(width: int, signed: bool) -> Struct:
    return logical(
        10, f1=(thrift.BYTE, width), f2=(thrift.TRUE if signed else thrift.FALSE, signed)
    )


def decimal(scale: int) -> Struct:
    return logical(5, f1=(thrift.I32, scale), f2=(thrift.I32, 9))


def leaf(
    physical: int,
    element: Struct,
    kind: pa.DataType,
    *,
    order: Order = Order.TYPE,
    definition: int = 1,
    repetition: int = 0,
) -> Leaf:
    return Leaf(
        0,
        ("x",),
        kind,
        Struct({**element, 1: (thrift.I32, physical)}),
        definition,
        repetition,
        order,
    )


def of(one: Leaf, said: dict[int, Any], rows: int = 10, values: int | None = None) -> Statistics:
    """What is made of a Statistics struct."""
    return chunk_statistics(saying(one, said, rows, values), 0)


def saying(
    one: Leaf, said: dict[int, Any], rows: int = 10, values: int | None = None
) -> ParquetMeta:
    """The metadata of a leaf of one chunk."""
    types = {bytes: thrift.BINARY, int: thrift.I64}
    fields = {
        k: (thrift.TRUE if v else thrift.FALSE, v)
        if isinstance(v, bool)
        else v
        if isinstance(v, tuple)
        else (types[type(v)], v)
        for k, v in said.items()
    }
    inner = Struct({5: (thrift.I64, rows if values is None else values)})
    inner[12] = (thrift.STRUCT, Struct(fields))
    chunk = Struct({2: (thrift.I64, 4), 3: (thrift.STRUCT, inner)})
    return meta(one, [chunk], np.array([rows]))


def bounds(one: Leaf, low: bytes, high: bytes) -> tuple[Any, Any]:
    found = of(one, {6: low, 5: high})
    return found.bounds(plain_type(one.kind))


I4, I8 = struct.Struct("<i").pack, struct.Struct("<q").pack
F2, F4, F8 = struct.Struct("<e").pack, struct.Struct("<f").pack, struct.Struct("<d").pack
NONE: tuple[None, None] = (None, None)
P = Physical
PLAIN = Struct()

MEANT: list[tuple[int, Struct, pa.DataType, bytes, bytes, tuple[Any, Any]]] = [
    (P.BOOLEAN, PLAIN, pa.bool_(), b"\0", b"\1", (0, 1)),
    (P.BOOLEAN, PLAIN, pa.bool_(), b"\0", b"\2", (0, None)),
    (P.BOOLEAN, PLAIN, pa.int8(), b"\0", b"\1", NONE),
    (P.INT32, PLAIN, pa.int32(), I4(-5), I4(7), (-5, 7)),
    (P.INT32, PLAIN, pa.int64(), I4(-5), I4(7), (-5, 7)),
    (P.INT32, PLAIN, pa.int32(), I4(-5)[:3], I4(7), (None, 7)),
    (P.INT32, PLAIN, pa.int32(), I8(-5), I8(7), NONE),
    (P.INT32, PLAIN, pa.int32(), I4(7), I4(-5), NONE),
    (P.INT64, PLAIN, pa.int64(), I8(-(2**63)), I8(2**63 - 1), (-(2**63), 2**63 - 1)),
    (P.INT64, PLAIN, pa.int32(), I8(-5), I8(7), (-5, 7)),
    (P.INT64, PLAIN, pa.int32(), I8(-5), I8(2**31), NONE),  # a decoder would wrap it
    (P.INT64, PLAIN, pa.int32(), I8(-5), b"", NONE),
    (P.INT32, integer(32, False), pa.uint32(), I4(5), I4(-1), (5, 2**32 - 1)),
    (P.INT32, integer(32, False), pa.uint32(), I4(-1), I4(5), NONE),
    (P.INT32, integer(8, False), pa.uint8(), I4(5), I4(255), (5, 255)),
    (P.INT32, integer(8, False), pa.uint8(), I4(5), I4(256), NONE),
    (P.INT32, integer(8, True), pa.int8(), I4(-128), I4(5), (-128, 5)),
    (P.INT32, integer(8, True), pa.int8(), I4(-129), I4(5), NONE),
    (P.INT64, integer(64, False), pa.uint64(), I8(0), I8(-1), (0, 2**64 - 1)),
    (P.INT64, integer(64, True), pa.int64(), I8(-1), I8(0), (-1, 0)),
    *((P.INT32, converted(n), pa.uint32(), I4(0), I4(-1), (0, 2**32 - 1)) for n in (11, 12, 13)),
    (P.INT64, converted(14), pa.uint64(), I8(0), I8(-1), (0, 2**64 - 1)),
    *((P.INT32, converted(n), pa.int32(), I4(-1), I4(1), (-1, 1)) for n in (15, 16, 17)),
    (P.INT64, converted(18), pa.int64(), I8(-1), I8(1), (-1, 1)),
    (P.INT32, logical(6), pa.date32(), I4(-5), I4(7), (-5, 7)),
    (P.INT32, converted(6), pa.date32(), I4(-5), I4(7), (-5, 7)),
    (P.INT32, logical(6), pa.date64(), I4(-5), I4(7), (-5 * 86_400_000, 7 * 86_400_000)),
    (P.INT64, logical(6), pa.date64(), I8(-5), I8(7), NONE),
    (P.INT32, logical(6), pa.int32(), I4(-5), I4(7), NONE),
    (P.INT32, timed(7, 1), pa.time32("ms"), I4(5), I4(7), (5, 7)),
    (P.INT32, converted(7), pa.time32("ms"), I4(5), I4(7), (5, 7)),
    (P.INT32, timed(7, 1), pa.time32("s"), I4(1999), I4(2001), (1, 3)),
    (P.INT64, timed(7, 2), pa.time64("us"), I8(5), I8(7), (5, 7)),
    (P.INT64, converted(8), pa.time64("us"), I8(5), I8(7), (5, 7)),
    (P.INT64, timed(7, 3), pa.time64("ns"), I8(5), I8(7), (5, 7)),
    (P.INT64, timed(7, 3), pa.timestamp("ns"), I8(5), I8(7), NONE),
    *((P.INT64, timed(8, n + 1), pa.timestamp(u), I8(-5), I8(7), (-5, 7)) for n, u in
      enumerate(("ms", "us", "ns"))),
    (P.INT64, converted(9), pa.timestamp("ms", "UTC"), I8(-5), I8(7), (-5, 7)),
    (P.INT64, converted(10), pa.timestamp("us", "Europe/Paris"), I8(-5), I8(7), (-5, 7)),
    (P.INT64, timed(8, 1), pa.timestamp("s"), I8(-1001), I8(1001), (-2, 2)),
    (P.INT64, timed(8, 1), pa.timestamp("ns"), I8(-5), I8(7), (-5 * 10**6, 7 * 10**6)),
    (P.INT64, timed(8, 1), pa.timestamp("ns"), I8(-5), I8(2**62), NONE),
    (P.INT64, timed(8, 1), pa.timestamp("ns"), I8(-5), b"", NONE),
    (P.INT64, timed(8, 4), pa.timestamp("ns"), I8(-5), I8(7), NONE),
    (P.INT64, timed(8, 1), pa.int64(), I8(-5), I8(7), NONE),
    (P.INT64, PLAIN, pa.duration("us"), I8(-5), I8(7), (-5, 7)),
    (P.INT32, PLAIN, pa.duration("us"), I4(-5), I4(7), NONE),
    (P.INT64, PLAIN, pa.timestamp("us"), I8(-5), I8(7), NONE),
    (P.INT32, decimal(2), pa.decimal128(9, 2), I4(-105), I4(7), (-105, 7)),
    (P.INT64, converted(5, 2), pa.decimal128(18, 2), I8(-105), I8(7), (-105, 7)),
    (P.INT32, decimal(2), pa.decimal128(9, 3), I4(-105), I4(7), NONE),
    (P.INT32, decimal(2), pa.decimal32(2, 2), I4(-105), I4(7), (None, 7)),
    (P.INT32, decimal(2), pa.int32(), I4(-105), I4(7), NONE),
    (P.FIXED_LEN_BYTE_ARRAY, sized(decimal(1), 2), pa.decimal128(4, 1), b"\xff\xfe", b"\0\5",
     (-2, 5)),
    (P.FIXED_LEN_BYTE_ARRAY, sized(decimal(1), 2), pa.decimal128(4, 1), b"\xfe", b"\0\0\5", NONE),
    (P.FIXED_LEN_BYTE_ARRAY, sized(decimal(1), 40), pa.decimal256(70, 1), b"\1" * 40, b"\2" * 40,
     NONE),
    (P.BYTE_ARRAY, decimal(0), pa.decimal256(76, 0), b"\xff", b"\1\0", (-1, 256)),
    (P.BYTE_ARRAY, decimal(0), pa.decimal256(76, 0), b"", b"\1" * 33, NONE),
    (P.FLOAT, PLAIN, pa.float32(), F4(-1.5), F4(2.5), (-1.5, 2.5)),
    (P.FLOAT, PLAIN, pa.float64(), F4(-1.5), F4(2.5), NONE),
    (P.FLOAT, PLAIN, pa.float32(), F4(NAN), F4(2.5), (None, 2.5)),
    (P.DOUBLE, PLAIN, pa.float64(), F8(-1.5), F8(NAN), (-1.5, None)),
    (P.DOUBLE, PLAIN, pa.float64(), F8(-math.inf), F8(math.inf), (-math.inf, math.inf)),
    (P.FIXED_LEN_BYTE_ARRAY, sized(logical(15), 2), pa.float16(), F2(-1.5), F2(2.5), (-1.5, 2.5)),
    (P.FIXED_LEN_BYTE_ARRAY, sized(logical(15), 4), pa.float16(), F4(-1.5), F4(2.5), NONE),
    *((P.BYTE_ARRAY, e, k, b"a\x7f", b"\xff", (b"a\x7f", b"\xff"))
      for e in (PLAIN, *map(logical, (1, 4, 12, 13)), *map(converted, (0, 4, 19, 20)))
      for k in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view(),
                pa.large_binary(), pa.dictionary(pa.int8(), pa.string()))),
    (P.BYTE_ARRAY, PLAIN, pa.binary(), b"", b"", (b"", b"")),
    (P.BYTE_ARRAY, PLAIN, pa.int64(), b"a", b"b", NONE),
    (P.FIXED_LEN_BYTE_ARRAY, sized(PLAIN, 2), pa.binary(2), b"a", b"\xff\0", (b"a", b"\xff\0")),
    (P.FIXED_LEN_BYTE_ARRAY, sized(PLAIN, 2), pa.binary(2), b"a", b"abc", (b"a", None)),
    (P.FIXED_LEN_BYTE_ARRAY, PLAIN, pa.binary(2), b"a", b"b", NONE),
    (P.FIXED_LEN_BYTE_ARRAY, sized(logical(14), 16), pa.uuid(), b"\0" * 16, b"\xff" * 16,
     (b"\0" * 16, b"\xff" * 16)),
    (P.FIXED_LEN_BYTE_ARRAY, sized(converted(21), 12), pa.binary(12), b"a" * 12, b"b" * 12, NONE),
    (P.FIXED_LEN_BYTE_ARRAY, sized(timed(8, 1), 12), pa.binary(12), b"a" * 12, b"b" * 12, NONE),
    (P.INT96, PLAIN, pa.timestamp("ns"), b"\0" * 12, b"\1" * 12, NONE),
    # A list, a map, an unknown type, a variant, geometry, geography, and what comes after them.
    *((P.BYTE_ARRAY, logical(n), pa.binary(), b"a", b"b", NONE)
      for n in (2, 3, 11, *range(16, 30))),
    *((P.BYTE_ARRAY, converted(n), pa.binary(), b"a", b"b", NONE) for n in (1, 2, 3, 22, -1)),
    (P.BYTE_ARRAY, Struct({10: (thrift.STRUCT, Struct())}), pa.binary(), b"a", b"b", NONE),
    (P.BYTE_ARRAY, Struct({10: (thrift.I32, 1)}), pa.binary(), b"a", b"b", NONE),
    (P.INT32, logical(11), pa.null(), I4(1), I4(2), NONE),
    (99, PLAIN, pa.int32(), I4(1), I4(2), NONE),
    (-1, PLAIN, pa.int32(), I4(1), I4(2), NONE),
]  # fmt: skip


@pytest.mark.parametrize(
    "case", MEANT, ids=lambda c: f"{c[0]}-{dict(c[1])}-{c[2]}-{c[3][:4]!r}-{c[4][:4]!r}"
)
def test_bounds_are_given_where_they_are_right_for_the_arrow_type(case):
    physical, element, kind, low, high, wanted = case
    named = Order.INT96_TIMESTAMP if physical == P.INT96 else Order.TYPE
    for order in (named, Order.TYPE):
        assert bounds(leaf(physical, element, kind, order=order), low, high) == wanted


def test_values_have_the_bytes_that_they_are_hashed_by():
    half = sized(logical(15), 2)
    two = sized(decimal(1), 2)
    told: list[tuple[int, Struct, pa.DataType, Any, bytes | None]] = [
        (P.INT32, PLAIN, pa.int32(), -5, I4(-5)),
        (P.INT32, integer(8, False), pa.uint8(), 255, I4(255)),
        (P.INT32, integer(32, False), pa.uint32(), 2**32 - 1, I4(-1)),
        (P.INT64, PLAIN, pa.int64(), -5, I8(-5)),
        (P.INT32, PLAIN, pa.int64(), 2**40, None),
        (P.INT32, logical(6), pa.date32(), 7, I4(7)),
        (P.INT32, logical(6), pa.date64(), 7 * 86_400_000, I4(7)),
        (P.INT32, logical(6), pa.date64(), 7, None),
        (P.INT64, timed(8, 1), pa.timestamp("us"), 5000, I8(5)),
        (P.INT64, timed(8, 1), pa.timestamp("us"), 5001, None),
        (P.INT64, timed(8, 1), pa.timestamp("s"), 5, None),  # a second is a thousand of them
        (P.INT64, PLAIN, pa.duration("s"), 5, I8(5)),
        (P.INT32, decimal(2), pa.decimal128(9, 2), -105, I4(-105)),
        (P.FIXED_LEN_BYTE_ARRAY, two, pa.decimal128(4, 1), -2, b"\xff\xfe"),
        (P.FIXED_LEN_BYTE_ARRAY, two, pa.decimal128(9, 1), 2**15, None),
        (P.BYTE_ARRAY, decimal(1), pa.decimal128(9, 1), 0, None),  # 00 or 0000 or more
        (P.FLOAT, PLAIN, pa.float32(), 0.5, F4(0.5)),
        (P.FLOAT, PLAIN, pa.float32(), -0.0, F4(-0.0)),
        (P.FLOAT, PLAIN, pa.float32(), 0.1, None),
        (P.FLOAT, PLAIN, pa.float32(), 1e300, None),
        (P.FLOAT, PLAIN, pa.float32(), math.inf, F4(math.inf)),
        (P.DOUBLE, PLAIN, pa.float64(), 0.1, F8(0.1)),
        (P.FIXED_LEN_BYTE_ARRAY, half, pa.float16(), 1.5, F2(1.5)),
        (P.FIXED_LEN_BYTE_ARRAY, half, pa.float16(), 1e9, None),
        (P.BYTE_ARRAY, logical(1), pa.string(), "é".encode(), "é".encode()),
        (P.FIXED_LEN_BYTE_ARRAY, sized(PLAIN, 2), pa.binary(2), b"ab", b"ab"),
        (P.FIXED_LEN_BYTE_ARRAY, sized(PLAIN, 2), pa.binary(2), b"a", None),
        (P.BOOLEAN, PLAIN, pa.bool_(), 1, None),
    ]
    for physical, element, kind, value, wanted in told:
        values = values_of(leaf(physical, element, kind))
        assert values is not None
        assert values.plain(value) == wanted, (physical, element, kind, value)
    assert values_of(leaf(P.INT96, PLAIN, pa.timestamp("ns"))) is None


# ---- which bounds an order allows ----------------------------------------------------------------

BOTH = {6: I4(1), 5: I4(9), 2: I4(2), 1: I4(8)}


def test_without_an_order_only_deprecated_bounds_of_signed_numbers_count():
    ordered = leaf(P.INT32, PLAIN, pa.int32())
    absent = leaf(P.INT32, PLAIN, pa.int32(), order=Order.ABSENT)
    assert (of(ordered, BOTH).min, of(ordered, BOTH).max) == (1, 9)
    assert (of(absent, BOTH).min, of(absent, BOTH).max) == (2, 8)
    assert of(absent, {6: I4(1), 5: I4(9)}).min is None
    deprecated = {2: I4(2), 1: I4(8)}
    assert of(ordered, deprecated).max == 8

    def told(physical: int, element: Struct, kind: pa.DataType, low: bytes, high: bytes) -> Any:
        return of(leaf(physical, element, kind, order=Order.ABSENT), {2: low, 1: high}).max

    assert told(P.INT32, logical(6), pa.date32(), I4(2), I4(8)) == 8
    assert told(P.INT64, timed(8, 1), pa.timestamp("ms"), I8(2), I8(8)) == 8
    assert told(P.INT32, decimal(1), pa.decimal128(9, 1), I4(2), I4(8)) == Decimal("0.8")
    assert told(P.FLOAT, PLAIN, pa.float32(), F4(2), F4(8)) == 8.0
    assert told(P.DOUBLE, PLAIN, pa.float64(), F8(2), F8(8)) == 8.0
    half = sized(logical(15), 2)
    assert told(P.FIXED_LEN_BYTE_ARRAY, half, pa.float16(), F2(2), F2(8)) is None
    assert told(P.INT32, integer(32, False), pa.uint32(), I4(2), I4(8)) is None
    assert told(P.INT64, converted(14), pa.uint64(), I8(2), I8(8)) is None
    assert told(P.BYTE_ARRAY, logical(1), pa.string(), b"a", b"b") is None
    assert told(P.BYTE_ARRAY, decimal(1), pa.decimal128(9, 1), b"\2", b"\3") is None
    assert told(P.FIXED_LEN_BYTE_ARRAY, sized(PLAIN, 1), pa.binary(1), b"\2", b"\3") is None
    assert told(P.BOOLEAN, PLAIN, pa.bool_(), b"\0", b"\1") is None


def test_an_order_that_is_not_the_types_own_orders_nothing():
    total = Order.IEEE_754_TOTAL
    assert bounds(leaf(P.DOUBLE, PLAIN, pa.float64(), order=total), F8(1), F8(2)) == (1.0, 2.0)
    half = leaf(P.FIXED_LEN_BYTE_ARRAY, sized(logical(15), 2), pa.float16(), order=total)
    assert bounds(half, F2(1), F2(2)) == (1.0, 2.0)
    for order in (total, Order.INT96_TIMESTAMP):
        assert bounds(leaf(P.INT32, PLAIN, pa.int32(), order=order), I4(1), I4(2)) == NONE
        assert bounds(leaf(P.BYTE_ARRAY, PLAIN, pa.binary(), order=order), b"a", b"b") == NONE
    stamps = leaf(P.DOUBLE, PLAIN, pa.float64(), order=Order.INT96_TIMESTAMP)
    assert bounds(stamps, F8(1), F8(2)) == NONE


def test_pages_are_bounded_only_in_an_order_that_is_known():
    index = ColumnIndex([False], [I4(1)], [I4(9)], 1, [0], None)
    for order, wanted in ((Order.TYPE, 1), (Order.ABSENT, None), (Order.IEEE_754_TOTAL, None)):
        one = leaf(P.INT32, PLAIN, pa.int32(), order=order)
        found = page_statistics(one, index, 0, 10)
        assert (found.min, found.null_count, found.rows) == (wanted, 0, 10)


def test_one_zero_may_hide_the_other():
    found = of(leaf(P.DOUBLE, PLAIN, pa.float64()), {6: F8(0.0), 5: F8(-0.0)})
    assert (repr(found.min), repr(found.max)) == ("-0.0", "0.0")


def test_cut_bounds_are_bounds_and_no_values():
    text = leaf(P.BYTE_ARRAY, logical(1), pa.string())
    found = of(text, {6: b"a", 5: b"\xc3", 7: False, 8: True})
    assert (found.min, found.max, found.min_exact, found.max_exact) == (b"a", b"\xc3", True, False)
    unsaid = of(text, {6: b"a", 5: b"b"})
    assert (unsaid.min_exact, unsaid.max_exact) == (False, False)
    number = of(leaf(P.INT32, PLAIN, pa.int32()), {6: I4(1), 5: I4(2), 7: False})
    assert (number.min_exact, number.max_exact) == (True, False)


# ---- lies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "definition", "values"),
    [
        ({3: -1}, 1, 10),
        ({3: 11}, 1, 10),
        ({3: 1}, 0, 10),
        ({3: 2**62}, 1, 10),
        ({3: 2, 9: 9}, 1, 10),
        ({9: -1}, 1, 10),
        ({3: (thrift.BINARY, b"\0")}, 1, 10),
        ({5: (thrift.I64, 3)}, 1, 10),
    ],
)
def test_statistics_that_contradict_themselves_count_as_unsaid(said, definition, values):
    number = leaf(P.INT32, PLAIN, pa.int32(), definition=definition)
    found = of(number, {6: I4(1), 5: I4(2), **said}, values=values)
    assert found == Statistics(rows=10, null_count=None if definition else 0)
    assert of(number, {6: I4(1), 5: I4(2)}).max == 2


def test_bounds_that_cross_bound_nothing():
    number = leaf(P.INT32, PLAIN, pa.int32())
    crossed = of(number, {6: I4(7), 5: I4(-5), 3: 2})
    assert crossed == Statistics(null_count=2, rows=10)
    index = ColumnIndex([False], [I4(7)], [I4(-5)], 1, [2], None)
    assert page_statistics(number, index, 0, 10) == crossed


def test_counts_of_a_repeated_leaf_are_of_its_values():
    item = leaf(P.INT32, PLAIN, pa.int32(), definition=3, repetition=1)
    assert of(item, {3: 15}, rows=10, values=20) == Statistics(null_count=15)
    assert of(item, {3: 21}, rows=10, values=20) == Statistics()


def test_a_page_that_is_said_to_hold_more_nulls_than_rows_is_not_believed():
    number = leaf(P.INT32, PLAIN, pa.int32())
    index = ColumnIndex([False], [I4(1)], [I4(9)], 1, [11], None)
    assert page_statistics(number, index, 0, 10) == Statistics(rows=10)
    floats = leaf(P.DOUBLE, PLAIN, pa.float64())
    index = ColumnIndex([False], [F8(1)], [F8(9)], 1, [3], [8])
    assert page_statistics(floats, index, 0, 10) == Statistics(rows=10)
    assert page_statistics(floats, index, 0, 11).nan_count == 8


def test_a_null_page_has_no_bounds():
    number = leaf(P.INT32, PLAIN, pa.int32())
    index = ColumnIndex([True], [I4(1)], [I4(9)], 1, [10], None)
    found = page_statistics(number, index, 0, 10)
    assert (found.min, found.max, found.null_count) == (None, None, 10)


FIELDS = st.dictionaries(
    st.integers(1, 10),
    st.one_of(
        st.integers(-(2**63), 2**63 - 1).map(lambda n: (thrift.I64, n)),
        st.binary(max_size=40).map(lambda b: (thrift.BINARY, b)),
        st.booleans().map(lambda b: (thrift.TRUE if b else thrift.FALSE, b)),
        st.just((thrift.STRUCT, Struct())),
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(MEANT), st.sampled_from(list(Order)), FIELDS, st.integers(0, 2))
def test_whatever_a_file_says_nothing_is_raised(case, order, fields, definition):
    physical, element, kind, *_ = case
    one = leaf(physical, element, kind, order=order, definition=definition)
    found = of(one, fields)
    low, high = found.bounds(plain_type(kind))
    whole = column_statistics(saying(one, fields))
    if found.null_count != 10:  # a chunk of nothing but nulls bounds no column
        assert whole.bounds(plain_type(kind)) == (low, high)
    assert found.null_count is None or 0 <= found.null_count <= 10


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_broken_bytes_count_as_unsaid(data):
    content = pa.table({"x": pa.array(["a", None, "b"])})
    (own,) = written(content).metas
    (chunk,) = own.chunks
    at = data.draw(st.integers(0, len(chunk) - 1))
    broken = bytearray(chunk)
    broken[at] ^= data.draw(st.integers(1, 255))
    cut = bytes(broken)[: data.draw(st.integers(0, len(chunk)))]
    for raw in (bytes(broken), cut):
        found = ParquetMeta(own.column, own.leaf, (raw,), own.facts, own.group_rows)
        assert chunk_statistics(found, 0).rows == 3


# ---- files of others -----------------------------------------------------------------------------


def files() -> Sequence[Any]:
    return sorted(DATA.glob("*.parquet")) if DATA.exists() else []


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_what_other_writers_say_is_true_of_their_values(path):
    try:
        described = Described(path.read_bytes())
        metas = described.metas
    except (pa.ArrowException, OSError) as error:
        pytest.skip(f"pyarrow does not read it: {error}")
    taken = Taken(described.data)
    asked = [one for one in metas if one.leaf.max_repetition == 0]
    for own in asked:
        true_of_a_leaf(described, own, taken)


def true_of_a_leaf(described: Described, own: ParquetMeta, taken: Taken) -> None:
    for group in range(len(own.group_rows)):
        try:
            values = described.arrow.read_row_group(group, columns=[".".join(own.leaf.path)])
        except (pa.ArrowException, OSError):
            return
        array = values.column(0)
        for name in own.leaf.path[1:]:
            array = pc.struct_field(array, name)
        true_of(chunk_statistics(own, group), array, own.leaf.kind)
        if taken.offset_index(own, group) is None or own.fact(group, Fact.COLUMN_INDEX) < 0:
            continue
        index = taken.column_index(own, group)
        sizes = taken.page_rows(own, group).tolist()
        for page, start in enumerate(np.cumsum([0, *sizes[:-1]]).tolist() if index else ()):
            said = page_statistics(own.leaf, index, page, sizes[page])
            true_of(said, array.slice(start, sizes[page]), own.leaf.kind)


def true_of(found: Statistics, values: pa.ChunkedArray, kind: pa.DataType) -> None:
    low, high = found.bounds(plain_type(kind))
    held = orders(flat(values)) if low is not None or high is not None else []
    assert low is None or all(low <= one for one in held)
    assert high is None or all(one <= high for one in held)
    assert found.null_count in (None, values.null_count)
    assert found.rows == len(values)
    if found.nan_count is not None and pa.types.is_floating(plain_type(kind)):
        assert found.nan_count == sum(v != v for v in values.drop_null().to_pylist())
