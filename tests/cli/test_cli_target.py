"""What a read leaves on the disk: a whole file, or nothing, however it ends."""

import errno
import io
import os
import signal
import stat
import threading

import pyarrow as pa
import pytest

from rangeio.cli.encoder import Parquet
from rangeio.cli.target import created
from rangeio.errors import RequestError, StoreError
from rangeio.testing.fault import Fault

KINDS = ["arrow", "parquet", "csv", "json", "jsonl"]


def pages(request):
    """Whether a request is for a megabyte or more."""
    start, _, last = request.headers.get("range", "").removeprefix("bytes=").partition("-")
    return bool(start and last) and int(last) - int(start) > 1 << 20


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_that_fails_midway_leaves_nothing(cli, server, tmp_path, kind):
    server.script.add(Fault(status=403), times=10**6, after=1, when=pages)
    ran = cli("read", server.at("long"), "-o", tmp_path / f"out.{kind}")
    assert ran.code == 1
    assert "access denied" in ran.err
    assert len([r for r in server.log if pages(r)]) > 1
    assert os.listdir(tmp_path) == []


def test_replies_that_are_all_cut_leave_nothing(cli, server, tmp_path, monkeypatch):
    monkeypatch.setenv("RANGEIO_DEADLINE", "0.5")
    server.script.add(Fault(cut=1000), times=10**6, when=pages)
    ran = cli("read", server.at("large"), "-c", "a,b", "-o", tmp_path / "out.parquet")
    assert ran.code == 1
    assert os.listdir(tmp_path) == []


def test_what_was_there_survives_a_failure_and_is_replaced_by_success(cli, server, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("before")
    out.chmod(0o640)
    server.script.add(Fault(status=404), times=10**6, when=pages)
    assert cli("read", server.at("large"), "-o", out).code == 1
    assert out.read_text() == "before"
    server.script.clear()
    assert cli("read", server.at("large"), "-c", "a", "-n", "1", "-o", out).code == 0
    assert out.read_text().startswith('"a"\n')
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_leave_nothing(process, server, tmp_path, number, code):
    reached = threading.Event()
    server.script.add(Fault(silent=True, then=reached.set), times=10**6, when=pages)
    one = process("read", server.at("large"), "-o", tmp_path / "out.parquet", start=True)
    assert reached.wait(60)
    assert len(os.listdir(tmp_path)) == 1  # under another name
    assert not (tmp_path / "out.parquet").exists()
    one.send_signal(number)
    _, err = one.communicate(timeout=30)
    assert one.returncode == code
    assert b"Traceback" not in err
    assert os.listdir(tmp_path) == []


def test_words_that_are_off_leave_nothing(cli, files, tmp_path):
    for words in (["-c", "nope"], ["--filter", "id ~ 3"], ["--rows", "9999"]):
        assert cli("read", files["2.1"], *words, "-o", tmp_path / "out.csv").code == 2
        assert os.listdir(tmp_path) == []


def test_a_target_that_cannot_be_written_is_said_before_anything_is_fetched(cli, server, tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "none", tmp_path / "file"):
        ran = cli("read", server.at("large"), "-o", folder / "out.csv")
        assert ran.code == 1
        assert ran.err.startswith(f"rangeio: {folder / 'out.csv'}: ")
    assert server.log == []
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (".", "is a directory"),
        ("out.xls", "the ending says no format"),
        ("out", "the ending says no format"),
        (".csv", "the ending says no format"),
        ("s3://b/out.csv", "-o writes local files"),
    ],
)
def test_targets_that_make_no_sense(cli, server, tmp_path, monkeypatch, target, words):
    monkeypatch.chdir(tmp_path)
    kind = ["--as", "csv"] if target == "." else []
    ran = cli("read", server.at("large"), "-o", target, *kind)
    assert ran.code == 2
    assert words in ran.err
    assert server.log == []


def test_types_that_parquet_lacks():
    union = pa.schema([("x", pa.sparse_union([pa.field("a", pa.int8())]))])
    with pytest.raises(RequestError, match="Parquet cannot hold"):
        Parquet(io.BytesIO(), union)


def test_a_device_is_written_and_stays_one(cli, files, tmp_path):
    ran = cli("read", files["2.1"], "-c", "id", "-o", "/dev/null", "--as", "csv")
    assert ran.code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_link_is_followed(cli, files, tmp_path):
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "real.csv").write_text("before")
    (tmp_path / "link.csv").symlink_to(folder / "real.csv")
    assert cli("read", files["2.1"], "-c", "id", "-n1", "-o", tmp_path / "link.csv").code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (folder / "real.csv").read_text() == '"id"\n0\n'


def test_a_full_disk_names_the_target(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with pytest.raises(OSError, match="/dev/full") as caught, created("/dev/full") as out:
        out.write(b"x" * (1 << 20))
    assert caught.value.errno == errno.ENOSPC


def test_errors_of_the_store_pass_as_they_are(tmp_path):
    error = StoreError("it failed")
    with pytest.raises(StoreError) as caught, created(str(tmp_path / "x")):
        raise error
    assert caught.value is error
    assert os.listdir(tmp_path) == []


def test_other_threads_write_too(tmp_path):
    def write():
        with created(str(tmp_path / "x")) as out:
            out.write(b"1")

    thread = threading.Thread(target=write)
    thread.start()
    thread.join()
    assert (tmp_path / "x").read_bytes() == b"1"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
