"""New files of the local disk: permissions, links, directories, and what must not be replaced."""

import os
import resource
import socket
import stat

import pytest

from rangeio.errors import Denied, NotFound, StoreError
from rangeio.stores.localsink import LocalSink

OLD, SMALL = b"old" * 50, b"new" * 100


def local(path, data=SMALL, **words):
    one = LocalSink(str(path), **words)
    one.write(memoryview(data))
    one.commit()


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_has_the_permissions_of_an_ordinary_one(tmp_path):
    (tmp_path / "other").write_bytes(OLD)
    local(tmp_path / "t")
    assert mode(tmp_path / "t") == mode(tmp_path / "other")


def test_a_replaced_file_keeps_its_permissions(tmp_path):
    (tmp_path / "t").write_bytes(OLD)
    (tmp_path / "t").chmod(0o640)
    local(tmp_path / "t")
    assert mode(tmp_path / "t") == 0o640
    assert (tmp_path / "t").read_bytes() == SMALL


def test_a_link_still_leads_to_its_file(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/t").write_bytes(OLD)
    (tmp_path / "t").symlink_to("real/t")
    (tmp_path / "dangling").symlink_to("real/new")
    local(tmp_path / "t")
    local(tmp_path / "dangling")
    assert (tmp_path / "t").is_symlink()
    assert (tmp_path / "real/t").read_bytes() == (tmp_path / "real/new").read_bytes() == SMALL


def test_directories_are_made_and_gone_again_with_an_abort(tmp_path):
    one = LocalSink(str(tmp_path / "a/b/c/t"))
    assert (tmp_path / "a/b/c").is_dir()
    one.abort()
    assert os.listdir(tmp_path) == []
    one = LocalSink(str(tmp_path / "a/b/t"))
    (tmp_path / "a/other").touch()
    one.abort()
    assert os.listdir(tmp_path / "a") == ["other"]


def test_what_is_no_file_is_never_replaced(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as one:
        monkeypatch.chdir(tmp_path)  # a socket's path is short
        one.bind("socket")
    for name, said in (("fifo", "a pipe"), ("socket", "a pipe"), ("folder", "a directory")):
        with pytest.raises(StoreError, match=f"this is {said}"):
            LocalSink(str(tmp_path / name))
    with pytest.raises(StoreError, match="a pipe, socket or device"):
        LocalSink("/dev/null")
    assert sorted(os.listdir(tmp_path)) == ["fifo", "folder", "socket"]


def test_paths_that_cannot_be(tmp_path):
    (tmp_path / "file").write_bytes(OLD)
    for path, kind in (
        ("file/t", NotFound),
        ("file/a/t", NotFound),
        ("n" * 300 + "/t", StoreError),
        ("a\0b", NotFound),
    ):
        with pytest.raises(kind) as caught:
            LocalSink(str(tmp_path / path))
        assert caught.value.url == str(tmp_path / path)
    with pytest.raises(StoreError, match="name is too long"):
        local(tmp_path / ("n" * 300))
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission(tmp_path):
    (tmp_path / "t").write_bytes(OLD)
    (tmp_path / "t").chmod(0o444)
    with pytest.raises(Denied, match="write-protected"):
        LocalSink(str(tmp_path / "t"))
    tmp_path.chmod(0o555)
    with pytest.raises(Denied, match="no permission"):
        LocalSink(str(tmp_path / "new"))


def test_a_disk_that_takes_no_more(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    one = LocalSink(str(tmp_path / "t"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(StoreError, match="too large for this filesystem"):
            one.write(memoryview(bytes(5000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    one.abort()
    assert os.listdir(tmp_path) == []


def test_a_commit_that_fails(tmp_path):
    one = LocalSink(str(tmp_path / "t"))
    one.write(memoryview(SMALL))
    (tmp_path / "t").mkdir()
    with pytest.raises(StoreError):
        one.commit()
    one.abort()
    assert os.listdir(tmp_path) == ["t"]
