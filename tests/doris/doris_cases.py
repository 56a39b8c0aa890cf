"""Arrow types that Doris can hold, with the type of Doris, and values of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

Case = tuple[pa.DataType, str, st.SearchStrategy[object]]


def integers(kind: pa.DataType, word: str = "") -> Case:
    low = 0 if pa.types.is_unsigned_integer(kind) else -(1 << kind.bit_width - 1)
    return kind, word, st.integers(low, low + (1 << kind.bit_width) - 1)


def decimal(unscaled: int, scale: int) -> Decimal:
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


def decimals(kind: pa.DataType, word: str = "", most: int | None = None) -> Case:
    most = 10**kind.precision - 1 if most is None else most
    return kind, word, st.integers(-most, most).map(lambda one: decimal(one, kind.scale))


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
CASES: list[Case] = [
    *(integers(kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *(integers(kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())),
    integers(pa.uint32(), "IPV4"),
    (pa.bool_(), "", st.booleans()),
    (pa.float32(), "", st.floats(width=32, allow_nan=False)),
    (pa.float64(), "", st.floats(allow_nan=False)),
    (pa.float64(), "TIMEV2", st.floats(allow_nan=False)),
    (pa.string(), "", st.text(max_size=30)),
    (pa.large_string(), "VARCHAR", st.text(max_size=30)),
    (pa.string_view(), "", st.text(max_size=30)),
    (pa.string(), "CHAR(120)", TEXT),
    (pa.binary(), "", st.binary(max_size=30)),
    (pa.large_binary(), "JSONB", st.binary(max_size=30)),
    (pa.binary_view(), "HLL", st.binary(max_size=30)),
    (pa.binary(16), "IPV6", st.binary(min_size=16, max_size=16)),
    (pa.date32(), "", st.dates()),
    (pa.date32(), "DATE", st.dates()),
    (pa.timestamp("us"), "", st.datetimes()),
    (pa.timestamp("us", "UTC"), "", st.datetimes(timezones=st.just(dt.UTC))),
    (pa.timestamp("s"), "DATETIME", st.datetimes().map(lambda one: one.replace(microsecond=0))),
    decimals(pa.decimal128(9, 3)),
    decimals(pa.decimal128(18, 18)),
    decimals(pa.decimal128(38, 6)),
    decimals(pa.decimal256(76, 10)),
    decimals(pa.decimal128(27, 9), "DECIMAL"),
    decimals(pa.decimal256(39, 0), "LARGEINT", 2**127 - 1),
    decimals(pa.decimal128(38, 0), "LARGEINT"),
]
NAMES = [f"{kind}-{word or 'default'}" for kind, word, _ in CASES]
