"""The connection itself: heads and framings, right and hostile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.errors import ServerFault, ShortReply, StoreError, Unreachable
from rangeio.stores.wire import SCRATCH, Wire

REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@asynccontextmanager
async def answering(*pieces: bytes, hold: bool = False, then: bytes = b"") -> AsyncIterator[Wire]:
    """A connection to a server that answers any request with these pieces."""
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0.002 if len(pieces) > 1 else 0)
                if not hold:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    where = server.sockets[0].getsockname()
    _, wire = await asyncio.get_running_loop().create_connection(Wire, *where)
    try:
        yield wire
    finally:
        wire.abort()
        server.close()
        await asyncio.wait_for(ended.wait(), 5)
        await asyncio.sleep(0)


async def whole(wire: Wire, size: int = 1 << 20) -> bytes:
    """All of the body, read in pieces of at most ``size``."""
    body = bytearray()
    piece = memoryview(bytearray(size))
    while count := await wire.receive(piece):
        body += piece[:count]
    return bytes(body)


async def asked(wire: Wire) -> bytes:
    await wire.ask(REQUEST)
    return await whole(wire)


RIGHT = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 10\r\n\r\n0123456789",
    "odd case": b"HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:10  \r\n\r\n0123456789",
    "until closed": b"HTTP/1.0 200 OK\r\n\r\n0123456789",
    "chunked": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\n012\r\n0A;x=y\r\n3456789abc\r\n0\r\nTrailer: x\r\n\r\n"
    ),
    "after a hint": b"HTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 x\r\nContent-Length: 1\r\n\r\n0",
    "empty": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "no body": b"HTTP/1.1 204 OK\r\n\r\n",
}
BODIES = {
    "chunked": b"0123456789abc",
    "after a hint": b"0",
    "empty": b"",
    "no body": b"",
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("step", [0, 1, 7])
@pytest.mark.parametrize("size", [1, 4, 1_000])
def test_right_answers(name: str, step: int, size: int) -> None:
    answer = RIGHT[name]
    pieces = [answer[i : i + step] for i in range(0, len(answer), step)] if step else [answer]

    async def main() -> None:
        async with answering(*pieces) as wire:
            status, _ = await wire.ask(REQUEST)
            assert status in (200, 204)
            assert await whole(wire, size) == BODIES.get(name, b"0123456789")

    asyncio.run(main())


WRONG = {
    "not http": b"220 smtp ready\r\n\r\n",
    "other version": b"HTTP/2.0 200 OK\r\n\r\n",
    "no status": b"HTTP/1.1 OK\r\n\r\n",
    "status of four digits": b"HTTP/1.1 2000 OK\r\n\r\n",
    "status zero": b"HTTP/1.1 000 OK\r\n\r\n",
    "folded header": b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
    "header without colon": b"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n",
    "header without name": b"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
    "length is negative": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "length is hexadecimal": b"HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n",
    "length is huge": b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999999\r\n\r\n",
    "length is arabic": "HTTP/1.1 200 OK\r\nContent-Length: ٣\r\n\r\n".encode(),
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "length and chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "coding unknown": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunk is no number": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    "chunk is negative": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
    "chunk is empty": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
    "chunk is too long": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcdef\r\n0\r\n\r\n"
    ),
    "chunk line without end": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 1_000
    ),
    "head without end": b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000,
    "hints without end": b"HTTP/1.1 100 x\r\n\r\n" * 1_000,
    "head cut short": b"HTTP/1.1 200 OK\r\nContent-",
    "nothing": b"",
    "body cut short": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n012345678",
    "chunk cut short": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
    "chunks without the last": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
}


@pytest.mark.parametrize("answer", WRONG.values(), ids=WRONG.keys())
def test_wrong_answers(answer: bytes) -> None:
    async def main() -> None:
        async with answering(answer) as wire:
            with pytest.raises((ServerFault, ShortReply, Unreachable)):
                await asked(wire)
            wire.close(reuse=True)
            assert not wire.usable

    asyncio.run(main())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_answer_ends(data: st.DataObject) -> None:
    answer = bytearray(data.draw(st.sampled_from(list(RIGHT.values()))))
    for at in data.draw(st.lists(st.integers(0, len(answer) - 1), max_size=3)):
        answer[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(answer)))

    async def main() -> None:
        async with answering(bytes(answer[:cut])) as wire:
            try:
                await wire.ask(REQUEST)
                await whole(wire)
            except StoreError:
                pass

    asyncio.run(asyncio.wait_for(main(), 5))


def test_a_connection_is_used_again() -> None:
    async def main() -> None:
        async with answering(RIGHT["length"], hold=True) as wire:
            for _ in range(3):
                await wire.ask(REQUEST)
                assert await whole(wire) == b"0123456789"
                assert wire.usable

    asyncio.run(main())


@pytest.mark.parametrize(
    "answer",
    [RIGHT["length"] + b"HTTP/1.1 200", RIGHT["length"].replace(b"OK", b"OK\r\nConnection: close")],
)
def test_a_connection_that_is_not_used_again(answer: bytes) -> None:
    async def main() -> None:
        given_back: list[Wire] = []
        async with answering(answer, hold=True) as wire:
            wire._back = given_back.append
            await wire.ask(REQUEST)
            assert await whole(wire, 10) == b"0123456789"
            wire.close(reuse=True)
            assert not given_back
            assert not wire.usable

    asyncio.run(main())


def test_nothing_is_written_after_a_cancel() -> None:
    async def main() -> None:
        answer = (RIGHT["length"][:-5], *[b"x"] * 5)
        async with answering(*answer) as wire:
            await wire.ask(REQUEST)
            into = bytearray(10)
            assert await wire.receive(memoryview(into)) == 5
            task = asyncio.ensure_future(wire.receive(memoryview(into)[5:]))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            before = bytes(into)
            await asyncio.sleep(0.02)
            assert bytes(into) == before

    asyncio.run(main())


def test_a_slow_reader_slows_the_server() -> None:
    size = 64 << 20

    async def main() -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
        async with answering(head + bytes(size)) as wire:
            await wire.ask(REQUEST)
            await asyncio.sleep(0.05)
            assert wire._hi <= SCRATCH
            assert len(await whole(wire)) == size

    asyncio.run(main())
