"""The async file, concurrency over tasks and threads, cancellation, forks."""

import asyncio
import os
import threading

import pyarrow as pa
import pytest
from places import oracle, settled

import rangeio
from rangeio.testing.server import RangeServer


def test_async_reads_equal_blocking_ones(files, session):
    path = files.mixed()

    async def main():
        async with await rangeio.open_async(path, session=session) as file:
            assert await file.num_rows() == 5000
            assert len(await file.schema()) == 6
            table = await file.read(["word", "v.a"], rows=slice(10, 3000))
            told = await file.explain(["x"])
            batches = [b async for b in file.scan(["tags", "id"], batch_rows=700)]
            return table, told, pa.Table.from_batches(batches)

    table, told, scanned = asyncio.run(main())
    with rangeio.open(path, session=session) as file:
        assert table == file.read(["word", "v.a"], rows=slice(10, 3000))
        assert told.columns == ("x",)
    assert (
        scanned.combine_chunks()
        == oracle(path, ["tags", "id"]).select(["tags", "id"]).combine_chunks()
    )
    assert settled(session)


def test_an_async_scan_that_is_left_ends(files, session):
    async def main():
        async with await rangeio.open_async(files.mixed(), session=session) as file:
            scan = file.scan(batch_rows=10)
            async for batch in scan:
                assert batch.num_rows == 10
                break
            await scan.aclose()

    asyncio.run(main())
    assert settled(session)


def test_it_works_inside_a_running_loop(files, session):
    async def notebook():
        with rangeio.open(files.mixed(), session=session) as file:
            return file.read(["id"]).num_rows

    assert asyncio.run(notebook()) == 5000


def test_fifty_tasks_and_eight_threads_cost_one_load(files):
    path = files.wide(3000)
    data = path.read_bytes()
    name = "feature_01234"
    with RangeServer({"w.lance": data}, delay_s=0.02) as server:
        small = rangeio.Session(profile="file")
        with small, rangeio.open(server.at("w.lance"), session=small) as file:
            file.schema  # noqa: B018 - read for what it fetches
            before = len(server.log)
            tables = []
            threads = [
                threading.Thread(target=lambda: tables.append(file.read([name]))) for _ in range(8)
            ]
            for thread in threads:
                thread.start()

            async def tasks():
                async with await rangeio.open_async(server.at("w.lance"), session=small) as other:
                    await asyncio.gather(*(other.read([name]) for _ in range(50)))

            asyncio.run(tasks())
            for thread in threads:
                thread.join()
            wanted = oracle(path, [name])
            assert all(table == wanted for table in tables)
            assert small.live.engine.columns.loads == 1
            # one suffix GET of the second handle, one of the column's metadata, one of its page
            assert len(server.log) - before == 3


def test_a_cancelled_task_harms_none(files):
    path = files.mixed()
    with RangeServer({"m.lance": path.read_bytes()}, delay_s=0.05) as server:
        small = rangeio.Session(profile="file")

        async def main():
            async with await rangeio.open_async(server.at("m.lance"), session=small) as file:
                tasks = [asyncio.ensure_future(file.read(["word"])) for _ in range(4)]
                await asyncio.sleep(0.01)
                tasks[0].cancel()
                done = await asyncio.gather(*tasks, return_exceptions=True)
                assert isinstance(done[0], asyncio.CancelledError)
                return done[1:]

        with small:
            wanted = oracle(path, ["word"])
            assert all(table == wanted for table in asyncio.run(main()))
            assert settled(small)


def test_a_failure_is_not_kept(files):
    path = files.mixed()
    with RangeServer({"m.lance": path.read_bytes()}) as server:
        small = rangeio.Session(profile="file")
        with small, rangeio.open(server.at("m.lance"), session=small) as file:
            file.schema  # noqa: B018 - read for what it fetches
            server.drop("m.lance")
            with pytest.raises(rangeio.errors.NotFound):
                file.read(["word"])
            assert settled(small)


@pytest.mark.filterwarnings("ignore:lance is not fork-safe:UserWarning")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_reads_with_what_it_inherited(files):
    path = files.mixed()
    with rangeio.Session(profile="s3") as session, rangeio.open(path, session=session) as file:
        rows = file.read(["id"]).num_rows
        read, out = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(out, str(file.read(["word"]).num_rows).encode())
            finally:
                os._exit(0)
        os.close(out)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        assert said == str(rows).encode()
