"""The tree of compressive encodings of one page, checked and frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from rangeio.codecs.blocks import Scheme
from rangeio.errors import Corrupt, Unsupported

WIDEST = 1 << 31  # bits of one value of fixed width


@dataclass(frozen=True, slots=True)
class Flat:
    """Values of ``bits`` bits, contiguous; 1 bit: LSB first."""

    bits: int


@dataclass(frozen=True, slots=True)
class Variable:
    """Offsets and bytes."""

    offsets: Encoding


@dataclass(frozen=True, slots=True)
class Same:
    """One value for all, in the message; None: null."""

    value: bytes | None


@dataclass(frozen=True, slots=True)
class Bitpacked:
    """FastLanes blocks of values of ``bits`` bits, packed to ``width``, which may be 0."""

    bits: int
    width: int


@dataclass(frozen=True, slots=True)
class InlineBitpacked:
    """FastLanes blocks, each with its width in front."""

    bits: int


@dataclass(frozen=True, slots=True)
class Fsst:
    """Codes of a symbol table."""

    table: bytes
    values: Encoding


@dataclass(frozen=True, slots=True)
class Runs:
    """Run values and run lengths."""

    values: Encoding
    lengths: Encoding


@dataclass(frozen=True, slots=True)
class Transposed:
    """Fixed width values, byte by byte."""

    values: Encoding


@dataclass(frozen=True, slots=True)
class General:
    """A general purpose codec around the inner encoding."""

    scheme: Scheme
    values: Encoding


@dataclass(frozen=True, slots=True)
class FixedList:
    """``size`` items a value; ``nullable``: the items have a validity bitmap."""

    size: int
    nullable: bool
    values: Encoding


@dataclass(frozen=True, slots=True)
class Packed:
    """Structs of fixed width, row by row; ``bits`` of each field."""

    bits: tuple[int, ...]
    values: Encoding


@dataclass(frozen=True, slots=True)
class PackedField:
    """One field of a packed struct of variable width: ``bits`` of its value or of its length."""

    values: Encoding
    bits: int
    varies: bool


@dataclass(frozen=True, slots=True)
class PackedVariable:
    """Structs of variable width, row by row, each value a unit of its own."""

    fields: tuple[PackedField, ...]


Encoding: TypeAlias = (
    Flat
    | Variable
    | Same
    | Bitpacked
    | InlineBitpacked
    | Fsst
    | Runs
    | Transposed
    | General
    | FixedList
    | Packed
    | PackedVariable
)


def unsupported(encoding: Encoding, where: str) -> Unsupported:
    """The refusal of an encoding in a place where no writer puts it."""
    return Unsupported(f"{type(encoding).__name__} encoding of {where}")


def parse(message: Any) -> Encoding:
    """The checked tree of a CompressiveEncoding message; Unsupported names what it has not."""
    kind = message.WhichOneof("compression")
    if kind not in _MAKE:
        raise Unsupported(f"the compressive encoding {kind or 'unknown'}")
    return _MAKE[kind](getattr(message, kind))


def optional(message: Any, name: str) -> Encoding | None:
    """The encoding in a field of the message, None where it is absent."""
    return parse(getattr(message, name)) if message.HasField(name) else None


def _flat(message: Any, least: int = 1) -> Flat:
    bits = int(message.bits_per_value)
    if message.HasField("data"):
        raise Unsupported("a flat encoding with a compressed buffer")
    if not least <= bits <= WIDEST:
        raise Corrupt(f"flat values of {bits} bits")
    return Flat(bits)


def _variable(message: Any) -> Variable:
    if message.HasField("values"):
        raise Unsupported("a variable encoding with compressed bytes")
    return Variable(parse(message.offsets))


def _same(message: Any) -> Same:
    return Same(message.value if message.HasField("value") else None)


def _word(bits: int) -> int:
    if bits not in (8, 16, 32, 64):
        raise Corrupt(f"bit packing of values of {bits} bits")
    return bits


def _inline(message: Any) -> InlineBitpacked:
    if message.HasField("values"):
        raise Unsupported("inline bit packing with compressed values")
    return InlineBitpacked(_word(int(message.uncompressed_bits_per_value)))


def _outline(message: Any) -> Bitpacked:
    bits = _word(int(message.uncompressed_bits_per_value))
    if message.values.WhichOneof("compression") != "flat":
        raise Unsupported("bit packing whose packed values are not flat")
    # Zeros alone are packed to no bits at all.
    values = _flat(message.values.flat, least=0)
    if values.bits > bits:
        raise Corrupt(f"values of {bits} bits packed to {values.bits}")
    return Bitpacked(bits, values.bits)


def _general(message: Any) -> General:
    try:
        scheme = Scheme(message.compression.scheme)
    except ValueError:
        raise Unsupported(f"compression scheme {message.compression.scheme}") from None
    return General(scheme, parse(message.values))


def _fixed_list(message: Any) -> FixedList:
    size = int(message.items_per_value)
    if not 0 < size <= WIDEST:
        raise Corrupt(f"a fixed-size list of {size} items")
    return FixedList(size, bool(message.has_validity), parse(message.values))


def _packed(message: Any) -> Packed:
    bits = tuple(int(b) for b in message.bits_per_value)
    if not bits or any(b % 8 or not 0 < b <= WIDEST for b in bits):
        raise Unsupported(f"a packed struct of fields of {bits} bits")
    return Packed(bits, parse(message.values))


def _packed_field(message: Any) -> PackedField:
    kind = message.WhichOneof("layout")
    if kind == "bits_per_value":
        bits = int(message.bits_per_value)
        if bits % 8 or not 0 < bits <= WIDEST:
            raise Unsupported(f"a packed field of {bits} bits")
        return PackedField(parse(message.value), bits, varies=False)
    if kind != "bits_per_length" or message.bits_per_length not in (32, 64):
        raise Unsupported("a packed field whose lengths are not of 32 or 64 bits")
    return PackedField(parse(message.value), int(message.bits_per_length), varies=True)


_MAKE: dict[str, Callable[[Any], Encoding]] = {
    "flat": _flat,
    "variable": _variable,
    "constant": _same,
    "out_of_line_bitpacking": _outline,
    "inline_bitpacking": _inline,
    "fsst": lambda m: Fsst(m.symbol_table, parse(m.values)),
    "rle": lambda m: Runs(parse(m.values), parse(m.run_lengths)),
    "byte_stream_split": lambda m: Transposed(parse(m.values)),
    "general": _general,
    "fixed_size_list": _fixed_list,
    "packed_struct": _packed,
    "variable_packed_struct": lambda m: PackedVariable(tuple(map(_packed_field, m.fields))),
}
