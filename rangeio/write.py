"""Tables written as one file: :func:`write`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rangeio.errors import Closed, RangeIOError, RequestError
from rangeio.formats import writer, writers
from rangeio.formats.format import Encoder, Writer
from rangeio.session import Session
from rangeio.stores.address import Options
from rangeio.stores.sink import open_sink
from rangeio.stores.store import Sink


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written. url: for people, redacted. size: in bytes."""

    url: str
    size: int
    rows: int


def write(
    data: object,
    url: str | os.PathLike[str],
    *,
    format: str | None = "parquet",  # noqa: A002 - as in open
    schema: pa.Schema | None = None,
    overwrite: bool = True,
    storage_options: Options | None = None,
    filesystem: Any = None,
    session: Session | None = None,
    **options: object,
) -> Written:
    """Write one file. Nothing is to be seen under its name before it is whole.

    Args:
        data: a pyarrow Table, RecordBatch or RecordBatchReader, whatever speaks
            ``__arrow_c_stream__`` (frames of polars, pandas, duckdb; scans), or, with ``schema=``,
            an iterable of batches or tables. What comes batch by batch is encoded as it comes.
        url: ``s3://``, ``gs://``, ``file://``, ``memory://``, any other fsspec url that can be
            written, or a path.
        format: the format's name; None tells it from the end of the name.
        schema: of an iterable's batches.
        overwrite: replace the file that is there, in one step; False raises RequestError instead.
        storage_options, filesystem: as in :func:`rangeio.open`.
        session: only asked whether it is open: a write uses none of its caches, and its caches
            keep versions apart.
        options: of the format; an unknown one raises RequestError with those there are. See
            :class:`rangeio.formats.parquet.writing.options.ParquetOptions`.

    When anything fails, in ``data`` as well, all that was written is removed, and what failed is
    raised: StoreError, RequestError, or the data's own exception.
    """
    if session is not None and session.closed:
        raise Closed("the session was closed")
    chosen = writer(format) if format is not None else _told_by(url)
    checked = chosen.options(options)
    source = _source(data, schema)
    sink, shown = open_sink(url, storage_options, filesystem, overwrite=overwrite)
    return _Writing(sink, shown).run(chosen, checked, source)


def checked_format(name: str, options: Mapping[str, object], schema: pa.Schema) -> str:
    """What the names of a format's files end in, once it is known that it can hold these columns
    and has these options. Writes nothing. Raises RequestError."""
    chosen = writer(name)
    chosen.encoder(schema, chosen.options(options), lambda data: None, 0).drop()
    return chosen.suffixes[0]


def suffix_of(name: str, options: Mapping[str, object]) -> str:
    """What the names of a format's files end in. RequestError for an option that it has not."""
    chosen = writer(name)
    chosen.options(options)
    return chosen.suffixes[0]


@dataclass(frozen=True, slots=True)
class _Source:
    """Tables of one schema; rows: how many, None where that is not known."""

    schema: pa.Schema
    tables: Iterator[pa.Table]
    rows: int | None = None


class _Writing:
    """One file on its way into its sink."""

    def __init__(self, sink: Sink, url: str) -> None:
        self._sink = sink
        self._url = url
        self._size = 0

    def run(self, chosen: Writer, options: Any, source: _Source) -> Written:
        encoder: Encoder | None = None
        rows = 0
        try:
            encoder = chosen.encoder(source.schema, options, self._take, source.rows)
            for table in source.tables:
                encoder.write(table)
                rows += table.num_rows
            encoder.finish()
            self._sink.commit()
        except BaseException as error:
            if encoder is not None:
                encoder.drop()
            self._undo(error)
            raise
        return Written(self._url, self._size, rows)

    def _take(self, data: memoryview) -> None:
        self._sink.write(data)
        self._size += len(data)

    def _undo(self, error: BaseException) -> None:
        if isinstance(error, RangeIOError):
            error.located(self._url)
        try:
            self._sink.abort()
        except RangeIOError as other:
            error.add_note(f"what was written so far could not be removed: {other}")


def _told_by(url: str | os.PathLike[str]) -> Writer:
    """The writer of the format that a name ends in."""
    name = str(url).lower()
    for one in map(writer, writers()):
        if name.endswith(one.suffixes):
            return one
    raise RequestError(
        f"the name does not tell the format: pass format=, one of {', '.join(writers())}"
    )


# ---- what can be written -------------------------------------------------------------------------


def _source(data: Any, schema: pa.Schema | None) -> _Source:
    """Data of any kind as tables of one schema; RequestError for what is no data."""
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.Table):
        _no_schema(schema)
        return _Source(data.schema, iter([data]), data.num_rows)
    if isinstance(data, pa.RecordBatchReader):
        _no_schema(schema)
        return _Source(data.schema, (pa.Table.from_batches([batch]) for batch in data))
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _source(_imported(data), schema)
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise RequestError(
            f"cannot write a {type(data).__name__}: give a pyarrow Table, RecordBatch or "
            "RecordBatchReader, a frame that speaks __arrow_c_stream__, or batches with schema="
        )
    if not isinstance(schema, pa.Schema):
        raise RequestError("batches of an iterable need schema=, a pyarrow Schema")
    return _Source(schema, (_fitting(one, schema) for one in data))


def _no_schema(schema: object) -> None:
    if schema is not None:
        raise RequestError("schema= is for an iterable of batches; this data has a schema")


def _imported(data: Any) -> pa.RecordBatchReader | pa.RecordBatch:
    try:
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data)
        return pa.record_batch(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise RequestError(f"this {type(data).__name__} is no table: {error}") from error


def _fitting(one: Any, schema: pa.Schema) -> pa.Table:
    """A batch of an iterable as a table; RequestError where it has another schema."""
    table = pa.Table.from_batches([one]) if isinstance(one, pa.RecordBatch) else one
    if not isinstance(table, pa.Table):
        raise RequestError(f"batches or tables are wanted, not a {type(one).__name__}")
    if table.schema.equals(schema):
        return table
    for mine, wanted in zip(table.schema, schema, strict=False):
        if not mine.equals(wanted):
            raise RequestError(f"a batch has the field {mine}, schema= has {wanted}")
    raise RequestError(f"a batch has {len(table.schema)} fields, schema= has {len(schema)}")
