"""A directory inside a table is refused on every store, however deep, and few requests tell."""

import asyncio
import warnings

import fsspec
import lance
import pyarrow as pa
import pytest
from many_files import parquet

import rangeio
from rangeio.datasets.finding.above import MOST, Above
from rangeio.datasets.finding.discovery import discover
from rangeio.datasets.finding.places import place_of
from rangeio.datasets.finding.tabledirs import Kind, recognise
from rangeio.errors import Denied, NotFound, RequestError, ServerFault
from rangeio.stores.store import Listed, Page
from rangeio.testing.listener import Listener, Response

META = "metadata/00003-8d3f6f9e-13a4-4c1b-9d3e-5a0f8a8c1b2d.metadata.json"
SNAP = "metadata/snap-3051729675574597004-1-8d3f6f9e-13a4-4c1b-9d3e-5a0f8a8c1b2d.avro"
TABLES = {
    "delta": ("_delta_log/00000000000000000000.json", "year=2024/a.parquet", "a Delta table"),
    "deep": ("_delta_log/0.json", "a=1/b=2/c=3/d=4/e=5/a.parquet", "a Delta table"),
    "hudi": (".hoodie/hoodie.properties", "p=1/q=2/a.parquet", "a Hudi table"),
    "ice": (META, "data/year=2024/a.parquet", "an Iceberg table"),
    "ice2": (SNAP, "data/a.parquet", "an Iceberg table"),
    "odd": ("_versions/7.manifest", "data/a.parquet", "a Lance dataset"),
    "t.lance": ("_versions/7.manifest", "data/a.parquet", "a Lance dataset"),
}
FILE = parquet(pa.table({"x": [1, 2]}))


@pytest.fixture
def lake(lakes, kind):
    return lakes(kind)


def look(session, lake, name):
    named = name if "://" in name else f"{lake.root}/{name}"
    return session.run(discover(session, named, **lake.words)).files


@pytest.mark.parametrize("kind", ["file", "memory", "s3"])
@pytest.mark.parametrize("name", list(TABLES))
def test_a_directory_inside_a_table_is_refused(session, lake, name):
    telltale, file, words = TABLES[name]
    lake.put(f"x/{name}/{telltale}", b"{}")
    lake.put(f"x/{name}/{file}", FILE)
    inside = f"x/{name}/{file.rpartition('/')[0]}"
    for named in (inside, f"{inside}/", f"{inside}/*.parquet", f"x/{name}"):
        if name.endswith("lance") and named == f"x/{name}":
            continue  # that is the dataset
        if name == "odd" and named == f"x/{name}":
            continue
        with pytest.raises(RequestError, match=words) as caught:
            look(session, lake, named)
        assert caught.value.url.rstrip("/").endswith(named.rstrip("/"))
    # Who names files has chosen them: these are what a table's own list of files gives.
    one = lake.at(f"x/{name}/{file}")
    for named in (one, [one]):
        assert rangeio.dataset(named, session=session, **lake.words).num_rows == 2


