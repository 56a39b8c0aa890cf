"""Bytes that a store has at hand, read on the thread that asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rangeio.errors import BadRows, StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.store import AtHand
from rangeio.transport.check import check
from rangeio.transport.source import Received, Source
from rangeio.transport.trace import GetRecord, Trace


def read_now(
    source: Source,
    ranges: Sequence[ByteRange | Suffix],
    now: Callable[[], float],
    *,
    why: str,
    hop: Callable[[], int],
    trace: Trace,
    unplanned: bool = False,
    into: Sequence[memoryview | None] | None = None,
) -> list[Received] | None:
    """The bytes of ranges, of the version that ``source`` is pinned to; the first sets the pin.

    into: writable buffers of exactly their sizes, for those that are to be received there. None
    where the store has them not at hand, or where something is wrong, which ``Transport.get`` will
    find and say: nothing is recorded then.
    """
    store = source.store
    if not source.at_hand or source.pin == "":
        return None
    assert isinstance(store, AtHand)
    begun = now()
    try:
        replies = store.at_hand(source.key, ranges, if_match=source.pin, into=into)
        heads = [check(reply, at, source) for at, reply in zip(ranges, replies, strict=True)]
    except (StoreError, BadRows):
        return None
    found = [
        Received(reply.data if reply.data is not None else memoryview(b""), *head[:2], reply.tag)
        for head, reply in zip(heads, replies, strict=True)
    ]
    if not found or not found[0].tag or any(len(one.data) != one.at.size for one in found):
        return None
    source.pin, source.size = found[0].tag, found[0].total
    spent, number = now() - begun, hop()
    for one in found:
        head = (number, one.at.start, one.at.stop, why, 206, 1, spent, spent, False, False)
        trace.add(GetRecord(*head, unplanned, one.at.size, source.url))
    return found
