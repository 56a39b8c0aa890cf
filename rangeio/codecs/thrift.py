"""Thrift's compact protocol for small structs: read to a tree that is written back as it was.

Footers of thousands of columns are not read with this, see ``formats/parquet/footer/scan.py``.
Every count and size is checked against the bytes present, nesting against :data:`DEPTH`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from rangeio.codecs import varints
from rangeio.errors import Corrupt

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT, UUID = range(1, 14)

DEPTH = 24
"""Structs, lists and maps within one another, at most."""

Buffer: TypeAlias = bytes | memoryview
Tagged: TypeAlias = tuple[int, Any]
"""A type of the compact protocol and a value of it.

Integers are int, DOUBLE is float, BINARY and UUID are bytes, a STRUCT is a :class:`Struct`, a LIST
or SET is ``(element type, [values])``, a MAP ``(key type, value type, [(key, value)])``.
"""

_DOUBLE = struct.Struct("<d")


class Struct(dict[int, Tagged]):
    """Fields by id. Unknown ones are kept, so :func:`write` gives back what was read."""

    def value(self, field: int, *types: int) -> Any:
        """The value of a field, None where it is absent; Corrupt where it has another type."""
        found = self.get(field)
        if found is None:
            return None
        if found[0] not in types:
            raise Corrupt(f"Thrift field {field} has the type {found[0]}, not one of {types}")
        return found[1]

    def integer(self, field: int) -> int | None:
        """An integer of any width."""
        value = self.value(field, BYTE, I16, I32, I64)
        return None if value is None else int(value)

    def flag(self, field: int) -> bool | None:
        """A boolean."""
        value = self.value(field, TRUE, FALSE)
        return None if value is None else bool(value)

    def binary(self, field: int) -> bytes | None:
        """Bytes, or text as bytes."""
        value: bytes | None = self.value(field, BINARY)
        return value

    def struct(self, field: int) -> Struct | None:
        """A struct, or the union that one stands for."""
        value: Struct | None = self.value(field, STRUCT)
        return value

    def list(self, field: int) -> list[Any] | None:
        """The values of a list."""
        value = self.value(field, LIST, SET)
        return None if value is None else value[1]


def read(data: Buffer, at: int = 0) -> tuple[Struct, int]:
    """The struct that begins at ``at``, and where it ends. Raises Corrupt."""
    try:
        return _struct(data, at, 0)
    except (IndexError, struct.error):
        raise Corrupt("a Thrift struct ends before its last byte", offset=at) from None


def fields(data: Buffer, at: int = 0) -> Iterator[tuple[int, int, int, int]]:
    """Of the struct at ``at``: (field id, type, start and stop of the value), none of it decoded.

    The struct's stop byte lies at the last value's stop. Raises Corrupt.
    """
    last = 0
    try:
        while head := data[at]:
            kind, at = head & 15, at + 1
            if head >> 4:
                last += head >> 4
            else:
                last, at = integer(data, at)
            stop = skip(data, at, kind)
            yield last, kind, at, stop
            at = stop
    except IndexError:
        raise Corrupt("a Thrift struct ends before its last byte", offset=at) from None


def varint(data: Buffer, at: int) -> tuple[int, int]:
    """An unsigned number of at most 10 bytes, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise Corrupt("a Thrift number of more than 10 bytes", offset=at)


def integer(data: Buffer, at: int) -> tuple[int, int]:
    """A signed number, and where it ends."""
    value, at = varint(data, at)
    value &= (1 << 64) - 1
    return (value >> 1) ^ -(value & 1), at


def skip(data: Buffer, at: int, kind: int, depth: int = 0, inside: bool = False) -> int:
    """Where the value of type ``kind`` at ``at`` ends; ``inside``: of a list, set or map.

    Raises Corrupt, and IndexError where the bytes end in the middle of a number.
    """
    if kind in (TRUE, FALSE):
        stop = at + inside
    elif kind in (I16, I32, I64):
        stop = varint(data, at)[1]
    elif kind in (BYTE, DOUBLE, UUID):
        stop = at + {BYTE: 1, DOUBLE: 8, UUID: 16}[kind]
    elif kind == BINARY:
        size, at = varint(data, at)
        stop = at + size
    else:
        stop = _skip_nested(data, at, kind, depth)
    if stop > len(data):
        raise Corrupt("a Thrift value reaches beyond the bytes present", offset=at)
    return stop


def _skip_nested(data: Buffer, at: int, kind: int, depth: int) -> int:
    _deeper(depth, at)
    if kind == STRUCT:
        while head := data[at]:
            at = at + 1 if head >> 4 else varint(data, at + 1)[1]
            at = skip(data, at, head & 15, depth + 1)
        return at + 1
    if kind in (LIST, SET):
        count, element, at = sized(data, at)
        for _ in range(count):
            at = skip(data, at, element, depth + 1, inside=True)
        return at
    if kind == MAP:
        count, key, value, at = _mapped(data, at)
        for _ in range(count):
            at = skip(data, at, key, depth + 1, inside=True)
            at = skip(data, at, value, depth + 1, inside=True)
        return at
    raise Corrupt(f"no Thrift type has the number {kind}", offset=at)


