"""Parquet files by polars, duckdb, arrow-rs and fastparquet, each made when it is asked for."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from parquet_columns import table

Maker = Callable[[], bytes]

ROWS = 450
PEER_FLAT = ["int8", "int32", "uint64", "float", "double", "bool", "string", "binary", "date32"]
PEER_FLAT += ["stamp_us_utc", "time_ns", "duration_us", "decimal128_small", "category", "null"]
DUCKDB_LACKS = ("null", "duration_us", "fixed_list")
PEER_NESTED = ["struct", "list_string", "list_struct", "struct_list", "fixed_list"]


def by_polars(content: pa.Table, **options: Any) -> bytes:
    """What polars writes of a table."""
    sink = io.BytesIO()
    frame = pl.from_arrow(content)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(sink, **options)
    return sink.getvalue()


def _polars() -> dict[str, Maker]:
    codecs = ("uncompressed", "snappy", "gzip", "brotli", "lz4", "zstd")
    content = cache(lambda: table([*PEER_FLAT, *PEER_NESTED], ROWS))
    cases: dict[str, Maker] = {
        f"codec-{codec}": lambda codec=codec: by_polars(content(), compression=codec)  # type: ignore[misc]
        for codec in codecs
    }
    cases["small_pages"] = lambda: by_polars(content(), data_page_size=500, row_group_size=200)
    cases["no_statistics"] = lambda: by_polars(content(), statistics=False)
    cases["full_statistics"] = lambda: by_polars(content(), statistics="full", row_group_size=99)
    cases["no_rows"] = lambda: by_polars(content().slice(0, 0))
    return cases


def by_duckdb(content: pa.Table, options: str) -> bytes:
    """What duckdb writes of a table by ``COPY ... TO`` with these options."""
    with TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "f.parquet"
        connection.register("content", content)
        connection.execute(f"COPY content TO '{path}' (FORMAT parquet, {options})")
        return path.read_bytes()


def _duckdb() -> dict[str, Maker]:
    names = [n for n in [*PEER_FLAT, *PEER_NESTED, "map", "uint16"] if n not in DUCKDB_LACKS]
    content = cache(lambda: table(names, 2100))
    codecs = ("uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw")
    cases: dict[str, Maker] = {}
    for codec in codecs:
        words = f"CODEC {codec}, ROW_GROUP_SIZE 2048"
        cases[f"codec-{codec}"] = lambda words=words: by_duckdb(content(), words)  # type: ignore[misc]
    plain = "PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1"
    # The whole range of int32 in deltas is what pyarrow cannot read of duckdb's.
    narrow = [n for n in names if n not in ("int32", *PEER_NESTED, "map")]
    cases["version_2"] = lambda: by_duckdb(content().select([*narrow, "list_string"]), plain)
    cases["version_2_wide_deltas"] = lambda: by_duckdb(content(), plain)
    cases["null_arrays"] = lambda: by_duckdb(table(["fixed_list", "int8"], 500), "CODEC zstd")
    cases["version_1"] = lambda: by_duckdb(content(), "PARQUET_VERSION V1")
    cases["no_rows"] = lambda: by_duckdb(content().slice(0, 0), "CODEC zstd")
    cases["field_ids"] = lambda: by_duckdb(
        content().select(["int32", "string"]), "FIELD_IDS {int32: 7, string: 8}"
    )
    return cases


def by_fastparquet(content: pa.Table, **options: Any) -> bytes:
    """What fastparquet writes of a table, through pandas; skips where it is not installed."""
    fastparquet = pytest.importorskip("fastparquet")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "f.parquet"
        fastparquet.write(str(path), content.to_pandas(), **options)
        return path.read_bytes()


def _fastparquet() -> dict[str, Maker]:
    names = ["int8", "int64_low", "uint16", "float", "double", "string", "binary", "category"]
    content = cache(lambda: _for_pandas(table(names, ROWS)))
    cases: dict[str, Maker] = {
        f"codec-{codec}": lambda codec=codec: by_fastparquet(content(), compression=codec)  # type: ignore[misc]
        for codec in ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4", "LZ4_RAW")
    }
    cases["row_groups"] = lambda: by_fastparquet(content(), row_group_offsets=[0, 100, 250])
    cases["no_nulls"] = lambda: by_fastparquet(content().drop_null(), has_nulls=False)
    cases["int96"] = lambda: by_fastparquet(content(), times="int96")
    cases["no_statistics"] = lambda: by_fastparquet(content(), stats=False)
    return cases


def by_arrow_rs(content: pa.Table, **options: Any) -> bytes:
    """What arrow-rs writes of a table, through arro3; skips where it is not installed."""
    arro3 = pytest.importorskip("arro3.io")
    sink = io.BytesIO()
    arro3.write_parquet(content, sink, **options)
    return sink.getvalue()


def _arrow_rs() -> dict[str, Maker]:
    names = [*PEER_FLAT, *PEER_NESTED, "map", "string_view", "stamp_ns_paris"]
    content = cache(lambda: table(names, ROWS))
    codecs = ("uncompressed", "snappy", "gzip(6)", "zstd(3)", "brotli(1)", "lz4", "lz4_raw")
    cases: dict[str, Maker] = {
        f"codec-{codec}": lambda codec=codec: by_arrow_rs(content(), compression=codec)  # type: ignore[misc]
        for codec in codecs
    }
    small = {"max_row_group_size": 170, "data_page_row_count_limit": 21, "write_batch_size": 7}
    cases["small_pages"] = lambda: by_arrow_rs(content(), bloom_filter_enabled=True, **small)
    cases["version_2"] = lambda: by_arrow_rs(content(), writer_version="parquet_2_0")
    cases["views"] = lambda: by_arrow_rs(table(["struct_views", "binary_view", "deep"], ROWS))
    cases["no_arrow_schema"] = lambda: by_arrow_rs(content(), skip_arrow_metadata=True)
    return cases


def _for_pandas(content: pa.Table) -> pa.Table:
    """With a time that pandas has, and integers that it keeps whole."""
    stamps = pa.array(np.arange(content.num_rows) * 10**9, pa.timestamp("ns"))
    whole = [column.fill_null(1) if pa.types.is_integer(column.type) else column
             for column in content.columns]  # fmt: skip
    return pa.table([*whole, stamps], names=[*content.column_names, "stamp"])


PEERS: dict[str, dict[str, Maker]] = {
    "polars": _polars(),
    "duckdb": _duckdb(),
    "arrow_rs": _arrow_rs(),
    "fastparquet": _fastparquet(),
}
