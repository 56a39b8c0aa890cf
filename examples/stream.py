"""Add up one column batch by batch, in bounded memory, on an event loop: stream.py URL COLUMN"""

import asyncio
import sys

import pyarrow.compute as pc

import rangeio


async def main(url: str, column: str) -> None:
    total, rows = 0, 0
    async with await rangeio.open_async(url) as file:
        async for batch in file.scan([column], batch_rows=10_000):
            total += pc.sum(batch.column(0)).as_py() or 0
            rows += batch.num_rows
    print(total, rows)


asyncio.run(main(*sys.argv[1:]))
