from __future__ import annotations

import contextlib
import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from doris_cases import CASES, NAMES, Case
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.errors import Corrupt, FormatError, RequestError, Unsupported
from rangeio.formats.doris import dates, strings
from rangeio.formats.doris.encodings.values import Binary, Fixed
from rangeio.formats.doris.types import Declared, arrow_type, field_of, size_of
from rangeio.formats.doris.values import from_arrow, to_arrow
from rangeio.formats.doris.words import FieldType as F

D = Decimal


def arrow(values: list[object], kind: pa.DataType) -> pa.Array:
    return pa.array(values, kind)


def back(array: pa.Array, declared: Declared) -> pa.Array:
    values, nulls = from_arrow(array, declared)
    absent = array.to_pylist().count(None)  # encoded arrays count their nulls in other ways
    assert len(values) == len(array) - absent
    assert (nulls is None) == (absent == 0)
    found = to_arrow(declared.field, declared.precision, declared.frac, values, nulls)
    assert found.type == arrow_type(declared.field, declared.precision, declared.frac)
    found.validate(full=True)
    return found


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_round_trips(case: Case, data: st.DataObject) -> None:
    kind, word, values = case
    rows = data.draw(st.lists(st.none() | values, max_size=40))
    array = arrow(rows, kind)
    start = data.draw(st.integers(0, len(rows)))
    stop = data.draw(st.integers(start, len(rows)))
    declared = field_of(kind, word)
    for one, expected in ((array, rows), (array[start:stop], rows[start:stop])):
        found = back(one, declared)
        assert found.to_pylist() == pa.array(expected, kind).to_pylist()


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_no_rows_and_no_values(case: Case) -> None:
    kind, word, _ = case
    declared = field_of(kind, word)
    assert len(back(arrow([], kind), declared)) == 0
    assert back(arrow([None] * 9, kind), declared).null_count == 9
    values, nulls = from_arrow(arrow([None], kind), declared)
    assert len(values) == 0
    assert nulls is not None
    assert nulls.tolist() == [True]


def test_float_bits_survive() -> None:
    array = pa.array([-0.0, float("nan"), float("inf"), None, 5e-324])
    found = back(array, field_of(array.type)).drop_null().to_numpy()
    assert found.tobytes() == array.drop_null().to_numpy().tobytes()


def test_encoded_arrays_are_their_values() -> None:
    words = pa.array(["a", None, "b", "a"])
    assert back(words.dictionary_encode(), field_of(pa.string())).equals(words)
    runs = pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([7, None]))
    assert back(runs, field_of(runs.type)).to_pylist() == [7, 7, None]
    uuid = pa.array([b"a" * 16, None], pa.uuid())
    assert back(uuid, field_of(uuid.type)).to_pylist() == [b"a" * 16, None]
    half = pa.array([np.float16(1.5), None, np.float16(-2)], pa.float16())
    assert back(half, field_of(half.type)).to_pylist() == [1.5, None, -2.0]
    few = pa.array([D("1.5"), None], pa.decimal128(5, 1))
    assert back(few.dictionary_encode(), field_of(few.type)).equals(few)


@pytest.mark.skipif(not hasattr(pa, "decimal32"), reason="Arrow before 18 has no such type")
def test_narrow_decimals() -> None:
    few = pa.array([D("1.5"), None, D("-99.5")], pa.decimal128(5, 1))
    for kind in (pa.decimal32(5, 1), pa.decimal64(5, 1)):
        narrow = few.cast(kind)
        assert back(narrow, field_of(kind)).equals(few)
        assert back(narrow[1:], field_of(kind)).equals(few[1:])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_other_units(unit: str) -> None:
    array = pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), None], pa.timestamp(unit))
    assert back(array, field_of(array.type)).equals(array.cast(pa.timestamp("us")))


def test_what_would_be_lost_is_refused() -> None:
    for array, word in (
        (pa.array([1], pa.timestamp("ns")), ""),
        (pa.array([1], pa.timestamp("us")), "DATETIME"),
        (pa.array([1], pa.date64()), ""),
        (pa.array([D(2**127)], pa.decimal256(39, 0)), "LARGEINT"),
        (pa.array([D(-(2**127) - 1)], pa.decimal256(39, 0)), "LARGEINT"),
        (pa.array([253402300800], pa.timestamp("s")), ""),
        (pa.array([-62167219201], pa.timestamp("s")), "DATETIME"),
        (pa.array([2932897], pa.date32()), "DATE"),
        (pa.array(["abc"]), "CHAR(2)"),
        (pa.array(["a\0"]), "CHAR(2)"),
    ):
        with pytest.raises(RequestError):
            from_arrow(array, field_of(array.type, word))


