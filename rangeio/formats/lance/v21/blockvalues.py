"""Block encodings: the values of one buffer as a unit, and the levels of many chunks.

Dictionaries, the levels of chunks and those of constant pages are stored so.
"""

from __future__ import annotations

import numpy as np

from rangeio.codecs import blocks, bounds, fastlanes, rle, variable
from rangeio.codecs.bounds import Bytes, Levels, Offsets
from rangeio.errors import Corrupt, Truncated
from rangeio.formats.lance.v21.chunkvalues import Buffers, words
from rangeio.formats.lance.v21.encodings import (
    Bitpacked,
    Encoding,
    FixedList,
    Flat,
    General,
    InlineBitpacked,
    Runs,
    Same,
    Variable,
    unsupported,
)
from rangeio.formats.lance.v21.values import MOST, Bits, Fixed, FixedLists, Values, Varied

_MOST_ZEROS = 1 << 24  # values of a block that takes no bytes
_RUN = 255  # the most that one byte of run length makes


def decode(encoding: Encoding, data: Bytes, count: int) -> Values:
    """The ``count`` values of one block. Raises Corrupt where the bytes do not hold them."""
    if isinstance(encoding, General):
        raw = blocks.decompress(encoding.scheme, data.data, most=MOST)
        return decode(encoding.values, np.frombuffer(raw, np.uint8), count)
    if isinstance(encoding, Variable):
        return _variable(data, count)
    if isinstance(encoding, FixedList) and not encoding.nullable:
        if count > MOST // encoding.size:
            raise Corrupt(f"{count} lists of {encoding.size} items in one block")
        return FixedLists(
            decode(encoding.values, data, count * encoding.size), encoding.size, None, count
        )
    if encoding == Flat(1):
        return _bits(data, count)
    return _fixed(encoding, data, count)


def _bits(data: Bytes, count: int) -> Bits:
    size = -(-count // 8)
    if size > len(data):
        raise Corrupt(f"{count} bits in a block of {len(data)} bytes")
    return Bits(data[:size], count)


def _fixed(encoding: Encoding, data: Bytes, count: int) -> Fixed:
    if isinstance(encoding, Flat) and encoding.bits % 8 == 0:
        size = encoding.bits // 8
        if count > len(data) // size:
            raise Corrupt(f"{count} values of {size} bytes in a block of {len(data)}")
        return Fixed(data[: count * size], size, count)
    if isinstance(encoding, InlineBitpacked):
        out = fastlanes.unpack_inline(
            data, _chain(data, encoding.bits, count), encoding.bits, count
        )
        return Fixed(out.view(np.uint8), encoding.bits // 8, count)
    if isinstance(encoding, Bitpacked):
        return _outline(encoding, data, count)
    if isinstance(encoding, Runs):
        return _runs(encoding, data, count)
    raise unsupported(encoding, "a block")


def _chain(data: Bytes, bits: int, count: int) -> list[int]:
    """Where each inline bit-packed block of a buffer begins: they follow one another."""
    starts, at, size = [], 0, bits // 8
    for _ in range(-(-count // fastlanes.BLOCK)):
        if at + size > len(data):
            raise Corrupt(f"{count} values in a bit-packed block of {len(data)} bytes")
        starts.append(at)
        at += size + 128 * int.from_bytes(data[at : at + size].tobytes(), "little")
    return starts


def _outline(encoding: Bitpacked, data: Bytes, count: int) -> Fixed:
    """Blocks of one width; the rest is one more block, or raw words where the size says so."""
    width, size = encoding.width, encoding.bits // 8
    if not width and count > _MOST_ZEROS:
        raise Corrupt(f"{count} values without a byte")
    full, rest = divmod(count, fastlanes.BLOCK)
    if full * 128 * width > len(data):
        raise Corrupt(f"{count} values of {width} bits in {len(data)} bytes")
    raw = rest > 0 and len(data) == full * 128 * width + rest * size
    number = full + (rest > 0 and not raw)
    starts = np.arange(number, dtype=np.int64) * (128 * width)
    out = fastlanes.unpack_blocks(data, starts, width, encoding.bits).view(np.uint8)
    if raw:
        out = np.concatenate((out, data[full * 128 * width :]))
    return Fixed(out[: count * size], size, count)


def _runs(encoding: Runs, data: Bytes, count: int) -> Fixed:
    """``[u64 bytes of values][values][u8 lengths]``."""
    if not isinstance(encoding.values, Flat) or encoding.values.bits % 8:
        raise unsupported(encoding.values, "run values")
    if encoding.lengths != Flat(8):
        raise unsupported(encoding.lengths, "run lengths")
    head = int.from_bytes(_head(data, 0, 8), "little")
    size = encoding.values.bits // 8
    if head % size or head > len(data) - 8:
        raise Corrupt(f"run values of {head} bytes in a block of {len(data)}")
    lengths = data[8 + head :]
    if count > _RUN * len(lengths) or count > MOST // size:
        raise Corrupt(f"{count} values in {len(lengths)} runs")
    out = rle.expand(words(data[8 : 8 + head].copy(), size), lengths, count)
    return Fixed(out.view(np.uint8), size, count)


def _variable(data: Bytes, count: int) -> Varied:
    """``[u32 32][u32 start][offsets][bytes]``, or the same in words of 64 bits."""
    bits = int.from_bytes(_head(data, 0, 4), "little")
    if bits not in (32, 64):
        raise Corrupt(f"a block of variable width with offsets of {bits} bits")
    size = bits // 8
    start = int.from_bytes(_head(data, size, size), "little")
    if start > len(data) or start - 2 * size != (count + 1) * size:
        raise Corrupt(
            f"{count} values in a block of {len(data)} bytes whose bytes begin at {start}"
        )
    offsets = bounds.offsets(np.frombuffer(data[2 * size : start].tobytes(), f"<u{size}"))
    bounds.ascending(offsets, len(data) - start, "value")
    return Varied(offsets, data[start:])


def _head(data: Bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise Truncated(f"a block of {len(data)} bytes without its head")
    return data[at : at + size].tobytes()


def levels(encoding: Encoding, chunks: Buffers, counts: Offsets) -> Levels:
    """The 16-bit levels of all chunks, one after the other."""
    if isinstance(encoding, Bitpacked) and encoding.bits == 16:
        return fastlanes.unpack_levels(
            chunks.data, chunks.starts, chunks.sizes, counts, encoding.width
        )
    if isinstance(encoding, Flat) and encoding.bits == 16:
        chunks.hold(counts * 2, "level")
        return variable.gather(chunks.data, chunks.starts, counts * 2).view("<u2")
    parts = [
        one_level(encoding, chunks.data[at : at + size], count)
        for at, size, count in zip(
            chunks.starts.tolist(), chunks.sizes.tolist(), counts.tolist(), strict=True
        )
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.uint16)


def one_level(encoding: Encoding, data: Bytes, count: int) -> Levels:
    """The 16-bit levels of one buffer."""
    if isinstance(encoding, Same) and encoding.value is not None and len(encoding.value) == 2:
        if count > _MOST_ZEROS:
            raise Corrupt(f"{count} levels without a byte")
        return np.full(count, int.from_bytes(encoding.value, "little"), np.uint16)
    found = decode(encoding, data, count)
    if not isinstance(found, Fixed) or found.size != 2:
        raise unsupported(encoding, "levels")
    return np.frombuffer(found.data.tobytes(), "<u2")
