"""Local files read on the caller's thread: the same tables, GETs and errors as by the engine."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import write

import rangeio
from rangeio.errors import Closed, Corrupt, NotFound, ObjectChanged, RangeIOError
from rangeio.ranges import ByteRange

ROWS = 5000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS)),
        "word": [f"word {i % 97}" for i in range(ROWS)],
        "list": [[i] * (i % 4) for i in range(ROWS)],
        "pair": [{"x": i, "y": f"{i}"} for i in range(ROWS)],
        "noise": np.random.default_rng(1).random(ROWS),
    }
)
READS = [
    {},
    {"columns": ["word", "id"]},
    {"columns": ["pair.y", "list"]},
    {"columns": ["noise"], "rows": slice(100, 230)},
    {"columns": ["word", "noise"], "rows": [4999, 3, 3, 1700]},
    {"columns": ["word"], "filters": [("id", ">", 4900)]},
    {"columns": ["pair"], "flatten": True},
    {"columns": []},
]


@pytest.fixture(scope="module", params=["parquet", "indexed", "2.0", "2.1"])
def path(request, files, tmp_path_factory):
    if request.param.startswith("2"):
        return files.mixed(request.param)
    path = tmp_path_factory.mktemp("direct") / f"{request.param}.parquet"
    indexed = request.param == "indexed"
    pq.write_table(TABLE, path, row_group_size=2000, data_page_size=2048, write_page_index=indexed)
    return path


@pytest.fixture
def other(tmp_path):
    path = tmp_path / "other.parquet"
    pq.write_table(TABLE, path, row_group_size=2000)
    return path


def asked(path, words):
    """The words as far as the file has such columns."""
    if str(path).endswith("parquet"):
        return words
    names = rangeio.open(path).schema.names[1:3]
    kept = {key: value for key, value in words.items() if key == "rows"}
    return kept | ({"columns": names} if words.get("columns") else {})


def gets(file):
    return [(r.hop, r.start, r.stop, r.why, r.size) for r in file.trace if not r.cached]


@pytest.mark.parametrize("words", READS, ids=str)
def test_both_ways_read_the_same_by_the_same_gets(path, words):
    words = asked(path, words)
    with rangeio.Session() as session, rangeio.open(path, session=session) as file:
        found = file.read(**words)
        assert session._live is None, "the engine was made"
    with rangeio.Session(profile="file") as session, rangeio.open(path, session=session) as peer:
        assert found.equals(peer.read(**words), check_metadata=True)
    assert sorted(gets(file)) == sorted(gets(peer))
    assert file.trace.bytes_needed == peer.trace.bytes_needed
    assert file.trace.unplanned == 0


def test_what_is_explained_is_what_is_read(path):
    words = asked(path, {"columns": ["word", "noise"]})
    with rangeio.Session() as session, rangeio.open(path, session=session) as file:
        told = file.explain(**words)
        before = len(gets(file))
        file.read(**words)
        assert [(a, b) for _, a, b, _, _ in gets(file)[before:]] == [
            (get.at.start, get.at.stop) for get in told.planned
        ]


def test_what_is_streamed_goes_to_the_engine_and_the_trace_goes_on(other):
    with rangeio.Session() as session, rangeio.open(other, session=session) as file:
        assert file.read(TABLE.column_names) == TABLE
        assert session._live is None
        assert pa.Table.from_batches(file.scan(["id"])) == TABLE.select(["id"])
        assert session._live is not None
        assert next(r.why for r in file.trace) == "tail"
        assert sum(r.why == "tail" for r in file.trace) == 1
        assert file.num_rows == ROWS
        assert pa.Table.from_batches(file.scan(["id"])) == TABLE.select(["id"])


def test_no_thread_is_made(other):
    code = (
        "import sys, threading, rangeio\n"
        "file = rangeio.open(sys.argv[1])\n"
        "assert file.num_rows and len(file.schema) == 5\n"
        "assert file.read(['id', 'word']).num_rows == file.num_rows\n"
        "print([t.name for t in threading.enumerate()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(other)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['MainThread']"


def test_many_threads_share_one_file(other):
    names = ["id", "word", "list", "pair", "noise"]
    with rangeio.Session() as session, rangeio.open(other, session=session) as file:
        begun = threading.Barrier(8)

        def read(i):
            begun.wait()
            mine = names[i % 5 :] + names[: i % 5]
            return file.read(mine[:3]) == TABLE.select(mine[:3])

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(read, range(8)))


def test_a_file_that_is_replaced_is_seen(other):
    with rangeio.Session() as session, rangeio.open(other, session=session) as file:
        assert file.read(["id"]) == TABLE.select(["id"])
        pq.write_table(TABLE.slice(7), other)
        with pytest.raises(ObjectChanged, match="the file was changed"):
            file.read(["word"])
        other.unlink()
        with pytest.raises(NotFound):
            file.read(["word"])


@pytest.mark.parametrize(
    "damage", [lambda d: b"", lambda d: d[:7], lambda d: d[:-1], lambda d: d[9:]]
)
def test_damage_is_told_as_by_the_engine(other, damage):
    other.write_bytes(damage(other.read_bytes()))
    said = []
    for profile in (None, "file"):
        with (
            rangeio.Session(profile=profile) as session,
            pytest.raises(RangeIOError) as caught,
            rangeio.open(other, session=session) as file,
        ):
            file.read()
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


def test_a_damaged_chunk_names_the_file(other):
    data = bytearray(other.read_bytes())
    data[4:60] = bytes(56)
    other.write_bytes(data)
    with rangeio.open(other) as file, pytest.raises(Corrupt, match=r"other\.parquet.*'id'"):
        file.read(["id"])


def test_closing_holds_here_too(other):
    session = rangeio.Session()
    file = rangeio.open(other, session=session)
    session.close()
    for ask in (file.read, lambda: file.num_rows, lambda: file.schema):
        with pytest.raises(Closed):
            ask()
    with rangeio.open(other) as file:
        pass
    for ask in (file.read, lambda: file.num_rows, lambda: file.schema):
        with pytest.raises(Closed):
            ask()


def test_a_missing_file(tmp_path):
    with pytest.raises(NotFound, match="no such file"):
        rangeio.open(tmp_path / "none.parquet")


def test_a_large_read_is_decoded_on_several_threads_by_the_same_gets(tmp_path):
    path = tmp_path / "large.parquet"
    rng = np.random.default_rng(5)
    table = pa.table({f"c{i}": rng.random(200_000) for i in range(6)})
    pq.write_table(table, path, row_group_size=70_000, compression="none", use_dictionary=False)
    names = table.column_names
    with rangeio.Session() as session, rangeio.open(path, session=session) as file:
        before = {thread.name for thread in threading.enumerate()}
        assert file.read(names) == table
        assert {thread.name for thread in threading.enumerate()} <= before, "threads are left"
    with rangeio.Session(profile="file") as session, rangeio.open(path, session=session) as peer:
        assert peer.read(names) == table
    assert sorted(gets(file)) == sorted(gets(peer))
    data = bytearray(path.read_bytes())
    data[3_000_000:3_000_400] = bytes(400)
    data[2_000_000:2_000_400] = bytes(400)
    path.write_bytes(data[:4] + bytes(1000) + data[1004:])
    with rangeio.open(path) as file, pytest.raises(Corrupt, match=r"large\.parquet"):
        file.read(names)


def test_many_open_files_hold_few_tails(other):
    with rangeio.Session() as session:
        opened = [rangeio.open(other, session=session) for _ in range(300)]
        last = other.stat().st_size
        tails = [
            file._opened.handle.direct.cache.find(ByteRange(last - 8, last)) for file in opened
        ]
        assert [tail is not None for tail in tails] == [False] * 44 + [True] * 256
        assert opened[0].read(["id"]) == TABLE.select(["id"])
        opened[-1].close()
        assert opened[-1]._opened.handle.direct.cache.find(ByteRange(last - 8, last)) is None


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_pages_that_have_nothing_to_read(tmp_path, version):
    table = pa.table({"none": pa.nulls(500, pa.int64()), "one": [7] * 500, "id": range(500)})
    path = write(tmp_path / "constant.lance", table, version)
    with rangeio.Session() as session, rangeio.open(path, session=session) as file:
        assert file.read() == table
        assert file.read(["none"]) == table.select(["none"])
        assert session._live is None
