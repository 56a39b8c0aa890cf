"""Each way in which a server misbehaves: the right bytes or the named error, and no hang."""

from __future__ import annotations

import asyncio

import pytest
from trips import LARGE, SMALL, Trips

from rangeio.errors import (
    BadRows,
    Denied,
    NotFound,
    ObjectChanged,
    RangeIgnored,
    ServerFault,
    ShortReply,
    StoreError,
    Throttled,
    TimedOut,
    Unreachable,
)
from rangeio.ranges import ByteRange, Suffix
from rangeio.testing.server import Fault
from rangeio.transport.policy import Policy

AT = ByteRange(1_000, 51_000)
ALWAYS = 1_000

MENDED_BY_A_RETRY = {
    "lies about the start": Fault(content_range="bytes 0-{last}/{total}"),
    "lies about the stop": Fault(content_range="bytes {start}-{stop}/{total}"),
    "lies about the total": Fault(content_range="bytes {start}-{last}/999999999"),
    "says no range": Fault(content_range=""),
    "says nonsense": Fault(content_range="bytes 9-1/x"),
    "turns the range round": Fault(content_range="bytes {last}-{start}/{total}"),
    "one byte short, consistently": Fault(short=1),
    "cuts the body": Fault(cut=9_000),
    "cuts all of the body": Fault(cut=0),
    "cuts a chunked body": Fault(chunked=True, cut=9_000),
    "chunked, with more than asked": Fault(chunked=True, extra=b"more"),
    "resets in the body": Fault(reset_at=9_000),
    "resets before the head": Fault(reset=True),
}
REFUSED_FOR_A_WHILE = {408: TimedOut, 429: Throttled, 503: Throttled} | dict.fromkeys(
    (500, 502, 504), ServerFault
)
REFUSED_FOR_GOOD = {
    400: ServerFault,
    401: Denied,
    403: Denied,
    404: NotFound,
    405: ServerFault,
    410: NotFound,
    412: ObjectChanged,
    418: ServerFault,
    501: ServerFault,
}
HARMLESS = {
    "chunked": Fault(chunked=True),
    "late": Fault(delay_s=0.05),
    "total unknown": Fault(content_range="bytes {start}-{last}/*"),
    "identity": Fault(encoding="identity"),
    "range ignored, small object": Fault(ignore_range=True),
    "range ignored, chunked": Fault(ignore_range=True, chunked=True),
}


@pytest.mark.parametrize("fault", HARMLESS.values(), ids=HARMLESS.keys())
def test_odd_but_right(trips: Trips, run, fault: Fault) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            await trip.opened()
            trip.server.script.add(fault)
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]
            assert len(trip.server.log) == 1

    run(main)


@pytest.mark.parametrize("fault", MENDED_BY_A_RETRY.values(), ids=MENDED_BY_A_RETRY.keys())
def test_once_wrong(trips: Trips, run, fault: Fault) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            await trip.opened()
            trip.server.script.add(fault)
            buffer = bytearray(AT.size)
            received = await trip.get(AT, memoryview(buffer))
            assert received.data == SMALL[1_000:51_000] == bytes(buffer)
            assert len(trip.server.log) == 2
            (record,) = trip.trace
            assert record.attempts == 2

    run(main)


@pytest.mark.parametrize("fault", MENDED_BY_A_RETRY.values(), ids=MENDED_BY_A_RETRY.keys())
def test_always_wrong(trips: Trips, run, fault: Fault) -> None:
    async def main() -> None:
        async with trips.to(policy=Policy(attempts=3)) as trip:
            await trip.opened()
            trip.server.script.add(fault, ALWAYS)
            with pytest.raises((ShortReply, Unreachable)) as caught:
                await trip.get(AT)
            assert caught.value.attempts == 3 == len(trip.server.log)
            assert caught.value.at == AT
            assert caught.value.url == trip.source.url

    run(main)


