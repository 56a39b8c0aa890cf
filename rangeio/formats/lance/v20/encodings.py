"""A page's encoding as a tree of plain data, its buffers resolved to ranges of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rangeio.codecs.blocks import Scheme
from rangeio.codecs.protobuf import parse
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.pages import Page
from rangeio.formats.lance.v20.messages import MESSAGES
from rangeio.ranges import ByteRange

_SCHEMES = {"": None, "none": None, "zstd": Scheme.ZSTD, "lz4": Scheme.LZ4}


@dataclass(frozen=True, slots=True)
class Flat:
    """Value i lies at bit ``bits * i`` of the buffer, which may be one compressed block."""

    bits: int
    at: ByteRange
    scheme: Scheme | None = None


@dataclass(frozen=True, slots=True)
class Nullable:
    """``values`` with a bitmap (1 is valid); without one, no value is null."""

    values: Node
    validity: Node | None = None


@dataclass(frozen=True, slots=True)
class AllNull:
    """Nothing but nulls, in no bytes."""


@dataclass(frozen=True, slots=True)
class FixedList:
    """``size`` items a row."""

    size: int
    items: Node


@dataclass(frozen=True, slots=True)
class List:
    """Ends of lists within the page's items, raised by ``adjustment`` where null."""

    offsets: Node
    adjustment: int
    items: int


@dataclass(frozen=True, slots=True)
class Struct:
    """No bytes: the fields are columns of their own."""


