import random

import numpy as np
import pyarrow as pa
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import blocks
from rangeio.codecs.blocks import Scheme
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, FormatError, Truncated

TEXT = b"".join(b"%d bottles, " % i for i in range(2000))
SAMPLES = [b"", b"x", b"abc" * 1000, TEXT, bytes(100_000), random.Random(1).randbytes(70_000)]
MOST = 1 << 20


def lz4(raw: bytes, *, declared: int | None = None) -> memoryview:
    size = len(raw) if declared is None else declared
    return memoryview(size.to_bytes(4, "little") + pa.Codec("lz4_raw").compress(raw, asbytes=True))


def streamed(raw: bytes) -> bytes:
    """A ZSTD frame that does not state the size of its content."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(raw)
    return bytes(sink.getvalue())


def zstd(raw: bytes, *, declared: int | None = None, stated: bool = True) -> memoryview:
    size = len(raw) if declared is None else declared
    body = pa.Codec("zstd").compress(raw, asbytes=True) if stated else streamed(raw)
    return memoryview(size.to_bytes(8, "little") + body)


@pytest.mark.parametrize("raw", SAMPLES, ids=lambda raw: str(len(raw)))
def test_lz4_comes_back(raw: bytes, kernels: Kernels | None) -> None:
    got = blocks.decompress(Scheme.LZ4, lz4(raw), most=len(raw), kernels=kernels)
    assert bytes(got) == raw


@pytest.mark.parametrize("raw", SAMPLES, ids=lambda raw: str(len(raw)))
@pytest.mark.parametrize("stated", [True, False])
def test_zstd_comes_back(raw: bytes, stated: bool) -> None:
    got = blocks.decompress(Scheme.ZSTD, zstd(raw, stated=stated), most=len(raw))
    assert bytes(got) == raw


@pytest.mark.parametrize("raw", SAMPLES, ids=lambda raw: str(len(raw)))
@pytest.mark.parametrize("stated", [True, False])
def test_bare_zstd_frames_come_back(raw: bytes, stated: bool) -> None:
    bare = zstd(raw, stated=stated)[8:]
    assert bytes(blocks.decompress(Scheme.ZSTD, bare, most=MOST)) == raw
    if raw:
        with pytest.raises(Corrupt):
            blocks.decompress(Scheme.ZSTD, bare, most=len(raw) - 1)


def test_sizes_that_frames_state() -> None:
    """One, two, four and eight bytes of content size, and none."""
    for raw in (b"", b"x", bytes(255), bytes(256), bytes(65_791), bytes(65_792)):
        assert blocks._content_size(zstd(raw)[8:]) == len(raw)
    long = bytes((0x28, 0xB5, 0x2F, 0xFD, 0xE0)) + (1 << 40).to_bytes(8, "little")
    assert blocks._content_size(memoryview(long)) == 1 << 40
    assert blocks._content_size(zstd(b"abc", stated=False)[8:]) is None


@pytest.mark.parametrize("raw", SAMPLES[1:], ids=lambda raw: str(len(raw)))
@pytest.mark.parametrize("by", [-1, 1, 60])
def test_another_declared_size_is_corrupt(raw: bytes, by: int, kernels: Kernels | None) -> None:
    size = len(raw) + by
    for scheme, data in (
        (Scheme.LZ4, lz4(raw, declared=size)),
        (Scheme.ZSTD, zstd(raw, declared=size)),
        (Scheme.ZSTD, zstd(raw, declared=size, stated=False)),
    ):
        with pytest.raises(Corrupt):
            blocks.decompress(scheme, data, most=MOST, kernels=kernels)


@pytest.mark.parametrize("scheme", list(Scheme))
def test_a_declared_size_is_bounded_before_it_is_allocated(
    scheme: Scheme, kernels: Kernels | None
) -> None:
    raw = bytes(1000)
    good = lz4(raw) if scheme is Scheme.LZ4 else zstd(raw)
    with pytest.raises(Corrupt, match="at most 999"):
        blocks.decompress(scheme, good, most=999, kernels=kernels)
    head = 4 if scheme is Scheme.LZ4 else 8
    bomb = memoryview(b"\xff" * (head - 1) + b"\x7f" + bytes(good[head:]))
    with pytest.raises(Corrupt, match="could make"):
        blocks.decompress(scheme, bomb, most=1 << 63, kernels=kernels)


@pytest.mark.parametrize("scheme", list(Scheme))
def test_a_cut_block_is_refused(scheme: Scheme, kernels: Kernels | None) -> None:
    good = lz4(TEXT[:500]) if scheme is Scheme.LZ4 else zstd(TEXT[:500])
    for stop in range(len(good)):
        with pytest.raises((Corrupt, Truncated)):
            blocks.decompress(scheme, good[:stop], most=MOST, kernels=kernels)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([b"", b"a", TEXT[:300], bytes(5000)]),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=3),
)
def test_flipped_bytes_of_lz4_fare_alike(
    both: tuple[Kernels, None], raw: bytes, flips: list[tuple[int, int]]
) -> None:
    data = bytearray(lz4(raw))
    for at, value in flips:
        data[at % len(data)] = value
    view = memoryview(bytes(data))
    answers = [
        outcome(lambda k=k: blocks.decompress(Scheme.LZ4, view, most=MOST, kernels=k)) for k in both
    ]
    assert answers[0] == answers[1]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([b"", b"a", TEXT[:300], bytes(5000)]),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=3),
)
def test_flipped_bytes_of_zstd_raise_format_errors_only(
    raw: bytes, stated: bool, flips: list[tuple[int, int]]
) -> None:
    data = bytearray(zstd(raw, stated=stated))
    for at, value in flips:
        data[at % len(data)] = value
    try:
        got = blocks.decompress(Scheme.ZSTD, memoryview(bytes(data)), most=MOST)
    except FormatError:
        return
    assert len(got) <= MOST


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60))
def test_size_of_any_lz4_block(both: tuple[Kernels, None], block: bytes) -> None:
    """A block that Arrow decodes has the size that the kernel counts."""
    kernel, _ = both
    size = kernel.lz4_size(np.frombuffer(block, np.uint8))
    if size >= 0:
        assert blocks._lz4_raw(memoryview(block), size - 1) is None or size == 0
    else:
        for at_most in (0, 64, 4096):
            assert blocks._lz4_raw(memoryview(block), at_most) is None
