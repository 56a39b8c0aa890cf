"""An opened file, blocking: :func:`open`, :class:`File`."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, Self, TypeVar

import pyarrow as pa

from rangeio.column import ColumnReader
from rangeio.engine.handle import Handle
from rangeio.errors import Closed
from rangeio.explanation import Explanation
from rangeio.opening import Asked, Opened, at_hand, connect
from rangeio.predicate import Filters
from rangeio.reading import Reading, Request, checked
from rangeio.request import RowWords
from rangeio.schema import Schema
from rangeio.select import Word, Words
from rangeio.session import Session, default_session
from rangeio.stores.address import Options, Target
from rangeio.stream import Stream
from rangeio.transport.trace import Trace

T = TypeVar("T")


def open(  # noqa: A001 - the name users expect
    target: Target,
    *,
    storage_options: Options | None = None,
    filesystem: Any = None,
    format: str | None = None,  # noqa: A002
    schema: object = None,
    index: str = "auto",
    session: Session | None = None,
) -> File:
    """Open one columnar file: one suffix GET, and what its format needs to know its columns.

    Args:
        target: a url (``s3://``, ``gs://``, ``http(s)://``, ``file://``, ``memory://``, any other
            fsspec url), a path, or the bytes of a whole file.
        storage_options: passed to fsspec for credentials, endpoint, region, anonymous access.
        filesystem: an fsspec filesystem that the caller already has, instead of storage_options.
        format: the format's name; sniffed from the file's last bytes by default.
        schema: the columns of files that carry no names (Doris): ``{unique_id: name}``, or an Arrow
            schema whose fields have their id in the metadata ``unique_id``, else by position. Only
            these columns are there; one that the file lacks is null, or the text in the metadata
            ``default``. Lance and Parquet files carry names, and refuse it.
        index: a metadata index beside the file: none is read yet, so "auto" and "off" are the same.
        session: caches and limits; the process's own by default.

    Raises StoreError (NotFound, Denied, ...), FormatError (BadMagic, Corrupt, Unsupported, ...) or
    RequestError (unknown scheme, missing package).
    """
    asked = Asked.of(target, storage_options, filesystem, format, schema, index)
    return _opened(asked, session)


class File:
    """One version of one columnar file. Safe to share between threads; survives fork and pickle.

    Attributes:
        url: redacted, for people. format: the format's name. size: in bytes. tag: version tag, ""
        where the store gives none. trace: every GET that was made for this file.
    """

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._closed = False

    # ---- what it is ----

    @property
    def url(self) -> str:
        """For people: no credentials, no query."""
        return self._handle.of.source.url

    @property
    def format(self) -> str:
        """The format's name."""
        return self._handle.format.name

    @property
    def size(self) -> int:
        """Size of the object in bytes."""
        return self._handle.of.size

    @property
    def tag(self) -> str:
        """The version that every range is pinned to; "" where the store tells none."""
        return self._handle.of.source.pin or ""

    @property
    def consistency(self) -> str:
        """What holds the ranges together: "strong", "weak", or "none" but the size."""
        return self._handle.of.source.consistency

    @property
    def version(self) -> str:
        """The format's version, "" where it has none."""
        return self._handle.table.version

    @property
    def metadata_size(self) -> int | None:
        """Bytes of the file that are no data, None where that is not known."""
        found = self._handle.table.metadata_size
        return found if found >= 0 else None

    @property
    def num_rows(self) -> int:
        """Top-level rows."""
        found = None if self._closed else self._opened.at_once(lambda handle: handle.num_rows())
        return found if found is not None else self._run(self._opened.num_rows())

    @property
    def num_columns(self) -> int:
        """Top-level columns."""
        return self._run(self._opened.num_columns())

    @property
    def num_leaves(self) -> int:
        """Physical leaves. Builds every column."""
        return len(self.schema.leaves)

    @property
    def schema(self) -> Schema:
        """The top-level columns, each made when it is looked at."""
        found = None if self._closed else self._opened.at_once(lambda handle: handle.schema())
        return found if found is not None else self._run(self._opened.schema())

    @property
    def trace(self) -> Trace:
        """What was really requested for this file."""
        return self._handle.of.trace

    def column(self, word: Word) -> ColumnReader:
        """One column by name, dotted path, path tuple or unique_id. Reads nothing of its data."""
        return ColumnReader(self, self._run(self._opened.column(word)))

    # ---- reading ----

    def read(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        flatten: bool = False,
        case_sensitive: bool = True,
    ) -> pa.Table:
        """The asked columns and rows as one table.

        Args:
            columns: names, dotted paths, path tuples, unique_ids, globs or patterns; None is all.
                Nested columns come pruned to the asked leaves, in the asked order.
            rows: a slice with step 1, or row numbers, whose order and duplicates are kept.
            filters: ``[(column, op, value), ...]``, lists of such lists, or a pyarrow Expression;
                applied exactly, after the rows are chosen.
            flatten: open structs and name their leaves by dotted path.
            case_sensitive: False lets names differ in case.
        """
        request = Request(columns, rows, filters, flatten, case_sensitive)
        table = None if self._closed else self._opened.table_at_once(request)
        return table if table is not None else self._run(self._opened.table(request))

    def scan(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        batch_rows: int = 65536,
        flatten: bool = False,
        case_sensitive: bool = True,
    ) -> pa.RecordBatchReader:
        """The same as a stream of batches of at most ``batch_rows`` rows, in bounded memory.

        Pages are fetched ahead and decoded as they land; order is kept. The reader speaks
        ``__arrow_c_stream__``. Dropping it ends what it started.
        """
        checked(batch_rows)
        reading = self._prepare(Request(columns, rows, filters, flatten, case_sensitive))
        stream = Stream(reading.batches(batch_rows), self._opened.session)
        return pa.RecordBatchReader.from_batches(reading.schema, stream)

    def explain(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        case_sensitive: bool = True,
    ) -> Explanation:
        """What reading this would fetch now: hops, GETs, bytes. Pays for metadata only."""
        request = Request(columns, rows, filters, case_sensitive=case_sensitive)
        return self._run(self._opened.explain(request))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows of all columns as an Arrow C stream."""
        return self.scan().__arrow_c_stream__(requested_schema)

    # ---- its life ----

    def close(self) -> None:
        """Refuse further reads. Caches and connections belong to the session and stay."""
        self._closed = True
        self._opened.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        opened = self._opened
        session = None if opened.session is default_session() else opened.session
        return _opened, (opened.asked, session)

    def __repr__(self) -> str:
        state = "closed " if self._closed else ""
        return f"<{state}rangeio.File {self.url} {self.format} {self.size} bytes>"

    @property
    def _handle(self) -> Handle:
        return self._opened.handle

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise Closed("the file was closed", url=self.url)
        return self._opened.session.run(work)

    def _prepare(self, request: Request) -> Reading:
        return self._run(self._opened.read(request))


def _opened(asked: Asked, session: Session | None) -> File:
    session = default_session() if session is None else session
    handle = at_hand(asked, session) or session.run(connect(asked, session))
    return File(Opened(asked, session, handle))
