"""The HTTP store: what it sends, what it follows, what it never tells."""

from __future__ import annotations

import asyncio
import pickle
import traceback
from collections.abc import Iterator

import pytest
from served import AT, DATA, body, opened

from rangeio.errors import (
    Denied,
    NotFound,
    RequestError,
    ServerFault,
    StoreError,
    Throttled,
)
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.http import Connect, HttpStore
from rangeio.stores.refusal import Refusal, seconds_after
from rangeio.stores.url import redact
from rangeio.testing.server import Fault, RangeServer


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with RangeServer({"o": DATA, "a b/ü=%": DATA}) as server:
        yield server


def test_a_range(server: RangeServer) -> None:
    async def main() -> None:
        async with opened(headers={"X-Mine": "yes"}) as store:
            reply = await store.get(server.at("o"), AT, if_match='"v1"')
            assert (reply.at, reply.total, reply.tag, reply.size) == (AT, len(DATA), '"v1"', 256)
            assert (reply.status, reply.whole, reply.encoding) == (206, False, "")
            assert await body(reply) == DATA[256:512]
            (asked,) = server.log
            assert asked.headers == {
                "host": f"127.0.0.1:{server.port}",
                "range": "bytes=256-511",
                "accept-encoding": "identity",
                "user-agent": "rangeio",
                "x-mine": "yes",
                "if-match": '"v1"',
            }

    asyncio.run(main())


def test_a_suffix_and_a_whole_object(server: RangeServer) -> None:
    async def main() -> None:
        async with opened() as store:
            reply = await store.get(server.at("o"), Suffix(1 << 20))
            assert reply.at == ByteRange(0, len(DATA))
            assert await body(reply) == DATA
            server.script.add(Fault(ignore_range=True))
            reply = await store.get(server.at("o"), AT)
            assert (reply.status, reply.whole, reply.at) == (200, True, ByteRange(0, len(DATA)))
            assert await body(reply) == DATA

    asyncio.run(main())


def test_an_encoded_url_is_sent_as_it_is(server: RangeServer) -> None:
    async def main() -> None:
        async with opened() as store:
            target = "/a%20b/%C3%BC=%25?X-Sig=a%2Fb%2b&c=d%20e#part"
            await body(await store.get(server.url + target, AT))
            assert server.log[0].target == target.removesuffix("#part")
            for url in (
                "http://h/a b",
                "http://h/ü",
                "http://h/\r\nX: y",
                "ftp://h/",
                "http:///x",
                "x",
            ):
                with pytest.raises(RequestError):
                    await store.get(url, AT)
            for headers in ({"A\r\nB": "c"}, {"A": "b\r\nC: d"}, {"A": "\0"}, {"": "x"}):
                with pytest.raises(RequestError):
                    await store.send(server.at("o"), headers, AT)
            assert len(server.log) == 1

    asyncio.run(main())


def test_connections_are_kept(server: RangeServer) -> None:
    async def main() -> None:
        async with opened() as store:
            for _ in range(5):
                await body(await store.get(server.at("o"), AT))
            server.script.add(Fault(status=404, code="NoSuchKey"))
            server.script.add(Fault(status=416))
            with pytest.raises(NotFound):
                await store.get(server.at("o"), AT)
            assert (await store.get(server.at("o"), AT)).status == 416
            await body(await store.get(server.at("o"), AT))
            assert len({r.peer for r in server.log}) == 1

    asyncio.run(main())


def test_idle_connections_are_closed(server: RangeServer) -> None:
    async def main() -> None:
        async with opened(connect=Connect(keepalive_s=0.05)) as store:
            await body(await store.get(server.at("o"), AT))
            await asyncio.sleep(0.2)
            assert not server.connections
            await body(await store.get(server.at("o"), AT))

    asyncio.run(main())


def test_a_connection_that_the_server_closed_is_not_used(server: RangeServer) -> None:
    async def main() -> None:
        async with opened() as store:
            await body(await store.get(server.at("o"), AT))
            server._loop.call_soon_threadsafe(lambda: [c.close() for c in list(server.connections)])
            await asyncio.sleep(0.1)
            await body(await store.get(server.at("o"), AT))

    asyncio.run(main())


def test_a_long_refusal_is_read_in_part(server: RangeServer) -> None:
    async def main() -> None:
        async with opened() as store:
            server.script.add(Fault(status=403, code="A" * 60 + " " * 200_000))
            with pytest.raises(Denied):
                await store.get(server.at("o"), AT)
            await asyncio.sleep(0.05)
            assert not server.connections

    asyncio.run(main())


def test_a_new_loop_gets_new_connections(server: RangeServer) -> None:
    store = HttpStore()

    async def main() -> None:
        await body(await store.get(server.at("o"), AT))
        await store.close()

    asyncio.run(main())
    asyncio.run(main())


# ---- redirects ---------------------------------------------------------------------------------


