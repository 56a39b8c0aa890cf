"""fsspec's http options become headers and settings; what has no counterpart goes to fsspec."""

import aiohttp
import pytest

from rangeio.stores.address import locate, resolve
from rangeio.stores.fsspec import FsspecStore
from rangeio.stores.options import http_options

URL = "https://host/x"


def of(**options):
    mapped = http_options(options, URL)
    assert mapped is not None
    return dict(mapped.headers), mapped.connect


def test_headers_of_session_and_request():
    inner = {"headers": {"A": "1", "B": "2"}, "cookies": {"c": "d"}}
    headers, _ = of(client_kwargs=inner, headers={"B": "3"})
    assert headers == {"A": "1", "B": "3", "Cookie": "c=d"}


@pytest.mark.parametrize("auth", [("me", "pw", "latin1"), ["me", "pw"]])
def test_basic_auth(auth):
    assert of(auth=auth)[0] == {"Authorization": "Basic bWU6cHc="}
    assert of(proxy="http://p", proxy_auth=auth)[1].proxy_headers == (
        ("Proxy-Authorization", "Basic bWU6cHc="),
    )


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [
        (7, 7.0),
        (aiohttp.ClientTimeout(sock_connect=3), 3.0),
        (aiohttp.ClientTimeout(connect=4), 4.0),
        (aiohttp.ClientTimeout(total=5), 5.0),
        (aiohttp.ClientTimeout(), 10.0),
    ],
)
def test_time_to_connect(timeout, seconds):
    assert of(timeout=timeout)[1].connect_s == seconds


def test_tls_and_proxies(monkeypatch):
    assert not of(ssl=False)[1].verify
    assert of(ssl=True)[1].verify
    assert of(ssl=None)[1].verify
    assert of(proxy="http://p:1")[1].proxy == "http://p:1"
    monkeypatch.setenv("HTTPS_PROXY", "http://env:1")
    assert of()[1].proxy is None
    assert of(trust_env=True)[1].proxy == "http://env:1"
    assert of(trust_env=True, proxy="http://p:1")[1].proxy == "http://p:1"
    monkeypatch.setenv("NO_PROXY", "host")
    assert of(trust_env=True)[1].proxy is None


def test_what_a_ranged_get_has_no_use_for_is_left_out():
    assert of(block_size=5, use_listings_cache=True, encoded=True) == of()


@pytest.mark.parametrize(
    "odd", [{"get_client": len}, {"headers": 3}, {"ssl": object()}, {"client_kwargs": 3}]
)
def test_what_has_no_counterpart_is_left_to_fsspec(odd):
    assert http_options(odd, URL) is None
    if "get_client" in odd:
        assert isinstance(resolve(URL, odd)[0], FsspecStore)


def test_no_secret_shows():
    options = {"auth": ("me", "CANARY"), "proxy": "http://u:CANARY@p", "headers": {"X": "CANARY"}}
    assert "CANARY" not in repr(http_options(options, URL))
    assert "CANARY" not in repr(locate(URL, options))
