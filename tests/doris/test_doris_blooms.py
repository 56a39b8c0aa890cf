from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from doris_cases import CASES, NAMES, Case
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import murmur3
from rangeio.formats.doris import blooms
from rangeio.formats.doris.encodings.values import Binary, Fixed
from rangeio.formats.doris.forms import forms
from rangeio.formats.doris.types import arrow_type, field_of
from rangeio.formats.doris.values import from_arrow, to_arrow
from rangeio.formats.doris.words import FieldType as F
from rangeio.literal import order_of

FOX = b"The quick brown fox jumps over the lazy dog"
# Of a program in C that follows the algorithm's description.
HASHES = [
    (b"", 0, 0x0000000000000000),
    (b"", 1575457558, 0x7F7EA148F89009CF),
    (b"a", 0, 0x1D3547705C43C07E),
    (b"a", 1575457558, 0x449C30B043FBC152),
    (b"abc", 0, 0x37CF0EB5F11C0EE3),
    (b"abc", 1575457558, 0x0F9ED7FCC216F18B),
    (b"abcdefg", 0, 0xA4B0B3728D2297A0),
    (b"abcdefg", 1575457558, 0x8E751FB62D250398),
    (b"abcdefgh", 0, 0x43780ACE7058CC1B),
    (b"abcdefgh", 1575457558, 0x660215CCF9979D3B),
    (b"abcdefghi", 0, 0xCE6764A1DB9602C8),
    (b"abcdefghi", 1575457558, 0x6A604260EC9D147F),
    (b"Apache Doris", 0, 0x11C8EA74C6EB8062),
    (b"Apache Doris", 1575457558, 0xEF9FB8308B94CA1A),
    (FOX, 0, 0xCF34F44701D96F19),
    (FOX, 1575457558, 0xBA87399CADAC9AAA),
]


def binary(words: list[bytes]) -> Binary:
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    return Binary(offsets, np.frombuffer(b"".join(words), np.uint8))


@pytest.mark.parametrize(("word", "seed", "expected"), HASHES)
def test_known_hashes(word: bytes, seed: int, expected: int) -> None:
    assert murmur3.murmur3(word, seed) == expected
    many = binary([word] * 20)
    assert murmur3.hashes(many.offsets, many.data, seed).tolist() == [expected] * 20


@settings(deadline=None)
@given(st.lists(st.binary(max_size=70), max_size=40), st.integers(0, 2**64 - 1))
def test_many_hashes_are_those_of_each(words: list[bytes], seed: int) -> None:
    many = binary(words)
    found = murmur3.hashes(many.offsets, many.data, seed)
    assert found.tolist() == [murmur3.murmur3(word, seed) for word in words]


def test_one_long_value_among_short_ones() -> None:
    words = [b"a", bytes(range(256)) * 40, b"", b"bc"]
    many = binary(words)
    found = murmur3.hashes(many.offsets, many.data, 7)
    assert found.tolist() == [murmur3.murmur3(word, 7) for word in words]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=20)), st.booleans())
def test_no_value_is_missed(words: list[bytes], null: bool) -> None:
    bloom = blooms.built(binary(words), null)
    assert all(blooms.holds(bloom, blooms.hashed(word)) for word in words)
    assert blooms.holds_null(bloom) == null
    assert len(bloom) % 32 == 1


def test_few_others_seem_to_be_there() -> None:
    values = np.arange(5000, dtype="<i8")
    bloom = blooms.built(Fixed(values.view(np.uint8).reshape(-1, 8)), null=False)
    others = [blooms.hashed(int(k).to_bytes(8, "little")) for k in range(5000, 15000)]
    rate = sum(blooms.holds(memoryview(bloom), one) for one in others) / len(others)
    assert rate < 0.06


def test_values_that_repeat_count_once() -> None:
    assert len(blooms.built(binary([b"a"] * 5000), null=False)) == 33


@pytest.mark.parametrize(
    ("distinct", "size"), [(0, 32), (1, 32), (35, 32), (60, 64), (1024, 1024), (10**10, 128 << 20)]
)
def test_sizes(distinct: int, size: int) -> None:
    assert blooms.sized(distinct) == size


@pytest.mark.parametrize("size", [0, 1, 31, 32, 34, 65 + 32, 100])
def test_a_filter_that_is_none_knows_nothing(size: int) -> None:
    assert blooms.holds(bytes(size), 12345)


def test_an_empty_filter_holds_nothing() -> None:
    assert not blooms.holds(bytes(33), 12345)
    assert blooms.holds_null(b"")


def test_types() -> None:
    assert blooms.is_taken(F.INT)
    assert not blooms.is_taken(F.TINYINT)
    assert not blooms.is_taken(F.DOUBLE)


# ---- the bytes of a value ------------------------------------------------------------------------

OPAQUE = (F.BITMAP, F.JSONB, F.HLL, F.TIMEV2)
KNOWN = [
    (case, name)
    for case, name in zip(CASES, NAMES, strict=True)
    if field_of(case[0], case[1]).field not in OPAQUE
]


@pytest.mark.parametrize("case", [c for c, _ in KNOWN], ids=[n for _, n in KNOWN])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_the_stored_bytes_are_among_the_forms(case: Case, data: st.DataObject) -> None:
    kind, word, values = case
    one = data.draw(values)
    declared = field_of(kind, word)
    stored, _ = from_arrow(pa.array([one], kind), declared)
    read = arrow_type(declared.field, declared.precision, declared.frac)
    order = order_of(pa.array([one], kind)[0].as_py(), read)
    assert order is not None
    assert stored.data.tobytes() in forms(declared.field, declared.length, order)


@pytest.mark.parametrize(
    ("field", "size", "date"),
    [
        *((F.DATE, 3, 0), (F.DATE, 3, 9 << 9 | 4)),
        *((F.DATEV2, 4, 5 << 9), (F.DATEV2, 4, 5 << 9 | 7 << 5)),
        *((F.DATETIME, 8, 0), (F.DATETIME, 8, 20240000000000), (F.DATETIMEV2, 8, 7 << 46)),
    ],
)
def test_zero_dates_are_forms_of_what_they_read_as(field: F, size: int, date: int) -> None:
    raw = date.to_bytes(size, "little")
    array = to_arrow(field, 0, 0, Fixed(np.frombuffer(raw, np.uint8).reshape(1, size)), None)
    order = array.cast(pa.int32() if size < 8 else pa.int64())[0].as_py()
    found = forms(field, size, order)
    assert raw in found
    for one in found:
        again = Fixed(np.frombuffer(one, np.uint8).reshape(1, size))
        assert to_arrow(field, 0, 0, again, None).equals(array)


def test_values_whose_bytes_are_not_known() -> None:
    assert forms(F.JSONB, 0, b"x") == ()
    assert forms(F.ARRAY, 0, 1) == ()
    assert forms(F.CHAR, 4, b"a\0") == ()
    assert forms(F.FLOAT, 4, 0.1) == ()
    assert forms(F.FLOAT, 4, 1e300) == ()
    assert forms(F.TINYINT, 1, 128) == ()
    assert forms(F.DATEV2, 4, 10**9) == ()
    assert forms(F.CHAR, 4, b"a") == (b"a", b"a\0\0\0")
    assert forms(F.CHAR, 10**9, b"a") == (b"a", b"a" + bytes(254))
