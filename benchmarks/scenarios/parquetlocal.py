"""A local Parquet file in the page cache: two of many columns, and all of a few."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks import files, parquetfiles
from benchmarks.ground import Ground
from benchmarks.harness import Case, Contestant, Goal
from benchmarks.parquetpeers import alike, polars_file, pyarrow_file, pyarrow_table
from benchmarks.peers import ours

TABLE, FILE = "pyarrow read_table", "pyarrow ParquetFile"
ALMOST = round(1 / 1.05, 3)


class ParquetLocal:
    """Every round opens the file anew, so pays for its footer."""

    name = "parquet_local"
    title = "Parquet, local file"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        yield self._wide(ground, columns=10_000, groups=10, factor=12.0)
        yield self._wide(ground, columns=3_000, groups=1, factor=1.0)
        for rows in (1_000_000, 10_000):
            yield self._narrow(ground, rows)

    @staticmethod
    def _wide(ground: Ground, *, columns: int, groups: int, factor: float) -> Case:
        path = str(parquetfiles.doubles(ground, columns, groups))
        asked = [files.name(columns // 3), files.name(2 * columns // 3)]
        return Case(
            f"2 of {columns:,} columns, {groups} row groups",
            (
                Contestant("rangeio", ours(path, asked)),
                Contestant(TABLE, pyarrow_table(path, asked)),
                Contestant(FILE, pyarrow_file(path, asked)),
                Contestant("polars read_parquet", polars_file(path, asked)),
            ),
            alike,
            goals=(Goal("ms", TABLE, factor), Goal("ms", FILE, factor)),
        )

    @staticmethod
    def _narrow(ground: Ground, rows: int) -> Case:
        write = partial(parquetfiles.narrow, rows=rows)
        path = str(ground.file(f"parquet/narrow-{rows}.parquet", write))
        return Case(
            f"all of 20 columns, {rows:,} rows",
            (
                Contestant("rangeio", ours(path, None)),
                Contestant(TABLE, pyarrow_table(path, None)),
                Contestant(FILE, pyarrow_file(path, None)),
                Contestant("polars read_parquet", polars_file(path, None)),
            ),
            alike,
            goals=(Goal("ms", TABLE, ALMOST),),
            rounds=9,
        )
