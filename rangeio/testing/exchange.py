"""One connection of the range server: heads in, answers out, faults on the way."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from rangeio.testing.fault import Fault
from rangeio.testing.request import Request, asked

_PIECE = 256 << 10
_TICK = 0.01
_REASONS = {200: "OK", 206: "Partial Content", 404: "Not Found", 412: "Precondition Failed"}


@dataclass(frozen=True, slots=True)
class Stored:
    """An object that is served: its bytes and its entity tag, quotes included."""

    data: memoryview
    etag: str


class Shelf(Protocol):
    """What a connection asks of its server."""

    delay_s: float
    bytes_per_s: float
    modified: str
    connections: set[Exchange]

    def find(self, key: str) -> Stored | None:
        """The object of this name."""
        ...

    def meet(self, request: Request) -> Fault:
        """Note the request; says what goes wrong with its answer."""
        ...


class Exchange(asyncio.Protocol):
    """Answers the requests of one connection in turn."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._held = b""
        self._busy = False
        self._paused = False
        self._more: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._out = cast("asyncio.Transport", transport)
        self._out.set_write_buffer_limits(_PIECE)
        self._socket: socket.socket = transport.get_extra_info("socket")
        self._peer = transport.get_extra_info("peername")[1]
        self._shelf.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End; nothing more is written."""
        self._more = None
        self._shelf.connections.discard(self)

    def pause_writing(self) -> None:
        """The socket is full."""
        self._paused = True

    def resume_writing(self) -> None:
        """The socket takes more."""
        self._paused = False
        more, self._more = self._more, None
        if more is not None:
            more()

    def data_received(self, data: bytes) -> None:
        """Take in what came; answer once a head is whole."""
        self._held = self._held + data if self._held else data
        if not self._busy:
            self._next()

    def close(self) -> None:
        """Close the connection, whatever it was doing."""
        self._out.abort()

    def _next(self) -> None:
        end = self._held.find(b"\r\n\r\n")
        self._busy = end >= 0
        if end < 0:
            return
        head, self._held = self._held[:end], self._held[end + 4 :]
        try:
            request = Request.parse(head, self._peer)
        except ValueError:
            self._out.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            self._out.close()
            return
        fault = self._shelf.meet(request)
        delay = fault.delay_s or self._shelf.delay_s
        if delay:
            asyncio.get_running_loop().call_later(delay, self._answer, request, fault)
        else:
            self._answer(request, fault)

    def _answer(self, request: Request, fault: Fault) -> None:
        if self._out.is_closing():
            return
        if fault.then is not None:
            fault.then()
        if fault.silent:
            return
        if fault.reset:
            self._reset()
        elif fault.garbage:
            self._out.write(fault.garbage)
            self._out.close()
        elif fault.status:
            self._refuse(request, fault.status, fault)
        else:
            self._serve(request, fault)

    def _serve(self, request: Request, fault: Fault) -> None:
        stored = self._shelf.find(request.key)
        if request.method not in ("GET", "HEAD"):
            return self._refuse(request, 405, fault)
        if stored is None:
            return self._refuse(request, 404, fault)
        etag = stored.etag if fault.etag is None else fault.etag
        wanted = request.if_match
        if wanted and wanted not in (etag, "*") and not fault.ignore_if_match:
            return self._refuse(request, 412, fault)
        total = len(stored.data)
        status, part = 200, (0, total)
        if request.range and not fault.ignore_range:
            try:
                found = asked(request.range, total)
            except ValueError:
                found = part
            else:
                status = 206
            if found is None:
                return self._refuse(request, 416, fault, f"Content-Range: bytes */{total}\r\n")
            part = (found[0], found[1] - fault.short)
        return self._send(request, fault, status, stored.data[part[0] : part[1]], part, total, etag)

    def _send(
        self,
        request: Request,
        fault: Fault,
        status: int,
        body: memoryview,
        part: tuple[int, int],
        total: int,
        etag: str,
    ) -> None:
        size = len(body)
        head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nAccept-Ranges: bytes\r\n"
        if status == 206 or fault.content_range:
            text = fault.content_range
            if text is None:
                head += f"Content-Range: bytes {part[0]}-{part[1] - 1}/{total}\r\n"
            elif text:
                words = {"start": part[0], "stop": part[1], "last": part[1] - 1, "total": total}
                head += f"Content-Range: {text.format_map(words)}\r\n"
        if etag:
            head += f"ETag: {etag}\r\n"
        if self._shelf.modified:
            head += f"Last-Modified: {self._shelf.modified}\r\n"
        if fault.encoding:
            head += f"Content-Encoding: {fault.encoding}\r\n"
        if fault.chunked:
            head += "Transfer-Encoding: chunked\r\n\r\n"
            body = memoryview(_chunks(body, fault.extra))
        else:
            head += f"Content-Length: {size}\r\n\r\n"
        request.status = status
        if request.method == "HEAD":
            body = body[:0]
        rate = fault.bytes_per_s or self._shelf.bytes_per_s
        end = fault.ends_at
        if len(body) <= _PIECE and end is None and not rate:
            request.sent = len(body)
            self._out.write(b"".join((head.encode("latin-1"), body)))
            self._next()
            return
        self._out.write(head.encode("latin-1"))
        self._pour(request, fault, body[:end], rate, end is None)

    def _pour(
        self, request: Request, fault: Fault, body: memoryview, rate: float, whole: bool
    ) -> None:
        """Write the body piece by piece, as fast as the socket takes it or the rate allows."""
        piece = max(1, int(rate * _TICK)) if rate else _PIECE
        while request.sent < len(body):
            if self._out.is_closing():
                return
            part = body[request.sent : request.sent + piece]
            request.sent += len(part)
            self._out.write(part)
            again = self._again(request, fault, body, rate, whole)
            if rate:
                asyncio.get_running_loop().call_later(len(part) / rate, again)
                return
            if self._paused:
                self._more = again
                return
        if whole:
            self._next()
        elif fault.cut is not None:
            self._out.close()
        elif fault.reset_at is not None:
            self._reset()

    def _again(
        self, request: Request, fault: Fault, body: memoryview, rate: float, whole: bool
    ) -> Callable[[], None]:
        return lambda: self._pour(request, fault, body, rate, whole)

    def _refuse(self, request: Request, status: int, fault: Fault, more: str = "") -> None:
        request.status = status
        text = f"<Error><Code>{fault.code}</Code></Error>".encode() if fault.code else b""
        head = f"HTTP/1.1 {status} {_REASONS.get(status, 'Refused')}\r\n{more}"
        if fault.retry_after:
            head += f"Retry-After: {fault.retry_after}\r\n"
        if fault.location:
            head += f"Location: {fault.location}\r\n"
        head += f"Content-Length: {len(text)}\r\n\r\n"
        self._out.write(head.encode("latin-1") + (b"" if request.method == "HEAD" else text))
        self._next()

    def _reset(self) -> None:
        """Close so that the other end sees a reset, not an end."""
        linger = struct.pack("ii", 1, 0)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._out.abort()


def _chunks(body: memoryview, extra: bytes) -> bytes:
    """The body in chunked transfer coding, in two chunks so that a cut may fall between them."""
    half = len(body) // 2
    parts = [bytes(p) for p in (body[:half], body[half:], extra) if len(p)]
    return b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