@pytest.mark.parametrize("kind", ["memory", "s3"])
def test_a_lance_dataset_s_own_folder_with_deleted_rows(session, lake, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = lance.write_dataset(pa.table({"x": range(10)}), str(tmp_path / "t"))
        made.delete("x < 5")
    for path in (one for one in (tmp_path / "t").rglob("*") if one.is_file()):
        lake.put(f"t/{path.relative_to(tmp_path / 't')}", path.read_bytes())
    with pytest.raises(RequestError, match="this is a directory inside it"):
        look(session, lake, "t/data")
    with pytest.raises(RequestError, match="deleted rows"):
        rangeio.dataset(f"{lake.root}/t", session=session, **lake.words)


@pytest.mark.parametrize("kind", ["file", "memory", "s3"])
def test_a_hudi_table_s_folders_tell_by_themselves(session, lake):
    lake.put("p=1/.hoodie_partition_metadata", b"x")
    lake.put("p=1/a.parquet", FILE)
    for named in ("p=1", "p=1/*.parquet", ""):
        with pytest.raises(RequestError, match="a Hudi table"):
            look(session, lake, named)
    assert recognise(["p=1/.hoodie_partition_metadata"])[0].kind is Kind.HUDI


@pytest.mark.parametrize("kind", ["file", "memory", "s3"])
def test_neighbours_of_a_table_and_what_is_only_called_so_are_read(session, lake):
    lake.put("t/_delta_log/0.json", b"{}")
    lake.put("t/_delta_log/0.checkpoint.parquet", FILE)
    lake.put("plain/metadata/readme.txt", b"x")
    lake.put("plain/a/b/c.parquet", FILE)
    assert len(look(session, lake, "plain/a/b")) == 1
    assert len(look(session, lake, "t/_delta_log/*.parquet")) == 1


# ---- requests ------------------------------------------------------------------------------------


class Counted:
    """A lister of made-up names that keeps what it was asked, and how much of it at once."""

    deep = True

    def __init__(self, names=(), error=None):
        self.names, self.error, self.asked = names, error, []
        self.flying = self.most = 0

    async def list(self, folder, after="", *, deep=False):
        self.asked.append(folder)
        self.flying += 1
        self.most = max(self.most, self.flying)
        await asyncio.sleep(0)
        self.flying -= 1
        if self.error is not None:
            raise self.error
        return Page(tuple(Listed(one) for one in self.names if one.startswith(folder)))


def asked(lister, *urls):
    async def work():
        above = Above()
        try:
            places = [place_of(url) for url in urls]
            return [await above.table(p, lister, p.root) for p in places]
        finally:
            await above.close()

    return asyncio.run(work())


def test_three_small_listings_a_folder_all_at_once():
    lister = Counted()
    assert asked(lister, "s3://b/x/y/z") == [None]
    assert sorted(lister.asked) == sorted(
        f"b/{at}{one}/"
        for at in ("", "x/", "x/y/")
        for one in ("_delta_log", ".hoodie", "metadata")
    )
    assert lister.most == len(lister.asked)


def test_a_lance_dataset_s_versions_are_asked_for_beside_its_data_alone():
    lister = Counted()
    asked(lister, "s3://b/x/data")
    assert [one for one in lister.asked if "_versions" in one] == ["b/x/_versions/"]


def test_no_more_than_so_many_folders_and_each_once():
    lister = Counted()
    asked(lister, "s3://b/" + "/".join("abcdefghijkl"))
    assert len(lister.asked) == 3 * MOST
    lister = Counted()
    asked(lister, *(f"s3://b/t/p={i}" for i in range(100)))
    assert len(lister.asked) == 3 * 2


@pytest.mark.parametrize("url", ["s3://b", "s3://b/", "s3://b/*.parquet", "memory://*"])
def test_at_the_top_nothing_is_asked(url):
    lister = Counted()
    asked(lister, url)
    assert not lister.asked


def test_the_nearest_table_counts():
    names = ["b/t/_delta_log/0.json", "b/t/h/.hoodie/x"]
    (found,) = asked(Counted(names), "s3://b/t/h/p=1")
    assert found.kind is Kind.HUDI


@pytest.mark.parametrize("error", [Denied("no"), NotFound("no"), RequestError("no")])
def test_what_may_not_be_listed_tells_nothing(error):
    assert asked(Counted(error=error), "s3://b/x/y") == [None]


def test_a_store_that_fails_is_an_error_and_no_permission_to_read():
    with pytest.raises(ServerFault):
        asked(Counted(error=ServerFault("down")), "s3://b/x/y")


PAGES = {
    "/": b'<a href="lake/">l</a>',
    "/lake/": b'<a href="t/">t</a> <a href="u/">u</a> <a href="_delta/">d</a>',
    "/lake/t/": b'<a href="p=1/">p</a> <a href="_delta_log/">l</a>',
    "/lake/t/p=1/": b'<a href="a.parquet">a</a>',
    "/lake/t/_delta_log/": b'<a href="0.json">0</a>',
    "/lake/u/": b'<a href="p=1/">p</a>',
    "/lake/u/p=1/": b'<a href="a.parquet">a</a>',
}


class Web(Listener):
    """Pages of directories."""

    def answer(self, request):
        self.seen.append(request.path)
        page = PAGES.get(request.path)
        return Response(404) if page is None else Response(200, {"Content-Type": "text/html"}, page)


def test_a_web_server_is_asked_for_one_page_a_folder(session):
    with Web() as web:
        web.seen = []
        found = session.run(discover(session, f"{web.url}/lake/u/p=1/"))
        assert len(found.files) == 1
        assert sorted(web.seen) == ["/", "/lake/", "/lake/u/", "/lake/u/p=1/"]
        with pytest.raises(RequestError, match="a Delta table"):
            session.run(discover(session, f"{web.url}/lake/t/p=1/"))


def test_a_given_filesystem_is_asked_too(session):
    memory = fsspec.filesystem("memory")
    for name in ("_delta_log/0.json", "p=1/a.parquet"):
        memory.pipe_file(f"/given-above/{name}", FILE)
    try:
        for named in ("/given-above/p=1", "memory://given-above/p=1/*.parquet"):
            with pytest.raises(RequestError, match="a Delta table"):
                session.run(discover(session, named, filesystem=memory))
    finally:
        memory.rm("/given-above", recursive=True)
