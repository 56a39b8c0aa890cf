"""Held ranges as a buffer of a whole file: reads cost no call into Python.

Only for who has checked that what will be read is held: a hole decodes to zeros without an error.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import pyarrow as pa

from rangeio.ranges import ByteRange

_LAZY = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_LAZY |= getattr(mmap, "MAP_NORESERVE", 0x4000 if hasattr(mmap, "MAP_POPULATE") else 0)


def mapped(
    size: int, held: Sequence[tuple[ByteRange, memoryview]], end: bytes = b""
) -> pa.Buffer | None:
    """``size`` bytes with those of ``held`` in their places, copied, and ``end`` after them; the
    rest takes no memory. None where the system gives no such mapping.
    """
    if not _LAZY:
        return None
    try:
        whole = mmap.mmap(-1, size + len(end), flags=_LAZY)
    except (OSError, OverflowError, ValueError):
        return None
    for at, data in held:
        whole[at.start : at.stop] = data
    whole[size:] = end
    return pa.py_buffer(whole)
