"""What the benchmarks' contestants for Parquet find is the same, and told as it is."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import footprint, locators, parquetfiles
from benchmarks.parquetpeers import alike

SHAPES = {
    "double": (parquetfiles.even_names(90), parquetfiles.DOUBLES),
    "string": (parquetfiles.even_names(90), parquetfiles.STRINGS),
    "mixed": (parquetfiles.odd_names(90), parquetfiles.MIXED),
    "nested": (parquetfiles.odd_names(90), parquetfiles.NESTED),
}


@pytest.fixture(params=SHAPES)
def wide(request, tmp_path):
    names, kinds = SHAPES[request.param]
    path = tmp_path / "wide.parquet"
    parquetfiles.wide(path, names=names, groups=3, kinds=kinds)
    return path, names


def test_files_are_as_told(wide):
    path, names = wide
    found = pq.read_metadata(path)
    assert found.schema.to_arrow_schema().names == names
    assert [found.row_group(g).num_rows for g in range(found.num_row_groups)] == [8, 8, 8]
    assert len(locators.footer(path)) == found.serialized_size


@pytest.mark.parametrize("name", ["by_rangeio", "by_plain_scan", "by_arro3"])
def test_locators_agree_with_pyarrow(wide, name):
    path, names = wide
    asked = [names[30], names[60], *(name for name in names if _leaves(path, name) > 1)][:3]
    theirs = locators.by_pyarrow(path, asked)()()
    told = locators.LOCATORS[name](path, asked)()()
    assert locators.agree(told, theirs)
    assert all(len(chunks) == 3 * _leaves(path, one) for one, chunks in theirs.items())
    if name != "by_arro3":
        assert told == theirs


def _leaves(path: Path, name: str) -> int:
    schema = pq.read_metadata(path).schema
    return sum(schema.column(i).path.split(".")[0] == name for i in range(len(schema)))


def test_other_places_do_not_agree():
    told = {"a": [(8, 90, 4)], "b": None}
    assert locators.agree(told, {"a": [(8, 90, 4)], "b": [(1, 1, 1)]})
    assert not locators.agree(told, {"a": [(8, 90, 5)], "b": None})
    assert not locators.agree(told, {"a": [(8, 90, 4)]})


@pytest.mark.skipif(not footprint.KNOWN, reason="this system does not tell a process' memory")
def test_a_footprint_is_that_of_the_work(tmp_path):
    peaks = {}
    for columns in (100, 2_000):
        names = parquetfiles.even_names(columns)
        path = tmp_path / f"{columns}.parquet"
        parquetfiles.wide(path, names=names, groups=4, kinds=parquetfiles.DOUBLES)
        words = [sys.executable, "-m", "benchmarks.footprint", "by_pyarrow"]
        words += [str(tmp_path / "100.parquet"), names[0], str(path), names[1]]
        root = Path(__file__).parents[2]
        done = subprocess.run(words, capture_output=True, cwd=root, timeout=60, check=True)
        peaks[columns], told = json.loads(done.stdout)
        assert {k: list(map(tuple, v)) for k, v in told.items()} == locators.by_pyarrow(
            path, names[1:2]
        )()()
    # pyarrow takes some 1 KB a chunk.
    assert peaks[2_000] - peaks[100] > 4 << 20


def test_tables_are_alike_whatever_their_types_are_called():
    ours = pa.table({"a": ["x", None], "b": [1, 2]})
    theirs = pa.table({"a": pa.array(["x", None], pa.large_string()), "b": [1, 2]})
    assert alike(ours, theirs)
    assert not alike(ours, theirs.set_column(1, "b", [[1, 3]]))
    assert not alike(ours, theirs.rename_columns(["b", "a"]))
    assert not alike(ours, theirs.slice(1))


def test_the_narrow_file_has_twenty_columns_and_an_index_by_choice(tmp_path):
    parquetfiles.narrow(tmp_path / "narrow", rows=1000)
    parquetfiles.indexed(tmp_path / "indexed", rows=1000)
    plain, indexed = (pq.read_metadata(tmp_path / name) for name in ("narrow", "indexed"))
    assert plain.num_columns == indexed.num_columns == 20
    assert [plain.num_row_groups, indexed.num_row_groups] == [1, 4]
    assert not plain.row_group(0).column(0).has_column_index
    assert indexed.row_group(3).column(0).has_column_index
    ids = pq.read_table(tmp_path / "indexed", columns=["id"])["id"].to_pylist()
    assert ids == list(range(1000))
