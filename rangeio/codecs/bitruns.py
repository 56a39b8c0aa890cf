"""Runs of bits, repeated or literal: the hybrid of run length and bit packing at width 1.

A run begins with a varint. Even, half of it is how often the bit of the next byte repeats; odd,
half of it is the number of bytes that follow, 8 bits each, LSB first.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native, varints
from rangeio.codecs.bounds import Bytes
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

Bits: TypeAlias = npt.NDArray[np.bool_]

MOST = 1 << 31
"""More bits than this are refused: a run of any length takes no more than a few bytes."""
_GROUPS = 63  # bytes of a literal run, whose head is one byte when it is written


def decode(data: memoryview, count: int, *, kernels: Kernels | None = native.kernels) -> Bits:
    """The first ``count`` bits of the runs, as bools of the caller's own.

    Raises Corrupt where there are fewer, before anything is allocated. What follows them is not
    looked at: the last run is padded.
    """
    raw = np.frombuffer(data, np.uint8)
    runs = _runs if kernels is None else kernels.bit_runs
    if not 0 <= count <= MOST:
        raise Corrupt(f"runs of {count} bits")
    found = runs(raw, count, np.empty(0, np.uint8))
    if found < count:
        raise Corrupt(f"runs of {found} bits, not of {count}")
    out = bounds.room(count, "bits")
    if count and runs(raw, count, out) < count:
        raise Corrupt("runs of bits changed while they were read")
    return out.view(np.bool_)


def encode(bits: Bits, *, kernels: Kernels | None = native.kernels) -> bytes:
    """The runs of bits, byte for byte as Doris writes them.

    A repeat begins where the last literal byte is full and lasts at least 8 bits; the end of all
    is one even if it is shorter, unless it may join a literal run.
    """
    given = np.ascontiguousarray(bits, np.bool_)
    if kernels is None:
        return _packed(given)
    out = np.empty(2 * (len(given) // 8) + 16, np.uint8)
    return out[: kernels.pack_runs(given.view(np.uint8), out)].tobytes()


# ---- the twins ---------------------------------------------------------------------------------


def _packed(given: Bits) -> bytes:
    edges = np.flatnonzero(given[1:] != given[:-1]) + 1
    begins = np.concatenate((np.zeros(1, np.int64), edges))
    ends = np.concatenate((edges, np.array([len(given)])))
    long = ends - begins >= 8
    parts: list[bytes] = []
    done = 0
    for begin, end in zip(begins[long].tolist(), ends[long].tolist(), strict=True):
        first = begin + (done - begin) % 8  # what fills the last literal byte is literal
        if end - first >= 8:
            parts += _literal(given[done:first])
            parts.append(_repeat(given[first], end - first))
            done = end
    return b"".join([*parts, *_last(given[done:])])


def _last(bits: Bits) -> list[bytes]:
    """What is left at the end, which holds no repeat of 8."""
    whole = len(bits) // 8
    tail = bits[8 * whole :]
    if whole % _GROUPS or not len(tail) or (tail != tail[0]).any():
        return _literal(bits)
    return [*_literal(bits[: 8 * whole]), _repeat(tail[0], len(tail))]


def _literal(bits: Bits) -> list[bytes]:
    packed = np.packbits(bits, bitorder="little").tobytes()
    pieces = [packed[k : k + _GROUPS] for k in range(0, len(packed), _GROUPS)]
    return [bytes((len(piece) << 1 | 1,)) + piece for piece in pieces]


def _repeat(bit: np.bool_, times: int) -> bytes:
    return varints.one(times << 1) + bytes((bool(bit),))


def _runs(data: Bytes, count: int, out: Bytes) -> int:
    raw, at, done = data.data, 0, 0
    while done < count:
        head = shift = 0
        while at < len(raw) and shift < 63:
            byte = raw[at]
            head |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                break
        else:
            return done
        size = min(head >> 1, len(raw) - at)
        if head & 1:
            bits = np.unpackbits(data[at : at + size], count=None, bitorder="little")
            number = min(8 * size, count - done)
            if len(out):
                out[done : done + number] = bits[:number]
            at += size
        elif at == len(raw):
            return done
        else:
            number = min(head >> 1, count - done)
            if len(out):
                out[done : done + number] = raw[at] & 1
            at += 1
        done += number
    return done
