"""The bodies of pages, compressed: no size is stored with them, the page's footer has it."""

from __future__ import annotations

import zlib

import numpy as np
import pyarrow as pa

from rangeio.codecs import blocks, native, varints
from rangeio.codecs.blocks import Scheme
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, FormatError, RequestError, Unsupported
from rangeio.formats.doris.words import Compression, worded

_ARROW = {
    Compression.SNAPPY: "snappy",
    Compression.LZ4: "lz4_raw",
    Compression.LZ4F: "lz4",
    Compression.ZSTD: "zstd",
    Compression.LZ4HC: "lz4_raw",
}
_LEVELS = {Compression.ZSTD: 3, Compression.LZ4HC: 9}
# The most bytes that one byte can become, and what a body without content may claim besides.
_RATIOS = {
    Compression.SNAPPY: 32,  # a copy of 64 bytes takes 2 or more
    Compression.LZ4: 255,
    Compression.LZ4F: 255,
    Compression.ZLIB: 1032,
    Compression.ZSTD: 1 << 15,  # a block of 128 KiB takes 4 or more
    Compression.LZ4HC: 255,
}
_FLOOR = 64


def compress(scheme: Compression, body: bytes) -> bytes | None:
    """The body as ``scheme`` has it, None where the scheme is none.

    Raises RequestError for a scheme that pages do not have.
    """
    if scheme is Compression.NONE:
        return None
    if scheme is Compression.ZLIB:
        return zlib.compress(body)
    if scheme not in _ARROW:
        raise RequestError(f"pages are not compressed by {worded(Compression, scheme)}")
    codec = pa.Codec(_ARROW[scheme], compression_level=_LEVELS.get(scheme))
    return bytes(codec.compress(body, asbytes=True))


def decompress(
    scheme: Compression,
    data: memoryview,
    size: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> memoryview:
    """The ``size`` bytes that ``data`` was made from, in a buffer of their own.

    Raises Corrupt where it could not become so many (before anything is allocated) or does not
    decode to exactly them, and Unsupported for a scheme that pages do not have.
    """
    if scheme is Compression.NONE:
        raise Corrupt(f"{size} bytes in {len(data)}, and nothing is compressed")
    if scheme not in _RATIOS:
        raise Unsupported(f"a page compressed by {worded(Compression, scheme)}")
    if not 0 <= size <= _RATIOS[scheme] * len(data) + _FLOOR:
        raise Corrupt(f"{scheme.name}: {len(data)} bytes cannot become {size}")
    try:
        # Arrow's buffers are views of signed bytes.
        return _decompressed(scheme, data, size, kernels).cast("B")
    except FormatError as error:
        raise Corrupt(f"{scheme.name}: {error.reason}") from None
    except (pa.ArrowException, OSError, zlib.error) as error:
        raise Corrupt(f"{scheme.name}: a body that does not decode: {error}") from None


def _decompressed(
    scheme: Compression, data: memoryview, size: int, kernels: Kernels | None
) -> memoryview:
    """What Arrow or zlib makes of it; each way tells a body of fewer or more bytes."""
    if scheme is Compression.ZLIB:
        return _zlib(data, size)
    if _ARROW[scheme] == "lz4_raw":
        sized = size.to_bytes(4, "little") + bytes(data)
        return blocks.decompress(Scheme.LZ4, memoryview(sized), most=size, kernels=kernels)
    if scheme is Compression.SNAPPY:
        _, declared = varints.read(data, 0)
        if declared != size:
            raise Corrupt(f"a body of {declared} bytes, where the page has {size}")
    if scheme is Compression.LZ4F:
        return _frame(data, size)
    return memoryview(pa.Codec(_ARROW[scheme]).decompress(data, decompressed_size=size))


def _zlib(data: memoryview, size: int) -> memoryview:
    stream = zlib.decompressobj()
    out = stream.decompress(data, size + 1)
    if len(out) != size or not stream.eof or stream.unused_data:
        raise Corrupt(f"a body that is not {size} bytes and no more")
    return memoryview(out)


def _frame(data: memoryview, size: int) -> memoryview:
    """An LZ4 frame. Arrow does not say how much it wrote, so it is read as a stream, which does."""
    out = np.empty(size + 1, np.uint8)
    with pa.CompressedInputStream(pa.BufferReader(data), "lz4") as stream:
        found = stream.readinto(out)
    if found != size:
        raise Corrupt(f"a frame that is not {size} bytes")
    return out[:size].data
