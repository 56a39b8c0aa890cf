"""The end of a segment: the footer's size and crc32c, the magic, and the footer before them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rangeio.codecs import wire
from rangeio.codecs.bounds import Bytes
from rangeio.codecs.protobuf import parse
from rangeio.errors import BadMagic, Corrupt, Truncated
from rangeio.formats.doris.directory import Directory, Entries, Inline, inline
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import crc32c
from rangeio.formats.doris.paths import SubColumns, inlined
from rangeio.ranges import ByteRange

MAGIC = b"D0R1"
SIZE = 12
KEYS = "variant_meta_keys"
"""What the index of a Variant's paths is called; its column's unique_id follows after a dot."""

_VERSION, _NUM_ROWS, _REGION = 1, 3, 11


@dataclass(frozen=True, slots=True)
class Trailer:
    """Where the footer lies, and its crc32c."""

    at: ByteRange
    crc: int

    @classmethod
    def parse(cls, tail: memoryview, size: int) -> Trailer:
        """From the last bytes of a file of ``size`` bytes."""
        if size < SIZE or len(tail) < SIZE:
            raise Truncated(f"{size} bytes hold no segment", offset=0)
        end = bytes(tail[-SIZE:])
        if end[8:] != MAGIC:
            raise BadMagic(f"a segment ends in {MAGIC!r}, not in {end[8:]!r}", offset=size - 4)
        length = int.from_bytes(end[:4], "little")
        stop = size - SIZE
        if length > stop:
            raise Truncated(f"a footer of {length} bytes in a file of {size}", offset=stop)
        return cls(ByteRange(stop - length, stop), int.from_bytes(end[4:8], "little"))


@dataclass(frozen=True, slots=True, eq=False)
class Footer:
    """What a segment says of itself: version 1 is Doris' V2, 2 is V3.

    keys: of V3, the IndexedColumn of a Variant's paths, serialized, by unique_id of its root;
    under -1 what an older writer named without one. paths: of V2, the sub-columns of Variants.
    """

    version: int
    num_rows: int
    directory: Directory
    keys: Mapping[int, bytes]
    paths: Mapping[int, SubColumns]
    at: ByteRange

    @classmethod
    def parse(cls, data: memoryview, trailer: Trailer) -> Footer:
        """A footer of the bytes that the trailer points to. Raises Corrupt."""
        offset = trailer.at.start
        if crc32c(data) != trailer.crc:
            raise Corrupt("the footer's crc32c differs", offset=offset)
        try:
            return cls._parsed(np.frombuffer(data, np.uint8), trailer.at)
        except Corrupt as error:
            raise Corrupt(f"the footer: {error.reason}", offset=offset) from None

    @classmethod
    def _parsed(cls, data: Bytes, at: ByteRange) -> Footer:
        entries = Entries.parse(data)
        version, rows, region = _numbers(entries.rest)
        if version >= 2:
            directory = entries.directory(region, at.start)
            footer = parse(MESSAGES.SegmentFooter, entries.rest.tobytes(), "the footer")
            return cls(version, rows, directory, _keys(footer), {}, at)
        own: Inline = inline(data, at.start)
        return cls(version, rows, own.directory, {}, inlined(data, own), at)


def _numbers(data: Bytes) -> tuple[int, int, int]:
    """(version, rows, start of the column meta region)."""
    found = wire.facts(data, [0], [len(data)], (_VERSION, _NUM_ROWS, _REGION))[0]
    version = int(found[0, 0]) & 0xFFFFFFFF if int(found[0, 1]) == wire.NUMBER else 1
    region = int(found[2, 0]) if int(found[2, 1]) == wire.NUMBER else 0
    return version, int(found[1, 0]) & 0xFFFFFFFF, region


def _keys(footer: Any) -> dict[int, bytes]:
    """The indexes of Variants' paths, by unique_id of their roots."""
    found: dict[int, bytes] = {}
    for pair in footer.file_meta_datas:
        name, _, number = pair.key.partition(".")
        if name == KEYS and (number.isdecimal() or not number) and len(number) < 11:
            found[int(number) if number else -1] = pair.value
    return found
