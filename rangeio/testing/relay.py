"""Stands before another HTTP server, passes everything on, and counts it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

_PIECE = 256 << 10
_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Passed:
    """One request that was answered: began and ended (seconds of one clock), bytes of body."""

    method: str
    target: str
    status: int
    size: int
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Tally:
    """What was passed on. hops: disjoint periods with a request in flight."""

    hops: int
    heads: int
    gets: int
    bytes: int

    @classmethod
    def of(cls, passed: Sequence[Passed]) -> Tally:
        """Count; HEAD is a round trip like any other."""
        hops, ends = 0, float("-inf")
        for one in sorted(passed, key=lambda p: p.began):
            hops += one.began >= ends
            ends = max(ends, one.ended)
        gets = sum(p.method == "GET" for p in passed)
        heads = sum(p.method == "HEAD" for p in passed)
        return cls(hops, heads, gets, sum(p.size for p in passed))


class Relay:
    """Listens on 127.0.0.1 inside its block; each connection carries one GET or HEAD.

    port: of the server behind, on 127.0.0.1. delay_s: before every answer. passed: all that was
    answered, in that order; clear it to count anew. A body is held whole before it is passed on.
    """

    def __init__(self, port: int, *, delay_s: float = 0.0) -> None:
        self.passed: list[Passed] = []
        self._behind = port
        self._delay_s = delay_s
        self._port = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._port}"

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_PIECE)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._pass(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # one of the two ends left; the other sees its connection close
        except asyncio.CancelledError:
            pass  # the relay ends; asyncio's streams would report a cancelled task
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request on, one answer back. It is noted before its reader can have all of it."""
        head = await reader.readuntil(_END)
        began = time.monotonic()
        method, target = (word.decode("latin-1") for word in head.split(b" ", 2)[:2])
        back, forth = await asyncio.open_connection("127.0.0.1", self._behind, limit=_PIECE)
        try:
            forth.write(_closing(head))
            told = await back.readuntil(_END)
            size = 0 if method == "HEAD" else _announced(told)
            body = await (back.read() if size is None else back.readexactly(size))
        finally:
            forth.close()
        await asyncio.sleep(self._delay_s)
        status = int(told.split(b" ", 2)[1])
        self.passed.append(Passed(method, target, status, len(body), began, time.monotonic()))
        writer.write(_closing(told) + body)
        await writer.drain()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()


def _announced(head: bytes) -> int | None:
    """What Content-Length says, None where it is absent."""
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return int(value)
    return None


def _closing(head: bytes) -> bytes:
    """The head, saying that the connection is closed after this exchange."""
    lines = head.removesuffix(_END).split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*kept, b"Connection: close"]) + _END
