"""Random readers under random budgets, completions and cancellations: right values, no hang, no
leaked charge, flight or task. The hard shapes are in toys.py and, for Lance, in the corpus."""

import asyncio
import functools

import pyarrow as pa
import pytest
from rig import Rig, seeded, some_rows
from toys import make_arrays, make_dictionaries, make_flat, make_row_groups

SHAPES = {
    "flat": make_flat,
    "dictionaries": make_dictionaries,
    "arrays": make_arrays,
    "row_groups": make_row_groups,
    "row_groups_short": functools.partial(make_row_groups, short=True),
}


@functools.cache
def made(shape):
    return SHAPES[shape]()


def expected(table, names, rows):
    return table.select(names).take(pa.array(rows.array()))


def same(got, want):
    for name in want.column_names:
        a, b = got[name].combine_chunks(), want[name].combine_chunks()
        assert a.equals(b), name


async def one_round(shape, rng, capacity, readers, *, cancel, cache=0):
    data, fmt, table = made(shape)
    rig = Rig(data, fmt, rng, capacity=capacity, cache=cache)
    queries = []
    for _ in range(readers):
        names = rng.sample(table.column_names, rng.randrange(1, len(table.column_names) + 1))
        queries.append((names, some_rows(table.num_rows, rng)))
    if rng.random() < 0.4:  # all ask the same: flights and shared loads are joined
        queries = [queries[0]] * readers
    tasks = [asyncio.ensure_future(rig.read(names, rows)) for names, rows in queries]
    killed = rng.sample(range(readers), rng.randrange(1, readers)) if cancel else []
    for i in killed:
        for _ in range(rng.randrange(60)):
            await asyncio.sleep(0)
        tasks[i].cancel()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 30)
    for i, (got, (names, rows)) in enumerate(zip(done, queries, strict=True)):
        if isinstance(got, asyncio.CancelledError):
            assert i in killed
            continue
        if isinstance(got, BaseException):
            raise got
        same(got, expected(table, names, rows))
    await rig.settled()
    await rig.close()
    return rig


@pytest.mark.parametrize("capacity", [1 << 20, 40 << 10])
@pytest.mark.parametrize("shape", SHAPES)
def test_readers_get_right_values_and_leave_nothing(shape, capacity):
    for k in range(40):
        rng = seeded(shape, capacity, k)
        readers = rng.choice((1, 3, 5))
        asyncio.run(one_round(shape, rng, capacity, readers, cancel=readers > 1))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_range_cache_changes_no_value(shape):
    for k in range(10):
        rng = seeded("cache", shape, k)
        asyncio.run(one_round(shape, rng, 300 << 10, 3, cancel=True, cache=100 << 10))


async def zipped(capacity, rows_each):
    """One consumer that takes from two scans in turn, under one budget."""
    data, fmt, table = made("arrays")
    rig = Rig(data, fmt, seeded("zip", capacity), capacity=capacity)
    from rangeio.engine.batches import tables
    from rangeio.plan import Rows

    rows = [Rows.span(0, 30_000), Rows.span(5, 29_990)]
    scans = [tables(await rig.prepared(["a0", "a1"], r), rows_each) for r in rows]
    parts = [[], []]
    ended = [False, False]
    while not all(ended):
        for i, scan in enumerate(scans):
            part = await anext(scan, None)
            if part is None:
                ended[i] = True
            else:
                parts[i].append(part)
    for r, got in zip(rows, parts, strict=True):
        same(pa.concat_tables(got), expected(table, ["a0", "a1"], r))
    await rig.settled()
    await rig.close()


@pytest.mark.parametrize("capacity", [900 << 10, 100 << 10, 8 << 10])
def test_two_zipped_scans_do_not_starve_each_other(capacity):
    asyncio.run(asyncio.wait_for(zipped(capacity, 1000), 30))


async def overdrawn(shape, capacity):
    """Only heads overdraw: the peak stays within the capacity and what heads ask."""
    data, fmt, table = made(shape)
    rig = Rig(data, fmt, seeded("peak", shape), capacity=capacity)
    from rangeio.plan import Rows

    names = table.column_names
    await rig.read(names, Rows.span(0, table.num_rows))
    await rig.settled()
    await rig.close()
    return rig.engine.budget.peak


@pytest.mark.parametrize("shape", ["flat", "dictionaries", "arrays", "row_groups"])
def test_the_budget_bounds_what_is_in_flight(shape):
    capacity = 600 << 10
    peak = asyncio.run(overdrawn(shape, capacity))
    assert peak <= capacity + 3 * (256 << 10)  # a head's GETs: two hops and a shared load


def test_a_failure_reaches_every_joiner_and_is_not_kept():
    async def main():
        data, fmt, table = made("flat")
        rig = Rig(data, fmt, seeded("fail"))
        from rangeio.errors import ServerFault
        from rangeio.plan import Rows

        rows = Rows.span(0, table.num_rows)
        rig.store.fail = lambda at: at.size > 4096
        tasks = [asyncio.ensure_future(rig.read(["c0"], rows)) for _ in range(3)]
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(e) for e in done] == [ServerFault] * 3
        await rig.settled()
        rig.store.fail = None
        same(await rig.read(["c0"], rows), expected(table, ["c0"], rows))
        await rig.settled()
        await rig.close()

    asyncio.run(main())