@dataclass(frozen=True, slots=True)
class Binary:
    """Ends of values within the bytes, raised by ``adjustment`` where null.

    table: the FSST symbol table that each value is coded by, empty where they are plain.
    """

    indices: Node
    data: Node
    adjustment: int
    table: bytes = b""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Indices into items that every row of the page may need."""

    indices: Node
    items: Node
    count: int


@dataclass(frozen=True, slots=True)
class Packed:
    """Row after row, the fields of each one after the other; ``widths`` in bits."""

    widths: tuple[int, ...]
    at: ByteRange


@dataclass(frozen=True, slots=True)
class Bitpacked:
    """``packed`` bits a value, ``bits`` once unpacked: one stream, or FastLanes ``blocks``."""

    packed: int
    bits: int
    at: ByteRange
    signed: bool
    blocks: bool


@dataclass(frozen=True, slots=True)
class FixedBinary:
    """Values of ``width`` bytes each."""

    data: Node
    width: int


@dataclass(frozen=True, slots=True)
class Constant:
    """The same value everywhere."""

    value: bytes


Node = (
    Flat
    | Nullable
    | AllNull
    | FixedList
    | List
    | Struct
    | Binary
    | Dictionary
    | Packed
    | Bitpacked
    | FixedBinary
    | Constant
)


def encoding(page: Page) -> Node:
    """The tree of a page; Unsupported names an encoding that is none of version 2.0."""
    message = parse(MESSAGES.ArrayEncoding, page.encoding, "a page encoding")
    return _node(message, page.buffers)


Buffers = tuple[ByteRange, ...]


def _node(message: Any, buffers: Buffers) -> Node:
    kind = message.WhichOneof("kind")
    if kind is None:
        raise Unsupported("a page encoding that version 2.0 does not know")
    return _NODES[kind](getattr(message, kind), buffers)


def _range(buffer: Any, buffers: Buffers) -> ByteRange:
    if buffer.buffer_type:
        raise Unsupported("a page that lies in a column buffer or file buffer")
    if buffer.buffer_index >= len(buffers):
        raise Corrupt(f"a page of {len(buffers)} buffers names buffer {buffer.buffer_index}")
    at: ByteRange = buffers[buffer.buffer_index]
    return at


def _flat(message: Any, buffers: Buffers) -> Node:
    scheme = message.compression.scheme
    if scheme not in _SCHEMES:
        raise Unsupported(f"pages compressed with {scheme[:40]!r}")
    if not 0 < message.bits_per_value <= 1 << 16:
        raise Corrupt(f"values of {message.bits_per_value} bits")
    return Flat(message.bits_per_value, _range(message.buffer, buffers), _SCHEMES[scheme])


def _nullable(message: Any, buffers: Buffers) -> Node:
    kind = message.WhichOneof("kind")
    if kind == "no_nulls":
        return Nullable(_node(message.no_nulls.values, buffers))
    if kind == "some_nulls":
        some = message.some_nulls
        return Nullable(_node(some.values, buffers), _node(some.validity, buffers))
    if kind == "all_nulls":
        return AllNull()
    raise Corrupt("a nullable encoding that does not say which")


def _fixed_size_list(message: Any, buffers: Buffers) -> Node:
    if not message.dimension:
        raise Corrupt("a fixed-size list of no items")
    return FixedList(message.dimension, _node(message.items, buffers))


def _list(message: Any, buffers: Buffers) -> Node:
    offsets = _node(message.offsets, buffers)
    return List(offsets, message.null_offset_adjustment, message.num_items)


def _binary(message: Any, buffers: Buffers) -> Binary:
    return Binary(
        _node(message.indices, buffers), _node(message.bytes, buffers), message.null_adjustment
    )


def _dictionary(message: Any, buffers: Buffers) -> Node:
    return Dictionary(
        _node(message.indices, buffers),
        _node(message.items, buffers),
        message.num_dictionary_items,
    )


def _fsst(message: Any, buffers: Buffers) -> Node:
    inner = _node(message.binary, buffers)
    if not isinstance(inner, Binary) or not message.symbol_table:
        raise Corrupt("FSST that codes no strings")
    return Binary(inner.indices, inner.data, inner.adjustment, message.symbol_table)


def _packed_struct(message: Any, buffers: Buffers) -> Node:
    widths = tuple(_width(inner) for inner in message.inner)
    return Packed(widths, _range(message.buffer, buffers))


def _width(message: Any) -> int:
    """The bits of a packed field: its own buffers mean nothing."""
    kind: str = message.WhichOneof("kind") or "nothing"
    inner: Any = getattr(message, kind, None)
    if kind == "flat" and inner.bits_per_value % 8 == 0 and 0 < inner.bits_per_value < 1 << 16:
        width: int = inner.bits_per_value
        return width
    if kind == "nullable" and inner.WhichOneof("kind") == "no_nulls":
        return _width(inner.no_nulls.values)
    if kind == "fixed_size_list":
        return int(inner.dimension) * _width(inner.items)
    raise Unsupported(f"a packed struct with a field encoded as {kind}")


def _stream(message: Any, buffers: Buffers, *, blocks: bool) -> Node:
    packed, bits = message.compressed_bits_per_value, message.uncompressed_bits_per_value
    if bits not in (8, 16, 32, 64) or packed > bits:
        raise Corrupt(f"{bits} bits packed into {packed}")
    at = _range(message.buffer, buffers)
    return Bitpacked(packed, bits, at, message.signed and not blocks, blocks)


def _fixed_size_binary(message: Any, buffers: Buffers) -> Node:
    return FixedBinary(_node(message.bytes, buffers), message.byte_width)


_NODES: dict[str, Callable[[Any, Buffers], Node]] = {
    "flat": _flat,
    "nullable": _nullable,
    "fixed_size_list": _fixed_size_list,
    "list": _list,
    "struct": lambda message, buffers: Struct(),
    "binary": _binary,
    "dictionary": _dictionary,
    "fsst": _fsst,
    "packed_struct": _packed_struct,
    "bitpacked": lambda message, buffers: _stream(message, buffers, blocks=False),
    "bitpacked_for_non_neg": lambda message, buffers: _stream(message, buffers, blocks=True),
    "fixed_size_binary": _fixed_size_binary,
    "constant": lambda message, buffers: Constant(message.value),
}
