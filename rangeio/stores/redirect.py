"""Where a redirect may lead, and what is told there."""

from __future__ import annotations

import string
from collections.abc import Mapping
from urllib.parse import quote, urljoin

from rangeio.errors import RequestError, ServerFault
from rangeio.stores.place import locate
from rangeio.stores.refusal import Refusal, RefusedForGood
from rangeio.stores.url import redact

MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_KEPT_ELSEWHERE = frozenset({"if-match", "user-agent"})


def follow(refusal: Refusal, url: str, headers: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The next url and the headers for it.

    Never from https to http. Another host, port or scheme is told no header of the caller but
    If-Match: any of them may be a credential.
    """
    location = refusal.headers.get("location", "")
    try:
        to = urljoin(url, quote(location, safe=string.printable.strip()))
        there, here = locate(to), locate(url)
    except (RequestError, ValueError):
        raise _refused("redirects to nowhere", url, refusal) from None
    if not location:
        raise _refused("redirects to nowhere", url, refusal)
    if here.tls and not there.tls:
        raise _refused("redirects from https to http", url, refusal)
    if there.authorization:
        raise _refused("redirects to a url with credentials", url, refusal)
    if there.origin == here.origin:
        return to, dict(headers)
    return to, {name: value for name, value in headers.items() if name.lower() in _KEPT_ELSEWHERE}


def _refused(words: str, url: str, refusal: Refusal) -> ServerFault:
    return RefusedForGood(f"the server {words}", url=redact(url), status=refusal.status)
