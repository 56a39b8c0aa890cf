"""``rangeio read``: columns of a file, to a terminal, a pipe or another file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from rangeio.cli.encoder import ENCODERS, Encoder, encoder_of, stream_of
from rangeio.cli.legible import clean, columns_of
from rangeio.cli.progress import Progress
from rangeio.cli.query import Query, Rows, add_query
from rangeio.cli.source import Commands, add_json, add_source, opened
from rangeio.cli.table import Heading, on_terminal, say, say_json, say_table, spent
from rangeio.cli.target import created
from rangeio.errors import RequestError
from rangeio.file import File
from rangeio.schema import Column

_ROWS, _COLUMNS = 20, 20  # what a terminal is shown when nothing else is asked


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "read",
        help="columns as a table, CSV, JSON, Arrow or Parquet",
        description=f"Read columns. A terminal shows a table of the first {_ROWS} rows, a pipe "
        "gets CSV of all; -o writes a file, which appears when it is whole.",
        allow_abbrev=False,
    )
    add_source(parser)
    add_query(parser)
    parser.add_argument(
        "-n", "--limit", metavar="N", type=_count, help="only the first N rows of the result"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=".csv, .json, .jsonl, .arrow or .parquet; - is stdout, as CSV unless --as says else",
    )
    parser.add_argument("--as", dest="kind", choices=tuple(ENCODERS), help="the output's format")
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Read, and hand it on."""
    if asked.output not in (None, "-"):
        encoder = encoder_of(asked.output, asked.kind)
        return _to_file(asked, encoder)
    if asked.json and asked.kind not in (None, "json"):
        raise RequestError(f"--json and --as {asked.kind} are two formats; give one")
    if asked.output is None and not asked.json and asked.kind is None and on_terminal():
        return _to_terminal(asked)
    encoder = stream_of("json" if asked.json else asked.kind or "csv")
    return _to_stdout(asked, encoder)


def _to_file(asked: argparse.Namespace, encoder: type[Encoder]) -> int:
    # The target comes first: what cannot be written need not be fetched.
    with (
        created(asked.output) as out,
        opened(asked) as file,
        _encoded(file, asked, encoder, out) as done,
    ):
        pass
    trace = file.trace
    if asked.json:
        cost = {"hops": trace.hops, "gets": trace.gets, "bytes": trace.bytes_read}
        say_json({"output": asked.output, "rows": done.rows, "cost": cost})
    done.end(
        f"{clean(asked.output)}: {done.rows:,} rows; "
        f"{spent(trace.hops, trace.gets, trace.bytes_read)}"
    )
    return 0


def _to_stdout(asked: argparse.Namespace, encoder: type[Encoder]) -> int:
    sys.stdout.flush()
    out = sys.stdout.buffer
    with opened(asked) as file, _encoded(file, asked, encoder, out):
        pass
    out.flush()
    return 0


@contextmanager
def _encoded(
    file: File, asked: argparse.Namespace, encoder: type[Encoder], out: BinaryIO
) -> Iterator[Progress]:
    """The result in ``out``, and how much it was; the end is written last."""
    query = Query.of(asked, file.schema)
    with Progress(file.trace) as progress:
        with _scanned(file, query, asked.limit) as (schema, batches):
            encoded = encoder(out, schema)
            try:
                for batch in batches:
                    encoded.write(batch)
                    progress.add(batch.num_rows)
                encoded.finish()
            except BaseException:
                encoded.drop()
                raise
        yield progress


@contextmanager
def _scanned(
    file: File, query: Query, limit: int | None
) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """The schema and the batches of a query's first ``limit`` rows."""
    rows = query.rows
    if limit is not None and (query.filters is None or limit == 0):
        rows = _first(rows, limit)
    with file.scan(query.words, rows=rows, filters=query.filters) as reader:
        yield reader.schema, _cut(reader, limit)


def _cut(reader: pa.RecordBatchReader, limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit
    while left is None or left > 0:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        if left is not None:
            batch = batch.slice(0, left)
            left -= batch.num_rows
        yield batch


def _first(rows: Rows | None, limit: int) -> Rows:
    """The first of the asked rows; no more of the file need be read."""
    if isinstance(rows, list):
        return rows[:limit]
    start, stop = (0, None) if rows is None else (rows.start or 0, rows.stop)
    return slice(start, start + limit if stop is None else min(stop, start + limit))


# ---- a table on a terminal ---------------------------------------------------------------------


def _to_terminal(asked: argparse.Namespace) -> int:
    limit = _ROWS if asked.limit is None else asked.limit
    with opened(asked) as file:
        query = Query.of(asked, file.schema)
        fields, left_out = _fitting(file, query)
        with _scanned(file, replace(query, fields=fields), limit) as (schema, batches):
            table = pa.Table.from_batches(batches, schema)
        total = None if query.filters else _total(query.rows, file.num_rows)
    say_table(_headings(schema), list(zip(*columns_of(table), strict=True)))
    if left_out:
        say(f"{left_out:,} more columns: choose with -c, or write all with -o")
    if asked.limit is None and table.num_rows == limit and total != limit:
        known = "" if total is None else f" of {total:,}"
        say(f"the first {limit}{known} rows: -n shows more, -o writes all")
    return 0


def _fitting(file: File, query: Query) -> tuple[tuple[Column, ...], int]:
    """The columns that are shown, and how many are not: those are not read either."""
    if query.fields is not None:
        return query.fields[:_COLUMNS], len(query.fields[_COLUMNS:])
    count = len(file.schema)
    shown = min(count, _COLUMNS)
    return tuple(file.schema.at(i) for i in range(shown)), count - shown


def _total(rows: Rows | None, num_rows: int) -> int:
    if rows is None:
        return num_rows
    return len(rows) if isinstance(rows, list) else len(range(num_rows)[rows])


def _headings(schema: pa.Schema) -> Sequence[Heading]:
    return [Heading(clean(f.name), right=_numeric(f.type)) for f in schema]


def _numeric(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rows")
    return int(text)
