"""From what users name to files, in order: directories, globs, lists; what is passed over."""

import asyncio
import uuid
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rangeio
from rangeio.datasets.finding.discovery import Discovered, Found, discover, manifest
from rangeio.datasets.finding.globs import Glob, has_magic, split
from rangeio.datasets.finding.places import place_of
from rangeio.datasets.finding.tabledirs import LanceDataset
from rangeio.errors import NotFound, RequestError
from rangeio.testing.moto import MotoServer

NAMES = [
    "a.parquet", "b.orc", "year=2023/month=1/p.parquet", "year=2023/month=2/p.parquet",
    "year=2024/month=1/p.parquet", "year=2024/month=1/q.lance", "z/[x].parquet",
]  # fmt: skip
PASSED = ["_SUCCESS", ".hidden", "_tmp/p.parquet", "year=2023/.crc/p", "year=2023/_x.parquet"]
EMPTY = ["year=2024/empty.parquet"]


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


@pytest.fixture(scope="module")
def moto():
    with MotoServer() as server:
        server.bucket("lake")
        server.bucket("tables")
        for name in (*NAMES, *PASSED):
            server.put("lake", f"deep/er/{name}", b"data")
        for name in ("delta/_delta_log/0.json", "delta/p=1/x.parquet", "l/data/0.lance",
                     "l/_versions/1.manifest", "l/_transactions/0.txn", "z.lance/data/0.lance",
                     "p/a.parquet"):  # fmt: skip
            server.put("tables", name, b"data")
        for name in (*EMPTY, "", "marker/"):
            server.put("lake", f"deep/er/{name}", b"")
        yield server


@pytest.fixture(scope="module", params=["local", "memory", "s3"])
def lake(request, tmp_path_factory):
    """The url of a directory of NAMES in each kind of store, and the options that open it."""
    if request.param == "s3":
        yield "s3://lake/deep/er", request.getfixturevalue("moto").options
        return
    if request.param == "local":
        root, filesystem = str(tmp_path_factory.mktemp("lake")), fsspec.filesystem("file")
        url = root
    else:
        root, filesystem = f"/{uuid.uuid4().hex}", fsspec.filesystem("memory")
        url = f"memory:/{root}"
    for name in (*NAMES, *PASSED, *EMPTY):
        filesystem.makedirs(f"{root}/{name}".rpartition("/")[0], exist_ok=True)
        filesystem.pipe_file(f"{root}/{name}", b"" if name in EMPTY else b"data")
    yield url, None
    filesystem.rm(root, recursive=True)


@pytest.fixture
def found(session, lake):
    """The paths below the lake that something names there."""
    url, options = lake

    def look(*named):
        named = [f"{url}{one}" for one in named]
        target = named[0] if len(named) == 1 else named
        files = session.run(discover(session, target, storage_options=options)).files
        assert all(one.url.startswith(f"{url}/") for one in files)
        return [one.url[len(url) + 1 :] for one in files]

    return look


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("", NAMES),
        ("/", NAMES),
        ("/year=2023", NAMES[2:4]),
        ("/*", NAMES[:2]),
        ("/*.parquet", NAMES[:1]),
        ("/*.{parquet,orc}", NAMES[:2]),
        ("/?.[op]*", NAMES[:2]),
        ("/[!a]*", NAMES[1:2]),
        ("/**", NAMES),
        ("/**/p.parquet", NAMES[2:5]),
        ("/**/*.parquet", [one for one in NAMES if one.endswith("parquet")]),
        ("/year=*/month=1/*", [NAMES[2], NAMES[4], NAMES[5]]),
        ("/year={2023,2024}/month=1/p.parquet", [NAMES[2], NAMES[4]]),
        ("/year=2024/**", NAMES[4:6]),
        ("/year=*/", NAMES[2:6]),
        ("/{year=2024/month=1,z}/*", NAMES[4:7]),
        ("/_tmp/*", ["_tmp/p.parquet"]),
        ("/_*/*.parquet", ["_tmp/p.parquet"]),
        ("/year=2023/_x*", ["year=2023/_x.parquet"]),
        ("/_tmp", ["_tmp/p.parquet"]),
        ("/.hidden", [".hidden"]),
        ("/year=2024/empty.parquet", EMPTY),
        ("/a.parquet", NAMES[:1]),
    ],
)
def test_names_and_globs(found, glob, names):
    assert found(glob) == names


@pytest.mark.parametrize("glob", ["/none", "/none/", "/*.csv", "/none/*", "/year=2023/.crc/_*"])
def test_nothing_is_an_error(found, glob):
    with pytest.raises(NotFound):
        found(glob)


def test_lists_keep_their_order_and_what_is_twice(found):
    named = ["/z/*", "/a.parquet", "/year=2024", "/a.parquet"]
    assert found(*named) == [NAMES[6], NAMES[0], *NAMES[4:6], NAMES[0]]


