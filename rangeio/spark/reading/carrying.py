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

from rangeio.datasets.finding.manifest import shown
from rangeio.datasets.plan import DatasetPlan, Part
from rangeio.errors import RangeIOError, Unsupported
from rangeio.session import Session
from rangeio.spark.conforming import conformed, places
from rangeio.spark.options import ReadOptions
from rangeio.spark.reading.listing import ignored
from rangeio.spark.reading.weighing import cut
from rangeio.spark.sessions import session_of
from rangeio.spark.settling import settle
from rangeio.spark.widening import misfit

_BATCH = 16 << 20  # bytes of a batch, roughly: Spark holds some of them at once
_LARGEST = 2 * _BATCH  # of one whose values turn out to be longer than that
_LEAST, _MOST = 1 << 10, 1 << 16


def batches(plan: DatasetPlan, schema: pa.Schema, options: ReadOptions) -> Iterator[pa.RecordBatch]:
    """The rows of the plan as Spark wants them; files are fetched ahead of those in work.

    Raises what reading raises, and Unsupported, before anything is read, for a file with a column
    that ``schema`` does not hold; a file that the options let be left out ends where it fails.
    """
    _checked(plan, schema)
    session = session_of(options)
    left = options.limit
    try:
        for batch in _read(plan, session, options, batch_rows(schema)):
            for part in cut(batch if left is None else batch.slice(0, left), _LARGEST):
                yield _conformed(part, schema, plan)
            if left is not None and (left := left - batch.num_rows) <= 0:
                return
    finally:
        settle()
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


def _checked(plan: DatasetPlan, schema: pa.Schema) -> None:
    """Raise Unsupported, with the file, where one of the plan has what the schema does not hold.

    The file's own types count, not those that many files have in common. Values of folders' names
    have none of their own: they are read as whatever is asked.
    """
    seen: set[int] = set()  # files of one schema share what is looked at, and so one look
    at = places(schema.names, plan.schema.names)
    for part in plan.parts:
        if id(part.fit) not in seen:
            seen.add(id(part.fit))
            _check(part, schema, at)


def _check(part: Part, schema: pa.Schema, at: list[int | None]) -> None:
    for field, place in zip(schema, at, strict=True):
        index = None if place is None else part.fit.parts[place].index
        if index is None:
            continue
        found = misfit(part.fit.fields[index].type, field.type, field.name)
        if found is not None:
            raise Unsupported(str(found), url=shown(part.file.url))


def _conformed(batch: pa.RecordBatch, schema: pa.Schema, plan: DatasetPlan) -> pa.RecordBatch:
    """In the schema; an error of a value names the file, or the first that it may be in."""
    try:
        return conformed(batch, schema)
    except Unsupported as error:
        files = plan.files
        if len(files) > 1:
            error.reason += f" (in this file, or in one of {len(files) - 1} others of its task)"
        raise error.located(files[0]) from None


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
