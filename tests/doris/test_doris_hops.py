"""What a read costs, in the words of the trace; promised figures have a file of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from doris_tables import made, wide

import rangeio
from rangeio.transport.profile import PROFILES

COLUMNS = 7000
TAIL = 64 << 10
PROFILE = replace(PROFILES["s3"], tail=TAIL)


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> dict[tuple[int, int], Path]:
    """Segments by version and rows: 8 rows are one page a column, 40,000 are several."""
    folder = tmp_path_factory.mktemp("doris")
    found = {}
    for version in (2, 3):
        for columns, rows in ((COLUMNS, 8), (300, 40_000)):
            found[version, rows] = folder / f"{version}_{rows}.dat"
            found[version, rows].write_bytes(made(wide(columns, rows), version=version))
    return found


def opened(path: Path) -> rangeio.File:
    return rangeio.open(path, session=rangeio.Session(profile=PROFILE))


def hops(file: rangeio.File) -> list[set[str]]:
    """Why the GETs of each hop were made."""
    found: dict[int, set[str]] = {}
    for get in file.trace:
        if not (get.cached or get.joined):
            found.setdefault(get.hop, set()).add(get.why)
    return [found[hop] for hop in sorted(found)]


def size_of(file: rangeio.File, *whys: str) -> int:
    made_ = (get for get in file.trace if not (get.cached or get.joined))
    return sum(get.size for get in made_ if get.why in whys)


def test_columns_of_many_pages_cost_one_hop_more(paths):
    file = opened(paths[3, 40_000])
    file.read(["col_1", "col_250"])
    assert len(hops(file)) <= 4
    assert hops(file)[-2:] == [{"doris.ordinal_index"}, {"doris.pages"}]


def test_a_slice_reads_its_pages(paths):
    file = opened(paths[3, 40_000])
    table = file.read(["col_1"], rows=slice(20_000, 20_010))
    assert table["col_1"].to_pylist() == list(range(20_001, 20_011))
    assert size_of(file, "doris.pages") < 70_000


@pytest.mark.parametrize("version", [2, 3])
def test_metadata_is_read_once(paths, version):
    session = rangeio.Session(profile=PROFILE)
    first = rangeio.open(paths[version, 8], session=session)
    first.read(["col_5"])
    again = rangeio.open(paths[version, 8], session=session)
    again.read(["col_5"])
    assert {get.why for get in again.trace if not get.cached} <= {"tail"}


def test_the_schema_of_all_columns_is_one_range(paths):
    file = opened(paths[3, 8])
    assert len(file.schema) == COLUMNS
    assert file.schema["col_6999"].name == "col_6999"
    assert hops(file) == [{"tail"}, {"doris.column_meta"}]


def test_a_column_reader_costs_one_column(paths):
    file = opened(paths[3, 8])
    assert str(file.column("col_100").type) == "int32"
    assert size_of(file, "doris.column_meta") < 300


def test_a_missing_column_costs_nothing(paths):
    file = opened(paths[3, 8])
    with pytest.raises(rangeio.errors.NoSuchColumn):
        file.read(["col_7000"])
    assert hops(file) == [{"tail"}]
