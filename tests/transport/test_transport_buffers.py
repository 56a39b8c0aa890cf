"""Memory that is used again, and never too early."""

from __future__ import annotations

import gc
import random
import threading

import numpy as np
import pyarrow as pa
import pytest
from trips import LARGE, Trips

from rangeio.ranges import ByteRange
from rangeio.transport.buffers import LEAST, Buffers

MIB = 1 << 20


def address(view: memoryview) -> int:
    return np.frombuffer(view, np.uint8).ctypes.data


def test_used_again_when_the_last_view_is_gone() -> None:
    buffers = Buffers()
    view = buffers.take(2 * MIB)
    assert (len(view), view.readonly) == (2 * MIB, False)
    where = address(view)
    part = view[5:10].toreadonly()
    del view
    assert buffers.waiting == 0
    array = np.frombuffer(part, np.uint8)
    del part
    assert buffers.waiting == 0
    arrow = pa.py_buffer(array)
    del array
    assert buffers.waiting == 0
    del arrow
    gc.collect()
    assert buffers.waiting == 2 * MIB
    again = buffers.take(2 * MIB - 100)
    assert (address(again), len(again)) == (where, 2 * MIB - 100)
    assert buffers.waiting == 0


def test_only_what_fits_and_no_more_than_is_kept() -> None:
    buffers = Buffers(kept=4 * MIB)
    views = [buffers.take(2 * MIB) for _ in range(3)]
    places = {address(view) for view in views}
    views.clear()
    assert buffers.waiting == 4 * MIB
    larger, smaller, tiny = buffers.take(3 * MIB), buffers.take(MIB), buffers.take(LEAST - 1)
    assert buffers.waiting == 4 * MIB
    assert address(buffers.take(2 * MIB)) in places
    del larger, smaller, tiny
    buffers.clear()
    assert buffers.waiting == 0
    view = buffers.take(2 * MIB)
    del view
    assert buffers.waiting == 0


@pytest.mark.parametrize("seed", range(5))
def test_no_two_share_memory(seed: int) -> None:
    buffers = Buffers(kept=8 * MIB)
    wrong: list[int] = []

    def work(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        held: list[tuple[int, memoryview]] = []
        for i in range(200):
            view = buffers.take(chance.choice([MIB, MIB + 1_000, 2 * MIB, 10]))
            mark = (number * 50 + i) % 256
            view[:] = bytes([mark]) * len(view)
            held.append((mark, view[chance.randrange(9) :]))
            del view
            chance.shuffle(held)
            del held[chance.randrange(4) :]
            wrong.extend(m for m, v in held if v[0] != m or v[-1] != m)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not buffers._lent
    assert buffers.waiting <= 8 * MIB


def test_received_bytes_stay_as_they_are(trips: Trips, run) -> None:
    async def main() -> None:
        async with trips.to("large") as trip:
            kept = []
            for i in range(20):
                received = await trip.get(ByteRange(i * 1_000, i * 1_000 + 2 * MIB))
                if i % 3 == 0:
                    kept.append((i, received.data[7:99]))
                del received
            for i, data in kept:
                assert data == LARGE[i * 1_000 + 7 : i * 1_000 + 99]

    run(main)
