"""Values without the prefix that they share with the one before: ``[varint shared][varint own]``
and the own bytes. Every so many values one shares nothing, for reading to begin there.
"""

from __future__ import annotations

import itertools

import numpy as np

from rangeio.codecs import bounds, native, varints
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt


def decode(
    data: Bytes, count: int, interval: int, *, kernels: Kernels | None = native.kernels
) -> tuple[Offsets, Bytes]:
    """The ``count`` values that are all of ``data``; the first of every ``interval`` is whole.

    Returns int64 offsets from 0, one more than values, and the bytes; both the caller's own and
    at most ``interval`` times ``data``. Raises Corrupt where a value shares more than there is, or
    the values do not fill ``data``.
    """
    if not 0 <= count <= len(data) // 2 or interval < 1:
        raise Corrupt(f"{count} values, each {interval}th whole, in {len(data)} bytes")
    offsets = np.empty(count + 1, np.int64)
    measure = _measure if kernels is None else kernels.prefixed_measure
    bad, size = measure(data, interval, offsets)
    if bad >= 0:
        raise Corrupt(f"value {bad} of {count} ends too late, or shares more than there is")
    if size != len(data):
        raise Corrupt(f"{count} values end at byte {size} of {len(data)}")
    out = bounds.room(int(offsets[-1]), "values")
    if not (_fill if kernels is None else kernels.prefixed_fill)(data, offsets, out):
        raise Corrupt("values changed while they were read")
    return offsets, out


def encode(offsets: Offsets, data: Bytes, interval: int) -> tuple[bytes, Offsets]:
    """The values that ``offsets`` cut from ``data``, and where every ``interval``th begins."""
    raw, edges = data.tobytes(), offsets.tolist()
    out, whole, last = bytearray(), [], b""
    for k, (begin, end) in enumerate(itertools.pairwise(edges)):
        value = raw[begin:end]
        if k % interval == 0:
            whole.append(len(out))
            last = b""
        shared = common(last, value)
        out += varints.one(shared) + varints.one(len(value) - shared) + value[shared:]
        last = value
    return bytes(out), np.array(whole, np.int64)


def common(one: bytes, other: bytes) -> int:
    """How many bytes two values begin with alike."""
    most = min(len(one), len(other))
    differ = int.from_bytes(one[:most], "big") ^ int.from_bytes(other[:most], "big")
    return most - (differ.bit_length() + 7) // 8


# ---- the twins ---------------------------------------------------------------------------------


def _measure(data: Bytes, interval: int, offsets: Offsets) -> tuple[int, int]:
    raw, at, before = data.data, 0, 0
    offsets[0] = 0
    for k in range(len(offsets) - 1):
        if k % interval == 0:
            before = 0
        begin, shared = varints.read(raw, at)
        if begin < 0:
            return k, at
        begin, own = varints.read(raw, begin)
        if begin < 0 or shared > before or own > len(raw) - begin:
            return k, at
        at, before = begin + own, shared + own
        offsets[k + 1] = offsets[k] + before
    return -1, at


def _fill(data: Bytes, offsets: Offsets, out: Bytes) -> bool:
    raw, at, last = data.data, 0, 0
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        at, shared = varints.read(raw, at)
        at, own = varints.read(raw, at)
        out[begin : begin + shared] = out[last : last + shared]
        out[begin + shared : end] = data[at : at + own]
        at, last = at + own, begin
    return True
