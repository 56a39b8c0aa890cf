"""A scan that is given up while it waits ends what it started, and says nothing else."""

import asyncio
import threading
from dataclasses import replace

import pytest
from places import settled

import rangeio
from rangeio.testing.server import Fault, RangeServer
from rangeio.transport.profile import PROFILES


@pytest.fixture
def silent(files):
    """A server that opens a file and then, at its first page, falls silent; and the event of it."""
    path = files.mixed("2.1")
    reached = threading.Event()

    def page(request):
        return not request.headers.get("range", "").startswith("bytes=-")

    with RangeServer({"k": path.read_bytes()}) as server:
        server.script.add(Fault(silent=True, then=reached.set), times=1000, when=page)
        yield server, reached


@pytest.fixture
def session():
    profile = replace(PROFILES["http"], tail=8192, few_bytes=True, small_file=0)
    with rangeio.Session(profile=profile) as one:
        yield one


def test_a_cancelled_scan_is_cancelled_and_nothing_else(silent, session):
    server, reached = silent

    async def scan():
        async with await rangeio.open_async(server.at("k"), session=session) as f:
            async for _ in f.scan(["id"]):
                raise AssertionError("the server was silent")

    async def main():
        task = asyncio.ensure_future(scan())
        await asyncio.to_thread(reached.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert reached.is_set()
    assert settled(session)


def test_a_file_closed_while_a_scan_is_under_way(files, session):
    async def main():
        f = await rangeio.open_async(str(files.mixed("2.1")), session=session)
        batches = f.scan(["id"], batch_rows=100)
        assert (await anext(batches)).num_rows == 100
        await f.close()
        await batches.aclose()

    asyncio.run(main())
    assert settled(session)
