"""Record batches as the bytes of a file: CSV, JSON, JSON lines, Arrow, Parquet."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import BinaryIO, Protocol

import pyarrow as pa

from rangeio.cli.legible import dumped, flat, flat_schema, rows
from rangeio.errors import RequestError


class Encoder(Protocol):
    """Writes batches of one schema, one after the other, and never closes what it writes to."""

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        """Write the head; RequestError where the format cannot hold the schema."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""

    def finish(self) -> None:
        """Write the end. What was not finished is no whole file."""

    def drop(self) -> None:
        """Let go of ``out``, whose bytes are of no use to anybody."""


class Csv:
    """A line of names, then one line a row; null is nothing, an empty string is ``""``."""

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        self._out = out
        self._put(flat_schema(schema).empty_table(), head=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        if batch.num_rows:
            self._put(flat(batch), head=False)

    def finish(self) -> None:
        """Nothing ends a CSV file."""

    def drop(self) -> None:
        """Nothing is held."""

    def _put(self, data: pa.RecordBatch | pa.Table, *, head: bool) -> None:
        # Arrow loads its CSV part when it is first asked for, and so do we.
        from pyarrow import csv

        buffer = pa.BufferOutputStream()
        csv.write_csv(data, buffer, csv.WriteOptions(include_header=head))
        self._out.write(memoryview(buffer.getvalue()))


class JsonLines:
    """One object a line."""

    between, head, end = b"\n", b"", b"\n"

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        twice = {name for name in schema.names if schema.names.count(name) > 1}
        if twice:
            raise RequestError(
                f"JSON cannot hold two columns of one name: {min(twice)!r}; ask for one of "
                f"them, or write csv or arrow"
            )
        self._out = out
        self._any = False

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        lines = [dumped(row).encode(errors="backslashreplace") for row in rows(batch)]
        if lines:
            self._out.write(self.between if self._any else self.head)
            self._out.write(self.between.join(lines))
            self._any = True

    def finish(self) -> None:
        """Close the list, or end the last line."""
        if self._any:
            self._out.write(self.end)

    def drop(self) -> None:
        """Nothing is held."""


class Json(JsonLines):
    """A list of objects, one a line."""

    between, head, end = b",\n", b"[\n", b"\n]\n"

    def finish(self) -> None:
        """Close the list."""
        self._out.write(self.end if self._any else b"[]\n")


class ArrowFile:
    """Arrow's file format, which is read by position."""

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_file(out, schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        self._writer.write_batch(batch)

    def finish(self) -> None:
        """Write the footer."""
        self._writer.close()

    def drop(self) -> None:
        """Nothing is held: without its end it is closed in silence."""


class ArrowStream(ArrowFile):
    """Arrow's stream format, which is read from the start."""

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_stream(out, schema)


class Parquet:
    """Parquet, in row groups of up to a million rows."""

    def __init__(self, out: BinaryIO, schema: pa.Schema) -> None:
        from pyarrow import parquet

        try:
            self._writer = parquet.ParquetWriter(out, schema)
        except (pa.ArrowException, NotImplementedError) as error:
            raise RequestError(f"Parquet cannot hold these columns: {error}; write arrow") from None

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows."""
        self._writer.write_batch(batch)

    def finish(self) -> None:
        """Write the footer."""
        self._writer.close()

    def drop(self) -> None:
        """Close the writer while its file is open; later it would complain."""
        with contextlib.suppress(Exception):
            self._writer.close()


ENCODERS: Mapping[str, type[Encoder]] = {
    "csv": Csv,
    "json": Json,
    "jsonl": JsonLines,
    "arrow": ArrowFile,
    "parquet": Parquet,
}
STREAMS: Mapping[str, type[Encoder]] = {
    "csv": Csv,
    "json": Json,
    "jsonl": JsonLines,
    "arrow": ArrowStream,
}
"""What may go to stdout, which has no positions."""

_ENDINGS = {
    "csv": "csv",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "parquet": "parquet",
    "pq": "parquet",
}


def encoder_of(path: str, name: str | None) -> type[Encoder]:
    """The encoder that was named, else the one of the file's ending; RequestError for none."""
    ending = path.rpartition("/")[2].rpartition(".")
    known = name or (_ENDINGS.get(ending[2].lower()) if ending[0] else None)
    if known is None:
        raise RequestError(
            f"-o {path}: the ending says no format; use .csv .json .jsonl .arrow .parquet, or --as"
        )
    return ENCODERS[known]


def stream_of(name: str) -> type[Encoder]:
    """The encoder for stdout; RequestError where the format needs a file."""
    if name not in STREAMS:
        raise RequestError(f"{name} goes to a file (-o); stdout takes {', '.join(STREAMS)}")
    return STREAMS[name]
