"""The range layer by itself: fetch, fetch_async, open_raw."""

import asyncio
import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from places import settled

import rangeio
from rangeio.errors import BadRows, NotFound, ObjectChanged, RequestError
from rangeio.testing.server import Fault, RangeServer

DATA = bytes(i * 7 % 251 for i in range(3_000_000))


@pytest.fixture
def server():
    with RangeServer({"o.bin": DATA}) as one:
        yield one


ASKED = [
    [(0, 10)],
    [(0, 10), (5, 20), (0, 10)],
    [(2_999_990, 3_000_000), (0, 1)],
    [(-10, None)],
    [(-10, None), (100, 200)],
    [(2_999_000, None)],
    [(0, None)],
    [(7, 7)],
    [(None, 5), slice(10, 20), slice(-3, None)],
    [],
]


def wanted(one):
    start, stop = (one.start, one.stop) if isinstance(one, slice) else one
    return DATA[start:stop]


@pytest.mark.parametrize("ranges", ASKED, ids=str)
def test_ranges_come_in_the_asked_order(server, session, ranges):
    expected = [wanted(one) for one in ranges]
    url = server.at("o.bin")
    assert rangeio.fetch(url, ranges, session=session) == expected
    assert rangeio.fetch(DATA, ranges, session=session) == expected
    assert asyncio.run(rangeio.fetch_async(url, ranges, session=session)) == expected
    assert settled(session)


def test_near_ranges_share_a_get_and_far_ones_do_not(server, session):
    rangeio.fetch(server.at("o.bin"), [(0, 1000), (1500, 3000)], session=session)
    assert len(server.log) == 1
    rangeio.fetch(server.at("o.bin"), [(0, 10), (2_900_000, 2_900_010)], session=session)
    assert len(server.log) == 3
    assert all(r.method == "GET" for r in server.log)


def test_a_small_buffer_bounds_a_large_fetch(server):
    with rangeio.Session(profile="s3", max_buffer=300_000, memory_cache=0) as session:
        parts = [(i, i + 100_000) for i in range(0, 3_000_000, 100_000)]
        got = rangeio.fetch(server.at("o.bin"), parts, session=session)
        assert b"".join(got) == DATA
        assert settled(session)


def test_bad_ranges_say_so(server, session):
    url = server.at("o.bin")
    with pytest.raises(BadRows, match="beyond"):
        rangeio.fetch(url, [(0, 10), (5, 3_000_001)], session=session)
    with pytest.raises(BadRows):
        rangeio.fetch(url, [(10, 5)], session=session)
    with pytest.raises(RequestError):
        rangeio.fetch(url, [(-5, 10)], session=session)
    with pytest.raises(NotFound):
        rangeio.fetch(server.at("absent"), [(0, 10)], session=session)


def test_all_bytes_come_from_one_version(server, session):
    swap = Fault(then=lambda: server.put("o.bin", DATA[::-1]))
    server.script.add(swap, after=1)
    with pytest.raises(ObjectChanged):
        rangeio.fetch(server.at("o.bin"), [(0, 10), (2_900_000, 2_900_010)], session=session)


def test_a_raw_file_seeks_and_reads(server, session):
    with rangeio.open_raw(server.at("o.bin"), session=session) as file:
        assert file.read(10) == DATA[:10]
        assert file.seek(-5, io.SEEK_END) == len(DATA) - 5
        assert file.read() == DATA[-5:]
        assert file.read(1) == b""
        file.seek(1_000_000)
        assert file.read(3) == DATA[1_000_000:1_000_003]
        assert file.tell() == 1_000_003
        assert (file.readable(), file.seekable(), file.writable()) == (True, True, False)
    with pytest.raises(ValueError, match="closed"):
        file.read(1)


def test_other_libraries_read_through_it(server, session):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a.txt", "hello " * 1000)
    server.put("a.zip", sink.getvalue())
    with zipfile.ZipFile(rangeio.open_raw(server.at("a.zip"), session=session)) as archive:
        assert archive.read("a.txt") == b"hello " * 1000
    table = pa.table({"a": list(range(1000))})
    out = io.BytesIO()
    pq.write_table(table, out)
    server.put("t.parquet", out.getvalue())
    with rangeio.open_raw(server.at("t.parquet"), session=session) as file:
        assert pq.read_table(file) == table


def test_what_was_read_is_not_fetched_again(server, session):
    with rangeio.open_raw(server.at("o.bin"), session=session) as file:
        file.seek(100_000)
        file.read(1000)
        before = len(server.log)
        file.seek(0, io.SEEK_END)
        file.seek(100_500)
        file.read(10)
        assert len(server.log) == before


def test_reading_all_is_one_fetch_of_the_rest(server):
    with rangeio.Session(profile="s3", memory_cache=0) as session:
        with rangeio.open_raw(server.at("o.bin"), session=session) as file:
            assert file.read() == DATA
        assert len(server.log) <= 4
        with rangeio.open_raw(server.at("o.bin"), session=session) as file:
            before = len(server.log)
            for i in range(0, 200_000, 1000):
                file.seek(i)
                assert file.read(10) == DATA[i : i + 10]
            assert len(server.log) - before == 1


def test_many_fetches_stay_within_the_budget_and_one_group_each(server):
    import threading

    with rangeio.Session(profile="s3", max_buffer=1 << 20, memory_cache=0) as session:
        parts = [(i, i + 200_000) for i in range(0, 3_000_000, 200_000)]
        got = []
        threads = [
            threading.Thread(
                target=lambda: got.append(rangeio.fetch(server.at("o.bin"), parts, session=session))
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(b"".join(one) == DATA for one in got)
        assert settled(session)
