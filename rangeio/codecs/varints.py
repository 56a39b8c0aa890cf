"""Unsigned LEB128 varints, many at once: 7 bits a byte, the lowest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native, variable
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

_LONGEST = 9  # bytes: what 63 bits take


def decode(
    data: Bytes, count: int, *, kernels: Kernels | None = native.kernels
) -> tuple[Offsets, int]:
    """The ``count`` varints that ``data`` begins with, and the bytes that they take.

    Raises Corrupt where there are fewer, or one has more than 63 bits.
    """
    _possible(data, count, 1, "varints")
    if count and int(data[:count].max()) < 128:
        return data[:count].astype(np.int64), count
    out = np.empty(count, np.int64)
    bad, size = (_varints if kernels is None else kernels.varints)(data, out)
    if bad >= 0:
        raise Corrupt(f"varint {bad} of {count} does not end, or is too long")
    return out, size


def encode(values: npt.ArrayLike) -> bytes:
    """The varints of values, int64 that are not negative."""
    given = bounds.offsets(values)
    shifts = 7 * np.arange(_LONGEST)
    table = given[:, None] >> shifts
    sizes = 1 + (table[:, 1:] > 0).sum(axis=1)
    place = np.arange(_LONGEST)
    low = table & 127 | np.where(place < sizes[:, None] - 1, 128, 0)
    out: Bytes = low[place < sizes[:, None]].astype(np.uint8)
    return out.tobytes()


def one(value: int) -> bytes:
    """The varint of one value that is not negative."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def delimited(
    data: Bytes, count: int, *, kernels: Kernels | None = native.kernels
) -> tuple[Offsets, Bytes]:
    """The ``count`` values that are all of ``data``, each after a varint of its size.

    Returns int64 offsets from 0, one more than values, and the bytes; both the caller's own.
    Raises Corrupt where they are fewer or more.
    """
    _possible(data, count, 1, "values")
    offsets = np.empty(count + 1, np.int64)
    out = bounds.room(len(data) - count, "values")
    bad, size = (_delimited if kernels is None else kernels.delimited)(data, offsets, out)
    if bad >= 0 or size != len(data):
        raise Corrupt(f"{count} values that are not the whole of {len(data)} bytes")
    return offsets, out[: int(offsets[-1])]


def keyed(
    data: Bytes, count: int, numbers: int, *, kernels: Kernels | None = native.kernels
) -> Offsets:
    """The ``count`` entries that are all of ``data``: a key after a varint of its size, and then
    ``numbers`` varints.

    Returns int64 of shape (count, 2 + numbers): where the key begins and ends, and the numbers.
    Raises Corrupt where there are fewer entries or more.
    """
    _possible(data, count, 1 + numbers, "entries")
    out = np.empty((count, 2 + numbers), np.int64)
    bad, size = (_keyed if kernels is None else kernels.keyed)(data, numbers, out)
    if bad >= 0:
        raise Corrupt(f"entry {bad} of {count} does not end")
    if size != len(data):
        raise Corrupt(f"{count} entries end at byte {size} of {len(data)}")
    return out


def delimit(offsets: Offsets, data: Bytes) -> bytes:
    """The values that ``offsets`` cut from ``data``, each after a varint of its size."""
    sizes = np.diff(offsets)
    heads = encode(sizes)
    widths = _widths(sizes)
    first = np.cumsum(widths) - widths
    both = np.concatenate((np.frombuffer(heads, np.uint8), data))
    starts = np.stack((first, offsets[:-1] + len(heads)), axis=1).reshape(-1)
    return variable.gather(both, starts, np.stack((widths, sizes), axis=1).reshape(-1)).tobytes()


def _widths(values: Offsets) -> Offsets:
    """The bytes of each varint."""
    limits = np.int64(1) << 7 * np.arange(1, _LONGEST)
    return 1 + np.searchsorted(limits, values, side="right")


def _possible(data: Bytes, count: int, each: int, what: str) -> None:
    if not 0 <= count <= len(data) // each:
        raise Corrupt(f"{count} {what} in {len(data)} bytes")


# ---- the twins ---------------------------------------------------------------------------------


def _varints(data: Bytes, out: Offsets) -> tuple[int, int]:
    last = np.flatnonzero(data[: _LONGEST * len(out)] < 128)[: len(out)]
    first = np.concatenate((np.zeros(1, np.int64), last + 1))
    sizes = first[1:] - first[:-1]
    long = np.flatnonzero(sizes > _LONGEST)
    if len(long) or len(last) < len(out):
        bad = int(long[0]) if len(long) else len(last)
        return bad, int(first[bad])
    out[:] = 0
    for k in range(int(sizes.max(initial=0))):
        more = sizes > k
        out[more] |= (data[first[:-1][more] + k].astype(np.int64) & 127) << 7 * k
    return -1, int(first[-1])


def _delimited(data: Bytes, offsets: Offsets, out: Bytes) -> tuple[int, int]:
    raw, at, place = data.data, 0, 0
    offsets[0] = 0
    for k in range(len(offsets) - 1):
        begin, size = read(raw, at)
        if begin < 0 or size > len(raw) - begin or size > len(out) - place:
            return k, at
        out[place : place + size] = data[begin : begin + size]
        at, place = begin + size, place + size
        offsets[k + 1] = place
    return -1, at


def _keyed(data: Bytes, numbers: int, out: Offsets) -> tuple[int, int]:
    raw, at = data.data, 0
    for k in range(len(out)):
        at, size = read(raw, at)
        if at < 0 or size > len(raw) - at:
            return k, at
        out[k, :2] = at, at + size
        at += size
        for j in range(numbers):
            at, out[k, 2 + j] = read(raw, at)
            if at < 0:
                return k, at
    return -1, at


def read(raw: memoryview, at: int) -> tuple[int, int]:
    """(where it ends, value) of one varint; it ends at -1 where it does not, or is too long."""
    value = 0
    for k in range(_LONGEST):
        if at + k >= len(raw):
            break
        byte = raw[at + k]
        value |= (byte & 127) << 7 * k
        if byte < 128:
            return at + k + 1, value
    return -1, 0