# ---- what is stored ------------------------------------------------------------------------------


def raw(array: pa.Array, word: str = "") -> bytes:
    values, _ = from_arrow(array, field_of(array.type, word))
    return values.data.tobytes()


def test_stored_bytes() -> None:
    day, time = dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, 12, 34, 56, 789)
    packed = 2024 << 9 | 1 << 5 | 31
    assert raw(pa.array([day])) == packed.to_bytes(4, "little")
    assert raw(pa.array([day]), "DATE") == packed.to_bytes(3, "little")
    bits = packed << 37 | 12 << 32 | 34 << 26 | 56 << 20 | 789
    assert raw(pa.array([time], pa.timestamp("us"))) == bits.to_bytes(8, "little")
    seconds = pa.array([time.replace(microsecond=0)], pa.timestamp("s"))
    assert raw(seconds, "DATETIME") == (20240131123456).to_bytes(8, "little")
    v2 = raw(pa.array([D("-3.5")], pa.decimal128(9, 2)), "DECIMAL")
    assert v2 == (-3).to_bytes(8, "little", signed=True) + (-500_000_000).to_bytes(
        4, "little", signed=True
    )
    assert raw(pa.array([D("-3.5")], pa.decimal128(9, 2))) == (-350).to_bytes(
        4, "little", signed=True
    )
    assert raw(pa.array([bytes(range(16))], pa.binary(16)), "IPV6") == bytes(range(16))[::-1]
    assert raw(pa.array(["ab", "abcd"]), "CHAR(4)") == b"ab\0\0abcd"


def test_every_day_there_is() -> None:
    every = np.arange(-719_528, 2_932_897)
    for field in (F.DATE, F.DATEV2):
        assert (dates.counts(field, dates.stored(field, every)) == every).all()


def stored(field: F, *numbers: int) -> Fixed:
    size = size_of(field)
    data = b"".join(one.to_bytes(size, "little", signed=one < 0) for one in numbers)
    return Fixed(np.frombuffer(data, np.uint8).reshape(-1, size))


@pytest.mark.parametrize("field", [F.DATE, F.DATEV2])
def test_zero_dates_are_the_first_day_that_they_name(field: F) -> None:
    values = stored(field, 0, 2024 << 9, 2024 << 9 | 3 << 5, 2024 << 9 | 7)
    found = to_arrow(field, 0, 0, values, None)
    days = found.cast(pa.int32()).to_pylist()
    assert days == [-719_528, *((dt.date(2024, m, d) - dt.date(1970, 1, 1)).days
                                for m, d in ((1, 1), (3, 1), (1, 7)))]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "number"),
    [
        (F.DATEV2, 2023 << 9 | 2 << 5 | 29),
        (F.DATEV2, 2023 << 9 | 13 << 5 | 1),
        (F.DATEV2, 10_000 << 9 | 1 << 5 | 1),
        (F.DATEV2, 0xFFFFFFFF),
        (F.DATE, 0xFFFFFF),
        (F.DATETIME, 20240131246060),
        (F.DATETIME, -1),
        (F.DATETIME, 2**63 - 1),
        (F.DATETIMEV2, 2**64 - 1),
        (F.DATETIMEV2, (2024 << 9 | 1 << 5 | 1) << 37 | 1_000_000),
        (F.TIMESTAMPTZ, (2024 << 9 | 1 << 5 | 1) << 37 | 24 << 32),
        (F.DECIMAL, 10**18),
        (F.DECIMAL, 10**9 << 64),
        (F.DECIMAL32, 10**5),
        (F.DECIMAL64, -(10**5)),
        (F.DECIMAL128I, 2**127 - 1),
        (F.DECIMAL256, 10**5),
    ],
)
def test_impossible_values_are_corrupt(field: F, number: int) -> None:
    good = stored(field, 33 if field != F.DATETIME else 101000000)
    values = Fixed(np.concatenate([good.data, stored(field, number).data]))
    with pytest.raises(Corrupt, match="1"):
        to_arrow(field, 5, 0, values, None)


