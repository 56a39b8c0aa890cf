"""Segments of Doris: what their two layouts cost to open, to hold open, and to read from."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import dorisfiles
from benchmarks.dorisfiles import (
    Layout,
    Tail,
    by_protobuf,
    by_rangeio,
    local,
    remote,
    tail_of,
    told,
)
from benchmarks.ground import Ground, cache
from benchmarks.harness import Case, Contestant, Fresh, Goal, Metric, Weighed
from benchmarks.parquetpeers import alike
from benchmarks.peers import ours
from benchmarks.servers import Server

WIDE, NARROW, MANY = 7_000, 20, 10_000
BETWEEN = (100, 200, 400)
TOGETHER = 20
"""Segments that one timed call opens and keeps: what is freed before the next is cheaper to get."""
DELAY_S, BYTES_PER_S = 0.02, 100e6

PROTOBUF = "V2, protobuf into a dict"
SCAN = "V2, rangeio's scan"
EVEN = "V3 with V2's encodings"

TIME = Metric("ms/segment", lambda r: r.wall_s * 1e3 / TOGETHER)
HELD = Metric("KB/segment", lambda r: r.peak / 1e3)
TOTAL = Metric("MB", lambda r: r.peak / 1e6)


class Doris:
    """V3 is what rangeio's line shows; V2 holds the same columns."""

    name = "doris"
    title = "Doris segments, V3 and V2"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        yield from _opened(ground, WIDE, goals=True)
        yield from _opened(ground, WIDE, zone_maps=False)
        for columns in (NARROW, *BETWEEN):
            yield from _opened(ground, columns)
        yield from _many(ground)
        yield _read(ground, WIDE, 64, 2)
        yield _read(ground, NARROW, 100_000, NARROW)
        yield from _remote(ground)


def _opened(
    ground: Ground, columns: int, *, zone_maps: bool = True, goals: bool = False
) -> Iterator[Case]:
    """Time to open, then the memory held."""
    v2, v3, even = (
        Layout(columns, *how).file(ground)
        for how in ((2, 64, zone_maps), (3, 64, zone_maps), (3, 64, zone_maps, "v2"))
    )
    each = by_rangeio(tail_of(v2)).metadata_size / columns
    title = f"open {columns:,} columns of {each:.0f} B of metadata"
    ways: tuple[tuple[str, Callable[[Tail], object], Path], ...] = (
        ("rangeio", by_rangeio, v3),
        (EVEN, by_rangeio, even),
        (SCAN, by_rangeio, v2),
        (PROTOBUF, by_protobuf, v2),
    )
    yield Case(
        title,
        [Contestant(name, _timed(way, path)) for name, way, path in ways],
        _same,
        (TIME,),
        (Goal("ms/segment", PROTOBUF, 16.25),) if goals else (),
        rounds=9,
    )
    if not dorisfiles.KNOWN:
        return
    count: dict[Callable[[Tail], object], int] = {
        by_rangeio: 200_000 // columns + 200,
        by_protobuf: 70_000 // columns + 20,
    }
    yield Case(
        f"{title}: memory held",
        [Contestant(n, _held(way.__name__, str(p), count[way])) for n, way, p in ways],
        _same,
        (HELD,),
        (Goal("KB/segment", PROTOBUF, 60.0),) if goals else (),
        rounds=3 if goals else 1,
    )


def _many(ground: Ground) -> Iterator[Case]:
    """Many V3 segments at once: their tables alone, and whole handles."""
    if not dorisfiles.KNOWN:
        return
    path = Layout(WIDE, 3).file(ground)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for i in range(MANY):
            (Path(folder) / f"{i}.dat").hardlink_to(path)
        with Server(Path(folder), keep_log=False) as server:
            holders = (
                ("rangeio", remote.__name__, server.url),
                ("rangeio.open of local files", local.__name__, folder),
                ("tables alone", by_rangeio.__name__, str(path)),
            )
            yield Case(
                f"{MANY:,} V3 segments of {WIDE:,} columns open, over HTTP: memory held together",
                [Contestant(n, _once(way, place)) for n, way, place in holders],
                _same,
                (TOTAL,),
                (Goal("MB", limit=1000.0),),
                rounds=1,
            )


def _read(ground: Ground, columns: int, rows: int, asked: int) -> Case:
    """A local file, opened anew; footers and encodings apart."""
    layouts = (
        ("rangeio", Layout(columns, 3, rows)),
        (EVEN, Layout(columns, 3, rows, encodings="v2")),
        ("V2 with V3's encodings", Layout(columns, 2, rows, encodings="v3")),
        ("V2", Layout(columns, 2, rows)),
    )
    names = _names(columns, asked)
    return Case(
        f"read {asked} of {columns:,} columns, {rows:,} rows, local file",
        [Contestant(name, ours(str(one.file(ground)), names)) for name, one in layouts],
        alike,
        rounds=9,
    )


def _remote(ground: Ground) -> Iterator[Case]:
    """Two columns over S3."""
    with Server(cache(), delay_s=DELAY_S, bytes_per_s=BYTES_PER_S) as server:
        for columns, rows in ((WIDE, 64), (NARROW, 100_000)):
            contestants = []
            for name, version in (("rangeio", 3), ("V2", 2)):
                path = Layout(columns, version, rows).file(ground)
                url = f"s3://{path.relative_to(cache()).as_posix()}"
                read = ours(url, _names(columns, 2), endpoint=server.url)
                contestants.append(Contestant(name, read))
            title = f"read 2 of {columns:,} columns, {rows:,} rows, over S3, 20 ms a request"
            yield Case(title, contestants, alike, watched=server)


def _names(columns: int, asked: int) -> list[str]:
    """All columns, or those at 1/3 and 2/3."""
    chosen = range(columns) if asked == columns else (columns // 3, 2 * columns // 3)
    return [f"col_{i}" for i in chosen]


def _timed(way: Callable[[Tail], object], path: Path) -> Fresh:
    tail = tail_of(path)

    def run() -> object:
        held = [way(tail) for _ in range(TOGETHER)]
        return lambda: told(held[0])  # all of them live until the clock has stopped

    return _always(run)


def _held(way: str, place: str, count: int) -> Fresh:
    """The bytes that an open segment holds, by those of ``count``."""

    def run() -> Weighed:
        return Weighed(None, _weighed(way, place, count) // count)

    return _always(run)


def _once(way: str, place: str) -> Fresh:
    """The bytes that MANY open segments hold together. Weighed in the warm-up, and not again: a
    process of its own needs none, and takes half a minute."""
    found: list[int] = []

    def run() -> Weighed:
        if not found:
            found.append(_weighed(way, place, MANY))
        return Weighed(None, found[0])

    return _always(run)


def _weighed(way: str, place: str, count: int) -> int:
    """The bytes that a process of its own holds for ``count`` open segments."""
    command = [sys.executable, "-m", dorisfiles.__name__, way, str(count), place]
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True)
    held, opened = json.loads(done.stdout)
    if opened != count:
        raise RuntimeError(f"{opened} segments are open, not {count}")
    return int(held)


def _always(run: Callable[[], object]) -> Fresh:
    """Nothing to make before the clock starts."""

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield run

    return fresh


def _same(a: object, b: object) -> bool:
    found = [one() if callable(one) else one for one in (a, b)]
    return bool(found[0] == found[1])
