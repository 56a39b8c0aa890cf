"""Many files as one table: :func:`dataset`, :class:`Dataset`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import ExitStack, aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa

from rangeio.datasets.account import DatasetExplanation, explained
from rangeio.datasets.counting import Extremes, counted, extremes
from rangeio.datasets.evolving.evolution import DatasetSchema
from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.manifest import Manifest
from rangeio.datasets.finding.partitions import Partitioning
from rangeio.datasets.inventory import Inventory
from rangeio.datasets.plan import DatasetPlan
from rangeio.datasets.planning import planned
from rangeio.datasets.policy import OnError, Options, Progress, Skipped
from rangeio.datasets.report import progress_of
from rangeio.datasets.resolving import Resolved, Target, resolved
from rangeio.datasets.said import Said
from rangeio.datasets.scan import Scan
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
Told = bool | Callable[[int, int], object]


def dataset(
    target: Target,
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
            them; or the ``files`` of another dataset, or some of these: then nothing is listed.
            Files of several formats may be mixed. Names that begin with ``_`` or ``.`` are passed
            over.
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
    declared = schema if isinstance(schema, pa.Schema) else None
    with progress_of(progress, "listing") as told:
        count = None if told is None else lambda done: told(done, 0)
        found = session.run(resolved(session, target, way, partitioning, count, declared))
    return Dataset(found, way, schema, names, session)


class Dataset:
    """The files of a dataset, as they were listed; every file is pinned to the version that was
    listed, or seen first. Safe to share between threads; survives pickling.

    trace: every GET that was made for it. skipped: what the last read with ``on_error="skip"`` left
    out, and why, in the order of the files.
    """

    def __init__(
        self,
        found: Resolved,
        way: Way,
        schema: pa.Schema | Mapping[int, str] | None,
        names: Mapping[str, str] | None,
        session: Session,
    ) -> None:
        self.skipped: tuple[Skipped, ...] = ()
        self._given = found, way, schema, names
        self._session = session
        self._closed = False
        self._inventory = Inventory(session, found, way, Said.of(schema, names))
        self._known_by_words: dict[str, Inventory] = {}

    # ---- what it is ----

    @property
    def files(self) -> Manifest:
        """The manifest: url, size, version tag, rows and partition values of each file, as far as
        they are known: by the listing, or since the file was opened."""
        return self._inventory.learnt()

    @property
    def schema(self) -> Schema:
        """The columns of all files, partition columns last. Opens every file once."""
        return self._seen().schema

    def unified(self, *, case_sensitive: bool = True) -> Schema:
        """The same; else names that differ in case alone from file to file are one column's."""
        return self._seen(folded=not case_sensitive).schema

    @property
    def matched(self) -> tuple[tuple[str, int, str], ...]:
        """How columns were matched: of every schema among the files the url of the first that has
        it, how many have, and "id", "name" or "mixed". Opens every file once."""
        return self._seen().matched

    @property
    def num_rows(self) -> int:
        """Rows of all files. Opens every file once, unless the manifest tells them."""
        return self._run(self._counted())

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
        every_file: bool = False,
        on_error: OnError = "raise",
        progress: Told = False,
    ) -> pa.RecordBatchReader:
        """The same as a stream of batches of at most ``batch_rows`` rows, in bounded memory.

        Files are read ahead, many at once; their order is kept, unless ``ordered`` is False.
        every_file: the columns and types are those of :attr:`schema`, whichever files are read.
        Dropping the reader ends what it started.
        """
        checked(batch_rows)
        request = Request(columns, rows, filters, flatten, case_sensitive)
        with ExitStack() as shown:
            told = shown.enter_context(progress_of(progress, "reading"))
            options = self._options(limit, on_error, told)
            options.rows_each, options.ordered = batch_rows, ordered
            options.every_file = every_file
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
        limit: int | None = None,
        case_sensitive: bool = True,
        on_error: OnError = "raise",
    ) -> DatasetExplanation:
        """What reading this would fetch now, over all files, at most where a filter or policy and
        a limit decide together. Pays for metadata only."""
        request = Request(columns, rows, filters, case_sensitive=case_sensitive)
        return self._run(self._asked(request, self._options(limit, on_error), explained))

    def plan(
        self,
        columns: Words | None = None,
        *,
        rows: RowWords | None = None,
        filters: Filters | None = None,
        limit: int | None = None,
        flatten: bool = False,
        case_sensitive: bool = True,
        on_error: OnError = "raise",
    ) -> DatasetPlan:
        """A read to be carried out later, or in other processes: it pickles, and splits.

        rows: a slice, or ascending row numbers. limit: without filters, for only reading tells how
        many rows they leave. on_error: "skip" leaves out files that cannot be planned.
        """
        request = Request(columns, rows, filters, flatten, case_sensitive)
        options = self._options(limit, on_error)
        if limit is not None and (filters is not None or options.forgiving):
            raise RequestError('a plan takes no limit beside filters or on_error="skip"')
        return self._run(self._asked(request, options, planned))

    def count(self, filters: Filters | None = None, *, on_error: OnError = "raise") -> int:
        """Rows that match: of metadata alone as far as that tells exactly, else of the columns
        that the filters name."""
        if filters is None and on_error == "raise":
            return self.num_rows
        request = Request([], None, filters)
        return self._run(self._asked(request, self._options(None, on_error), counted))

    def min(
        self, column: Word, filters: Filters | None = None, *, on_error: OnError = "raise"
    ) -> Any:
        """The least value, None where there is none; NaN counts for nothing."""
        return self._extremes(column, filters, on_error)[0].as_py()

    def max(
        self, column: Word, filters: Filters | None = None, *, on_error: OnError = "raise"
    ) -> Any:
        """The greatest value, None where there is none; NaN counts for nothing."""
        return self._extremes(column, filters, on_error)[1].as_py()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows of all columns as an Arrow C stream."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def polars(self, *, every_file: bool = False) -> pl.LazyFrame:
        """A lazy frame of polars: each collect reads the columns, rows and files that its query
        needs. Looks into the first and the last file for the columns there are, or into every
        file. Needs ``rangeio[polars]``."""
        from rangeio.datasets.polars import lazy_frame

        return lazy_frame(self, every_file)

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
        return len(self._inventory.manifest)

    def __reduce__(self) -> tuple[object, ...]:
        session = None if self._session is default_session() else self._session
        found, *more = self._given
        return _again, (replace(found, files=self.files), *more, session)

    def __repr__(self) -> str:
        state = "closed " if self._closed else ""
        return f"<{state}rangeio.Dataset {self._inventory.manifest.root} {len(self):,} files>"

    # ---- on the portal's loop ----

    async def _known(self) -> int:
        """Have the facts of all files; their rows."""
        scan = Scan(self._inventory, Request([]), Options())
        await scan.look_at_all()
        return sum(facts.rows for facts in self._inventory.facts.values())

    async def _counted(self) -> int:
        rows = self.files.rows
        return rows if rows >= 0 else await self._known()

    def _seen(self, *, folded: bool = False) -> DatasetSchema:
        self._run(self._known())
        return self._inventory.view(range(len(self)), folded=folded).schema

    async def _prepared(self, request: Request, options: Options) -> Scan:
        sparing = await self._sparing(request)
        if sparing is not None:
            with suppress(Stale, NoSuchColumn):  # a word meant more than its letters say
                return await self._begun(Scan(sparing, request, options))
            options.left_out.clear()
        return await self._begun(Scan(self._inventory, request, options))

    async def _sparing(self, request: Request) -> Inventory | None:
        """What is known of the files as far as the request's words reach, where that spares
        reading the metadata of all columns."""
        if request.columns is None or not len(self):
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
            self.skipped = scan.options.skipped
        return scan

    async def _asked(
        self, request: Request, options: Options, work: Callable[[Scan], Awaitable[T]]
    ) -> T:
        """What ``work`` makes of a scan."""
        scan = await self._prepared(request, options)
        try:
            return await work(scan)
        finally:
            self.skipped = options.skipped

    async def _table(self, request: Request, options: Options) -> pa.Table:
        return await self._asked(request, options, Scan.table)

    async def _batches(self, scan: Scan, batch_rows: int, ended: ExitStack) -> Batches:
        with ended:
            try:
                async with aclosing(scan.record_batches(batch_rows)) as batches:
                    async for batch in batches:
                        yield batch
            finally:
                self.skipped = scan.options.skipped

    def _extremes(self, column: Word, filters: Filters | None, on_error: OnError) -> Extremes:
        request = Request([column], None, filters, flatten=True)
        return self._run(self._asked(request, self._options(None, on_error), extremes))

    def _options(
        self, limit: int | None, on_error: OnError, told: Progress | None = None
    ) -> Options:
        return Options.of(limit, on_error, told)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise Closed("the dataset was closed", url=self._inventory.manifest.root)
        return self._session.run(work)


def _again(
    found: Resolved,
    way: Way,
    schema: pa.Schema | Mapping[int, str] | None,
    names: Mapping[str, str] | None,
    session: Session | None,
) -> Dataset:
    return Dataset(found, way, schema, names, default_session() if session is None else session)
