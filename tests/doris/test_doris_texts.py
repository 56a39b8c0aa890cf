from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from doris_cases import CASES, NAMES, Case
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.formats.doris.texts import Bounds, bounds, is_mapped, parsed, text
from rangeio.formats.doris.types import arrow_type, field_of
from rangeio.formats.doris.values import from_arrow
from rangeio.formats.doris.words import FieldType as F
from rangeio.literal import order_of
from rangeio.statistics import Statistics

D = Decimal
KNOWN = [
    (case, name)
    for case, name in zip(CASES, NAMES, strict=True)
    if is_mapped(field_of(case[0], case[1]).field)
]
EXACT = [
    (case, name) for case, name in KNOWN if not pa.types.is_floating(case[0])
]  # floats are only near


def stored(value: object, kind: pa.DataType, word: str) -> bytes:
    values, _ = from_arrow(pa.array([value], kind), field_of(kind, word))
    return values.data.tobytes()


@pytest.mark.parametrize("case", [c for c, _ in EXACT], ids=[n for _, n in EXACT])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_texts_mean_the_value(case: Case, data: st.DataObject) -> None:
    kind, word, values = case
    one = data.draw(values)
    declared = field_of(kind, word)
    raw = stored(one, kind, word)
    said = text(declared.field, declared.frac, raw)
    found = parsed(declared.field, declared.precision, declared.frac, said)
    read = arrow_type(declared.field, declared.precision, declared.frac)
    assert found is not None
    assert order_of(found, read) == order_of(pa.array([one], kind)[0].as_py(), read)
    assert bounds(declared.field, declared.precision, declared.frac, said, said) == Bounds(
        found, found
    )


@pytest.mark.parametrize("case", [c for c, _ in KNOWN], ids=[n for _, n in KNOWN])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_bounds_hold_all_values(case: Case, data: st.DataObject) -> None:
    kind, word, values = case
    declared = field_of(kind, word)
    p, f = declared.precision, declared.frac
    read = arrow_type(declared.field, p, f)
    rows = data.draw(st.lists(values, min_size=1, max_size=5))
    orders = [order_of(pa.array([one], kind)[0].as_py(), read) for one in rows]
    ranked = sorted(zip(orders, rows, strict=True), key=lambda pair: pair[0])
    low, high = (text(declared.field, f, stored(ranked[at][1], kind, word))[:512] for at in (0, -1))
    found = bounds(declared.field, p, f, low, high)
    least, most = Statistics(found.min, found.max).bounds(read)
    assert least is not None
    assert most is not None
    assert all(least <= one <= most for one in orders)


@pytest.mark.parametrize(
    ("field", "said", "value"),
    [
        (F.TINYINT, b"-128", -128),
        (F.UBIGINT, b"18446744073709551615", 2**64 - 1),
        (F.LARGEINT, b"-170141183460469231731687303715884105728", D(-(2**127))),
        (F.BOOL, b"1", True),
        (F.BOOL, b"0", False),
        (F.DATEV2, b"1970-01-02", 1),
        (F.DATE, b"1970-01-02", 1),
        (F.DATE, b"0000-00-00", -719_528),
        (F.DATEV2, b"1970-01-02 00:00:00", 1),
        (F.DATETIME, b"1970-01-01 00:01:00", 60),
        (F.DATETIME, b"1-1-1 00:00:00", -62135596800),
        (F.DATETIMEV2, b"1970-01-01 00:00:01.000002", 1_000_002),
        (F.DATETIMEV2, b"1970-01-01 00:00:01.5", 1_500_000),
        (F.DATETIMEV2, b"1970-01-02", 86_400_000_000),
        (F.TIMESTAMPTZ, b"1970-01-01 00:00:01.000000+00:00", 1_000_000),
        (F.TIMESTAMPTZ, b"1970-01-01 01:00:00.000000+01:00", 0),
        (F.TIMESTAMPTZ, b"1970-01-01 00:00:00.000000", 0),
        (F.DECIMAL, b"-0.500000000", D("-0.500000000")),
        (F.DECIMAL, b"12.5", D("12.500000000")),
        (F.DECIMAL32, b"12345", D("123.45")),
        (F.DECIMAL256, b"-1", D("-0.01")),
        (F.IPV4, b"1.2.3.4", 0x01020304),
        (F.IPV6, b"::ffff:1.2.3.4", bytes(10) + b"\xff\xff\1\2\3\4"),
        (F.IPV6, b"2001:db8::1", bytes.fromhex("20010db8") + bytes(11) + b"\1"),
        (F.VARCHAR, b"\xffx", b"\xffx"),
        (F.CHAR, b"ab\0\0", b"ab"),
    ],
)
def test_known_texts(field: F, said: bytes, value: object) -> None:
    found = parsed(field, 9, 2, said)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        *((field, word) for field in (F.INT, F.DECIMAL64, F.LARGEINT, F.DATEV2, F.DATETIMEV2)
          for word in (b"", b" ", b"1_0", b"x", b"\xff", b"1.5", b"9" * 600, b"\xd9\xa1")),
        (F.TINYINT, b"128"),
        (F.UINT, b"-1"),
        (F.BOOL, b"2"),
        (F.BOOL, b"true"),
        (F.DECIMAL32, b"1000000000"),
        (F.LARGEINT, b"170141183460469231731687303715884105728"),
        (F.DECIMAL, b"1.1234567890"),
        (F.DATEV2, b"2023-02-29"),
        (F.DATEV2, b"2023-13-01"),
        (F.DATEV2, b"10000-01-01"),
        (F.DATEV2, b"2023-01-01 00:00:01"),
        (F.DATETIME, b"2023-01-01 00:00:00.5"),
        (F.DATETIMEV2, b"2023-01-01 24:00:00"),
        (F.DATETIMEV2, b"2023-01-01 00:00:00+01:00"),
        (F.IPV4, b"1.2.3"),
        (F.IPV6, b"::1%eth0"),
        (F.FLOAT, b"nan"),
        (F.DOUBLE, b"0x10"),
        (F.DOUBLE, b"1_0"),
        (F.JSONB, b"1"),
        (F.BITMAP, b"1"),
        (F.ARRAY, b"1"),
        (777, b"1"),
    ],
)  # fmt: skip
def test_texts_that_say_nothing(field: int, said: bytes) -> None:
    assert parsed(field, 9, 2, said) is None
    assert bounds(field, 9, 2, said, said) == Bounds(None, None, *([field not in FLOATS] * 2))


