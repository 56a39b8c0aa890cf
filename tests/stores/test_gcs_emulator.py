"""What gcsfs writes and lists, read by the store: the emulator knows no suffix and no condition."""

import asyncio

import pytest

from rangeio.ranges import ByteRange
from rangeio.stores.address import resolve

server_of = pytest.importorskip("gcp_storage_emulator.server").create_server
DATA = bytes(range(256)) * 40


@pytest.fixture
def emulator():
    server = server_of("127.0.0.1", 0, in_memory=True)
    server.start()
    yield f"http://127.0.0.1:{server._api._httpd.server_address[1]}"
    server.stop()


async def drain(reply):
    out, view = b"", memoryview(bytearray(4096))
    while got := await reply.body.receive(view):
        out += view[:got]
    reply.body.close(reuse=True)
    return out


def test_what_gcsfs_writes_is_read(emulator):
    # The plain class: the other one looks the bucket's kind up over gRPC, for a minute.
    from gcsfs.core import GCSFileSystem

    given = {"token": "anon", "endpoint_url": emulator, "project": "p"}
    fs = GCSFileSystem(**given, skip_instance_cache=True)
    try:
        fs.mkdir("b")
        fs.pipe_file("b/dir/k l", DATA)
        assert fs.ls("b/dir", detail=False) == ["b/dir/k l"]
    finally:
        fs.close_session(fs.loop, fs._session)
    store, key, _, _ = resolve("gs://b/dir/k l", given)

    async def go():
        try:
            reply = await store.get(key, ByteRange(7, 4000))
            return reply.at, reply.tag, await drain(reply)
        finally:
            await store.close()

    at, tag, data = asyncio.run(go())
    assert (at, data) == (ByteRange(7, 4000), DATA[7:4000])
    assert tag == ""
