"""The small parts: gate, budget, watch, what is learnt, profiles, trace, the manual clock."""

from __future__ import annotations

import asyncio
import pickle
import random
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.errors import NotFound, ServerFault, Throttled
from rangeio.ranges import Coalescing, CostModel
from rangeio.testing.clock import ManualClock
from rangeio.transport.budget import RetryBudget
from rangeio.transport.endpoint import Endpoint, Learnt
from rangeio.transport.gate import Gate
from rangeio.transport.policy import Policy
from rangeio.transport.profile import PROFILES
from rangeio.transport.trace import GetRecord, Trace


def test_a_gate_is_fair_and_leaks_nothing(run) -> None:
    async def main(seed: int) -> None:
        chance = random.Random(seed)
        gate = Gate(3)
        inside, most, order = 0, 0, []

        async def visit(i: int) -> None:
            nonlocal inside, most
            if not gate.enter_now():
                await gate.enter()
            try:
                inside += 1
                most = max(most, inside)
                order.append(i)
                for _ in range(chance.randrange(4)):
                    await asyncio.sleep(0)
            finally:
                inside -= 1
                gate.leave()

        tasks = [asyncio.ensure_future(visit(i)) for i in range(50)]
        for _ in range(20):
            await asyncio.sleep(0)
            tasks[chance.randrange(50)].cancel()
            gate.limit = chance.randrange(1, 4)
            gate.admit()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most <= 3
        assert order == sorted(order)
        assert gate.held == 0

    for seed in range(30):
        run(lambda seed=seed: main(seed))


def test_backoff_doubles_within_bounds() -> None:
    policy = Policy(attempts=100, backoff_s=0.1, backoff_cap_s=2.0, tokens=1_000)
    budget = RetryBudget(policy, random.Random(3))
    for attempts in range(1, 40):
        waits = [budget.delay(ServerFault("x"), attempts) or 0.0 for _ in range(20)]
        most = min(2.0, 0.1 * 2 ** (attempts - 1))
        assert min(waits) >= 0
        assert most / 2 < max(waits) <= most


def test_what_is_not_tried_again() -> None:
    budget = RetryBudget(Policy(attempts=3, tokens=2.5, refill=0.5), random.Random(3))
    assert budget.delay(NotFound("x"), 1) is None
    assert budget.delay(ServerFault("x"), 3) is None
    assert budget.delay(Throttled("x", retry_after=5.0), 1) == 5.0
    assert budget.delay(ServerFault("x"), 1) is not None
    assert budget.delay(ServerFault("x"), 1) is None
    budget.earn()
    assert budget.delay(ServerFault("x"), 1) is not None
    for _ in range(100):
        budget.earn()
    assert budget.tokens == 2.5


@given(st.floats(1e-4, 10), st.floats(1e3, 1e10))
def test_what_is_learnt_moves_the_gap_within_bounds(wait: float, rate: float) -> None:
    learnt = Learnt()
    model = CostModel(0.025, 85e6, 16, Coalescing(gap=1 << 20))
    for _ in range(10):
        learnt.note(wait, 1 << 20, (1 << 20) / rate)
    assert learnt.cost(model) is model
    for _ in range(90):
        learnt.note(wait, 1 << 20, (1 << 20) / rate)
    moved = learnt.cost(model)
    ratio = min(4.0, max(0.25, wait * rate / (0.025 * 85e6)))
    assert moved.coalescing.gap == pytest.approx(ratio * (1 << 20), rel=1e-3)
    assert (moved.latency_s, moved.coalescing.span) == (0.025, model.coalescing.span)


def test_late() -> None:
    learnt = Learnt()
    assert learnt.late() is None
    for _ in range(95):
        learnt.note(0.08, 0, 0)
    assert learnt.late() == pytest.approx(0.16)
    for _ in range(95):
        learnt.note(0.5, 0, 0)
    assert learnt.late() == pytest.approx(1.0)


def test_one_halving_a_round() -> None:
    endpoint = Endpoint(PROFILES["s3"])
    rounds = [endpoint.begin() for _ in range(40)]
    for _ in rounds:
        assert endpoint.gate.enter_now()
    for begun in rounds:
        endpoint.slow_down(begun)
    assert endpoint.gate.limit == 20
    endpoint.slow_down(endpoint.begin())
    assert endpoint.gate.limit == 10
    for _ in range(10_000):
        endpoint.went_well()
    assert endpoint.gate.limit == 64


def test_profiles() -> None:
    assert set(PROFILES) == {"s3", "s3express", "gs", "http", "file", "memory"}
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert profile.cost.in_flight == profile.in_flight_file <= profile.in_flight_process
        assert pickle.loads(pickle.dumps(profile)) == profile
    s3 = PROFILES["s3"]
    assert (s3.tail, s3.small_file, s3.cost.coalescing.gap) == (512 << 10, 2 << 20, 1 << 20)
    assert s3.cost.coalescing.span == 16 << 20


def test_a_trace_in_words() -> None:
    trace = Trace()
    trace.add(GetRecord(1, 900, 1_000, "lance.tail", size=100))
    trace.add(GetRecord(2, 0, 12, "lance.column_meta", size=12))
    trace.add(GetRecord(2, 20, 420, "lance.column_meta", size=400))
    trace.add(GetRecord(2, 500, 600, "lance.page", cached=True))
    trace.add(GetRecord(3, 700, 800, "lance.page", joined=True))
    trace.add(GetRecord(3, 800, 810, "lance.page", unplanned=True, size=10))
    trace.need(300)
    trace.need(12)
    assert trace.transcript().splitlines() == [
        "hop 1: 1 GET 100 B lance.tail",
        "hop 2: 2 GETs 412 B lance.column_meta",
        "hop 3: 1 GET 10 B lance.page",
        "hop 3: 1 joined 100 B lance.page",
    ]
    assert (trace.hops, trace.gets, trace.bytes_read) == (3, 4, 522)
    assert (trace.bytes_needed, trace.unplanned, len(trace)) == (312, 1, 6)
    trace.clear()
    assert (trace.hops, trace.gets, trace.bytes_needed, str(trace)) == (0, 0, 0, "")


def test_many_threads_add_to_a_trace() -> None:
    trace = Trace()

    def add() -> None:
        for i in range(1_000):
            trace.add(GetRecord(1, i, i + 1, "t.x", size=1))
            trace.need(1)
            if not i % 100:
                list(trace)

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (trace.gets, trace.bytes_read, trace.bytes_needed) == (8_000, 8_000, 8_000)


def test_the_manual_clock(run) -> None:
    async def main() -> None:
        clock = ManualClock()
        seen: list[object] = []
        clock.call_later(2.0, lambda: seen.append(("timer", clock.now())))
        clock.call_later(2.5, lambda: seen.append("never")).cancel()

        async def nap(seconds: float) -> None:
            await clock.sleep(seconds)
            seen.append(clock.now())

        await asyncio.gather(nap(3.0), nap(1.0), nap(0.0))
        assert seen == [0.0, 1.0, ("timer", 2.0), 3.0]
        # A timer alone moves nothing.
        clock.call_later(1.0, lambda: seen.append("late"))
        for _ in range(100):
            await asyncio.sleep(0)
        assert clock.now() == 3.0
        clock.advance(1.0)
        assert seen[-1] == "late"

    run(main)


def test_a_clock_that_waits_to_be_turned(run) -> None:
    async def main() -> None:
        clock = ManualClock(auto=False)
        task = asyncio.ensure_future(clock.sleep(1.0))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
        clock.advance(1.0)
        await task

    run(main)
