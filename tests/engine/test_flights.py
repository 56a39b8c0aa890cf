"""Held bytes, flights and new GETs: nothing is fetched twice, nothing missing is left out."""

import asyncio
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rig import PROFILE, Rig, seeded

from rangeio.engine.budget import Lane, Ticket
from rangeio.engine.flights import Cause, Pinned
from rangeio.engine.lease import Lease, Planned
from rangeio.errors import RequestError
from rangeio.ranges import ByteRange
from rangeio.steps import Need
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace

DATA = bytes(itertools.islice(itertools.cycle(range(251)), 20_000))


def at(start, stop):
    return ByteRange(start, stop)


def reader(rig, *, always=True):
    source = Source(rig.store, "o", "test://o", PROFILE, rig.pin, rig.size)
    of = Pinned(source, "v", Trace(), itertools.count(1), PROFILE.cost)
    lease = Lease(rig.engine.flights, of, Ticket(Lane(always=always)))

    async def ask(*ranges):
        views = await lease.fetch(Need(ranges, "test"), Cause("test", of.hop()))
        for want, view in zip(ranges, views, strict=True):
            assert bytes(view) == DATA[want.start : want.stop]
        return lease

    return ask, of.trace


def run(work, **options):
    async def main():
        rig = Rig(DATA, None, seeded("flights"), **options)
        await work(rig)
        await rig.close()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_identical_needs_of_concurrent_readers_cost_one_get():
    async def work(rig):
        asks = [reader(rig) for _ in range(20)]
        leases = await asyncio.gather(*(ask(at(100, 900)) for ask, _ in asks))
        assert rig.store.log == [at(100, 900)]
        assert sum(trace.gets for _, trace in asks) == 1
        for lease in leases:
            lease.release()
        await rig.settled()

    run(work)


def test_a_partial_overlap_fetches_only_what_is_missing():
    async def work(rig):
        (one, _), (two, _) = reader(rig), reader(rig)
        leases = await asyncio.gather(one(at(0, 1000)), two(at(500, 1500)))
        assert sorted(rig.store.log) == [at(0, 1000), at(1000, 1500)]
        for lease in leases:
            lease.release()
        await rig.settled()

    run(work)


def test_held_bytes_are_not_fetched_again_not_even_as_a_gap():
    async def work(rig):
        ask, _ = reader(rig)
        (await ask(at(1000, 2000))).release()
        again, _ = reader(rig)
        (await again(at(0, 3000))).release()
        assert sorted(rig.store.log[1:]) == [at(0, 1000), at(2000, 3000)]
        whole, held = reader(rig)
        (await whole(at(0, 3000), at(5, 6), at(7, 7))).release()
        assert len(rig.store.log) == 3
        assert held.gets == 0
        assert [r.cached for r in held] == [True]
        await rig.settled()

    run(work, cache=1 << 20)


def test_what_lies_in_a_gap_and_is_held_is_not_read_through():
    async def work(rig):
        ask, _ = reader(rig)
        (await ask(at(1000, 2000))).release()
        again, _ = reader(rig)
        (await again(at(500, 900), at(2100, 2500))).release()
        assert sorted(rig.store.log[1:]) == [at(500, 1000), at(2000, 2500)]
        await rig.settled()

    run(work, cache=1 << 20)


def test_bytes_under_a_flight_of_another_reader_are_found():
    async def work(rig):
        ask, _ = reader(rig)
        flights, lane = rig.engine.flights, Lane(always=True)
        source = Source(rig.store, "o", "test://o", PROFILE, rig.pin, rig.size)
        of = Pinned(source, "v", Trace(), itertools.count(1), PROFILE.cost)
        wide = Planned(at(0, 1000))
        wide.left = 1
        lease = Lease(flights, of, Ticket(lane), [wide])
        inner = asyncio.ensure_future(ask(at(50, 60)))
        while not rig.store.in_flight:
            await asyncio.sleep(0)
        need = Need((at(70, 80), at(55, 65), at(0, 1000)), "test")
        views = await lease.fetch(need, Cause("test", of.hop()))
        assert [bytes(v) for v in views] == [DATA[r.start : r.stop] for r in need.ranges]
        (await inner).release()
        lease.release()
        await rig.settled()

    run(work)


def test_a_need_of_a_neighbour_is_not_answered_from_the_file_itself():
    async def work(rig):
        source = Source(rig.store, "o", "test://o", PROFILE, rig.pin, rig.size)
        of = Pinned(source, "v", Trace(), itertools.count(1), PROFILE.cost)
        lease = Lease(rig.engine.flights, of, Ticket(Lane(always=True)))
        with pytest.raises(RequestError, match="neighbour"):
            await lease.fetch(Need((at(0, 10),), "test", of="index"), Cause("test", of.hop()))
        lease.release()
        assert not rig.store.log
        await rig.settled()

    run(work)


def test_needs_of_one_hop_coalesce():
    async def work(rig):
        ask, trace = reader(rig)
        (await ask(at(0, 10), at(100, 110), at(9000, 9010), at(5, 20))).release()
        assert sorted(rig.store.log) == [at(0, 110), at(9000, 9010)]
        assert trace.hops == 1
        assert trace.bytes_needed == 10 + 10 + 10 + 15
        assert trace.bytes_read == 120
        await rig.settled()

    run(work)


def test_cancelling_the_only_reader_ends_its_get():
    async def released(rig):
        source = Source(rig.store, "o", "test://o", PROFILE, rig.pin, rig.size)
        of = Pinned(source, "v", Trace(), itertools.count(1), PROFILE.cost)
        lease = Lease(rig.engine.flights, of, Ticket(Lane(always=True)))
        need = Need((at(0, 1000),), "test")
        task = asyncio.ensure_future(lease.fetch(need, Cause("test", of.hop())))
        while not rig.store.in_flight:
            await asyncio.sleep(0)
        task.cancel()
        lease.release()
        await asyncio.gather(task, return_exceptions=True)
        await rig.settled()
        assert rig.store.cancelled == 1

    run(released, turns=2000)


ranges = st.builds(
    lambda a, n: at(a, min(a + n, len(DATA))), st.integers(0, 19_999), st.integers(0, 4000)
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(ranges, min_size=1, max_size=6), min_size=1, max_size=6),
    st.sampled_from([0, 3000, 1 << 20]),
    st.integers(0, 10**6),
)
def test_any_needs_of_any_readers_get_their_bytes(needs, cache, seed):
    async def main():
        rig = Rig(DATA, None, seeded(seed), cache=cache, capacity=5000)
        leases = await asyncio.gather(*(reader(rig)[0](*need) for need in needs))
        for lease in leases:
            lease.release()
        (await reader(rig)[0](*needs[0])).release()
        await rig.settled()
        assert rig.engine.cache.weight <= cache
        await rig.close()

    asyncio.run(asyncio.wait_for(main(), 30))
