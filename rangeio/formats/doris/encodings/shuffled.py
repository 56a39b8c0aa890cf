"""BIT_SHUFFLE values of one size: a head of four words, then bitshuffle blocks."""

from __future__ import annotations

import numpy as np

from rangeio.codecs import bitshuffle
from rangeio.errors import Corrupt, RequestError, Truncated
from rangeio.formats.doris.encodings.values import Fixed

_HEAD = 16
SIZES = (1, 2, 3, 4, 8, 12, 16, 32)


def decoded(size: int, body: memoryview, count: int) -> Fixed:
    """``count`` values; those that fill up the last eight are left out."""
    if len(body) < _HEAD:
        raise Truncated(f"a shuffled page of {len(body)} bytes")
    found, stored, padded, each = np.frombuffer(body, "<u4", 4).tolist()
    if (found, stored, each) != (count, len(body), size) or size not in SIZES:
        raise Corrupt(
            f"a shuffled page of {found} values of {each} bytes in {stored}, "
            f"not {count} of {size} in {len(body)}"
        )
    if padded != -(-count // 8) * 8:
        raise Corrupt(f"{count} shuffled values filled up to {padded}")
    return Fixed(bitshuffle.decode(body[_HEAD:], padded, size)[:count])


def encoded(values: Fixed) -> bytes:
    """Head and blocks; the values are filled up with zeros to a multiple of 8."""
    count, size = values.data.shape
    if size not in SIZES:
        raise RequestError(f"values of {size} bytes cannot be shuffled")
    padded = np.zeros((-(-count // 8) * 8, size), np.uint8)
    padded[:count] = values.data
    blocks = bitshuffle.encode(padded)
    head = np.array([count, _HEAD + len(blocks), len(padded), size], "<u4")
    return head.tobytes() + blocks
