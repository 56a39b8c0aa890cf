"""What a read will fetch, in words and figures, before it is paid for. Pure."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

from rangeio.ranges import ByteRange, CostModel


@dataclass(frozen=True, slots=True)
class PlannedGet:
    """One GET of the plan's first hop: its range, and the columns whose bytes it brings."""

    at: ByteRange
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The GETs that a read will make now: what is held already is not fetched again.

    planned: every GET of the first data hop, exactly as the read makes it. later_hops, later_gets,
    later_bytes: bounds of the hops whose ranges depend on data that is not read yet. metadata_*:
    what the file's metadata has cost so far. choice: what the cost model chose while opening.
    """

    url: str
    format: str
    rows: int
    columns: tuple[str, ...]
    planned: tuple[PlannedGet, ...]
    bytes_needed: int
    cost: CostModel
    profile: str
    later_hops: int = 0
    later_gets: int = 0
    later_bytes: int = 0
    metadata_hops: int = 0
    metadata_gets: int = 0
    metadata_bytes: int = 0
    choice: str = ""
    pruned: tuple[str, ...] = field(default=())
    consistency: str = "strong"

    @property
    def hops(self) -> int:
        """Dependent round trips of the data, later ones included."""
        return (1 if self.planned else 0) + self.later_hops

    @property
    def gets(self) -> int:
        """GETs of the first data hop."""
        return len(self.planned)

    @property
    def bytes(self) -> int:
        """Bytes of the first data hop, gaps that are read through included."""
        return sum(get.at.size for get in self.planned)

    @property
    def seconds(self) -> float:
        """What the cost model expects the data to take, decoding apart."""
        waves = -(-self.gets // self.cost.in_flight) if self.gets else 0
        largest = max((get.at.size for get in self.planned), default=0)
        together = self.bytes / (
            self.cost.bytes_per_s * max(1, min(self.gets, self.cost.in_flight))
        )
        moved = max(largest / self.cost.bytes_per_s, together)
        return waves * self.cost.latency_s + moved + self.later_hops * self.cost.latency_s

    def to_dict(self) -> dict[str, object]:
        """All of it as plain data, for JSON."""
        return {
            "url": self.url,
            "format": self.format,
            "rows": self.rows,
            "columns": list(self.columns),
            "hops": self.hops,
            "gets": self.gets,
            "bytes": self.bytes,
            "bytes_needed": self.bytes_needed,
            "seconds": self.seconds,
            "planned": [
                {"start": g.at.start, "stop": g.at.stop, "columns": list(g.columns)}
                for g in self.planned
            ],
            "later": {
                "hops": self.later_hops,
                "gets_at_most": self.later_gets,
                "bytes_at_most": self.later_bytes,
            },
            "metadata": {
                "hops": self.metadata_hops,
                "gets": self.metadata_gets,
                "bytes": self.metadata_bytes,
            },
            "profile": self.profile,
            "choice": self.choice,
            "pruned": list(self.pruned),
            "consistency": self.consistency,
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        wide, long = counted(len(self.columns), "column"), counted(self.rows, "row")
        lines = [f"{self.url}: {self.format}, {wide}, {long}"]
        lines.append(
            f"  metadata so far: {counted(self.metadata_hops, 'hop')}, "
            f"{counted(self.metadata_gets, 'GET')}, "
            f"{size(self.metadata_bytes)}"
        )
        if self.choice:
            lines.append(f"  {self.choice}")
        lines.append(
            f"  data: {counted(self.hops, 'hop')}, {counted(self.gets, 'GET')}, {size(self.bytes)} "
            f"({size(self.bytes_needed)} needed), about {self.seconds * 1000:.1f} ms "
            f"by the {self.profile} profile"
        )
        lines += [_row(get) for get in self.planned[:20]]
        if len(self.planned) > 20:
            lines.append(f"    ... {len(self.planned) - 20} more")
        if self.later_hops:
            lines.append(
                f"    then {self.later_hops} more, known once data is read: at most "
                f"{counted(self.later_gets, 'GET')} within {size(self.later_bytes)}"
            )
        lines += [f"  pruned: {what}" for what in self.pruned]
        if self.consistency != "strong":
            lines.append(f"  consistency: {self.consistency} (the store pins no version)")
        return lines

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def counted(count: int, noun: str) -> str:
    """``1 hop``, ``3 hops``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size(count: int) -> str:
    """Bytes for people: ``412 B``, ``51.5 KB``, ``1.80 MB``; powers of ten, as stores bill."""
    if count < 1000:
        return f"{count} B"
    power = min((len(str(count)) - 1) // 3, 4)
    value = count / 1000**power
    return f"{value:.{2 if value < 10 else 1}f} {('B', 'KB', 'MB', 'GB', 'TB')[power]}"


def _row(get: PlannedGet) -> str:
    return f"    GET {get.at.start}:{get.at.stop}  {size(get.at.size)}  {_named(get.columns)}"


def _named(columns: Sequence[str]) -> str:
    shown = ", ".join(columns[:4])
    return f"{shown}, ... {len(columns) - 4} more" if len(columns) > 4 else shown
