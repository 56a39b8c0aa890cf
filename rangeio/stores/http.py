"""Ranged GETs over HTTP; the hot path of plain http, S3 and GCS."""

from __future__ import annotations

from collections.abc import Mapping

from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.connect import Connect
from rangeio.stores.refusal import Refusal
from rangeio.stores.store import Reply

__all__ = ["Connect", "HttpStore"]


class HttpStore:
    """Objects by url. A url is taken as already encoded: not a byte of it is changed.

    headers: sent with every GET, dropped when a redirect leaves the host. connect: how connections
    are made. tag_header: the reply header that carries the version tag. The connections belong to
    the loop of the first GET.
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
        raise NotImplementedError

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        """The head of the reply to one ranged GET of the url ``key``, its body unread.

        Follows at most five redirects, never from https to http.
        """
        raise NotImplementedError

    async def send(self, url: str, headers: Mapping[str, str], at: ByteRange | Suffix) -> Reply:
        """One GET with ``headers`` besides Range; no redirect is followed. Raises as ``get``."""
        raise NotImplementedError

    async def ask(
        self, url: str, headers: Mapping[str, str], at: ByteRange | Suffix
    ) -> Reply | Refusal:
        """As :meth:`send`, with a refusal returned instead of raised, for who reads its headers."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close all connections."""
        raise NotImplementedError
