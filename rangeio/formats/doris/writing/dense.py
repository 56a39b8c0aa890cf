"""Dense values, cut and joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes
from rangeio.formats.doris.encodings import Binary, Fixed, Values

Mask = npt.NDArray[np.bool_]


def empty(size: int) -> Values:
    """No values, of ``size`` bytes each, 0 for binary."""
    if size:
        return Fixed(np.empty((0, size), np.uint8))
    return Binary(np.zeros(1, np.int64), np.empty(0, np.uint8))


def part(values: Values, start: int, stop: int) -> Values:
    """Some of the values, a view."""
    if isinstance(values, Fixed):
        return Fixed(values.data[start:stop])
    return Binary(values.offsets[start : stop + 1], values.data)


def size_in_bytes(values: Values) -> int:
    """The bytes of all values."""
    if isinstance(values, Fixed):
        return values.data.size
    return int(values.offsets[-1] - values.offsets[0])


def joined(parts: Sequence[Values]) -> Values:
    """All values of one or more parts, in arrays of their own."""
    if isinstance(parts[0], Fixed):
        return Fixed(np.concatenate([one.data for one in parts]))
    offsets, held, end = [np.zeros(1, np.int64)], [], 0
    for one in parts:
        assert isinstance(one, Binary)
        first, last = int(one.offsets[0]), int(one.offsets[-1])
        offsets.append(one.offsets[1:] - first + end)
        held.append(one.data[first:last])
        end += last - first
    return Binary(np.concatenate(offsets), np.concatenate(held))


def binary_of(words: Iterable[bytes]) -> Binary:
    """Words as values."""
    listed = list(words)
    offsets = np.zeros(len(listed) + 1, np.int64)
    np.cumsum([len(word) for word in listed], out=offsets[1:])
    return Binary(offsets, np.frombuffer(b"".join(listed), np.uint8))


def words_of(values: Binary) -> list[bytes]:
    """Values as words."""
    edges = values.offsets.tolist()
    data = values.data[edges[0] : edges[-1]].tobytes()
    return [data[a - edges[0] : b - edges[0]] for a, b in pairwise(edges)]


def spread(values: Values, absent: Mask, filler: Bytes) -> Values:
    """The values with ``filler``, or empty ones, in the rows that are ``absent``.

    filler: the bytes of a value, of values that have a size.
    """
    if isinstance(values, Fixed):
        data = np.broadcast_to(filler, (len(absent), values.data.shape[1])).copy()
        data[~absent] = values.data
        return Fixed(data)
    sizes = np.zeros(len(absent), np.int64)
    sizes[~absent] = np.diff(values.offsets)
    first = values.offsets[0]
    return Binary(np.concatenate([[first], first + np.cumsum(sizes)]), values.data)
