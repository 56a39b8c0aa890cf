"""Runs, split byte streams and bitmaps."""

import random
from itertools import chain

import numpy as np
import pytest
from codec_writers import laid_out
from hypothesis import given
from hypothesis import strategies as st

from rangeio.codecs import bits, bytestreamsplit, rle
from rangeio.errors import Corrupt


@given(st.lists(st.tuples(st.integers(0, 1 << 60), st.integers(0, 255)), max_size=50))
def test_runs_are_expanded(runs: list[tuple[int, int]]) -> None:
    values = np.array([v for v, _ in runs], np.uint64)
    lengths = np.array([n for _, n in runs], np.uint8)
    expected = [v for v, n in runs for _ in range(n)]
    got = rle.expand(values, lengths, len(expected))
    assert got.dtype == values.dtype
    assert got.tolist() == expected


def test_runs_of_wide_values() -> None:
    values = np.arange(12, dtype=np.uint8).reshape(3, 4)
    got = rle.expand(values, np.array([1, 0, 2], np.uint8), 3)
    assert got.tolist() == [[0, 1, 2, 3], [8, 9, 10, 11], [8, 9, 10, 11]]


@pytest.mark.parametrize(("lengths", "count"), [([1, 2], 4), ([1, 2], 2), ([3], 3), ([1, 1, 1], 3)])
def test_runs_of_another_sum_are_corrupt(lengths: list[int], count: int) -> None:
    with pytest.raises(Corrupt):
        rle.expand(np.zeros(2, np.uint64), np.array(lengths, np.uint8), count)


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("counts", [[], [1], [512, 512, 100], [3, 0, 5, 3, 3, 1], [7, 7, 9, 7]])
def test_split_streams_are_merged(size: int, counts: list[int]) -> None:
    rng = random.Random(size)
    chunks = [[rng.randbytes(size) for _ in range(n)] for n in counts]
    data, starts, _ = laid_out([bytes(v[j] for j in range(size) for v in c) for c in chunks])
    got = bytestreamsplit.merge(data, starts, counts, size)
    assert got.tobytes() == b"".join(v for c in chunks for v in c)


@pytest.mark.parametrize(("start", "count"), [(0, 3), (1, 2), (-1, 1), (0, -1), (0, 1 << 60)])
def test_split_chunks_outside_are_corrupt(start: int, count: int) -> None:
    with pytest.raises(Corrupt):
        bytestreamsplit.merge(np.zeros(8, np.uint8), [start], [count], 4)


def packed(values: list[bool]) -> bytes:
    return bytes(np.packbits(np.array(values, bool), bitorder="little"))


@given(st.lists(st.lists(st.booleans(), max_size=40), max_size=6), st.booleans())
def test_bitmaps_of_chunks_are_joined(chunks: list[list[bool]], whole: bool) -> None:
    if whole:
        chunks = [c[: len(c) // 8 * 8] for c in chunks[:-1]] + chunks[-1:]
    # Bits beyond a chunk's count are set, and must not show.
    pieces = [packed(c + [True] * (-len(c) % 8)) for c in chunks]
    data, starts, _ = laid_out(pieces)
    got = bits.unpack_bits(data, starts, [len(c) for c in chunks])
    flat = [*chain.from_iterable(chunks)]
    assert bytes(got) == packed(flat)


@pytest.mark.parametrize(("start", "count"), [(0, 17), (1, 9), (-1, 1), (0, -8), (0, 1 << 61)])
def test_bitmaps_outside_are_corrupt(start: int, count: int) -> None:
    with pytest.raises(Corrupt):
        bits.unpack_bits(np.zeros(2, np.uint8), [start], [count])
