"""Which types hold all values of other types, so that two files can make one column. Pure.

A widening keeps every value, its order and its nulls: casting back gives what was there. Of time it
takes finer units as such, though years far from 1970 do not fit them: a value that does not is an
error when it is read, never a wrong value. Nested types are widened child by child, elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from rangeio.literal import is_string

_UNITS = ("s", "ms", "us", "ns")
_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
_FLOATS = (pa.float16(), pa.float32(), pa.float64())
_NUMBERS = (*_UNSIGNED, *_INTEGERS, *_FLOATS)
_HELD = {pa.float32(): 24, pa.float64(): 53}
"""Bits of the integers that a float holds exactly. Of float16 nobody expects any."""
_DIGITS = ((32, 9), (64, 18), (128, 38), (256, 76))
"""Decimals: bits, and the digits that they hold."""


def fits(kind: pa.DataType, wider: pa.DataType) -> bool:
    """Whether ``wider`` holds every value of ``kind``; neither of them is nested.

    A dictionary fits what its values fit. A date32 fits a timestamp without a time zone, as the
    midnight that it begins with. Text and bytes do not fit each other.
    """
    if kind == wider or pa.types.is_null(kind):
        return True
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(wider):
        return fits(kind.value_type, wider)
    if kind in _NUMBERS and wider in _NUMBERS:
        return _number_fits(kind, wider)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(wider):
        more = wider.scale - kind.scale
        return bool(more >= 0 and wider.precision - kind.precision >= more)
    if is_string(kind) and is_string(wider):
        return bool(not pa.types.is_large_string(kind) or wider != pa.string())
    if _is_bytes(kind) and _is_bytes(wider):
        return bool(not pa.types.is_large_binary(kind) or wider != pa.binary())
    return _time_fits(kind, wider)


def common(kinds: Sequence[pa.DataType]) -> pa.DataType | None:
    """The narrowest type that all of ``kinds`` fit, whatever their order; None: there is none."""
    kinds = list(dict.fromkeys(kinds))
    known = [kind for kind in kinds if not pa.types.is_null(kind)]
    if len(known) <= 1:
        return (known or kinds)[0]
    if all(kind in _NUMBERS for kind in known):
        wider: Iterator[pa.DataType] | Sequence[pa.DataType] = _NUMBERS
    else:
        wider = _candidates(known)
    return next((one for one in wider if all(fits(kind, one) for kind in known)), None)


def clash(kinds: Sequence[pa.DataType]) -> tuple[int, int]:
    """Positions of two that keep :func:`common` from finding a type: the first that fits nothing
    with those before it, and the first of those with which it does not."""
    last = next(i for i in range(len(kinds)) if common(kinds[: i + 1]) is None)
    first = (i for i in range(last) if common([kinds[i], kinds[last]]) is None)
    return next(first, 0), last


def _candidates(kinds: Sequence[pa.DataType]) -> Iterator[pa.DataType]:
    """Types that might hold all of ``kinds``, the preferred ones first."""
    values = [k.value_type if pa.types.is_dictionary(k) else k for k in kinds]
    if values != list(kinds):
        found = common(values)
        yield from () if found is None else (found,)
    elif all(map(is_string, kinds)):
        yield from (pa.string(), pa.large_string())
    elif all(map(_is_bytes, kinds)):
        yield from (pa.binary(), pa.large_binary())
    elif all(map(pa.types.is_decimal, kinds)):
        scale = max(kind.scale for kind in kinds)
        whole = max(kind.precision - kind.scale for kind in kinds)
        bits = max(kind.bit_width for kind in kinds)
        yield from _decimals(whole + scale, scale, bits)
    else:
        yield from kinds  # of dates and times the widest is one of them


def _decimals(precision: int, scale: int, bits: int) -> Iterator[pa.DataType]:
    for width, most in _DIGITS:
        if width >= bits and precision <= most:
            yield getattr(pa, f"decimal{width}")(precision, scale)
            return


def _number_fits(kind: pa.DataType, wider: pa.DataType) -> bool:
    if kind in _FLOATS:
        return wider in _FLOATS and bool(wider.bit_width >= kind.bit_width)
    bits = kind.bit_width - (kind in _INTEGERS)
    if wider in _FLOATS:
        return bool(bits <= _HELD.get(wider, 0))
    if wider in _UNSIGNED:
        return bool(kind in _UNSIGNED and bits <= wider.bit_width)
    return bool(bits <= wider.bit_width - 1)


def _time_fits(kind: pa.DataType, wider: pa.DataType) -> bool:
    if pa.types.is_date32(kind):
        zoneless = pa.types.is_timestamp(wider) and wider.tz is None
        return bool(pa.types.is_date64(wider) or zoneless)
    alike = (
        (pa.types.is_timestamp(kind) and pa.types.is_timestamp(wider) and kind.tz == wider.tz)
        or (pa.types.is_duration(kind) and pa.types.is_duration(wider))
        or (pa.types.is_time(kind) and pa.types.is_time(wider))
    )
    return bool(alike) and _UNITS.index(kind.unit) <= _UNITS.index(wider.unit)


def _is_bytes(kind: pa.DataType) -> bool:
    """Bytes of any size; those of one size are a type of their own."""
    return kind in (pa.binary(), pa.large_binary(), pa.binary_view())