# ---- hostile -------------------------------------------------------------------------------------


def binary(*values: bytes) -> Binary:
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64)
    return Binary(offsets, np.frombuffer(b"".join(values), np.uint8))


def test_counts_that_differ_are_corrupt() -> None:
    for nulls in (np.array([True, False]), np.array([False] * 3)):
        with pytest.raises(Corrupt, match="rows"):
            to_arrow(F.INT, 0, 0, stored(F.INT, 1, 2), nulls)
        with pytest.raises(Corrupt, match="rows"):
            to_arrow(F.STRING, 0, 0, binary(b"a", b"b"), nulls)


def test_values_of_another_size_are_corrupt() -> None:
    with pytest.raises(Corrupt, match="BIGINT"):
        to_arrow(F.BIGINT, 0, 0, stored(F.INT, 1), None)
    with pytest.raises(Corrupt, match="INT"):
        to_arrow(F.INT, 0, 0, binary(b"a"), None)
    with pytest.raises(Corrupt, match="STRING"):
        to_arrow(F.STRING, 0, 0, stored(F.INT, 1), None)


@pytest.mark.parametrize("field", [F.CHAR, F.VARCHAR, F.STRING])
@pytest.mark.parametrize("word", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"a\x80"])
def test_text_that_is_not_utf8_is_corrupt(field: F, word: bytes) -> None:
    with pytest.raises(Corrupt, match="UTF-8"):
        to_arrow(field, 0, 0, binary(b"ok", word), None)
    # Two values that are only text together are no text.
    with pytest.raises(Corrupt):
        to_arrow(field, 0, 0, binary("é".encode()[:1], "é".encode()[1:]), None)
    assert to_arrow(F.JSONB, 0, 0, binary(word), None).to_pylist() == [word]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([f for f in F if f not in (F.ARRAY, F.MAP, F.STRUCT)]), st.binary())
def test_bytes_of_any_kind_raise_only_format_errors(field: F, data: bytes) -> None:
    size = size_of(field)
    values: Fixed | Binary = binary(data)
    if size:
        whole = len(data) // size * size
        values = Fixed(np.frombuffer(data, np.uint8, whole).reshape(-1, size))
    with contextlib.suppress(FormatError):
        to_arrow(field, 5, 2, values, None).validate(full=True)


def test_more_text_than_an_array_holds() -> None:
    # The pages of the mapping are never touched.
    data = np.zeros(2**31, np.uint8)
    values = Binary(np.array([0, 2**31]), data)
    with pytest.raises(Unsupported, match="2147483648"):
        to_arrow(F.JSONB, 0, 0, values, None)


# ---- char ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.binary(max_size=12) | st.sampled_from([b"", b"\0", b"a\0b\0"])), st.booleans())
def test_char_ends_at_its_first_nul(words: list[bytes], shifted: bool) -> None:
    values = binary(b"\0x", *words, b"y\0") if shifted else binary(*words)
    if shifted:
        values = Binary(values.offsets[1:-1], values.data)
    found = strings.unpadded(values)
    cut = [
        found.data[a:b].tobytes()
        for a, b in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
    ]
    assert cut == [word.split(b"\0")[0] for word in words]


# ---- memory --------------------------------------------------------------------------------------


def test_buffers_are_shared_where_they_can_be() -> None:
    values = stored(F.BIGINT, 1, 2, 3)
    address = values.data.ctypes.data
    found = to_arrow(F.BIGINT, 0, 0, values, None)
    if address % 8 == 0:
        assert found.buffers()[1].address == address
    text = binary(b"abc", b"d")
    array = to_arrow(F.STRING, 0, 0, text, np.array([False, True, False]))
    assert array.to_pylist() == ["abc", None, "d"]
    assert array.buffers()[2].address == text.data.ctypes.data
    numbers = pa.array([1, 2, 3])
    shared, _ = from_arrow(numbers[1:], field_of(numbers.type))
    assert shared.data.ctypes.data == numbers.buffers()[1].address + 8


def test_odd_places_are_copied() -> None:
    body = np.frombuffer(b"....." + (7).to_bytes(8, "little") * 4, np.uint8)
    found = to_arrow(F.BIGINT, 0, 0, Fixed(body[5:].reshape(4, 8)), None)
    assert found.to_pylist() == [7] * 4
    assert found.buffers()[1].address % 8 == 0
