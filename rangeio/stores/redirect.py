"""Where a redirect may lead, and what is told there."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from yarl import URL

from rangeio.errors import Denied, ServerFault
from rangeio.stores.refusal import Refusal, RefusedForGood
from rangeio.stores.url import redact

MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


def follow(
    refusal: Refusal,
    url: str,
    headers: Mapping[str, str],
    if_match: str | None,
    *,
    public_only: bool,
) -> tuple[str, dict[str, str]]:
    """The next url and the headers for it.

    Never from https to http. Another host, port or scheme is told no header of the caller but
    If-Match: any of them may be a credential.
    """
    here = URL(url, encoded=True)
    try:
        there = here.join(URL(refusal.headers.get("location", ""), encoded=True))
        same = there.origin() == here.origin()
    except ValueError:
        raise _refused("redirects to nowhere", url, refusal.status) from None
    if not refusal.headers.get("location") or there.scheme not in ("http", "https"):
        raise _refused("redirects to nowhere", url, refusal.status)
    if here.scheme == "https" and there.scheme != "https":
        raise _refused("redirects from https to http", url, refusal.status)
    if public_only and is_private(there.host or ""):
        raise Denied("the server redirects to a private address", url=redact(url))
    if there.user or there.password:
        there = there.with_user(None)
    kept = dict(headers) if same else {}
    if if_match is not None:
        kept["If-Match"] = if_match
    return str(there), kept


def is_private(host: str) -> bool:
    """Whether ``host`` is the literal address of no public host; a name is not."""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _refused(words: str, url: str, status: int) -> ServerFault:
    return RefusedForGood(f"the server {words}", url=redact(url), status=status)
