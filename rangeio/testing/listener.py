"""A small HTTP/1.1 server for tests: a thread and a loop of its own, ended with its block."""

from __future__ import annotations

import asyncio
import re
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import parse_qsl, unquote

_HEAD = 64 << 10
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_REASONS = {200: "OK", 206: "Partial Content", 301: "Moved", 416: "Range Not Satisfiable"}


@dataclass(frozen=True, slots=True)
class Request:
    """One request. path and query are as they were sent; header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]

    @property
    def name(self) -> str:
        """The path, decoded."""
        return unquote(self.path)

    @property
    def parameters(self) -> dict[str, str]:
        """The query, decoded; a plus sign stays one."""
        query = self.query.replace("+", "%2B")
        return dict(parse_qsl(query, keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered; Content-Length is added."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def ranged(request: Request, body: bytes, headers: Mapping[str, str]) -> Response:
    """The part of ``body`` that the request's Range asks for: 206, 416, or 200 without one."""
    found = _RANGE.fullmatch(request.headers.get("range", ""))
    if found is None or found.groups() == ("", ""):
        return Response(200, headers, body)
    first, last = found.groups()
    size = len(body)
    start = int(first) if first else max(0, size - int(last))
    stop = min(int(last) + 1, size) if first and last else size
    if start >= stop:
        return Response(416, {"Content-Range": f"bytes */{size}"})
    told = {**headers, "Content-Range": f"bytes {start}-{stop - 1}/{size}"}
    return Response(206, told, body[start:stop])


class Listener:
    """Answers GET and HEAD on 127.0.0.1, at a port of the system's choice, inside its block.

    Subclasses say what: :meth:`answer` runs on the listener's own thread. requests: all that came,
    in order.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests: list[Request] = []
        self._tls = tls
        self._port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        """Scheme, host and port, without a final slash."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def answer(self, request: Request) -> Response:
        """What to say to one request."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=_HEAD, ssl=self._tls)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        while self._writers:
            await asyncio.sleep(0)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                request = _parse(await reader.readuntil(b"\r\n\r\n"))
                self.requests.append(request)
                writer.write(_raw(self.answer(request), request.method))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()


def _parse(head: bytes) -> Request:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    path, _, query = target.partition("?")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Request(method, path, query, headers)


def _raw(response: Response, method: str) -> bytes:
    told = {**response.headers, "Content-Length": str(len(response.body))}
    lines = [f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Said')}"]
    lines += [f"{name}: {value}" for name, value in told.items()]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head if method == "HEAD" else head + response.body
