"""Bitshuffle with LZ4: elements in blocks, the bits of a block transposed, each block compressed.

A block is some 8 KiB of elements, their number a multiple of 8. Transposed, it has a row for every
bit of an element, lowest byte and lowest bit first, and in it one bit an element, LSB first. It is
stored as ``[u32 big-endian size][raw LZ4 block]``.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rangeio.codecs import blocks, bounds, native
from rangeio.codecs.blocks import Scheme
from rangeio.codecs.bounds import Bytes
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

_BLOCK_BYTES = 8192
_MOST_BYTES = 32  # of an element: with 32 a block is 256 elements
_RATIO = 255  # no LZ4 block makes more of its bytes


def decode(
    data: memoryview, count: int, size: int, *, kernels: Kernels | None = native.kernels
) -> Bytes:
    """``count`` elements of ``size`` bytes, uint8 of shape (count, size), the caller's own.

    ``count`` is a multiple of 8. Raises Corrupt where ``data`` is anything but their blocks; what
    it could not hold is not allocated.
    """
    raw = np.frombuffer(data, np.uint8)
    _elements(size)
    if count < 0 or count % 8 or count * size > _RATIO * len(raw):
        raise Corrupt(f"{count} elements of {size} bytes, shuffled into {len(raw)}")
    out = bounds.room(count * size, "shuffled elements")
    bad = (_decode if kernels is None else kernels.unshuffle)(raw, count, size, out)
    if bad >= 0:
        raise Corrupt(f"bitshuffle block {bad} of {count} elements does not decode, or not to it")
    return out.reshape(count, size)


def encode(elements: Bytes, *, kernels: Kernels | None = native.kernels) -> bytes:
    """The blocks of elements, uint8 of shape (a multiple of 8, size)."""
    count, size = elements.shape
    _elements(size)
    if count % 8:
        raise ValueError(f"{count} elements are no multiple of 8")
    raw = np.ascontiguousarray(elements).reshape(-1)
    out = np.empty(len(raw), np.uint8)
    (_shuffle if kernels is None else kernels.shuffle)(raw, size, out)
    codec, step = pa.Codec("lz4_raw"), block_of(size) * size
    parts: list[bytes] = []
    for at in range(0, len(out), step):
        block = codec.compress(out[at : at + step], asbytes=True)
        parts += len(block).to_bytes(4, "big"), block
    return b"".join(parts)


def block_of(size: int) -> int:
    """How many elements of ``size`` bytes a block has."""
    return _BLOCK_BYTES // size // 8 * 8


def _elements(size: int) -> None:
    if not 1 <= size <= _MOST_BYTES:
        raise Corrupt(f"shuffled elements of {size} bytes")


# ---- the numpy twins ---------------------------------------------------------------------------


def _decode(data: Bytes, count: int, size: int, out: Bytes) -> int:
    raw, at, place = data.data, 0, 0
    step = block_of(size)
    for k, first in enumerate(range(0, count, step)):
        number = min(step, count - first)
        stored = int.from_bytes(raw[at : at + 4], "big")
        if at + 4 + stored > len(raw):
            return k
        rows = _unpacked(raw[at + 4 : at + 4 + stored], number * size)
        if rows is None:
            return k
        out[place : place + number * size] = _elements_of(rows, size)
        at, place = at + 4 + stored, place + number * size
    return -1 if at == len(raw) else -(-count // step)


def _unpacked(block: memoryview, size: int) -> Bytes | None:
    """The ``size`` bytes of a raw LZ4 block, None where it does not decode to them."""
    sized = size.to_bytes(4, "little") + bytes(block)
    try:
        whole = blocks.decompress(Scheme.LZ4, memoryview(sized), most=size, kernels=None)
    except Corrupt:
        return None
    return np.frombuffer(whole, np.uint8)


def _elements_of(rows: Bytes, size: int) -> Bytes:
    """One block's elements of its rows of bits."""
    bits = np.unpackbits(rows, bitorder="little").reshape(8 * size, -1)
    return np.packbits(np.ascontiguousarray(bits.T).reshape(-1), bitorder="little")


def _shuffle(data: Bytes, size: int, out: Bytes) -> None:
    step = block_of(size) * size
    for at in range(0, len(data), step):
        bits = np.unpackbits(data[at : at + step], bitorder="little").reshape(-1, 8 * size)
        rows = np.ascontiguousarray(bits.T).reshape(-1)
        out[at : at + step] = np.packbits(rows, bitorder="little")
