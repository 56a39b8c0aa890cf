"""How a page of version 2.1 or 2.2 is laid out: its message, checked and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from rangeio.codecs.protobuf import parse as parse_message
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.pages import Page
from rangeio.formats.lance.v21 import encodings
from rangeio.formats.lance.v21.encodings import Encoding
from rangeio.formats.lance.v21.layers import Layers
from rangeio.formats.lance.v21.messages import MESSAGES

URL = "/lance.encodings21.PageLayout"
MOST = 1 << 48  # of anything counted in a message


@dataclass(frozen=True, slots=True)
class MiniBlock:
    """Small values in chunks. Buffers: chunk words, chunks, dictionary, repetition index.

    items: visible value slots. buffers: value buffers in each chunk. large: wide chunk words.
    """

    rep: Encoding | None
    defs: Encoding | None
    values: Encoding
    dictionary: Encoding | None
    dictionary_items: int
    layers: Layers
    buffers: int
    indexed: bool
    items: int
    large: bool


@dataclass(frozen=True, slots=True)
class FullZip:
    """Large values, each behind its levels. Buffers: entries, repetition index.

    bits: of a value, or of a value's length where it ``varies``.
    """

    bits_rep: int
    bits_def: int
    bits: int
    varies: bool
    items: int
    visible: int
    values: Encoding
    layers: Layers

    @property
    def control(self) -> int:
        """Bytes of the word of levels in front of each entry."""
        bits = self.bits_rep + self.bits_def
        return 0 if bits == 0 else 1 if bits <= 8 else 2 if bits <= 16 else 4

    @property
    def indexed(self) -> bool:
        """Whether a repetition index says where each row begins."""
        return self.varies or self.bits_rep > 0


@dataclass(frozen=True, slots=True)
class Constant:
    """One value (or null) for every visible slot. Buffers: [value], [rep, def]."""

    layers: Layers
    value: bytes | None
    rep: Encoding | None
    defs: Encoding | None
    num_rep: int
    num_def: int


@dataclass(frozen=True, slots=True)
class Blob:
    """Positions and sizes of payloads elsewhere in the file; nulls are told by the position."""

    inner: MiniBlock | Constant
    layers: Layers


Layout: TypeAlias = MiniBlock | FullZip | Constant | Blob


def layout_of(page: Page) -> Layout:
    """The layout of a page. Raises Corrupt, or Unsupported naming what is not read."""
    if page.url != URL:
        raise Unsupported(f"the page encoding {page.url}")
    return parse(page.encoding)


@lru_cache(maxsize=512)
def parse(encoding: bytes) -> Layout:
    """The layout of a PageLayout message; kept, for pages of one file repeat each other's."""
    return _layout(parse_message(MESSAGES.PageLayout, encoding, "a page layout"))


def _layout(message: Any) -> Layout:
    kind = message.WhichOneof("layout")
    if kind == "mini_block_layout":
        return _mini_block(message.mini_block_layout)
    if kind == "full_zip_layout":
        return _full_zip(message.full_zip_layout)
    if kind == "constant_layout":
        return _constant(message.constant_layout)
    if kind == "blob_layout":
        inner = _layout(message.blob_layout.inner_layout)
        if isinstance(inner, Blob | FullZip):
            raise Unsupported(f"blobs described by a {type(inner).__name__} layout")
        layers = Layers.of(message.blob_layout.layers)
        if layers.lists:  # their repetition is in no page: such a file has lost where lists begin
            raise Unsupported("blobs inside lists")
        return Blob(inner, layers)
    raise Unsupported(f"the page layout {kind or 'unknown'}")


def _count(value: int, what: str) -> int:
    if value > MOST:
        raise Corrupt(f"{value} {what} in one page")
    return int(value)


def _mini_block(message: Any) -> MiniBlock:
    layers = Layers.of(message.layers)
    if message.repetition_index_depth > 1:
        raise Unsupported(f"a repetition index of depth {message.repetition_index_depth}")
    if not 0 < message.num_buffers <= 64:
        raise Corrupt(f"chunks of {message.num_buffers} buffers")
    rep = encodings.optional(message, "rep_compression")
    if layers.lists and (rep is None or not message.repetition_index_depth):
        raise Corrupt("lists without repetition levels or repetition index")
    return MiniBlock(
        rep=rep,
        defs=encodings.optional(message, "def_compression"),
        values=encodings.parse(message.value_compression),
        dictionary=encodings.optional(message, "dictionary"),
        dictionary_items=_count(message.num_dictionary_items, "dictionary items"),
        layers=layers,
        buffers=int(message.num_buffers),
        indexed=message.repetition_index_depth > 0,
        items=_count(message.num_items, "items"),
        large=bool(message.has_large_chunk),
    )


def _full_zip(message: Any) -> FullZip:
    layers = Layers.of(message.layers)
    varies = message.WhichOneof("details") == "bits_per_offset"
    bits = message.bits_per_offset if varies else message.bits_per_value
    if varies and bits not in (32, 64):
        raise Unsupported(f"full-zip lengths of {bits} bits")
    if not varies and (bits % 8 or not 0 < bits <= encodings.WIDEST):
        raise Unsupported(f"full-zip values of {bits} bits")
    if message.bits_rep > 16 or message.bits_def > 16:
        raise Corrupt(f"levels of {message.bits_rep} and {message.bits_def} bits")
    if (message.bits_rep > 0) != (layers.lists > 0):
        raise Corrupt(f"{layers.lists} lists with repetition levels of {message.bits_rep} bits")
    return FullZip(
        bits_rep=message.bits_rep,
        bits_def=message.bits_def,
        bits=bits,
        varies=varies,
        items=message.num_items,
        visible=message.num_visible_items,
        values=encodings.parse(message.value_compression),
        layers=layers,
    )


def _constant(message: Any) -> Constant:
    return Constant(
        layers=Layers.of(message.layers),
        value=message.inline_value if message.HasField("inline_value") else None,
        rep=encodings.optional(message, "rep_compression"),
        defs=encodings.optional(message, "def_compression"),
        num_rep=_count(message.num_rep_values, "repetition levels"),
        num_def=_count(message.num_def_values, "definition levels"),
    )
