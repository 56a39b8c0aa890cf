"""The contestants: the same work done by rangeio and by others, each cold.

Every function returns a ``Fresh``: what it opens is new in each round. Reading functions give a
pyarrow.Table; fetching functions give a digest of the bytes that every contestant forms alike.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count

import aiohttp
import numpy as np
import obstore
import pyarrow as pa
import s3fs
import yarl
from lance.file import LanceFileReader
from obstore.store import S3Store

from benchmarks.harness import Fresh
from rangeio.engine.budget import Lane, Ticket
from rangeio.engine.core import Engine
from rangeio.engine.flights import Cause, Pinned
from rangeio.engine.lease import Lease
from rangeio.ranges import ByteRange
from rangeio.steps import Need
from rangeio.stores.address import resolve
from rangeio.transport.policy import Limits
from rangeio.transport.profile import PROFILES
from rangeio.transport.source import Source
from rangeio.transport.trace import Trace
from rangeio.transport.transport import Transport

Conditions = Sequence[tuple[str, str, int]]
"""Comparisons that all have to hold, as pyarrow's and pandas' filters are written."""

KEY = SECRET = "bench"
REGION = "us-east-1"


def object_store_options(endpoint: str) -> dict[str, str]:
    """What pylance and polars want to be told of a local server: their object store is one."""
    return {
        "aws_endpoint": endpoint,
        "aws_access_key_id": KEY,
        "aws_secret_access_key": SECRET,
        "aws_region": REGION,
        "allow_http": "true",
        "aws_virtual_hosted_style_request": "false",
    }


def fsspec_options(endpoint: str) -> dict[str, object]:
    """The same for s3fs, and so for rangeio."""
    return {
        "key": KEY,
        "secret": SECRET,
        "endpoint_url": endpoint,
        "client_kwargs": {"region_name": REGION},
    }


# ---- reading columns --------------------------------------------------------------------------


def pylance(
    url: str, columns: Sequence[str], rows: slice | None = None, endpoint: str = ""
) -> Fresh:
    """A new LanceFileReader, in its default batches and threads."""
    options = object_store_options(endpoint) if endpoint else None

    def read() -> pa.Table:
        reader = LanceFileReader(url, storage_options=options, columns=list(columns))
        if rows is None:
            return reader.read_all().to_table()
        return reader.read_range(rows.start, rows.stop - rows.start).to_table()

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield read

    return fresh


def ours(
    url: str,
    columns: Sequence[str] | None,
    rows: slice | None = None,
    endpoint: str = "",
    after: str = "",
    filters: Conditions | None = None,
) -> Fresh:
    """A new Session, so no cache is warm; ``after``: a neighbour that it has read before."""
    import rangeio

    options = fsspec_options(endpoint) if endpoint else None
    asked = None if columns is None else list(columns)

    def read(session: rangeio.Session, url: str) -> pa.Table:
        with rangeio.open(url, storage_options=options, session=session) as file:
            return file.read(asked, rows=rows, filters=filters)

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        with rangeio.Session() as session:
            if after:
                read(session, after)
            yield lambda: read(session, url)

    return fresh


# ---- fetching ranges --------------------------------------------------------------------------

Part = tuple[int, int]
Get = Callable[[Part], Awaitable[object]]


def digest(data: object) -> int:
    """A sum over every 1,021st byte: cheap, and wrong where a range is wrong."""
    return int(np.frombuffer(data, np.uint8)[::1021].sum(dtype=np.int64))  # type: ignore[call-overload]


async def _all(get: Get, parts: Sequence[Part], in_flight: int) -> int:
    """The digest of all parts, ``in_flight`` at a time."""
    queue = enumerate(parts)
    total = 0

    async def work() -> None:
        nonlocal total
        for i, part in queue:
            data = await get(part)
            total += (i + 1) * digest(data)

    await asyncio.gather(*(work() for _ in range(in_flight)))
    return total


@contextmanager
def _loop(
    start: Callable[[], Awaitable[tuple[Get, Callable[[], Awaitable[None]]]]],
    parts: Sequence[Part],
    in_flight: int,
) -> Iterator[Callable[[], object]]:
    """A loop with a client on it. The first ``in_flight`` parts open its connections before the
    clock starts; the others are timed."""
    with asyncio.Runner() as runner:

        async def begin() -> tuple[Get, Callable[[], Awaitable[None]]]:
            return await start()

        async def fetch(get: Get, some: Sequence[Part]) -> int:
            return await _all(get, some, in_flight)

        get, close = runner.run(begin())
        runner.run(fetch(get, parts[:in_flight]))
        yield lambda: runner.run(fetch(get, parts[in_flight:]))

        async def end() -> None:
            await close()

        runner.run(end())


def over_obstore(
    endpoint: str, bucket: str, key: str, parts: Sequence[Part], in_flight: int
) -> Fresh:
    """obstore's async get_range, signed."""

    async def start() -> tuple[Get, Callable[[], Awaitable[None]]]:
        store = S3Store(
            bucket,
            endpoint=endpoint,
            region=REGION,
            access_key_id=KEY,
            secret_access_key=SECRET,
            virtual_hosted_style_request=False,
            client_options={"allow_http": True},
        )

        async def get(part: Part) -> object:
            return await obstore.get_range_async(store, key, start=part[0], end=part[1])

        return get, _nothing

    return lambda: _loop(start, parts, in_flight)


