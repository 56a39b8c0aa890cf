"""Doris' decimals and large integers as the 128 or 256 bits that Arrow has of them, and back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes
from rangeio.errors import Corrupt, RequestError
from rangeio.formats.doris.words import FieldType

_BILLION = 1_000_000_000
_INTEGER_DIGITS = 18
_Words = npt.NDArray[np.int64]
"""Of shape (count, words of a value), the least significant word first."""


def widened(field: int, data: Bytes, width: int) -> Bytes:
    """The stored values, of shape (count, size), as unscaled numbers of ``width`` bytes, 16 or 32;
    a view where they are these already.

    Raises Corrupt for a DECIMAL (v2) of more digits than it may have.
    """
    if field == FieldType.DECIMAL:
        return _raw(_joined(data))
    size = data.shape[1]
    if size == width:
        return data
    if size == 4:
        return _extended(data.view("<i4").astype(np.int64), width)
    return _extended(data.view("<i8"), width)


def narrowed(field: int, data: Bytes, size: int) -> Bytes:
    """The opposite: ``size`` bytes of each, or the 12 of a DECIMAL (v2) from 16.

    Raises RequestError where one does not fit.
    """
    if field == FieldType.DECIMAL:
        return _parted(data.view("<i8"))
    if data.shape[1] < size:
        return _extended(data.view("<i8"), size)
    if data.shape[1] == size:
        return data
    low = np.ascontiguousarray(data[:, :size])
    fits = low[:, -1].view(np.int8) >> 7  # what every byte above has to be
    if (data[:, size:] != fits.view(np.uint8)[:, None]).any():
        raise RequestError(f"a decimal that {size} bytes do not hold")
    return low


def _extended(words: _Words, width: int) -> Bytes:
    count, own = words.shape
    out = np.empty((count, width // 8), "<i8")
    out[:, :own] = words
    out[:, own:] = words[:, -1:] >> 63
    return _raw(out)


def _raw(words: _Words) -> Bytes:
    return words.view(np.uint8)


# ---- DECIMAL v2: an int64 before the point, an int32 of billionths behind it, of one sign --------


def _joined(data: Bytes) -> _Words:
    whole = np.ascontiguousarray(data[:, :8]).view("<i8")[:, 0]
    part = np.ascontiguousarray(data[:, 8:]).view("<i4")[:, 0].astype(np.int64)
    most = 10**_INTEGER_DIGITS
    good = (whole > -most) & (whole < most) & (part > -_BILLION) & (part < _BILLION)
    if not good.all():
        raise Corrupt(f"value {int(np.argmin(good))} is a DECIMAL of more than 27 digits")
    # whole * 10^9 + part in two limbs of 32 bits below the rest, none of which can wrap.
    low = (whole & 0xFFFFFFFF) * _BILLION + part
    high = (whole >> 32) * _BILLION + (low >> 32)
    out = np.empty((len(data), 2), "<i8")
    out[:, 0] = high << 32 | low & 0xFFFFFFFF
    out[:, 1] = high >> 32
    return out


def _parted(words: _Words) -> Bytes:
    low, high = words[:, 0].astype(np.uint64), words[:, 1]
    negative = high < 0
    low = np.where(negative, ~low + np.uint64(1), low)
    high = np.where(negative, ~high + (low == 0), high)
    whole, part = _divided(low, high.astype(np.uint64))
    out = np.empty((len(words), 12), np.uint8)
    sign = np.where(negative, -1, 1)
    out[:, :8] = (whole * sign).astype("<i8").view(np.uint8).reshape(-1, 8)
    out[:, 8:] = (part * sign).astype("<i4").view(np.uint8).reshape(-1, 4)
    return out


def _divided(low: npt.NDArray[np.uint64], high: npt.NDArray[np.uint64]) -> tuple[_Words, _Words]:
    """Quotients and remainders by a billion, by long division in limbs of 32 bits."""
    mask, shift, by = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(_BILLION)
    quotient: list[npt.NDArray[np.uint64]] = []
    rest = np.zeros_like(low)
    for limb in (high >> shift, high & mask, low >> shift, low & mask):
        found, rest = np.divmod(rest << shift | limb, by)
        quotient.append(found)
    whole = quotient[2] << shift | quotient[3]
    if (quotient[0] | quotient[1]).any() or (whole >= np.uint64(10**_INTEGER_DIGITS)).any():
        raise RequestError("a decimal of more than 18 digits before the point, for a DECIMAL (v2)")
    return whole.astype(np.int64), rest.astype(np.int64)
