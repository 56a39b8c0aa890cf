"""New objects: seen whole or not at all, whatever happens on the way."""

import _thread
import http.server
import os
import threading

import pytest
import s3fs
from gcsfs.core import GCSFileSystem
from sunk import KINDS, PART, Folder, bucket_server, spot

from rangeio.errors import (
    Denied,
    NotFound,
    RequestError,
    ServerFault,
    StoreError,
    Unreachable,
)
from rangeio.stores.fsspecsink import FsspecSink
from rangeio.stores.sink import open_sink
from rangeio.testing.moto import MotoServer

OLD, SMALL, LARGE = b"old" * 50, b"new" * 100, bytes(range(256)) * (PART // 100)


@pytest.fixture(scope="module")
def server():
    with bucket_server() as one:
        yield one


@pytest.fixture(params=KINDS)
def place(request, tmp_path, server):
    return spot(request.param, tmp_path, server)


def sink(place, name, **words):
    return open_sink(place.at(name), **place.words, **words)[0]


def written(place, name, data, **words):
    one = sink(place, name, **words)
    for at in range(0, len(data), 1 << 20):
        one.write(memoryview(data)[at : at + (1 << 20)])
    return one


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_nothing_is_seen_before_the_commit_and_all_after_it(place, data):
    one = written(place, "a/b/t", data)
    assert "a/b/t" not in place.names()
    one.commit()
    assert place.names() == ["a/b/t"]
    assert place.data("a/b/t") == data
    one.abort()
    assert place.names() == ["a/b/t"]


@pytest.mark.parametrize("data", [b"", SMALL, LARGE], ids=["none", "small", "large"])
def test_an_abort_leaves_nothing_behind(place, data):
    one = written(place, "t", data)
    one.abort()
    one.abort()
    assert place.names() == []


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_the_old_object_stays_until_the_new_one_is_whole(place, data):
    place.put("t", OLD)
    written(place, "t", data).abort()
    assert place.data("t") == OLD
    one = written(place, "t", data)
    assert place.data("t") == OLD
    one.commit()
    assert place.data("t") == data
    assert place.names() == ["t"]


def test_an_object_that_is_there_is_not_overwritten_unasked(place):
    written(place, "t", OLD, overwrite=False).commit()
    with pytest.raises(RequestError, match="already, and overwrite=False"):
        sink(place, "t", overwrite=False)
    assert (place.names(), place.data("t")) == (["t"], OLD)


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_an_object_that_comes_meanwhile_is_not_overwritten_unasked(place, data):
    one = written(place, "t", data, overwrite=False)
    place.put("t", OLD)
    with pytest.raises(RequestError, match="already, and overwrite=False"):
        one.commit()
    one.abort()
    assert (place.names(), place.data("t")) == (["t"], OLD)


@pytest.mark.parametrize("key", ["k", "a b/c=d+e", "p%2Fq", "ü?#"])
def test_every_character_of_a_name_counts(place, key):
    written(place, key, SMALL).commit()
    assert place.names() == [key]


def test_reprs_tell_the_url_and_no_secret(place):
    one = sink(place, "t")
    one.abort()
    assert "t" in repr(one)
    assert "testing" not in repr(one)


# ---- fsspec filesystems --------------------------------------------------------------------------


class Failing(Folder):
    """A filesystem that fails at one call, in words that hold a secret."""

    fails: tuple = ()

    def mv(self, *names, **words):
        self._fail("mv")
        super().mv(*names, **words)

    def open(self, path, mode="rb", **words):
        self._fail("open")
        return super().open(path, mode, **words)

    def _fail(self, name):
        if self.fails and self.fails[0] == name:
            raise self.fails[1]


@pytest.mark.parametrize("call", ["open", "mv"])
@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (PermissionError("https://u:canary@h/x?sig=canary"), Denied, "access denied"),
        (FileNotFoundError("canary"), NotFound, "no such bucket or directory"),
        (ConnectionResetError(), Unreachable, "connection failed"),
        (NotImplementedError("no"), ServerFault, "cannot write this: NotImplementedError: no"),
        (OSError("disk"), ServerFault, "the filesystem failed"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_a_filesystem_raises_is_a_store_error(place_dir, call, error, kind, said):
    filesystem = Failing(place_dir)
    filesystem.fails = (call, error)
    with pytest.raises(kind, match=said) as caught:
        attempt(filesystem)
    assert "canary" not in str(caught.value)
    assert caught.value.__context__ is None
    assert os.listdir(place_dir) == []


@pytest.fixture
def place_dir(tmp_path):
    return str(tmp_path)


def attempt(filesystem):
    one = FsspecSink(filesystem, "t", "folder://t")
    try:
        one.write(memoryview(SMALL))
        one.commit()
    except StoreError:
        one.abort()
        raise


def test_a_file_is_not_moved_into_a_directory(tmp_path):
    (tmp_path / "t").mkdir()
    with pytest.raises(StoreError, match="this is a directory"):
        FsspecSink(Folder(str(tmp_path)), "t", "folder://t")
    assert os.listdir(tmp_path / "t") == []


class Interrupting(Folder):
    """A filesystem whose user presses Ctrl-C while it opens a file."""

    def open(self, path, mode="rb", **words):
        _thread.interrupt_main()
        return super().open(path, mode, **words)


def test_an_interrupt_leaves_nothing_behind(tmp_path):
    filesystem = Interrupting(str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        attempt(filesystem)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
def test_an_unknown_bucket(server, data):
    one, _ = open_sink("s3://none/t", {**server.options, "default_block_size": PART})
    with pytest.raises(NotFound, match="no such bucket") as caught:
        for_all(one, data)
    assert caught.value.url == "s3://none/t"


def for_all(one, data):
    try:
        one.write(memoryview(data))
        one.commit()
    finally:
        one.abort()


def test_a_server_that_is_not_there():
    with MotoServer() as gone:
        filesystem = s3fs.S3FileSystem(
            **gone.options,
            config_kwargs={"retries": {"total_max_attempts": 1}},
            skip_instance_cache=True,
        )
    filesystem.retries = 1
    one, _ = open_sink("s3://bucket/t", filesystem=filesystem)
    with pytest.raises(Unreachable, match="connection failed") as caught:
        for_all(one, SMALL)
    assert "testing" not in str(caught.value)


def test_no_credentials(server, monkeypatch, tmp_path):
    for name in [n for n in os.environ if n.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    one, _ = open_sink("s3://bucket/t", {"endpoint_url": server.url, "skip_instance_cache": True})
    with pytest.raises(Denied, match="no credentials were found"):
        for_all(one, SMALL)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("http://host/t.parquet?sig=canary", "never written"),
        ("https://host/t.parquet", "never written"),
        (b"bytes", "cannot write to a bytes"),
        ("s3://bucket/t?versionId=abc", "a version of an object"),
        ("s3://bucket/t/", "ends in a slash"),
        ("s3://bucket", "names no object"),
        ("nosuch://bucket/t", "no filesystem is known"),
        ("", "empty path"),
        (7, "cannot write to a int"),
        ("out/", "ends in a slash"),
    ],
)
def test_what_cannot_be_written(target, said):
    with pytest.raises(RequestError, match=said) as caught:
        open_sink(target)
    assert "canary" not in str(caught.value)


def test_options_that_do_not_fit():
    with pytest.raises(RequestError, match="do not fit S3FileSystem: TypeError"):
        open_sink("s3://bucket/t", {"max_concurrency": "many"})


# ---- Google Cloud Storage ------------------------------------------------------------------------


@pytest.fixture
def emulator():
    server_of = pytest.importorskip("gcp_storage_emulator.server").create_server
    server = server_of("127.0.0.1", 0, in_memory=True)
    server.start()
    yield f"http://127.0.0.1:{server._api._httpd.server_address[1]}"
    server.stop()


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
def test_gcs(emulator):
    given = {"token": "anon", "endpoint_url": emulator, "project": "p"}
    fs = GCSFileSystem(**given, skip_instance_cache=True)
    try:
        fs.mkdir("b")
        for_all(open_sink("gs://b/d/t", given)[0], SMALL)
        for_all(open_sink("gs://b/d/large", given)[0], LARGE)
        assert fs.cat_file("b/d/t") == SMALL
        assert fs.cat_file("b/d/large") == LARGE
        one, _ = open_sink("gs://b/d/other", given)
        one.write(memoryview(SMALL))
        one.abort()
        assert fs.find("b") == ["b/d/large", "b/d/t"]
        with pytest.raises(RequestError, match="overwrite=False"):
            open_sink("gs://b/d/t", given, overwrite=False)
        one, _ = open_sink("gs://none/t", given)
        with pytest.raises(NotFound):
            for_all(one, SMALL)
    finally:
        fs.close_session(fs.loop, fs._session)


class Resumable(http.server.BaseHTTPRequestHandler):
    """Resumable uploads as the real service cancels them: with 499."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        part = self.headers.get("Content-Range")
        if part is None:
            url = f"http://127.0.0.1:{self.server.server_port}/session/of/upload"
            self._answer("POST", 200, Location=url)
        else:
            self._answer("POST", 308, Range=part.removesuffix("/*").replace(" ", "="))

    def do_DELETE(self):
        self._answer("DELETE", 499)

    def _answer(self, method, status, **headers):
        self.server.seen.append((method, status))
        self.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
def test_an_upload_to_gcs_is_cancelled():
    with http.server.HTTPServer(("127.0.0.1", 0), Resumable) as listening:
        listening.seen = []
        serving = threading.Thread(target=listening.serve_forever, args=(0.01,))
        serving.start()
        try:
            url = f"http://127.0.0.1:{listening.server_port}"
            one, _ = open_sink("gs://b/t", {"token": "anon", "endpoint_url": url, "project": "p"})
            one.write(memoryview(LARGE))
            one.abort()
        finally:
            listening.shutdown()
            serving.join()
    assert listening.seen == [("POST", 200), ("POST", 308), ("DELETE", 499)]
