"""Memory for bodies, used again once nobody looks at it any more."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import numpy.typing as npt
import pyarrow as pa

LEAST = 1 << 20
KEPT = 64 << 20
_SLACK = 1.25

_Block = npt.NDArray[np.uint8]


class Buffers:
    """Writable buffers whose content is undefined.

    A large buffer comes back here when the last view of it is gone, be it a slice, an array over it
    or an Arrow buffer: each of them keeps its exporter alive, and the exporter's end is what is
    awaited. Fresh memory costs the kernel a clearing of each page, a third of what receiving the
    body costs. At most ``kept`` bytes wait to be used again. Any thread may let go of a view.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._free: list[_Block] = []
        self._lent: dict[int, tuple[weakref.ref[_Block], _Block]] = {}
        # A view may end inside any allocation, this object's own included.
        self._lock = threading.RLock()

    @property
    def waiting(self) -> int:
        """Bytes that wait to be used again."""
        return sum(block.size for block in self._free)

    def take(self, size: int) -> memoryview:
        """A buffer of exactly ``size`` bytes."""
        if size < LEAST:
            return _fresh(size).data
        block = self._fitting(size)
        exporter = block[:size]
        key = id(exporter)
        with self._lock:
            self._lent[key] = (weakref.ref(exporter, lambda _: self._back(key)), block)
        return exporter.data

    def clear(self) -> None:
        """Keep nothing; what is lent is freed with its last view."""
        with self._lock:
            self._kept = 0
            self._free.clear()

    def _fitting(self, size: int) -> _Block:
        with self._lock:
            for i, block in enumerate(self._free):
                if size <= block.size <= size * _SLACK:
                    return self._free.pop(i)
        return _fresh(size)

    def _back(self, key: int) -> None:
        with self._lock:
            _, block = self._lent.pop(key)
            if self.waiting + block.size <= self._kept:
                self._free.append(block)


def _fresh(size: int) -> _Block:
    """Memory of Arrow's allocator, which is warm where Arrow was at work in this process."""
    return np.frombuffer(pa.allocate_buffer(size), np.uint8) if size else np.empty(0, np.uint8)
