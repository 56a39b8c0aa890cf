"""The counted figures that a segment promises: hops, GETs, bytes, loads, and memory held."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from doris_parts import Segment, index, walk
from doris_tables import in_memory, made, wide

import rangeio
from rangeio.formats.doris.words import IndexType
from rangeio.testing.server import RangeServer
from rangeio.transport.profile import PROFILES

COLUMNS, ROWS = 7000, 64
SLACK = 64 << 10
TAIL = 192 << 10
PLAIN = [COLUMNS // 3, 2 * COLUMNS // 3]
"""Whole numbers: a page each, and no index page."""
PAGED = [k + 1 for k in PLAIN]
"""Texts of many pages, behind a dictionary that was soon full."""
S3 = replace(PROFILES["s3"], tail=64 << 10)
PATHS = (1_000, 10_000)
BEHIND = {"tail", "doris.footer", "doris.variant_keys"}


def columns() -> pa.Table:
    """7,000 columns, two of which have more than one page."""
    table = wide(COLUMNS, ROWS)
    texts = pa.array([f"{row:04d}" * 25 for row in range(ROWS)])
    for k in PAGED:
        table = table.set_column(k, f"c{k}", texts)
    return table


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> dict[int, Path]:
    """The segments of both versions."""
    folder, table = tmp_path_factory.mktemp("doris"), columns()
    found = {version: folder / f"{version}.dat" for version in (2, 3)}
    for version, path in found.items():
        path.write_bytes(made(table, version=version, page_size=1024, dict_page_size=1024))
    return found


def gets(file: rangeio.File) -> list:
    return [get for get in file.trace if not (get.cached or get.joined)]


def hops(file: rangeio.File) -> int:
    return len({get.hop for get in gets(file)})


def metadata(file: rangeio.File) -> int:
    """Bytes that were read besides pages of data."""
    return sum(get.size for get in gets(file) if get.why != "doris.pages")


def own(segment: Segment, asked: list[int]) -> int:
    """The metadata of some columns, and their index and dictionary pages."""
    found = 0
    for k in asked:
        found += segment.metas[k].ByteSize()
        for meta in walk(segment.metas[k]):
            tree = index(meta, IndexType.ORDINAL).ordinal_index.root_page
            found += 0 if tree.is_root_data_page else tree.root_page.size
            found += meta.dict_page.size
    return found


def read(path: Path, asked: list[int], profile=S3) -> rangeio.File:
    file = rangeio.open(path, session=rangeio.Session(profile=profile))
    assert file.read([f"col_{k}" for k in asked]).num_rows == ROWS
    return file


@pytest.mark.parametrize(("asked", "most"), [(PLAIN, 3), (PAGED, 4)], ids=["one page", "many"])
def test_two_of_7000_columns_of_v3(paths, asked, most):
    segment = Segment(paths[3].read_bytes())
    pages = [len(segment.pages(segment.metas[k])) for k in asked]
    assert pages == [1, 1] if asked is PLAIN else min(pages) > 1
    assert all(segment.metas[k].HasField("dict_page") for k in asked if asked is PAGED)
    file = read(paths[3], asked)
    assert hops(file) == most
    directory = len(segment.data) - segment.footer_at
    assert metadata(file) <= directory + own(segment, asked) + SLACK
    names = [f"col_{k}" for k in asked]
    explained = rangeio.open(paths[3], session=rangeio.Session(profile=S3)).explain(names)
    planned = sum(get.at.size for get in explained.planned)
    assert planned == sum(get.size for get in gets(file) if get.why == "doris.pages")


@pytest.mark.parametrize(("asked", "most"), [(PLAIN, 3), (PAGED, 4)], ids=["one page", "many"])
def test_two_of_7000_columns_of_v2(paths, asked, most):
    """The same read: no more hops, but all of the footer travels, for the columns lie in it."""
    segment = Segment(paths[2].read_bytes())
    file = read(paths[2], asked)
    footer = len(segment.data) - segment.footer_at
    assert hops(file) == most
    assert footer <= metadata(file) <= footer + own(segment, asked) + SLACK
    assert metadata(file) > 4 * metadata(read(paths[3], asked))


# ---- one path of a Variant ---------------------------------------------------------------------


def many(count: int) -> bytes:
    """A Variant of many paths, before a column whose metadata is larger than any tail that is read
    here: so no tail holds the sub-columns' own."""
    found = [f"k{k:05d}" for k in range(count)]
    variant = pa.StructArray.from_arrays([pa.array([k, k + 1]) for k in range(count)], found)
    number = pa.array([1, 2], pa.int32())
    long = pa.StructArray.from_arrays([number] * 250, [f"{k:03d}{'x' * 1000}" for k in range(250)])
    return made(pa.table({"v": variant, "long": long}), variant=["v"], zone_maps=False)


