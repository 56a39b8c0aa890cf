"""Some rows of a Parquet file with a page index, over HTTP: by number, and by filter."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import parquetfiles
from benchmarks.ground import Ground, cache
from benchmarks.harness import Case, Contestant
from benchmarks.parquetpeers import alike, polars_scan, pyarrow_dataset
from benchmarks.peers import Conditions, ours
from benchmarks.scenarios.parquetremote import BYTES_PER_S, DELAY_S
from benchmarks.servers import Server

ROWS = 1_000_000
ASKED = ("id", "price", "mail")
FIRST = 612_345
SOME = slice(FIRST, FIRST + 100)


class ParquetRows:
    """1,000,000 rows in four row groups; no goals, the figures are for information."""

    name = "parquet_rows"
    title = "Some rows of 3 of 20 Parquet columns over HTTP, 20 ms a request, 100 MB/s a connection"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        key = f"parquet/indexed-{ROWS}.parquet"
        ground.file(key, partial(parquetfiles.indexed, rows=ROWS))
        near = (("id", ">=", FIRST), ("id", "<", FIRST + 100))
        rare = (("user", "<", 1 << 23),)
        with Server(cache(), delay_s=DELAY_S, bytes_per_s=BYTES_PER_S) as server:
            yield self._case(server, key, "100 rows by number", SOME, ())
            yield self._case(server, key, "100 rows by a filter on an ascending column", None, near)
            yield self._case(server, key, "few rows by a filter on a random column", None, rare)

    @staticmethod
    def _case(server: Server, key: str, name: str, rows: slice | None, filters: Conditions) -> Case:
        url = f"{server.url}/{key}"
        return Case(
            name,
            (
                Contestant("rangeio", ours(url, ASKED, rows, filters=filters or None)),
                Contestant("pyarrow.dataset", pyarrow_dataset(url, ASKED, rows, filters)),
                Contestant("polars", polars_scan(url, ASKED, "", rows, filters)),
            ),
            alike,
            rounds=5,
            watched=server,
        )
