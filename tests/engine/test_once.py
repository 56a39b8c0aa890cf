"""Each key loads once, whoever asks, whoever leaves, whatever fails."""

import asyncio

import pytest

from rangeio.engine.once import OnceCache


class Loads:
    """A loader that records its batches and waits to be let go."""

    def __init__(self, *, fail=False):
        self.batches, self.fail, self.cancelled = [], fail, 0
        self.gate = asyncio.Event()

    async def __call__(self, keys):
        self.batches.append(keys)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fail:
            raise OSError("made to fail")
        return {key: f"<{key}>" for key in keys}


def run(work):
    return asyncio.run(asyncio.wait_for(work, 10))


async def turns(count=5):
    for _ in range(count):
        await asyncio.sleep(0)


def test_overlapping_batches_load_each_key_once():
    async def main():
        cache, load = OnceCache(1000, len), Loads()
        a = asyncio.ensure_future(cache.get([1, 2, 3], load))
        await turns()
        b = asyncio.ensure_future(cache.get([3, 4], load))
        await turns()
        load.gate.set()
        assert await a == {1: "<1>", 2: "<2>", 3: "<3>"}
        assert await b == {3: "<3>", 4: "<4>"}
        assert load.batches == [(1, 2, 3), (4,)]

    run(main())


def test_fifty_tasks_one_load_then_hits():
    async def main():
        cache, load = OnceCache(1000, len), Loads()
        tasks = [asyncio.ensure_future(cache.get(["k"], load)) for _ in range(50)]
        await turns()
        load.gate.set()
        assert await asyncio.gather(*tasks) == [{"k": "<k>"}] * 50
        assert await cache.get(["k"], load) == {"k": "<k>"}
        assert load.batches == [("k",)]

    run(main())


def test_one_cancelled_asker_disturbs_nobody():
    async def main():
        cache, load = OnceCache(1000, len), Loads()
        tasks = [asyncio.ensure_future(cache.get(["k"], load)) for _ in range(3)]
        await turns()
        tasks[0].cancel()
        await turns()
        load.gate.set()
        assert await tasks[1] == await tasks[2] == {"k": "<k>"}
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert load.cancelled == 0

    run(main())


def test_the_last_asker_to_leave_ends_the_load():
    async def main():
        cache, load = OnceCache(1000, len), Loads()
        tasks = [asyncio.ensure_future(cache.get(["k"], load)) for _ in range(2)]
        await turns()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await turns()
        assert load.cancelled == 1
        assert cache.flying == 0
        load.gate.set()
        assert await cache.get(["k"], load) == {"k": "<k>"}
        assert len(load.batches) == 2

    run(main())


def test_a_failure_is_told_to_all_and_forgotten():
    async def main():
        cache, load = OnceCache(1000, len), Loads(fail=True)
        tasks = [asyncio.ensure_future(cache.get(["k"], load)) for _ in range(3)]
        await turns()
        load.gate.set()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(e) for e in done] == ["made to fail"] * 3
        load.fail = False
        assert await cache.get(["k"], load) == {"k": "<k>"}

    run(main())


def test_forget_during_a_load_keeps_nothing_stale():
    async def main():
        cache, load = OnceCache(1000, len), Loads()
        task = asyncio.ensure_future(cache.get(["k"], load))
        await turns()
        cache.forget("k")
        load.gate.set()
        assert await task == {"k": "<k>"}
        assert "k" not in cache

    run(main())


def test_a_load_may_ask_for_another_key():
    async def main():
        cache = OnceCache(1000, len)

        async def inner(keys):
            return dict.fromkeys(keys, "inner")

        async def outer(keys):
            got = await cache.get(["b"], inner)
            return dict.fromkeys(keys, got["b"])

        assert await cache.get(["a"], outer) == {"a": "inner"}

    run(main())


def test_the_budget_is_bytes_and_a_scan_spares_the_hot():
    async def main():
        cache = OnceCache(100, len)

        async def load(keys):
            return dict.fromkeys(keys, "x" * 10)

        for key in ("hot1", "hot2"):
            await cache.get([key], load)
            await cache.get([key], load)
        for i in range(1000):
            await cache.get([i], load)
            assert cache.weight <= 100
        assert "hot1" in cache
        assert "hot2" in cache

    run(main())


def test_a_value_over_the_budget_is_served_and_not_kept():
    async def main():
        cache = OnceCache(100, len)

        async def load(keys):
            return dict.fromkeys(keys, "x" * 101)

        assert len((await cache.get(["k"], load))["k"]) == 101
        assert "k" not in cache
        assert cache.weight == 0

    run(main())
