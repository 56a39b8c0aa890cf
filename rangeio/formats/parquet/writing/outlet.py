"""Where pyarrow's writer writes to: a file object that hands the bytes on in large pieces."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from rangeio.errors import Corrupt

PIECE = 1 << 20
"""Bytes that are gathered before they are handed on; pyarrow writes page headers of 20 bytes."""

MAGIC = b"PAR1"


class Outlet(io.RawIOBase):
    """Gathers bytes and hands them on; a dropped one swallows them.

    pyarrow's writer writes a footer when it is destroyed, whatever went wrong before: nothing of
    that may reach the new object.

    failed: what handing bytes on has raised.
    """

    def __init__(self, out: Callable[[memoryview], None]) -> None:
        super().__init__()
        self.failed: BaseException | None = None
        self._out = out
        self._gathered = bytearray()
        self._holding = False
        self._dropped = False

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: Any) -> int:
        """Take bytes; they are copied."""
        view = memoryview(data).cast("B")
        if not self._dropped:
            self._gathered += view
            if len(self._gathered) >= PIECE and not self._holding:
                self.pass_on()
        return view.nbytes

    def pass_on(self) -> None:
        """Hand on all that was gathered."""
        gathered, self._gathered = self._gathered, bytearray()
        try:
            if gathered:
                self._out(memoryview(gathered))
        except BaseException as error:
            self.failed = error
            raise

    def hold(self) -> None:
        """Hand nothing on until the footer was replaced."""
        self._holding = True

    def replace_footer(self, change: Callable[[bytes], bytes]) -> None:
        """Put another footer in the place of the one at the end of what is held."""
        old = footer_of(self._gathered)
        footer = change(old)
        del self._gathered[-8 - len(old) :]
        self._gathered += footer + len(footer).to_bytes(4, "little") + MAGIC
        self._holding = False

    def drop(self) -> None:
        """Let go of what is held; swallow what comes."""
        self._dropped = True
        self._gathered = bytearray()


def footer_of(data: bytes | bytearray) -> bytes:
    """The Thrift footer of a file, or of as much of its end as holds it."""
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    if data[-4:] != MAGIC or start < 0:
        raise Corrupt("the writer did not end the file with a footer")
    return bytes(data[start:-8])