def test_a_deep_walk_is_the_same_whatever_is_in_flight(session, lake):
    url, options = lake
    for in_flight in (1, 2, 64):
        work = discover(session, url, storage_options=options, in_flight=in_flight)
        assert [one.path for one in session.run(work).files] == NAMES


def test_a_given_filesystem(session, lake):
    url, options = lake
    filesystem, path = fsspec.core.url_to_fs(url, **(options or {}))
    for named in (url, path):
        files = session.run(discover(session, named, filesystem=filesystem)).files
        assert [one.path for one in files] == NAMES
    if "s3" in filesystem.protocol:
        assert len(session.run(discover(session, "lake", filesystem=filesystem)).files) == 7


def test_tables_on_an_object_store(session, moto):
    def look(*named):
        urls = [f"s3://tables/{one}" for one in named]
        target = urls[0] if len(urls) == 1 else urls
        return session.run(discover(session, target, storage_options=moto.options))

    for named in ("delta", "delta/", "delta/**/*.parquet", "", "**"):
        with pytest.raises(RequestError, match="this is a Delta table"):
            look(named)
    for named in ("l", "l/", "l/**", "z.lance"):
        url = f"s3://tables/{named.strip('*/')}/"
        assert look(named).entries == (LanceDataset(url),)
    assert [one.url for one in look("z.lance", "delta/p=1/x.parquet", "*.lance").entries] == [
        "s3://tables/z.lance/",
        "s3://tables/delta/p=1/x.parquet",
        "s3://tables/z.lance/",
    ]
    assert [one.path for one in look("{l,z.lance,p}/**").entries] == [
        "l/", "p/a.parquet", "z.lance/",
    ]  # fmt: skip


# ---- the local disk -----------------------------------------------------------------------------


