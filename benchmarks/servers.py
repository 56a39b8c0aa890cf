"""The S3-like server that all contestants read from: a process of its own, delayed and counted."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from rangeio.testing.request import asked
from rangeio.testing.server import Fault, RangeServer, Request

_AT_ONCE_S = 0.01  # what a capped server sends at once is what may go in this time


class Seen(NamedTuple):
    """One request: when it came (seconds), what it was, the bytes of body that were sent, and of
    which object from where on."""

    came: float
    method: str
    sent: int
    key: str
    start: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What one round asked of the server. hops: disjoint periods with a request in flight. twice:
    bytes sent that had been sent before."""

    hops: int
    heads: int
    gets: int
    bytes: int
    twice: int

    @classmethod
    def of(cls, seen: Sequence[Seen], delay_s: float, bytes_per_s: float = 0.0) -> Counts:
        """Count; a request is in flight from its coming until its answer, ``delay_s`` later, and
        for as long as its body takes at least at ``bytes_per_s``, 0 for no cap."""
        hops, ends = 0, float("-inf")
        for one in sorted(seen):
            hops += one.came >= ends
            body = max(0.0, one.sent / bytes_per_s - _AT_ONCE_S) if bytes_per_s else 0.0
            ends = max(ends, one.came + delay_s + body)
        heads = sum(one.method == "HEAD" for one in seen)
        size = sum(one.sent for one in seen)
        return cls(hops, heads, len(seen) - heads, size, size - _covered(seen))


def _covered(seen: Sequence[Seen]) -> int:
    """The bytes of objects that were sent, each counted once."""
    size, key, end = 0, "", 0
    for one in sorted(seen, key=lambda s: (s.key, s.start)):
        if one.key != key:
            key, end = one.key, 0
        size += max(0, one.start + one.sent - max(end, one.start))
        end = max(end, one.start + one.sent)
    return size


class Watched(Protocol):
    """A server whose requests are counted."""

    def forget(self) -> None:
        """Begin to count anew."""
        ...

    def counts(self) -> Counts:
        """What was asked since."""
        ...


class Clocked(RangeServer):
    """A range server that knows when each request came."""

    def __init__(self, root: Path, delay_s: float, bytes_per_s: float, *, keep_log: bool) -> None:
        super().__init__(root=root, delay_s=delay_s, bytes_per_s=bytes_per_s, keep_log=keep_log)
        self.modified = "Sat, 01 Aug 2026 00:00:00 GMT"  # s3a fails without it
        self.root = root
        self.came: list[float] = []
        self._keep = keep_log
        self._pages = count()

    def meet(self, request: Request) -> Fault:
        if self._keep:
            self.came.append(time.monotonic())
        if "list-type=2" in request.query:
            # Under a name of its own: others may be asked for meanwhile.
            page, name = self._listing(request), f"_listed/{next(self._pages)}"
            self.put(name, page)
            request.target = f"/{name}"
        return super().meet(request)

    def _listing(self, request: Request) -> bytes:
        """A page of objects below a prefix, as S3 writes it; of all folders below, as one."""
        asked = parse_qs(request.query)
        prefix = asked.get("prefix", [""])[0]
        bucket = self.root / request.key.rstrip("/")
        names = (one for one in sorted(bucket.rglob("*")) if one.is_file())
        found = [one for one in names if one.relative_to(bucket).as_posix().startswith(prefix)]
        rows = "".join(
            f"<Contents><Key>{one.relative_to(bucket).as_posix()}</Key>"
            f"<LastModified>2026-08-01T00:00:00.000Z</LastModified><ETag>{self._tag(one)}</ETag>"
            f"<Size>{one.stat().st_size}</Size></Contents>"
            for one in found[: int(asked.get("max-keys", ["1000"])[0])]
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>false'
            f"</IsTruncated><KeyCount>{len(found)}</KeyCount>{rows}</ListBucketResult>"
        ).encode()

    def _tag(self, path: Path) -> str:
        stored = self.find(path.relative_to(self.root).as_posix())
        assert stored is not None
        return escape(stored.etag)

    def seen(self) -> list[Seen]:
        return [
            Seen(came, one.method, one.sent, one.key, self._start(one))
            for came, one in zip(self.came, self.log, strict=True)
        ]

    def _start(self, request: Request) -> int:
        """Where in the object the answer began."""
        stored = self.find(request.key)
        if request.status != 206 or stored is None:
            return 0
        part = asked(request.range, len(stored.data))
        return part[0] if part else 0

    def forget(self) -> None:
        self.came.clear()
        self.log.clear()


def _serve(
    wire: Connection, root: Path, delay_s: float, bytes_per_s: float, keep_log: bool
) -> None:
    with Clocked(root, delay_s, bytes_per_s, keep_log=keep_log) as server:
        wire.send(server.port)
        while (asked := wire.recv()) != "stop":
            if asked == "forget":
                server.forget()
                wire.send(None)
            else:
                wire.send(server.seen())


class Server:
    """Serves the files below ``root`` from a process of its own, path style: ``/bucket/key``.

    delay_s: before every head. bytes_per_s: cap of one connection, 0 for none. keep_log: off where
    the server's own speed matters.
    """

    def __init__(
        self, root: Path, *, delay_s: float = 0.0, bytes_per_s: float = 0.0, keep_log: bool = True
    ) -> None:
        self.delay_s = delay_s
        self.bytes_per_s = bytes_per_s
        spawn = multiprocessing.get_context("spawn")
        self._wire, theirs = spawn.Pipe()
        args = (theirs, root, delay_s, bytes_per_s, keep_log)
        self._process = spawn.Process(target=_serve, args=args, daemon=True)
        self._process.start()
        self.port: int = self._wire.recv()
        self.url = f"http://127.0.0.1:{self.port}"

    def forget(self) -> None:
        self._wire.send("forget")
        self._wire.recv()

    def counts(self) -> Counts:
        self._wire.send("seen")
        return Counts.of(self._wire.recv(), self.delay_s, self.bytes_per_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wire.send("stop")
        self._process.join(5)
        if self._process.is_alive():
            self._process.terminate()
        self._wire.close()
