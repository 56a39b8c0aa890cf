"""Ranged GETs over HTTP; the hot path of plain http, S3 and GCS."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping

from rangeio.errors import StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.connect import Connect
from rangeio.stores.place import Place, header_lines, locate
from rangeio.stores.pool import Pool
from rangeio.stores.redirect import MAX_REDIRECTS, REDIRECTS, follow
from rangeio.stores.refusal import Refusal
from rangeio.stores.store import Reply
from rangeio.stores.url import place
from rangeio.stores.wire import Wire

__all__ = ["Connect", "HttpStore"]

ERROR_TEXT = 64 << 10
"""Bytes of a refusal's body that are read; a longer one costs the connection."""

_CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,18})-(\d{1,18})|\*)/(?:(\d{1,18})|\*)")
_NO_RANGE = (None, None)


class HttpStore:
    """Objects by url. A url is taken as already encoded: not a byte of it is changed.

    headers: sent with every GET, dropped when a redirect leaves the host. connect: how connections
    are made. tag_header: the reply header that carries the version tag. The connections belong to
    the loop of the first GET; a forked child makes its own.
    """

    profile = "http"
    pinned = True

    def __init__(
        self,
        *,
        headers: Mapping[str, str] | None = None,
        connect: Connect | None = None,
        tag_header: str = "ETag",
    ) -> None:
        self._headers = {"User-Agent": "rangeio", **(headers or {})}
        header_lines(self._headers)
        self._connect = connect or Connect()
        self._tag = tag_header.lower()
        self._pool: Pool | None = None
        self._owner: tuple[int, asyncio.AbstractEventLoop] | None = None

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET of the url ``key``, its body unread.

        Follows at most five redirects, never from https to http.
        """
        url, headers = key, self._headers
        if if_match is not None:
            headers = {**headers, "If-Match": if_match}
        answer = await self.ask(url, headers, at)
        for _ in range(MAX_REDIRECTS):
            if isinstance(answer, Reply) or answer.status not in REDIRECTS:
                break
            url, headers = follow(answer, url, headers)
            answer = await self.ask(url, headers, at)
        if isinstance(answer, Reply):
            return answer
        raise answer.error(url, at)

    async def place(self, key: str) -> str:
        """See Placed. What came unverified is never taken for what a certificate vouches for."""
        return place(key) if self._connect.verify else f"unverified {place(key)}"

    async def send(self, url: str, headers: Mapping[str, str], at: ByteRange | Suffix) -> Reply:
        """One GET with ``headers`` besides Range; no redirect is followed. Raises as ``get``."""
        answer = await self.ask(url, headers, at)
        if isinstance(answer, Reply):
            return answer
        raise answer.error(url, at)

    async def ask(
        self, url: str, headers: Mapping[str, str], at: ByteRange | Suffix
    ) -> Reply | Refusal:
        """As :meth:`send`, with a refusal returned instead of raised, for who reads its headers."""
        pool = self._pool
        if pool is None or self._owner != (os.getpid(), asyncio.get_running_loop()):
            pool = self._open()
        place = locate(url)
        request = self._request(place, headers, at, pool)
        wire: Wire | None = None
        try:
            wire = pool.idle(place) or await pool.connect(place)
            status, told = await wire.ask(request)
            if status in (200, 206, 416):
                return self._reply(wire, status, told)
            text = await _text(wire)
            return Refusal(status, told, text)
        except BaseException as error:
            if wire is not None:
                wire.abort()
            if isinstance(error, StoreError):
                error.located(_shown(place), at)
            raise

    async def close(self) -> None:
        """Close all connections."""
        pool, self._pool = self._pool, None
        if pool is not None and self._owner == (os.getpid(), asyncio.get_running_loop()):
            await pool.close()

    def _open(self) -> Pool:
        self._pool = Pool(self._connect)
        self._owner = (os.getpid(), asyncio.get_running_loop())
        return self._pool

    def _request(
        self, place: Place, headers: Mapping[str, str], at: ByteRange | Suffix, pool: Pool
    ) -> bytes:
        """The request, byte for byte."""
        span = f"-{at.size}" if isinstance(at, Suffix) else f"{at.start}-{at.stop - 1}"
        target, more = place.target, ""
        if self._connect.proxy is not None and not place.tls:
            target, more = f"http://{place.authority}{target}", pool.header()
        if place.authorization and "Authorization" not in headers:
            more += f"Authorization: {place.authorization}\r\n"
        return (
            f"GET {target} HTTP/1.1\r\nHost: {place.authority}\r\nRange: bytes={span}\r\n"
            f"Accept-Encoding: identity\r\n{header_lines(headers)}{more}\r\n"
        ).encode("latin-1")

    def _reply(self, wire: Wire, status: int, headers: Mapping[str, str]) -> Reply:
        at, total = _content_range(headers.get("content-range"))
        length = headers.get("content-length")
        size = None if length is None else int(length)
        tag = headers.get(self._tag, "")
        if status == 416:
            wire.close(reuse=size == 0)
            return Reply(None, total, tag, status=416)
        if status == 200 and at is None and size is not None:
            at, total = ByteRange(0, size), size
        encoding = headers.get("content-encoding", "")
        return Reply(at, total, tag, None, wire, size, encoding, status == 200, status)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connect!r})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a store holds connections and credentials; pickle what it was made from")


def _shown(place: Place) -> str:
    """The url of a place, as errors show it."""
    return f"{'https' if place.tls else 'http'}://{place.authority}{place.target.partition('?')[0]}"


def _content_range(text: str | None) -> tuple[ByteRange | None, int | None]:
    """The range and the total of a Content-Range header; None for what it does not tell."""
    found = None if text is None else _CONTENT_RANGE.fullmatch(text)
    if found is None:
        return _NO_RANGE
    first, last, whole = found.groups()
    total = None if whole is None else int(whole)
    if first is None or int(last) < int(first):
        return None, total
    return ByteRange(int(first), int(last) + 1), total


async def _text(wire: Wire) -> str:
    """The start of a refusal's body; the connection is kept where that is all of it."""
    text = bytearray(ERROR_TEXT)
    view, got = memoryview(text), 0
    try:
        while got < ERROR_TEXT:
            count = await wire.receive(view[got:])
            if not count:
                break
            got += count
    except StoreError:
        pass  # What came says enough: the status is known.
    wire.close(reuse=True)
    return text[:got].decode("utf-8", "replace")
