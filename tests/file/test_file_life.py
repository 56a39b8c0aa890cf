"""The life of a file and its session: unlike neighbours, closing, forks, garbage, interrupts."""

import asyncio
import gc
import os
import pickle
import threading
import warnings

import numpy as np
import pyarrow as pa
import pytest
from places import oracle, settled, write

import rangeio
from rangeio.errors import Closed, ObjectChanged, RequestError
from rangeio.testing.server import RangeServer

WIDTH = 3000


def alike(kind):
    """A wide table, and one that differs from it in the type of one column, not in size."""
    names = [f"feature_{i:05d}" for i in range(WIDTH)]
    columns = [pa.array(np.arange(40, dtype="i4"))] * WIDTH
    if kind == "b":
        columns[1500] = pa.array([f"{i}" for i in range(40)])
    return pa.table(columns, names=names)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    root = tmp_path_factory.mktemp("pair")
    return [write(root / f"{k}.lance", alike(k)) for k in "ab"]


@pytest.fixture
def taught(pair):
    """A session that has read the first file, and the path of the second."""
    with rangeio.Session(profile="s3") as session:
        with rangeio.open(pair[0], session=session) as file:
            file.read(["feature_00007"])
        yield session, pair[1]


CHANGED, SAME = "feature_01500", "feature_00007"


def test_rows_are_counted_of_the_file_not_of_its_neighbour(taught):
    session, other = taught
    with rangeio.open(other, session=session) as file:
        assert file.num_rows == 40
        assert file.num_columns == WIDTH


def test_reading_no_columns_verifies_too(taught):
    session, other = taught
    with rangeio.open(other, session=session) as file:
        assert file.read([]).num_rows == 40


def test_cached_metadata_of_another_handle_verifies_nothing(taught, pair):
    session, other = taught
    for _ in range(2):
        for path in (other, pair[0]):
            with rangeio.open(path, session=session) as file:
                assert file.read([SAME, CHANGED]) == oracle(path, [SAME, CHANGED])


@pytest.mark.parametrize(
    "filters", [[(CHANGED, "==", "5")], pa.compute.field(CHANGED) == "5"], ids=["list", "expr"]
)
def test_a_filter_is_judged_by_the_files_own_schema(taught, filters):
    session, other = taught
    with rangeio.open(other, session=session) as file:
        assert file.read([SAME], filters=filters)[SAME].to_pylist() == [5]


def test_async_counts_verify_too(taught):
    session, other = taught

    async def main():
        async with await rangeio.open_async(other, session=session) as file:
            return await file.num_rows(), await file.num_columns()

    assert asyncio.run(main()) == (40, WIDTH)


def test_batches_hold_every_row_where_offsets_would_overflow(monkeypatch):
    """Arrow splits a batch whose strings pass 2 GiB; every part must be handed on."""
    from rangeio.reading import Reading

    halves = [pa.table({"s": ["x" * 10] * 3}), pa.table({"s": ["y" * 10] * 2})]
    whole = pa.concat_tables(halves)
    # What combine_chunks returns for such a table: more than one chunk.
    reading = Reading.__new__(Reading)
    monkeypatch.setattr(Reading, "_result", lambda self, table: _Uncombined(table))
    batches = reading._batches(whole, 4)
    assert sum(batch.num_rows for batch in batches) == 5


class _Uncombined:
    def __init__(self, table):
        self.table = table

    def combine_chunks(self):
        return self.table


def test_closing_a_session_ends_its_reads_with_one_word(files):
    data = files.mixed().read_bytes()
    with RangeServer({"m.lance": data}, delay_s=0.05) as server:
        for wait in (0.0, 0.02, 0.06, 0.12):
            session = rangeio.Session(profile="s3", memory_cache=0)
            file = rangeio.open(server.at("m.lance"), session=session)
            found = []

            def read(file=file, found=found):
                try:
                    file.read()
                    found.append(None)
                except BaseException as error:
                    found.append(error)

            thread = threading.Thread(target=read)
            thread.start()
            thread.join(wait)
            session.close()
            thread.join(10)
            assert not thread.is_alive()
            assert found[0] is None or isinstance(found[0], Closed), found


def test_a_closed_session_says_so_and_leaves_no_coroutine(files):
    session = rangeio.Session()
    file = rangeio.open(files.mixed(), session=session)
    stream = file.scan(batch_rows=10)
    stream.read_next_batch()
    session.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ask in (
            lambda: file.num_rows,
            lambda: file.schema,
            lambda: file.read(),
            lambda: rangeio.fetch(b"abc", [(0, 1)], session=session),
            stream.read_next_batch,
        ):
            with pytest.raises(Closed):
                ask()
        gc.collect()


