"""One request that a test server got, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote


@dataclass(slots=True)
class Request:
    """The head of a request, and the answer's figures once it is under way.

    target: as sent, with its query. headers: names in lower case. status: 0 until answered.
    sent: bytes of the body handed to the socket. peer: port of the connection's other end.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    peer: int = 0
    status: int = 0
    sent: int = 0

    @property
    def key(self) -> str:
        """The object's name: the path, decoded, without its first slash."""
        path = self.target.partition("?")[0]
        return (unquote(path) if "%" in path else path).removeprefix("/")

    @property
    def query(self) -> str:
        """What follows the question mark."""
        return self.target.partition("?")[2]

    @property
    def range(self) -> str:
        """The Range header, "" where there is none."""
        return self.headers.get("range", "")

    @property
    def if_match(self) -> str:
        """The If-Match header, "" where there is none."""
        return self.headers.get("if-match", "")

    @classmethod
    def parse(cls, head: bytes, peer: int) -> Request:
        """Read a head without its last blank line; raises ValueError where it is none."""
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return cls(method, target, headers, peer)


def asked(text: str, total: int) -> tuple[int, int] | None:
    """The half-open part that a Range header asks of ``total`` bytes; None: it cannot be met.

    Raises ValueError where the header is not one range of bytes: a server ignores such a header.
    """
    unit, mark, span = text.partition("=")
    first, dash, last = span.partition("-")
    if unit.strip() != "bytes" or not mark or not dash or "," in span:
        raise ValueError(text)
    if not first.strip():
        size = int(last)
        return (max(0, total - size), total) if size and total else None
    start = int(first)
    if not last.strip():
        return (start, total) if start < total else None
    stop = int(last) + 1
    if stop <= start:
        raise ValueError(text)
    return (start, min(stop, total)) if start < total else None
