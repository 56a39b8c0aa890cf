"""An HTTP server of byte ranges that counts, delays and breaks.

In a test it runs in a thread of its own; ``python -m rangeio.testing.server --port 0 DIR`` serves a
directory from a process of its own and prints its port.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import mmap
import ssl
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from rangeio.testing.exchange import Exchange, Stored
from rangeio.testing.fault import Fault, Script
from rangeio.testing.request import Request

__all__ = ["Fault", "RangeServer", "Request"]


class RangeServer:
    """Serves objects by GET and HEAD, with Range, If-Match and ETag, on 127.0.0.1.

    objects: by key. root: a directory whose files are served too, mapped into memory. delay_s:
    before every head. bytes_per_s: of one connection, 0 for no cap. log: every request, in order.
    modified: what is said of all objects as Last-Modified, nothing by default.
    script: what goes wrong; empty at first. tls: makes the url https.
    """

    def __init__(
        self,
        objects: dict[str, bytes] | None = None,
        *,
        root: Path | None = None,
        delay_s: float = 0.0,
        bytes_per_s: float = 0.0,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
        keep_log: bool = True,
    ) -> None:
        self.delay_s = delay_s
        self.bytes_per_s = bytes_per_s
        self.modified = ""
        self.log: list[Request] = []
        self.script = Script()
        self.connections: set[Exchange] = set()
        self._keep_log = keep_log
        self._root = root.resolve() if root is not None else None
        self._tls = tls
        self._port = port
        self._versions = itertools.count(1)
        self._objects: dict[str, Stored] = {}
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        for key, data in (objects or {}).items():
            self.put(key, data)

    def put(self, key: str, data: bytes | mmap.mmap, etag: str | None = None) -> str:
        """Serve ``data`` under ``key``, as a new version; returns its ETag. Any thread may."""
        tag = f'"v{next(self._versions)}"' if etag is None else etag
        self._objects[key] = Stored(memoryview(data), tag)
        return tag

    def drop(self, key: str) -> None:
        """Serve ``key`` no longer."""
        self._objects.pop(key, None)

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    @property
    def url(self) -> str:
        """The root, without a slash at the end."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self._port}"

    def at(self, key: str) -> str:
        """The url of an object."""
        return f"{self.url}/{quote(key)}"

    def find(self, key: str) -> Stored | None:
        """The object of this name, from memory or the directory."""
        stored = self._objects.get(key)
        if stored is None and self._root is not None:
            path = (self._root / key).resolve()
            if path.is_file() and path.is_relative_to(self._root):
                self.put(key, _mapped(path))
                stored = self._objects[key]
        return stored

    def meet(self, request: Request) -> Fault:
        """Note the request; says what goes wrong with its answer."""
        if self._keep_log:
            self.log.append(request)
        return self.script.meet(request)

    def start(self) -> RangeServer:
        """Listen, in a thread of its own."""
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def stop(self) -> None:
        """Close every connection, and end the thread."""
        if self._thread is not None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
            self._thread = None

    async def serve(self) -> None:
        """Listen on the running loop until stopped."""
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        server = await self._loop.create_server(
            lambda: Exchange(self), "127.0.0.1", self._port, ssl=self._tls, backlog=1024
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            await self._end.wait()
        finally:
            server.close()
            for one in list(self.connections):
                one.close()
            await server.wait_closed()
            # An aborted transport closes its socket in the next turn of the loop.
            await asyncio.sleep(0)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _mapped(path: Path) -> bytes | mmap.mmap:
    if not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def main(words: list[str] | None = None) -> int:
    """Serve a directory until the process is told to end."""
    parser = argparse.ArgumentParser(prog="python -m rangeio.testing.server", description=__doc__)
    parser.add_argument("root", type=Path, metavar="DIR")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=0.0, help="before every head")
    parser.add_argument("--bytes-per-s", type=float, default=0.0, help="of one connection")
    args = parser.parse_args(words)
    if not args.root.is_dir():
        parser.error(f"no such directory: {args.root}")
    server = RangeServer(
        root=args.root,
        delay_s=args.delay_ms / 1e3,
        bytes_per_s=args.bytes_per_s,
        port=args.port,
        keep_log=False,
    )
    with server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
