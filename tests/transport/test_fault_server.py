"""The range server by itself: what it answers when nothing is wrong, and as a process."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rangeio.testing
from rangeio.testing.server import Fault, RangeServer

DATA = bytes(range(256)) * 4


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with RangeServer({"o": DATA, "empty": b""}) as server:
        yield server


def ask(
    server: RangeServer, target: str = "/o", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, headers=named)
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, told, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=1000-", 1000, 1024),
        ("bytes=1000-9999", 1000, 1024),
        ("bytes=-10", 1014, 1024),
        ("bytes=-9999", 0, 1024),
    ],
)
def test_ranges(server: RangeServer, asked: str, start: int, stop: int) -> None:
    status, headers, body = ask(server, Range=asked)
    assert (status, body) == (206, DATA[start:stop])
    assert headers["content-range"] == f"bytes {start}-{stop - 1}/1024"
    assert headers["etag"] == '"v1"'


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=5000-6000", "bytes=-0"])
def test_ranges_that_are_not_there(server: RangeServer, asked: str) -> None:
    status, headers, _ = ask(server, Range=asked)
    assert (status, headers["content-range"]) == (416, "bytes */1024")
    assert ask(server, "/empty", Range=asked)[0] == 416


@pytest.mark.parametrize("asked", ["", "bytes=5-1", "bytes=0-1,4-5", "rows=1-2", "bytes=a-b"])
def test_what_is_no_range_is_ignored(server: RangeServer, asked: str) -> None:
    status, _, body = ask(server, Range=asked) if asked else ask(server)
    assert (status, body) == (200, DATA)


def test_conditions_methods_and_names(server: RangeServer) -> None:
    assert ask(server, If_Match='"v1"')[0] == 200
    assert ask(server, If_Match="*")[0] == 200
    assert ask(server, If_Match='"v2"')[0] == 412
    assert ask(server, "/missing")[0] == 404
    assert ask(server, method="DELETE")[0] == 405
    status, headers, body = ask(server, method="HEAD")
    assert (status, headers["content-length"], body) == (200, "1024", b"")
    tag = server.put("a b/ü", b"x")
    assert ask(server, "/a%20b/%C3%BC?q=1")[1:] != {}
    assert server.log[-1].key == "a b/ü"
    assert server.log[-1].query == "q=1"
    assert ask(server, "/a%20b/%C3%BC")[1]["etag"] == tag
    server.drop("o")
    assert ask(server)[0] == 404


def test_the_log_and_the_script(server: RangeServer) -> None:
    server.script.add(Fault(status=503), 2, after=1, when=lambda r: r.key == "o")
    assert [ask(server)[0] for _ in range(2)] == [200, 503]
    assert ask(server, "/empty")[0] == 200
    assert [ask(server)[0] for _ in range(2)] == [503, 200]
    assert [(r.status, r.sent) for r in server.log] == [
        (200, 1024), (503, 0), (200, 0), (503, 0), (200, 1024),
    ]  # fmt: skip


def test_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "o").write_bytes(DATA)
    (tmp_path / "secret").write_bytes(b"outside")
    words = [sys.executable, "-m", "rangeio.testing.server", "--delay-ms", "1", "served"]
    found = {**os.environ, "PYTHONPATH": str(Path(rangeio.testing.__path__[0]).parents[1])}
    with subprocess.Popen(
        words, cwd=tmp_path, env=found, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            away = RangeServer(port=port)
            assert ask(away, Range="bytes=5-9")[2] == DATA[5:10]
            assert ask(away, "/../secret")[0] == 404
            assert ask(away, "/%2e%2e/secret")[0] == 404
        finally:
            process.terminate()
