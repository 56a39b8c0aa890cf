"""DICT values of any size: a page of codes, or a plain one from where the dictionary was full.

A page begins with a number: DICT's before codes of 4 bytes, which are a BIT_SHUFFLE page, else that
of the plain encoding of the rest.
"""

from __future__ import annotations

from rangeio.codecs import variable
from rangeio.errors import Corrupt, RequestError, Truncated, Unsupported
from rangeio.formats.doris.encodings import binary, shuffled
from rangeio.formats.doris.encodings.values import Binary, Values
from rangeio.formats.doris.words import Encoding, worded

MOST = 1 << 31
"""More bytes than this a page's values may not have: a code takes less than a bit."""
_MODE = 4
_CODE = 4


def decoded(body: memoryview, count: int, words: Binary | None) -> Binary:
    """``count`` values; those of codes are gathered from ``words``."""
    mode, rest = _mode(body), body[_MODE:]
    if mode in binary.ENCODINGS:
        return binary.decoded(mode, rest, count)
    if mode != Encoding.DICT:
        raise Unsupported(f"a dictionary page of {worded(Encoding, mode)}")
    codes = shuffled.decoded(_CODE, rest, count)
    if words is None:
        raise Corrupt("a page of codes in a column that has no dictionary")
    chosen = codes.data.view("<u4").reshape(-1)
    return Binary(*variable.take(words.offsets, words.data, chosen, most=MOST))


def encoded(values: Values, plain: int) -> bytes:
    """A page of codes where the values are Fixed, of 4 bytes; else a page of encoding ``plain``."""
    if isinstance(values, Binary):
        return plain.to_bytes(_MODE, "little") + binary.encoded(plain, values)
    if values.data.shape[1] != _CODE:
        raise RequestError(f"codes of {values.data.shape[1]} bytes, not {_CODE}")
    return Encoding.DICT.to_bytes(_MODE, "little") + shuffled.encoded(values)


def words(encoding: int, body: memoryview) -> Binary:
    """The words of a dictionary page, whose body alone tells their number."""
    if encoding not in binary.ENCODINGS:
        raise Unsupported(f"a dictionary of {worded(Encoding, encoding)}")
    return binary.decoded(encoding, body, binary.counted(body))


def _mode(body: memoryview) -> int:
    if len(body) < _MODE:
        raise Truncated(f"a dictionary page of {len(body)} bytes")
    return int.from_bytes(body[:_MODE], "little")
