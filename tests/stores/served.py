"""Stores under test: their bodies read to the end, their refusals caught."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rangeio.errors import StoreError
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.http import HttpStore
from rangeio.stores.store import Reply

DATA = bytes(range(256)) * 40
AT = ByteRange(256, 512)


@asynccontextmanager
async def opened(**settings: object) -> AsyncIterator[HttpStore]:
    store = HttpStore(**settings)  # type: ignore[arg-type]
    try:
        yield store
    finally:
        await store.close()


async def body(reply: Reply) -> bytes:
    assert reply.body is not None
    into = memoryview(bytearray(reply.size or 0))
    got = 0
    while got < len(into):
        size = await reply.body.receive(into[got:])
        assert size, f"the body ended after {got} of {len(into)} bytes"
        got += size
    reply.body.close(reuse=True)
    return bytes(into)


async def drain(reply):
    if reply.body is None:
        return bytes(reply.data or b"")
    out, view = b"", memoryview(bytearray(4096))
    while got := await reply.body.receive(view):
        out += view[:got]
    reply.body.close(reuse=True)
    return out


def read(store, *asks, between=None):
    """The bodies of several GETs on one loop; ``between`` runs after the first."""

    async def all_of_them():
        try:
            out = []
            for key, at in asks:
                out.append(await drain(await store.get(key, at)))
                if between is not None and len(out) == 1:
                    between()
            return out
        finally:
            await store.close()

    return asyncio.run(all_of_them())


def refused(store, key="b/k", **more):
    async def once():
        try:
            await store.get(key, Suffix(4), **more)
        finally:
            await store.close()

    with pytest.raises(StoreError) as caught:
        asyncio.run(once())
    assert "\n" not in str(caught.value)
    return caught.value
