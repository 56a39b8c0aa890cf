"""The body of an HTTP reply, and what it means when a connection fails."""

from __future__ import annotations

import asyncio
import socket

import aiohttp

from rangeio.errors import (
    ServerFault,
    ShortReply,
    StoreError,
    TimedOut,
    Unreachable,
)
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.url import redact


class HttpBody:
    """Bytes as they arrive, each copied once: from the chunk that was read into the buffer."""

    __slots__ = ("_content", "_response", "_rest")

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self._content = response.content
        self._rest: memoryview | None = None

    async def receive(self, into: memoryview) -> int:
        """Write the next bytes; what a chunk holds beyond ``into`` is kept for the next call."""
        size = len(into)
        rest, self._rest = self._rest, None
        chunk: memoryview | bytes = rest if rest is not None else await self._chunk()
        got = len(chunk)
        if got > size:
            view = memoryview(chunk)
            self._rest = view[size:]
            chunk, got = view[:size], size
        into[:got] = chunk
        return got

    async def _chunk(self) -> memoryview | bytes:
        content = self._content
        broken: StoreError | None = None
        try:
            while True:
                # Unlike readany, this joins nothing: a chunk is what one read of the socket gave.
                chunk, ends = await content.readchunk()
                if chunk or not ends:
                    return chunk
        except aiohttp.ClientPayloadError:
            broken = ShortReply("the connection ended before the body did")
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            broken = failure(error, str(self._response.url), None)
        raise broken

    def close(self, *, reuse: bool) -> None:
        """Hand the connection back, or close it where bytes of the body may still come."""
        if reuse and self._rest is None:
            self._response.release()
        else:
            self._response.close()


def failure(error: BaseException, url: str, at: ByteRange | Suffix | None) -> StoreError:
    """The StoreError of a connection that was not made, broke, or spoke no HTTP.

    Nothing of the text of ``error`` is repeated: it may hold the url with its signature.
    """
    where = redact(url)
    if isinstance(error, asyncio.TimeoutError):
        return TimedOut("no connection in time", url=where, at=at)
    if isinstance(error, aiohttp.ClientResponseError):
        return ServerFault("the server's answer is not HTTP", url=where, at=at)
    if isinstance(error, (aiohttp.InvalidURL, ValueError)):
        return _final(Unreachable("this is not a url that can be asked", url=where, at=at))
    if isinstance(error, aiohttp.ClientSSLError):
        return _final(Unreachable(f"TLS failed: {_cause(error)}", url=where, at=at))
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        found = Unreachable("no such host", url=where, at=at)
        again = isinstance(error.os_error, socket.gaierror) and (
            error.os_error.errno == socket.EAI_AGAIN
        )
        return found if again else _final(found)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return _final(Unreachable("the proxy refused", url=where, at=at))
    return Unreachable(f"the connection failed: {_cause(error)}", url=where, at=at)


def _final(error: Unreachable) -> Unreachable:
    """Mark an error that trying again does not mend."""
    error.transient = False
    return error


def _cause(error: BaseException) -> str:
    inner = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    if isinstance(inner, aiohttp.ServerDisconnectedError):
        return "the server closed it"
    return getattr(inner, "verify_message", "") or getattr(inner, "strerror", "") or "reset"
