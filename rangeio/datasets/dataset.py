"""Many files as one table: :func:`dataset`, :class:`Dataset`."""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, aclosing, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa

from rangeio.datasets.account import DatasetExplanation, explained
from rangeio.datasets.counting import counted, extremes
from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.partitions import Partitioning
from rangeio.datasets.inventory import Inventory, Said
from rangeio.datasets.plan import DatasetPlan
from rangeio.datasets.planning import planned
from rangeio.datasets.report import progress_of
from rangeio.datasets.resolving import Resolved, resolved
from rangeio.datasets.scan import OnError, Options, Progress, Scan, Skipped
from rangeio.datasets.sparing import SparingInventory
from rangeio.errors import Closed, FormatError, NoSuchColumn, RequestError, StoreError
from rangeio.formats.format import Stale
from rangeio.predicate import Filters
from rangeio.reading import Batches, Request, checked
from rangeio.request import RowWords
from rangeio.schema import Schema
from rangeio.select import Word, Words
from rangeio.session import Session, default_session
from rangeio.sought import Sought
from rangeio.stores.address import Options as StoreOptions
from rangeio.stream import Stream
from rangeio.transport.trace import Trace

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")
_REQUESTS = 16  # sets of words for which it is remembered what they reach
Target = str | os.PathLike[str]
Told = bool | Callable[[int, int], object]


def dataset(
    target: Target | Sequence[Target],
    *,
    partitioning: Partitioning = "hive",
    schema: pa.Schema | Mapping[int, str] | None = None,
    names: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002
    storage_options: StoreOptions | None = None,
    filesystem: Any = None,
    index: str = "auto",
    progress: Told = False,
    session: Session | None = None,
) -> Dataset:
    """Many columnar files as one table: their listing is read, no file is opened yet.

    Args:
        target: a url or path of a directory, a file or a glob (``**`` for any depth), or a list of
            them. Files of several formats may be mixed. Names that begin with ``_`` or ``.`` are
            passed over.
        partitioning: "hive" (``year=2024/``), a Schema (the same, of these types), a list of names
            (one a folder), or None.
        schema: the columns there are to be, with their types, and their ids in the metadata
            ``unique_id`` of the fields; of files without names (Doris) also ``{unique_id: name}``.
            By default all columns of all files that a read needs.
        names: old name to new, of columns without declared ids that were renamed.
        format: of all files; sniffed of each by default.
        storage_options, filesystem, session: as for :func:`rangeio.open`.
        index: "auto" or "off": no metadata indexes are read yet.
        progress: True: on a terminal, where somebody looks; or called with the files found.

    Raises NotFound where there is no file, RequestError for the directory of a table whose files
    hold rows that were deleted (Delta, Iceberg, ...), and what the store raises.
    """
    if index not in ("auto", "off"):
        raise RequestError(f"index={index!r}: metadata indexes are not read yet; leave it out")
    session = default_session() if session is None else session
    way = Way(storage_options, filesystem, format)
    with progress_of(progress, "listing") as told:
        count = None if told is None else lambda done: told(done, 0)
        found = session.run(resolved(session, target, way, partitioning, count))
    return Dataset(found, way, schema, names, session)


