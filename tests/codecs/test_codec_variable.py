import random
from itertools import chain, pairwise

import numpy as np
import pytest
from codec_writers import laid_out, outcome, variable_chunk
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import variable
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

CHUNKS = [[b"one", b"", b"three"], [], [b""], [b"x" * 5000], [b"\0\1"] * 17]


def split(data: np.ndarray, offsets: np.ndarray) -> list[bytes]:
    raw, cuts = data.tobytes(), offsets.tolist()
    return [raw[a:b] for a, b in pairwise(cuts)]


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("gap", [0, 3])
def test_chunks_become_one_array(width: int, gap: int, kernels: Kernels | None) -> None:
    data, starts, sizes = laid_out([variable_chunk(c, width) for c in CHUNKS], gap)
    counts = [len(c) for c in CHUNKS]
    offsets, out = variable.chunks(data, starts, sizes, counts, width, kernels=kernels)
    assert offsets.dtype == np.int64
    assert offsets[0] == 0
    assert split(out, offsets) == [*chain.from_iterable(CHUNKS)]


def test_no_chunks_are_no_values(kernels: Kernels | None) -> None:
    none = np.empty(0, np.uint8)
    for starts, counts in (([], []), ([0, 0], [0, 0])):
        offsets, out = variable.chunks(none, starts, starts, counts, 4, kernels=kernels)
        assert offsets.tolist() == [0]
        assert len(out) == 0


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize(
    "offsets",
    [(3, 3, 3), (0, 3, 5), (3, 2, 5), (3, 3, 99), (3, 9, 5), (4, 3, 3), (3, 3, -1), (-1, -1, -1)],
    ids=str,
)
def test_bad_offsets_are_corrupt(
    width: int, offsets: tuple[int, ...], kernels: Kernels | None
) -> None:
    """Offsets count from the chunk's start in units of ``width`` here; 3 is the first byte."""
    good = np.array([3, 4, 5], np.int64) * width
    bad = np.array(offsets, np.int64) * width
    for words, fails in ((good, False), (bad, offsets != (3, 3, 3))):
        raw = words.astype(f"<i{width}").tobytes() + bytes(2 * width)
        data = np.frombuffer(raw, np.uint8)
        shape = ([0], [len(raw)], [2], width)
        if fails:
            with pytest.raises(Corrupt):
                variable.chunks(data, *shape, kernels=kernels)
        else:
            variable.chunks(data, *shape, kernels=kernels)


@pytest.mark.parametrize(
    ("start", "size", "count"), [(0, 8, 2), (0, 13, 1), (-1, 8, 1), (0, 12, -1), (0, 12, 1 << 61)]
)
def test_chunks_that_do_not_fit_are_corrupt(
    start: int, size: int, count: int, kernels: Kernels | None
) -> None:
    data = np.frombuffer(variable_chunk([b"abcd"], 4)[:12], np.uint8)
    variable.chunks(data, [0], [12], [1], 4, kernels=kernels)
    with pytest.raises(Corrupt):
        variable.chunks(data, [start], [size], [count], 4, kernels=kernels)


def test_chunks_that_overlap_are_corrupt(kernels: Kernels | None) -> None:
    data = np.frombuffer(variable_chunk([b"abcd"], 4), np.uint8)
    with pytest.raises(Corrupt):
        variable.chunks(data, [0, 0], [16, 16], [1, 1], 4, kernels=kernels)


SEGMENTS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), max_size=30)


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=0, max_size=400), SEGMENTS)
def test_segments_are_gathered(
    kernels: Kernels | None, raw: bytes, segments: list[tuple[int, int]]
) -> None:
    data = np.frombuffer(raw, np.uint8)
    starts = [a for a, _ in segments]
    sizes = [n for _, n in segments]
    if any(a + n > len(raw) for a, n in segments):
        with pytest.raises(Corrupt):
            variable.gather(data, starts, sizes, kernels=kernels)
    else:
        got = variable.gather(data, starts, sizes, kernels=kernels)
        assert got.tobytes() == b"".join(raw[a : a + n] for a, n in segments)


@pytest.mark.parametrize("size", [0, 5, 16, 17, 4096])
def test_segments_of_one_size(size: int, kernels: Kernels | None) -> None:
    raw = random.Random(size).randbytes(2 * size + 9)
    starts = [9, 0, size + 9, 9]
    got = variable.gather(np.frombuffer(raw, np.uint8), starts, [size] * 4, kernels=kernels)
    assert got.tobytes() == b"".join(raw[a : a + size] for a in starts)


def test_more_than_was_asked_for_is_corrupt(kernels: Kernels | None) -> None:
    data = np.zeros(10, np.uint8)
    assert len(variable.gather(data, [0, 0], [10, 10], most=20, kernels=kernels)) == 20
    with pytest.raises(Corrupt):
        variable.gather(data, [0, 0], [10, 10], most=19, kernels=kernels)
    with pytest.raises(Corrupt):
        variable.take([0, 10], data, [0, 0], most=19, kernels=kernels)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.binary(max_size=50), min_size=1, max_size=20),
    st.lists(st.integers(0, 19), max_size=60),
)
def test_values_are_taken(kernels: Kernels | None, values: list[bytes], indices: list[int]) -> None:
    offsets = np.concatenate(([0], np.cumsum([len(v) for v in values]))) + 2
    data = np.frombuffer(b"--" + b"".join(values), np.uint8)
    indices = [i % len(values) for i in indices]
    for kind in (np.int64, np.uint32, np.uint8):
        cuts, out = variable.take(offsets, data, np.array(indices, kind), kernels=kernels)
        assert split(out, cuts) == [values[i] for i in indices]


@pytest.mark.parametrize("index", [-1, 2, 1 << 40])
def test_index_outside_is_corrupt(index: int, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        variable.take([0, 1, 2], np.zeros(2, np.uint8), [0, index], kernels=kernels)


def test_index_beyond_an_int64_is_corrupt(kernels: Kernels | None) -> None:
    indices = np.array([1 << 63], np.uint64)
    with pytest.raises(Corrupt):
        variable.take([0, 1, 2], np.zeros(2, np.uint8), indices, kernels=kernels)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([4, 8]),
    st.lists(st.lists(st.binary(max_size=9), max_size=4), max_size=4),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=3),
    st.integers(-3, 3),
)
def test_kernel_and_twin_agree_on_flipped_bytes(
    both: tuple[Kernels, None],
    width: int,
    chunks: list[list[bytes]],
    flips: list[tuple[int, int]],
    slip: int,
) -> None:
    data, starts, sizes = laid_out([variable_chunk(c, width) for c in chunks])
    data = data.copy()
    for at, value in flips:
        data[at % len(data)] = value
    counts = [len(c) for c in chunks]
    if sizes:
        sizes[-1] += slip
    calls = [
        lambda k=k: variable.chunks(data, starts, sizes, counts, width, kernels=k) for k in both
    ]
    assert outcome(calls[0]) == outcome(calls[1])
