"""The values part of pages: bytes by hand, round trips, counts that lie, damage."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.errors import Corrupt, FormatError, RequestError, Unsupported
from rangeio.formats.doris.encodings import (
    Binary,
    Fixed,
    Values,
    decoded,
    encoded,
    nullmap,
    nullmap_bytes,
    words,
)
from rangeio.formats.doris.encodings.binary import joined
from rangeio.formats.doris.words import Encoding

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "doris" / "bitshuffle_vectors.txt"
PLAINS = [Encoding.PLAIN, Encoding.PLAIN_V2, Encoding.PLAIN_V3]
FIXED = [
    *((Encoding.PLAIN, size) for size in (1, 2, 3, 4, 8, 12, 16, 32)),
    *((Encoding.BIT_SHUFFLE, size) for size in (1, 2, 3, 4, 8, 12, 16, 32)),
    *((Encoding.FOR, size) for size in (1, 2, 3, 4, 8, 16)),
    (Encoding.RLE, 1),
]
BINARY = [*PLAINS, Encoding.PREFIX, Encoding.DICT]
WORDS = [b"alpha", b"", b"beta", b"a longer word than others", b"\x00\xff"]
TEXTS = st.lists(st.sampled_from(WORDS) | st.binary(max_size=300), max_size=60)


def binary(values: list[bytes]) -> Binary:
    offsets = np.cumsum([0, *(len(v) for v in values)])
    return Binary(offsets, np.frombuffer(b"".join(values), np.uint8))


def values_of(given: Values) -> list[bytes]:
    if isinstance(given, Fixed):
        return [row.tobytes() for row in given.data]
    return [given.data[a:b].tobytes() for a, b in itertools.pairwise(given.offsets.tolist())]


def fixed(count: int, size: int, encoding: int = 0) -> Fixed:
    data = np.random.default_rng(count).integers(0, 256, (count, size), np.uint8)
    data[:, 2:] = 0
    return Fixed(data & 1 if encoding == Encoding.RLE else data)


def codes(numbers: list[int]) -> Fixed:
    return Fixed(np.array(numbers, "<u4").view(np.uint8).reshape(-1, 4))


def hexed(encoding: Encoding, size: int, values: Values) -> str:
    return encoded(encoding, size, values).hex(" ")


# ---- by hand -----------------------------------------------------------------------------------


def test_bytes_by_hand() -> None:
    two = binary([b"ab", b"", b"c"])
    assert hexed(Encoding.PLAIN, 2, codes([1 << 16]).__class__(np.array([[1, 2]], np.uint8))) == (
        "01 00 00 00 01 02"
    )
    assert hexed(Encoding.PLAIN, 0, two) == (
        "61 62 63 00 00 00 00 02 00 00 00 02 00 00 00 03 00 00 00"
    )
    assert hexed(Encoding.PLAIN_V2, 0, two) == "02 61 62 00 01 63 03 00 00 00"
    assert hexed(Encoding.PLAIN_V3, 0, two) == "61 62 63 02 00 01 03 00 00 00 03 00 00 00"
    assert hexed(Encoding.PREFIX, 0, binary([b"ab", b"abc"])) == (
        "00 02 61 62 02 01 63 02 00 00 00 10 00 00 00 00 01 00 00 00"
    )
    assert hexed(Encoding.RLE, 1, Fixed(np.ones((4, 1), np.uint8))) == "04 00 00 00 08 01"


def test_pages_without_values() -> None:
    """What a page of nothing but NULLs has before its null map."""
    none = binary([])
    assert hexed(Encoding.PLAIN, 8, fixed(0, 8)) == "00 00 00 00"
    assert hexed(Encoding.BIT_SHUFFLE, 4, fixed(0, 4)) == (
        "00 00 00 00 10 00 00 00 00 00 00 00 04 00 00 00"
    )
    assert hexed(Encoding.PREFIX, 0, none) == "00 00 00 00 10 00 00 00 00"
    for encoding in BINARY:
        data = encoded(encoding, 0, codes([]) if encoding == Encoding.DICT else none)
        assert values_of(decoded(encoding, 0, memoryview(data), 0, binary(WORDS))) == []


def test_values_of_which_all_are_empty() -> None:
    for encoding in PLAINS:
        data = encoded(encoding, 0, binary([b""] * 9))
        assert values_of(decoded(encoding, 0, memoryview(data), 9)) == [b""] * 9


def test_shuffled_pages_of_the_reference_library() -> None:
    if not VECTORS.exists():
        pytest.skip("needs ../shared/data/doris")
    for line in VECTORS.read_text().splitlines():
        if line[0] != "#":
            _, raw, page = (bytes.fromhex(p) if k else b"" for k, p in enumerate(line.split("\t")))
            size = page[12]
            values = Fixed(np.frombuffer(raw, np.uint8).reshape(-1, size))
            assert encoded(Encoding.BIT_SHUFFLE, size, values) == page
            got = decoded(Encoding.BIT_SHUFFLE, size, memoryview(page), len(values))
            assert values_of(got) == values_of(values)


# ---- round trips -------------------------------------------------------------------------------


@pytest.mark.parametrize(("encoding", "size"), FIXED)
@pytest.mark.parametrize("count", [0, 1, 7, 8, 129, 3000])
def test_fixed_values(encoding: Encoding, size: int, count: int) -> None:
    values = fixed(count, size, encoding)
    got = decoded(encoding, size, memoryview(encoded(encoding, size, values)), count)
    assert isinstance(got, Fixed)
    assert got.data.shape == (count, size)
    assert got.data.flags.c_contiguous
    assert np.array_equal(got.data, values.data)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_binary_values(texts: list[bytes]) -> None:
    for encoding in (*PLAINS, Encoding.PREFIX):
        data = encoded(encoding, 0, binary(texts))
        got = decoded(encoding, 0, memoryview(data), len(texts))
        assert values_of(got) == texts
        if encoding != Encoding.PREFIX:
            assert values_of(words(encoding, memoryview(data))) == texts


@pytest.mark.parametrize("encoding", [*PLAINS, Encoding.PREFIX])
def test_values_that_do_not_begin_at_0(encoding: Encoding) -> None:
    part = Binary(np.array([1, 3, 3, 4]), np.frombuffer(b"?abc?", np.uint8))
    data = encoded(encoding, 0, part)
    assert data == encoded(encoding, 0, binary([b"ab", b"", b"c"]))


def test_codes_are_made_words() -> None:
    chosen = [3, 0, 1, 1, 4, 2, 0]
    data = encoded(Encoding.DICT, 0, codes(chosen))
    assert data[:4] == b"\x05\0\0\0"
    got = decoded(Encoding.DICT, 0, memoryview(data), len(chosen), binary(WORDS))
    assert values_of(got) == [WORDS[k] for k in chosen]


@pytest.mark.parametrize("plain", PLAINS)
def test_pages_behind_a_full_dictionary_are_plain(plain: Encoding) -> None:
    data = encoded(Encoding.DICT, 0, binary(WORDS), fallback=plain)
    assert data[:4] == bytes((plain, 0, 0, 0))
    assert values_of(decoded(Encoding.DICT, 0, memoryview(data), 5, binary([]))) == WORDS
    assert values_of(decoded(Encoding.DICT, 0, memoryview(data), 5)) == WORDS


@settings(max_examples=100, deadline=None)
@given(st.lists(st.booleans(), max_size=300))
def test_null_maps(nulls: list[bool]) -> None:
    mask = np.array(nulls, np.bool_)
    got = nullmap(memoryview(nullmap_bytes(mask)), len(nulls))
    assert got.dtype == np.bool_
    assert got.tolist() == nulls


def test_values_of_many_pages_joined() -> None:
    part = Binary(np.array([1, 3, 3]), np.frombuffer(b"?ab?", np.uint8))
    assert values_of(joined([binary(WORDS), part, binary([])])) == [*WORDS, b"ab", b""]
    assert values_of(joined([])) == []


# ---- damage ------------------------------------------------------------------------------------


def pages() -> list[tuple[str, int, int, int, bytes]]:
    """(name, encoding, size, count, bytes) of a page of each encoding."""
    out = []
    for encoding, size in FIXED:
        if size in (1, 4, 12, 16):
            data = encoded(encoding, size, fixed(150, size, encoding))
            out.append((f"{encoding.name}-{size}", int(encoding), size, 150, data))
    texts = [b"text %d" % (k % 40) for k in range(100)]
    for encoding in (*PLAINS, Encoding.PREFIX):
        data = encoded(encoding, 0, binary(texts))
        out.append((encoding.name, int(encoding), 0, 100, data))
    data = encoded(Encoding.DICT, 0, codes([k % 5 for k in range(100)]))
    out.append(("DICT", int(Encoding.DICT), 0, 100, data))
    data = encoded(Encoding.DICT, 0, binary(texts))
    out.append(("DICT-plain", int(Encoding.DICT), 0, 100, data))
    return out


PAGES = pytest.mark.parametrize(
    ("encoding", "size", "count", "data"), [p[1:] for p in pages()], ids=[p[0] for p in pages()]
)


def read(encoding: int, size: int, body: bytes | bytearray, count: int) -> Values:
    got = decoded(encoding, size, memoryview(body), count, binary(WORDS))
    assert len(got) == count
    if isinstance(got, Binary):
        assert (np.diff(got.offsets) >= 0).all()
        assert 0 <= got.offsets[0] <= got.offsets[-1] <= len(got.data)
    return got


@PAGES
def test_cut_anywhere_it_is_a_format_error(
    encoding: int, size: int, count: int, data: bytes
) -> None:
    assert len(values_of(read(encoding, size, data, count))) == count
    for cut in range(len(data)):
        with pytest.raises(FormatError):
            read(encoding, size, data[:cut], count)


@PAGES
def test_flipped_bytes_raise_only_format_errors(
    encoding: int, size: int, count: int, data: bytes
) -> None:
    for at in range(len(data)):
        for value in (0, 255, data[at] ^ 1, data[at] ^ 0x80):
            damaged = bytearray(data)
            damaged[at] = value
            try:
                read(encoding, size, damaged, count)
            except FormatError:
                continue


@PAGES
@pytest.mark.parametrize("lie", [-1, 0, -2, 1 << 20, (1 << 32) - 1, 1 << 62])
def test_counts_that_lie_are_corrupt(
    encoding: int, size: int, count: int, data: bytes, lie: int
) -> None:
    with pytest.raises(Corrupt):
        read(encoding, size, data, count + lie if lie else 0)


@PAGES
@pytest.mark.parametrize("lie", [153, 1 << 20, (1 << 31) - 1, (1 << 32) - 1])
def test_counts_that_lie_in_both_places_are_corrupt(
    encoding: int, size: int, count: int, data: bytes, lie: int
) -> None:
    """The page's own count agrees with what is asked, the bytes are too few for it."""
    word, damaged = lie.to_bytes(4, "little"), bytearray(data)
    number = count.to_bytes(4, "little")
    at = data.find(number) if data[:4] == number or size else data.rfind(number)
    damaged[at : at + 4] = word
    with pytest.raises(FormatError):
        read(encoding, size, damaged, lie)


