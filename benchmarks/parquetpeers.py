"""Other readers of Parquet: each cold, each giving a pyarrow.Table.

What polars keeps for a process, clients and their connections, it keeps from round to round.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce

import fsspec
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import s3fs

from benchmarks.harness import Fresh
from benchmarks.peers import Conditions, fsspec_options, object_store_options

_COMPARED = {"==": operator.eq, "<": operator.lt, ">=": operator.ge}


def alike(a: object, b: object) -> bool:
    """Two tables of the same names and values, where each reader has its own spelling of a type:
    polars gives ``large_string`` for ``string``."""
    assert isinstance(a, pa.Table)
    assert isinstance(b, pa.Table)
    if a.column_names != b.column_names:
        return False
    schema = a.schema.remove_metadata()
    return bool(a.cast(schema).equals(b.cast(schema)))


def _always(read: Callable[[], object]) -> Fresh:
    """Nothing to make before the clock starts."""

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield read

    return fresh


# ---- local files ------------------------------------------------------------------------------


def pyarrow_table(path: str, columns: Sequence[str] | None) -> Fresh:
    """pyarrow.parquet.read_table."""
    return _always(lambda: pq.read_table(path, columns=columns))


def pyarrow_file(path: str, columns: Sequence[str] | None) -> Fresh:
    """A ParquetFile, read whole."""

    def read() -> pa.Table:
        with pq.ParquetFile(path) as file:
            return file.read(columns)

    return _always(read)


def polars_file(path: str, columns: Sequence[str] | None) -> Fresh:
    """polars.read_parquet."""
    asked = None if columns is None else list(columns)
    return _always(lambda: pl.read_parquet(path, columns=asked).to_arrow())


# ---- over HTTP and S3 -------------------------------------------------------------------------


def polars_scan(
    url: str,
    columns: Sequence[str],
    endpoint: str = "",
    rows: slice | None = None,
    filters: Conditions = (),
) -> Fresh:
    """polars.scan_parquet."""
    options = object_store_options(endpoint) if endpoint else None

    def read() -> pa.Table:
        frame = pl.scan_parquet(url, storage_options=options)
        if filters:
            terms = [_COMPARED[sign](pl.col(name), value) for name, sign, value in filters]
            frame = frame.filter(*terms)
        frame = frame.select(list(columns))
        if rows is not None:
            frame = frame.slice(rows.start, rows.stop - rows.start)
        return frame.collect().to_arrow()

    return _always(read)


def pyarrow_file_over_fsspec(
    url: str, columns: Sequence[str], endpoint: str = "", cached: bool = True
) -> Fresh:
    """A ParquetFile over an fsspec file, with fsspec's own cache as it comes or without."""

    def read() -> pa.Table:
        with (
            fsspec_of(endpoint).open(url, cache_type=None if cached else "none") as raw,
            pq.ParquetFile(raw) as file,
        ):
            return file.read(list(columns))

    return _always(read)


def pyarrow_table_over_fsspec(url: str, columns: Sequence[str], endpoint: str = "") -> Fresh:
    """pyarrow.parquet.read_table with an fsspec filesystem."""
    key = url.removeprefix("s3://")
    return _always(
        lambda: pq.read_table(key, columns=list(columns), filesystem=fsspec_of(endpoint))
    )


def pyarrow_dataset(
    url: str, columns: Sequence[str], rows: slice | None = None, filters: Conditions = ()
) -> Fresh:
    """pyarrow.dataset with fsspec's http filesystem: rows by ``take``."""

    def read() -> pa.Table:
        data = ds.dataset(url, filesystem=fsspec_of(""), format="parquet")
        if rows is not None:
            numbers = pa.array(range(rows.start, rows.stop))
            return data.take(numbers, columns=list(columns))
        where = [_COMPARED[sign](ds.field(name), value) for name, sign, value in filters]
        return data.to_table(columns=list(columns), filter=reduce(operator.and_, where))

    return _always(read)


def fsspec_of(endpoint: str) -> fsspec.AbstractFileSystem:
    """A new filesystem: S3 where there is an endpoint, else HTTP."""
    if endpoint:
        return s3fs.S3FileSystem(**fsspec_options(endpoint), skip_instance_cache=True)
    return fsspec.filesystem("http", skip_instance_cache=True)
