"""Listings of every store: all names, in pages, with tags that opening the file confirms."""

import asyncio
import itertools
import json
import os
import pickle
import time
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rangeio
from rangeio.datasets.finding.discovery import discover
from rangeio.errors import Denied, NotFound, ServerFault, StoreError
from rangeio.stores.address import resolve
from rangeio.stores.listgcs import GcsLister, _listed
from rangeio.stores.listing import lister_of, walk
from rangeio.stores.lists3 import S3Lister
from rangeio.stores.store import Listed, Page
from rangeio.testing.gcs import GcsBucket, GcsObject, GcsServer
from rangeio.testing.listener import Listener, Response
from rangeio.testing.moto import MotoServer

MANY = 160


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("listing") / "f.parquet"
    pq.write_table(pa.table({"x": [1, 2, 3]}), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def moto(parquet):
    """Many objects in three prefixes, and few elsewhere."""
    with MotoServer() as server:
        server.bucket("many")
        server.bucket("few")
        server.bucket("empty")
        with ThreadPoolExecutor(4) as pool:
            for i in range(MANY):
                pool.submit(server.put, "many", f"t/p={i % 3}/d/{i:04}", b"x")
        for key in ("a.parquet", "d/b c+%.parquet", "d//e", "d/k=ü/f", "marker/", "d/_h/g"):
            server.put("few", key, parquet)
        yield server


def run(store, work):
    async def go():
        try:
            return await work
        finally:
            await store.close()

    return asyncio.run(go())


async def walked(lister, folder, enter=lambda _: True, in_flight=4):
    async with aclosing(walk(lister, folder, enter, in_flight=in_flight)) as pages:
        return [page async for page in pages]


def keys(pages):
    return sorted(one.key for page in pages for one in page.files)


class Counted:
    """A lister that keeps what it was asked."""

    def __init__(self, lister):
        self.lister, self.deep, self.asked = lister, lister.deep, []
        self.flying = self.most = 0

    async def list(self, folder, after="", *, deep=False):
        self.asked.append((folder, bool(after), deep))
        self.flying += 1
        self.most = max(self.most, self.flying)
        try:
            return await self.lister.list(folder, after, deep=deep)
        finally:
            self.flying -= 1


# ---- the walk -----------------------------------------------------------------------------------


class Tree:
    """A lister of a made-up tree, whose pages hold two names."""

    def __init__(self, names, deep):
        self.names, self.deep = sorted(names), deep

    async def list(self, folder, after="", *, deep=False):
        await asyncio.sleep(0)
        below = [n[len(folder) :] for n in self.names if n.startswith(folder)]
        if not deep:
            below = list(dict.fromkeys(n.partition("/")[0] + "/" * ("/" in n) for n in below))
        start = int(after or 0)
        page = [folder + n for n in below[start : start + 2]]
        return Page(
            tuple(Listed(n) for n in page if not n.endswith("/")),
            tuple(n for n in page if n.endswith("/")),
            str(start + 2) if start + 2 < len(below) else "",
        )


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("in_flight", [1, 3, 32])
def test_a_walk_sees_every_name_once(deep, in_flight):
    names = [f"r/{a}/{b}/{c}" for a, b, c in itertools.product("abc", "de", "fgh")] + ["r/x", "r/y"]
    lister = Counted(Tree(names, deep))
    pages = asyncio.run(walked(lister, "r/", in_flight=in_flight))
    assert keys(pages) == sorted(names)
    assert lister.most <= in_flight
    assert lister.most > 1 or in_flight == 1


def test_a_tree_that_fits_one_page_costs_one_request():
    lister = Counted(Tree(["r/a/b/c", "r/d/e"], True))
    asyncio.run(walked(lister, "r/"))
    assert lister.asked == [("r/", False, True)]


def test_folders_that_are_refused_are_not_listed():
    lister = Counted(Tree(["r/a/1", "r/b/2"], False))
    assert keys(asyncio.run(walked(lister, "r/", lambda f: f != "r/a/"))) == ["r/b/2"]
    assert lister.asked == [("r/", False, False), ("r/b/", False, False)]


def test_a_walk_that_ends_early_leaves_nothing_running():
    async def go():
        lister = Counted(Tree([f"r/{i}/{j}" for i in range(9) for j in range(9)], False))
        async with aclosing(walk(lister, "r/")) as pages:
            async for _ in pages:
                break
        assert lister.flying == 0
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(go())


def test_an_error_ends_a_walk():
    class Broken(Tree):
        async def list(self, folder, after="", *, deep=False):
            if folder == "r/b/":
                raise Denied("no")
            return await super().list(folder, after, deep=deep)

    with pytest.raises(Denied):
        asyncio.run(walked(Broken(["r/a/1", "r/b/2", "r/c/3"], False), "r/"))


# ---- the local disk -----------------------------------------------------------------------------


def test_local_names(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x", "a/y", "a/b/z", "a/new\nline"):
        (tmp_path / name).write_bytes(b"12345")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("none")
    (tmp_path / "a" / "b" / "loop").symlink_to(tmp_path)
    (tmp_path / "other").symlink_to(tmp_path / "a" / "b")
    store, key, *_ = resolve(f"{tmp_path}/k")
    pages = run(store, walked(lister_of(store), key[:-1]))
    found = {one.key[len(key) - 1 :]: one.size for page in pages for one in page.files}
    assert found == {
        "x": 5, "a/y": 5, "a/b/z": 5, "a/new\nline": 5, "nowhere": -1, "other/z": 5,
    }  # fmt: skip


def test_what_is_no_local_directory(tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    store, key, *_ = resolve(f"{tmp_path}/k")
    lister = lister_of(store)
    for name in ("none/", "f/", "a\0b/"):
        with pytest.raises(NotFound, match="no such directory"):
            run(store, lister.list(key[:-1] + name))
    assert run(store, lister.look(f"{tmp_path}/none")) is None
    assert run(store, lister.look(str(tmp_path))) is None


# ---- S3 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [1000, 20])
def test_s3_pages(moto, page):
    store, *_ = resolve("s3://many/k", moto.options)
    lister = Counted(S3Lister(store, page))
    pages = run(store, walked(lister, "many/t/"))
    assert keys(pages) == sorted(f"many/t/p={i % 3}/d/{i:04}" for i in range(MANY))
    assert all(len(one.files) <= page for one in pages)
    assert any(after for _, after, _ in lister.asked) is (page == 20)
    assert lister.most > 1 or page == 1000


def test_s3_names_of_every_kind(moto):
    store, *_ = resolve("s3://few/k", moto.options)
    lister = Counted(lister_of(store))
    pages = run(store, walked(lister, "few/"))
    assert keys(pages) == [
        "few/a.parquet", "few/d//e", "few/d/_h/g", "few/d/b c+%.parquet", "few/d/k=ü/f",
    ]  # fmt: skip
    assert len(lister.asked) == 1
    assert pages[0].files[0].size > 0


def test_s3_looks(moto):
    store, *_ = resolve("s3://few/k", moto.options)

    async def go():
        lister = lister_of(store)
        assert await lister.look("few/d") is None
        assert await lister.look("none/d") is None
        return await lister.look("few/a.parquet")

    found = run(store, go())
    assert found.size > 0
    assert found.tag.startswith('"')


def test_s3_refusals_are_mapped_and_tell_no_secret(moto):
    store, *_ = resolve("s3://none/k", moto.options)
    with pytest.raises(NotFound, match="no such bucket") as caught:
        run(store, lister_of(store).list("none/x/"))
    assert caught.value.url == "s3://none/x/"
    gone = {**moto.options, "endpoint_url": "http://127.0.0.1:9", "secret": "sesame"}
    store, *_ = resolve("s3://few/k", gone)
    with pytest.raises(StoreError, match="the connection failed") as lost:
        run(store, lister_of(store).list("few/"))
    assert "sesame" not in str(lost.value)
    assert lost.value.transient


class Refusing(Listener):
    """An S3 that says no to everything."""

    def answer(self, request):
        return Response(403, {}, b"<Error><Code>AccessDenied</Code></Error>")


def test_s3_denials(session):
    with Refusing() as server:
        given = {"key": "open", "secret": "sesame", "endpoint_url": server.url}
        with pytest.raises(Denied, match="AccessDenied") as caught:
            session.run(discover(session, "s3://b/t/", storage_options=given))
    assert caught.value.status == 403
    assert "sesame" not in str(caught.value)


# ---- GCS ----------------------------------------------------------------------------------------


class ListingGcs(GcsServer):
    """A GCS that lists too, three names a page."""

    failures = 0

    def answer(self, request):
        if request.path.startswith("/download/"):
            return super().answer(request)
        if self.failures:
            self.failures -= 1
            return Response(503)
        bucket = self.buckets.get(request.name.split("/")[4])
        if bucket is None:
            return Response(404)
        if request.headers.get("authorization") != f"Bearer {self.token}" and not bucket.public:
            return Response(401)
        if not request.path.endswith("/o"):
            name = request.name.split("/o/", 1)[1]
            return self.told(self.item(name, bucket)) if name in bucket.objects else Response(404)
        return self.page(request.parameters, bucket)

    def page(self, asked, bucket):
        prefix, mark = asked.get("prefix", ""), asked.get("delimiter")
        names = [n for n in sorted(bucket.objects) if n.startswith(prefix)]
        cut = [
            n if not mark or mark not in n[len(prefix) :]
            else prefix + n[len(prefix) :].partition(mark)[0] + mark
            for n in names
        ]  # fmt: skip
        cut, start = list(dict.fromkeys(cut)), int(asked.get("pageToken", 0))
        page = cut[start : start + 3]
        told = {
            "items": [self.item(n, bucket) for n in page if n in bucket.objects],
            "prefixes": [n for n in page if n not in bucket.objects],
        }
        return self.told(told | ({"nextPageToken": str(start + 3)} if start + 3 < len(cut) else {}))

    def item(self, name, bucket):
        kept = bucket.objects[name]
        return {"name": name, "size": str(len(kept.data)), "generation": str(kept.generation)}

    def told(self, document):
        return Response(200, {"Content-Type": "application/json"}, json.dumps(document).encode())


NAMES = ["a", "t/p=1/x", "t/p=1/y", "t/p=2/z", "t/ä b/w", "t/u", "t/v", "t/w"]


@pytest.fixture
def gcs(parquet):
    objects = {name: GcsObject(parquet, 7) for name in NAMES}
    buckets = {"open": GcsBucket(objects, public=True), "shut": GcsBucket(objects)}
    with ListingGcs(buckets) as server:
        yield server


def anonymous(server):
    return {"token": "anon", "endpoint_url": server.url, "project": "p"}


def test_gcs_pages(gcs):
    store, *_ = resolve("gs://open/k", anonymous(gcs))
    lister = Counted(lister_of(store))
    pages = run(store, walked(lister, "open/t/"))
    assert keys(pages) == sorted(f"open/{name}" for name in NAMES if name != "a")
    assert any(after for _, after, _ in lister.asked)
    assert run(store, lister_of(store).look("open/t/ä b/w")).size > 0
    assert run(store, lister_of(store).look("open/t")) is None


def test_gcs_generations_are_tags_where_they_are_google_s_own(gcs):
    item = {"name": "n", "size": "5", "generation": "1700000000000001"}
    assert _listed("b", item, True) == Listed("b/n", 5, "1700000000000001")
    assert _listed("b", item, False) == Listed("b/n", 5, "")


def test_gcs_refusals(gcs):
    store, *_ = resolve("gs://open/k", anonymous(gcs))
    with pytest.raises(Denied, match="pass a token"):
        run(store, GcsLister(store).list("shut/t/"))
    with pytest.raises(NotFound, match="no such bucket"):
        run(store, GcsLister(store).list("none/t/"))


def test_gcs_discovery_survives_a_busy_store(gcs, session):
    gcs.failures = 2
    found = session.run(discover(session, "gs://open/t/*/[xz]", storage_options=anonymous(gcs)))
    assert [one.url for one in found.files] == ["gs://open/t/p=1/x", "gs://open/t/p=2/z"]


def test_an_answer_that_is_no_listing(session):
    class Odd(Listener):
        def answer(self, request):
            return Response(200, {}, b"[1]")

    with Odd() as server:
        store, *_ = resolve("gs://b/k", anonymous(server))
        with pytest.raises(ServerFault, match="no JSON document"):
            run(store, lister_of(store).list("b/"))


def test_gcs_as_its_emulator_lists(session, parquet):
    from gcp_storage_emulator.server import create_server
    from gcsfs.core import GCSFileSystem

    server = create_server("127.0.0.1", 0, in_memory=True)
    server.start()
    try:
        url = f"http://127.0.0.1:{server._api._httpd.server_address[1]}"
        given = {"token": "anon", "endpoint_url": url, "project": "p"}
        fs = GCSFileSystem(**given, skip_instance_cache=True)
        try:
            fs.mkdir("b")
            for name in ("b/t/k=1/a.parquet", "b/t/k=2/b.parquet", "b/u"):
                fs.pipe_file(name, parquet)
        finally:
            fs.close_session(fs.loop, fs._session)
        with rangeio.Session() as one:
            found = one.run(discover(one, "gs://b/t", storage_options=given))
    finally:
        server.stop()
    assert [file.path for file in found.files] == ["k=1/a.parquet", "k=2/b.parquet"]
    assert {file.size for file in found.files} == {len(parquet)}


# ---- web servers --------------------------------------------------------------------------------

INDEX = b"""<html><a href="?C=N;O=D">Name</a> <a href="/">Parent</a> <a href="../">up</a>
<A class="x" HREF='a%20b.parquet'>a</A> <a href="sub/">sub</a> <a href="/d/c.parquet">c</a>
<a href="sub/deep.parquet">no</a> <a href="http://elsewhere/d/x">no</a> <a href="#top">no</a>
<a href="_hidden.parquet">h</a> <a href="a&amp;b.parquet">and</a></html>"""


class Web(Listener):
    """A directory's page, and one below it."""

    def answer(self, request):
        pages = {"/d/": INDEX, "/d/sub/": b'<a href="k.parquet">k</a>', "/plain": b"data"}
        page = pages.get(request.path)
        return Response(404) if page is None else Response(200, {"Content-Type": "text/html"}, page)


def test_web_pages_are_listings(session):
    with Web() as web:
        found = session.run(discover(session, f"{web.url}/d/"))
        assert [one.path for one in found.files] == [
            "a b.parquet", "a&b.parquet", "c.parquet", "sub/k.parquet",
        ]  # fmt: skip
        assert found.files[0].url == f"{web.url}/d/a%20b.parquet"
        assert {(one.size, one.tag) for one in found.files} == {(-1, "")}
        found = session.run(discover(session, f"{web.url}/d/*&*.parquet"))
        assert [one.url for one in found.files] == [f"{web.url}/d/a&b.parquet"]
        assert len(session.run(discover(session, f"{web.url}/d")).files) == 4
        one = f"{web.url}/plain"
        assert [file.url for file in session.run(discover(session, one)).files] == [one]
        one = f"{web.url}/x.parquet?sig=a*b"
        assert [file.url for file in session.run(discover(session, one)).files] == [one]
        with pytest.raises(NotFound):
            session.run(discover(session, f"{web.url}/none/"))


def test_web_pages_that_only_fsspec_s_session_can_ask(session):
    given = {"client_kwargs": {"read_bufsize": 1 << 15}}
    with Web() as web:
        found = session.run(discover(session, f"{web.url}/d/", storage_options=given))
        assert [one.path for one in found.files][:1] == ["a b.parquet"]
        assert [one.path for one in found.files][2:] == ["c.parquet", "sub/k.parquet"]
        assert found.files[0].url == f"{web.url}/d/a%20b.parquet"


# ---- tags are what opening the file tells --------------------------------------------------------


@pytest.fixture
def memory(parquet):
    """The path of a folder in memory that holds one file."""
    held, name = fsspec.filesystem("memory"), f"/{uuid.uuid4().hex}"
    held.pipe_file(f"{name}/f.parquet", parquet)
    yield name
    held.rm(name, recursive=True)


def opened(session, wanted, given=None):
    """The one file that is found, and its tag as opening it tells."""
    (found,) = session.run(discover(session, wanted, storage_options=given)).files
    with rangeio.open(found.url, storage_options=given, session=session) as file:
        assert (file.size, file.num_rows) == (found.size, 3)
        return found, file.tag


def test_tags_are_those_that_opening_tells(session, tmp_path, memory, moto, parquet):
    (tmp_path / "f.parquet").write_bytes(parquet)
    for wanted, given in [
        (f"{tmp_path}/*.parquet", None),
        (f"{tmp_path}/f.parquet", None),
        (f"memory:/{memory}", None),
        (f"memory:/{memory}/f.parquet", None),
        ("s3://few/*.parquet", moto.options),
        ("s3://few/a.parquet", moto.options),
    ]:
        found, tag = opened(session, wanted, given)
        assert found.tag == tag != ""


def test_other_filesystems_tell_no_tag(session, tmp_path, parquet):
    with zipfile.ZipFile(tmp_path / "f.zip", "w") as archive:
        archive.writestr("d/k=1/f.parquet", parquet)
        archive.writestr("d/k=1/_f.parquet", parquet)
    found, _ = opened(session, f"zip://d/*/*.parquet::file://{tmp_path}/f.zip")
    assert found.url == f"zip://d/k=1/f.parquet::file://{tmp_path}/f.zip"
    assert (found.path, found.tag) == ("k=1/f.parquet", "")
    assert opened(session, f"zip://::file://{tmp_path}/f.zip")[0].path == "d/k=1/f.parquet"


# ---- when files were written --------------------------------------------------------------------


def test_times_are_told_where_the_store_tells_them(moto, session, parquet, tmp_path):
    began = time.time() - 5
    moto.put("few", "late.parquet", parquet)
    (tmp_path / "a.parquet").write_bytes(parquet)
    with fsspec.open("memory://times/a.parquet", "wb") as file:
        file.write(parquet)
    found = [
        rangeio.dataset("s3://few/late*", storage_options=moto.options, session=session),
        rangeio.dataset(str(tmp_path), session=session),
        rangeio.dataset("memory://times/", session=session),
    ]
    for data in found:
        (one,) = data.files
        assert began < one.modified < time.time() + 5
        assert pickle.loads(pickle.dumps(data.files)).files[0] == one
    told = [{"name": "x", "updated": text} for text in ("2024-01-01T00:00:00.5Z", "once", 5, None)]
    assert [_listed("b", one, True).modified for one in told] == [1704067200.5, None, None, None]