class Dataset:
    """The files of a dataset, as they were listed; every file is pinned to the version that was
    listed, or seen first. Safe to share between threads; survives pickling.

    files: the manifest: url, size, version tag and partition values of each. trace: every GET that
    was made for it. skipped: what the last read with ``on_error="skip"`` left out, and why.
    """

    def __init__(
        self,
        found: Resolved,
        way: Way,
        schema: pa.Schema | Mapping[int, str] | None,
        names: Mapping[str, str] | None,
        session: Session,
    ) -> None:
        self.files = found.files
        self.skipped: tuple[Skipped, ...] = ()
        self._given = found, way, schema, names
        self._session = session
        self._closed = False
        self._inventory = Inventory(session, found, way, Said.of(schema, names))
        self._known_by_words: dict[str, Inventory] = {}

    # ---- what it is ----

    @property
    def schema(self) -> Schema:
        """The columns of all files, partition columns last. Opens every file once."""
        self._run(self._known())
        return self._inventory.schema.schema

    @property
    def matched(self) -> tuple[tuple[str, int, str], ...]:
        """How columns were matched: of every schema among the files the url of the first that has
        it, how many have, and "id", "name" or "mixed". Opens every file once."""
        self._run(self._known())
        return self._inventory.matched

    @property
    def num_rows(self) -> int:
        """Rows of all files. Opens every file once."""
        return self._run(self._known())

    @property
    def trace(self) -> Trace:
        """What was really requested for this dataset; listings aside."""
        return self._inventory.trace

    # ---- reading ----

    def read(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        flatten: bool = False,
        case_sensitive: bool = True,
        on_error: OnError = "raise",
        progress: Told = False,
    ) -> pa.Table:
        """The asked columns and rows of all files as one table: see :meth:`rangeio.File.read`.

        Args:
            rows: numbers over all files in their order; needs the metadata of every file.
            limit: rows that are enough; no more is read than it takes.
            on_error: "skip" leaves out files that cannot be read; :attr:`skipped` says which.
            progress: True: on a terminal; or called with the files that are done, and all.
        """
        request = Request(columns, rows, filters, flatten, case_sensitive)
        with progress_of(progress, "reading") as told:
            return self._run(self._table(request, self._options(limit, on_error, told)))

    def head(self, rows: int = 5, columns: Words | None = None) -> pa.Table:
        """The first rows."""
        return self.read(columns, limit=rows)

    def scan(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        batch_rows: int = 65536,
        flatten: bool = False,
        case_sensitive: bool = True,
        ordered: bool = True,
        on_error: OnError = "raise",
        progress: Told = False,
    ) -> pa.RecordBatchReader:
        """The same as a stream of batches of at most ``batch_rows`` rows, in bounded memory.

        Files are read ahead, many at once; their order is kept, unless ``ordered`` is False.
        Dropping the reader ends what it started.
        """
        checked(batch_rows)
        request = Request(columns, rows, filters, flatten, case_sensitive)
        with ExitStack() as shown:
            told = shown.enter_context(progress_of(progress, "reading"))
            options = self._options(limit, on_error, told)
            options.rows_each, options.ordered = batch_rows, ordered
            scan = self._run(self._prepared(request, options))
            ended = shown.pop_all()
        stream = Stream(self._batches(scan, batch_rows, ended), self._session)
        return pa.RecordBatchReader.from_batches(scan.arrow, stream)

    def explain(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        case_sensitive: bool = True,
    ) -> DatasetExplanation:
        """What reading this would fetch now, over all files. Pays for metadata only."""
        request = Request(columns, rows, filters, case_sensitive=case_sensitive)

        async def work() -> DatasetExplanation:
            return await explained(await self._prepared(request, Options()))

        return self._run(work())

    def plan(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        flatten: bool = False,
        case_sensitive: bool = True,
    ) -> DatasetPlan:
        """A read to be carried out later, or in other processes: it pickles, and splits.

        rows: a slice, or ascending row numbers.
        """
        request = Request(columns, rows, filters, flatten, case_sensitive)

        async def work() -> DatasetPlan:
            return await planned(await self._prepared(request, Options()))

        return self._run(work())

    def count(self, filters: Filters | None = None) -> int:
        """Rows that match: of metadata alone as far as that tells exactly, else of the columns
        that the filters name."""
        if filters is None:
            return self.num_rows

        async def work() -> int:
            return await counted(await self._prepared(Request([], None, filters), Options()))

        return self._run(work())

    def min(self, column: Word, filters: Filters | None = None) -> Any:
        """The least value, None where there is none; NaN counts for nothing."""
        return self._extreme(column, filters)[0].as_py()

    def max(self, column: Word, filters: Filters | None = None) -> Any:
        """The greatest value, None where there is none; NaN counts for nothing."""
        return self._extreme(column, filters)[1].as_py()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows of all columns as an Arrow C stream."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def polars(self) -> pl.LazyFrame:
        """A lazy frame of polars: each collect reads the columns, rows and files that its query
        needs. Looks into the first and the last file for the columns there are, and into every
        file where :attr:`schema` was asked for before. Needs ``rangeio[polars]``."""
        from rangeio.datasets.polars import lazy_frame

        return lazy_frame(self)

    # ---- its life ----

    def close(self) -> None:
        """Refuse further reads. Caches and connections belong to the session and stay."""
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many files."""
        return len(self.files)

    def __reduce__(self) -> tuple[object, ...]:
        session = None if self._session is default_session() else self._session
        return _again, (*self._given, session)

    def __repr__(self) -> str:
        state = "closed " if self._closed else ""
        return f"<{state}rangeio.Dataset {self.files.root} {len(self.files):,} files>"

    # ---- on the portal's loop ----

    async def _known(self) -> int:
        """Have the facts of all files; their rows."""
        scan = Scan(self._inventory, Request([]), Options())
        await scan.look_at_all()
        return sum(facts.rows for facts in self._inventory.facts.values())

    async def _prepared(self, request: Request, options: Options) -> Scan:
        sparing = await self._sparing(request)
        if sparing is not None:
            with suppress(Stale, NoSuchColumn):  # a word meant more than its letters say
                return await self._begun(Scan(sparing, request, options))
            options.skipped.clear()
        return await self._begun(Scan(self._inventory, request, options))

    async def _sparing(self, request: Request) -> Inventory | None:
        """What is known of the files as far as the request's words reach, where that spares
        reading the metadata of all columns."""
        if request.columns is None or not len(self.files):
            return None
        words = Sought.of(request.columns, request.filters, request.case_sensitive)
        key = repr(words)
        try:
            spared = await self._inventory.spares(words)
        except (StoreError, FormatError):
            return None  # the read will tell
        if spared and key not in self._known_by_words:
            if len(self._known_by_words) >= _REQUESTS:
                self._known_by_words.clear()
            self._known_by_words[key] = SparingInventory(self._inventory, words)
        return self._known_by_words.get(key)

    async def _begun(self, scan: Scan) -> Scan:
        try:
            await scan.prepare()
        finally:
            self.skipped = tuple(scan.options.skipped)
        return scan

    async def _table(self, request: Request, options: Options) -> pa.Table:
        scan = await self._prepared(request, options)
        try:
            return await scan.table()
        finally:
            self.skipped = tuple(options.skipped)

    async def _batches(self, scan: Scan, batch_rows: int, ended: ExitStack) -> Batches:
        with ended:
            try:
                async with aclosing(scan.record_batches(batch_rows)) as batches:
                    async for batch in batches:
                        yield batch
            finally:
                self.skipped = tuple(scan.options.skipped)

    def _extreme(self, column: Word, filters: Filters | None) -> tuple[pa.Scalar, pa.Scalar]:
        async def work() -> tuple[pa.Scalar, pa.Scalar]:
            request = Request([column], None, filters, flatten=True)
            return await extremes(await self._prepared(request, Options()))

        return self._run(work())

    def _options(self, limit: int | None, on_error: OnError, told: Progress | None) -> Options:
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            raise RequestError(f"limit is a whole number of rows, not {limit!r}")
        if limit is not None and limit < 0:
            raise RequestError(f"limit is at least 0, not {limit}")
        if on_error not in ("raise", "skip"):
            raise RequestError(f'on_error is "raise" or "skip", not {on_error!r}')
        return Options(limit=limit, on_error=on_error, progress=told)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise Closed("the dataset was closed", url=self.files.root)
        return self._session.run(work)


def _again(
    found: Resolved,
    way: Way,
    schema: pa.Schema | Mapping[int, str] | None,
    names: Mapping[str, str] | None,
    session: Session | None,
) -> Dataset:
    return Dataset(found, way, schema, names, default_session() if session is None else session)
