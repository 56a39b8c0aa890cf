"""What a user names becomes a store, a key, a url for people, and a profile."""

import asyncio
import os
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from rangeio.errors import NotFound, RequestError, StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.address import identity, locate, resolve
from rangeio.stores.fsspec import FsspecStore
from rangeio.stores.http import HttpStore
from rangeio.stores.local import LocalStore
from rangeio.stores.memory import MemoryStore

SECRET = "canary-secret"


def read(store, key, at):
    async def once():
        try:
            return bytes((await store.get(key, at)).data)
        finally:
            await store.close()

    return asyncio.run(once())


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_are_read_from_memory(kind):
    store, key, url, profile = resolve(kind(b"0123456789"))
    assert isinstance(store, MemoryStore)
    assert (url, profile) == ("<10 bytes>", "memory")
    assert read(store, key, ByteRange(2, 5)) == b"234"


@pytest.mark.parametrize("form", ["{}", "file://{}", "local://{}"])
def test_paths_are_read_from_disk(tmp_path, form):
    path = tmp_path / "a b#c?d%2Fe=+ü.lance"
    path.write_bytes(b"0123456789")
    store, key, url, profile = resolve(form.format(path))
    assert isinstance(store, LocalStore)
    assert (key, url, profile) == (str(path), str(path), "file")
    assert read(store, key, Suffix(3)) == b"789"


def test_path_objects_and_the_home_directory(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"abc")
    assert locate(tmp_path / "x").key == str(tmp_path / "x")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert locate("~/x").key == str(tmp_path / "x")
    assert locate(Path("~/x")).key == str(tmp_path / "x")
    monkeypatch.chdir(tmp_path)
    assert locate("x").key == str(tmp_path / "x")


def test_a_path_with_colons_that_exists_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zip::x").write_bytes(b"abc")
    assert locate("zip::x").profile == "file"


def test_http_urls_keep_what_is_encoded():
    store, key, url, profile = resolve("https://u:p@host/a%2Fb c/ü?sig=%2B%3D+x#part")
    assert isinstance(store, HttpStore)
    assert key == "https://u:p@host/a%2Fb%20c/%C3%BC?sig=%2B%3D+x"
    assert (url, profile) == ("https://host/a%2Fb%20c/%C3%BC", "http")


def test_memory_urls_are_fsspecs():
    MemoryFileSystem.clear_instance_cache()
    fsspec.filesystem("memory").pipe_file("/dir/x", b"0123456789")
    try:
        store, key, url, profile = resolve("memory://dir/x")
        assert isinstance(store, FsspecStore)
        assert (url, profile) == ("memory://dir/x", "memory")
        assert read(store, key, ByteRange(2, 5)) == b"234"
        store, key, _, _ = resolve("/dir/x", filesystem=fsspec.filesystem("memory"))
        assert read(store, key, Suffix(2)) == b"89"
    finally:
        fsspec.filesystem("memory").rm("/dir", recursive=True)


def test_chained_urls(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "z.zip", "w") as out:
        out.writestr("in/x", b"0123456789")
    store, key, url, _ = resolve(f"zip://in/x::file://{tmp_path}/z.zip")
    assert isinstance(store, FsspecStore)
    assert url == f"zip://in/x::file://{tmp_path}/z.zip"
    assert read(store, key, ByteRange(1, 4)) == b"123"
    link = f"::file://{tmp_path}/z.zip"
    assert identity(f"zip://in/x{link}") == identity(f"zip://in/y{link}")
    assert identity(f"zip://in/x{link}") != identity(f"zip://in/x{link}", {"zip": {"mode": "r"}})
    with pytest.raises(NotFound, match="no such object"):
        locate("zip://in/x::memory://none")
    (tmp_path / "z.zip").write_bytes(b"no zip")
    with pytest.raises(StoreError, match="BadZipFile"):
        locate(f"zip://in/x{link}", {"zip": {"allowZip64": False}})


