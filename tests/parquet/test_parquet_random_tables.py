"""Random tables, written by pyarrow in random layouts and read in random ways.

``RANGEIO_FUZZ=full`` runs many more seeds. A seed alone makes its file again: ``drawn(seed)``.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from corpus_files import VIEWS, arrow
from parquet_columns import COLUMNS, table
from parquet_peer import Peer, same
from parquet_ways import cut

import rangeio
from rangeio.errors import FormatError
from rangeio.transport.profile import PROFILES

SEEDS = range(3000 if os.environ.get("RANGEIO_FUZZ") == "full" else 24)
NAMES = [name for name in COLUMNS if name not in (*VIEWS, "deep")]
"""What pyarrow writes in several row groups and reads of several."""


def drawn(seed: int) -> tuple[bytes, pa.Table | None]:
    """The file of a seed, and what pyarrow reads of it; None where it wrote what it cannot read:
    it loses rows of lists whose pages are cut after a byte."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(NAMES)[: rng.integers(1, 6)].tolist()
    rows = int(rng.choice([1, 2, 50, 300, 2000, 6000]))
    data = arrow(table(names, rows, seed), **layout(rng, rows))
    return data, Peer(data).read()


def layout(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Options of pyarrow's writer: row groups, pages of few rows or bytes, indexes, codecs."""
    options: dict[str, Any] = {
        "row_group_size": int(rng.integers(max(rows // 6, 1), rows + 2)),
        "data_page_size": int(rng.choice([1, 100, 1000, 1 << 20])),
        "write_batch_size": int(rng.choice([1, 7, 64, 1024])),
        "max_rows_per_page": int(rng.choice([1, 5, 33, 1000, 20_000])),
        "use_dictionary": bool(rng.integers(2)),
        "dictionary_pagesize_limit": int(rng.choice([10, 300, 1 << 20])),
        "data_page_version": str(rng.choice(["1.0", "2.0"])),
        "compression": str(rng.choice(["none", "snappy", "zstd", "lz4", "gzip", "brotli"])),
        "write_page_index": bool(rng.random() < 0.75),
        "write_page_checksum": bool(rng.integers(2)),
        "write_statistics": bool(rng.integers(2)),
        "store_decimal_as_integer": bool(rng.integers(2)),
        "use_content_defined_chunking": bool(rng.random() < 0.15),
    }
    if rows > 300:  # a page a row, of thousands of rows, takes long to write and read
        options["write_batch_size"] = max(options["write_batch_size"], 64)
        options["max_rows_per_page"] = max(options["max_rows_per_page"], 33)
        options["data_page_size"] = max(options["data_page_size"], 1000)
    return options


def sessions() -> Iterator[rangeio.Session]:
    """Stores of several costs, and buffers and caches too small to hold what is read."""
    far = dataclasses.replace(PROFILES["s3"], tail=100, few_bytes=True, small_file=0)
    hops = dataclasses.replace(PROFILES["s3"], tail=1024, few_bytes=False, small_file=0)
    yield rangeio.Session()
    yield rangeio.Session(profile=far)
    yield rangeio.Session(profile=hops, max_buffer=1 << 14, memory_cache=0)
    yield rangeio.Session(profile=far, memory_cache=1 << 14, column_cache=1 << 12)


def some_rows(rng: np.random.Generator, rows: int) -> Iterator[slice | list[int]]:
    """Slices and row lists: short, long, in order and not, with duplicates."""
    for _ in range(2):
        start, stop = np.sort(rng.integers(0, rows + 1, 2)).tolist()
        yield slice(start, min(stop, start + int(rng.choice([1, 50, rows + 1]))))
    for most in (3, 200):
        picks = rng.integers(0, rows, rng.integers(1, most + 1))
        yield picks.tolist() if rng.random() < 0.5 else np.unique(picks).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_table(seed: int) -> None:
    data, wanted = drawn(seed)
    rng = np.random.default_rng([seed, 1])
    if wanted is None:
        with rangeio.open(data) as file, pytest.raises(FormatError):
            file.read()
        return
    for at, session in enumerate(sessions()):
        if at and rng.random() < 0.5:
            continue
        with session, rangeio.open(data, session=session) as file:
            names = rng.permutation(wanted.column_names)[: rng.integers(1, 4)].tolist()
            for rows in some_rows(rng, wanted.num_rows):
                told = f"session {at}, {names}, rows {rows}"
                same(file.read(names, rows=rows), cut(wanted.select(names), rows), told)
                size = int(rng.choice([3, 100, 65_536])) if wanted.num_rows < 900 else 1777
                scanned = file.scan(names, rows=rows, batch_rows=size).read_all()
                same(scanned, cut(wanted.select(names), rows), f"scan, {told}")
            same(file.read(), wanted, f"session {at}")
            assert file.trace.unplanned == 0
