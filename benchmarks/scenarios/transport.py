"""The cost of a GET, small and large, against a local server in another process."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import files, peers
from benchmarks.ground import Ground, cache
from benchmarks.harness import (
    MILLISECONDS,
    Case,
    Contestant,
    Goal,
    cpu_us,
    gb_per_s,
    gets_per_s,
)
from benchmarks.servers import Server

BUCKET = "transport"
SIZE = 1 << 30
SMALL, LARGE = 16 << 10, 8 << 20
SMALL_IN_FLIGHT, LARGE_IN_FLIGHT = 32, 8
GETS = 2_000


class Transport:
    """16 KiB GETs, 32 in flight, in CPU a GET; 8 MiB GETs, 8 in flight, in bytes a second."""

    name = "transport"
    title = "Ranged GETs from a local server without delay"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        # The first ranges open the connections: they lie beyond those that are timed.
        size = SIZE + LARGE * LARGE_IN_FLIGHT
        key = f"noise-{size}.bin"
        ground.file(f"{BUCKET}/{key}", partial(files.noise, size=size))
        with Server(cache(), keep_log=False) as server:
            yield self._small(server.url, key, size)
            yield self._large(server.url, key, size)

    @staticmethod
    def _small(url: str, key: str, size: int) -> Case:
        """Ranges too far apart to be worth merging."""
        count = GETS + SMALL_IN_FLIGHT
        step = size // count
        parts = [(i * step, i * step + SMALL) for i in range(count)]
        args = (url, BUCKET, key, parts, SMALL_IN_FLIGHT)
        return Case(
            f"{GETS:,} GETs of 16 KiB, {SMALL_IN_FLIGHT} in flight",
            (
                Contestant("rangeio", peers.our_fetch(*args)),
                Contestant("rangeio, one by one", peers.ours_in_flight(*args)),
                Contestant("obstore", peers.over_obstore(*args)),
                Contestant("s3fs", peers.over_s3fs(*args)),
                Contestant("bare aiohttp", peers.bare_aiohttp(*args)),
            ),
            lambda a, b: a == b,
            (cpu_us(GETS), gets_per_s(GETS)),
            (Goal("CPU us/GET", limit=200.0), Goal("GET/s", "obstore", 0.9)),
            rounds=5,
        )

    @staticmethod
    def _large(url: str, key: str, size: int) -> Case:
        starts = [*range(SIZE, size, LARGE), *range(0, SIZE, LARGE)]
        args = (url, BUCKET, key, [(a, a + LARGE) for a in starts], LARGE_IN_FLIGHT)
        return Case(
            f"1 GiB in ranges of 8 MiB, {LARGE_IN_FLIGHT} in flight",
            (
                Contestant("rangeio", peers.ours_in_flight(*args)),
                Contestant("rangeio.fetch", peers.our_fetches(*args)),
                Contestant("obstore", peers.over_obstore(*args)),
                Contestant("bare aiohttp", peers.bare_aiohttp(*args)),
            ),
            lambda a, b: a == b,
            (gb_per_s(SIZE), cpu_us(SIZE // LARGE), MILLISECONDS),
            (Goal("GB/s", "obstore", 2.0), Goal("GB/s", "bare aiohttp", 0.8)),
            rounds=3,
        )
