"""The disk cache behind files: what one session fetched, no other session and process fetches."""

import asyncio
import contextlib
import os
import pickle
import random
import subprocess
import sys

import pytest
from places import oracle, reach, settled

import rangeio
from rangeio import DiskCache, Session
from rangeio.errors import RequestError
from rangeio.testing.gcs import GcsBucket, GcsObject, GcsServer
from rangeio.testing.server import RangeServer
from rangeio.testing.sigv4 import Bucket, Credentials, SigV4Server

COLUMNS = ["feature_00007", "feature_01500", "feature_02999"]
ACCESS, SECRET, TOKEN = "CANARYACCESS0123", "canarysecretABCDEFGHIJKLMNOPQRST", "canarytokenXYZ"


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def wide(files):
    return files.wide(3000)


@pytest.fixture
def served(place, wide):
    return place("http", wide)


def session_on(cache, **words):
    return Session(**{"profile": "s3", "disk_cache": cache, **words})


def gets_of(served, cache, work, **words):
    """What ``work`` returns of the file in a new session, the requests it took, and the trace."""
    before = len(served.server.log)
    with session_on(cache, **words) as session, served.open(session) as file:
        found = work(file)
        trace = list(file.trace), file.trace.gets, file.trace.from_disk
    return found, len(served.server.log) - before, trace


def size_of(cache):
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", ["http", "s3"])
def test_a_second_session_fetches_nothing_but_the_version(place, wide, cache, kind):
    served, want = place(kind, wide), oracle(wide, COLUMNS)
    for turn in range(3):
        with session_on(cache) as session, served.open(session) as file:
            assert file.read(COLUMNS) == want
            assert (file.trace.gets == 1) == (turn > 0)
            assert (file.trace.from_disk > 0) == (turn > 0)
            if turn:
                assert [get.why for get in file.trace if not get.cached] == ["tail"]


def test_an_explained_read_is_the_one_that_is_made(served, cache):
    def work(file):
        explained = file.explain(columns=COLUMNS)
        paid = len(file.trace)
        table = file.read(COLUMNS)
        made = [(r.start, r.stop) for r in list(file.trace)[paid:] if not r.cached]
        assert sorted(made) == [(get.at.start, get.at.stop) for get in explained.planned]
        return table, len(made)

    (cold, made), _, _ = gets_of(served, cache, work)
    (warm, again), requests, (_, gets, from_disk) = gets_of(served, cache, work)
    assert warm == cold
    assert made > 0
    assert (again, requests, gets) == (0, 1, 1)
    assert from_disk > 0


def test_what_is_on_disk_in_part_is_fetched_in_part(served, cache, wide):
    gets_of(served, cache, lambda file: file.read(COLUMNS[:1]))
    table, _, (trace, gets, from_disk) = gets_of(served, cache, lambda file: file.read(COLUMNS))
    assert table == oracle(wide, COLUMNS)
    assert from_disk > 0
    assert gets > 1
    stored = [(r.start, r.stop) for r in trace if r.disk]
    made = [(r.start, r.stop) for r in trace if not r.cached and r.why != "tail"]
    assert not any(a < d and c < b for a, b in stored for c, d in made)


def test_ranges_are_found_by_containment(served, cache):
    data = random.Random(0).randbytes(3_000_000)
    url = served.server.at("x.bin")
    served.server.put("x.bin", data)
    with session_on(cache) as session:
        rangeio.fetch(url, [(0, 10), (500_000, 2_500_000)], session=session)
    rng = random.Random(1)
    asked = [(0, 10)]
    for _ in range(50):
        start = rng.randrange(500_000, 2_400_000)
        asked.append((start, start + rng.choice((1, 100, 65_536, 100_000))))
    before = len(served.server.log)
    with session_on(cache, memory_cache=0) as session:
        found = rangeio.fetch(url, asked, session=session)
    assert found == [data[a:b] for a, b in asked]
    assert len(served.server.log) - before == 1