FLOATS = (F.FLOAT, F.DOUBLE)


@settings(deadline=None)
@given(st.sampled_from(list(F)), st.binary(max_size=40) | st.text("0123456789.-:+ e", max_size=40))
def test_any_bytes_are_a_text(field: F, said: bytes | str) -> None:
    raw = said.encode() if isinstance(said, str) else said
    parsed(field, 9, 2, raw)
    bounds(field, 9, 2, raw, raw)


@pytest.mark.parametrize("digits", ["{:.6f}", "{:.8g}", "{:.9g}", "{!r}"])
@settings(deadline=None)
@given(value=st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_rounded_floats_stay_within_their_bounds(digits: str, value: float) -> None:
    said = digits.format(value).encode()
    found = bounds(F.FLOAT, 0, 0, said, said)
    assert found.min <= value <= found.max
    assert not found.min_exact
    assert not found.max_exact


def test_float_texts() -> None:
    for number, said in ((0.1, b"0.1"), (1e20, b"1e+20"), (-0.0, b"-0.0")):
        assert text(F.FLOAT, 0, np.float32(number).tobytes()) == said
        assert text(F.DOUBLE, 0, np.float64(number).tobytes()) == said
    assert parsed(F.FLOAT, 0, 0, b"0.1") == float(np.float32(0.1))
    assert parsed(F.DOUBLE, 0, 0, b"-inf") == -math.inf
    zero = bounds(F.DOUBLE, 0, 0, b"0", b"0")
    assert zero.min < 0 < zero.max


def test_time_texts() -> None:
    time = dt.datetime(1, 2, 3, 4, 5, 6, 7)
    raw = stored(time, pa.timestamp("us"), "")
    assert text(F.DATETIMEV2, 6, raw) == b"0001-02-03 04:05:06.000007"
    assert text(F.TIMESTAMPTZ, 6, raw) == b"0001-02-03 04:05:06.000007+00:00"
    assert text(F.DATE, 0, stored(time.date(), pa.date32(), "DATE")) == b"0001-02-03"


def test_cut_strings_are_no_values() -> None:
    low, high = b"a" * 512, b"a" * 511 + b"b"
    assert bounds(F.STRING, 0, 0, low, high) == Bounds(low, high, False, False)
    assert bounds(F.STRING, 0, 0, b"a", b"b") == Bounds(b"a", b"b")
    # A last byte of 255 that was counted up is 0.
    wrapped = b"a" * 511 + b"\0"
    assert bounds(F.STRING, 0, 0, b"a", wrapped) == Bounds(b"a", None, True, False)
    assert bounds(F.STRING, 0, 0, b"b", b"a") == Bounds()


def test_reversed_bounds_say_nothing() -> None:
    assert bounds(F.INT, 0, 0, b"2", b"1") == Bounds()
    assert bounds(F.DOUBLE, 0, 0, b"1.7e308", b"-1.7e308") == Bounds()
