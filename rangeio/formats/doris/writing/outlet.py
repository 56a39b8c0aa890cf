"""Where a segment's bytes go, and where in the file they came to lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import IndexEntries

PIECE = 1 << 20
"""Bytes that are gathered before they are handed on."""


class Outlet:
    """Gathers bytes and hands them on in large pieces.

    position: bytes that were written so far, where the next ones will lie.
    """

    def __init__(self, out: Callable[[memoryview], None]) -> None:
        self.position = 0
        self._out = out
        self._gathered = bytearray()

    def write(self, data: bytes) -> Any:
        """Take bytes; the PagePointer of where they lie."""
        at = MESSAGES.PagePointer(offset=self.position, size=len(data))
        self.position += len(data)
        self._gathered += data
        if len(self._gathered) >= PIECE:
            self.pass_on()
        return at

    def write_all(self, pages: Iterable[bytes], keys: Sequence[bytes]) -> IndexEntries:
        """Take pages, one a key; the index entries that lead to them."""
        begin, sizes = self.position, []
        for page in pages:
            sizes.append(len(page))
            self.write(page)
        each = np.array(sizes, np.int64)
        return IndexEntries(list(keys), begin + np.cumsum(each) - each, each)

    def pass_on(self) -> None:
        """Hand on all that was gathered."""
        gathered, self._gathered = self._gathered, bytearray()
        if gathered:
            self._out(memoryview(gathered))
