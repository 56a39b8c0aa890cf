"""What a GET through the transport promises where nothing goes wrong, or the asker does."""

from __future__ import annotations

import asyncio
import os
import pickle
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trips import LARGE, SMALL, Trips

from rangeio.errors import BadRows, ObjectChanged, RangeIOError, ShortReply, StoreError, Throttled
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.http import HttpStore
from rangeio.stores.local import INLINE, LocalStore
from rangeio.stores.memory import MemoryStore
from rangeio.stores.store import Reply, Store
from rangeio.stores.url import redact
from rangeio.testing.server import Fault
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.profile import PROFILES
from rangeio.transport.source import Received, Source
from rangeio.transport.trace import Trace
from rangeio.transport.transport import Transport


def test_the_first_get_pins(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            assert trip.source.consistency == "none"
            received = await trip.get(Suffix(1_000))
            assert received.data == SMALL[-1_000:]
            assert received.data.readonly
            assert (received.at, received.total) == (ByteRange(299_000, 300_000), 300_000)
            assert (trip.source.pin, trip.source.size) == (received.tag, 300_000)
            assert trip.source.consistency == "strong"
            for i in range(5):
                at = ByteRange(i, 2 * i + 1)
                assert (await trip.get(at)).data == SMALL[at.start : at.stop]
            assert {r.method for r in trip.server.log} == {"GET"}
            assert [r.if_match for r in trip.server.log] == ["", *[received.tag] * 5]

    run(main)


def test_a_suffix_longer_than_the_object(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            received = await trip.get(Suffix(1 << 30))
            assert received.data == SMALL
            assert received.at == ByteRange(0, 300_000)
            # Now that the size is known a suffix is a range like any other.
            assert (await trip.get(Suffix(10))).at == ByteRange(299_990, 300_000)
            assert trip.server.log[-1].range == "bytes=299990-299999"

    run(main)


def test_an_empty_object(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to("empty") as trip:
            received = await trip.get(Suffix(100))
            assert (received.data, received.at, received.total) == (b"", ByteRange(0, 0), 0)
            assert (await trip.get(Suffix(100))).data == b""
            assert len(trip.server.log) == 1
            with pytest.raises(BadRows):
                await trip.get(ByteRange(0, 1))
        trips.server.script.add(Fault(ignore_range=True))
        async with trips.to("empty") as trip:
            assert (await trip.get(Suffix(100))).data == b""

    run(main)


def test_what_is_nothing_or_outside_is_never_asked(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            assert (await trip.get(ByteRange(7, 7))).data == b""
            assert not trip.server.log
            await trip.opened()
            assert (await trip.get(ByteRange(300_000, 300_000))).data == b""
            for at in (ByteRange(299_999, 300_001), ByteRange(10**15, 10**15 + 1)):
                with pytest.raises(BadRows, match="beyond the object's end") as caught:
                    await trip.get(at)
                assert (caught.value.at, caught.value.url) == (at, trip.source.url)
            assert not trip.server.log
            assert len(trip.trace) == 0

    run(main)


def test_into(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to("large") as trip:
            buffer = bytearray(3_000_000)
            received = await trip.get(ByteRange(5, 2_000_005), memoryview(buffer)[100:2_000_100])
            assert buffer[100:2_000_100] == LARGE[5:2_000_005] == received.data
            assert not any(buffer[:100])
            assert not any(buffer[2_000_100:])
            for at in (ByteRange(0, 9), ByteRange(0, 11)):
                with pytest.raises(ValueError, match="a buffer of 10 bytes"):
                    await trip.get(at, memoryview(bytearray(10)))

    run(main)


def test_a_record_of_each_get(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(manual=False) as trip:
            await trip.get(Suffix(100))
            trip.server.script.add(Fault(status=503))
            await trip.get(ByteRange(0, 10))
            trip.server.script.add(Fault(status=404))
            with pytest.raises(StoreError):
                await trip.get(ByteRange(0, 10))
            first, second, third = trip.trace
            assert (first.start, first.stop, first.size) == (299_900, 300_000, 100)
            assert (second.attempts, second.status, second.size) == (2, 206, 10)
            assert (third.attempts, third.status, third.size) == (1, 404, 0)
            assert first.url == trip.server.at("small")
            assert first.why == "test.range"
            assert 0 < first.first_byte_s <= first.total_s

    run(main)


def test_secrets_stay_inside(trips: Trips, run) -> None:
    secret = "canary-55d1"

    async def main() -> None:
        store = HttpStore(headers={"Authorization": secret})
        url = (
            trips.server.at("small").replace("//", f"//me:{secret}@") + f"?X-Amz-Signature={secret}"
        )
        async with trips.to(store=store, url=url) as trip:
            await trip.get(Suffix(10))
            trip.server.script.add(Fault(status=403))
            with pytest.raises(StoreError) as caught:
                await trip.get(ByteRange(0, 1))
            told = "".join(traceback.format_exception(caught.value)).replace(f"{secret!r}", "")
            shown = (told, repr(trip.source), repr(list(trip.trace)), str(trip.trace), repr(store))
            assert not any(secret in one for one in shown)
            again = pickle.loads(pickle.dumps(caught.value))
            assert secret not in repr(again.__dict__)
            assert (again.url, again.at, again.status, again.attempts) == (
                redact(url), ByteRange(0, 1), 403, 1,
            )  # fmt: skip

    run(main)


async def _read(store: Store, key: str, profile: str) -> tuple[list[Received], Transport]:
    transport = Transport()
    source = Source(store, key, key, PROFILES[profile])
    trace = Trace()
    asks = (Suffix(100), ByteRange(0, 10), ByteRange(5, 5 + 2 * INLINE), Suffix(1 << 30))
    got = [await transport.get(source, at, why="t.x", hop=1, trace=trace) for at in asks]
    into = memoryview(bytearray(2 * INLINE))
    at = ByteRange(9, 9 + 2 * INLINE)
    got.append(await transport.get(source, at, why="t.x", hop=1, trace=trace, into=into))
    with pytest.raises(BadRows):
        await transport.get(source, ByteRange(0, 1 << 40), why="t.x", hop=1, trace=trace)
    assert trace.gets == 5
    await transport.close()
    return got, transport


def test_every_store_answers_alike(trips: Trips, tmp_path: Path) -> None:
    data = LARGE[: 4 * INLINE]
    path = tmp_path / "o"
    path.write_bytes(data)
    trips.server.put("o", data)

    async def main() -> None:
        http = HttpStore()
        memory = MemoryStore({"o": data})
        for store, key, profile in (
            (http, trips.server.at("o"), "http"),
            (LocalStore(), str(path), "file"),
            (memory, "o", "memory"),
        ):
            got, _ = await _read(store, key, profile)
            assert [bytes(r.data) for r in got] == [
                data[-100:],
                data[:10],
                data[5 : 5 + 2 * INLINE],
                data,
                data[9 : 9 + 2 * INLINE],
            ]
            assert {r.total for r in got} == {len(data)}
        await http.close()

    asyncio.run(main())


def test_views_of_memory_are_not_copied(run) -> None:
    async def main() -> None:
        transport = Transport()
        source = Source(MemoryStore({"o": SMALL}), "o", "o", PROFILES["memory"])
        received = await transport.get(source, ByteRange(1, 9), why="t.x", hop=1, trace=Trace())
        assert received.data.obj is SMALL
        await transport.close()

    run(main)


def test_a_file_that_is_replaced(run, tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "o"
        for size in (100, 3 * INLINE):
            path.write_bytes(LARGE[: 4 * INLINE])
            os.utime(path, ns=(1, 1))
            transport = Transport()
            source = Source(LocalStore(), str(path), "o", PROFILES["file"])
            await transport.get(source, Suffix(8), why="t.x", hop=1, trace=Trace())
            path.write_bytes(SMALL)
            with pytest.raises(ObjectChanged):
                await transport.get(source, ByteRange(0, size), why="t.x", hop=1, trace=Trace())
            await transport.close()

    run(main)


class Liar:
    """A store whose bytes at hand are fewer than its head says."""

    profile = "memory"
    pinned = True

    async def get(self, key: str, at: ByteRange | Suffix, *, if_match: str | None = None) -> Reply:
        assert isinstance(at, ByteRange)
        return Reply(at, 100, "t", memoryview(bytes(at.size - 1)), size=at.size)

    async def close(self) -> None:
        return


def test_bytes_at_hand_are_counted(run) -> None:
    async def main() -> None:
        transport = Transport(policy=Policy(attempts=2, backoff_s=0.001))
        source = Source(Liar(), "o", "o", PROFILES["memory"])
        with pytest.raises(ShortReply) as caught:
            await transport.get(source, ByteRange(1, 9), why="t.x", hop=1, trace=Trace())
        assert caught.value.attempts == 2
        await transport.close()

    run(main)


# ---- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "most"), [(Limits(in_flight=3), 3), (Limits(in_flight_file=2), 2), (Limits(), 24)]
)
def test_in_flight(trips: Trips, run, limits: Limits, most: int) -> None:
    async def main() -> None:
        async with trips.to(limits=limits, manual=False) as trip:
            await trip.opened()
            trip.server.delay_s = 0.02
            await asyncio.gather(*(trip.get(ByteRange(i, i + 10)) for i in range(40)))
            assert len({r.peer for r in trip.server.log}) == most

    run(main)


def test_a_busy_endpoint_gets_less_and_then_more_again(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(profile="s3", policy=Policy(tokens=1_000)) as trip:
            await trip.opened()
            endpoint = trip.source.endpoint
            assert endpoint is not None
            assert endpoint.gate.limit == 64
            trip.server.script.add(Fault(status=503), 16)
            await asyncio.gather(*(trip.get(ByteRange(i, i + 10)) for i in range(16)))
            low = endpoint.gate.limit
            assert 1 <= low < 16
            for i in range(100):
                await trip.get(ByteRange(i, i + 10))
            assert low < endpoint.gate.limit < 64
            trip.server.script.add(Fault(status=503), 10_000)
            with pytest.raises(Throttled):
                await trip.get(ByteRange(0, 1))
            assert endpoint.gate.limit == 1
            trip.server.script.clear()
            assert (await trip.get(ByteRange(0, 1))).data == SMALL[:1]

    run(main)


def test_a_cancelled_one_in_the_queue_harms_no_other(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(limits=Limits(in_flight_file=1), manual=False) as trip:
            await trip.opened()
            trip.server.delay_s = 0.02
            tasks = [asyncio.ensure_future(trip.get(ByteRange(i, i + 10))) for i in range(6)]
            await asyncio.sleep(0.005)
            for i in (0, 2, 3, 5):
                tasks[i].cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert [isinstance(r, Received) for r in results] == [0, 1, 0, 0, 1, 0]

    run(main)


# ---- any run of faults -------------------------------------------------------------------------

FAULTS = st.builds(
    Fault,
    status=st.sampled_from([0, 0, 0, 0, 403, 416, 500, 503]),
    reset=st.sampled_from([False] * 9 + [True]),
    ignore_range=st.booleans(),
    ignore_if_match=st.booleans(),
    content_range=st.sampled_from(
        [
            None,
            None,
            None,
            "",
            "bytes 0-{last}/{total}",
            "bytes {start}-{last}/*",
            "bytes */{total}",
        ]
    ),
    short=st.sampled_from([0, 0, 0, 1]),
    etag=st.sampled_from([None, None, None, "", 'W/"x"', '"other"']),
    encoding=st.sampled_from(["", "", "", "gzip"]),
    chunked=st.booleans(),
    extra=st.sampled_from([b"", b"", b"x"]),
    cut=st.sampled_from([None, None, 0, 1, 5_000]),
    reset_at=st.sampled_from([None, None, 0, 7_000]),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    faults=st.lists(FAULTS, max_size=6),
    first=st.booleans(),
    swap=st.integers(0, 12),
    starts=st.lists(st.integers(0, 280_000), min_size=1, max_size=4),
)
def test_the_right_bytes_or_an_error(
    trips: Trips, faults: list[Fault], first: bool, swap: int, starts: list[int]
) -> None:
    server = trips.server
    other = bytes(b ^ 0xFF for b in SMALL)

    async def main() -> None:
        server.script.clear()
        server.put("small", SMALL)
        server.script.add(Fault(then=lambda: server.put("small", other)), after=swap)
        for fault in faults:
            server.script.add(fault)
        async with trips.to(policy=Policy(attempts=4)) as trip:
            seen = set()
            for start in starts:
                at = ByteRange(start, start + 20_000)
                try:
                    received = await trip.get(Suffix(20_000) if first else at)
                except RangeIOError as error:
                    assert error.url == trip.source.url  # noqa: PT017
                    continue
                a, b = received.at.start, received.at.stop
                assert received.data in (SMALL[a:b], other[a:b])
                assert len(received.data) == 20_000
                if not first:
                    assert received.at == at
                if trip.source.consistency == "strong" and not any(f.etag for f in faults):
                    seen.add(received.data == SMALL[a:b])
            assert len(seen) < 2

    asyncio.run(asyncio.wait_for(main(), 20))
