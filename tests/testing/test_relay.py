"""The relay passes on what it gets, byte for byte, and counts it."""

import http.client
from concurrent.futures import ThreadPoolExecutor

import pytest

from rangeio.testing.relay import Passed, Relay, Tally
from rangeio.testing.server import RangeServer

BODY = bytes(range(256)) * 4096


@pytest.fixture
def relay():
    with RangeServer({"b/o": BODY}) as server, Relay(server.port) as relay:
        yield relay


def ask(relay, method="GET", **headers):
    line = http.client.HTTPConnection(relay.url.removeprefix("http://"), timeout=10)
    try:
        line.request(method, "/b/o", headers=headers)
        reply = line.getresponse()
        return reply.status, reply.read()
    finally:
        line.close()


def test_bodies_pass_unchanged_and_are_counted(relay):
    assert ask(relay, Range="bytes=10-19") == (206, BODY[10:20])
    assert ask(relay) == (200, BODY)
    first, second = relay.passed
    assert (first.method, first.target, first.status, first.size) == ("GET", "/b/o", 206, 10)
    assert (second.status, second.size) == (200, len(BODY))


def test_many_at_once(relay):
    def part(i):
        return ask(relay, Range=f"bytes={i * 1000}-{i * 1000 + 999}")[1]

    with ThreadPoolExecutor(8) as pool:
        assert b"".join(pool.map(part, range(64))) == BODY[:64000]


def test_a_head_has_no_body(relay):
    assert ask(relay, "HEAD") == (200, b"")


def test_a_server_that_is_gone_closes_the_connection():
    with RangeServer() as server:
        port = server.port
    with Relay(port) as relay, pytest.raises((http.client.HTTPException, ConnectionError)):
        ask(relay)


def test_hops_are_disjoint_periods():
    def passed(method, began, ended, size):
        return Passed(method, "/o", 206, size, began, ended)

    log = [passed("HEAD", 0, 1, 0), passed("GET", 1, 2, 10), passed("GET", 1.5, 3, 20)]
    log.append(passed("GET", 3, 4, 30))
    assert Tally.of(log) == Tally(hops=3, heads=1, gets=3, bytes=60)
    assert Tally.of([]) == Tally(0, 0, 0, 0)
