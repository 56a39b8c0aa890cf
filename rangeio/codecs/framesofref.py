"""Integers in frames of 128, as differences from the frame's least value or from one another.

A frame is its base and then, ``width`` bits each, MSB first, what its form says: how far each value
lies above the least (0), how far above the one before it (1), or the value itself (2). After all
frames come form and width of each, the size of a frame and the number of values.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds
from rangeio.codecs.bounds import Bytes
from rangeio.errors import Corrupt, Truncated

FRAME = 128
_FROM_LEAST, _FROM_LAST, _ITSELF = range(3)
_TRAILER = 5


def decode(data: memoryview, count: int, size: int) -> Bytes:
    """``count`` integers of ``size`` bytes, uint8 of shape (count, size), the caller's own.

    ``size`` is 1 to 4, 8 or 16. Raises Corrupt where ``data`` does not hold exactly so many,
    before anything is allocated.
    """
    base = _base(size)
    forms = _forms(data, count, base)
    raw, at = np.frombuffer(data, np.uint8), 0
    out = bounds.room(count * size, "integers").reshape(count, size)
    for first, (form, width) in zip(range(0, count, FRAME), forms, strict=True):
        number = min(FRAME, count - first)
        stop = at + base + -(-number * width // 8)
        if form > _ITSELF or width > 8 * base or stop > len(raw) - _TRAILER - 2 * len(forms):
            raise Corrupt(f"frame {first // FRAME} of form {form}, {width} bits wide")
        values = _values(raw[at + base : stop], number, width)
        least = int.from_bytes(data[at : at + base], "little")
        out[first : first + number] = _restored(values, least, form, base)[:, :size]
        at = stop
    if at != len(raw) - _TRAILER - 2 * len(forms):
        raise Corrupt(f"frames of {count} integers end at byte {at}")
    return out


def encode(elements: Bytes, *, signed: bool) -> bytes:
    """The frames of integers, uint8 of shape (count, size), byte for byte as Doris writes them.

    But for a frame whose values lie more than half of their range apart: there Doris leaves room
    that its own reader does not expect, and the bytes are what readers expect.
    """
    count, size = elements.shape
    base, raw = _base(size), elements.tobytes()
    values = [
        int.from_bytes(raw[at : at + size], "little", signed=signed)
        for at in range(0, len(raw), size)
    ]
    parts: list[bytes] = []
    forms = bytearray()
    for first in range(0, count, FRAME):
        frame = values[first : first + FRAME]
        form, width, stored = _chosen(frame, 8 * size, signed)
        mask = (1 << 8 * base) - 1
        parts += (min(frame) & mask).to_bytes(base, "little"), _packed(stored, width)
        forms += bytes((form, width))
    return b"".join([*parts, forms, bytes((FRAME,)), count.to_bytes(4, "little")])


def _base(size: int) -> int:
    """The bytes of a frame's base."""
    if not (1 <= size <= 4 or size in (8, 16)):
        raise Corrupt(f"frames of integers of {size} bytes")
    return max(4, size)


def _forms(data: memoryview, count: int, base: int) -> list[tuple[int, int]]:
    """Form and width of each frame."""
    if len(data) < _TRAILER:
        raise Truncated(f"frames of integers in {len(data)} bytes")
    number, stop = int.from_bytes(data[-4:], "little"), len(data) - _TRAILER
    frames = -(-count // FRAME)
    if number != count or data[stop] != FRAME or frames * (base + 2) > stop:
        raise Corrupt(f"{number} integers in frames of {data[stop]}, not {count} of {FRAME}")
    table = bytes(data[stop - 2 * frames : stop])
    return list(zip(table[::2], table[1::2], strict=True))


# ---- decoding ----------------------------------------------------------------------------------


def _values(packed: Bytes, count: int, width: int) -> npt.NDArray[np.uint64]:
    """``count`` values of ``width`` bits as words, lowest first: uint64 of shape (count, 2)."""
    bits = np.zeros((count, 128), np.uint8)
    bits[:, 128 - width :] = np.unpackbits(packed, count=count * width).reshape(count, width)
    words = np.packbits(bits, axis=1).view(">u8").astype(np.uint64)
    return np.ascontiguousarray(words[:, ::-1])


def _restored(values: npt.NDArray[np.uint64], least: int, form: int, base: int) -> Bytes:
    """The integers of one frame, little-endian, 16 bytes of which the lowest count."""
    if form == _ITSELF:
        return values.astype("<u8").view(np.uint8)
    if base == 16:
        return _wide(values, least, form)
    low = values[:, 0]
    if form == _FROM_LAST:
        low = np.cumsum(low, dtype=np.uint64)
    return (low + np.uint64(least)).astype("<u8").view(np.uint8).reshape(-1, 8)


def _wide(values: npt.NDArray[np.uint64], least: int, form: int) -> Bytes:
    """Integers of 16 bytes, which numpy has not."""
    found, last, mask = bytearray(), least, (1 << 128) - 1
    for low, high in values.tolist():
        value = (high << 64) + low + (last if form == _FROM_LAST else least) & mask
        found += value.to_bytes(16, "little")
        last = value
    return np.frombuffer(found, np.uint8).reshape(-1, 16)


# ---- encoding ----------------------------------------------------------------------------------


def _chosen(frame: list[int], bits: int, signed: bool) -> tuple[int, int, list[int]]:
    """Form, width and what is stored of one frame."""
    least, most = min(frame), max(frame)
    half = (1 << bits - (2 if signed else 1)) - 1
    if (most >> 1) - (least >> 1) > half:
        return _ITSELF, bits, [value & (1 << bits) - 1 for value in frame]
    steps = [value - last for last, value in zip(frame[:1] + frame, frame, strict=False)]
    if min(steps) >= 0:
        return _FROM_LAST, max(steps).bit_length(), steps
    return _FROM_LEAST, (most - least).bit_length(), [value - least for value in frame]


def _packed(values: list[int], width: int) -> bytes:
    """Values of ``width`` bits, the first in the highest."""
    whole = 0
    for value in values:
        whole = whole << width | value
    size = -(-len(values) * width // 8)
    return (whole << 8 * size - len(values) * width).to_bytes(size, "big")
