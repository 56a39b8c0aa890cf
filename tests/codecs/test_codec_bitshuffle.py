"""Bitshuffle: vectors of the reference library, all sizes of elements, damage."""

from pathlib import Path

import numpy as np
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import bitshuffle
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "doris" / "bitshuffle_vectors.txt"
SIZES = (1, 2, 3, 4, 8, 12, 16, 32)


def elements(count: int, size: int, seed: int = 1) -> np.ndarray:
    """Numbers of a few bits, so that some rows of bits are zeros and others are noise."""
    random = np.random.default_rng(seed)
    out = np.zeros((count, size), np.uint8)
    out[:, 0] = random.integers(0, 256, count)
    out[:, size // 2] = random.integers(0, 4, count)
    return out


def by_hand(block: np.ndarray) -> bytes:
    """One block's bits, transposed one at a time."""
    count, size = block.shape
    out = bytearray(count * size)
    for i in range(count):
        for b in range(size):
            for k in range(8):
                row, bit = 8 * b + k, int(block[i, b]) >> k & 1
                out[row * (count // 8) + i // 8] |= bit << i % 8
    return bytes(out)


def test_the_bytes_of_the_reference_library(kernels: Kernels | None) -> None:
    if not VECTORS.exists():
        pytest.skip("needs ../shared/data/doris")
    lines = [line for line in VECTORS.read_text().splitlines() if line[0] != "#"]
    for line in lines:
        _, raw, page = (part.strip() for part in line.split("\t"))
        data = bytes.fromhex(page)
        count, size, padded, each = np.frombuffer(data[:16], "<u4").tolist()
        assert size == len(data)
        given = np.frombuffer(bytes.fromhex(raw).ljust(padded * each, b"\0"), np.uint8)
        assert len(bytes.fromhex(raw)) == count * each
        got = bitshuffle.decode(memoryview(data)[16:], padded, each, kernels=kernels)
        assert np.array_equal(got, given.reshape(-1, each))
        assert bitshuffle.encode(got, kernels=kernels) == data[16:]
    assert len(lines) > 20


@pytest.mark.parametrize("size", SIZES)
def test_bits_are_transposed(size: int, kernels: Kernels | None) -> None:
    """Of so few bytes LZ4 makes literals alone, behind a token: they can be read as they are."""
    given = elements(8, size)
    random = np.random.default_rng(2)
    given[:] = random.integers(0, 256, given.shape)
    block = bitshuffle.encode(given, kernels=kernels)
    assert int.from_bytes(block[:4], "big") == len(block) - 4
    assert block.endswith(by_hand(given))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("blocks", [0, 1, 2, 3.5])
def test_round_trip_of_whole_and_short_blocks(
    size: int, blocks: float, kernels: Kernels | None
) -> None:
    count = int(blocks * bitshuffle.block_of(size)) // 8 * 8
    for number in (count, count + 8):
        given = elements(number, size)
        data = bitshuffle.encode(given, kernels=kernels)
        got = bitshuffle.decode(memoryview(data), number, size, kernels=kernels)
        assert got.shape == given.shape
        assert np.array_equal(got, given)


def test_blocks_are_some_8_kib() -> None:
    found = [bitshuffle.block_of(size) for size in SIZES]
    assert found == [8192, 4096, 2728, 2048, 1024, 680, 512, 256]


@pytest.mark.parametrize("run", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 255])
def test_matches_of_any_distance(run: int, kernels: Kernels | None) -> None:
    """Rows of bits that repeat every so many bytes become matches that reach into themselves."""
    random = np.random.default_rng(run)
    rows = np.resize(random.integers(0, 256, run, np.uint8), 8192)
    bits = np.unpackbits(rows, bitorder="little").reshape(8, -1)
    given = np.packbits(np.ascontiguousarray(bits.T).reshape(-1), bitorder="little").reshape(-1, 1)
    data = memoryview(bitshuffle.encode(given, kernels=kernels))
    assert np.array_equal(bitshuffle.decode(data, 8192, 1, kernels=kernels), given)


@pytest.mark.parametrize("size", [1, 3, 4, 8])
def test_cut_anywhere_it_is_corrupt(size: int, kernels: Kernels | None) -> None:
    count = bitshuffle.block_of(size) + 40
    data = bitshuffle.encode(elements(count, size) & 3, kernels=kernels)
    for cut in range(0, len(data), 1 + len(data) // 500):
        with pytest.raises(Corrupt):
            bitshuffle.decode(memoryview(data)[:cut], count, size, kernels=kernels)
    with pytest.raises(Corrupt):
        bitshuffle.decode(memoryview(data + b"\0"), count, size, kernels=kernels)


@pytest.mark.parametrize("count", [-8, 4, 16, 1 << 20, 1 << 40, 1 << 62])
def test_counts_that_lie_are_corrupt(count: int, kernels: Kernels | None) -> None:
    data = bitshuffle.encode(elements(8, 4), kernels=kernels)
    with pytest.raises(Corrupt):
        bitshuffle.decode(memoryview(data), count, 4, kernels=kernels)


@pytest.mark.parametrize("size", [-1, 0, 33, 1 << 40])
def test_sizes_that_there_are_not_are_corrupt(size: int, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        bitshuffle.decode(memoryview(b"\0\0\0\1\0"), 8, size, kernels=kernels)


def test_only_eights_are_shuffled(kernels: Kernels | None) -> None:
    with pytest.raises(ValueError, match="multiple of 8"):
        bitshuffle.encode(elements(7, 4), kernels=kernels)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(SIZES),
    st.integers(0, 60),
    st.integers(0, 9),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), max_size=3),
)
def test_kernel_and_twin_never_read_two_things(
    both: tuple[Kernels, None],
    size: int,
    eights: int,
    seed: int,
    flips: list[tuple[int, int]],
) -> None:
    given = elements(8 * eights, size, seed)
    written = [bitshuffle.encode(given, kernels=kernels) for kernels in both]
    assert written[0] == written[1]
    data = bytearray(written[0])
    for at, value in flips if data else ():
        data[at % len(data)] = value
    # The library that the twin asks takes some blocks that the format forbids (a match at distance
    # 0), and refuses some that it could read: matches close to the end.
    answers = [
        outcome(lambda k=k: bitshuffle.decode(memoryview(data), 8 * eights, size, kernels=k))
        for k in both
    ]
    assert answers[0] == answers[1] or Corrupt in answers
    if not flips:
        assert Corrupt not in answers