def sized(data: Buffer, at: int) -> tuple[int, int, int]:
    """A list's count, the type of its elements, and where the first one begins."""
    head = data[at]
    count, at = head >> 4, at + 1
    if count == 15:
        count, at = varint(data, at)
    if count > len(data) - at:
        raise Corrupt(f"a Thrift list of {count} elements in {len(data) - at} bytes", offset=at)
    return count, head & 15, at


def _mapped(data: Buffer, at: int) -> tuple[int, int, int, int]:
    count, at = varint(data, at)
    if not count:
        return 0, 0, 0, at
    if count > len(data) - at:
        raise Corrupt(f"a Thrift map of {count} entries in {len(data) - at} bytes", offset=at)
    return count, data[at] >> 4, data[at] & 15, at + 1


def _deeper(depth: int, at: int) -> None:
    if depth > DEPTH:
        raise Corrupt(f"Thrift values nested more than {DEPTH} deep", offset=at)


# ---- reading to a tree ---------------------------------------------------------------------------


def _struct(data: Buffer, at: int, depth: int) -> tuple[Struct, int]:
    _deeper(depth, at)
    out, last = Struct(), 0
    while head := data[at]:
        kind, at = head & 15, at + 1
        if head >> 4:
            last += head >> 4
        else:
            last, at = integer(data, at)
        value, at = _value(data, at, kind, depth, inside=False)
        out[last] = (kind, value)
    return out, at + 1


def _value(data: Buffer, at: int, kind: int, depth: int, *, inside: bool) -> tuple[Any, int]:
    if kind in (I16, I32, I64):
        return integer(data, at)
    if kind in (TRUE, FALSE):
        return (data[at] == TRUE, at + 1) if inside else (kind == TRUE, at)
    if kind == BYTE:
        return (data[at] ^ 128) - 128, at + 1
    if kind == DOUBLE:
        return _DOUBLE.unpack_from(data, at)[0], at + 8
    if kind in (BINARY, UUID):
        size, at = varint(data, at) if kind == BINARY else (16, at)
        if size > len(data) - at:
            raise Corrupt("a Thrift value reaches beyond the bytes present", offset=at)
        return bytes(data[at : at + size]), at + size
    if kind == STRUCT:
        return _struct(data, at, depth + 1)
    return _collection(data, at, kind, depth + 1)


def _collection(data: Buffer, at: int, kind: int, depth: int) -> tuple[Any, int]:
    _deeper(depth, at)
    values: list[Any] = []
    if kind in (LIST, SET):
        count, element, at = sized(data, at)
        for _ in range(count):
            value, at = _value(data, at, element, depth, inside=True)
            values.append(value)
        return (element, values), at
    if kind == MAP:
        count, key_type, value_type, at = _mapped(data, at)
        for _ in range(count):
            key, at = _value(data, at, key_type, depth, inside=True)
            value, at = _value(data, at, value_type, depth, inside=True)
            values.append((key, value))
        return (key_type, value_type, values), at
    raise Corrupt(f"no Thrift type has the number {kind}", offset=at)


# ---- writing -------------------------------------------------------------------------------------


def write(value: Struct) -> bytes:
    """The bytes of a struct, its fields in ascending order of their ids."""
    return rebuilt([(i, kind, encoded(kind, v)) for i, (kind, v) in sorted(value.items())])


def rebuilt(parts: Sequence[tuple[int, int, Buffer]]) -> bytes:
    """A struct of fields that are encoded already: (field id, type, value), ids ascending."""
    out, last = bytearray(), 0
    for field, kind, value in parts:
        delta = field - last
        if 0 < delta < 16:
            out.append(delta << 4 | kind)
        else:
            out.append(kind)
            out += _signed(field)
        out += value
        last = field
    out.append(0)
    return bytes(out)


def listed(element: int, items: Sequence[Buffer]) -> bytes:
    """A list of elements that are encoded already."""
    return _head(element, len(items)) + b"".join(items)


def encoded(kind: int, value: Any, *, inside: bool = False) -> bytes:
    """The bytes of one value."""
    if kind in (I16, I32, I64):
        return _signed(value)
    if kind in (TRUE, FALSE):
        return bytes([TRUE if value else FALSE]) if inside else b""
    if kind == BYTE:
        return bytes([value & 255])
    if kind == DOUBLE:
        return _DOUBLE.pack(value)
    if kind == BINARY:
        return unsigned(len(value)) + bytes(value)
    if kind == STRUCT:
        return write(value)
    if kind in (LIST, SET):
        element, values = value
        items = [encoded(element, v, inside=True) for v in values]
        return listed(element, items)
    if kind == MAP:
        key_type, value_type, pairs = value
        if not pairs:
            return b"\0"
        out = unsigned(len(pairs)) + bytes([key_type << 4 | value_type])
        return out + b"".join(
            encoded(key_type, k, inside=True) + encoded(value_type, v, inside=True)
            for k, v in pairs
        )
    return bytes(value)  # UUID


unsigned = varints.one


def _signed(value: int) -> bytes:
    return unsigned((value << 1 ^ value >> 63) & ((1 << 64) - 1))


def _head(element: int, count: int) -> bytes:
    if count < 15:
        return bytes([count << 4 | element])
    return bytes([0xF0 | element]) + unsigned(count)
