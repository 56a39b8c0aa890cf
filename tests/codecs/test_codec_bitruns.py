"""Runs of bits: vectors of the format's own encoder, its state machine, damage."""

from pathlib import Path

import numpy as np
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import bitruns
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "doris" / "rle_vectors.txt"


def bits(text: str) -> np.ndarray:
    return np.array([c == "1" for c in text], np.bool_)


def check(text: str, data: bytes, kernels: Kernels | None) -> None:
    given = bits(text)
    assert bitruns.encode(given, kernels=kernels) == data
    assert np.array_equal(bitruns.decode(memoryview(data), len(given), kernels=kernels), given)


def test_the_bytes_of_the_formats_own_encoder(kernels: Kernels | None) -> None:
    if not VECTORS.exists():
        pytest.skip("needs ../shared/data/doris")
    lines = VECTORS.read_text().splitlines()
    for line in lines:
        text, data = line.split("\t")
        check(text, bytes.fromhex(data), kernels)
    assert len(lines) > 50


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", ""),
        ("1", "0201"),
        ("1111", "0801"),
        ("0" * 8 + "1" * 8, "10001001"),
        ("0101010101", "05aa02"),
        ("0" * 50 + "1", "64000201"),
        ("0001" + "1" * 8, "05f80f"),  # 4 fill the byte, 4 are too few to repeat
        ("0001" + "1" * 12, "03f81001"),
        ("01" * 252 + "11", "7f" + "aa" * 63 + "0401"),  # 63 bytes are a full run
        ("01" * 252 + "10", "7f" + "aa" * 63 + "0301"),
        ("1" * 200, "900301"),
    ],
)
def test_runs_by_hand(text: str, data: str, kernels: Kernels | None) -> None:
    check(text, bytes.fromhex(data), kernels)


def test_what_follows_the_bits_is_not_looked_at(kernels: Kernels | None) -> None:
    data = memoryview(bytes.fromhex("05aa02") + b"anything")
    assert bitruns.decode(data, 10, kernels=kernels).tolist() == bits("0101010101").tolist()
    assert bitruns.decode(data, 0, kernels=kernels).tolist() == []


@pytest.mark.parametrize("data", ["", "08", "80", "05", "ff" * 9, "ff" * 12, "00" * 5, "0001" * 9])
def test_fewer_bits_are_corrupt(data: str, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        bitruns.decode(memoryview(bytes.fromhex(data)), 100, kernels=kernels)


@pytest.mark.parametrize("count", [-1, bitruns.MOST + 1, 1 << 62])
def test_counts_beyond_all_bounds_are_corrupt(count: int, kernels: Kernels | None) -> None:
    endless = memoryview(b"\xfe" + b"\xff" * 7 + b"\x7f\x01")
    assert bitruns.decode(endless, 1000, kernels=kernels).all()
    with pytest.raises(Corrupt):
        bitruns.decode(endless, count, kernels=kernels)


def test_cut_anywhere_it_is_corrupt(kernels: Kernels | None) -> None:
    random = np.random.default_rng(3)
    given = np.repeat(random.integers(0, 2, 300), random.integers(1, 40, 300)).astype(np.bool_)
    data = bitruns.encode(given, kernels=kernels)
    for cut in range(len(data)):
        with pytest.raises(Corrupt):
            bitruns.decode(memoryview(data)[:cut], len(given), kernels=kernels)


RUNS = st.lists(st.tuples(st.booleans(), st.integers(1, 30) | st.integers(500, 600)), max_size=60)


@settings(max_examples=300, deadline=None)
@given(RUNS)
def test_kernel_and_twin_write_the_same(
    both: tuple[Kernels, None], runs: list[tuple[bool, int]]
) -> None:
    given = np.array([bit for bit, times in runs for _ in range(times)], np.bool_)
    data = [bitruns.encode(given, kernels=kernels) for kernels in both]
    assert data[0] == data[1]
    for kernels in both:
        got = bitruns.decode(memoryview(data[0]), len(given), kernels=kernels)
        assert np.array_equal(got, given)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 700))
def test_kernel_and_twin_read_the_same(both: tuple[Kernels, None], data: bytes, count: int) -> None:
    answers = [
        outcome(lambda k=k: bitruns.decode(memoryview(data), count, kernels=k)) for k in both
    ]
    assert answers[0] == answers[1]
