"""MurmurHash3 of 64 bits, one word a round: the hash of Doris' bloom filters.

It is not the first half of the hash of 128 bits: it has one lane of 8 bytes instead of two.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds
from rangeio.codecs.bounds import Bytes, Offsets

Hashes = npt.NDArray[np.uint64]

_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_ADD = 0x52DCE729
_M1, _M2 = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
_WORD = np.dtype("<u8")
_FEW = 8
"""Values below which they are hashed one by one."""


def murmur3(data: bytes, seed: int) -> int:
    """The hash of one value."""
    return _finished(data, 0, seed & _MASK)


def hashes(offsets: Offsets, data: Bytes, seed: int) -> Hashes:
    """The hashes of the values that ``offsets`` cut from ``data``.

    The time is that of the bytes, and of a step for every 8 bytes of the longest few values.
    """
    sizes = np.diff(offsets)
    order = np.argsort(-sizes, kind="stable")
    starts, sizes = offsets[:-1][order], sizes[order]
    found = np.full(len(sizes), seed & _MASK, np.uint64)
    step, active = 0, _longer(sizes, 8)
    while active >= _FEW:
        words = bounds.words(data, starts[:active] + 8 * step, _WORD)
        found[:active] = _mixed(found[:active] ^ _scrambled(words))
        step += 1
        active = _longer(sizes, 8 * (step + 1))
    for k in range(active):
        value = data[starts[k] : starts[k] + sizes[k]].tobytes()
        found[k] = _finished(value, 8 * step, int(found[k]))
    found[active:] = _ended(found[active:], data, starts[active:], sizes[active:])
    out = np.empty_like(found)
    out[order] = found
    return out


def _longer(sizes: Offsets, least: int) -> int:
    """How many of the falling sizes are at least so many."""
    return int(np.searchsorted(-sizes, -least, side="right"))


# ---- many at once --------------------------------------------------------------------------------


def _rotated(words: Hashes, by: int) -> Hashes:
    return words << np.uint64(by) | words >> np.uint64(64 - by)


def _scrambled(words: Hashes) -> Hashes:
    return _rotated(words * np.uint64(_C1), 31) * np.uint64(_C2)


def _mixed(words: Hashes) -> Hashes:
    return _rotated(words, 27) * np.uint64(5) + np.uint64(_ADD)


def _ended(found: Hashes, data: Bytes, starts: Offsets, sizes: Offsets) -> Hashes:
    """With the last 0 to 7 bytes of each and its size."""
    rest = sizes & 7
    at = starts + (sizes - rest)
    tail = np.zeros(len(found), np.uint64)
    for k in range(int(rest.max()) if len(rest) else 0):
        has = rest > k
        tail[has] |= data[at[has] + k].astype(np.uint64) << np.uint64(8 * k)
    found = found ^ _scrambled(tail) ^ sizes.astype(np.uint64)
    for by in (_M1, _M2):
        found = (found ^ found >> np.uint64(33)) * np.uint64(by)
    return found ^ found >> np.uint64(33)


# ---- one at a time -------------------------------------------------------------------------------


def _turned(word: int, by: int) -> int:
    return (word << by | word >> 64 - by) & _MASK


def _scrambled_one(word: int) -> int:
    return _turned(word * _C1 & _MASK, 31) * _C2 & _MASK


def _finished(data: bytes, at: int, value: int) -> int:
    """The hash of ``data``, where the words before ``at`` made ``value``."""
    whole = len(data) & ~7
    for start in range(at, whole, 8):
        value ^= _scrambled_one(int.from_bytes(data[start : start + 8], "little"))
        value = (_turned(value, 27) * 5 + _ADD) & _MASK
    value ^= _scrambled_one(int.from_bytes(data[whole:], "little")) ^ len(data)
    for by in (_M1, _M2):
        value = (value ^ value >> 33) * by & _MASK
    return value ^ value >> 33