def test_characters_of_globs_in_names_that_exist(session, tmp_path):
    for name in ("[a].parquet", "a.parquet", "x*y/f", "xzy/g", "{1,2}"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    for named, names in [
        ("[a].parquet", ["[a].parquet"]),
        ("x*y", ["x*y/f"]),
        ("x*y/", ["x*y/f"]),
        ("x*y/*", ["x*y/f", "xzy/g"]),
        ("{1,2}", ["{1,2}"]),
        ("[[]a].*", ["[a].parquet"]),
    ]:
        files = session.run(discover(session, tmp_path / named)).files
        if named.endswith("/"):
            files = session.run(discover(session, f"{tmp_path}/{named}")).files
        assert [one.url for one in files] == [f"{tmp_path}/{name}" for name in names]


def test_relative_paths_and_file_urls(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"x")
    for named in ("d", Path("d"), "./d/*", "*/f", f"file://{tmp_path}/d", "d/f", "."):
        files = session.run(discover(session, named)).files
        assert [one.url for one in files] == [f"{tmp_path}/d/f"]


def test_the_root_s_own_path_may_be_hidden(session, tmp_path):
    (tmp_path / ".cache" / "_d").mkdir(parents=True)
    (tmp_path / ".cache" / "_d" / "f").write_bytes(b"x")
    for named in (".cache/_d", ".cache/_d/*", ".cache/*/f", ".cache/_d/f"):
        if named == ".cache/*/f":
            with pytest.raises(NotFound, match="no file matches"):
                session.run(discover(session, tmp_path / named))
        else:
            assert len(session.run(discover(session, tmp_path / named)).files) == 1


def test_a_directory_of_nothing_to_read_says_so(session, tmp_path):
    with pytest.raises(NotFound, match="nothing is in it"):
        session.run(discover(session, tmp_path))
    (tmp_path / "_SUCCESS").write_bytes(b"")
    with pytest.raises(NotFound, match="or the file is empty"):
        session.run(discover(session, tmp_path))


# ---- requests, lists and words -------------------------------------------------------------------


def test_urls_with_an_extension_are_believed_in_lists(session):
    urls = [f"s3://nowhere/t/k={i}/f{i}.parquet" for i in range(1000)]
    found = session.run(discover(session, urls))
    assert [one.url for one in found.files] == urls
    assert found.files[7] == Found(urls[7], "k=7/f7.parquet")


def test_progress_counts_up(session, lake):
    url, options = lake
    seen = []
    session.run(discover(session, url, storage_options=options, progress=seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == len(NAMES)


def test_it_can_be_awaited(session, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    assert len(asyncio.run(session.wait(discover(session, tmp_path))).files) == 1


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (b"bytes", "a url, a path or a list"),
        (7, "a url, a path or a list"),
        ([7], "a url or a path, not a int"),
        ([], "the list of files is empty"),
        ("", "empty path"),
        ("s3://buck*et/x", "no glob"),
        ("gopher://x/*", "no filesystem is known"),
        ("s3://key:secret@bucket/x/*", "credentials in the url are not read"),
        ("a" + "{a,b}" * 12, "more than 1000 patterns"),
    ],
)
def test_words_that_mean_nothing(session, named, words):
    with pytest.raises(RequestError, match=words) as caught:
        session.run(discover(session, named))
    assert "secret" not in str(caught.value)


def test_versions_and_signatures_are_no_globs():
    for url in ("s3://b/k?versionId=abc", "gs://b/k?generation=7", "https://h/k?sig=*[a]"):
        assert place_of(url).glob is None
        assert place_of(url).file


# ---- partitions ---------------------------------------------------------------------------------


def held(session, target, partitioning="hive"):
    found = manifest(session.run(discover(session, target)), partitioning)
    return found.partitions.names, [one.partition for one in found]


def test_partitions_below_what_was_named(session, tmp_path):
    for name in ("year=2023/month=1/p", "year=2024/month=2/p"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"x")
    both = (["year", "month"], [(2023, 1), (2024, 2)])
    assert held(session, tmp_path) == both
    assert held(session, tmp_path / "**" / "p") == both
    assert held(session, tmp_path / "year=2024") == (["month"], [(2,)])
    assert held(session, tmp_path / "year=2024" / "*" / "p") == (["year", "month"], [(2024, 2)])
    assert held(session, tmp_path / "year=2024" / "month=2" / "p") == (
        ["year", "month"], [(2024, 2)],
    )  # fmt: skip
    files = [tmp_path / "year=2024/month=2/p", tmp_path / "year=2023/month=1/p"]
    assert held(session, files) == (["year", "month"], [(2024, 2), (2023, 1)])
    assert held(session, tmp_path, None) == ([], [(), ()])
    names = held(session, tmp_path, ["a", "b"])
    assert names == (["a", "b"], [("year=2023", "month=1"), ("year=2024", "month=2")])
    kinds = pa.schema([("month", pa.string())])
    assert held(session, tmp_path, kinds) == (["month"], [("1",), ("2",)])


def test_a_manifest_carries_sizes_and_tags(session, tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    found = manifest(session.run(discover(session, tmp_path)))
    stat = (tmp_path / "f").stat()
    assert found[0].tag == f"{stat.st_ino}-{stat.st_mtime_ns}-5"
    assert (found.root, found.size, found.rows) == (str(tmp_path), 5, -1)


def test_a_lance_dataset_s_files_are_not_guessed():
    with pytest.raises(RequestError, match="its own manifest"):
        manifest(Discovered((LanceDataset("/x.lance/"),), "/"))


def test_a_found_file_keeps_its_url_out_of_its_repr():
    assert "sesame" not in repr(Found("https://h/x?sig=sesame", "x"))


# ---- globs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "root", "matching", "other"),
    [
        ("a/b/*.x", "a/b/", "c.x", "c/d.x"),
        ("a/**/c", "a/", "b/b/c", "b/c/d"),
        ("**", "", "a/b/c", "a/_b/c"),
        ("**/_b/*", "", "a/_b/c", "a/_b/_c"),
        ("a/b**c/d", "a/", "bxc/d", "b/c/d"),
        ("{a/b,a/c}/*", "a/", "c/x", "d/x"),
        ("{a/b,a/b}/*", "a/b/", "x", "x/y"),
        ("{x,y{1,2}}", "", "y2", "y"),
        ("a/{b}*", "a/", "{b}c", "bc"),
        ("**/**/x", "", "x", "y"),
        ("a/*/", "a/", "b/c/d", "b"),
    ],
)
def test_what_globs_mean(glob, root, matching, other):
    at, below = split(glob)
    assert at == root
    assert below.matches(matching.split("/"))
    assert not below.matches(other.split("/"))
    for folders in range(1, len(matching.split("/"))):
        assert below.enters(matching.split("/")[:folders])


def test_folders_that_cannot_match_are_not_entered():
    _, glob = split("t/year=2024/*/p")
    assert glob.enters(["x"])
    assert not glob.enters(["x", "p"])
    _, glob = split("t/year={2023,2024}/p")
    assert not glob.enters(["year=2022"])
    assert not Glob((("**",),)).enters(["a", "_b"])


def test_what_is_magic():
    assert [has_magic(one) for one in ("a*", "a?", "[a]", "{a,b}", "{a}", "a", "a]", "a,b}")] == [
        True, True, True, True, False, False, False, False,
    ]  # fmt: skip


PARTS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5)


@given(PARTS, st.lists(st.sampled_from(["a", "*", "**", "?", "b*"]), min_size=1, max_size=5))
def test_matching_is_what_plain_recursion_says(path, pattern):
    def plain(path, pattern):
        if not pattern:
            return not path
        if pattern[0] == "**":
            return plain(path, pattern[1:]) or bool(path and plain(path[1:], pattern))
        return bool(path) and matches_one(path[0], pattern[0]) and plain(path[1:], pattern[1:])

    def matches_one(name, one):
        return {"a": name == "a", "*": True, "?": len(name) == 1, "b*": name[0] == "b"}[one]

    glob = Glob((tuple(pattern),))
    assert glob.matches(path) == plain(path, pattern)
    if glob.matches(path):
        assert all(glob.enters(path[:n]) for n in range(1, len(path)))
