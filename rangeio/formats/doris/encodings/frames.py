"""FOR: integers in frames of reference, which Doris writes only where it is told to."""

from __future__ import annotations

from rangeio.codecs import framesofref
from rangeio.formats.doris.encodings.values import Fixed


def decoded(size: int, body: memoryview, count: int) -> Fixed:
    """``count`` values in a buffer of their own."""
    return Fixed(framesofref.decode(body, count, size))


def encoded(values: Fixed) -> bytes:
    """The frames of signed integers."""
    return framesofref.encode(values.data, signed=True)