@pytest.fixture(scope="module")
def one_path(tmp_path_factory) -> list[tuple[Segment, rangeio.File]]:
    """A path a third along, read from the fewer and from the many."""
    folder, found = tmp_path_factory.mktemp("variant"), []
    for count in PATHS:
        path, data = folder / f"{count}.dat", many(count)
        path.write_bytes(data)
        profile = replace(PROFILES["s3"], tail=TAIL, small_file=0)
        file = rangeio.open(path, session=rangeio.Session(profile=profile), schema={0: "v"})
        name = f"k{count // 3:05d}"
        rows = file.read([f"v.{name}"])["v"].to_pylist()
        assert rows == [{name: count // 3}, {name: count // 3 + 1}]
        found.append((Segment(data), file))
    return found


def test_a_path_costs_the_same_gets_of_1000_and_of_10000(one_path):
    (_, few), (_, more) = one_path
    assert [get.why for get in gets(few)] == [get.why for get in gets(more)]
    assert hops(few) == hops(more)


def test_a_path_costs_the_same_bytes_beyond_directory_and_keys(one_path):
    totals, beyond, explained = [], [], []
    for segment, file in one_path:
        sizes = [(get.why, get.size) for get in gets(file)]
        totals.append(sum(size for _, size in sizes))
        beyond.append(sum(size for why, size in sizes if why not in BEHIND))
        keys = sum(size for why, size in sizes if why == "doris.variant_keys")
        assert keys, "no tail is to hold the keys"
        explained.append(len(segment.data) - segment.footer_at + keys)
    assert abs(beyond[1] - beyond[0]) <= SLACK
    assert totals[1] - totals[0] <= explained[1] - explained[0] + SLACK


# ---- caches and memory -------------------------------------------------------------------------


def test_concurrent_misses_of_one_column_load_once(paths):
    with RangeServer({"w.dat": paths[3].read_bytes()}, delay_s=0.02) as server:
        session = rangeio.Session(profile=replace(PROFILES["s3"], tail=64 << 10, small_file=0))
        with session, rangeio.open(server.at("w.dat"), session=session) as file:
            before = len(server.log)
            found: list[pa.Table] = []
            name = f"col_{PLAIN[0]}"
            threads = [
                threading.Thread(target=lambda: found.append(file.read([name]))) for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            wanted = list(range(PLAIN[0], PLAIN[0] + ROWS))
            assert [one[name].to_pylist() for one in found] == [wanted] * 8
            assert session.live.engine.columns.loads == 1
            # the column's metadata, and its page
            assert len(server.log) - before == 2


@contextmanager
def traced() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("version", [2, 3])
def test_an_open_segment_holds_its_directory_and_no_tail(paths, version):
    """200 of them, each opened from bytes of its own, which its table lets go."""
    data = paths[version].read_bytes()
    in_memory(data).open()
    with traced():
        before = tracemalloc.get_traced_memory()[0]
        held = [in_memory(bytes(bytearray(data))).open() for _ in range(200)]
        each = (tracemalloc.get_traced_memory()[0] - before) / len(held)
    weight = held[0].footer.directory.weight
    assert weight <= 8 * COLUMNS
    assert each <= weight + (8 << 10)
    assert 10_000 * each < 1e9


def test_files_that_are_let_go_leave_no_tail(paths):
    session = rangeio.Session(memory_cache=0)
    rangeio.open(paths[3], session=session).read(["col_1"])
    with traced():
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            with rangeio.open(paths[3], session=session) as file:
                file.read(["col_1"])
        del file
        held = tracemalloc.get_traced_memory()[0] - before
    assert held < SLACK
