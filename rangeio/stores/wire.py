"""One HTTP/1.1 connection that receives bodies where they belong, without a copy between."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import cast

from rangeio.errors import ServerFault, ShortReply, StoreError, Unreachable

SCRATCH = 64 << 10
"""Bytes of the buffer for heads, and for what comes with them; no head may be longer."""

_STATUS = re.compile(r"HTTP/1\.([01]) ([1-5]\d\d)(?: .*)?")
_LENGTH = re.compile(r"\d{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_UNTIL_CLOSED = 1 << 62
_LINE = 256


class Wire(asyncio.BufferedProtocol):
    """Sends a GET, tells its head, then is the reply's :class:`~rangeio.stores.store.Body`.

    Bytes go straight from the socket into the buffer that :meth:`receive` was given; only those
    that came along with the head are copied. Of one task at a time.
    """

    __slots__ = (
        "_back",
        "_between",
        "_chunked",
        "_direct",
        "_done",
        "_eof",
        "_error",
        "_filled",
        "_hi",
        "_left",
        "_lo",
        "_lost",
        "_paused",
        "_raw",
        "_scratch",
        "_target",
        "_waiter",
        "idle_since",
        "keep",
        "transport",
    )

    def __init__(
        self, back: Callable[[Wire], None] | None = None, lost: Callable[[Wire], None] | None = None
    ) -> None:
        self._back = back
        self._lost = lost
        self._raw = bytearray(SCRATCH)
        self._scratch = memoryview(self._raw)
        self._lo = self._hi = 0
        self._target: memoryview | None = None
        self._direct = False
        self._filled = 0
        self._waiter: asyncio.Future[None] | None = None
        self._error: StoreError | None = None
        self._eof = False
        self._left = 0
        self._chunked = False
        self._between = False
        self._done = True
        self._paused = False
        self.transport: asyncio.Transport | None = None
        self.keep = True
        self.idle_since = 0.0

    # ---- what the loop calls ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the socket's next bytes go; never empty."""
        target, filled = self._target, self._filled
        if target is not None and filled < len(target):
            self._direct = True
            return target[filled:] if filled else target
        self._direct = False
        return self._scratch[self._hi :]

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes came."""
        if self._direct:
            self._filled += nbytes
        else:
            self._hi += nbytes
            if self._hi == SCRATCH:
                self._pause()
        waiter = self._waiter
        if waiter is not None:
            if not waiter.done():
                waiter.set_result(None)
        elif self._done:
            self._fail(ServerFault("bytes came that nobody asked for"))

    def eof_received(self) -> bool:
        """The server closed its side."""
        self._eof = True
        self._fail(Unreachable("the server closed the connection"))
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._fail(Unreachable("the connection was reset" if exc else "the connection was closed"))
        self.transport = None
        if self._lost is not None:
            self._lost(self)

    # ---- what a store calls ------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether another GET may be sent."""
        transport = self.transport
        return self._error is None and transport is not None and not transport.is_closing()

    async def ask(self, request: bytes) -> tuple[int, dict[str, str]]:
        """Send a GET; the status and the headers of its reply, their names in lower case.

        Headers of one name are joined by commas, so that contradictions cannot be overlooked.
        """
        if self.transport is None or self._error is not None:
            raise self._error or Unreachable("not connected")
        self._done = False
        self.transport.write(request)
        while True:
            status, headers = await self._head()
            if status >= 200:
                break
        self._frame(status, headers)
        return status, headers

    async def receive(self, into: memoryview) -> int:
        """Write the next bytes of the body; 0 at its end. Raises as Body.receive does, and
        ShortReply where the connection ends before the body."""
        if self._chunked and not self._left and not self._done:
            await self._chunk()
        if self._done or not len(into):
            return 0
        size = min(len(into), self._left)
        held = self._hi - self._lo
        if held:
            size = min(size, held)
            into[:size] = self._scratch[self._lo : self._lo + size]
            self._lo += size
            if self._lo == self._hi:
                self._lo = self._hi = 0
        else:
            size = await self._wait(into[:size])
        self._left -= size
        if not self._left and not self._chunked:
            self._done = True
        return size

    def close(self, *, reuse: bool) -> None:
        """Let go: back to who keeps it, where the body was read to its end."""
        if reuse and self._done and self.keep and self._lo == self._hi and self.usable:
            self._lo = self._hi = 0
            self._resume()
            if self._back is not None:
                self._back(self)
                return
        self.abort()

    def abort(self) -> None:
        """Close the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def tunnelled(self) -> None:
        """A CONNECT was granted: what follows is another conversation."""
        self._left, self._chunked, self._done, self.keep = 0, False, True, True

    # ---- waiting -------------------------------------------------------------------------------

    async def _wait(self, target: memoryview | None = None) -> int:
        """Wait for bytes, in ``target`` or in the scratch buffer; how many came in ``target``."""
        if self._error is not None:
            return self._ended()
        if target is None and self._lo:
            # Room for the rest of a line: what was used up makes way.
            rest = self._raw[self._lo : self._hi]
            self._lo, self._hi = 0, len(rest)
            self._scratch[: self._hi] = rest
        self._waiter = asyncio.get_running_loop().create_future()
        self._target, self._filled = target, 0
        if self._paused:
            self._resume()
        try:
            await self._waiter
            return self._filled or (self._ended() if target is not None else 0)
        finally:
            # From here on nothing is written into a buffer that is not ours.
            self._target = self._waiter = None

    def _ended(self) -> int:
        """The connection is at its end: that of the body as well, or an error."""
        if self._eof and self._left >= _UNTIL_CLOSED >> 1:
            self._left, self._done = 0, True
            return 0
        if self._left:
            raise ShortReply("the connection ended before the body did")
        raise self._error or Unreachable("not connected")

    def _fail(self, error: StoreError) -> None:
        if self._error is None:
            self._error = error
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self.abort()

    def _pause(self) -> None:
        if self.transport is not None and not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def _resume(self) -> None:
        if self.transport is not None and self._paused:
            self._paused = False
            self.transport.resume_reading()

    # ---- parsing -------------------------------------------------------------------------------

    async def _until(self, mark: bytes, most: int) -> bytes:
        """The bytes before ``mark``, which is passed over; at most ``most`` of them."""
        while True:
            end = self._raw.find(mark, self._lo, self._hi)
            if 0 <= end <= self._lo + most:
                line = bytes(self._scratch[self._lo : end])
                self._lo = end + len(mark)
                if self._lo == self._hi:
                    self._lo = self._hi = 0
                return line
            held = self._hi - self._lo
            if end >= 0 or held >= min(SCRATCH, most + len(mark)):
                raise ServerFault("the server's answer is not HTTP: a line does not end")
            if self._error is not None:
                raise self._error
            await self._wait()

    async def _head(self) -> tuple[int, dict[str, str]]:
        first, *lines = (await self._until(b"\r\n\r\n", SCRATCH)).decode("latin-1").split("\r\n")
        found = _STATUS.fullmatch(first)
        if found is None:
            raise ServerFault("the server's answer is not HTTP")
        headers: dict[str, str] = {}
        for line in lines:
            name, mark, value = line.partition(":")
            if not mark or not name or name[0] in " \t":
                raise ServerFault("the server's answer is not HTTP: a header without a name")
            name = name.lower()
            value = value.strip(" \t")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        asked = headers.get("connection", "").lower()
        self.keep = asked != "close" if found[1] == "1" else asked == "keep-alive"
        return int(found[2]), headers

    def _frame(self, status: int, headers: dict[str, str]) -> None:
        """Where the body ends, by RFC 9112 section 6.3."""
        coding = headers.get("transfer-encoding")
        length = headers.get("content-length")
        self._chunked = self._between = False
        if coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise ServerFault("the body's length is told twice, or in no known way")
            self._chunked, self._left = True, 0
        elif status in (204, 304):
            self._left = 0
        elif length is None:
            self._left, self.keep = _UNTIL_CLOSED, False
        elif _LENGTH.fullmatch(length):
            self._left = int(length)
        else:
            raise ServerFault("the body's length is no number")
        self._done = not self._left and not self._chunked

    async def _chunk(self) -> None:
        """Step over the line before a chunk; after the last one, over the trailers."""
        try:
            if self._between:
                await self._until(b"\r\n", 0)
            self._between = True
            found = _CHUNK.fullmatch(await self._until(b"\r\n", _LINE))
            if found is None:
                raise ServerFault("the server's answer is not HTTP: no chunk where one must be")
            self._left = int(found[1], 16)
            if self._left:
                return
            while await self._until(b"\r\n", SCRATCH):
                pass
        except Unreachable:
            raise ShortReply("the connection ended before the body did") from None
        self._done = True
