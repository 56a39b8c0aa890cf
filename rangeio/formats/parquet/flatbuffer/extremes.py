"""The bounds in Statistics: as integers of fixed size, of byte arrays what begins alike apart.

Numbers are kept as they are in Thrift, in ``lo4`` (INT32, FLOAT), ``lo8`` (INT64, DOUBLE) or both
(INT96). Of byte arrays the bytes that both bounds begin with are the prefix; what follows is in
``hi8`` and ``lo8``, big-endian, zero-padded. A length below zero says that the bound is not known
to be a value.

The schema does not say on which side the zeros are, nor, in so many words, which half comes first.
So what is written leaves a byte free, and what is read has to mean the same in every way that a
writer could have taken it. Written are the first bytes in ``hi8``, and zeros behind.
"""

from __future__ import annotations

from dataclasses import dataclass

from rangeio.formats.parquet.flatbuffer.annotation import Logical
from rangeio.formats.parquet.leaf import Physical

ROOM = 16
"""Bytes that there is room for behind the prefix."""
SUFFIX = ROOM - 1
"""Bytes written of what follows the prefix: the byte left free tells how the others lie."""
LONGEST_PREFIX = 256
"""Bytes of a prefix that is written or looked at; see ``FOLD``: chunks could all refer to one."""

_FOUR = (Physical.INT32, Physical.FLOAT)
_EIGHT = (Physical.INT64, Physical.DOUBLE)


@dataclass(frozen=True, slots=True)
class Value:
    """A bound as Thrift has it; exact: it is known to be a value of the column."""

    data: bytes
    exact: bool


@dataclass(frozen=True, slots=True)
class Packed:
    """A bound as the FlatBuffer has it."""

    lo4: int
    lo8: int
    hi8: int
    length: int


@dataclass(frozen=True, slots=True)
class Kind:
    """What bounds depend on. type_length: of FIXED_LEN_BYTE_ARRAY. logical: the logical type's
    number in the FlatBuffer, 0 for none."""

    physical: int
    type_length: int | None
    logical: int

    @property
    def bytewise(self) -> bool:
        """Whether values are byte arrays."""
        return self.physical in (Physical.BYTE_ARRAY, Physical.FIXED_LEN_BYTE_ARRAY)

    @property
    def whole(self) -> bool:
        """Whether bounds must not be cut: numbers become others, and values of fixed size are
        taken by their size, by Arrow at the cost of the process."""
        fixed = self.physical == Physical.FIXED_LEN_BYTE_ARRAY
        return fixed or self.logical == Logical.DECIMAL

    @property
    def ordered(self) -> bool:
        """Whether it cannot be an INTERVAL: its order is defined by nobody, and the FlatBuffer has
        no name for it."""
        fixed = self.physical == Physical.FIXED_LEN_BYTE_ARRAY
        return not (fixed and self.type_length == 12 and not self.logical)


# ---- packing -------------------------------------------------------------------------------------


def packed(kind: Kind, least: Value, most: Value) -> tuple[Packed, Packed, bytes] | None:
    """Both bounds and their prefix; None where they cannot be told without telling too much."""
    if not kind.ordered:
        return None
    if kind.bytewise:
        return _packed_bytes(kind, least, most)
    low, high = _packed_number(kind.physical, least), _packed_number(kind.physical, most)
    return None if low is None or high is None else (low, high, b"")


def _packed_number(physical: int, value: Value) -> Packed | None:
    data, size = value.data, _size(physical)
    if not size or len(data) != size:
        return None
    four = 0 if physical in _EIGHT else 4
    lo4, lo8 = (int.from_bytes(part, "little") for part in (data[:four], data[four:]))
    return Packed(lo4, lo8, 0, size if value.exact else -size)


def _size(physical: int) -> int:
    """Bytes of a number, 0 where there are no bounds."""
    if physical == Physical.INT96:
        return 12
    return 4 * (physical in _FOUR) + 8 * (physical in _EIGHT)


def _packed_bytes(kind: Kind, least: Value, most: Value) -> tuple[Packed, Packed, bytes] | None:
    start = _alike(least.data, most.data)
    # A length of zero cannot say that the bound is no value; so such a bound keeps one byte.
    for value in (least, most):
        if not value.exact and len(value.data) == start:
            start = max(start - 1, 0)
    low, high = _suffix(least, start, kind, up=False), _suffix(most, start, kind, up=True)
    if low is None or high is None or start > LONGEST_PREFIX:
        return None
    return low, high, most.data[:start]


def _alike(a: bytes, b: bytes) -> int:
    size = min(len(a), len(b))
    return next((i for i in range(size) if a[i] != b[i]), size)


def _suffix(value: Value, start: int, kind: Kind, *, up: bool) -> Packed | None:
    data, exact = value.data[start:], value.exact
    if not data and not exact:
        return None
    if len(data) > SUFFIX:
        # Bytes compare by their front, so less of a lower bound is one too; an upper one has to
        # become larger instead, which bytes of 255 cannot.
        cut = _raised(data[:SUFFIX]) if up else data[:SUFFIX]
        if kind.whole or cut is None:
            return None
        data, exact = cut, False
    padded = data.ljust(ROOM, b"\0")
    hi8, lo8 = int.from_bytes(padded[:8], "big"), int.from_bytes(padded[8:], "big")
    return Packed(0, lo8, hi8, len(data) if exact else -len(data))


def _raised(data: bytes) -> bytes | None:
    """The least string of the size that is above all that begin with ``data``; trailing bytes
    that cannot rise become zero."""
    kept = data.rstrip(b"\xff")
    if not kept:
        return None
    return (kept[:-1] + bytes([kept[-1] + 1])).ljust(len(data), b"\0")


# ---- unpacking -----------------------------------------------------------------------------------


def unpacked(kind: Kind, bound: Packed, prefix: bytes) -> Value | None:
    """A bound as Thrift has it; None where it is not certain to be one.

    Writers of before put up to 4 bytes of suffix into ``lo4``, and let an upper bound of 255s wrap
    around to zero; of these none is taken.
    """
    size = abs(bound.length)
    if not kind.ordered:
        return None
    if not kind.bytewise:
        if not size or size != _size(kind.physical):
            return None
        lo4 = b"" if kind.physical in _EIGHT else bound.lo4.to_bytes(4, "little")
        lo8 = b"" if kind.physical in _FOUR else bound.lo8.to_bytes(8, "little")
        return Value(lo4 + lo8, bound.length > 0)
    wrapped = bound.length < 0 and not bound.hi8 and not bound.lo8
    meanings = _meanings(bound, size)
    if bound.lo4 or wrapped or len(meanings) != 1 or _cut(kind, bound.length, len(prefix)):
        return None
    return Value(prefix + meanings.pop(), bound.length >= 0)


def _meanings(bound: Packed, size: int) -> set[bytes]:
    """What the suffix of ``size`` bytes can be: either half first, zeros behind or in front."""
    hi, lo = bound.hi8.to_bytes(8, "big"), bound.lo8.to_bytes(8, "big")
    free = ROOM - size
    found = set[bytes]()
    for data in (hi + lo, lo + hi) if free >= 0 else ():
        if not any(data[size:]):
            found.add(data[:size])
        if not any(data[:free]):
            found.add(data[free:])
    return found


def _cut(kind: Kind, length: int, prefix: int) -> bool:
    """Whether a bound that has to be whole may have been cut."""
    if kind.physical == Physical.FIXED_LEN_BYTE_ARRAY:
        return prefix + abs(length) != kind.type_length
    return kind.whole and length < 0
