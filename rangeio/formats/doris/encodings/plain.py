"""PLAIN values of one size: their number, then the values."""

from __future__ import annotations

from rangeio.errors import Corrupt, Truncated
from rangeio.formats.doris.encodings.values import Fixed, as_bytes, fixed

_HEAD = 4


def decoded(size: int, body: memoryview, count: int) -> Fixed:
    """``count`` values as a view of the body."""
    counted(body, count)
    return fixed(as_bytes(body[_HEAD:]), count, size)


def encoded(values: Fixed) -> bytes:
    """Number and values."""
    return len(values).to_bytes(_HEAD, "little") + values.data.tobytes()


def counted(body: memoryview, count: int) -> None:
    """Raise Corrupt unless the body begins with ``count``, Truncated where it is too short."""
    if len(body) < _HEAD:
        raise Truncated(f"values in {len(body)} bytes")
    found = int.from_bytes(body[:_HEAD], "little")
    if found != count:
        raise Corrupt(f"a page of {found} values, not {count}")
