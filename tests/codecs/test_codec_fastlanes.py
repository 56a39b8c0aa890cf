import random
from functools import partial
from itertools import chain

import numpy as np
import pytest
from codec_writers import laid_out, outcome, pack_block, pack_levels
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import fastlanes
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

WIDTHS = [(bits, width) for bits in (8, 16, 32, 64) for width in range(bits + 1)]


def inline(values: list[int], width: int, bits: int) -> bytes:
    return width.to_bytes(bits // 8, "little") + pack_block(values, width, bits)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_every_width_of_a_word(bits: int, kernels: Kernels | None) -> None:
    rng = random.Random(bits)
    for width in range(bits + 1):
        values = [rng.getrandbits(width) if width else 0 for _ in range(1024)]
        data, starts, _ = laid_out([pack_block(values, width, bits)])
        got = fastlanes.unpack_blocks(data, starts, width, bits, kernels=kernels)
        assert got.dtype == np.dtype(f"u{bits // 8}")
        assert got.tolist() == values, width


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 3000, 3072])
def test_inline_blocks_of_many_widths(bits: int, count: int, kernels: Kernels | None) -> None:
    rng = random.Random(count)
    widths = [bits // 2, 1, bits]
    blocks = [[rng.getrandbits(w) for _ in range(1024)] for w in widths]
    data, starts, _ = laid_out(
        [inline(b, w, bits) for b, w in zip(blocks, widths, strict=True)], gap=1
    )
    got = fastlanes.unpack_inline(data, starts, bits, count, kernels=kernels)
    assert got.tolist() == [*chain.from_iterable(blocks)][:count]


def test_blocks_beyond_the_count_are_not_looked_at(kernels: Kernels | None) -> None:
    data, starts, _ = laid_out([inline([1] * 1024, 1, 32)])
    got = fastlanes.unpack_inline(data, [*starts, 1 << 40], 32, 1024, kernels=kernels)
    assert got.tolist() == [1] * 1024


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_width_above_the_word_is_corrupt(bits: int, kernels: Kernels | None) -> None:
    data = np.frombuffer((bits + 1).to_bytes(bits // 8, "little") + bytes(128 * 70), np.uint8)
    with pytest.raises(Corrupt):
        fastlanes.unpack_inline(data, [0], bits, 5, kernels=kernels)


def test_block_that_leaves_the_buffer_is_corrupt(kernels: Kernels | None) -> None:
    whole = inline([3] * 1024, 2, 64)
    fastlanes.unpack_inline(np.frombuffer(whole, np.uint8), [0], 64, 1, kernels=kernels)
    for cut in (0, 7, 8, len(whole) - 1):
        with pytest.raises(Corrupt):
            fastlanes.unpack_inline(
                np.frombuffer(whole[:cut], np.uint8), [0], 64, 1, kernels=kernels
            )
    for start in (-1, 1, len(whole), 1 << 61):
        with pytest.raises(Corrupt):
            fastlanes.unpack_blocks(np.frombuffer(whole, np.uint8), [start], 3, 64, kernels=kernels)


def test_too_few_blocks_for_the_count_are_corrupt(kernels: Kernels | None) -> None:
    data = np.frombuffer(inline([], 0, 32), np.uint8)
    for count in (-1, 1025):
        with pytest.raises(Corrupt):
            fastlanes.unpack_inline(data, [0], 32, count, kernels=kernels)


def test_one_word_cannot_serve_as_many_blocks(kernels: Kernels | None) -> None:
    data = np.zeros(4, np.uint8)
    with pytest.raises(Corrupt):
        fastlanes.unpack_inline(data, np.zeros(1000, np.int64), 32, 1024_000, kernels=kernels)


@pytest.mark.parametrize("width", [0, 1, 3, 16])
@pytest.mark.parametrize("raw_tail", [True, False])
def test_levels_of_chunks(width: int, raw_tail: bool, kernels: Kernels | None) -> None:
    rng = random.Random(width)
    counts = [512, 1024, 2048, 1, 1500, 64, 0, 1023, 4096, 7]
    chunks = [[rng.getrandbits(width) if width else 0 for _ in range(n)] for n in counts]
    pieces = [pack_levels(c, width, raw_tail=raw_tail) for c in chunks]
    data, starts, sizes = laid_out(pieces)
    got = fastlanes.unpack_levels(data, starts, sizes, counts, width, kernels=kernels)
    assert got.dtype == np.uint16
    assert got.tolist() == [*chain.from_iterable(chunks)]


@pytest.mark.parametrize(
    ("count", "size"), [(1, 1), (1, 129), (1024, 256), (1025, 128), (0, 128), (-5, 0), (3000, 300)]
)
def test_levels_of_another_size_are_corrupt(count: int, size: int, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        fastlanes.unpack_levels(np.zeros(4096, np.uint8), [0], [size], [count], 1, kernels=kernels)


def test_no_blocks_give_no_values(kernels: Kernels | None) -> None:
    none = np.empty(0, np.uint8)
    assert fastlanes.unpack_inline(none, [], 64, 0, kernels=kernels).tolist() == []
    assert fastlanes.unpack_blocks(none, [], 5, 64, kernels=kernels).tolist() == []
    assert fastlanes.unpack_blocks(none, [0, 0], 0, 8, kernels=kernels).tolist() == [0] * 2048
    assert fastlanes.unpack_levels(none, [], [], [], 5, kernels=kernels).tolist() == []


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(WIDTHS),
    st.integers(0, 3),
    st.integers(0, 1 << 32),
    st.integers(-1, 4),
    st.integers(0, 4100),
)
def test_kernel_and_twin_agree_on_any_bytes(
    both: tuple[Kernels, None],
    shape: tuple[int, int],
    blocks: int,
    seed: int,
    slip: int,
    count: int,
) -> None:
    bits, width = shape
    rng = np.random.default_rng(seed)
    step = bits // 8 + 128 * width
    data = rng.integers(0, 256, blocks * step + slip + 1, np.uint8)
    starts = np.arange(blocks) * step + slip
    if seed % 4:
        for at in starts[starts >= 0]:
            data[at : at + bits // 8] = list(width.to_bytes(bits // 8, "little"))
    data.setflags(write=False)
    sizes = rng.choice([0, 2, 128, 256, 2 * width, 128 * width], blocks)
    counts = rng.choice([0, 1, width, 1024, 1025, count], blocks)
    for call in (
        lambda k: fastlanes.unpack_inline(data, starts, bits, count, kernels=k),
        lambda k: fastlanes.unpack_blocks(data, starts, width, bits, kernels=k),
        lambda k: fastlanes.unpack_levels(data, starts, sizes, counts, width, kernels=k),
    ):
        assert outcome(partial(call, both[0])) == outcome(partial(call, both[1]))
