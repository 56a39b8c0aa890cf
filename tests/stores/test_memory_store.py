"""Objects in memory."""

from __future__ import annotations

import asyncio

import pytest

from rangeio.errors import NotFound, ObjectChanged
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.memory import MemoryStore

DATA = bytes(range(100))


def test_views() -> None:
    async def main() -> None:
        store = MemoryStore({"a": DATA})
        reply = await store.get("a", ByteRange(10, 20))
        assert reply.data == DATA[10:20]
        assert reply.data is not None
        assert reply.data.obj is DATA
        assert reply.data.readonly
        assert (reply.at, reply.total, reply.status) == (ByteRange(10, 20), 100, 206)
        assert (await store.get("a", Suffix(7))).data == DATA[-7:]
        assert (await store.get("a", Suffix(700))).at == ByteRange(0, 100)
        assert (await store.get("a", ByteRange(90, 110))).at == ByteRange(90, 100)
        assert (await store.get("a", ByteRange(100, 110))).status == 416

    asyncio.run(main())


def test_versions() -> None:
    async def main() -> None:
        store = MemoryStore()
        first = store.put("a", DATA)
        old = await store.get("a", ByteRange(0, 5), if_match=first)
        second = store.put("a", bytearray(5))
        assert first != second
        with pytest.raises(ObjectChanged):
            await store.get("a", ByteRange(0, 5), if_match=first)
        assert old.data == DATA[:5]
        assert (await store.get("a", ByteRange(0, 5))).tag == second
        store.drop("a")
        with pytest.raises(NotFound):
            await store.get("a", ByteRange(0, 5))

    asyncio.run(main())
