"""An Arrow IPC message behind base64, of which only the bytes that are needed get decoded."""

from __future__ import annotations

import binascii
import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rangeio.errors import Corrupt

BLOCK = 192
"""Bytes decoded together: 256 characters."""

_CONTINUATION = 0xFFFFFFFF
_SLOTS = 7
_UNSIGNED, _SIGNED = struct.Struct("<I").unpack_from, struct.Struct("<i").unpack_from


class Message:
    """Tables, vectors and strings of a FlatBuffer, by position in the message.

    encoded: base64, padded or not. room: bytes left free in ``buffer``, before the message; the
    bytes of the message are zero there until they are needed. Every position is checked against
    the size of the message; where a table has no value in a slot, its position is 0. All methods
    raise Corrupt.
    """

    def __init__(self, encoded: memoryview, room: int = 0) -> None:
        self._text = encoded[: len(encoded) - bytes(encoded[-2:]).count(b"=")]
        self.size = len(self._text) * 3 // 4
        self.room = room
        self.buffer = np.zeros(room + self.size, np.uint8).data
        self._bytes = self.buffer[room:]
        self._has = bytearray(-(-self.size // BLOCK))
        self._partial = True
        self._layouts: dict[int, tuple[int, int, tuple[int, ...]]] = {}
        # No writer's parts are so lean that they weigh more, unless offsets lead to the same one.
        self._budget = (1 << 20) + 8 * self.size

    def start(self) -> int:
        """Where the FlatBuffer begins: behind its size, which old writers give without a mark."""
        start = 8 if self.number(0) == _CONTINUATION else 4
        size = self.number(start - 4)
        if not 0 < size <= self.size - start:
            raise Corrupt(f"ARROW:schema of {size} bytes in a value of {self.size}")
        return start

    def bits(self, at: int, size: int) -> int:
        """The unsigned number of ``size`` bytes in a slot, 0 where it is absent."""
        if not at:
            return 0
        self.need(at, size)
        return int.from_bytes(self._bytes[at : at + size], "little")

    def number(self, at: int) -> int:
        """An unsigned number of 4 bytes."""
        if self._partial or at + 4 > self.size:
            self.need(at, 4)
        found: int = _UNSIGNED(self._bytes, at)[0]
        return found

    def numbers(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.uint32]:
        """Many unsigned numbers of 4 bytes; the message is decoded whole."""
        if len(at) and not 0 <= int(at.min()) <= int(at.max()) <= self.size - 4:
            raise Corrupt(f"an offset in ARROW:schema leads out of its {self.size} bytes")
        data = np.frombuffer(self._bytes, np.uint8)
        found: npt.NDArray[np.uint32] = data[at[:, None] + np.arange(4)].view("<u4")[:, 0]
        return found

    def octets(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Many unsigned numbers of one byte; the message is decoded whole."""
        if len(at) and not 0 <= int(at.min()) <= int(at.max()) < self.size:
            raise Corrupt(f"an offset in ARROW:schema leads out of its {self.size} bytes")
        return np.frombuffer(self._bytes, np.uint8)[at]

    def texts(self, at: npt.NDArray[np.int64]) -> None:
        """Check and charge many strings, which begin with their sizes; the message is decoded
        whole."""
        sizes = self.numbers(at).astype(np.int64)
        if (at + 4 + sizes > self.size).any():
            raise Corrupt(f"a name in ARROW:schema leads out of its {self.size} bytes")
        self.charge(int(sizes.sum()))
        found = [
            self._bytes[a : a + n] for a, n in zip((at + 4).tolist(), sizes.tolist(), strict=True)
        ]
        try:
            b"\n".join(found).decode()
        except UnicodeDecodeError:
            raise Corrupt("a name in ARROW:schema is not UTF-8") from None

    def slots(self, layout: int) -> Sequence[int]:
        """Where the tables of a vtable have their slots, from the table's start; 0 is nowhere."""
        return (self._layouts.get(layout) or self._layout(layout))[2]

    def follow(self, at: int) -> int:
        """Where the offset at ``at`` leads."""
        return at + self.number(at)

    def table(self, at: int, known: int) -> Sequence[int]:
        """Where the table at ``at`` has its slots. All its bytes are decoded.

        Where it is odd, the whole message is: slots beyond those ``known`` may lead on.
        """
        if self._partial or at + 4 > self.size:
            self.need(at, 4)
        layout = at - _SIGNED(self._bytes, at)[0]
        size, count, slots = self._layouts.get(layout) or self._layout(layout)
        if self._partial:
            if count > known or size <= max(slots):
                self.complete()
            self.need(at, min(size, self.size - at))
        return [at + slot if slot else 0 for slot in slots]

    def _layout(self, at: int) -> tuple[int, int, tuple[int, ...]]:
        """Of a vtable: the table's size, the number of its slots, where they are in the table."""
        self.need(at, 4)
        own, size = struct.unpack_from("<2H", self._bytes, at)
        count = max(own - 4, 0) // 2
        self.need(at, 4 + 2 * count)
        slots = struct.unpack_from(f"<{min(count, _SLOTS)}H", self._bytes, at + 4)
        found = size, count, slots + (0,) * (_SLOTS - len(slots))
        self._layouts[at] = found
        return found

    def vector(self, at: int, width: int, weight: int) -> tuple[int, int]:
        """Where the vector that a slot leads to begins, and the number of its values.

        ``width``: bytes of a value; ``weight``: bytes that a reader makes of it.
        """
        if not at:
            return 0, 0
        start = self.follow(at) + 4
        count = self.number(start - 4)
        if self._partial or start + count * width > self.size:
            self.need(start, count * width)
        if count:
            self.charge(count * weight)
        return start, count

    def tables(self, at: int, weight: int) -> Sequence[int]:
        """Where the tables are that a slot's vector lists."""
        start, count = self.vector(at, 4, weight)
        if not count:
            return ()
        offsets = struct.unpack_from(f"<{count}I", self._bytes, start)
        return [start + 4 * k + offset for k, offset in enumerate(offsets)]

    def string(self, at: int) -> memoryview:
        """The string that a slot leads to."""
        start, size = self.vector(at, 1, 1)
        return self._bytes[start : start + size]

    def charge(self, weight: int) -> None:
        """Account for bytes that a reader makes of a part: shared parts add up without end."""
        self._budget -= weight
        if self._budget < 0:
            raise Corrupt("ARROW:schema unfolds to many times its size")

    def inside(self, at: int, size: int) -> None:
        """Raise unless ``size`` bytes at ``at`` lie in the message."""
        if at < 0 or at + size > self.size:
            raise Corrupt(f"an offset in ARROW:schema leads out of its {self.size} bytes")

    def need(self, at: int, size: int) -> None:
        """Have ``size`` bytes at ``at`` decoded."""
        self.inside(at, size)
        if self._partial:
            first, stop = at // BLOCK, -(-(at + size) // BLOCK)
            if 0 in self._has[first:stop]:
                self._decode(first, stop)

    def complete(self) -> None:
        """Have all bytes decoded."""
        if self._partial:
            self._decode(0, len(self._has))
            self._partial = False

    def _decode(self, first: int, stop: int) -> None:
        text = self._text[256 * first : 256 * stop]
        pad = -len(text) % 4
        try:
            found = binascii.a2b_base64(bytes(text) + b"=" * pad if pad else text, strict_mode=True)
        except binascii.Error:
            found = b""
        if len(found) != len(text) * 3 // 4:
            raise Corrupt("ARROW:schema is not base64")
        self._bytes[BLOCK * first : BLOCK * first + len(found)] = found
        self._has[first:stop] = b"\1" * (stop - first)
