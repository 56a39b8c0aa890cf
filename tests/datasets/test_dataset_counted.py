"""Counted: explain's GETs are those that are made, a second scan asks for no metadata, and what
stops early leaves nothing running."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from many_files import SMALL_TAIL, data_gets, doris, lance, own_gets, parquet

import rangeio
from rangeio.testing.fault import Fault

ROWS = 5000
NAMES = {0: "a", 1: "t", 2: "rest", 3: "z"}
LARGE, FILES = {"large": ROWS, "small": 20}, 4


def table(n: int, rows: int) -> pa.Table:
    """Rows of the n-th file, of which "a" ascends over all files and "rest" does not compress."""
    make = np.random.default_rng(n)
    return pa.table(
        {
            "a": pa.array(range(n * rows, (n + 1) * rows), pa.int64()),
            "t": pa.array([f"{x:x}" for x in make.integers(0, 1 << 60, rows)]),
            "rest": pa.array([make.bytes(60) for _ in range(rows)], pa.binary()),
            "z": make.random(rows),
        }
    )


def written(kind: str, n: int, rows: int, folder) -> bytes:
    if kind == "parquet":
        return parquet(table(n, rows), row_group_size=rows // 4, write_page_index=True)
    if kind == "doris":
        return doris(table(n, rows), folder, version=3)
    data = lance(table(n, rows), folder)
    if data is None:
        pytest.skip("no pylance")
    return data


@pytest.fixture(scope="module")
def made(lakes, tmp_path_factory):
    """A lake over HTTP of files of a format and size; each is written once."""
    folder, kept = tmp_path_factory.mktemp("made"), {}

    def make(kind: str, size: str):
        if (kind, size) not in kept:
            lake = kept[kind, size] = lakes("http")
            for n in range(FILES):
                lake.put(f"p={n % 2}/{n}.x", written(kind, n, LARGE[size], folder))
        return kept[kind, size]

    return make


def opened(lake, session):
    kind = {"schema": NAMES} if b"DORI" in _tail(lake) or b"D0R1" in _tail(lake) else {}
    return lake.open(session, **kind)


def _tail(lake) -> bytes:
    return bytes(lake.server.find(f"lake/{lake.names[0]}").data[-16:])


ASKED = {
    "all": {},
    "columns": {"columns": ["z", "a"]},
    "filter": {"columns": ["t"], "filters": [("a", ">=", 6100)]},
    "partition": {"columns": ["a"], "filters": [("p", "=", 1)]},
    "rows": {"columns": ["z"], "rows": [3, 7, 26, 79]},
    "slice": {"columns": ["a", "z"], "rows": slice(15, 60)},
    "nothing": {"filters": [("a", "<", -5)]},
    "none": {"columns": []},
}


@pytest.mark.parametrize("asked", list(ASKED))
@pytest.mark.parametrize("size", list(LARGE))
@pytest.mark.parametrize("kind", ["parquet", "doris", "lance"])
def test_explained_gets_are_made(made, kind, size, asked):
    lake, words = made(kind, size), ASKED[asked]
    with rangeio.Session(profile=SMALL_TAIL) as session:
        dataset = opened(lake, session)
        told = dataset.explain(**words)
        assert not data_gets(dataset)
        before, sent = len(dataset.trace), len(lake.server.log)
        read = dataset.read(**words)
        gets = own_gets(dataset, before)
        first = [one for one in gets if one.hop == 10]
        assert len(first) == told.gets
        assert sum(one.stop - one.start for one in first) == told.bytes
        later = len(gets) - len(first)
        assert later <= sum(one.later_gets for one in told.files)
        assert len(lake.server.log) - sent == len(gets)
        assert not dataset.trace.unplanned
        assert told.num_files == FILES
        if "filters" not in words:
            assert told.rows == read.num_rows
        if asked == "partition":
            assert [one.url for one in told.files] == [lake.at(f"p=1/{n}.x") for n in (1, 3)]
        assert str(told.gets) in str(told)
        assert told.to_dict()["gets"] == told.gets
        assert told.gets <= told.hops * 100


@pytest.mark.parametrize("size", list(LARGE))
@pytest.mark.parametrize("kind", ["parquet", "doris", "lance"])
def test_a_second_scan_asks_for_no_metadata(made, kind, size):
    lake = made(kind, size)
    with rangeio.Session(profile=SMALL_TAIL, memory_cache=0) as session:
        dataset = opened(lake, session)
        one = dataset.scan(["a", "z"]).read_all()
        for words in ({}, {"batch_rows": 100}, {"ordered": False}):
            before = len(dataset.trace)
            again = dataset.scan(["a", "z"], **words).read_all()
            assert len(own_gets(dataset, before)) == len(data_gets(dataset, before))
            assert again.num_rows == one.num_rows
        if size == "small":
            assert not own_gets(dataset, before)
        if kind == "doris":  # whose schema is the metadata of all columns: two of them spare it
            return
        before = len(dataset.trace)
        _ = dataset.schema, dataset.num_rows, dataset.matched, dataset.count()
        assert not own_gets(dataset, before)


def test_a_second_read_of_small_files_makes_no_get(made):
    lake = made("parquet", "small")
    with rangeio.Session() as session:
        dataset = lake.open(session)
        dataset.read(["a"])
        sent = len(lake.server.log)
        assert sent >= FILES
        for words in ([*"atz"], ["rest"], None):
            dataset.read(words)
        dataset.min("a"), dataset.read(filters=[("a", ">", 3)])
        assert len(lake.server.log) == sent


def test_nothing_is_opened_before_it_is_asked(made):
    lake = made("parquet", "small")
    sent = len(lake.server.log)
    with rangeio.Session() as session:
        dataset = lake.open(session)
        assert (len(dataset), len(dataset.files), repr(dataset)[:1]) == (FILES, FILES, "<")
    assert len(lake.server.log) == sent


@pytest.fixture(scope="module")
def many(lakes):
    """60 files, one a day."""
    lake = lakes("http")
    for n in range(60):
        lake.put(f"day={n:03d}/f.parquet", parquet(table(n, 50)))
    return lake


def keys(lake, sent: int) -> set[str]:
    return {request.key for request in lake.server.log[sent:]}


def test_partition_filters_open_what_matches(many):
    with rangeio.Session() as session:
        dataset, sent = many.open(session), len(many.server.log)
        read = dataset.read(["a"], filters=[("day", "in", ["007", "008"])])
        assert read["a"].to_pylist() == list(range(350, 450))
        assert keys(many, sent) == {f"lake/day={n}/f.parquet" for n in ("000", "007", "008", "059")}
        sent = len(many.server.log)
        assert dataset.count([("day", "==", "030")]) == 50
        assert dataset.explain(["a"], filters=[("day", "==", "031")]).pruned
        assert len(keys(many, sent)) == 2
        assert dataset.read(filters=[("day", ">", "999")]).num_rows == 0
        assert len(keys(many, sent)) == 2


@pytest.mark.parametrize("declared", [False, True], ids=["found", "declared"])
def test_a_limit_opens_few_files(many, declared):
    schema = pa.schema([("a", pa.int64()), ("day", pa.string())]) if declared else None
    with rangeio.Session() as session:
        dataset, sent = many.open(session, schema=schema), len(many.server.log)
        assert dataset.head(10, ["a"])["a"].to_pylist() == list(range(10))
        assert len(keys(many, sent)) <= 4
        assert dataset.read(["a"], limit=120)["a"].to_pylist() == list(range(120))
        assert len(keys(many, sent)) <= 12
        assert dataset.read(["a"], limit=0).num_rows == 0
        assert len(keys(many, sent)) <= 12
        scanned = dataset.scan(["a"], limit=60, batch_rows=7).read_all()
        assert scanned["a"].to_pylist() == list(range(60))
        assert len(keys(many, sent)) <= 12


def test_a_limit_under_a_filter_stops_where_the_schema_is_declared(many):
    schema = pa.schema([("a", pa.int64()), ("day", pa.string())])
    with rangeio.Session() as session:
        dataset, sent = many.open(session, schema=schema), len(many.server.log)
        read = dataset.read(["a"], filters=[("a", ">=", 40)], limit=20)
        assert read["a"].to_pylist() == list(range(40, 60))
        assert len(keys(many, sent)) < 20


# ---- nothing is left -----------------------------------------------------------------------------


def busy(lake) -> int:
    """Requests that the server has not answered to the end."""
    return sum(one._busy for one in list(lake.server.connections))


def quiet(lake, session) -> None:
    """Wait until nothing is under way, which must come soon."""
    session.run(session.live.engine.idle())
    end = time.monotonic() + 5
    while busy(lake) and time.monotonic() < end:
        time.sleep(0.005)
    assert not busy(lake)


def others(before: set[threading.Thread]) -> list[str]:
    return [one.name for one in threading.enumerate() if one not in before]


@pytest.fixture
def slow(lakes):
    lake = lakes("http")
    for n in range(40):
        lake.put(f"{n:02d}.parquet", parquet(table(n, 500), row_group_size=100))
    lake.server.delay_s = 0.02
    return lake


def test_a_head_leaves_nothing_running(slow):
    before = set(threading.enumerate())
    with rangeio.Session(profile=SMALL_TAIL) as session:
        dataset = slow.open(session)
        assert dataset.head(10, ["a"]).num_rows == 10
        quiet(slow, session)
        sent = len(slow.server.log)
        assert sent < 40
    assert len(slow.server.log) == sent
    # One portal a process, and the pools that decode and look names up.
    assert all(name.startswith(("rangeio", "asyncio_", "ThreadPool")) for name in others(before))


@pytest.mark.parametrize("how", ["dropped", "closed", "failed"])
def test_a_scan_that_ends_early_leaves_nothing_running(slow, how):
    with rangeio.Session(profile=SMALL_TAIL, max_buffer=256 << 10) as session:
        dataset = slow.open(session)
        assert dataset.num_rows == 40 * 500
        sent = len(slow.server.log)
        scanned = dataset.scan(["a", "rest"], batch_rows=50)
        first = scanned.read_next_batch()
        assert first.num_rows == 50
        if how == "dropped":
            del scanned
            gc.collect()
        elif how == "closed":
            del first
            scanned.close()
            del scanned
        else:
            dataset.close()
            scanned.read_next_batch()  # it was begun before
            del scanned
        quiet(slow, session)
        made = len(slow.server.log)
        assert made - sent < 40
    assert len(slow.server.log) == made


def test_threads_do_not_grow_with_the_scans(many):
    with rangeio.Session() as session:
        dataset = many.open(session)
        dataset.read(["a"])
        before = set(threading.enumerate())
        for _ in range(5):
            dataset.scan(["a", "t"], batch_rows=10).read_next_batch()
            dataset.head(3)
        assert len(others(before)) <= 8, others(before)
        quiet(many, session)


def test_batches_come_while_later_files_are_not_there_yet(lakes):
    lake = lakes("http")
    for n in range(6):
        lake.put(f"{n}.parquet", parquet(table(n, 3000)))
    with rangeio.Session(profile=SMALL_TAIL) as session:
        dataset = lake.open(session)
        assert dataset.num_rows == 18000
        sent = len(lake.server.log)
        late = Fault(delay_s=20)
        lake.server.script.add(late, 50, when=lambda request: request.key == "lake/5.parquet")
        scanned = dataset.scan(["a", "rest"], batch_rows=3000)
        got = [scanned.read_next_batch().num_rows for _ in range(5)]
        assert got == [3000] * 5
        asked = [one for one in lake.server.log[sent:] if one.key == "lake/5.parquet"]
        assert asked
        assert not any(one.status for one in asked)
        del scanned


CACHES = {
    "tiny": {"memory_cache": 1 << 20, "column_cache": 1 << 20, "max_buffer": 4 << 20},
    "small": {"memory_cache": 4 << 20, "column_cache": 64 << 20, "max_buffer": 64 << 20},
    "none": {"memory_cache": 0, "column_cache": 1 << 20, "max_buffer": 4 << 20},
}


@pytest.fixture(scope="module")
def crowd(lakes):
    """Sixty files whose tails are more than small caches hold, and have part of the data."""
    lake = lakes("http")
    for n in range(60):
        lake.put(f"{n:02}.x", parquet(table(n, 2000), row_group_size=500, write_page_index=True))
    return lake


@pytest.mark.parametrize("words", [{}, {"columns": ["a", "z"]}, {"filters": [("a", ">", 50_500)]}])
@pytest.mark.parametrize("caches", list(CACHES))
def test_explained_gets_are_made_whatever_the_caches_hold(crowd, caches, words):
    with rangeio.Session(**CACHES[caches]) as session:
        dataset = crowd.open(session)
        for _ in range(2):
            told, before = dataset.explain(**words), len(dataset.trace)
            dataset.read(**words)
            gets = own_gets(dataset, before)
            assert len(gets) == told.gets
            assert sum(one.stop - one.start for one in gets) == told.bytes