def over_s3fs(endpoint: str, bucket: str, key: str, parts: Sequence[Part], in_flight: int) -> Fresh:
    """s3fs' own async _cat_file."""

    async def start() -> tuple[Get, Callable[[], Awaitable[None]]]:
        fs = s3fs.S3FileSystem(
            **fsspec_options(endpoint),
            asynchronous=True,
            skip_instance_cache=True,
            config_kwargs={"max_pool_connections": in_flight},
        )
        client = await fs.set_session()

        async def get(part: Part) -> object:
            return await fs._cat_file(f"{bucket}/{key}", start=part[0], end=part[1])

        return get, client.close

    return lambda: _loop(start, parts, in_flight)


def bare_aiohttp(
    endpoint: str, bucket: str, key: str, parts: Sequence[Part], in_flight: int
) -> Fresh:
    """aiohttp with nothing around it: chunks into one buffer, no check at all. A floor."""
    url = yarl.URL(f"{endpoint}/{bucket}/{key}", encoded=True)

    async def start() -> tuple[Get, Callable[[], Awaitable[None]]]:
        http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=in_flight),
            auto_decompress=False,
            read_bufsize=1 << 20,
        )

        async def get(part: Part) -> object:
            span = f"bytes={part[0]}-{part[1] - 1}"
            async with http.get(url, headers={"Range": span}) as reply:
                into = memoryview(np.empty(part[1] - part[0], np.uint8))
                at = 0
                async for chunk in reply.content.iter_any():
                    into[at : at + len(chunk)] = chunk
                    at += len(chunk)
                return into

        return get, http.close

    return lambda: _loop(start, parts, in_flight)


def ours_in_flight(
    endpoint: str, bucket: str, key: str, parts: Sequence[Part], in_flight: int
) -> Fresh:
    """rangeio, all in: a signed url, scheduler, range cache, budget, transport with its checks,
    pin, limits, deadlines and trace. The bytes come as the engine hands them to a format: views."""
    profile = replace(PROFILES["s3"], in_flight_file=in_flight)

    async def start() -> tuple[Get, Callable[[], Awaitable[None]]]:
        store, name, url, _ = resolve(f"s3://{bucket}/{key}", fsspec_options(endpoint))
        engine = Engine(
            Transport(Limits(in_flight)),
            max_buffer=512 << 20,
            memory_cache=256 << 20,
            column_cache=64 << 20,
        )
        of = Pinned(Source(store, name, url, profile), "bench", Trace(), count(1), profile.cost)

        async def get(part: Part) -> object:
            lease = Lease(engine.flights, of, Ticket(Lane()))
            try:
                need = Need((ByteRange(*part),), "bench")
                (view,) = await lease.fetch(need, Cause("bench", of.hop()))
                return view
            finally:
                lease.release()

        async def close() -> None:
            await engine.close()
            await engine.transport.close()
            await store.close()

        return get, close

    return lambda: _loop(start, parts, in_flight)


def our_fetch(endpoint: str, bucket: str, key: str, parts: Sequence[Part], in_flight: int) -> Fresh:
    """rangeio.fetch with all that is behind it: signing, scheduler, cache, transport; one call."""
    import rangeio

    url, options = f"s3://{bucket}/{key}", fsspec_options(endpoint)
    profile = replace(PROFILES["s3"], in_flight_file=in_flight)

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        with rangeio.Session(max_in_flight=in_flight, profile=profile) as session:

            def fetch(some: Sequence[Part]) -> int:
                found = rangeio.fetch(url, some, storage_options=options, session=session)
                return sum((i + 1) * digest(data) for i, data in enumerate(found))

            fetch(parts[:in_flight])
            yield lambda: fetch(parts[in_flight:])

    return fresh


def our_fetches(
    endpoint: str, bucket: str, key: str, parts: Sequence[Part], in_flight: int
) -> Fresh:
    """rangeio.fetch_async, a call a range, so that only ``in_flight`` of them are held at once."""
    import rangeio

    url, options = f"s3://{bucket}/{key}", fsspec_options(endpoint)

    async def start() -> tuple[Get, Callable[[], Awaitable[None]]]:
        session = rangeio.Session(max_in_flight=in_flight)

        async def get(part: Part) -> object:
            found = await rangeio.fetch_async(url, [part], storage_options=options, session=session)
            return found[0]

        async def close() -> None:
            session.close()

        return get, close

    return lambda: _loop(start, parts, in_flight)


async def _nothing() -> None:
    return None