@pytest.mark.parametrize("rows", [-1, 11, 1 << 31, (1 << 32) - 1, 1 << 62])
def test_null_maps_of_fewer_rows_are_corrupt(rows: int) -> None:
    with pytest.raises(Corrupt):
        nullmap(memoryview(nullmap_bytes(np.ones(10, np.bool_))), rows)


def test_codes_beyond_the_dictionary_are_corrupt() -> None:
    for code in (5, 1 << 31, (1 << 32) - 1):
        data = memoryview(encoded(Encoding.DICT, 0, codes([0, code])))
        with pytest.raises(Corrupt):
            decoded(Encoding.DICT, 0, data, 2, binary(WORDS))
    with pytest.raises(Corrupt):
        decoded(Encoding.DICT, 0, memoryview(encoded(Encoding.DICT, 0, codes([0]))), 1, binary([]))
    with pytest.raises(Corrupt, match="no dictionary"):
        decoded(Encoding.DICT, 0, memoryview(encoded(Encoding.DICT, 0, codes([0]))), 1)


def test_codes_do_not_make_more_than_may_be() -> None:
    long = binary([bytes(1 << 20)])
    data = memoryview(encoded(Encoding.DICT, 0, codes([0] * 10000)))
    with pytest.raises(Corrupt, match="at most"):
        decoded(Encoding.DICT, 0, data, 10000, long)


