"""A second GET where the first one's head is late; the better of the two is used."""

from __future__ import annotations

import asyncio

from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.store import Reply
from rangeio.transport.clock import Clock
from rangeio.transport.endpoint import Endpoint
from rangeio.transport.flight import Flight
from rangeio.transport.policy import Policy


async def first_reply(
    clock: Clock,
    policy: Policy,
    endpoint: Endpoint,
    flight: Flight,
    at: ByteRange | Suffix,
    if_match: str | None,
) -> Reply:
    """The head that comes first; the other GET is cancelled and its connection closed.

    Both carry the same pin. The second one is only sent where the endpoint has a place free and
    its share of extra GETs is not used up.
    """
    source = flight.source
    late = endpoint.learnt.late()
    if late is None:
        return await source.store.get(source.key, at, if_match=if_match)
    first = asyncio.ensure_future(source.store.get(source.key, at, if_match=if_match))
    tasks = {first}
    hedged = False
    try:
        if not await _done_within(clock, first, late):
            hedged = endpoint.hedge(policy.hedge_share)
        if hedged:
            flight.attempts += 1
            tasks.add(asyncio.ensure_future(source.store.get(source.key, at, if_match=if_match)))
        return await _winner(tasks)
    finally:
        if hedged:
            endpoint.gate.leave()
        await _end(tasks)


async def _done_within(clock: Clock, task: asyncio.Future[Reply], seconds: float) -> bool:
    """Whether the task ends before the time is over; waits no longer than that."""
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    timer = clock.call_later(seconds, lambda: None if over.done() else over.set_result(None))
    try:
        await asyncio.wait((task, over), return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
        over.cancel()
    return task.done()


async def _winner(tasks: set[asyncio.Task[Reply]]) -> Reply:
    """The reply of the first task that has one, taken out of ``tasks``; else the first error."""
    failed: BaseException | None = None
    while tasks:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            tasks.discard(task)
            error = task.exception()
            if error is None:
                return task.result()
            failed = failed or error
    assert failed is not None, "there was a task"
    raise failed


async def _end(tasks: set[asyncio.Task[Reply]]) -> None:
    """Cancel what still runs, and close what came too late."""
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Reply) and result.body is not None:
            result.body.close(reuse=False)
