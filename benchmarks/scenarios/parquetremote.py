"""Two columns of a wide Parquet file over HTTP and S3, 20 ms before every answer."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import files
from benchmarks.ground import Ground, cache
from benchmarks.harness import Bound, Case, Contestant, Goal
from benchmarks.parquetfiles import doubles
from benchmarks.parquetpeers import (
    alike,
    polars_scan,
    pyarrow_file_over_fsspec,
    pyarrow_table_over_fsspec,
)
from benchmarks.peers import ours
from benchmarks.servers import Server

DELAY_S = 0.02
BYTES_PER_S = 100e6
COLUMNS, GROUPS = 10_000, 10
POLARS = "polars scan_parquet"
FILE = "pyarrow ParquetFile, fsspec"
UNCACHED = "pyarrow ParquetFile, fsspec without cache"
TABLE = "pyarrow read_table, fsspec"
GOALS = (
    Bound("at most 3 hops in every round", lambda counts: counts.hops <= 3),
    Bound("no byte twice in any round", lambda counts: counts.twice == 0),
    Goal("ms", POLARS),
    Goal("ms", FILE, 5.0),
    Goal("ms", UNCACHED, 5.0),
    Goal("ms", TABLE, 5.0),
)


class ParquetRemote:
    """Cold: the footer of 13 MB is part of every round."""

    name = "parquet_remote"
    title = "Two columns of a wide Parquet file, 20 ms a request and 100 MB/s a connection"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        path = doubles(ground, COLUMNS, GROUPS)
        key = path.relative_to(cache()).as_posix()
        with Server(cache(), delay_s=DELAY_S, bytes_per_s=BYTES_PER_S) as server:
            yield self._case(server, "HTTP", f"{server.url}/{key}", "")
            yield self._case(server, "S3", f"s3://{key}", server.url)

    @staticmethod
    def _case(server: Server, store: str, url: str, endpoint: str) -> Case:
        asked = [files.name(COLUMNS // 3), files.name(2 * COLUMNS // 3)]
        uncached = pyarrow_file_over_fsspec(url, asked, endpoint, cached=False)
        return Case(
            f"2 of {COLUMNS:,} columns, {GROUPS} row groups, over {store}",
            (
                Contestant("rangeio", ours(url, asked, endpoint=endpoint)),
                Contestant(POLARS, polars_scan(url, asked, endpoint)),
                Contestant(FILE, pyarrow_file_over_fsspec(url, asked, endpoint)),
                Contestant(UNCACHED, uncached),
                Contestant(TABLE, pyarrow_table_over_fsspec(url, asked, endpoint)),
            ),
            alike,
            goals=GOALS,
            watched=server,
        )
