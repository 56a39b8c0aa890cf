"""Split-block bloom filters: one small header and one 32-byte block answer for one value."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from rangeio.codecs import thrift
from rangeio.codecs.xxh64 import xxh64
from rangeio.errors import Corrupt
from rangeio.ranges import ByteRange

HEADER = 64
"""Bytes that hold a header; writers' headers take about 16."""

BLOCK = 32
"""Bytes of a block: eight words, in each of which a value sets one bit."""

_SALT = (
    *(0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D),
    *(0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31),
)
_WORDS = struct.Struct("<8I")
_BITSET, _ALGORITHM, _HASH, _COMPRESSION = 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Bloom:
    """A filter of a kind that is known. at: position of its bitset in the file. size: bytes."""

    at: int
    size: int


def header_range(offset: int, length: int | None, end: int) -> ByteRange:
    """What to fetch for the header of the filter at ``offset``.

    length: bytes of header and bitset where the file says so. end: the filter lies before it. An
    offset outside the file gives an empty range, whose bytes hold no header.
    """
    start = offset if 0 <= offset < end else end
    size = HEADER if length is None or length <= 0 else min(length, HEADER)
    return ByteRange(start, min(start + size, end))


def header(data: memoryview, offset: int, limit: int) -> Bloom | None:
    """The filter whose header ``data`` begins with; None for one that must not be asked.

    That is one of an unknown algorithm, hash or compression, one whose header is broken, one
    whose bitset is no positive multiple of a block or reaches beyond ``limit``: a filter only
    helps, so no lie of its header may fail a read. offset: position of ``data`` in the file.
    """
    try:
        head, stop = thrift.read(data)
        size = head.integer(_BITSET)
        kinds = [head.struct(field) for field in (_ALGORITHM, _HASH, _COMPRESSION)]
    except Corrupt:
        return None
    # Member 1 of each union: split blocks, XXH64, not compressed.
    known = all(kind is not None and list(kind) == [1] for kind in kinds)
    if not known or size is None or size <= 0 or size % BLOCK or offset + stop + size > limit:
        return None
    return Bloom(offset + stop, size)


def hashed(value: bytes) -> int:
    """The hash of a value from its PLAIN bytes, those of BYTE_ARRAY without their length."""
    return xxh64(value)


def block(bloom: Bloom, hashed: int) -> ByteRange:
    """Where the one block lies that knows of a value."""
    at = bloom.at + ((hashed >> 32) * (bloom.size // BLOCK) >> 32) * BLOCK
    return ByteRange(at, at + BLOCK)


def holds(block: memoryview, hashed: int) -> bool:
    """Whether the value may be there; False is certain. block: its :data:`BLOCK` bytes."""
    low = hashed & 0xFFFFFFFF
    bits = ((low * salt & 0xFFFFFFFF) >> 27 for salt in _SALT)
    return all(word >> bit & 1 for word, bit in zip(_WORDS.unpack(block), bits, strict=True))
