"""What the PLAIN bytes of a leaf's values mean in its Arrow type, and the bytes of such values."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import pyarrow as pa

from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Leaf, Physical
from rangeio.formats.parquet.pruning.annotation import Annotation, Logical, annotation
from rangeio.literal import Order, is_binary, is_string, plain

Pair = tuple[Any, Any]
"""Two bounds as :class:`rangeio.statistics.Statistics` takes them; None is unknown."""

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86_400_000
_LARGEST_DECIMAL = 32  # bytes


class Values(Protocol):
    """The values of a leaf, whose file order is that of its Arrow type."""

    @property
    def signed(self) -> bool:
        """Whether comparing them as signed numbers, as the deprecated bounds are, is right."""
        ...

    def bounds(self, low: bytes | None, high: bytes | None) -> Pair:
        """Both bounds from PLAIN bytes, never narrower than these say; None for nonsense."""
        ...

    def plain(self, value: Order) -> bytes | None:
        """The bytes of every value in the file that decodes to ``value``; None where these can be
        several, or where it cannot be told."""
        ...


Maker = Callable[[Annotation, pa.DataType, int], Values | None]
"""From what a leaf's element says of it, its Arrow type without encodings, and its type_length."""


def values_of(leaf: Leaf) -> Values | None:
    """The values of a leaf; None where nothing says how the file orders them, or where this is not
    the order of the Arrow type."""
    make = _MAKERS.get(leaf.physical)
    if make is None:
        return None
    try:
        note, size = annotation(leaf.element), leaf.element.integer(2) or 0
    except Corrupt:
        return None
    return make(note, plain(leaf.kind), size)


# ---- booleans ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flags:
    """BOOLEAN: a byte."""

    signed = False

    def bounds(self, low: bytes | None, high: bytes | None) -> Pair:
        """From bytes of 0 and 1."""
        least, most = (_FLAGS.get(one) if one else None for one in (low, high))
        return least, most

    def plain(self, value: Order) -> bytes | None:
        """Of no use: filters hold no booleans."""
        return None


_FLAGS = {b"\0": False, b"\1": True}


