"""The extension at the end of a Thrift footer that holds the FlatBuffer footer.

In file order: the Thrift header of a binary field, its length, the payload, its codec (1 byte),
crc32 of payload and codec, size of the payload, size of the FlatBuffer, crc32 of these two sizes (4
bytes each), a UUID (16), and the stop byte of the FileMetaData.
"""

from __future__ import annotations

import enum
import struct
import zlib
from dataclasses import dataclass

import pyarrow as pa

from rangeio.codecs import thrift
from rangeio.codecs.blocks import Scheme, decompress
from rangeio.errors import FormatError
from rangeio.ranges import ByteRange

UUID = b"\xde\xad\xbe\xef" * 4
"""What the proposal has; a placeholder that was never replaced."""

HEADERS = (b"\x08\xfe\xff\x03", b"\x08\xff\xff\x01")
"""Spellings of the field's header. The first is field 32767 in the compact protocol. The second is
of the proposal's own writer, which left the zigzag out: a parser takes it for field -16384."""

FIELDS = (32767, -16384)
"""What parsers take the two spellings for."""

REACH = 42
"""Bytes at the end of a file that tell whether there is an extension."""

RATIO = 16
"""Bytes that one compressed byte may stand for. Footers shrink to a half or a third; LZ4 could make
255 bytes of one, which costs memory for the asking. The Thrift footer is there for what is left."""

_END = 9  # the Thrift stop byte, the footer's size and the magic
_TRAILER = struct.Struct("<BIIII16s")  # codec, crc of the payload, sizes, crc of the sizes, UUID
_SIZES = struct.Struct("<II")
_LARGEST = 1 << 31  # offsets in a FlatBuffer are signed
_WORTH = 1.2  # less compression than this does not pay for decompressing, says the proposal


class Codec(enum.IntEnum):
    """How the payload is compressed, numbered as Parquet numbers its codecs."""

    UNCOMPRESSED = 0
    LZ4_RAW = 7


@dataclass(frozen=True, slots=True)
class Extension:
    """Where an extension lies in the file.

    at: the payload and the byte of its codec. size: of the payload. raw_size: of the FlatBuffer
    that it decompresses to. crc: what crc32 of the bytes of ``at`` must be.
    """

    at: ByteRange
    codec: Codec
    size: int
    raw_size: int
    crc: int


def found(tail: memoryview, footer_start: int, footer_stop: int) -> Extension | None:
    """The extension of a footer, told by its trailer; None where there is none to rely on.

    tail: the last bytes of the file. footer_start, footer_stop: the footer, in the file. The
    field's header is verified where the tail reaches it.
    """
    if len(tail) < REACH or tail[-_END]:
        return None
    trailer = bytes(tail[-REACH:-_END])
    codec, crc, size, raw_size, sizes_crc, uuid = _TRAILER.unpack(trailer)
    if uuid != UUID or zlib.crc32(_SIZES.pack(size, raw_size)) != sizes_crc:
        return None
    start = footer_stop - 1 - _TRAILER.size - size
    headers = _headers(size + _TRAILER.size)
    room = len(headers[0])
    if start - room < footer_start or not _sound(codec, size, raw_size):
        return None
    at = start - (footer_stop + _END - 1 - len(tail))
    if at >= room and bytes(tail[at - room : at]) not in headers:
        return None
    return Extension(ByteRange(start, start + size + 1), Codec(codec), size, raw_size, crc)


def _headers(size: int) -> list[bytes]:
    """What precedes a binary field of ``size`` bytes."""
    return [header + thrift.unsigned(size) for header in HEADERS]


def _sound(codec: int, size: int, raw_size: int) -> bool:
    """Whether the codec is known, and can make so many bytes of so few."""
    if codec == Codec.UNCOMPRESSED:
        return raw_size == size
    return codec == Codec.LZ4_RAW and raw_size <= min(RATIO * size, _LARGEST - 1)


def payload(extension: Extension, data: memoryview) -> memoryview | None:
    """The FlatBuffer of an extension, from the bytes of its ``at``; None where they are not what
    the trailer says. Uncompressed it is a view of ``data``."""
    if len(data) != extension.size + 1 or zlib.crc32(data) != extension.crc:
        return None
    if data[-1] != extension.codec:
        return None
    if extension.codec is Codec.UNCOMPRESSED:
        return data[:-1]
    block = extension.raw_size.to_bytes(4, "little") + bytes(data[:-1])
    try:
        return decompress(Scheme.LZ4, memoryview(block), most=extension.raw_size)
    except FormatError:
        return None


def sealed(flat: bytes) -> bytes:
    """The extension that holds a FlatBuffer, from the field's header to the UUID.

    The header is spelled as the compact protocol wants it, so that a parser that knows field 32767
    by its number finds it; readers of the proposal look at the trailer alone.
    """
    data: bytes = pa.compress(flat, codec="lz4_raw", asbytes=True)
    codec = Codec.LZ4_RAW
    if len(flat) < _WORTH * len(data):
        data, codec = flat, Codec.UNCOMPRESSED
    crc = zlib.crc32(bytes([codec]), zlib.crc32(data))
    sizes_crc = zlib.crc32(_SIZES.pack(len(data), len(flat)))
    trailer = _TRAILER.pack(codec, crc, len(data), len(flat), sizes_crc, UUID)
    return _headers(len(data) + len(trailer))[0] + data + trailer
