"""One file as another, in another format: :func:`convert`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

import pyarrow as pa

from rangeio.file import File
from rangeio.file import open as opened_file
from rangeio.predicate import Filters
from rangeio.select import Words
from rangeio.session import Session
from rangeio.stores.address import Options, Target
from rangeio.write import Written, write

Progress: TypeAlias = Callable[[int, int], None]
"""Told after every batch: rows that are done, rows that the source has."""


def convert(
    src: File | Target,
    dst: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - as in write
    columns: Words | None = None,
    filters: Filters | None = None,
    progress: Progress | None = None,
    batch_rows: int = 65536,
    overwrite: bool = True,
    source_options: Options | None = None,
    storage_options: Options | None = None,
    filesystem: Any = None,
    session: Session | None = None,
    **options: object,
) -> Written:
    """Write the rows of one file as another file, batch by batch.

    Memory holds the batches on their way and what the written format has to hold (compressed pages
    of a segment of Doris), never all rows of the source. As with :func:`rangeio.write` nothing is
    to be seen before it is whole, and nothing is left of what fails, ``progress`` too.

    Args:
        src: a file that is open, and stays so, or what :func:`rangeio.open` takes.
        dst, overwrite, storage_options, filesystem: as in :func:`rangeio.write`.
        format: of the new file, with its ``options``; None: the end of its name tells.
        columns, filters, batch_rows: as in :meth:`rangeio.File.scan`.
        progress: called after every batch with the rows that are done and those of the source.
        source_options, session: the storage options and the session of ``src``.
    """
    with (
        _source(src, source_options, session) as file,
        file.scan(columns, filters=filters, batch_rows=batch_rows) as reader,
    ):
        return write(
            _told(reader, file.num_rows, progress),
            dst,
            format=format,
            schema=reader.schema,
            overwrite=overwrite,
            storage_options=storage_options,
            filesystem=filesystem,
            session=session,
            **options,
        )


def _source(
    src: File | Target, options: Options | None, session: Session | None
) -> AbstractContextManager[File]:
    if isinstance(src, File):
        return nullcontext(src)
    return opened_file(src, storage_options=options, session=session)


def _told(
    reader: pa.RecordBatchReader, rows: int, progress: Progress | None
) -> Iterator[pa.RecordBatch]:
    """The batches; progress is told when one was taken over, and the next is asked for."""
    done = 0
    for batch in reader:
        yield batch
        done += batch.num_rows
        if progress is not None:
            progress(done, rows)
