"""Work on many files, some of them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any


async def gathered(indexes: Iterable[int], work: Callable[[int], Any], together: int) -> None:
    """Do ``work`` for each, some at once; the first error ends the others."""
    left = iter(indexes)

    async def some() -> None:
        for index in left:
            await work(index)

    tasks = [asyncio.ensure_future(some()) for _ in range(together)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
