"""Held ranges as a buffer of a whole file: reads cost no call into Python.

Only for who has checked that what will be read is held: a hole decodes to zeros without an error.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import numpy as np
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
    if 2 * sum(at.size for at, _ in held) > size:
        return _filled(size, held, end)
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


def _filled(size: int, held: Sequence[tuple[ByteRange, memoryview]], end: bytes) -> pa.Buffer:
    """The same in memory of Arrow's, which costs no page faults where Arrow was at work."""
    whole = pa.allocate_buffer(size + len(end))
    view = np.frombuffer(whole, np.uint8)
    at = 0
    for one, data in sorted(held, key=lambda piece: piece[0].start):
        view[at : max(one.start, at)] = 0
        view[one.start : one.stop] = np.frombuffer(data, np.uint8)
        at = max(at, one.stop)
    view[at:size] = 0
    view[size:] = np.frombuffer(end, np.uint8)
    return whole