@pytest.mark.parametrize("memory", [0, 100_000, 64 << 20])
def test_any_reading_is_right_whatever_is_on_disk(served, cache, memory):
    data = random.Random(2).randbytes(400_000)
    served.server.put("r.bin", data)
    url, rng = served.server.at("r.bin"), random.Random(memory)
    for _ in range(6):
        with session_on(cache, memory_cache=memory, profile="file") as session:
            for _ in range(6):
                starts = [rng.randrange(len(data)) for _ in range(rng.choice((1, 3, 30)))]
                asked = [(a, min(a + rng.choice((1, 99, 9_000)), len(data))) for a in starts]
                found = rangeio.fetch(url, asked, session=session)
                assert found == [data[a:b] for a, b in asked]
    broken = [path for path in cache.rglob("*") if len(path.name) == 32]
    for path in broken[::2]:
        raw = bytearray(path.read_bytes())
        raw[rng.randrange(len(raw))] ^= 255
        path.write_bytes(raw)
    with session_on(cache, memory_cache=memory) as session:
        assert rangeio.fetch(url, [(0, len(data))], session=session) == [data]


def test_a_large_range_is_kept_in_parts_and_read_as_one(served, cache):
    data = random.Random(3).randbytes(40 << 20)
    served.server.put("large.bin", data)
    with (
        session_on(cache) as session,
        rangeio.open_raw(served.server.at("large.bin"), session=session) as raw,
    ):
        assert raw.read() == data
    before = len(served.server.log)
    with (
        session_on(cache) as session,
        rangeio.open_raw(served.server.at("large.bin"), session=session) as raw,
    ):
        assert raw.read() == data
    assert len(served.server.log) - before == 1


READER = """
import sys, rangeio
url, cache = sys.argv[1:]
with rangeio.Session(disk_cache=cache, profile="s3") as session:
    with rangeio.open(url, session=session) as file:
        rows = file.read(["feature_00007", "feature_01500"]).num_rows
        print(rows, file.trace.gets, file.trace.from_disk > 0)
"""


def test_another_process_finds_it(served, cache):
    said = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", READER, served.target, str(cache)],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        said.append(done.stdout.split())
    assert said[0][2] == "False"
    assert said[1] == ["2000", "1", "True"]


def test_a_pinned_file_asks_for_nothing_at_all(served, cache, wide):
    with session_on(cache) as session, served.open(session) as file:
        file.read(COLUMNS)
        packed = pickle.dumps(file)
    before = len(served.server.log)
    file = pickle.loads(packed)
    assert file.read(COLUMNS) == oracle(wide, COLUMNS)
    assert len(served.server.log) == before
    assert file.trace.gets == 0
    file._opened.session.close()


def test_a_planned_dataset_asks_for_nothing_at_all(served, cache, wide):
    want = oracle(wide, COLUMNS)
    with session_on(cache) as session:
        plan = rangeio.dataset([served.target], session=session).plan(COLUMNS)
        assert plan.read(session=session) == want
    before = len(served.server.log)
    with session_on(cache) as session:
        assert pickle.loads(pickle.dumps(plan)).read(session=session) == want
    assert len(served.server.log) == before


def test_a_planned_read_of_other_columns_fetches_only_what_is_missing(served, cache, wide):
    """A GET that the plan would make over what is on disk is not made as it was planned."""
    apart = ["feature_00007", "feature_00008", "feature_00009"]
    with session_on(cache) as session:
        dataset = rangeio.dataset([served.target], session=session)
        whole, ends = dataset.plan(apart), dataset.plan(apart[::2])
        for name in apart[::2]:
            dataset.read([name])
    before = len(served.server.log)
    with session_on(cache) as session:
        assert ends.read(session=session) == oracle(wide, apart[::2])
    assert len(served.server.log) == before
    with session_on(cache) as session:
        assert whole.read(session=session) == oracle(wide, apart)
    assert len(served.server.log) == before + 1


def test_another_version_is_another_object(served, cache, wide):
    gets_of(served, cache, lambda file: file.read(COLUMNS))
    key = served.target.rsplit("/", 1)[1]
    served.server.put(key, wide.read_bytes())
    _, _, (_, gets, from_disk) = gets_of(served, cache, lambda file: file.read(COLUMNS))
    assert from_disk == 0
    assert gets > 1


@pytest.mark.parametrize("tag", ['W/"weak"', ""])
def test_nothing_is_kept_of_an_object_without_a_strong_tag(served, cache, wide, tag):
    key = served.target.rsplit("/", 1)[1]
    served.server.put(key, wide.read_bytes(), etag=tag)
    gets_of(served, cache, lambda file: file.read(COLUMNS))
    assert not cache.exists()


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_nothing_is_kept_of_what_is_at_hand(place, wide, cache, kind):
    with session_on(cache) as session, place(kind, wide).open(session) as file:
        file.read(COLUMNS)
    assert not cache.exists()


