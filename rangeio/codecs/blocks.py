"""Compressed blocks with their size in front: LZ4 ``[u32 size][raw block]``, ZSTD ``[u64
size][frame]`` or a bare frame."""

from __future__ import annotations

import enum

import numpy as np
import pyarrow as pa

from rangeio.codecs import native
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, Truncated

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 20


class Scheme(enum.IntEnum):
    """How a block is compressed, numbered as Lance numbers it."""

    LZ4 = 1
    ZSTD = 2


def decompress(
    scheme: Scheme, data: memoryview, *, most: int, kernels: Kernels | None = native.kernels
) -> memoryview:
    """The bytes of one block, in a buffer of its own.

    Raises Corrupt where it declares more than ``most`` bytes or more than the scheme could make
    of what is there (both before anything is allocated), and where it does not decode to exactly
    what it declares; Truncated where it has no head.
    """
    if scheme is Scheme.LZ4:
        return _lz4(data, most, kernels)
    if data[:4] == _ZSTD_MAGIC:
        return _bare(data, most)
    return _zstd(data, most)


def _declared(data: memoryview, head: int, most: int, ratio: int, floor: int) -> int:
    if len(data) < head:
        raise Truncated(f"a compressed block of {len(data)} bytes has no head of {head}")
    size = int.from_bytes(data[:head], "little")
    possible = ratio * (len(data) - head) + floor
    if size > min(most, possible):
        raise Corrupt(
            f"a compressed block declares {size} bytes: at most {most} are asked for, and "
            f"{len(data) - head} could make {possible}"
        )
    return size


# ---- LZ4 ---------------------------------------------------------------------------------------


def _lz4(data: memoryview, most: int, kernels: Kernels | None) -> memoryview:
    size = _declared(data, 4, most, 255, 64)
    block = data[4:]
    if kernels is not None:
        found = kernels.lz4_size(np.frombuffer(block, np.uint8))
        if found != size:
            raise Corrupt(f"an LZ4 block of {found} bytes that declares {size}")
    elif size and _lz4_raw(block, size - 1) is not None:
        # Arrow does not say how much it wrote: a block that fits one byte less is too short.
        raise Corrupt(f"an LZ4 block of fewer than the {size} bytes that it declares")
    out = _lz4_raw(block, size)
    if out is None:
        raise Corrupt(f"an LZ4 block that does not decode to the {size} bytes that it declares")
    return out


def _lz4_raw(block: memoryview, size: int) -> memoryview | None:
    """What the block decodes to in at most ``size`` bytes, None where it does not fit."""
    if not len(block):
        return None
    try:
        return memoryview(pa.Codec("lz4_raw").decompress(block, decompressed_size=size))
    except (pa.ArrowException, OSError):
        return None


# ---- ZSTD --------------------------------------------------------------------------------------


def _zstd(data: memoryview, most: int) -> memoryview:
    # No block of a frame takes fewer than 4 bytes or makes more than 128 KiB.
    size = _declared(data, 8, most, 1 << 15, 0)
    frame = data[8:]
    if _content_size(frame) != size:
        out = _streamed(frame, size)
        if len(out) != size:
            raise Corrupt(f"a ZSTD frame of fewer than the {size} bytes that it declares")
        return out
    try:
        return memoryview(pa.Codec("zstd").decompress(frame, decompressed_size=size))
    except (pa.ArrowException, OSError) as error:
        raise Corrupt(f"a ZSTD frame that does not decode: {error}") from error


def _bare(frame: memoryview, most: int) -> memoryview:
    size = _content_size(frame)
    if size is not None and size > most:
        raise Corrupt(f"a ZSTD frame of {size} bytes, where at most {most} are asked for")
    return _streamed(frame, most)


def _streamed(frame: memoryview, most: int) -> memoryview:
    """All that a frame decodes to; Corrupt where that is more than ``most`` bytes."""
    out = bytearray()
    try:
        with pa.CompressedInputStream(pa.BufferReader(frame), "zstd") as stream:
            while piece := stream.read(min(_PIECE, most + 1 - len(out))):
                out += piece
                if len(out) > most:
                    raise Corrupt(f"a ZSTD frame of more than {most} bytes")
    except (pa.ArrowException, OSError) as error:
        raise Corrupt(f"a ZSTD frame that does not decode: {error}") from error
    return memoryview(out)


def _content_size(frame: memoryview) -> int | None:
    """The size that a frame's own header states, None where it states none."""
    if len(frame) < 5 or frame[:4] != _ZSTD_MAGIC:
        return None
    flags = frame[4]
    single = flags >> 5 & 1
    width = (single, 2, 4, 8)[flags >> 6]
    at = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3]
    if not width or len(frame) < at + width:
        return None
    return int.from_bytes(frame[at : at + width], "little") + (256 if width == 2 else 0)
