"""Large metadata: it moves in parallel parts, and what is held of it is never read again."""

import asyncio
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rig import PROFILE, Rig, seeded

from rangeio.engine.budget import Lane, Ticket
from rangeio.engine.flights import Cause, Pinned
from rangeio.engine.lease import Lease
from rangeio.ranges import ByteRange
from rangeio.steps import Need
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace

DATA = bytes(itertools.islice(itertools.cycle(range(251)), 20_000))


def run(work, **options):
    async def main():
        rig = Rig(DATA, None, seeded("large"), **options)
        await work(rig)
        await rig.settled()
        await rig.close()

    asyncio.run(asyncio.wait_for(main(), 30))


def lease_of(rig, kept=()):
    source = Source(rig.store, "o", "test://o", PROFILE, rig.pin, rig.size)
    of = Pinned(source, "v", Trace(), itertools.count(1), PROFILE.cost)
    return Lease(rig.engine.flights, of, Ticket(Lane(always=True)), kept=kept), of


async def asked(rig, start, stop, span, kept=()):
    lease, of = lease_of(rig, kept)
    need = Need((ByteRange(start, stop),), "test", span=span)
    (view,) = await lease.fetch(need, Cause("test", of.hop()))
    assert bytes(view) == DATA[start:stop]
    lease.release()
    return view


def spans(rig):
    return sorted((at.start, at.stop) for at in rig.store.log)


def test_a_large_range_moves_in_parts_of_its_span():
    async def work(rig):
        await asked(rig, 0, 10_000, 3_000)
        assert spans(rig) == [(0, 2500), (2500, 5000), (5000, 7500), (7500, 10_000)]

    run(work)


@pytest.mark.parametrize("cache", [0, 1 << 20])
def test_the_tail_that_is_held_is_not_read_again_and_the_head_is_not_copied(cache):
    async def work(rig):
        tail = ByteRange(15_000, 20_000)
        kept = [(tail, memoryview(DATA[15_000:]))] if not cache else ()
        if cache:
            rig.engine.cache.put("v", tail, memoryview(DATA[15_000:]))
        before = rig.engine.transport.buffers.take
        taken = []

        def take(size):
            taken.append(before(size))
            return taken[-1]

        rig.engine.transport.buffers.take = take
        view = await asked(rig, 1_000, 19_992, 8_000, kept)
        assert spans(rig) == [(1_000, 8_000), (8_000, 15_000)]
        (buffer,) = taken
        address = np.frombuffer(view, np.uint8).ctypes.data
        assert address == np.frombuffer(buffer, np.uint8).ctypes.data

    run(work, cache=cache)


def test_both_who_share_the_head_get_the_whole():
    async def work(rig):
        tail = [(ByteRange(15_000, 20_000), memoryview(DATA[15_000:]))]
        await asyncio.gather(
            asked(rig, 0, 20_000, 4_000, tail),
            asked(rig, 0, 19_000, 4_000, tail),
            asked(rig, 5_000, 18_000, 4_000, tail),
            asked(rig, 5_000, 18_000, None, tail),
        )
        assert sum(stop - start for start, stop in spans(rig)) == 15_000

    run(work)


@pytest.mark.parametrize("held", [ByteRange(1, 2), ByteRange(1, 3)])
def test_one_who_wants_more_than_the_head_left_room_for_joins_the_pieces(held):
    async def work(rig):
        rig.engine.cache.put("v", held, memoryview(DATA[held.start : held.stop]))
        await asyncio.gather(asked(rig, 0, 2, 500), asked(rig, 0, 4, 500))
        assert spans(rig) == [(0, 1), (held.stop, 4)]

    run(work, cache=1 << 20)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 19_999), st.integers(1, 20_000)), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 19_999), st.integers(1, 9_000)), max_size=4),
    st.sampled_from([None, 500, 4_000]),
)
def test_any_large_needs_get_their_bytes(needs, held, span):
    async def work(rig):
        for start, size in held:
            at = ByteRange(start, min(start + size, 20_000))
            rig.engine.cache.put("v", at, memoryview(DATA[at.start : at.stop]))
        await asyncio.gather(
            *(asked(rig, start, min(start + size, 20_000), span) for start, size in needs)
        )

    run(work, cache=1 << 20)
