"""A part of a plan, carried out in one of Spark's Python workers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from rangeio.datasets.plan import DatasetPlan
from rangeio.errors import RangeIOError
from rangeio.session import Session
from rangeio.spark.conforming import conformed
from rangeio.spark.options import ReadOptions
from rangeio.spark.reading.listing import ignored
from rangeio.spark.sessions import session_of

_BATCH = 16 << 20  # bytes of a batch, roughly: Spark holds some of them at once
_LEAST, _MOST = 1 << 10, 1 << 16


def batches(plan: DatasetPlan, schema: pa.Schema, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """The rows of the plan as Spark wants them; files are fetched ahead of those in work.

    Raises what reading raises; a file that the options let be left out ends where it fails.
    """
    session = session_of(options)
    left = options.limit
    try:
        for batch in _read(plan, session, options, batch_rows(schema)):
            found = conformed(batch if left is None else batch.slice(0, left), schema)
            yield found
            if left is not None and (left := left - found.num_rows) <= 0:
                return
    finally:
        if options.trace_dir is not None:
            _note(plan, Path(options.trace_dir))


def batch_rows(schema: pa.Schema) -> int:
    """Rows of a batch: fewer, the wider they are."""
    row = sum(_width(field.type) for field in schema)
    return max(_LEAST, min(_MOST, _BATCH // max(row, 1)))


def _width(kind: pa.DataType) -> int:
    if pa.types.is_primitive(kind):
        return max(int(kind.bit_width) // 8, 1)
    return 32 * max(int(kind.num_fields), 1)


def _read(
    plan: DatasetPlan, session: Session, options: ReadOptions, rows: int
) -> Iterator[pa.RecordBatch]:
    if not (options.ignore_corrupt or options.ignore_missing):
        with closing(plan.scan(batch_rows=rows, session=session)) as found:
            yield from found
        return
    # One by one: a file that fails must not take those behind it along.
    for part in plan.parts:
        try:
            with closing(replace(plan, parts=(part,)).scan(batch_rows=rows, session=session)) as it:
                yield from it
        except RangeIOError as error:
            if not ignored(error, options):
                raise


def _note(plan: DatasetPlan, folder: Path) -> None:
    """Write down what was requested, one file a task."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [one._asdict() for one in plan.trace]
    text = json.dumps({"pid": os.getpid(), "files": plan.files, "gets": made})
    (folder / f"{uuid4().hex}.json").write_text(text)
