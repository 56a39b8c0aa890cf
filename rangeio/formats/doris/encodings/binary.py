"""PLAIN values of any size, in three versions; in all of them the number of values comes last."""

from __future__ import annotations

import numpy as np

from rangeio.codecs import variable, varints
from rangeio.errors import Corrupt, Truncated
from rangeio.formats.doris.encodings.values import Binary, as_bytes, binary
from rangeio.formats.doris.words import Encoding

ENCODINGS = (Encoding.PLAIN, Encoding.PLAIN_V2, Encoding.PLAIN_V3)
_WORD = 4


def decoded(encoding: int, body: memoryview, count: int) -> Binary:
    """``count`` values; those of V1 and V3 are a view of the body."""
    found = counted(body)
    if found != count:
        raise Corrupt(f"a page of {found} values, not {count}")
    rest = body[:-_WORD]
    if encoding == Encoding.PLAIN_V2:
        return Binary(*varints.delimited(as_bytes(rest), count))
    return _first(rest, count) if encoding == Encoding.PLAIN else _third(rest, count)


def encoded(encoding: int, values: Binary) -> bytes:
    """The values as version 1 (PLAIN), 2 or 3 has them."""
    count = _word(len(values))
    if encoding == Encoding.PLAIN_V2:
        return varints.delimit(values.offsets, values.data) + count
    first, last = int(values.offsets[0]), int(values.offsets[-1])
    data = values.data[first:last].tobytes()
    if encoding == Encoding.PLAIN:
        starts = values.offsets[:-1] - first
        return data + starts.astype("<u4").tobytes() + count
    return data + varints.encode(np.diff(values.offsets)) + _word(len(data)) + count


def counted(body: memoryview) -> int:
    """How many values the page says that it has; Truncated where it says nothing."""
    if len(body) < _WORD:
        raise Truncated(f"values in {len(body)} bytes")
    return int.from_bytes(body[-_WORD:], "little")


def joined(parts: list[Binary]) -> Binary:
    """The values of many pages as those of one."""
    data = [variable.gather(p.data, p.offsets[:1], p.offsets[-1:] - p.offsets[:1]) for p in parts]
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(p.offsets) for p in parts)])
    return Binary(np.cumsum(sizes), np.concatenate([np.empty(0, np.uint8), *data]))


def _first(body: memoryview, count: int) -> Binary:
    """Values, then where each of them starts."""
    end = len(body) - _WORD * count
    if end < 0:
        raise Corrupt(f"{count} values in {len(body)} bytes")
    offsets = np.empty(count + 1, np.int64)
    offsets[:-1] = np.frombuffer(body[end:], "<u4")
    offsets[-1] = end
    if offsets[0] != 0:
        raise Corrupt(f"values that begin at byte {offsets[0]} of {end}")
    return binary(offsets, as_bytes(body[:end]))


def _third(body: memoryview, count: int) -> Binary:
    """Values, then the size of each as a varint, then the size of all."""
    if len(body) < _WORD:
        raise Truncated(f"values in {len(body)} bytes")
    size, end = int.from_bytes(body[-_WORD:], "little"), len(body) - _WORD
    if size > end:
        raise Corrupt(f"{size} bytes of values in {end}")
    sizes, used = varints.decode(as_bytes(body[size:end]), count)
    if used != end - size or int(sizes.max(initial=0)) > size:
        raise Corrupt(f"{count} sizes of values in {end - size} bytes")
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    if offsets[-1] != size:
        raise Corrupt(f"values of {offsets[-1]} bytes in {size}")
    return Binary(offsets, as_bytes(body[:size]))


def _word(value: int) -> bytes:
    return value.to_bytes(_WORD, "little")
