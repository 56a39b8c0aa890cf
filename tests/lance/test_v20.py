from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpus import Corpus, expected, params, same

from rangeio.formats.lance.format import Lance
from rangeio.plan import Rows
from rangeio.testing.formats import InMemory

OLD = ("2.0",)


def memory(path: Path) -> InMemory:
    return InMemory(Lance(), path.read_bytes())


@pytest.mark.parametrize(("name", "version", "rows"), params(versions=OLD))
def test_all_rows(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    same(memory(path).read(), expected(path))


@pytest.mark.parametrize(
    "name",
    ["f64_null", "string_unique_null", "list_string_null", "list_struct", "fsl4_f32_null_both"],
)
def test_100k_rows(corpus: Corpus, name: str) -> None:
    path = corpus.path(name, "2.0", 100_000)
    same(memory(path).read(), expected(path))
    rows = np.arange(3, 100_000, 1017)
    same(memory(path).read(rows=Rows.of(rows)), expected(path, rows=rows.tolist()))


def slices(rows: int) -> list[slice]:
    cuts = [(0, 1), (rows // 3, rows // 3 + 100), (rows - 1, rows), (1, rows - 1), (7, 8), (5, 13)]
    return [slice(a, b) for a, b in cuts if 0 <= a < b <= rows]


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1025,), versions=OLD))
def test_slices(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    for cut in slices(rows):
        same(memory(path).read(rows=Rows.span(cut.start, cut.stop)), expected(path, rows=cut))


@pytest.mark.parametrize(("name", "version", "rows"), params(rows=(1025,), versions=OLD))
def test_row_lists(corpus: Corpus, name: str, version: str, rows: int) -> None:
    path = corpus.path(name, version, rows)
    rng = np.random.default_rng(rows)
    for count in (2, 3, rows // 7, rows // 2):
        wanted = np.sort(rng.choice(rows, count, replace=False))
        same(memory(path).read(rows=Rows.of(wanted)), expected(path, rows=wanted.tolist()))
