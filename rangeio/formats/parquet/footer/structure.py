"""What in a column chunk is structure: other chunks that agree in it need not be parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, I16, I32, I64, LIST, MAP, SET, STRUCT

TILE = 8
"""Chunks side by side: a whole number of 8-byte words, whatever their size."""

_FIXED = b"\xff"  # heads, sizes, counts, stop bytes
_NUMBER = b"\x80"  # of a varint only the continuation bit is structure
_ANY_NUMBER = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_SHORT = 16  # bytes of the longest value of fixed width
_BYTE_ARRAY = 6


class Structure:
    """The structure of the chunk at ``at``, which was skipped already without an error.

    stop: where it ends. mask: what is structure in its bytes. patterns: regular expressions of what
    lies before, between and after its texts, whatever the values of numbers.
    """

    def __init__(self, data: memoryview, at: int) -> None:
        self._data = data
        self._fixed = not _of_byte_arrays(data, at)
        self.patterns = [b""]
        self.mask = bytearray()
        self.stop = self._struct(at)

    def _add(self, mask: bytes, start: int, stop: int, pattern: bytes | None = None) -> None:
        """Bytes of one mask; the pattern is their own where none is given."""
        self.mask += mask * (stop - start)
        own = re.escape(bytes(self._data[start:stop])) if pattern is None else pattern
        self.patterns[-1] += own

    def _struct(self, at: int) -> int:
        while head := self._data[at]:
            value = at + 1 if head > 15 else thrift.varint(self._data, at + 1)[1]
            self._add(_FIXED, at, value)
            at = self._value(value, head & 15)
        self._add(_FIXED, at, at + 1)
        return at + 1

    def _value(self, at: int, kind: int, *, inside: bool = False) -> int:
        if kind == STRUCT:
            return self._struct(at)
        if kind in (LIST, SET):
            count, element, first = thrift.sized(self._data, at)
            self._add(_FIXED, at, first)
            for _ in range(count):
                first = self._value(first, element, inside=True)
            return first
        stop = thrift.skip(self._data, at, kind, inside=inside)
        if I16 <= kind <= I64:
            self._add(_NUMBER, at, stop, _ANY_NUMBER)
        elif kind == BINARY:
            self._text(at, stop, inside)
        elif kind == MAP:  # all of it is taken for structure
            self._add(_FIXED, at, stop)
        else:
            self._add(b"\0", at, stop, b".{%d}" % (stop - at))
        return stop

    def _text(self, at: int, stop: int, inside: bool) -> None:
        """Names and texts have many sizes; the bounds of a column of numbers have one."""
        size, first = thrift.varint(self._data, at)
        if self._fixed and not inside and size <= _SHORT:
            self._add(_FIXED, at, first)
            self._add(b"\0", first, stop, b".{%d}" % size)
        else:
            self.mask += _FIXED * (first - at) + bytes(size)
            self.patterns.append(b"")


def _of_byte_arrays(data: memoryview, at: int) -> bool:
    """Whether a chunk's physical type is BYTE_ARRAY: its field 3, a struct, says so in field 1."""
    for field, kind, start, _ in thrift.fields(data, at):
        if field == 3 and kind == STRUCT:
            for inner, width, value, _ in thrift.fields(data, start):
                if inner == 1 and width == I32:
                    return thrift.integer(data, value)[0] == _BYTE_ARRAY
    return False


class Template:
    """A chunk whose like begin with the same structure and have its size."""

    def __init__(self, chunk: bytes, mask: bytes) -> None:
        self.size = len(chunk)
        self._mask = int.from_bytes(mask, "little")
        self._value = int.from_bytes(chunk, "little") & self._mask
        self._masks = np.frombuffer(mask * TILE, np.uint8)
        self._values = np.frombuffer(chunk * TILE, np.uint8)

    def fits(self, data: memoryview, at: int) -> bool:
        """Whether a chunk of this structure begins at ``at``; its size in bytes is there."""
        found = int.from_bytes(data[at : at + self.size], "little")
        return found & self._mask == self._value

    def fitting(self, block: npt.NDArray[np.uint8]) -> int:
        """How many chunks of this structure are at the front of a block of whole tiles."""
        different = block.reshape(-1, TILE * self.size) ^ self._values
        different &= self._masks
        flat = different.reshape(-1)
        if not flat.view(np.uint64).any():
            return len(flat) // self.size
        return int((flat != 0).argmax()) // self.size


class Shape:
    """A chunk whose like may differ from it in the sizes of numbers and texts."""

    def __init__(self, patterns: Sequence[bytes]) -> None:
        self._first, *self._others = [re.compile(one, re.DOTALL).match for one in patterns]

    def match(self, data: memoryview, at: int) -> int:
        """Where the chunk of this structure ends that begins at ``at``, -1 where there is none."""
        found = self._first(data, at)
        for after in self._others:
            if found is None:
                return -1
            at = found.end()
            if at == len(data):
                return -1
            size, at = (data[at], at + 1) if data[at] < 128 else thrift.varint(data, at)
            if size > len(data) - at:
                return -1
            found = after(data, at + size)
        return -1 if found is None else found.end()