@pytest.mark.parametrize(("status", "kind"), REFUSED_FOR_A_WHILE.items())
def test_refused_for_a_while(trips: Trips, run, status: int, kind: type[StoreError]) -> None:
    async def main() -> None:
        async with trips.to(policy=Policy(attempts=4)) as trip:
            await trip.opened()
            trip.server.script.add(Fault(status=status), 3)
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]
            trip.server.script.add(Fault(status=status), 4)
            with pytest.raises(kind) as caught:
                await trip.get(AT)
            assert (caught.value.status, caught.value.attempts) == (status, 4)

    run(main)


@pytest.mark.parametrize(("status", "kind"), REFUSED_FOR_GOOD.items())
def test_refused_for_good(trips: Trips, run, status: int, kind: type[StoreError]) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            await trip.opened()
            trip.server.script.add(Fault(status=status, code="AuthorizationQueryParametersError"))
            with pytest.raises(kind, match="AuthorizationQueryParametersError") as caught:
                await trip.get(AT)
            assert len(trip.server.log) == 1
            assert caught.value.status == status

    run(main)


def test_slow_down_by_code(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to(policy=Policy(attempts=1)) as trip:
            trip.server.script.add(Fault(status=400, code="SlowDown"))
            with pytest.raises(Throttled):
                await trip.get(AT)

    run(main)


def test_range_ignored_by_a_large_object(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to("large") as trip:
            await trip.opened()
            trip.server.script.add(Fault(ignore_range=True), ALWAYS)
            with pytest.raises(RangeIgnored, match="does not support ranges"):
                await trip.get(AT)
            assert len(trip.server.log) == 1
            assert next(iter(trip.trace)).size == 0

    run(main)


def test_range_ignored_at_the_first_get(trips: Trips, run) -> None:
    async def main() -> None:
        trips.server.script.add(Fault(ignore_range=True), ALWAYS)
        async with trips.to("small") as trip:
            received = await trip.get(Suffix(1_000))
            assert received.data == SMALL[-1_000:]
            assert received.at == ByteRange(299_000, 300_000)
        async with trips.to("large") as trip:
            with pytest.raises(RangeIgnored):
                await trip.get(Suffix(1_000))
            received = await trip.get(ByteRange(0, len(LARGE)))
            assert received.data == LARGE

    run(main)


def test_a_part_with_status_200_is_refused(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            fault = Fault(ignore_range=True, content_range="bytes 7-8/{total}")
            trip.server.script.add(fault, ALWAYS)
            with pytest.raises(ServerFault):
                await trip.get(Suffix(1_000))
            assert len(trip.server.log) == 1

    run(main)


@pytest.mark.parametrize("ignore", [False, True])
def test_swapped_between_any_two_gets(trips: Trips, run, ignore: bool) -> None:
    other = bytes(300_000)

    async def main(after: int) -> None:
        trips.server.script.clear()
        trips.server.put("small", SMALL)
        swap = Fault(then=lambda: trips.server.put("small", other), ignore_if_match=ignore)
        trips.server.script.add(swap, after=after)
        trips.server.script.add(Fault(ignore_if_match=ignore), ALWAYS)
        async with trips.to() as trip:
            for i in range(5):
                at = ByteRange(i * 1_000, i * 1_000 + 500)
                if i < after or (i == after == 0):
                    assert (await trip.get(at)).data == (SMALL if after else other)[
                        at.start : at.stop
                    ]
                elif after:
                    with pytest.raises(ObjectChanged):
                        await trip.get(at)

    for after in range(5):
        run(lambda after=after: main(after))


@pytest.mark.parametrize("ignore", [False, True])
def test_swapped_while_resuming(trips: Trips, run, ignore: bool) -> None:
    def swap() -> None:
        trips.server.put("small", bytes(300_000))

    async def main() -> None:
        async with trips.to() as trip:
            await trip.opened()
            trip.server.script.add(Fault(cut=20_000))
            trip.server.script.add(Fault(then=swap, ignore_if_match=ignore))
            with pytest.raises(ObjectChanged):
                await trip.get(AT)

    run(main)


def test_two_first_gets_of_two_versions(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            swap = Fault(then=lambda: trip.server.put("small", bytes(300_000)), delay_s=0.1)
            trip.server.script.add(swap, after=1)
            results = await asyncio.gather(
                trip.get(Suffix(10)), trip.get(ByteRange(0, 10)), return_exceptions=True
            )
            assert sorted(type(r).__name__ for r in results) == ["ObjectChanged", "Received"]

    run(main)


def test_weak_tags_are_compared_and_never_sent(trips: Trips, run) -> None:
    async def main() -> None:
        trips.server.put("small", SMALL, 'W/"a"')
        async with trips.to() as trip:
            await trip.get(Suffix(8))
            assert trip.source.consistency == "weak"
            # Parts of two replies are not joined on the word of a weak tag: all is asked again.
            trip.server.script.add(Fault(cut=20_000))
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]
            assert {r.if_match for r in trip.server.log} == {""}
            assert [r.range for r in trip.server.log[1:]] == ["bytes=1000-50999"] * 2
            trip.server.put("small", SMALL, 'W/"b"')
            with pytest.raises(ObjectChanged):
                await trip.get(AT)

    run(main)


def test_without_tags_the_size_is_all_there_is(trips: Trips, run) -> None:
    async def main() -> None:
        trips.server.put("small", SMALL, "")
        async with trips.to() as trip:
            received = await trip.get(Suffix(8))
            assert (received.tag, trip.source.consistency) == ("", "none")
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]
            trip.server.put("small", SMALL + b"x", "")
            with pytest.raises(ObjectChanged):
                await trip.get(AT)

    run(main)


def test_a_tag_that_disappears(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            await trip.opened()
            trip.server.script.add(Fault(etag="", ignore_if_match=True), ALWAYS)
            with pytest.raises(ServerFault, match="no version tag"):
                await trip.get(AT)

    run(main)


def test_an_encoded_body_is_refused(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            trip.server.script.add(Fault(encoding="gzip"), ALWAYS)
            with pytest.raises(ServerFault, match="gzip"):
                await trip.get(AT)
            assert len(trip.server.log) == 1
            assert trip.server.log[0].headers["accept-encoding"] == "identity"

    run(main)


def test_416_of_a_shrunk_object(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            trip.server.put("small", SMALL, "")
            await trip.opened()
            trip.server.put("small", SMALL[:100], "")
            with pytest.raises(ObjectChanged):
                await trip.get(AT)
            assert len(trip.server.log) == 1

    run(main)


def test_416_without_a_total_is_looked_into_once(trips: Trips, run) -> None:
    async def main() -> None:
        for size, kind in ((300_000, ServerFault), (100, ObjectChanged)):
            trips.server.put("small", SMALL[:300_000], "")
            async with trips.to() as trip:
                await trip.opened()
                trip.server.put("small", SMALL[:size], "")
                trip.server.script.add(Fault(status=416))
                with pytest.raises(kind):
                    await trip.get(AT)
                assert [r.range for r in trip.server.log] == ["bytes=1000-50999", "bytes=0-0"]

    run(main)


def test_416_of_an_unknown_object(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            with pytest.raises(BadRows, match="300000"):
                await trip.get(ByteRange(400_000, 400_001))
            assert len(trip.server.log) == 1
        async with trips.to() as trip:
            with pytest.raises(BadRows):
                await trip.get(ByteRange(299_999, 400_001))

    run(main)


def test_a_server_that_refuses_long_suffixes(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to() as trip:
            trip.server.script.add(Fault(status=416))
            received = await trip.get(Suffix(1_000_000))
            assert received.data == SMALL
            assert len(trip.server.log) == 3

    run(main)


@pytest.mark.parametrize(
    "garbage", [b"\x00\x01\x02\r\n\r\n", b"HTTP/9.9 000 x\r\n\r\n", b"", b"SSH-2.0-x\r\n"]
)
def test_garbage_for_a_head(trips: Trips, run, garbage: bytes) -> None:
    async def main() -> None:
        async with trips.to(policy=Policy(attempts=2)) as trip:
            trip.server.script.add(Fault(garbage=garbage or b"\r\n"), ALWAYS)
            with pytest.raises((ServerFault, Unreachable, TimedOut)):
                await trip.get(AT)
            trip.server.script.clear()
            assert (await trip.get(AT)).data == SMALL[1_000:51_000]

    run(main)
