"""A server that misbehaves at any GET of a read: the right table or the named error, never another
table, never a hang."""

from dataclasses import replace

import pytest
from places import oracle, settled

import rangeio
from rangeio.errors import ObjectChanged, RangeIgnored, StoreError
from rangeio.testing.server import Fault, RangeServer
from rangeio.transport.profile import PROFILES

COLUMNS = ["word", "v.a", "tags"]
PROFILE = replace(PROFILES["s3"], tail=1024, few_bytes=True, small_file=0)
FOR_GOOD = 1000

FAULTS = {
    "ignores the range": Fault(ignore_range=True),
    "lies about the start": Fault(content_range="bytes 0-{last}/{total}"),
    "lies about the total": Fault(content_range="bytes {start}-{last}/999999999"),
    "one byte short, consistently": Fault(short=1),
    "cuts the body": Fault(cut=100),
    "resets in the body": Fault(reset_at=100),
    "resets before the head": Fault(reset=True),
    "answers 503 with Retry-After": Fault(status=503, retry_after="0"),
    "answers 429 with Retry-After": Fault(status=429, retry_after="0"),
    "answers 500": Fault(status=500),
    "answers garbage": Fault(garbage=b"\x00\x01 not http at all\r\n\r\n"),
    "compresses": Fault(encoding="gzip"),
    "no length": Fault(chunked=True),
    "denies": Fault(status=403),
    "is silent": Fault(silent=True),
    "stalls in the body": Fault(stall_at=50),
}


@pytest.fixture
def server(files):
    path = files.mixed("2.1")
    with RangeServer({"m.lance": path.read_bytes()}) as one:
        one.wanted = None
        yield one


def attempt(server, deadline=2.0):
    """One cold read: its table, or the StoreError; what it started has ended."""
    with rangeio.Session(profile=PROFILE, deadline=deadline) as session:
        try:
            with rangeio.open(server.at("m.lance"), session=session) as file:
                return file.read(COLUMNS)
        except StoreError as error:
            return error
        finally:
            assert settled(session)


@pytest.fixture(scope="module")
def wanted(files):
    return rangeio.open(files.mixed("2.1")).read(COLUMNS)


def count(server):
    server.script.clear()
    before = len(server.log)
    attempt(server)
    gets = len(server.log) - before
    assert gets >= 4
    return gets


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_at_any_get_is_mended_or_named(server, wanted, name):
    slow = name in ("is silent", "stalls in the body")
    for k in range(1 if slow else count(server)):
        server.script.clear()
        server.script.add(FAULTS[name], after=k)
        got = attempt(server, deadline=0.4 if slow else 20.0)
        assert isinstance(got, StoreError) or got == wanted, (name, k)
        if name in ("cuts the body", "resets in the body", "answers 503 with Retry-After"):
            assert got == wanted, (name, k)


@pytest.mark.parametrize("name", sorted(set(FAULTS) - {"no length"}))
def test_a_fault_for_good_is_named(server, name):
    for k in (0, 2):
        server.script.clear()
        server.script.add(FAULTS[name], FOR_GOOD, after=k)
        got = attempt(server, deadline=0.7)
        assert isinstance(got, StoreError), (name, k)
        assert "127.0.0.1" in str(got)
        if name == "ignores the range":
            assert isinstance(got, RangeIgnored)


def test_an_object_swapped_between_any_two_gets_is_noticed(server, files, wanted):
    old, new = files.mixed("2.1").read_bytes(), files.mixed("2.2").read_bytes()
    for honest in (True, False):
        for k in range(1, count(server)):
            server.script.clear()
            server.put("m.lance", old)
            swap = Fault(then=lambda: server.put("m.lance", new), ignore_if_match=not honest)
            server.script.add(swap, after=k)
            server.script.add(Fault(ignore_if_match=not honest), FOR_GOOD)
            got = attempt(server)
            assert isinstance(got, ObjectChanged), (honest, k, got)


def test_without_tags_a_swap_of_another_size_is_noticed(server, files, wanted):
    bare = Fault(etag="")
    server.script.add(bare, FOR_GOOD)
    assert attempt(server) == wanted
    session = rangeio.Session(profile=PROFILE)
    with session, rangeio.open(server.at("m.lance"), session=session) as file:
        assert file.tag == ""
        assert file.explain(COLUMNS).consistency == "none"
        server.put("m.lance", files.mixed("2.0").read_bytes())
        with pytest.raises(rangeio.RangeIOError):
            file.read(COLUMNS)


def test_the_oracle_agrees(files, wanted):
    assert wanted["word"] == oracle(files.mixed("2.1"))["word"]
