"""What Spark calls to write a DataFrame: in every task, and once where the job ends."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyspark.sql.types as st
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from rangeio.errors import RangeIOError, StoreError
from rangeio.spark.conforming import conformed
from rangeio.spark.naming import BESIDE, nameless, noted
from rangeio.spark.types import ROW_METADATA, arrow_schema, optional
from rangeio.spark.writing.cutting import Cut
from rangeio.spark.writing.options import WriteOptions
from rangeio.spark.writing.parting import Keys, Spilled
from rangeio.staging import Staged, Staging
from rangeio.write import checked_format, write

_LATE = (0, 0.5, 1)  # seconds after which a job that failed is looked after again
_OFTEN = 0.5  # seconds between looks at a store whether the job goes on


@dataclass
class Done(WriterCommitMessage):
    """What one attempt of one task wrote; it counts only when Spark hands it to commit()."""

    files: tuple[Staged, ...]
    rows: int


class Writer(DataSourceArrowWriter):
    """Writes the rows of each task as files of their own, none visible before all are there.

    A task that is repeated, or runs twice at once, writes under another name each time, and Spark
    says which one counts.
    """

    def __init__(self, options: WriteOptions, schema: st.StructType, *, overwrite: bool) -> None:
        self._options = options
        self._keys = Keys.of(options.keys, schema)
        self._rows_schema = schema
        self._spark_schema = self._keys.left(schema)
        self._overwrite = overwrite
        # Now, or every task would fail of it.
        self._suffix = checked_format(options.format, options.words, self._schema())
        self._staging = Staging(options.path, dict(options.storage))
        self._staging.begin()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write what comes; a task without rows writes nothing."""
        schema = self._schema()
        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        attempt = secrets.token_hex(8)
        files: list[Staged] = []
        rows = 0
        watch = _Watch(self._staging)
        for folder, batches in self._divided(iterator):
            cut = Cut(batches, self._options.most_rows)
            while cut.more():
                watch.look()
                one = Staged(attempt, folder + self._name(part, len(files)))
                rows += self._file(one, schema, cut.next())
                files.append(one)
        watch.look(last=True)
        return Done(tuple(files), rows)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:  # type: ignore[override]
        """Make the files of the attempts that count visible, together."""
        files = [one for done in messages if isinstance(done, Done) for one in done.files]
        if not files:  # the schema, at least: a table of no rows can be read
            schema = self._schema()
            folder = f"{self._keys.folder()}/" if self._keys.names else ""
            files = [Staged(secrets.token_hex(8), folder + self._name(0, 0))]
            self._file(files[0], schema, iter(()))
        notes = {"_SUCCESS": b""}
        if nameless(self._options.format):
            notes[BESIDE] = noted(self._spark_schema)
        nearby = self._options.dynamic
        self._staging.publish(files, notes, replace=self._overwrite, nearby=nearby)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:  # type: ignore[override]
        """Remove all that was written, by those attempts too that nobody speaks of. When one task
        has failed, Spark does not wait for the others: see :class:`_Watch`."""
        for seconds in _LATE:
            time.sleep(seconds)
            with contextlib.suppress(RangeIOError):  # the reason for it is what is to be told
                self._staging.drop()

    def __repr__(self) -> str:
        return f"Writer({self._options.format}, {len(self._spark_schema)} columns)"

    def _divided(
        self, batches: Iterator[pa.RecordBatch]
    ) -> Iterator[tuple[str, Iterator[pa.RecordBatch]]]:
        """The rows of each folder. Those of several are put by on the disk until all have come,
        for a file is written at a time."""
        if not self._keys.names:
            yield "", _typed(batches, self._schema())
            return
        whole = optional(arrow_schema(self._rows_schema))
        with Spilled(self._schema()) as spilled:
            for batch in _typed(batches, whole):
                for folder, rows in self._keys.parts(batch):
                    spilled.add(f"{folder}/", rows)
            yield from spilled.each()

    def _schema(self) -> pa.Schema:
        noted = {ROW_METADATA: self._spark_schema.json().encode()}
        # Below a null all is null, whatever Spark says of the fields in it.
        return optional(arrow_schema(self._spark_schema)).with_metadata(noted)

    def _name(self, part: int, count: int) -> str:
        job = self._staging.job
        return f"part-{part:05}-{job}-c{count:03}{self._suffix}"

    def _file(self, one: Staged, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> int:
        options = self._options
        written = write(
            batches,
            self._staging.url(one),
            format=options.format,
            schema=schema,
            storage_options=dict(options.storage) or None,
            **dict[str, Any](options.words),
        )
        return written.rows


class _Watch:
    """Ends a task whose job has ended without it, failed or overtaken, before it leaves files."""

    def __init__(self, staging: Staging) -> None:
        self._staging = staging
        self._often = _OFTEN if "://" in staging.root.removeprefix("file://") else 0
        self._looked = time.monotonic()

    def look(self, *, last: bool = False) -> None:
        """Raise StoreError where the job has ended; a store is not asked for every file."""
        if not last and time.monotonic() - self._looked < self._often:
            return
        if self._staging.ended():
            with contextlib.suppress(RangeIOError):
                self._staging.drop()
            raise StoreError("the job has ended without this task", url=self._staging.root)
        self._looked = time.monotonic()


def _typed(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Spark's batches, of whose fields fewer may be null than of those that are written."""
    for batch in batches:
        if batch.num_rows:
            yield conformed(batch, schema)
