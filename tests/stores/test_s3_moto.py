"""S3 as moto plays it: an independent reading of the protocol, though not of signatures."""

import asyncio

import pytest

from rangeio.errors import NotFound, ObjectChanged
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.address import resolve
from rangeio.testing.moto import MotoServer

DATA = bytes(range(256)) * 40
KEYS = ["k", "a b/c=d+e", "p%2Fq", "ü?#", "a//b"]


@pytest.fixture(scope="module")
def moto():
    with MotoServer() as server:
        server.bucket("bucket")
        for key in KEYS:
            server.put("bucket", key, DATA + key.encode())
        yield server


async def drain(reply):
    out, view = b"", memoryview(bytearray(4096))
    while reply.body is not None and (got := await reply.body.receive(view)):
        out += view[:got]
    if reply.body is not None:
        reply.body.close(reuse=True)
    return out


@pytest.mark.parametrize("query_auth", [True, False])
def test_reads_are_exact(moto, query_auth):
    async def go():
        stores = {}
        given = {**moto.options, "query_auth": query_auth}
        try:
            for key in KEYS:
                store, name, _, _ = resolve(f"s3://bucket/{key}", given, stores=stores)
                whole = DATA + key.encode()
                head = await store.get(name, Suffix(100))
                assert await drain(head) == whole[-100:]
                assert (head.total, head.status) == (len(whole), 206)
                part = await store.get(name, ByteRange(7, 4000), if_match=head.tag)
                assert await drain(part) == whole[7:4000]
                assert part.tag == head.tag
                assert await drain(await store.get(name, Suffix(10**6))) == whole
                assert (await store.get(name, ByteRange(10**6, 10**6 + 9))).status == 416
                with pytest.raises(ObjectChanged):
                    await store.get(name, Suffix(3), if_match='"0123"')
            with pytest.raises(NotFound, match="no such object"):
                await store.get("bucket/none", Suffix(3))
            with pytest.raises(NotFound, match="no such bucket"):
                await store.get("none/none", Suffix(3))
        finally:
            for store in stores.values():
                await store.close()

    asyncio.run(go())


def test_the_server_ends_with_its_block():
    with MotoServer() as server:
        process = server._process
        assert process.poll() is None
    assert process.poll() is not None