def test_a_redirect_within_the_host(server: RangeServer) -> None:
    async def main() -> None:
        async with opened(headers={"Authorization": "Bearer s"}) as store:
            server.script.add(Fault(status=302, location="/o"))
            reply = await store.get(f"{server.url}/elsewhere", AT, if_match='"v1"')
            assert await body(reply) == DATA[256:512]
            assert server.log[1].headers["authorization"] == "Bearer s"
            assert server.log[1].if_match == '"v1"'

    asyncio.run(main())


def test_a_redirect_to_another_host_takes_no_credential_along(server: RangeServer) -> None:
    async def main() -> None:
        headers = {"Authorization": "Bearer s", "X-Api-Key": "s", "Cookie": "s"}
        with RangeServer({"o": DATA}) as other:
            async with opened(headers=headers) as store:
                server.script.add(Fault(status=307, location=other.at("o")))
                url = server.at("o").replace("//", "//user:secret@")
                reply = await store.get(url, AT, if_match='"v1"')
                assert await body(reply) == DATA[256:512]
                assert server.log[0].headers["authorization"] == "Bearer s"
                assert set(other.log[0].headers) == {
                    "host", "range", "accept-encoding", "user-agent", "if-match",
                }  # fmt: skip

    asyncio.run(main())


@pytest.mark.parametrize(
    "location",
    ["", "ftp://127.0.0.1/x", "file:///etc/passwd", "http://u:p@127.0.0.1/", "//[x/"],
)
def test_a_redirect_to_nowhere(server: RangeServer, location: str) -> None:
    async def main() -> None:
        async with opened() as store:
            server.script.add(Fault(status=302, location=location))
            with pytest.raises(ServerFault) as caught:
                await store.get(server.at("o"), AT)
            assert not caught.value.transient
            assert len(server.log) == 1

    asyncio.run(main())


def test_redirects_end(server: RangeServer) -> None:
    async def main() -> None:
        async with opened() as store:
            server.script.add(Fault(status=301, location="/o"), 100)
            with pytest.raises(ServerFault):
                await store.get(server.at("o"), AT)
            assert len(server.log) == 6
            with pytest.raises(ServerFault):
                await store.send(server.at("o"), {}, AT)
            assert len(server.log) == 7

    asyncio.run(main())


# ---- refusals and secrets ----------------------------------------------------------------------


def test_retry_after() -> None:
    now = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert seconds_after("120") == 120.0
    assert seconds_after("99999999999999999999") == 86_400.0
    assert seconds_after("Wed, 21 Oct 2015 07:28:30 GMT", now) == 30.0
    assert seconds_after("Wed, 21 Oct 2015 07:27:00 GMT", now) == 0.0
    for nonsense in ("", "soon", "-1", "1.5", "²", "Wed, 99 Oct 2015 07:28:30 GMT"):
        assert seconds_after(nonsense, now) is None
    assert seconds_after("Wed, 21 Oct 2015 07:28:30 GMT", "") is None


def test_what_a_refusal_means() -> None:
    busy = Refusal(503, {"retry-after": "3"}, "<Error><Code>SlowDown</Code></Error>").error("u")
    assert isinstance(busy, Throttled)
    assert (busy.retry_after, busy.transient) == (3.0, True)
    assert "SlowDown" in str(busy)
    again = pickle.loads(pickle.dumps(Refusal(501, {}, "").error("http://h/o?s=1", AT)))
    assert (again.transient, again.url, again.at) == (False, "http://h/o", AT)


def test_urls_are_shown_without_secrets() -> None:
    for url, shown in {
        "https://u:p@h:1/a/b?x=1#y": "https://h:1/a/b",
        "s3://b/k": "s3://b/k",
        "https://u:p@h": "https://h",
        "https://u:p/x@h/a": "https://u:p/x@h/a",
        "https://h/a@b?c@d": "https://h/a@b",
        "https://h?x=1": "https://h",
        "https://u:p#x@h/a": "https://",
        "https://h?x=a@b/c": "https://",
        "/tmp/x?y#z": "/tmp/x?y#z",
        "": "",
    }.items():
        assert redact(url) == shown


SECRET = "canary-7f3a"


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=403, code=SECRET.replace("-", "")[:3]),
        Fault(status=302, location=f"ftp://x/{SECRET}"),
        Fault(reset=True),
        Fault(garbage=b"nonsense " + SECRET.encode() + b"\r\n\r\n"),
        Fault(status=503),
    ],
)
def test_no_secret_gets_out(server: RangeServer, fault: Fault) -> None:
    async def main() -> None:
        url = f"http://u:{SECRET}@127.0.0.1:{server.port}/o?X-Signature={SECRET}"
        headers = {"Authorization": SECRET, "X-Key": SECRET}
        async with opened(headers=headers) as store:
            server.script.add(fault)
            with pytest.raises(StoreError) as caught:
                await store.get(url, AT)
            error = caught.value
            shown = "".join(traceback.format_exception(error))
            told = (shown, repr(store), repr(error), str(error), repr(error.__dict__))
            assert not any(SECRET in one for one in told)
            assert SECRET.encode() not in pickle.dumps(error)
            assert error.url == server.at("o")
            with pytest.raises(TypeError, match="pickle"):
                pickle.dumps(store)

    asyncio.run(main())
