"""Varints, one and many, and what has them in front: values and keys."""

import numpy as np
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import varints
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

MOST = (1 << 62) - 1
VALUES = st.lists(st.integers(0, 300) | st.integers(0, MOST), max_size=40)
TEXTS = st.lists(st.binary(max_size=200), max_size=30)


def one_by_one(value: int) -> bytes:
    """By the definition: groups of 7 bits, the highest bit of all but the last set."""
    groups = [value >> 7 * k & 127 for k in range(max(1, -(-value.bit_length() // 7)))]
    return bytes([g | 128 for g in groups[:-1]] + groups[-1:])


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def cut_up(values: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *(len(v) for v in values)]), array(b"".join(values))


@pytest.mark.parametrize("value", [0, 1, 127, 128, 16383, 16384, 1 << 35, MOST])
def test_one(value: int) -> None:
    assert varints.one(value) == one_by_one(value) == varints.encode([value])
    assert varints.read(memoryview(one_by_one(value)), 0) == (len(one_by_one(value)), value)


@settings(max_examples=200, deadline=None)
@given(values=VALUES, rest=st.binary(max_size=3))
def test_many(both: tuple[Kernels, None], values: list[int], rest: bytes) -> None:
    data = varints.encode(np.array(values, np.int64))
    assert data == b"".join(map(one_by_one, values))
    for kernels in both:
        got, size = varints.decode(array(data + rest), len(values), kernels=kernels)
        assert got.tolist() == values
        assert size == len(data)


def test_many_that_do_not_end(kernels: Kernels | None) -> None:
    for data, count in [
        (b"", 1),
        (b"\x80", 1),
        (b"\x01\x80", 2),
        (b"\x01\x02", 3),
        (b"\x81" * 9 + b"\x01", 1),  # more than 63 bits
        (b"\x01", -1),
        (b"\x01", 1 << 62),
    ]:
        with pytest.raises(Corrupt):
            varints.decode(array(data), count, kernels=kernels)
    longest = b"\xff" * 8 + b"\x7f"
    assert varints.decode(array(longest), 1, kernels=kernels)[0].tolist() == [(1 << 63) - 1]


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_values_after_their_sizes(both: tuple[Kernels, None], values: list[bytes]) -> None:
    offsets, raw = cut_up(values)
    data = varints.delimit(offsets, raw)
    assert data == b"".join(one_by_one(len(v)) + v for v in values)
    for kernels in both:
        got, out = varints.delimited(array(data), len(values), kernels=kernels)
        assert got.tolist() == offsets.tolist()
        assert out.tobytes() == raw.tobytes()


def test_values_need_not_begin_at_0() -> None:
    assert varints.delimit(np.array([1, 3, 3]), array(b"?ab?")) == b"\x02ab\x00"


def test_values_that_are_fewer_or_more_are_corrupt(kernels: Kernels | None) -> None:
    data = varints.delimit(*cut_up([b"a", b"", b"bcd"]))
    for cut in range(len(data)):
        with pytest.raises(Corrupt):
            varints.delimited(array(data[:cut]), 3, kernels=kernels)
    for count in (-1, 0, 2, 4, 1 << 62):
        with pytest.raises(Corrupt):
            varints.delimited(array(data), count, kernels=kernels)
    with pytest.raises(Corrupt):
        varints.delimited(array(b"\xff" * 8 + b"\x7f"), 1, kernels=kernels)


def test_keys_and_numbers(kernels: Kernels | None) -> None:
    data = array(b"\x02ab\x05\x80\x01" + b"\x00\x00\x07")
    got = varints.keyed(data, 2, 2, kernels=kernels)
    assert got.tolist() == [[1, 3, 5, 128], [7, 7, 0, 7]]
    for cut in range(len(data)):
        with pytest.raises(Corrupt):
            varints.keyed(data[:cut], 2, 2, kernels=kernels)
    for count in (-1, 0, 1, 3, 1 << 62):
        with pytest.raises(Corrupt):
            varints.keyed(data, count, 2, kernels=kernels)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=60), count=st.integers(0, 20))
def test_kernel_and_twin_agree_on_anything(
    both: tuple[Kernels, None], data: bytes, count: int
) -> None:
    for call in (
        lambda k: varints.decode(array(data), count, kernels=k),
        lambda k: varints.delimited(array(data), count, kernels=k),
        lambda k: varints.keyed(array(data), count, 2, kernels=k),
    ):
        answers = [outcome(lambda k=k, c=call: c(k)) for k in both]
        assert answers[0] == answers[1]