def test_first_offsets_that_are_not_0_are_corrupt() -> None:
    data = bytearray(encoded(Encoding.PLAIN, 0, binary([b"ab", b"c"])))
    data[3] = 1
    with pytest.raises(Corrupt):
        decoded(Encoding.PLAIN, 0, memoryview(data), 2)


def test_sizes_of_values_that_wrap_are_corrupt() -> None:
    """Nine sizes whose sum is a small number again, modulo 2^64."""
    sizes = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f" * 2 + b"\x05"
    data = b"abc" + sizes + b"\x03\0\0\0\x03\0\0\0"
    with pytest.raises(Corrupt):
        decoded(Encoding.PLAIN_V3, 0, memoryview(data), 3)


# ---- encodings that values do not have ---------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "size"),
    [
        *((e, 4) for e in (0, 1, Encoding.PREFIX, Encoding.RLE, Encoding.DICT, 8, 9, 77)),
        *((e, 0) for e in (0, 1, Encoding.RLE, Encoding.BIT_SHUFFLE, Encoding.FOR, 77)),
        (Encoding.FOR, 12),
    ],
)
def test_encodings_that_values_do_not_have(encoding: int, size: int) -> None:
    with pytest.raises(Unsupported):
        decoded(encoding, size, memoryview(bytes(64)), 0)
    with pytest.raises(RequestError):
        encoded(encoding, size, fixed(1, size) if size else binary([b"a"]))


def test_values_of_another_kind_than_said() -> None:
    with pytest.raises(RequestError):
        encoded(Encoding.PLAIN, 4, binary([b"abcd"]))
    with pytest.raises(RequestError):
        encoded(Encoding.PLAIN, 0, fixed(1, 4))
    with pytest.raises(RequestError):
        encoded(Encoding.PLAIN, 4, fixed(1, 8))
    with pytest.raises(RequestError):
        encoded(Encoding.DICT, 0, fixed(1, 8))
    with pytest.raises(RequestError):
        encoded(Encoding.BIT_SHUFFLE, 5, fixed(1, 5))


def test_dictionaries_of_other_encodings_are_unsupported() -> None:
    with pytest.raises(Unsupported):
        words(Encoding.PREFIX, memoryview(bytes(16)))
    mode = Encoding.PREFIX.to_bytes(4, "little")
    with pytest.raises(Unsupported):
        decoded(Encoding.DICT, 0, memoryview(mode + bytes(16)), 0)
