"""The values part of pages: one module an encoding, chosen by number and by kind of value."""

from __future__ import annotations

from rangeio.errors import RequestError, Unsupported
from rangeio.formats.doris.encodings import (
    binary,
    dictionary,
    frames,
    plain,
    prefix,
    runs,
    shuffled,
)
from rangeio.formats.doris.encodings.dictionary import words
from rangeio.formats.doris.encodings.runs import nullmap, nullmap_bytes
from rangeio.formats.doris.encodings.values import Binary, Fixed, Values
from rangeio.formats.doris.words import Encoding, worded

__all__ = [
    "Binary",
    "Fixed",
    "Values",
    "decoded",
    "encoded",
    "nullmap",
    "nullmap_bytes",
    "words",
]

_FRAMED = (1, 2, 3, 4, 8, 16)  # sizes of integers that frames of reference take


def decoded(
    encoding: int, size: int, body: memoryview, count: int, words: Binary | None = None
) -> Values:
    """The ``count`` values of a page's values part.

    size: bytes of a value, 0 where they differ (binary). words: the column's dictionary, for
    pages that hold codes. The values are Fixed where ``size`` is not 0, else Binary, and may be
    views of ``body``. Raises Corrupt or Truncated where the page does not hold exactly ``count``
    values, and Unsupported for an encoding that such values do not have.
    """
    if size == 0:
        return _binary(encoding, body, count, words)
    if encoding == Encoding.PLAIN:
        return plain.decoded(size, body, count)
    if encoding == Encoding.BIT_SHUFFLE:
        return shuffled.decoded(size, body, count)
    if encoding == Encoding.RLE and size == 1:
        return runs.decoded(body, count)
    if encoding == Encoding.FOR and size in _FRAMED:
        return frames.decoded(size, body, count)
    raise Unsupported(_none(encoding, size))


def encoded(encoding: int, size: int, values: Values, *, fallback: int = Encoding.PLAIN) -> bytes:
    """The values part of a page, as Doris writes it.

    size: as for reading. For DICT the values are Fixed codes of 4 bytes (a page of codes) or
    Binary: a page of the plain encoding ``fallback``. Raises RequestError for an encoding that
    such values do not have.
    """
    if size == 0 and encoding == Encoding.DICT:
        return dictionary.encoded(values, fallback)
    if size == 0 and isinstance(values, Binary):
        if encoding in binary.ENCODINGS:
            return binary.encoded(encoding, values)
        if encoding == Encoding.PREFIX:
            return prefix.encoded(values)
    elif isinstance(values, Fixed) and size == values.data.shape[1]:
        return _fixed(encoding, size, values)
    raise RequestError(_none(encoding, size))


def _binary(encoding: int, body: memoryview, count: int, words: Binary | None) -> Binary:
    if encoding == Encoding.DICT:
        return dictionary.decoded(body, count, words)
    if encoding in binary.ENCODINGS:
        return binary.decoded(encoding, body, count)
    if encoding == Encoding.PREFIX:
        return prefix.decoded(body, count)
    raise Unsupported(_none(encoding, 0))


def _fixed(encoding: int, size: int, values: Fixed) -> bytes:
    if encoding == Encoding.PLAIN:
        return plain.encoded(values)
    if encoding == Encoding.BIT_SHUFFLE:
        return shuffled.encoded(values)
    if encoding == Encoding.RLE and size == 1:
        return runs.encoded(values)
    if encoding == Encoding.FOR and size in _FRAMED:
        return frames.encoded(values)
    raise RequestError(_none(encoding, size))


def _none(encoding: int, size: int) -> str:
    return f"{worded(Encoding, encoding)} of {f'values of {size} bytes' if size else 'binaries'}"
