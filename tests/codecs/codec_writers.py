"""Reference encoders, written for clarity: what the decoders must undo."""

import struct
from collections.abc import Callable, Sequence

import numpy as np

from rangeio.errors import FormatError

ORDER = (0, 4, 2, 6, 1, 5, 3, 7)


def pack_block(values: Sequence[int], width: int, bits: int) -> bytes:
    """One FastLanes block: each lane's values are one big integer, cut in words of ``bits``."""
    lanes = 1024 // bits
    words = [[0] * lanes for _ in range(width)]
    padded = list(values) + [0] * (1024 - len(values))
    for lane in range(lanes):
        stream = 0
        for row in range(bits):
            value = padded[ORDER[row // 8] * 16 + (row % 8) * 128 + lane]
            assert value < 1 << width or value == width == 0
            stream |= value << (row * width)
        for k in range(width):
            words[k][lane] = stream >> (k * bits) & ((1 << bits) - 1)
    return b"".join(w.to_bytes(bits // 8, "little") for row in words for w in row)


def pack_levels(values: Sequence[int], width: int, *, raw_tail: bool) -> bytes:
    """Out-of-line blocks of 16-bit levels; the rest raw, or padded to a block."""
    full = len(values) // 1024 * 1024
    out = b"".join(pack_block(values[i : i + 1024], width, 16) for i in range(0, full, 1024))
    rest = values[full:]
    if not rest:
        return out
    if raw_tail:
        return out + struct.pack(f"<{len(rest)}H", *rest)
    return out + pack_block(rest, width, 16)


def symbol_table(symbols: Sequence[bytes], *, encoded: bool = True) -> bytes:
    header = 0x46535354 << 32 | encoded << 24 | len(symbols)
    words = b"".join(s.ljust(8, b"\0") for s in symbols)
    table = header.to_bytes(8, "little") + words + bytes(len(s) for s in symbols)
    return table.ljust(2312, b"\0")


def fsst_encode(symbols: Sequence[bytes], value: bytes) -> bytes:
    """The longest symbol that fits, else an escaped byte."""
    out, at = bytearray(), 0
    while at < len(value):
        fits = [(len(s), c) for c, s in enumerate(symbols) if value.startswith(s, at)]
        if fits:
            size, code = max(fits)
            out.append(code)
            at += size
        else:
            out += bytes((255, value[at]))
            at += 1
    return bytes(out)


def variable_chunk(values: Sequence[bytes], width: int) -> bytes:
    """Offsets from the chunk's start, then bytes, then padding."""
    at = (len(values) + 1) * width
    out = at.to_bytes(width, "little")
    for value in values:
        at += len(value)
        out += at.to_bytes(width, "little")
    out += b"".join(values)
    return out + b"H" * (-len(out) % 8)


def laid_out(pieces: Sequence[bytes], gap: int = 3) -> tuple[np.ndarray, list[int], list[int]]:
    """The pieces in one read-only buffer, with gaps: (buffer, starts, sizes)."""
    out, starts = bytearray(b"\xaa" * gap), []
    for piece in pieces:
        starts.append(len(out))
        out += piece + b"\xbb" * gap
    return np.frombuffer(bytes(out), np.uint8), starts, [len(p) for p in pieces]


def outcome(call: Callable[[], object]) -> object:
    """What a call answers, as plain values; or the kind of format error that it raises."""
    try:
        return _plain(call())
    except FormatError as error:
        return type(error)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    if hasattr(value, "__slots__"):
        return tuple(_plain(getattr(value, name)) for name in value.__slots__)
    return bytes(value) if isinstance(value, memoryview) else value
