"""How long the transport waits, how often it tries again, and that nothing hangs."""

from __future__ import annotations

import asyncio
import socket
import time

import pytest
from trips import LARGE, SMALL, Trips

from rangeio.errors import ServerFault, Throttled, TimedOut, Unreachable
from rangeio.ranges import ByteRange
from rangeio.testing.server import Fault
from rangeio.transport.policy import Policy

AT = ByteRange(1_000, 51_000)
ALWAYS = 1_000


def test_retry_after_is_waited_for(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(policy=Policy(retry_after_s=60)) as trip:
            await trip.opened()
            trip.server.script.add(Fault(status=503, retry_after="7"), 2)
            trip.server.script.add(Fault(status=429, retry_after="100000"), 1)
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]
            assert trip.clock.slept == [7.0, 7.0, 60.0]

    run(main)


def test_resuming_asks_for_what_is_missing(trips: Trips, run) -> None:
    async def main() -> None:
        policy = Policy(stall_s=0.2)
        async with trips.to("large", manual=False, policy=policy) as trip:
            tag = (await trip.opened()).tag
            trip.server.script.add(Fault(stall_at=1_000_000))
            received = await trip.get(ByteRange(10, 4_000_010))
            assert received.data == LARGE[10:4_000_010]
            assert [r.range for r in trip.server.log] == [
                "bytes=10-4000009",
                "bytes=1000010-4000009",
            ]
            assert {r.if_match for r in trip.server.log} == {tag}
            (record,) = trip.trace
            assert (record.size, record.attempts) == (4_000_000, 2)

    run(main)


@pytest.mark.parametrize(
    ("fault", "policy"),
    [
        (Fault(silent=True), Policy(attempts=2, first_byte_s=0.1)),
        (Fault(stall_at=10), Policy(attempts=2, stall_s=0.1)),
        (Fault(bytes_per_s=2_000), Policy(attempts=2, stall_s=0.1, stall_bytes_per_s=1e6)),
        (Fault(silent=True), Policy(total_s=0.2)),
        (Fault(bytes_per_s=50_000), Policy(total_s=0.2)),
        (Fault(status=503, retry_after="30"), Policy(total_s=0.2)),
    ],
    ids=["silent", "stalled", "too slow", "silent, in all", "slow, in all", "busy, in all"],
)
def test_nothing_hangs(trips: Trips, run, fault: Fault, policy: Policy) -> None:
    async def main() -> None:
        async with trips.to(policy=policy, manual=False) as trip:
            trip.server.script.add(fault, ALWAYS)
            begun = time.monotonic()
            with pytest.raises((TimedOut, Throttled)) as caught:
                await trip.get(AT)
            assert time.monotonic() - begun < 2.0
            assert caught.value.attempts == len(trip.server.log)
            trip.server.script.clear()
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]

    run(main)


def test_once_stalled(trips: Trips, run) -> None:
    async def main() -> None:
        policy = Policy(stall_s=0.1, first_byte_s=0.1)
        async with trips.to(policy=policy, manual=False) as trip:
            await trip.opened()
            trip.server.script.add(Fault(stall_at=30_000))
            trip.server.script.add(Fault(silent=True))
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]
            assert trip.server.log[-1].range == "bytes=31000-50999"

    run(main)


def test_the_callers_deadline_is_kept(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(manual=False) as trip:
            trip.server.script.add(Fault(silent=True), ALWAYS)
            begun = time.monotonic()
            with pytest.raises(TimedOut, match="deadline"):
                await trip.get(AT, deadline=0.3)
            assert 0.27 <= time.monotonic() - begun < 2.0

    run(main)


def test_a_socket_that_swallows_all(trips: Trips, run) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as hole:
            url = f"http://127.0.0.1:{hole.getsockname()[1]}/x"
            policy = Policy(attempts=2, first_byte_s=0.1)
            async with trips.to(url=url, manual=False, policy=policy) as trip:
                with pytest.raises(TimedOut):
                    await trip.get(AT)

    run(main)


def test_nobody_listens(trips: Trips, run) -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}/x"
        async with trips.to(url=url) as trip:
            with pytest.raises(Unreachable) as caught:
                await trip.get(AT)
            assert caught.value.attempts == 6

    run(main)


def test_the_process_spends_no_more_retries_than_it_has(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(policy=Policy(attempts=10, tokens=5)) as trip:
            await trip.opened()
            trip.server.script.add(Fault(status=500), ALWAYS)
            results = await asyncio.gather(
                *(trip.get(ByteRange(i, i + 1)) for i in range(20)), return_exceptions=True
            )
            assert all(isinstance(r, ServerFault) for r in results)
            assert len(trip.server.log) == 25

    run(main)


def test_cancelling_closes_the_connection(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to("large", manual=False) as trip:
            await trip.opened()
            for fault in (Fault(stall_at=100_000), Fault(silent=True)):
                trip.server.script.add(fault)
                task = asyncio.ensure_future(trip.get(ByteRange(0, 1 << 20)))
                await asyncio.sleep(0.1)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            await asyncio.sleep(0.1)
            assert not trip.server.connections
            assert (await trip.get(AT)).data == LARGE[1_000:51_000]

    run(main)
