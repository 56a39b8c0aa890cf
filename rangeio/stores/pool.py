"""The connections of a store: made when needed, kept while they are warm."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from typing import cast

from aiohappyeyeballs import AddrInfoType, start_connection

from rangeio.errors import Denied, StoreError, TimedOut, Unreachable
from rangeio.stores.connect import Connect
from rangeio.stores.place import Place, header_lines, locate
from rangeio.stores.wire import Wire

_EYEBALLS_S = 0.25
_TURNS = 10


class Pool:
    """Connections by origin, on the loop that made it; the one used last is used first."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._loop = asyncio.get_running_loop()
        self._idle: dict[tuple[bool, str, int], list[Wire]] = {}
        self._wires: set[Wire] = set()
        self._context: ssl.SSLContext | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._proxy = locate(connect.proxy) if connect.proxy else None

    def idle(self, place: Place) -> Wire | None:
        """A warm connection to ``place``, None where there is none."""
        idle = self._idle.get(place.origin)
        while idle:
            wire = idle.pop()
            if wire.usable:
                return wire
        return None

    async def connect(self, place: Place) -> Wire:
        """A new connection; raises TimedOut, Unreachable, or Denied for an address that is
        not public where only those are allowed."""
        wire: Wire | None = None
        broken: StoreError | None = None
        try:
            async with asyncio.timeout(self._connect.connect_s):
                wire = await (self._tunnel(place) if self._proxy else self._direct(place))
        except StoreError:
            raise
        except TimeoutError:
            broken = TimedOut("no connection in time")
        except OSError as error:
            broken = failure(error)
        if wire is None:
            raise broken or Unreachable("no connection")
        self._wires.add(wire)
        return wire

    async def close(self) -> None:
        """Close every connection, those in use too."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        self._idle.clear()
        for wire in list(self._wires):
            wire.abort()
        for _ in range(_TURNS):
            if not self._wires:
                break
            await asyncio.sleep(0)

    def header(self) -> str:
        """The header lines that every plain request through the proxy carries."""
        if self._proxy is None:
            return ""
        headers = dict(self._connect.proxy_headers)
        if self._proxy.authorization:
            headers.setdefault("Proxy-Authorization", self._proxy.authorization)
        return header_lines(headers)

    async def _direct(self, place: Place) -> Wire:
        found = await self._addresses(place)
        # The loop's own happy eyeballs lose the socket where they are cancelled at the wrong time.
        sock = await start_connection(found, happy_eyeballs_delay=_EYEBALLS_S, loop=self._loop)
        try:
            _, wire = await self._loop.create_connection(
                lambda: self._wire(place),
                sock=sock,
                ssl=self._tls() if place.tls else None,
                server_hostname=place.host if place.tls else None,
            )
        except BaseException:
            sock.close()
            raise
        return wire

    async def _tunnel(self, place: Place) -> Wire:
        """A connection to the proxy; for https it leads through it, and TLS ends at ``place``."""
        proxy = self._proxy
        assert proxy is not None, "only called where there is one"
        _, wire = await self._loop.create_connection(
            lambda: self._wire(place),
            proxy.host,
            proxy.port,
            ssl=self._tls() if proxy.tls else None,
            server_hostname=proxy.host if proxy.tls else None,
        )
        if not place.tls:
            return wire
        try:
            host = f"{place.authority}:{place.port}" if place.port == 443 else place.authority
            line = f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{self.header()}\r\n"
            status, _ = await wire.ask(line.encode("latin-1"))
            if status != 200 or wire.transport is None:
                kind = Denied if status == 407 else Unreachable
                raise final(kind(f"the proxy refused: HTTP {status}", status=status))
            wire.tunnelled()
            wire.transport = await self._loop.start_tls(
                wire.transport, wire, self._tls(), server_hostname=place.host
            )
        except BaseException:
            wire.abort()
            raise
        return wire

    async def _addresses(self, place: Place) -> list[AddrInfoType]:
        """The addresses of the host, looked up once: those that are checked are those used."""
        found = await self._loop.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)
        if self._connect.public_only and any(is_private(str(one[4][0])) for one in found):
            raise Denied("the url leads to a private address")
        return cast("list[AddrInfoType]", found)

    def _wire(self, place: Place) -> Wire:
        return Wire(lambda wire: self._back(place, wire), self._wires.discard)

    def _back(self, place: Place, wire: Wire) -> None:
        wire.idle_since = self._loop.time()
        self._idle.setdefault(place.origin, []).append(wire)
        if self._sweeper is None:
            self._sweeper = self._loop.call_later(self._connect.keepalive_s, self._sweep)

    def _sweep(self) -> None:
        """Close what was idle for too long."""
        self._sweeper = None
        cold = self._loop.time() - self._connect.keepalive_s / 2
        for origin, idle in list(self._idle.items()):
            warm = [wire for wire in idle if wire.usable and wire.idle_since > cold]
            for wire in idle:
                if wire not in warm:
                    wire.abort()
            self._idle[origin] = warm
            if not warm:
                del self._idle[origin]
        if self._idle:
            self._sweeper = self._loop.call_later(self._connect.keepalive_s / 2, self._sweep)

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = self._connect.context()
        return self._context


def is_private(host: str) -> bool:
    """Whether ``host`` is a literal address that is not public; a name is not."""
    try:
        return not ipaddress.ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return False


def failure(error: OSError) -> StoreError:
    """The StoreError of a connection that was not made."""
    if isinstance(error, ssl.SSLCertVerificationError):
        words = f"the server's certificate is not trusted: {error.verify_message}"
        return final(Unreachable(words))
    if isinstance(error, ssl.SSLError):
        return final(Unreachable(f"TLS failed: {error.reason}"))
    if isinstance(error, socket.gaierror):
        found = Unreachable("no such host")
        return found if error.errno == socket.EAI_AGAIN else final(found)
    return Unreachable(f"no connection: {error.strerror or 'refused or reset'}")


def final(error: StoreError) -> StoreError:
    """Mark an error that trying again does not mend."""
    error.transient = False
    return error
