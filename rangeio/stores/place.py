"""Where a url leads, as a connection and a request need it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from rangeio.errors import RequestError
from rangeio.stores.url import redact

_PORTS = {"http": 80, "https": 443}
_UNSENDABLE = re.compile(r"[^\x21-\x7e]")
_UNSENDABLE_VALUE = re.compile(r"[\r\n\0]")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Place(NamedTuple):
    """A url in parts.

    authority: host and port as in the Host header. target: path and query, byte for byte as in the
    url. authorization: of the url's userinfo, "" where it has none.
    """

    tls: bool
    host: str
    port: int
    authority: str
    target: str
    authorization: str

    @property
    def origin(self) -> tuple[bool, str, int]:
        """What two urls must share to use one connection."""
        return self.tls, self.host, self.port

    def __repr__(self) -> str:
        return f"Place({self.authority})"


@lru_cache(maxsize=512)
def locate(url: str) -> Place:
    """The parts of an http or https url that is already encoded; raises RequestError."""
    if _UNSENDABLE.search(url):
        raise RequestError(
            "this url is not encoded: it holds blanks or other bytes that no url may"
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
        parts = urlsplit("")
    if parts.scheme not in _PORTS or not host:
        raise RequestError("this is not an http url", url=redact(url))
    shown = f"[{host}]" if ":" in host else host
    usual = _PORTS[parts.scheme]
    authority = shown if port in (None, usual) else f"{shown}:{port}"
    start = url.index("://") + 3 + len(parts.netloc)
    target = url[start:].partition("#")[0]
    if not target.startswith("/"):
        target = f"/{target}"
    known = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        known = f"Basic {b64encode(pair.encode()).decode()}"
    return Place(parts.scheme == "https", host, port or usual, authority, target, known)


def header_lines(headers: Mapping[str, str]) -> str:
    """Headers as they are sent; raises RequestError for one that would end the line it is on."""
    lines = []
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or _UNSENDABLE_VALUE.search(value):
            raise RequestError(f"the header {name!r} cannot be sent")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines)