def test_the_same_name_at_two_endpoints_is_two_objects(cache, wide):
    with contextlib.ExitStack() as stack:
        for kind in ("http", "s3"):
            one, two = (reach(stack, kind, wide) for _ in range(2))
            for place in (one, two):
                with session_on(cache) as session, place.open(session) as file:
                    assert file.read(COLUMNS) == oracle(wide, COLUMNS)
                    assert file.trace.from_disk == 0


def test_who_asks_and_for_how_long_makes_no_other_object():
    from rangeio.stores.url import place

    url = "https://user:word@Host.example/a/b%23?versionId=7"
    signed = "&X-Amz-Signature=1&x-amz-credential=2&X-Amz-Date=3#part"
    assert place(url + signed) == "https://host.example/a/b%23?versionId=7"
    sas = "https://a.blob.core.windows.net/c/k?sv=1&se=2&sig=3&sp=r"
    assert place(sas) == "https://a.blob.core.windows.net/c/k"
    assert place("https://h/x?sv=1&se=2") == "https://h/x?sv=1&se=2"
    assert place("https://h/x?id=1") != place("https://h/x?id=2")


def test_stores_say_where_objects_are(place, files):
    from rangeio.stores.s3 import S3Store

    async def where(options, key="b/k"):
        store = S3Store({"key": ACCESS, "secret": SECRET, **options})
        try:
            return await store.place(key)
        finally:
            await store.close()

    async def main():
        home = await where({})
        assert home == await where({"client_kwargs": {"region_name": "eu-central-1"}})
        assert home != await where({"client_kwargs": {"region_name": "cn-north-1"}})
        assert home != await where({"client_kwargs": {"verify": False}})
        brought = {"SSECustomerKey": "k" * 32, "SSECustomerAlgorithm": "AES256"}
        assert await where({"s3_additional_kwargs": brought}) == ""
        local = [await where({"endpoint_url": f"http://u:{SECRET}@127.0.0.1:{p}"}) for p in (1, 2)]
        assert len({home, *local}) == 3
        assert await where({}, "b/k#1") != await where({}, "b/k#2")
        assert SECRET not in "".join((home, *local))

    asyncio.run(main())


def test_no_secret_is_on_disk(cache, files):
    path = files.mixed()
    bucket = Bucket(objects={"d/m.lance": path.read_bytes()})
    who = Credentials(ACCESS, SECRET, TOKEN)
    with SigV4Server({"canarybucket": bucket}, credentials=who) as server:
        options = {
            "key": ACCESS,
            "secret": SECRET,
            "token": TOKEN,
            "endpoint_url": server.url,
            "client_kwargs": {"region_name": bucket.region},
        }
        with (
            session_on(cache) as session,
            rangeio.open(
                "s3://canarybucket/d/m.lance", storage_options=options, session=session
            ) as file,
        ):
            file.read()
    with RangeServer({"secret.lance": path.read_bytes()}) as server, session_on(cache) as session:
        url = server.at("secret.lance").replace("://", f"://user:{SECRET}@")
        rangeio.open(f"{url}?X-Amz-Signature={TOKEN}", session=session).read()
    found = list(cache.rglob("*"))
    assert len(found) > 4
    said = "\n".join(str(one.relative_to(cache)) for one in found).encode()
    said += b"\n".join(one.read_bytes() for one in found if one.is_file())
    for word in (ACCESS, SECRET, TOKEN, "canarybucket", "secret.lance", "m.lance", "127.0.0.1"):
        assert word.encode() not in said


def test_other_credentials_share_what_is_kept(cache, wide):
    with contextlib.ExitStack() as stack:
        served = reach(stack, "s3", wide)
        for turn, who in enumerate((Credentials(), Credentials("OTHER", "othersecret"))):
            served.server.rotate(who)
            served.options.update(key=who.access, secret=who.secret)
            with session_on(cache) as session, served.open(session) as file:
                assert file.read(COLUMNS) == oracle(wide, COLUMNS)
                assert (file.trace.from_disk > 0) == (turn > 0)


def test_concurrent_readers_read_a_range_once(served, cache):
    gets_of(served, cache, lambda file: file.read(COLUMNS))

    async def main(session):
        opened = [await rangeio.open_async(served.target, session=session) for _ in range(8)]
        tables = await asyncio.gather(*(file.read(COLUMNS) for file in opened))
        disk = [(r.start, r.stop) for file in opened for r in file.trace if r.disk]
        for file in opened:
            await file.close()
        return tables, disk

    with session_on(cache) as session:
        tables, disk = asyncio.run(main(session))
    assert all(table == tables[0] for table in tables)
    assert len(disk) == len(set(disk)) > 0


