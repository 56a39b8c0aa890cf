"""The sums of two columns of wide Parquet files, by Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import sparkpeers as peers
from benchmarks.ground import Ground, cache
from benchmarks.harness import OURS, Case, Contestant, Goal
from benchmarks.parquetfiles import even_names
from benchmarks.servers import Server

FILES, COLUMNS, ROWS = 20, 3000, 500
DELAY_S = 0.02
PARQUET = "spark.read.parquet"
GIVEN = "spark.read.parquet, schema given"
SELECT = "rangeio, load + select"
TOLD = "rangeio, schema given"


class Spark:
    """Needs pyspark and Java; for s3a also hadoop-aws, see sparkpeers.HADOOP_AWS."""

    name = "spark"
    title = f"Spark: the sums of two of {COLUMNS:,} columns of {FILES} Parquet files"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        if missing := peers.lacking():
            print(f"not run: {missing}")
            return
        try:
            yield from self._local(ground)
            if peers.s3a_jars():
                yield from self._s3a(ground)
            else:
                print(f"s3a is not run: {peers.HADOOP_AWS} names no folder of its jars")
        finally:
            peers.drop_links()

    def _local(self, ground: Ground) -> Iterator[Case]:
        with peers.session() as spark:
            for groups, factor in ((10, 4.0), (1, 1.0)):
                files = _files(ground, groups)
                queries = (peers.by_columns({}), peers.by_select({}), peers.by_schema({}))
                known = peers.links(files)()
                yield _case(
                    spark, f"file://, {groups} row groups, new", peers.links(files), queries, factor
                )
                yield _case(
                    spark,
                    f"file://, {groups} row groups, again",
                    lambda k=known: k,
                    queries,
                    factor,
                )

    def _s3a(self, ground: Ground) -> Iterator[Case]:
        with (
            Server(cache(), delay_s=DELAY_S, keep_log=False) as server,
            peers.session(server.url) as spark,
        ):
            keys = {"key": "key", "secret": "secret", "endpoint_url": server.url}
            texts = {f"storage.{name}": word for name, word in keys.items()}
            queries = peers.by_columns(dict(keys)), peers.by_select(texts), peers.by_schema(texts)
            for groups in (10, 1):
                (folder,) = {one.parent for one in _files(ground, groups)}
                paths = [f"s3a://{folder.relative_to(cache()).as_posix()}"]
                yield _case(
                    spark, f"s3a, 20 ms, {groups} row groups", lambda p=paths: p, queries, 1.0
                )


def _case(
    spark: Any,
    name: str,
    paths: Callable[[], Sequence[str]],
    ours: Sequence[peers.Query],
    factor: float,
) -> Case:
    asked = [even_names(COLUMNS)[COLUMNS // 3], even_names(COLUMNS)[2 * COLUMNS // 3]]
    queries = dict(zip((OURS, SELECT, TOLD), ours, strict=True))
    queries |= {PARQUET: peers.parquet, GIVEN: peers.parquet_given}
    return Case(
        name,
        [Contestant(n, peers.sums(spark, query, paths, asked)) for n, query in queries.items()],
        lambda one, other: one == other,
        goals=[Goal("ms", PARQUET, factor)],
        rounds=9,
    )


def _files(ground: Ground, groups: int) -> list[Path]:
    return [
        ground.file(f"spark/{groups}/{i:02}.parquet", partial(_write, seed=i, groups=groups))
        for i in range(FILES)
    ]


def _write(path: Path, *, seed: int, groups: int) -> None:
    values = np.random.default_rng(seed).random((COLUMNS, ROWS))
    table = pa.table(list(map(pa.array, values)), names=even_names(COLUMNS))
    pq.write_table(table, path, row_group_size=ROWS // groups)
