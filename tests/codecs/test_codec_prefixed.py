"""Values without what they share with the one before."""

import itertools

import numpy as np
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import prefixed
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

TEXTS = st.lists(st.text("ab", max_size=6).map(str.encode) | st.binary(max_size=300), max_size=50)


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def encode(values: list[bytes], interval: int = 16) -> bytes:
    offsets = np.cumsum([0, *(len(v) for v in values)])
    return prefixed.encode(offsets, array(b"".join(values)), interval)[0]


def values_of(offsets: np.ndarray, data: np.ndarray) -> list[bytes]:
    return [data[a:b].tobytes() for a, b in itertools.pairwise(offsets.tolist())]


def test_values_by_hand(kernels: Kernels | None) -> None:
    values = [b"user", b"user.id", b"user.id", b"use", b"x", b""]
    data = b"\x00\x04user\x04\x03.id\x07\x00\x00\x03use\x00\x01x\x00\x00"
    offsets = np.cumsum([0, *(len(v) for v in values)])
    got, whole = prefixed.encode(offsets, array(b"".join(values)), 3)
    assert got == data
    assert whole.tolist() == [0, 13]
    assert values_of(*prefixed.decode(array(data), 6, 3, kernels=kernels)) == values


def test_what_two_values_share() -> None:
    assert prefixed.common(b"abc", b"abd") == 2
    assert prefixed.common(b"", b"abd") == 0
    assert prefixed.common(b"ab", b"abd") == 2
    assert prefixed.common(b"\x00\x01", b"\x00\x00") == 1
    assert prefixed.common(b"\xff", b"\x7f") == 0


@settings(max_examples=200, deadline=None)
@given(values=TEXTS, interval=st.integers(1, 40), ordered=st.booleans())
def test_round_trip(
    both: tuple[Kernels, None], values: list[bytes], interval: int, ordered: bool
) -> None:
    given = sorted(values) if ordered else values
    data = encode(given, interval)
    for kernels in both:
        got = prefixed.decode(array(data), len(given), interval, kernels=kernels)
        assert values_of(*got) == given


def test_cut_anywhere_it_is_corrupt(kernels: Kernels | None) -> None:
    data = encode([b"key%03d" % k for k in range(40)])
    for cut in range(len(data)):
        with pytest.raises(Corrupt):
            prefixed.decode(array(data[:cut]), 40, 16, kernels=kernels)
    with pytest.raises(Corrupt):
        prefixed.decode(array(data + b"\0\0"), 40, 16, kernels=kernels)


@pytest.mark.parametrize("count", [-1, 0, 39, 41, 1 << 62])
def test_counts_that_lie_are_corrupt(count: int, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        prefixed.decode(array(encode([b"key"] * 40)), count, 16, kernels=kernels)


def test_they_grow_no_further_than_the_interval(kernels: Kernels | None) -> None:
    """A long value that all others share is written again every so many values."""
    long = b"x" * 1000
    data = b"\x00\xe8\x07" + long + b"\xe8\x07\x00" * 99
    with pytest.raises(Corrupt):
        prefixed.decode(array(data), 100, 16, kernels=kernels)
    got = values_of(*prefixed.decode(array(data), 100, 100, kernels=kernels))
    assert got == [long] * 100


@pytest.mark.parametrize("data", [b"\x01\x00", b"\x00\x05abc", b"\x00" + b"\xff" * 8 + b"\x7f"])
def test_values_that_take_what_is_not_there(data: bytes, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        prefixed.decode(array(data), 1, 16, kernels=kernels)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=60), count=st.integers(0, 20), interval=st.integers(0, 5))
def test_kernel_and_twin_agree_on_anything(
    both: tuple[Kernels, None], data: bytes, count: int, interval: int
) -> None:
    answers = [
        outcome(lambda k=k: prefixed.decode(array(data), count, interval, kernels=k)) for k in both
    ]
    assert answers[0] == answers[1]


def test_values_that_changed_since_they_were_measured_are_told(
    both: tuple[Kernels, None],
) -> None:
    """A mapped file may change between the two passes; the second writes no further than it may."""
    kernel, _ = both
    data, offsets = encode([b"abc", b"abcd"]), np.zeros(3, np.int64)
    assert kernel.prefixed_measure(array(data), 16, offsets) == (-1, len(data))
    out = np.zeros(7, np.uint8)
    assert kernel.prefixed_fill(array(data), offsets, out)
    assert out.tobytes() == b"abcabcd"
    for changed in (data[:-1], encode([b"abcd", b"abc"]), b"\x01\x02ab" + data[5:]):
        assert not kernel.prefixed_fill(array(changed), offsets, np.zeros(7, np.uint8))
