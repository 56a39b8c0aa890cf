"""Files: their bytes, their versions, their refusals."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path

import pytest

from rangeio.errors import Denied, NotFound, ObjectChanged, ServerFault
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.local import INLINE, LocalStore
from rangeio.stores.store import Reply

DATA = os.urandom(3 * INLINE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "o.bin"
    path.write_bytes(DATA)
    return path


@pytest.fixture(autouse=True)
def no_descriptor_is_left():
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    gc.collect()
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before


async def read(store: LocalStore, path: Path, at: ByteRange | Suffix) -> tuple[Reply, bytes]:
    reply = await store.get(str(path), at)
    if reply.data is not None:
        return reply, bytes(reply.data)
    assert reply.body is not None
    into, got = memoryview(bytearray(reply.size or 0)), 0
    while got < len(into):
        # Less at once than the body has, as a caller may.
        got += await reply.body.receive(into[got : got + 100_000])
    reply.body.close(reuse=True)
    return reply, bytes(into)


@pytest.mark.parametrize("size", [1, INLINE, INLINE + 1, 2 * INLINE])
def test_bytes(path: Path, size: int) -> None:
    async def main() -> None:
        store = LocalStore()
        reply, data = await read(store, path, ByteRange(5, 5 + size))
        assert data == DATA[5 : 5 + size]
        assert (reply.at, reply.total) == (ByteRange(5, 5 + size), len(DATA))
        found = path.stat()
        assert reply.tag == f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}"
        _, data = await read(store, path, Suffix(size))
        assert data == DATA[-size:]
        reply, data = await read(store, path, ByteRange(len(DATA) - 5, len(DATA) + size))
        assert data == DATA[-5:]
        assert (await store.get(str(path), ByteRange(len(DATA), len(DATA) + 1))).status == 416
        await store.close()

    # The pool's threads hold descriptors of their own; they end with the loop.
    asyncio.run(main())


def test_an_empty_file(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "empty").touch()
        reply = await LocalStore().get(str(tmp_path / "empty"), Suffix(8))
        assert (reply.status, reply.total) == (416, 0)

    asyncio.run(main())


def test_a_changed_file(path: Path) -> None:
    async def main() -> None:
        store = LocalStore()
        at = ByteRange(0, 10)
        tag = (await store.get(str(path), at)).tag
        assert (await store.get(str(path), at, if_match=tag)).tag == tag
        os.utime(path, ns=(1, 1))
        with pytest.raises(ObjectChanged):
            await store.get(str(path), at, if_match=tag)
        tag = (await store.get(str(path), at)).tag
        (path.parent / "new").write_bytes(DATA)
        os.utime(path.parent / "new", ns=(1, 1))
        os.replace(path.parent / "new", path)
        with pytest.raises(ObjectChanged):
            await store.get(str(path), at, if_match=tag)

    asyncio.run(main())


def test_a_file_that_changes_while_it_is_read(path: Path) -> None:
    async def main() -> None:
        reply = await LocalStore().get(str(path), ByteRange(0, 2 * INLINE))
        assert reply.body is not None
        into = memoryview(bytearray(INLINE))
        assert await reply.body.receive(into) == INLINE
        with path.open("r+b") as file:
            file.write(b"other")
        os.utime(path, ns=(1, 1))
        with pytest.raises(ObjectChanged, match="while it was read"):
            await reply.body.receive(into)
        reply.body.close(reuse=False)

    asyncio.run(main())


def test_refusals(tmp_path: Path, path: Path) -> None:
    async def main() -> None:
        store, at = LocalStore(), ByteRange(0, 1)
        with pytest.raises(NotFound, match="no such file"):
            await store.get(str(tmp_path / "missing"), at)
        with pytest.raises(NotFound):
            await store.get(str(path / "below"), at)
        with pytest.raises(NotFound):
            await store.get("a\0b", at)
        with pytest.raises(ServerFault, match="directory") as caught:
            await store.get(str(tmp_path), at)
        assert not caught.value.transient
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ServerFault, match="not a file"):
            await store.get(str(tmp_path / "pipe"), at)
        if os.geteuid():
            path.chmod(0)
            with pytest.raises(Denied):
                await store.get(str(path), at)

    asyncio.run(main())


def test_a_cancelled_read_closes_its_file(path: Path) -> None:
    async def main() -> None:
        reply = await LocalStore().get(str(path), ByteRange(0, 2 * INLINE))
        assert reply.body is not None
        task = asyncio.ensure_future(reply.body.receive(memoryview(bytearray(2 * INLINE))))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        reply.body.close(reuse=False)

    asyncio.run(main())
