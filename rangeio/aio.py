"""An opened file, for async callers on any loop: :func:`open_async`, :class:`AsyncFile`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Coroutine, Sequence
from typing import Any, Self, TypeVar

import pyarrow as pa

from rangeio.errors import Closed
from rangeio.explanation import Explanation
from rangeio.file import File
from rangeio.opening import Asked, Opened, connect
from rangeio.predicate import Filters
from rangeio.reading import Reading, Request, checked
from rangeio.request import RowWords
from rangeio.schema import Schema
from rangeio.select import Words
from rangeio.session import Session, default_session
from rangeio.stores.address import Options, Target
from rangeio.stream import Pulled
from rangeio.transport.trace import Trace

T = TypeVar("T")


async def open_async(
    target: Target,
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    format: str | None = None,  # noqa: A002
    schema: object = None,
    index: str = "auto",
    session: Session | None = None,
) -> AsyncFile:
    """Open one columnar file; the arguments and errors are those of :func:`rangeio.open`.

    Fetching runs on rangeio's own loop; the caller's loop only awaits.
    """
    asked = Asked.of(target, storage_options, filesystem, format, schema, index)
    session = default_session() if session is None else session
    handle = await session.wait(connect(asked, session))
    return AsyncFile(Opened(asked, session, handle))


class AsyncFile:
    """One version of one columnar file; see :class:`rangeio.File` for every argument."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._blocking = File(opened)
        self._closed = False

    @property
    def url(self) -> str:
        """For people: no credentials, no query."""
        return self._blocking.url

    @property
    def format(self) -> str:
        """The format's name."""
        return self._blocking.format

    @property
    def size(self) -> int:
        """Size of the object in bytes."""
        return self._blocking.size

    @property
    def tag(self) -> str:
        """The version that every range is pinned to; "" where the store tells none."""
        return self._blocking.tag

    @property
    def trace(self) -> Trace:
        """What was really requested for this file."""
        return self._blocking.trace

    async def num_rows(self) -> int:
        """Top-level rows."""
        return await self._wait(self._opened.num_rows())

    async def num_columns(self) -> int:
        """Top-level columns."""
        return await self._wait(self._opened.num_columns())

    async def schema(self) -> Schema:
        """The top-level columns, each made when it is looked at."""
        return await self._wait(self._opened.schema())

    async def paths(self, column: str, prefix: str = "") -> Sequence[str]:
        """The paths inside a top-level column of no fixed structure (a Variant) that begin with
        ``prefix``, sorted as bytes; nothing else is read. RequestError of any other column."""
        return await self._wait(self._opened.paths(column, prefix))

    async def read(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        flatten: bool = False,
        case_sensitive: bool = True,
    ) -> pa.Table:
        """The asked columns and rows as one table. Cancelling ends what it started."""
        request = Request(columns, rows, filters, flatten, case_sensitive)
        return await self._wait(self._opened.table(request))

    async def scan(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        batch_rows: int = 65536,
        flatten: bool = False,
        case_sensitive: bool = True,
    ) -> AsyncGenerator[pa.RecordBatch, None]:
        """Batches of at most ``batch_rows`` rows, in order, in bounded memory."""
        request = Request(columns, rows, filters, flatten, case_sensitive)
        checked(batch_rows)
        session, portal = self._opened.session, self._opened.session.live.portal
        reading: Reading = await self._wait(self._opened.read(request))
        pulled = Pulled(reading.batches(batch_rows))
        try:
            while (batch := await session.wait(pulled.next())) is not None:
                yield batch
        finally:
            await portal.wait(pulled.end())

    async def explain(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        case_sensitive: bool = True,
    ) -> Explanation:
        """What reading this would fetch now. Pays for metadata only."""
        request = Request(columns, rows, filters, case_sensitive=case_sensitive)
        return await self._wait(self._opened.explain(request))

    async def close(self) -> None:
        """Refuse further reads. Caches and connections belong to the session and stay."""
        self._closed = True
        self._blocking.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an AsyncFile does not pickle; pickle a File, or what it was opened with")

    def __repr__(self) -> str:
        return repr(self._blocking).replace("rangeio.File", "rangeio.AsyncFile")

    async def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise Closed("the file was closed", url=self.url)
        return await self._opened.session.wait(work)
