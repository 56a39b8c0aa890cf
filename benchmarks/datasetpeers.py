"""Readers of many Parquet files: each gives a pyarrow.Table; the first read of a dataset, or the
second of one that was read outside the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

from benchmarks.harness import Fresh
from benchmarks.parquetpeers import fsspec_of
from benchmarks.peers import fsspec_options, object_store_options


def ours(urls: Sequence[str], columns: Sequence[str], endpoint: str, *, again: bool) -> Fresh:
    """rangeio.dataset, in a new Session."""
    import rangeio

    options = fsspec_options(endpoint) if endpoint else None

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        with rangeio.Session() as session:

            def read() -> pa.Table:
                data = rangeio.dataset(list(urls), storage_options=options, session=session)
                return data.read(list(columns))

            if not again:
                yield read
                return
            known = rangeio.dataset(list(urls), storage_options=options, session=session)
            known.read(list(columns))
            before = len(known.trace)
            yield lambda: known.read(list(columns))
            made = [get for get in list(known.trace)[before:] if not (get.cached or get.joined)]
            assert all(get.why == "parquet.data" for get in made), "metadata was fetched again"

    return fresh


def polars(urls: Sequence[str], columns: Sequence[str], endpoint: str, *, again: bool) -> Fresh:
    """polars.scan_parquet of a list; again: the same LazyFrame, collected once before."""
    options = object_store_options(endpoint) if endpoint else None

    def frame() -> pl.LazyFrame:
        return pl.scan_parquet(list(urls), storage_options=options)

    def collected(lazy: pl.LazyFrame) -> pa.Table:
        return lazy.select(list(columns)).collect().to_arrow()

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        if not again:
            yield lambda: collected(frame())
            return
        lazy = frame()
        collected(lazy)
        yield lambda: collected(lazy)

    return fresh


def pyarrow(urls: Sequence[str], columns: Sequence[str], endpoint: str, *, again: bool) -> Fresh:
    """pyarrow.dataset of a list, over an fsspec filesystem; again: the same Dataset object."""
    keys = [url.removeprefix("s3://") for url in urls]

    def made() -> ds.Dataset:
        return ds.dataset(keys, filesystem=fsspec_of(endpoint), format="parquet")

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        if not again:
            yield lambda: made().to_table(columns=list(columns))
            return
        known = made()
        known.to_table(columns=list(columns))
        yield lambda: known.to_table(columns=list(columns))

    return fresh
