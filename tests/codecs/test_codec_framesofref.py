"""Frames of reference: vectors of the format's own encoder, all forms and sizes, damage."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import framesofref
from rangeio.errors import Corrupt, FormatError

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "doris" / "for_int32_vectors.txt"


def integers(values: list[int], size: int) -> np.ndarray:
    raw = b"".join((v & (1 << 8 * size) - 1).to_bytes(size, "little") for v in values)
    return np.frombuffer(raw, np.uint8).reshape(-1, size)


def form(data: bytes, frames: int = 1) -> int:
    return data[-5 - 2 * frames]


def test_the_bytes_of_the_formats_own_encoder() -> None:
    if not VECTORS.exists():
        pytest.skip("needs ../shared/data/doris")
    lines = VECTORS.read_text().splitlines()
    for line in lines:
        texts, data = line.split("\t")
        values = integers([int(text) for text in texts.split()], 4)
        assert framesofref.encode(values, signed=True).hex() == data
        got = framesofref.decode(memoryview(bytes.fromhex(data)), len(values), 4)
        assert np.array_equal(got, values)
    assert len(lines) > 5


@pytest.mark.parametrize(
    ("values", "data"),
    [
        ([], "8000000000"),
        ([5, 3, 9, 4], "03000000431000038004000000"),
        ([1, 2, 3, 4, 10], "01000000049c01038005000000"),
        ([7] * 129, "0700000007000000010001008081000000"),
        ([-2, -1], "feffffff4001018002000000"),
    ],
)
def test_frames_by_hand(values: list[int], data: str) -> None:
    given = integers(values, 4)
    assert framesofref.encode(given, signed=True).hex() == data
    got = framesofref.decode(memoryview(bytes.fromhex(data)), len(values), 4)
    assert np.array_equal(got, given)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("signed", [True, False])
def test_every_form_of_every_size(size: int, signed: bool) -> None:
    low = -(1 << 8 * size - 1) if signed else 0
    high = low + (1 << 8 * size) - 1
    near = max(low, -3)
    cases = [
        ([high, high - 1, high - 5], 0),
        ([near, near, near + 9], 1),
        ([high, low, 0], 2 if signed else 0),
    ]
    for values, expected in cases:
        given = integers(values, size)
        data = framesofref.encode(given, signed=signed)
        assert form(data) == expected
        assert np.array_equal(framesofref.decode(memoryview(data), 3, size), given)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([1, 2, 3, 4, 8, 16]),
    st.integers(1, 128),
    st.integers(0, 300),
    st.booleans(),
    st.integers(0, 99),
)
def test_round_trip(size: int, width: int, count: int, climbing: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    given = random.integers(0, 256, (count, size), np.uint8)
    given[:, min(width, size) :] = 0
    if climbing:
        order = np.lexsort(tuple(given[:, k] for k in range(size)))
        given = given[order]
    data = memoryview(framesofref.encode(given, signed=True))
    assert np.array_equal(framesofref.decode(data, count, size), given)


@pytest.mark.parametrize("size", [4, 8, 16])
def test_cut_and_flipped_it_raises_only_format_errors(size: int) -> None:
    random = np.random.default_rng(4)
    given = random.integers(0, 256, (200, size), np.uint8)
    given[:, 2:] = 0
    data = framesofref.encode(given, signed=True)
    for cut in range(len(data)):
        with pytest.raises(FormatError):
            framesofref.decode(memoryview(data)[:cut], 200, size)
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        try:
            got = framesofref.decode(memoryview(damaged), 200, size)
        except FormatError:
            continue
        assert got.shape == (200, size)


@pytest.mark.parametrize("count", [-1, 0, 1, 1 << 31, (1 << 32) - 1])
def test_counts_that_lie_are_corrupt(count: int) -> None:
    data = bytearray(framesofref.encode(integers([5, 3, 9, 4], 4), signed=True))
    with pytest.raises(Corrupt):
        framesofref.decode(memoryview(data), count, 4)
    data[-4:] = (count & 0xFFFFFFFF).to_bytes(4, "little")
    with pytest.raises(Corrupt):
        framesofref.decode(memoryview(data), count, 4)


@pytest.mark.parametrize("size", [0, 5, 12, 32])
def test_sizes_that_there_are_not_are_corrupt(size: int) -> None:
    with pytest.raises(Corrupt):
        framesofref.decode(memoryview(bytes(64)), 4, size)