def test_filesystems_at_hand_take_the_fast_paths(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    local = fsspec.filesystem("file")
    assert isinstance(resolve(str(tmp_path / "x"), filesystem=local)[0], LocalStore)
    http = fsspec.filesystem("http", headers={"Authorization": SECRET})
    store, key, _, profile = resolve("http://host/x", filesystem=http)
    assert isinstance(store, HttpStore)
    assert (key, profile) == ("http://host/x", "http")


def test_one_store_for_what_it_may_serve(tmp_path):
    stores = {}
    one = resolve("http://host/a", {"headers": {"a": "b"}}, stores=stores)[0]
    assert resolve("http://host/b", {"headers": {"a": "b"}}, stores=stores)[0] is one
    assert resolve("http://host/b", {"headers": {"a": "c"}}, stores=stores)[0] is not one
    assert len(stores) == 2
    assert identity("x") == identity("file:///y")
    assert identity("memory://x") == identity("memory://y")
    assert identity(b"a") != identity(b"b")


def test_threads_share_stores_of_other_filesystems():
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(identity, "memory://x").result() == identity("memory://y")


def test_identities_tell_plain_values_apart():
    def of(**options):
        return identity("s3://b/k", options)

    assert of(key="k", client_kwargs={"a": [1, 2]}) == of(client_kwargs={"a": [1, 2]}, key="k")
    assert of(anon=True) != of(anon=1)
    assert of(key="k") != of(key="j")
    assert of(session=object()) != of(session=object())
    assert of() != identity("gs://b/k")


def test_no_secret_shows():
    options = {"key": SECRET, "secret": SECRET, "client_kwargs": {"aws_session_token": SECRET}}
    http = {"headers": {"Authorization": SECRET}, "proxy": f"http://u:{SECRET}@p"}
    for at in (
        locate("s3://b/k", options),
        locate(f"https://u:{SECRET}@h/x?{SECRET}", http),
        locate("gs://b/k", {"token": SECRET}),
    ):
        assert SECRET not in f"{at!r} {at} {at.identity!r} {at.identity} {at.url}"


@pytest.mark.parametrize(
    ("target", "key", "url", "profile"),
    [
        ("s3://b/a%2Fb c=+?#ü", "b/a%2Fb c=+?#ü", "s3://b/a%2Fb c=+?#ü", "s3"),
        ("s3a://b/k/", "b/k/", "s3://b/k/", "s3"),
        ("s3n://b//k", "b//k", "s3://b//k", "s3"),
        ("S3://b/k", "b/k", "s3://b/k", "s3"),
        (
            "s3://b--use1-az4--x-s3/k",
            "b--use1-az4--x-s3/k",
            "s3://b--use1-az4--x-s3/k",
            "s3express",
        ),
        ("gs://b/a b/c", "b/a b/c", "gs://b/a b/c", "gs"),
        ("gcs://b/k", "b/k", "gs://b/k", "gs"),
    ],
)
def test_object_stores_take_keys_as_they_are(target, key, url, profile):
    at = locate(target)
    assert (at.key, at.url, at.profile) == (key, url, profile)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("s4://b/k", "did you mean s3"),
        ("nosuchscheme://b/k", "no filesystem is known for nosuchscheme:// urls"),
        ("s3://bucket", "s3://bucket/key is wanted"),
        ("s3://", "s3://bucket/key is wanted"),
        ("gs://bucket/", "gs://bucket/key is wanted"),
        ("s3://AK:SK@bucket/k", "pass them as storage_options"),
        ("", "empty path"),
        (3, "cannot read a int"),
        (b"".join, "cannot read a builtin_function_or_method"),
        (os.fsencode, "cannot read a function"),
        ("zip::nosuch://x", "no filesystem is known for nosuch://"),
    ],
)
def test_bad_words_get_one_clear_line(target, words):
    with pytest.raises(RequestError) as caught:
        locate(target)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "SK" not in str(caught.value)


def test_a_package_that_is_missing_is_named():
    fsspec.register_implementation("lacking", "no_such_package.Fs", errtxt="Install it")
    with pytest.raises(RequestError, match="pip install 'no_such_package'"):
        locate("lacking://a/b")


def test_options_that_fit_no_filesystem():
    with pytest.raises(RequestError, match="not both"):
        locate("x", {"a": 1}, fsspec.filesystem("file"))
    with pytest.raises(RequestError, match="not an fsspec filesystem"):
        locate("x", None, object())


MISSING = """
import sys
sys.modules["s3fs"] = sys.modules["gcsfs"] = None  # as if not installed
from rangeio.stores.address import locate
for url in ("s3://b/k", "gs://b/k"):
    try:
        locate(url)
    except Exception as error:
        print(type(error).__name__, error)
"""
QUIET = """
import sys, threading
import rangeio.stores.address, rangeio.stores.fsspec, rangeio.stores.s3, rangeio.stores.gcs
print(sorted({"s3fs", "gcsfs", "aiobotocore", "botocore", "fsspec"} & set(sys.modules)))
print(threading.active_count())
"""


def python(code):
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_missing_extra_names_its_install():
    s3, gs = python(MISSING)
    assert s3.startswith("RequestError")
    assert "pip install 'rangeio[s3]'" in s3
    assert "pip install 'rangeio[gcs]'" in gs


def test_importing_starts_nothing():
    assert python(QUIET) == ["[]", "1"]
