"""The record of every GET: what was asked, why, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class GetRecord(NamedTuple):
    """One range that was asked for, and how it was answered.

    hop: 1 for the first round trip of its read. start, stop: absolute, half-open, in bytes.
    status: of the last reply, 0 where none came. attempts: GETs sent for it, hedges included.
    first_byte_s, total_s: seconds from the first attempt. cached: answered without a GET.
    joined: answered by the GET of another reader. unplanned: no plan had announced it.
    size: bytes that came over the wire. url: redacted. disk: cached, and the disk cache had it.
    """

    hop: int
    start: int
    stop: int
    why: str
    status: int = 206
    attempts: int = 1
    first_byte_s: float = 0.0
    total_s: float = 0.0
    cached: bool = False
    joined: bool = False
    unplanned: bool = False
    size: int = 0
    url: str = ""
    disk: bool = False


class Trace:
    """The GETs of one file, one read or one process, in the order in which they ended.

    Any thread may add; a reader sees the records that were there when it began.
    """

    __slots__ = ("_needed", "_records", "add")

    def __init__(self) -> None:
        self._records: list[GetRecord] = []
        self._needed: list[int] = []
        # list.append is atomic, and bound here it costs no frame.
        self.add = self._records.append

    def need(self, size: int) -> None:
        """Note ``size`` bytes that were asked for, whatever GETs they become."""
        self._needed.append(size)

    def clear(self) -> None:
        """Forget all records."""
        self._records.clear()
        self._needed.clear()

    def __iter__(self) -> Iterator[GetRecord]:
        return iter(self._records.copy())

    def __len__(self) -> int:
        return len(self._records)

    @property
    def hops(self) -> int:
        """Dependent round trips: the distinct hops that made a GET of their own."""
        return len({r.hop for r in self if not r.cached and not r.joined})

    @property
    def gets(self) -> int:
        """Ranges that were fetched, each counted once whatever its attempts."""
        return sum(not r.cached and not r.joined for r in self)

    @property
    def bytes_needed(self) -> int:
        """Bytes that were asked for."""
        return sum(self._needed.copy())

    @property
    def bytes_read(self) -> int:
        """Bytes that came over the wire."""
        return sum(r.size for r in self if not r.cached and not r.joined)

    @property
    def from_disk(self) -> int:
        """Ranges that the disk cache answered."""
        return sum(r.disk for r in self)

    @property
    def unplanned(self) -> int:
        """GETs that no plan had announced."""
        return sum(r.unplanned for r in self)

    def transcript(self) -> str:
        """The GETs in words, by hop and reason: ``hop 2: 1 GET 412 B lance.column_meta``.

        What the cache answered is left out; what another reader's GET answered says ``joined``.
        """
        lines: dict[tuple[int, str, bool], list[int]] = {}
        for r in self:
            if not r.cached:
                lines.setdefault((r.hop, r.why, r.joined), []).append(r.stop - r.start)
        return "\n".join(
            f"hop {hop}: {len(sizes)} {_verb(len(sizes), joined)} {sum(sizes)} B {why}"
            for (hop, why, joined), sizes in sorted(lines.items())
        )

    def __str__(self) -> str:
        return self.transcript()

    def __repr__(self) -> str:
        return f"Trace({self.hops} hops, {self.gets} GETs, {self.bytes_read} B)"


def _verb(count: int, joined: bool) -> str:
    if joined:
        return "joined"
    return "GET" if count == 1 else "GETs"
