"""Decoded values before they are Arrow arrays: buffers and how they nest.

Every ``count`` says how many values there are, null slots included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs.bounds import Bytes, Offsets

MOST = (1 << 31) - 1
"""Bytes of values that one unit may decode to: far above any unit's own size."""


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """``count`` values of ``size`` bytes, contiguous."""

    data: Bytes
    size: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """``count`` bits, LSB first."""

    data: Bytes
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Varied:
    """Values ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: Offsets
    data: Bytes

    @property
    def count(self) -> int:
        """How many values."""
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True, eq=False)
class FixedLists:
    """``count`` lists of ``size`` items; validity: a bitmap over the items, None all valid."""

    items: Values
    size: int
    validity: Bytes | None
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Structs:
    """Packed structs, field by field."""

    fields: tuple[Values, ...]
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """Indices into the values of a dictionary; those of null slots mean nothing."""

    indices: npt.NDArray[np.unsignedinteger]
    items: Values

    @property
    def count(self) -> int:
        """How many values."""
        return len(self.indices)


@dataclass(frozen=True, slots=True)
class Nulls:
    """``count`` values of which none is there."""

    count: int


Values: TypeAlias = Fixed | Bits | Varied | FixedLists | Structs | Coded | Nulls


def size_of(values: Values) -> int:
    """Bytes of memory the values hold, roughly."""
    if isinstance(values, Fixed | Bits):
        return values.data.nbytes
    if isinstance(values, Varied):
        return values.data.nbytes + values.offsets.nbytes
    if isinstance(values, FixedLists):
        return size_of(values.items)
    if isinstance(values, Structs):
        return sum(map(size_of, values.fields))
    if isinstance(values, Coded):
        return values.indices.nbytes + size_of(values.items)
    return 0
