"""The portal serves threads, running loops and forked children."""

import asyncio
import os
import threading

import pytest

from rangeio.engine.portal import Portal, portal


async def answer(value):
    await asyncio.sleep(0)
    return value


def test_many_threads_share_one_portal():
    seen = []

    def work(i):
        seen.append((portal(), portal().run(answer(i))))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(value for _, value in seen) == list(range(8))
    assert len({id(p) for p, _ in seen}) == 1


def test_blocking_calls_work_inside_a_running_loop():
    async def notebook():
        return portal().run(answer(7)), await portal().wait(answer(8))

    assert asyncio.run(notebook()) == (7, 8)


def test_cancelling_the_waiter_cancels_the_work():
    mine = Portal()
    ended = threading.Event()

    async def forever():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def caller():
        task = asyncio.ensure_future(mine.wait(forever()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(caller())
    assert ended.wait(5)
    mine.stop()


def test_a_blocking_call_on_the_portals_own_thread_is_refused():
    mine = Portal()

    async def inside():
        return mine.run(answer(1))

    with pytest.raises(RuntimeError, match="own thread"):
        mine.run(inside())
    mine.stop()


@pytest.mark.filterwarnings("ignore:lance is not fork-safe:UserWarning")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_makes_its_own():
    assert portal().run(answer(1)) == 1
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, str(portal().run(answer(42))).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    assert said == b"42"
