"""Bodies of pages through every scheme, and what does not decode to what was declared."""

import zlib

import numpy as np
import pyarrow as pa
import pytest

from rangeio.codecs import native
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, FormatError, RequestError, Unsupported
from rangeio.formats.doris.compression import compress, decompress
from rangeio.formats.doris.words import Compression

SCHEMES = [
    Compression.SNAPPY,
    Compression.LZ4,
    Compression.LZ4F,
    Compression.ZLIB,
    Compression.ZSTD,
    Compression.LZ4HC,
]
NONE = [Compression.UNKNOWN, Compression.DEFAULT, Compression.NONE]
TEXT = b"pages of the same words, pages of the same bytes; " * 40
NOISE = np.random.default_rng(5).integers(0, 256, 3000, np.uint8).tobytes()


@pytest.fixture(params=["native", "twin"])
def kernels(request: pytest.FixtureRequest) -> Kernels | None:
    if request.param == "twin":
        return None
    if native.kernels is None:
        pytest.skip(f"no native kernels: {native.why_not}")
    return native.kernels


def pressed(scheme: Compression, body: bytes) -> bytes:
    out = compress(scheme, body)
    assert out is not None
    return out


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("body", [b"", b"a", TEXT, NOISE, bytes(1 << 20), TEXT * 200])
def test_round_trip(scheme: Compression, body: bytes, kernels: Kernels | None) -> None:
    data = pressed(scheme, body)
    got = decompress(scheme, memoryview(data), len(body), kernels=kernels)
    assert got == body
    assert got.format == "B"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_byte_more_or_less_is_corrupt(scheme: Compression, kernels: Kernels | None) -> None:
    for body in (TEXT, NOISE, b"a"):
        data = memoryview(pressed(scheme, body))
        for size in (len(body) - 1, len(body) + 1, 0, 2 * len(body) + 1):
            if size != len(body):
                with pytest.raises(Corrupt, match=scheme.name):
                    decompress(scheme, data, size, kernels=kernels)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("size", [-1, 1 << 31, (1 << 32) - 1, 1 << 62])
def test_sizes_that_the_bytes_cannot_become_are_corrupt(scheme: Compression, size: int) -> None:
    with pytest.raises(Corrupt, match="cannot become"):
        decompress(scheme, memoryview(pressed(scheme, TEXT)), size)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_cut_anywhere_it_is_corrupt(scheme: Compression, kernels: Kernels | None) -> None:
    data = memoryview(pressed(scheme, TEXT))
    for cut in range(len(data)):
        with pytest.raises(Corrupt):
            decompress(scheme, data[:cut], len(TEXT), kernels=kernels)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_flipped_bytes_raise_only_format_errors(scheme: Compression) -> None:
    data = pressed(scheme, TEXT + NOISE[:200])
    for at in range(len(data)):
        for bit in (0, 4, 7):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            try:
                got = decompress(scheme, memoryview(damaged), len(TEXT) + 200)
            except FormatError:
                continue
            assert len(got) == len(TEXT) + 200


def test_zstd_frames_that_do_not_state_their_size() -> None:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(TEXT)
    data = memoryview(sink.getvalue())
    assert decompress(Compression.ZSTD, data, len(TEXT)) == TEXT
    for size in (len(TEXT) - 1, len(TEXT) + 1):
        with pytest.raises(Corrupt):
            decompress(Compression.ZSTD, data, size)


def test_bytes_behind_a_zlib_stream_are_corrupt() -> None:
    with pytest.raises(Corrupt):
        decompress(Compression.ZLIB, memoryview(zlib.compress(TEXT) + b"?"), len(TEXT))


def test_lz4hc_is_read_as_lz4() -> None:
    data = memoryview(pressed(Compression.LZ4HC, TEXT))
    assert decompress(Compression.LZ4, data, len(TEXT)) == TEXT


@pytest.mark.parametrize("scheme", NONE)
def test_what_is_no_scheme(scheme: Compression) -> None:
    if scheme is Compression.NONE:
        assert compress(scheme, TEXT) is None
        with pytest.raises(Corrupt, match="nothing is compressed"):
            decompress(scheme, memoryview(b"abc"), 100)
    else:
        with pytest.raises(RequestError, match=scheme.name):
            compress(scheme, TEXT)
        with pytest.raises(Unsupported, match=scheme.name):
            decompress(scheme, memoryview(b"abc"), 100)
