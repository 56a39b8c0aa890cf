"""Doris segments: the files, written by rangeio from a fixed seed, and the ways to hold one open.

``python -m benchmarks.dorisfiles WAY COUNT PLACE`` opens COUNT segments, keeps them, and prints the
bytes of memory that they take together: a process of its own, since freed memory would hide in one
that has done other work. Linux only.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import rangeio
from benchmarks.ground import Ground
from rangeio.engine.drive import drive
from rangeio.formats.doris.footer import SIZE, Trailer
from rangeio.formats.doris.format import FORMAT
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.page import crc32c
from rangeio.formats.doris.table import DorisTable
from rangeio.formats.format import Opening
from rangeio.ranges import ByteRange, Suffix
from rangeio.steps import Need
from rangeio.transport.profile import PROFILES

SEED = 20240601
WORDS = 50
AT_ONCE = 32
_STATUS = Path("/proc/self/status")
KNOWN = _STATUS.exists()
"""Whether this system tells how much memory a process holds."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A segment: its columns, and how it is written. encodings: whose defaults."""

    columns: int
    version: int
    rows: int = 64
    zone_maps: bool = True
    encodings: str = "doris"

    def file(self, ground: Ground) -> Path:
        """Written where it is not there yet."""
        bare = "" if self.zone_maps else "-bare"
        size = f"{self.columns}x{self.rows}"
        return ground.file(f"doris/v{self.version}-{self.encodings}-{size}{bare}.dat", self._write)

    def _write(self, path: Path) -> None:
        rangeio.write(
            table(self.columns, self.rows),
            path,
            format="doris",
            version=self.version,
            zone_maps=self.zone_maps,
            encodings=self.encodings,
        )


def table(columns: int, rows: int) -> pa.Table:
    """int64, double, int32 and string columns in turn; strings are of few words."""
    rng = np.random.default_rng(SEED)
    words = pa.array([f"word {n:03d}" for n in range(WORDS)])
    kinds: Sequence[Callable[[], pa.Array]] = (
        lambda: pa.array(rng.integers(0, 1 << 40, rows)),
        lambda: pa.array(rng.random(rows)),
        lambda: pa.array(rng.integers(0, 1000, rows, np.int32)),
        lambda: words.take(pa.array(rng.integers(0, WORDS, rows))),
    )
    found = [kinds[i % len(kinds)]() for i in range(columns)]
    return pa.Table.from_arrays(found, [f"c{i}" for i in range(columns)])


# ---- opening what is in memory -----------------------------------------------------------------

Tail = tuple[bytes, int]
"""The footer of a segment with what follows it, and the size of the file."""


def tail_of(path: Path) -> Tail:
    """Read from a file."""
    data = path.read_bytes()
    return data[Trailer.parse(memoryview(data), len(data)).at.start :], len(data)


def by_rangeio(tail: Tail) -> DorisTable:
    """rangeio's own opening: crc32c, footer, directory."""
    data, size = memoryview(tail[0]), tail[1]
    first = size - len(data)

    def fetch(asked: Need) -> list[memoryview]:
        return [data[at.start - first : at.stop - first] for at in map(_exact, asked.ranges)]

    return drive(FORMAT.open(Opening(size, len(data), PROFILES["memory"].cost)), fetch)


def _exact(at: ByteRange | Suffix) -> ByteRange:
    assert isinstance(at, ByteRange)
    return at


def by_protobuf(tail: Tail) -> tuple[int, dict[int, object]]:
    """What a reader of V2 does: crc32c, the whole footer deserialized, its columns in a dict."""
    data, size = tail
    at = Trailer.parse(memoryview(data), size)
    own = data[:-SIZE]
    if crc32c(own) != at.crc:
        raise ValueError("the footer's crc32c differs")
    footer = MESSAGES.SegmentFooter.FromString(own)
    return footer.num_rows, {one.unique_id: one for one in footer.columns}


WAYS: dict[str, Callable[[Tail], object]] = {one.__name__: one for one in (by_rangeio, by_protobuf)}


def told(opened: object) -> object:
    """Rows, number of columns and their ids, however it was opened."""
    if isinstance(opened, DorisTable):
        ids = opened.footer.directory.ids.tolist()
        return opened.footer.num_rows, len(ids), ids
    assert isinstance(opened, tuple)
    rows, columns = opened
    return rows, len(columns), list(columns)


# ---- holding many ------------------------------------------------------------------------------


def tables(way: str, path: str, count: int) -> Callable[[], list[object]]:
    """Each opened from bytes of its own, so that who keeps the tail is seen to."""
    opened, (data, size) = WAYS[way], tail_of(Path(path))
    opened((data, size))
    return lambda: [opened((bytes(bytearray(data)), size)) for _ in range(count)]


def local(folder: str, count: int) -> Callable[[], list[object]]:
    """``rangeio.open`` of each ``0.dat``, ``1.dat``, ... of a folder, in one session."""
    session = rangeio.Session()
    rangeio.open(f"{folder}/0.dat", session=session)
    return lambda: [rangeio.open(f"{folder}/{i}.dat", session=session) for i in range(count)]


def remote(base: str, count: int) -> Callable[[], list[object]]:
    """The same over HTTP, some at once; what the session caches, by its defaults, is held too."""
    session = rangeio.Session()
    rangeio.open(f"{base}/0.dat", session=session)

    async def some(first: int) -> list[rangeio.AsyncFile]:
        urls = [f"{base}/{i}.dat" for i in range(first, min(first + AT_ONCE, count))]
        return await asyncio.gather(*(rangeio.open_async(url, session=session) for url in urls))

    async def every() -> list[object]:
        return [one for first in range(0, count, AT_ONCE) for one in await some(first)]

    return lambda: asyncio.run(every())


HANDLES: dict[str, Callable[[str, int], Callable[[], list[object]]]] = {
    one.__name__: one for one in (local, remote)
}


def memory() -> int:
    """Bytes that this process has of memory now."""
    line = next(li for li in _STATUS.read_text().splitlines() if li.startswith("VmRSS:"))
    return int(line.split()[1]) << 10


def main(words: Sequence[str]) -> int:
    """Hold ``count`` segments open."""
    way, count, place = words
    hold = HANDLES[way] if way in HANDLES else partial(tables, way)
    opening = hold(place, int(count))
    gc.collect()
    before = memory()
    held = opening()
    gc.collect()
    sys.stdout.write(json.dumps([memory() - before, len(held)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
