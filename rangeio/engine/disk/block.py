"""One file of the disk cache: a header that proves what it holds, then the bytes of one range.

    magic and version   8
    key of the object  32   a hash, see tier.py
    start, stop        16   of the range
    bytes of a chunk    4
    a crc32c a chunk    4 each
    crc32c of all that  4
    the bytes

All integers are little-endian. A checksum a chunk lets a part be read without the whole.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Sequence

import google_crc32c
import numpy as np

from rangeio.ranges import ByteRange

CHUNK = 64 << 10
"""Bytes that are read and checked together."""

_MAGIC = b"\x93RIOBLK\x01"
_HEAD = struct.Struct("<8s32sQQI")
_SUM = 4


def size_of(at: ByteRange) -> int:
    """Bytes of the file that holds a range."""
    return _header(at) + at.size


def header(key: bytes, at: ByteRange, data: memoryview) -> bytes:
    """What stands before ``data``, the bytes of ``at``, in a file."""
    told = sums([data])
    head = _HEAD.pack(_MAGIC, key, at.start, at.stop, CHUNK)
    head += struct.pack(f"<{len(told)}I", *told)
    return head + struct.pack("<I", _crc(head))


def read(file: int, key: bytes, at: ByteRange, part: ByteRange, into: memoryview) -> bool:
    """Fill ``into`` with ``part`` of the range ``at``; False where a byte is not what was written.

    file: a descriptor. Whatever the file is, what is read of it follows from ``at`` alone.
    """
    told = _told(file, key, at)
    if told is None or os.fstat(file).st_size != size_of(at):
        return False
    first = (part.start - at.start) // CHUNK
    begin = first * CHUNK
    stop = min(-(-(part.stop - at.start) // CHUNK) * CHUNK, at.size)
    before = memoryview(bytearray(part.start - at.start - begin))
    after = memoryview(bytearray(stop - (part.stop - at.start)))
    if not _fill(file, (before, into, after), _header(at) + begin):
        return False
    found = sums([before, into, after])
    return tuple(found) == told[first : first + len(found)]


def sums(pieces: Iterable[memoryview]) -> list[int]:
    """The crc32c of every chunk of the pieces, put one behind the other."""
    found: list[int] = []
    crc, room = 0, CHUNK
    for piece in pieces:
        while len(piece):
            crc = _crc(piece[:room], crc)
            taken = min(room, len(piece))
            piece, room = piece[taken:], room - taken
            if not room:
                found.append(crc)
                crc, room = 0, CHUNK
    return found if room == CHUNK else [*found, crc]


def _told(file: int, key: bytes, at: ByteRange) -> Sequence[int] | None:
    """The checksums of the chunks, as the header has them; None where it is not of this range."""
    head = os.pread(file, _header(at), 0)
    if len(head) != _header(at):
        return None
    body = head[:-_SUM]
    if _HEAD.unpack_from(head) != (_MAGIC, key, at.start, at.stop, CHUNK):
        return None
    if _crc(body) != int.from_bytes(head[-_SUM:], "little"):
        return None
    return struct.unpack(f"<{_chunks(at)}I", body[_HEAD.size :])


def _fill(file: int, buffers: Sequence[memoryview], offset: int) -> bool:
    """Fill all buffers from one place on; False where the file ends before."""
    left = [one for one in buffers if len(one)]
    while left:
        got = os.preadv(file, left, offset)
        if not got:
            return False
        offset += got
        while left and got >= len(left[0]):
            got -= len(left.pop(0))
        if left and got:
            left[0] = left[0][got:]
    return True


def _header(at: ByteRange) -> int:
    return _HEAD.size + _SUM * _chunks(at) + _SUM


def _chunks(at: ByteRange) -> int:
    return -(-at.size // CHUNK)


def _crc(data: bytes | memoryview, crc: int = 0) -> int:
    # The compiled checksum takes no memoryview; an array of the same bytes is no copy.
    array = np.frombuffer(data, np.uint8)
    return int(google_crc32c.extend(crc, array if _COMPILED else array.tobytes()))


_COMPILED = google_crc32c.implementation == "c"