def test_a_dropped_scan_in_a_cycle_is_collected_quietly(files, session, recwarn):
    file = rangeio.open(files.mixed(), session=session)
    for _ in range(20):
        stream = file.scan(batch_rows=10)
        stream.read_next_batch()
        cycle = [stream]
        cycle.append(cycle)
        del stream, cycle
    session.live.portal.run(_collect())
    gc.collect()
    assert settled(session)
    assert not recwarn.list


async def _collect():
    gc.collect()


def test_a_scan_that_failed_does_not_look_ended(files):
    data = files.mixed().read_bytes()
    with RangeServer({"m.lance": data}) as server, rangeio.Session(profile="file") as session:
        file = rangeio.open(server.at("m.lance"), session=session)
        stream = file.scan(batch_rows=10)
        server.drop("m.lance")
        for _ in range(2):
            with pytest.raises(rangeio.errors.NotFound):
                stream.read_next_batch()
        assert settled(session)


@pytest.mark.parametrize("batch_rows", [0, -1, 2.5, "a", True])
def test_both_kinds_of_scan_check_their_words(files, session, batch_rows):
    async def main():
        async with await rangeio.open_async(files.mixed(), session=session) as file:
            async for _ in file.scan(batch_rows=batch_rows):
                pass

    with pytest.raises(RequestError, match="batch_rows"):
        asyncio.run(main())
    with pytest.raises(RequestError, match="batch_rows"):
        rangeio.open(files.mixed(), session=session).scan(batch_rows=batch_rows)


def test_a_tiny_memory_cache_costs_no_second_get(files):
    data = files.wide(3000).read_bytes()
    with RangeServer({"w.lance": data}) as server:
        for cache in (0, 100_000, 1 << 30):
            before = len(server.log)
            with rangeio.Session(profile="s3", memory_cache=cache) as session:
                rangeio.open(server.at("w.lance"), session=session).close()
                opened = len(server.log) - before
                rangeio.fetch(server.at("w.lance"), [(0, 1000)], session=session)
            assert (opened, len(server.log) - before) == (2, 3), cache


def test_an_unpickled_file_asks_for_its_version_first(files, tmp_path):
    path = tmp_path / "x.lance"
    path.write_bytes(files.mixed().read_bytes())
    packed = pickle.dumps(rangeio.open(os.path.relpath(path)))
    again = pickle.loads(packed)
    assert again.url == str(path)
    path.write_bytes(b"something else altogether, of another size")
    with pytest.raises(ObjectChanged):
        pickle.loads(packed)


def test_words_that_cannot_be_say_so(files):
    for words in ({"schema": {1: "a"}}, {"index": "require"}, {"format": "nope"}):
        with pytest.raises(RequestError):
            rangeio.open(files.mixed(), **words)
    for words in ({"memory_cache": float("nan")}, {"max_buffer": float("inf")}, {"hedge": "no"}):
        with pytest.raises(RequestError):
            rangeio.Session(**words)
    for words in ({"disk_cache": ""}, {"disk_cache": 5}, {"disk_cache": b"/tmp/x"}):
        with pytest.raises(RequestError, match="disk_cache"):
            rangeio.Session(**words)
    for ranges in ([5], [(1.5, 3)], [(1, 2, 3)], "ab", None, [slice(0, 10, 2)], [(True, 2)]):
        with pytest.raises(RequestError):
            rangeio.fetch(b"0123456789", ranges)


def test_errors_of_the_request_name_the_file(files):
    with rangeio.open(files.mixed()) as file:
        for ask in (lambda: file.read(["nope"]), lambda: file.read(rows=[10**9])):
            with pytest.raises(RequestError, match=r"2\.1\.lance"):
                ask()


FORKED = """
import os, sys, threading, rangeio
path = sys.argv[1]
file = rangeio.open(path)
rows = file.read(["id"]).num_rows
read, out = os.pipe()
if not os.fork():
    said = (file.num_rows, file.num_columns, len(file.schema), len(file.column("id").pages))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(file.read(["word"]).num_rows))
               for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    names = [t.name for t in threading.enumerate() if t.name == "rangeio-portal"]
    os.write(out, repr((said, seen, names)).encode())
    os._exit(0)
os.close(out)
with os.fdopen(read) as pipe:
    print(pipe.read())
os.wait()
"""


def test_a_forked_child_has_one_portal_and_all_properties(files, tmp_path):
    import subprocess
    import sys

    script = tmp_path / "forked.py"
    script.write_text(FORKED)
    ran = subprocess.run(
        [sys.executable, str(script), str(files.mixed())],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert eval(ran.stdout) == ((5000, 6, 6, 1), [5000] * 8, ["rangeio-portal"])
