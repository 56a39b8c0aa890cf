"""How connections are made: TLS, proxies, addresses, time."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import AT, DATA, body, opened

from rangeio.errors import (
    Denied,
    ServerFault,
    TimedOut,
    Unreachable,
)
from rangeio.ranges import ByteRange
from rangeio.stores.http import Connect
from rangeio.testing.server import Fault, RangeServer


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with RangeServer({"o": DATA, "a b/ü=%": DATA}) as server:
        yield server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PEM file with a key and a certificate for 127.0.0.1 that signs itself."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(pem, *plain) + made.public_bytes(pem))
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[RangeServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with RangeServer({"o": DATA * 100}, tls=context) as server:
        yield server


def test_tls(secure: RangeServer, certificate: Path) -> None:
    async def main() -> None:
        for connect in (Connect(ca_file=str(certificate)), Connect(verify=False)):
            async with opened(connect=connect) as store:
                for _ in range(3):
                    reply = await store.get(secure.at("o"), ByteRange(10, 1_000_000))
                    assert await body(reply) == (DATA * 100)[10:1_000_000]
        assert len({r.peer for r in secure.log}) == 2
        async with opened() as store:
            with pytest.raises(Unreachable, match="certificate is not trusted") as caught:
                await store.get(secure.at("o"), AT)
            assert not caught.value.transient

    asyncio.run(main())


def test_no_redirect_from_https_to_http(
    secure: RangeServer, server: RangeServer, certificate: Path
) -> None:
    async def main() -> None:
        async with opened(connect=Connect(ca_file=str(certificate))) as store:
            secure.script.add(Fault(status=302, location=server.at("o")))
            with pytest.raises(ServerFault, match="https to http"):
                await store.get(secure.at("o"), AT)
            server.script.add(Fault(status=302, location=secure.at("o")))
            assert await body(await store.get(server.at("o"), AT)) == DATA[256:512]

    asyncio.run(main())


def test_a_proxy_for_http(server: RangeServer) -> None:
    async def main() -> None:
        # The server stands in for the proxy: it is asked for the whole url.
        server.put("http://nowhere.invalid:81/o", DATA)
        proxy = server.url.replace("//", "//user:pass@")
        connect = Connect(proxy=proxy, proxy_headers=(("X-Hop", "1"),))
        async with opened(connect=connect) as store:
            reply = await store.get("http://nowhere.invalid:81/o?q=1", AT)
            assert await body(reply) == DATA[256:512]
            (asked,) = server.log
            assert asked.target == "http://nowhere.invalid:81/o?q=1"
            assert asked.headers["host"] == "nowhere.invalid:81"
            assert asked.headers["proxy-authorization"] == "Basic dXNlcjpwYXNz"
            assert asked.headers["x-hop"] == "1"
            assert "pass" not in repr(store)

    asyncio.run(main())


def test_a_proxy_for_https(secure: RangeServer, certificate: Path) -> None:
    heads: list[bytes] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        if b"dXNlcjpwYXNz" not in heads[-1]:
            writer.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            writer.close()
            return
        there = await asyncio.open_connection("127.0.0.1", secure.port)
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))

    async def main() -> None:
        proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
        where = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        async with proxy:
            connect = Connect(proxy=f"http://user:pass@{where}", ca_file=str(certificate))
            async with opened(connect=connect, headers={"X-Secret": "s"}) as store:
                for _ in range(2):
                    reply = await store.get(secure.at("o"), ByteRange(10, 500_000))
                    assert await body(reply) == (DATA * 100)[10:500_000]
            (head,) = heads
            assert head.startswith(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n" % secure.port)
            assert b"X-Secret" not in head
            assert "proxy-authorization" not in secure.log[0].headers
            async with opened(connect=Connect(proxy=f"http://{where}", verify=False)) as store:
                with pytest.raises(Denied, match="407"):
                    await store.get(secure.at("o"), AT)
            await asyncio.sleep(0.05)

    asyncio.run(main())


def test_private_addresses_can_be_refused(server: RangeServer) -> None:
    async def main() -> None:
        async with opened(connect=Connect(public_only=True)) as store:
            for host in (
                "127.0.0.1",
                "localhost",
                "169.254.169.254",
                "10.0.0.1",
                "[::1]",
                "0.0.0.0",
            ):
                with pytest.raises(Denied, match="private"):
                    await store.get(f"http://{host}:{server.port}/o", AT)
            assert not server.log

    asyncio.run(main())


def test_connecting_takes_no_longer_than_allowed() -> None:
    async def main() -> None:
        # It accepts, as the kernel does, and never answers the TLS greeting.
        with socket.create_server(("127.0.0.1", 0)) as mute:
            async with opened(connect=Connect(connect_s=0.1)) as store:
                with pytest.raises(TimedOut, match="no connection in time"):
                    await store.get(f"https://127.0.0.1:{mute.getsockname()[1]}/o", AT)

    asyncio.run(main())
