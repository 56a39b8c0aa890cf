"""The values of a page, dense: what is NULL has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rangeio.codecs import bounds
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """Values of one size: uint8 of shape (count, size), contiguous, little-endian.

    It may be a view of the page's body: read only, not to be written to.
    """

    data: Bytes

    def __len__(self) -> int:
        return len(self.data)


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """Values of any size: value k is ``data[offsets[k]:offsets[k + 1]]``.

    offsets: int64, one more than values, checked: they never fall and end within ``data``. The
    first need not be 0, and ``data`` may be a view of the page's body.
    """

    offsets: Offsets
    data: Bytes

    def __len__(self) -> int:
        return len(self.offsets) - 1


Values: TypeAlias = Fixed | Binary


def fixed(data: Bytes, count: int, size: int) -> Fixed:
    """``count`` values of ``size`` bytes that are the whole of ``data``; Corrupt where not."""
    if len(data) != count * size:
        raise Corrupt(f"{count} values of {size} bytes in {len(data)}")
    return Fixed(data.reshape(count, size))


def binary(offsets: Offsets, data: Bytes) -> Binary:
    """Values cut from ``data``; Corrupt where the offsets fall or leave it."""
    bounds.ascending(offsets, len(data), "value")
    return Binary(offsets, data)


def as_bytes(body: memoryview) -> Bytes:
    """The body as an array, without a copy."""
    return np.frombuffer(body, np.uint8)
