"""FastLanes bit packing: blocks of 1,024 unsigned values of T bits, packed to W bits each.

A block has T rows of 1024/T lanes. The values of one lane, row by row, are one LSB-first stream of
T*W bits, cut in T-bit words; word k of lane l is the block's word ``k * lanes + l``. Row r, lane l
is the value ``ORDER[r // 8] * 16 + (r % 8) * 128 + l``.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native
from rangeio.codecs.bounds import Bytes, Levels, Offsets, Words
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

BLOCK = 1024
_LEVEL = np.dtype("<u2")
ORDER = (0, 4, 2, 6, 1, 5, 3, 7)
_DTYPES: dict[int, np.dtype[np.unsignedinteger]] = {
    8: np.dtype("u1"),
    16: _LEVEL,
    32: np.dtype("<u4"),
    64: np.dtype("<u8"),
}


def unpack_inline(
    data: Bytes,
    starts: npt.ArrayLike,
    bits: int,
    count: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> Words:
    """The first ``count`` values of many blocks, each with its width in front.

    Block k begins at byte ``starts[k]`` of ``data``: one word of ``bits`` (8, 16, 32, 64) bits
    that holds its width W, then ``128 * W`` bytes. Blocks that ``count`` does not reach are not
    looked at. Raises Corrupt for widths above ``bits``, blocks outside ``data``, too few blocks.
    """
    dtype = _DTYPES[bits]
    at = _enough(bounds.offsets(starts), count)
    bounds.within(at, dtype.itemsize, len(data), "bit-packed block")
    if len(at) * dtype.itemsize > len(data):
        raise Corrupt(f"{len(at)} bit-packed blocks in {len(data)} bytes")
    out = bounds.room(len(at) * BLOCK * dtype.itemsize, "bit-packed values")
    if kernels is not None:
        bad = kernels.unpack_inline(data, at, bits, out)
    else:
        bad = _inline(data, at, out.view(dtype))
    if bad >= 0:
        raise Corrupt(f"bit-packed block {bad}: its width does not fit {bits} bits or the buffer")
    return cast("Words", out.view(dtype)[:count])


def unpack_blocks(
    data: Bytes,
    starts: npt.ArrayLike,
    width: int,
    bits: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> Words:
    """All values, 1,024 a block, of blocks of one ``width`` that lie at ``starts`` of ``data``.

    Raises Corrupt for a width above ``bits`` and for blocks outside ``data``.
    """
    dtype = _DTYPES[bits]
    at = bounds.offsets(starts)
    _check_width(width, bits)
    bounds.within(at, 128 * width, len(data), "bit-packed block")
    out = bounds.room(len(at) * BLOCK * dtype.itemsize, "bit-packed values")
    if kernels is not None:
        kernels.unpack_blocks(data, at, width, bits, out)
    else:
        _blocks(data, at, width, out.view(dtype).reshape(-1, BLOCK))
    return cast("Words", out.view(dtype))


def unpack_levels(
    data: Bytes,
    starts: npt.ArrayLike,
    sizes: npt.ArrayLike,
    counts: npt.ArrayLike,
    width: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> Levels:
    """The 16-bit levels of many chunks, one after the other.

    Chunk k holds ``counts[k]`` levels in the ``sizes[k]`` bytes at ``starts[k]``: whole blocks of
    ``128 * width`` bytes, then the rest either as raw 16-bit words or as one more block, which the
    size decides (raw where both fit). Raises Corrupt where no reading fits the size.
    """
    at, size, number = (bounds.offsets(x) for x in (starts, sizes, counts))
    _check_width(width, 16)
    bounds.within(at, size, len(data), "level chunk")
    present = bounds.total(size, len(data), "bytes of level chunks")
    _check_sizes(size, number, width)
    # A level of width 0 may take no bytes at all: a chunk counts its levels in 16 bits.
    most = len(at) << 16 if width == 0 else 8 * present
    entries = bounds.total(number, most, "levels of all chunks")
    out = bounds.room(2 * (entries + BLOCK), "levels").view(_LEVEL)
    if kernels is not None:
        kernels.unpack_levels(data, at, size, number, width, out)
    else:
        _levels(data, at, size, number, width, out)
    return out[:entries]


def _check_sizes(sizes: Offsets, counts: Offsets, width: int) -> None:
    """Raise Corrupt unless each size is that of its levels, by one of the two readings."""
    block = 128 * width
    full, rest = np.divmod(counts, BLOCK)
    raw = sizes == full * block + 2 * rest
    padded = (rest > 0) & (sizes == (full + 1) * block)
    good = (raw | padded) & (counts >= 0)
    if not good.all():
        k = int(np.argmin(good))
        raise Corrupt(f"level chunk {k}: {counts[k]} levels of {width} bits in {sizes[k]} bytes")


def _enough(starts: Offsets, count: int) -> Offsets:
    needed = -(-count // BLOCK)
    if count < 0 or needed > len(starts):
        raise Corrupt(f"{count} values in {len(starts)} bit-packed blocks of {BLOCK}")
    return starts[:needed]


def _check_width(width: int, bits: int) -> None:
    if not 0 <= width <= bits:
        raise Corrupt(f"a bit width of {width} for values of {bits} bits")


# ---- the numpy twins ---------------------------------------------------------------------------


def _inline(data: Bytes, starts: Offsets, out: Words) -> int:
    word = out.dtype.itemsize
    widths = bounds.words(data, starts, out.dtype)
    fits = widths <= 8 * word
    sizes = np.where(fits, widths, 0).astype(np.int64) * 128
    bad = ~fits | (starts + word + sizes > len(data))
    if bad.any():
        return int(np.argmax(bad))
    blocks = out.reshape(-1, BLOCK)
    for width in np.unique(widths):
        chosen = np.flatnonzero(widths == width)
        part = np.empty((len(chosen), BLOCK), out.dtype)
        _blocks(data, starts[chosen] + word, int(width), part)
        blocks[chosen] = part
    return -1


def _blocks(data: Bytes, starts: Offsets, width: int, out: Words) -> None:
    """Unpack into ``out``, of shape (blocks, 1024): a step a row, for all blocks."""
    if width == 0:
        out[:] = 0
        return
    dtype = out.dtype
    bits = 8 * dtype.itemsize
    lanes = BLOCK // bits
    words = bounds.windows(data, starts, 128 * width).view(dtype).reshape(-1, width, lanes)
    mask = dtype.type((1 << width) - 1)
    grid = out.reshape(-1, 8, 128)
    for row in range(bits):
        word, shift = divmod(row * width, bits)
        value = words[:, word] >> dtype.type(shift)
        if shift + width > bits:
            value |= words[:, word + 1] << dtype.type(bits - shift)
        first = ORDER[row // 8] * 16
        grid[:, row % 8, first : first + lanes] = value & mask


def _levels(
    data: Bytes, starts: Offsets, sizes: Offsets, counts: Offsets, width: int, out: Levels
) -> None:
    block = 128 * width
    full, rest = np.divmod(counts, BLOCK)
    raw = sizes == full * block + 2 * rest
    packed = full + (~raw & (rest > 0))
    owner = np.repeat(np.arange(len(starts)), packed)
    nth = np.arange(len(owner)) - np.repeat(np.cumsum(packed) - packed, packed)
    values = np.empty((len(owner), BLOCK), out.dtype)
    _blocks(data, starts[owner] + nth * block, width, values)
    begin = np.cumsum(counts) - counts
    whole = nth < full[owner]
    places = begin[owner] + nth * BLOCK
    for place, row in zip(places[whole].tolist(), values[whole], strict=True):
        out[place : place + BLOCK] = row
    for k, row in zip(owner[~whole].tolist(), values[~whole], strict=True):
        place = int(begin[k] + full[k] * BLOCK)
        out[place : place + rest[k]] = row[: rest[k]]
    for k in np.flatnonzero(raw & (rest > 0)).tolist():
        place, at = int(begin[k] + full[k] * BLOCK), int(starts[k] + full[k] * block)
        out[place : place + rest[k]] = data[at : at + 2 * rest[k]].view(out.dtype)
