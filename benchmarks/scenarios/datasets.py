"""Two columns of many wide Parquet files over HTTP and S3, 20 ms before every answer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks import datasetpeers as peers
from benchmarks.ground import Ground, cache
from benchmarks.harness import Case, Contestant, Goal
from benchmarks.parquetfiles import DOUBLES, even_names, wide
from benchmarks.parquetpeers import alike
from benchmarks.servers import Server

DELAY_S = 0.02
COLUMNS = 3000
FEW, ALL = 100, 1000
KINDS = 4
"""Files of different bytes; the others are links to them."""

POLARS = "polars scan_parquet"
PYARROW = "pyarrow.dataset, fsspec"


class Datasets:
    """``--full``: 1,000 files, for which pyarrow takes a minute a round."""

    name = "datasets"
    title = f"Two of {COLUMNS:,} columns of many Parquet files, 20 ms a request"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        count = ALL if ground.full else FEW
        paths = _files(ground, count)
        with Server(cache(), delay_s=DELAY_S) as server:
            keys = [path.relative_to(cache()).as_posix() for path in paths]
            for again in (False, True):
                http = [f"{server.url}/{key}" for key in keys]
                yield self._case("HTTP", http, "", again=again)
                yield self._case("S3", [f"s3://{key}" for key in keys], server.url, again=again)

    @staticmethod
    def _case(store: str, urls: list[str], endpoint: str, *, again: bool) -> Case:
        asked = [even_names(COLUMNS)[COLUMNS // 3], even_names(COLUMNS)[2 * COLUMNS // 3]]
        made = [
            Contestant(name, make(urls, asked, endpoint, again=again))
            for name, make in (
                ("rangeio", peers.ours),
                (POLARS, peers.polars),
                (PYARROW, peers.pyarrow),
            )
        ]
        factors = {POLARS: 8.0, PYARROW: 8.0} if again else {POLARS: 1.0, PYARROW: 3.0}
        return Case(
            f"{len(urls):,} files over {store}, {'a second scan' if again else 'the first scan'}",
            made,
            alike,
            goals=[Goal("ms", peer, factor) for peer, factor in factors.items()],
            rounds=3,
        )


def _files(ground: Ground, count: int) -> list[Path]:
    names = even_names(COLUMNS)
    made = [
        ground.file(
            f"parquet/many-{COLUMNS}-{i}.parquet",
            partial(wide, names=names, groups=1 + i % 2, kinds=DOUBLES),
        )
        for i in range(KINDS)
    ]
    found = []
    for i in range(count):
        path = cache() / "many" / f"{i:05}.parquet"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.hardlink_to(made[i % KINDS])
        found.append(path)
    return found
