"""Ranged GETs over HTTP; the hot path of plain http, S3 and GCS."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping

import aiohttp
from multidict import CIMultiDictProxy, istr
from yarl import URL

from rangeio.errors import Denied, StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.body import HttpBody, failure
from rangeio.stores.connect import Connect
from rangeio.stores.redirect import MAX_REDIRECTS, REDIRECTS, follow, is_private
from rangeio.stores.refusal import Refusal
from rangeio.stores.resolve import Public
from rangeio.stores.store import Reply
from rangeio.stores.url import redact

__all__ = ["Connect", "HttpStore"]

READ_BUFFER = 1 << 20
"""Bytes that a connection reads ahead; with less, large bodies stop and go."""

ERROR_TEXT = 64 << 10
"""Bytes of a refusal's body that are read; a longer one costs the connection."""

_CONTENT_RANGE = re.compile(r"bytes (?:(\d{1,19})-(\d{1,19})|\*)/(?:(\d{1,19})|\*)")
_IDENTITY = istr("Accept-Encoding")
_RANGE = istr("Range")
_CR = istr("Content-Range")
_CL = istr("Content-Length")
_CE = istr("Content-Encoding")
_SKIPPED = ("User-Agent", "Accept")


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
        self._headers = dict(headers or {})
        self._connect = connect or Connect()
        self._tag = istr(tag_header)
        self._session: aiohttp.ClientSession | None = None
        self._owner: tuple[int, asyncio.AbstractEventLoop] | None = None

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET of the url ``key``, its body unread.

        Follows at most five redirects, never from https to http.
        """
        headers = self._headers
        if if_match is not None:
            headers = {**headers, "If-Match": if_match}
        url, public_only = key, self._connect.public_only
        if public_only and is_private(URL(url, encoded=True).host or ""):
            raise Denied("the url leads to a private address", url=redact(url), at=at)
        answer = await self.ask(url, headers, at)
        for _ in range(MAX_REDIRECTS):
            if isinstance(answer, Reply) or answer.status not in REDIRECTS:
                break
            url, headers = follow(answer, url, headers, if_match, public_only=public_only)
            answer = await self.ask(url, headers, at)
        if isinstance(answer, Reply):
            return answer
        raise answer.error(url, at)

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
        session = self._session
        if session is None or self._owner != (os.getpid(), asyncio.get_running_loop()):
            session = self._open()
        span = f"bytes=-{at.size}" if isinstance(at, Suffix) else f"bytes={at.start}-{at.stop - 1}"
        broken: StoreError | None = None
        try:
            response = await session.get(
                URL(url, encoded=True),
                headers={**headers, _RANGE: span, _IDENTITY: "identity"},
                allow_redirects=False,
                proxy=self._connect.proxy,
                proxy_headers=self._connect.proxy_headers or None,
            )
            if response.status not in (200, 206, 416):
                return await _refusal(response)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Raised below, outside: as a context the error would carry the whole url along.
            broken = failure(error, url, at)
        if broken is not None:
            raise broken
        return self._reply(response)

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None and self._owner == (os.getpid(), asyncio.get_running_loop()):
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        connect = self._connect
        connector = aiohttp.TCPConnector(
            limit=0,
            ssl=connect.context(),
            keepalive_timeout=connect.keepalive_s,
            resolver=Public() if connect.public_only else None,
        )
        session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=connect.connect_s),
            read_bufsize=READ_BUFFER,
            skip_auto_headers=_SKIPPED,
        )
        # The transport alone retries: a repeat that it does not see escapes its count and record.
        session._retry_connection = False
        self._session = session
        self._owner = (os.getpid(), asyncio.get_running_loop())
        return session

    def _reply(self, response: aiohttp.ClientResponse) -> Reply:
        headers = response.headers
        at, total = _content_range(headers.get(_CR))
        announced = headers.get(_CL)
        size = int(announced) if announced is not None else None
        status = response.status
        tag = headers.get(self._tag, "")
        if status == 416:
            response.close()
            return Reply(None, total, tag, status=416)
        if status == 200 and at is None and size is not None:
            at, total = ByteRange(0, size), size
        return Reply(
            at,
            total,
            tag,
            None,
            HttpBody(response),
            size,
            headers.get(_CE, ""),
            status == 200,
            status,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._connect!r})"

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a store holds connections and credentials; pickle what it was made from")


def _content_range(text: str | None) -> tuple[ByteRange | None, int | None]:
    """The range and the total of a Content-Range header; None for what it does not tell."""
    found = _CONTENT_RANGE.fullmatch(text) if text is not None else None
    if found is None:
        return None, None
    first, last, whole = found.groups()
    total = None if whole is None else int(whole)
    if first is None or int(last) < int(first):
        return None, total
    return ByteRange(int(first), int(last) + 1), total


async def _refusal(response: aiohttp.ClientResponse) -> Refusal:
    """The refusal with the start of its text; the connection is kept where the text is short."""
    text = b""
    try:
        while len(text) < ERROR_TEXT:
            chunk = await response.content.read(ERROR_TEXT - len(text))
            if not chunk:
                break
            text += chunk
    except aiohttp.ClientError:
        pass  # What came says enough: the status is known.
    finally:
        if response.content.at_eof():
            response.release()
        else:
            response.close()
    return Refusal(response.status, _lower(response.headers), text.decode("utf-8", "replace"))


def _lower(headers: CIMultiDictProxy[str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
