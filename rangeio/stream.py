"""Batches handed across the portal, one at a time, to a blocking or an async caller."""

from __future__ import annotations

import asyncio
from typing import Any, Self

import pyarrow as pa

from rangeio.reading import Batches
from rangeio.session import Session


class Pulled:
    """Batches that are pulled one at a time, from any thread or loop, through the portal.

    Both methods run on the portal's loop. A puller that was interrupted, or cancelled, leaves its
    pull running there: :meth:`end` stops it first, and so may always be called.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._pull: asyncio.Task[Any] | None = None

    async def next(self) -> pa.RecordBatch | None:
        """The next batch, None after the last."""
        self._pull = asyncio.current_task()
        try:
            return await anext(self._batches, None)
        finally:
            self._pull = None

    async def end(self) -> None:
        """Stop what the batches have started."""
        if self._pull is not None:
            self._pull.cancel()
            await asyncio.wait([self._pull])
        await self._batches.aclose()


class Stream:
    """The blocking side of a scan: an iterator that ends what it started when it is dropped.

    A failure stays: a stream that was interrupted does not look like one that came to its end.
    """

    def __init__(self, batches: Batches, session: Session) -> None:
        self._pulled = Pulled(batches)
        self._session = session
        self._portal = session.live.portal
        self._failed: BaseException | None = None
        self._ended = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self._failed is not None:
            raise self._failed
        try:
            batch = None if self._ended else self._session.run(self._pulled.next())
        except BaseException as error:
            self._failed = error
            self.close()
            raise
        if batch is None:
            self.close()
            raise StopIteration
        return batch

    def close(self) -> None:
        """Stop what it started; nothing comes after it."""
        if not self._ended:
            self._ended = True
            self._portal.finish(self._pulled.end())

    def __del__(self) -> None:
        self.close()
