"""Block bloom filters of data pages: blocks of 32 bytes, then a byte that says whether NULL is
there."""

from __future__ import annotations

import math

import numpy as np

from rangeio.codecs import murmur3
from rangeio.codecs.bounds import Offsets
from rangeio.codecs.murmur3 import Hashes
from rangeio.formats.doris.encodings.values import Binary, Fixed, Values
from rangeio.formats.doris.words import FieldType

SEED = 1575457558
BLOCK = 32
FALSE_POSITIVES = 0.05
"""The share of absent values that seem present, as Doris sets it by default."""

_MOST = 128 << 20
_SALT = np.array(
    [
        *(0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D),
        *(0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31),
    ],
    np.uint32,
)
_F = FieldType
_TAKEN = frozenset(
    (
        *(_F.SMALLINT, _F.INT, _F.UINT, _F.BIGINT, _F.LARGEINT, _F.CHAR, _F.VARCHAR, _F.STRING),
        *(_F.DATE, _F.DATETIME, _F.DATEV2, _F.DATETIMEV2, _F.TIMESTAMPTZ, _F.IPV4, _F.IPV6),
        *(_F.DECIMAL, _F.DECIMAL32, _F.DECIMAL64, _F.DECIMAL128I, _F.DECIMAL256),
    )
)


def is_taken(field: int) -> bool:
    """Whether Doris makes bloom filters of the type."""
    return field in _TAKEN


def hashed(raw: bytes) -> int:
    """The hash of a value from its storage bytes."""
    return murmur3.murmur3(raw, SEED)


def holds(bloom: bytes | memoryview, hashed: int) -> bool:
    """Whether the value may be in the page; False is certain.

    A filter that is none, by its size, knows nothing and says True.
    """
    size = len(bloom) - 1
    if size < BLOCK or size & size - 1:
        return True
    at = (hashed >> 32 & size // BLOCK - 1) * BLOCK
    words = np.frombuffer(bloom, "<u4", BLOCK // 4, at)
    asked = np.uint32(1) << (np.uint32(hashed & 0xFFFFFFFF) * _SALT >> np.uint32(27))
    return bool((words & asked).all())


def holds_null(bloom: bytes | memoryview) -> bool:
    """Whether NULL may be in the page."""
    return not len(bloom) or bloom[-1] != 0


def built(values: Values, null: bool, rate: float = FALSE_POSITIVES) -> bytes:
    """The filter of a page: of the storage bytes of its values, and whether it has NULLs.

    rate: of false positives, between 0 and 1.
    """
    found = np.unique(_hashes(values))
    size = sized(len(found), rate)
    block = (found >> np.uint64(32)).astype(np.int64) & size // BLOCK - 1
    low = found.astype(np.uint32)  # the lower half
    bit = (low[:, None] * _SALT >> np.uint32(27)).astype(np.int64)
    bits = np.zeros(8 * size, np.bool_)
    bits[(block[:, None] * 8 + np.arange(8)) * 32 + bit] = True
    return np.packbits(bits, bitorder="little").tobytes() + bytes([null])


def sized(distinct: int, rate: float = FALSE_POSITIVES) -> int:
    """Bytes of the blocks for so many values: a power of two."""
    bits = min(int(-8 * distinct / math.log(1 - rate**0.125)), 8 * _MOST)
    power = 1 << (bits - 1).bit_length() if bits > 1 else 1
    return max(power // 8, BLOCK)


def _hashes(values: Values) -> Hashes:
    if isinstance(values, Binary):
        return murmur3.hashes(values.offsets, values.data, SEED)
    return murmur3.hashes(_edges(values), values.data.reshape(-1), SEED)


def _edges(values: Fixed) -> Offsets:
    count, size = values.data.shape
    return np.arange(0, (count + 1) * size, size, dtype=np.int64)