# ---- integers and times --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Whole:
    """INT32 and INT64 as whole numbers of some unit.

    layout: of one value. up: units of the Arrow type in one of the file's; down: the other way
    around; one of them is 1. least, most: of the Arrow type. whole: it holds all that the file can;
    else decoders may wrap what lies outside, so that one bound alone says nothing.
    """

    layout: struct.Struct
    up: int
    down: int
    least: int
    most: int
    whole: bool

    @property
    def signed(self) -> bool:
        """By its layout."""
        return self.layout.format in ("<i", "<q")

    def bounds(self, low: bytes | None, high: bytes | None) -> Pair:
        """Rounded outward where the Arrow type's unit is the coarser one."""
        below, above = self._number(low), self._number(high)
        if not self.whole and (below is None or above is None):
            return None, None
        if below is not None:
            below = below * self.up // self.down
        if above is not None:
            above = -(-above * self.up // self.down)
        if any(one is not None and not self.least <= one <= self.most for one in (below, above)):
            return None, None
        return below, above

    def plain(self, value: Order) -> bytes | None:
        """Where the units are whole multiples."""
        if not isinstance(value, int) or self.down != 1 or value % self.up:
            return None
        return _packed(self.layout, value // self.up)

    def _number(self, raw: bytes | None) -> int | None:
        if raw is None or len(raw) != self.layout.size:
            return None
        (found,) = self.layout.unpack(raw)
        return int(found)


def _packed(layout: struct.Struct, value: Order) -> bytes | None:
    try:
        return layout.pack(value)
    except (struct.error, OverflowError):
        return None


def _range(bits: int, signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def _counted(layout: struct.Struct, kind: pa.DataType, up: int = 1, down: int = 1) -> Whole:
    signed = not pa.types.is_unsigned_integer(kind)
    least, most = _range(kind.bit_width, signed)
    low, high = _range(8 * layout.size, layout.format.islower())
    whole = least <= low * up // down and high * up // down <= most
    return Whole(layout, up, down, least, most, whole)


def _numbered(signed: struct.Struct, unsigned: struct.Struct) -> Maker:
    def make(note: Annotation, kind: pa.DataType, size: int) -> Values | None:
        if note.logical is Logical.DECIMAL:
            return _decimal(note, kind, signed.size, signed)
        if note.logical in (Logical.NONE, Logical.INTEGER) and pa.types.is_integer(kind):
            return _counted(signed if note.signed else unsigned, kind)
        if note.logical is Logical.NONE and signed.size == 8 and pa.types.is_duration(kind):
            return _counted(signed, kind)
        if note.logical is Logical.DATE and signed.size == 4 and pa.types.is_date(kind):
            return _counted(signed, kind, _DAY if pa.types.is_date64(kind) else 1)
        if (note.logical is Logical.TIMESTAMP and pa.types.is_timestamp(kind)) or (
            note.logical is Logical.TIME and pa.types.is_time(kind)
        ):
            ours = _NANOSECONDS[kind.unit]
            if note.nanoseconds:
                up, down = note.nanoseconds // ours, ours // note.nanoseconds
                return _counted(signed, kind, max(up, 1), max(down, 1))
        return None

    return make


# ---- decimals ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decimals:
    """DECIMAL. scale: digits after the point. size: bytes of a value, 0 where that varies.
    layout: of the integer that stands for it; None: big-endian bytes."""

    scale: int
    size: int
    layout: struct.Struct | None

    @property
    def signed(self) -> bool:
        """Where it is an integer of the file; of bytes the deprecated bounds say nothing."""
        return self.layout is not None

    def bounds(self, low: bytes | None, high: bytes | None) -> Pair:
        """As decimals."""
        return self._decimal(low), self._decimal(high)

    def plain(self, value: Order) -> bytes | None:
        """Of a fixed size; of others writers choose it."""
        if not isinstance(value, int) or not self.size:
            return None
        if self.layout is not None:
            return _packed(self.layout, value)
        try:
            return value.to_bytes(self.size, "big", signed=True)
        except OverflowError:
            return None

    def _decimal(self, raw: bytes | None) -> Decimal | None:
        if not raw or len(raw) > _LARGEST_DECIMAL or (self.size and len(raw) != self.size):
            return None
        unscaled = int.from_bytes(raw, "big" if self.layout is None else "little", signed=True)
        digits = tuple(map(int, str(abs(unscaled))))
        return Decimal((int(unscaled < 0), digits, -self.scale))


def _decimal(
    note: Annotation, kind: pa.DataType, size: int, layout: struct.Struct | None = None
) -> Values | None:
    if not pa.types.is_decimal(kind) or kind.scale != note.scale or size > _LARGEST_DECIMAL:
        return None
    return Decimals(note.scale, size, layout)


# ---- floats --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Floats:
    """FLOAT, DOUBLE, FLOAT16. layout: of one value."""

    layout: struct.Struct

    @property
    def signed(self) -> bool:
        """But for FLOAT16, whose bytes were compared."""
        return self.layout is not _HALF

    def bounds(self, low: bytes | None, high: bytes | None) -> Pair:
        """A NaN is no bound; one zero may hide the other."""
        least, most = self._number(low), self._number(high)
        return -0.0 if least == 0 else least, 0.0 if most == 0 else most

    def plain(self, value: Order) -> bytes | None:
        """Of a value that the type holds as it is."""
        raw = _packed(self.layout, value)
        return raw if raw is not None and self.layout.unpack(raw)[0] == value else None

    def _number(self, raw: bytes | None) -> float | None:
        if raw is None or len(raw) != self.layout.size:
            return None
        (found,) = self.layout.unpack(raw)
        return None if math.isnan(found) else float(found)


_HALF = struct.Struct("<e")


def _floats(layout: struct.Struct, fits: Callable[[pa.DataType], bool]) -> Maker:
    def make(note: Annotation, kind: pa.DataType, size: int) -> Values | None:
        return Floats(layout) if note.logical is Logical.NONE and fits(kind) else None

    return make


# ---- bytes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Texts:
    """Bytes and text, compared byte by byte. size: bytes of a value, 0 where that varies."""

    size: int
    signed = False

    def bounds(self, low: bytes | None, high: bytes | None) -> Pair:
        """As they are, cut ones too."""
        return self._bound(low), self._bound(high)

    def plain(self, value: Order) -> bytes | None:
        """As it is, in the right size."""
        if not isinstance(value, bytes) or (self.size and len(value) != self.size):
            return None
        return value

    def _bound(self, raw: bytes | None) -> bytes | None:
        return None if raw is None or (self.size and len(raw) > self.size) else raw


_TEXTS = (Logical.NONE, Logical.STRING, Logical.ENUM, Logical.JSON, Logical.BSON)


def _byte_arrays(note: Annotation, kind: pa.DataType, size: int) -> Values | None:
    if note.logical is Logical.DECIMAL:
        return _decimal(note, kind, 0)
    if note.logical in _TEXTS and (is_string(kind) or is_binary(kind)):
        return Texts(0)
    return None


def _fixed(note: Annotation, kind: pa.DataType, size: int) -> Values | None:
    if size <= 0:
        return None
    if note.logical is Logical.DECIMAL:
        return _decimal(note, kind, size)
    if note.logical is Logical.FLOAT16:
        return Floats(_HALF) if size == 2 and pa.types.is_float16(kind) else None
    if note.logical in (Logical.NONE, Logical.UUID) and is_binary(kind):
        return Texts(size)
    return None


def _booleans(note: Annotation, kind: pa.DataType, size: int) -> Values | None:
    return Flags() if note.logical is Logical.NONE and pa.types.is_boolean(kind) else None


_MAKERS: dict[int, Maker] = {
    Physical.BOOLEAN: _booleans,
    Physical.INT32: _numbered(struct.Struct("<i"), struct.Struct("<I")),
    Physical.INT64: _numbered(struct.Struct("<q"), struct.Struct("<Q")),
    Physical.FLOAT: _floats(struct.Struct("<f"), pa.types.is_float32),
    Physical.DOUBLE: _floats(struct.Struct("<d"), pa.types.is_float64),
    Physical.BYTE_ARRAY: _byte_arrays,
    Physical.FIXED_LEN_BYTE_ARRAY: _fixed,
}
"""INT96 is not among them: its nanoseconds may exceed a day, so no order of it is that of time."""
