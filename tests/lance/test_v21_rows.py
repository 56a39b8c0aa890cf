"""Every column of the corpus in 2.1 and 2.2 equals what pylance's own reader makes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from corpus import DATA, Corpus, expected, params, same

from rangeio.errors import Unsupported
from rangeio.formats.lance.format import Lance
from rangeio.plan import Rows
from rangeio.ranges import CostModel
from rangeio.testing.formats import COST, InMemory

NEW = ("2.1", "2.2")
NEAR = CostModel(latency_s=0.0, bytes_per_s=1e9)
"""A store without latency: whatever is read in part is read exactly."""


def memory(path: Path, cost: CostModel = COST) -> InMemory:
    return InMemory(Lance(), path.read_bytes(), cost=cost)


@pytest.mark.parametrize(("name", "version", "rows"), params(versions=NEW))
def test_all_rows(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    same(memory(path).read(), expected(path))


def slices(rows: int) -> list[slice]:
    """Around the ends of the page and of its first chunks, whatever their size."""
    cuts = [(0, 1), (rows // 3, rows // 3 + 100), (rows - 1, rows), (1, rows - 1), (7, 9)]
    cuts += [(k - 1, k + 1) for k in (256, 512, 1024)] + [(512, 1024), (1000, rows)]
    return [slice(a, b) for a, b in cuts if 0 <= a < b <= rows]


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1025,), versions=NEW))
def test_slices(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    for cut in slices(rows):
        wanted = expected(path, rows=cut)
        for cost in (NEAR, COST):
            same(memory(path, cost).read(rows=Rows.span(cut.start, cut.stop)), wanted)


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1025, 20_000), versions=NEW))
def test_row_lists(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    rng = np.random.default_rng(rows)
    every = expected(path)
    for count in (1, 3, rows // 300, rows // 7, rows // 2):
        chosen = np.sort(rng.choice(rows, min(count, rows), replace=False))
        wanted = every.take(pa.array(chosen))
        for cost in (NEAR, COST):
            same(memory(path, cost).read(rows=Rows.of(chosen)), wanted)


@pytest.mark.parametrize("name", ["string_words_null", "list_i32_null", "fsl768_null", "map_null"])
def test_row_lists_as_the_peer_takes_them(corpus: Corpus, name: str) -> None:
    path = corpus.path(name, "2.2", 200)
    chosen = [0, 1, 2, 77, 78, 150, 199]
    same(memory(path, NEAR).read(rows=Rows.of(np.array(chosen))), expected(path, rows=chosen))


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1023,), versions=NEW))
def test_no_rows(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    same(memory(path).read(rows=Rows([], [])), expected(path).slice(0, 0))


def gathered() -> list[Path]:
    return sorted((DATA / "gen").glob("*.lance")) if DATA.exists() else []


@pytest.mark.skipif(not gathered(), reason="the sample files are not here")
@pytest.mark.parametrize("path", gathered(), ids=lambda p: p.stem)
def test_sample_files_read_or_are_refused_by_name(path: Path) -> None:
    if path.stem.endswith("2.3"):
        with pytest.raises(Unsupported, match=r"2\.3"):
            memory(path).read()
    else:
        same(memory(path).read(), expected(path))
