"""fsspec's http options, as headers and connection settings of our own."""

from __future__ import annotations

import base64
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from rangeio.stores.connect import Connect

# What fsspec's http filesystem takes and a ranged GET has no use for.
_UNUSED = frozenset(
    {
        "asynchronous", "batch_size", "block_size", "cache_options", "cache_type", "encoded",
        "listings_expiry_time", "loop", "max_paths", "raise_for_status", "same_scheme",
        "simple_links", "size_policy", "skip_instance_cache", "use_listings_cache",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Headers for the server, and how to connect; the repr shows no value of a header."""

    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    connect: Connect = field(default_factory=Connect)


def http_options(options: Mapping[str, object], url: str) -> HttpOptions | None:
    """The options of fsspec's http filesystem; None where one of them has no counterpart here."""
    given = dict(_flat(options))
    headers: dict[str, str] = {}
    connect: dict[str, object] = {}
    for name, value in given.items():
        if value is None or name in _UNUSED:
            continue
        if not (_header(name, value, headers) or _setting(name, value, url, connect)):
            return None
    return HttpOptions(tuple(sorted(headers.items())), Connect(**connect))  # type: ignore[arg-type]


def _flat(options: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The session's options below those of each request, the headers of both merged."""
    session = options.get("client_kwargs") or {}
    if not isinstance(session, Mapping):
        yield "client_kwargs", session
        return
    merged = {**session, **{n: v for n, v in options.items() if n != "client_kwargs"}}
    inner, outer = session.get("headers"), options.get("headers")
    if isinstance(inner, Mapping) and isinstance(outer, Mapping):
        merged["headers"] = {**inner, **outer}
    yield from merged.items()


def _header(name: str, value: object, headers: dict[str, str]) -> bool:
    if name == "headers" and isinstance(value, Mapping):
        headers.update({str(k): str(v) for k, v in value.items()})
    elif name == "auth" and (line := _basic(value)):
        headers["Authorization"] = line
    elif name == "cookies" and isinstance(value, Mapping):
        headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in value.items())
    else:
        return False
    return True


def _setting(name: str, value: object, url: str, connect: dict[str, object]) -> bool:
    if name == "ssl" and isinstance(value, bool):
        connect["verify"] = value
    elif name == "proxy" and isinstance(value, str):
        connect["proxy"] = value
    elif name == "proxy_auth" and (line := _basic(value)):
        connect["proxy_headers"] = (("Proxy-Authorization", line),)
    elif name == "trust_env" and isinstance(value, bool):
        if value:
            connect.setdefault("proxy", proxy_of_environment(url))
    elif name == "timeout" and (seconds := _connect_s(value)):
        connect["connect_s"] = seconds
    else:
        return False
    return True


def _basic(value: object) -> str:
    """The header line of a login and a password (aiohttp's BasicAuth is such a tuple), else ""."""
    if not isinstance(value, tuple | list) or not 2 <= len(value) <= 3:
        return ""
    login, password, encoding = (*value, "latin1")[:3]
    text = f"{login}:{password}".encode(str(encoding), "replace")
    return f"Basic {base64.b64encode(text).decode()}"


def _connect_s(value: object) -> float:
    """Seconds of a number or an aiohttp.ClientTimeout; 0 for anything else."""
    for one in (getattr(value, "sock_connect", None), getattr(value, "connect", None), value):
        if isinstance(one, int | float) and not isinstance(one, bool) and one > 0:
            return float(one)
    if hasattr(value, "sock_connect"):  # a ClientTimeout that bounds no connecting
        return float(getattr(value, "total", None) or Connect().connect_s)
    return 0.0


def proxy_of_environment(url: str) -> str | None:
    """The proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY set for ``url``, None where none."""
    parts = urlsplit(url)
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return None
    return urllib.request.getproxies().get(parts.scheme)
