"""Bounds in a FlatBuffer's statistics: what comes back bounds what went in, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flat_builder import in_four_bytes, low_first, of_numbers, right_aligned
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.formats.parquet.flatbuffer.annotation import Logical
from rangeio.formats.parquet.flatbuffer.extremes import (
    LONGEST_PREFIX,
    SUFFIX,
    Kind,
    Packed,
    Value,
    packed,
    unpacked,
)
from rangeio.formats.parquet.leaf import Physical

TEXT = Kind(Physical.BYTE_ARRAY, None, Logical.STRING)
DECIMAL = Kind(Physical.BYTE_ARRAY, None, Logical.DECIMAL)
SIZES = {
    Physical.INT32: 4,
    Physical.INT64: 8,
    Physical.INT96: 12,
    Physical.FLOAT: 4,
    Physical.DOUBLE: 8,
}

edges = st.sampled_from([b"\0", b"\xff", b"a", b"\x7f", b"\x80"])
data = st.lists(st.one_of(edges, st.binary(max_size=3)), max_size=20).map(b"".join)


@st.composite
def pairs(draw):
    """A lower and an upper bound that often begin alike."""
    start = draw(data)
    low, high = sorted((start + draw(data), start + draw(data)))
    return low, high


def back(kind: Kind, least: Value, most: Value) -> tuple[Value | None, Value | None]:
    """Both bounds after packing and unpacking."""
    bounds = packed(kind, least, most)
    if bounds is None:
        return None, None
    low, high, prefix = bounds
    return unpacked(kind, low, prefix), unpacked(kind, high, prefix)


@settings(deadline=None)
@given(pairs(), st.booleans(), st.booleans())
def test_byte_arrays_come_back_as_bounds(pair, low_exact, high_exact):
    low, high = back(TEXT, Value(pair[0], low_exact), Value(pair[1], high_exact))
    if low is not None:
        assert low.data <= pair[0]
        assert not low.exact or (low_exact and low.data == pair[0])
    if high is not None:
        assert high.data >= pair[1]
        assert not high.exact or (high_exact and high.data == pair[1])


words = st.text(st.characters(min_codepoint=1, max_codepoint=500), max_size=60)


@settings(deadline=None)
@given(words, words, words)
def test_exact_bounds_of_texts_come_back_whole_or_cut(start, a, b):
    low, high = sorted(((start + a).encode(), (start + b).encode()))
    same = next((i for i, (x, y) in enumerate(zip(low, high, strict=False)) if x != y), len(low))
    found = back(TEXT, Value(low, True), Value(high, True))
    if same > LONGEST_PREFIX:
        assert found == (None, None)
        return
    for value, whole in zip(found, (low, high), strict=True):
        if len(whole) - same <= SUFFIX:
            assert value == Value(whole, True)
        else:
            assert (value.data[:-1], value.exact) == (whole[: same + SUFFIX - 1], False)


@settings(deadline=None)
@given(st.sampled_from(list(SIZES)), st.data(), st.booleans(), st.booleans())
def test_numbers_come_back_whole(physical, draws, low_exact, high_exact):
    size = SIZES[physical]
    pair = [draws.draw(st.binary(min_size=size, max_size=size)) for _ in range(2)]
    values = Value(pair[0], low_exact), Value(pair[1], high_exact)
    assert back(Kind(physical, None, 0), *values) == values


@settings(deadline=None)
@given(st.sampled_from(list(Physical)), data, data)
def test_numbers_of_another_size_and_booleans_have_no_bounds(physical, low, high):
    size = SIZES.get(physical, 0)
    kind = Kind(physical, None, 0)
    if kind.bytewise or len(low) == len(high) == size:
        return
    assert packed(kind, Value(low, True), Value(high, True)) is None


WRITERS = [in_four_bytes, right_aligned, low_first]


def read(kind: Kind, slots: dict) -> tuple[Value | None, Value | None]:
    """Bounds out of slots that another writer filled."""

    def number(slot: int) -> int:
        return slots.get(slot, (0,))[0]

    found = []
    for slot in (2, 6):
        bound = Packed(*(number(slot + i) for i in range(4)))
        found.append(unpacked(kind, bound, slots.get(10, b"")) if slot + 3 in slots else None)
    return found[0], found[1]


@pytest.mark.parametrize("writer", WRITERS)
@settings(deadline=None)
@given(pair=pairs(), exact=st.tuples(st.booleans(), st.booleans()))
def test_byte_arrays_of_other_writers_are_bounds_or_nothing(writer, pair, exact):
    kind = TEXT
    low, high = read(kind, writer(kind.physical, *pair, *exact))
    assert low is None or low.data <= pair[0]
    assert high is None or high.data >= pair[1]
    # A length of zero is all that tells that an empty rest is no value, and cannot.
    assert low is None or not low.exact or exact[0] or low.data == pair[0]


def test_what_lies_in_two_ways_is_not_believed():
    assert unpacked(TEXT, Packed(0, 5, 9, 16), b"") is None
    assert unpacked(TEXT, Packed(0, 5, 9, -16), b"") is None
    small = bytes(8) + b"{"  # a small number of 9 bytes, which may be a large one the other way
    assert back(DECIMAL, Value(b"\xff" + bytes(8), True), Value(small, True))[1] is None
    assert back(DECIMAL, Value(bytes(9), True), Value(small, True))[1] == Value(small, True)
    assert unpacked(TEXT, Packed(0, 0, 0, 3), b"x") == Value(b"x\0\0\0", True)


def test_a_wrapped_upper_bound_is_not_believed():
    slots = in_four_bytes(6, b"", b"\xff" * 5, True, True)
    assert slots[6] == (0, "I")
    assert read(TEXT, slots)[1] is None


def test_numbers_in_byte_arrays_are_never_cut():
    low, high = b"\x80" + b"\0" * 30, b"\x7f" * 31
    assert packed(DECIMAL, Value(low, True), Value(high, True)) is None
    assert packed(TEXT, Value(low, True), Value(high, True)) is not None
    cut = Packed(0, 0x6162636465666700, 0x6162636465666768, -15)
    assert unpacked(DECIMAL, cut, b"") is None
    assert unpacked(TEXT, cut, b"") == Value(b"abcdefghabcdefg", False)
    assert unpacked(DECIMAL, replace(cut, length=15), b"") == Value(b"abcdefghabcdefg", True)
    fixed = Kind(Physical.FIXED_LEN_BYTE_ARRAY, 5, Logical.DECIMAL)
    assert unpacked(fixed, Packed(0, 0, 1 << 56, -4), b"x") == Value(b"x\1\0\0\0", False)
    assert unpacked(fixed, Packed(0, 0, 1 << 56, -3), b"x") is None


@pytest.mark.parametrize("logical", [0, Logical.UUID, Logical.DECIMAL])
def test_values_of_fixed_size_are_never_cut(logical):
    kind = Kind(Physical.FIXED_LEN_BYTE_ARRAY, 16, logical)
    apart = Value(b"abcdefghijklmnop", True), Value(b"bbcdefghijklmnop", True)
    alike = Value(b"abcdefghijklmnop", False), Value(b"abcdefghijklmnoq", False)
    assert back(kind, *apart) == (None, None)
    assert back(kind, *alike) == alike
    bounds = packed(TEXT, *apart)
    assert bounds is not None
    assert [unpacked(TEXT, bound, b"").data for bound in bounds[:2]] == [
        b"abcdefghijklmno",
        b"bbcdefghijklmnp",
    ]
    assert [unpacked(kind, bound, b"") for bound in bounds[:2]] == [None, None]


def test_what_may_be_an_interval_has_no_bounds():
    interval = Kind(Physical.FIXED_LEN_BYTE_ARRAY, 12, 0)
    value = Value(b"x" * 12, True)
    assert packed(interval, value, value) is None
    assert unpacked(interval, Packed(0, 0, 1 << 56, 12), b"") is None
    eleven = Value(b"x" * 11, True)
    kind = Kind(Physical.FIXED_LEN_BYTE_ARRAY, 11, 0)
    assert back(kind, eleven, eleven) == (eleven, eleven)
    decimal = Kind(Physical.FIXED_LEN_BYTE_ARRAY, 12, Logical.DECIMAL)
    assert back(decimal, value, value) == (value, value)


def test_an_inexact_bound_that_is_all_prefix_keeps_a_byte():
    same = Value(b"same", False)
    assert back(TEXT, same, same) == (same, same)
    assert back(TEXT, Value(b"same", True), same) == (Value(b"same", True), same)
    assert back(TEXT, Value(b"", False), Value(b"a", True)) == (None, None)


def test_lengths_that_do_not_fit_are_not_believed():
    for length in (0, 3, 5, -8, 127, -128):
        assert unpacked(Kind(Physical.INT32, None, 0), Packed(1, 0, 0, length), b"") is None
    for length in (17, -17, 127, -128):
        assert unpacked(TEXT, Packed(0, 1, 1, length), b"") is None
    assert unpacked(Kind(Physical.BOOLEAN, None, 0), Packed(1, 0, 0, 1), b"") is None


@settings(deadline=None)
@given(st.sampled_from([*Physical]), st.binary(min_size=12, max_size=12))
def test_numbers_are_where_every_writer_has_them(physical, raw):
    size = SIZES.get(physical)
    if size is None:
        return
    value = Value(raw[:size], True)
    kind = Kind(physical, None, 0)
    assert read(kind, of_numbers(physical, value.data, value.data, True, True)) == (value, value)