def test_the_cap_holds(served, cache):
    served.server.put("x.bin", random.Random(5).randbytes(8 << 20))
    small = DiskCache(cache, 1 << 20)
    with session_on(small, profile="file") as session:
        for i in range(40):
            at = i * 200_000
            rangeio.fetch(served.server.at("x.bin"), [(at, at + 150_000)], session=session)
    assert 0 < size_of(cache) <= (1 << 20) + 100


@pytest.mark.parametrize("what", ["file", "others"])
def test_a_cache_that_cannot_be_is_none(served, cache, wide, what):
    if what == "file":
        cache.write_text("in the way")
    else:
        cache.mkdir()
        cache.chmod(0o777)
    for _ in range(2):
        table, _, (_, _, from_disk) = gets_of(served, cache, lambda file: file.read(COLUMNS))
        assert table == oracle(wide, COLUMNS)
        assert from_disk == 0


def test_a_cache_that_goes_while_it_is_read_is_none(served, cache, wide):
    import shutil

    gets_of(served, cache, lambda file: file.read(COLUMNS))
    with session_on(cache) as session, served.open(session) as file:
        file.explain(columns=COLUMNS)  # its listing is known from here on
        shutil.rmtree(cache)
        assert file.read(COLUMNS) == oracle(wide, COLUMNS)
    assert size_of(cache) > 0


def test_the_hops_of_a_read_count_gets_alone(served, cache):
    gets_of(served, cache, lambda file: file.read(COLUMNS))
    with session_on(cache) as session, served.open(session) as file:
        file.read(COLUMNS)
        assert file.trace.hops == 1
        hit = [get for get in file.trace if get.disk]
        assert all(get.cached and get.hop == 0 and not get.size for get in hit)


# ---- the setting ----


def test_a_session_takes_it_along(tmp_path):
    session = Session(disk_cache=DiskCache(tmp_path / "x", 5 << 20))
    again = pickle.loads(pickle.dumps(session))
    assert again.disk_cache == session.disk_cache == DiskCache(str(tmp_path / "x"), 5 << 20)
    assert not (tmp_path / "x").exists()


def test_a_path_means_the_same_everywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Session(disk_cache="c").disk_cache == DiskCache(tmp_path / "c", 10 << 30)
    assert DiskCache("~/c").path == os.path.expanduser("~/c")


def test_the_environment_sets_it(tmp_path, monkeypatch):
    assert Session().disk_cache is None
    monkeypatch.setenv("RANGEIO_DISK_CACHE", str(tmp_path))
    monkeypatch.setenv("RANGEIO_DISK_CACHE_BYTES", "3MiB")
    assert Session().disk_cache == DiskCache(tmp_path, 3 << 20)
    assert Session(disk_cache=tmp_path / "y").disk_cache == DiskCache(tmp_path / "y", 3 << 20)
    assert Session(disk_cache=DiskCache(tmp_path, 7)).disk_cache.max_bytes == 7
    monkeypatch.setenv("RANGEIO_DISK_CACHE_BYTES", "some")
    with pytest.raises(RequestError, match="DISK_CACHE_BYTES"):
        Session()


def test_scans_that_are_left_leave_nothing(served, cache, wide):
    with session_on(cache) as session, served.open(session) as file:
        want = file.read(COLUMNS)
    words = {"memory_cache": 0, "max_buffer": 256 << 10}
    with session_on(cache, **words) as session, served.open(session) as file:
        for taken in (0, 1, 2, 5):
            stream = file.scan(COLUMNS, batch_rows=100)
            batches = [stream.read_next_batch() for _ in range(taken)]
            assert all(
                b.equals(want.slice(i * 100, 100).to_batches()[0]) for i, b in enumerate(batches)
            )
            stream.close()
            assert settled(session)
        assert file.trace.gets == 1
        assert file.read(COLUMNS) == want


def test_objects_on_gcs_are_kept_by_generation(cache, wide):
    want = oracle(wide, COLUMNS)
    bucket = GcsBucket({"d/w.lance": GcsObject(wide.read_bytes())}, public=True)
    with GcsServer({"b": bucket}) as server:
        options = {"token": "anon", "endpoint_url": server.url}
        for turn in range(2):
            with (
                session_on(cache) as session,
                rangeio.open("gs://b/d/w.lance", storage_options=options, session=session) as file,
            ):
                assert file.read(COLUMNS) == want
                assert (file.trace.gets == 1) == (turn == 1)
