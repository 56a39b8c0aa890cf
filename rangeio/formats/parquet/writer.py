"""Parquet files written by pyarrow: row groups as the rows come, the footer at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.errors import RangeIOError, RequestError
from rangeio.formats.parquet.schema.arrowschema import serialized
from rangeio.formats.parquet.writing.options import ParquetOptions, arrow_words, empty_file
from rangeio.formats.parquet.writing.outlet import Outlet, footer_of
from rangeio.formats.parquet.writing.views import without_views

ROWS = 1 << 20
"""Rows of a row group, where nobody says."""

GROUP = 256 << 20
"""Bytes of rows that come piece by piece and are held for one row group, where nobody says."""

LOOSE = 1000
"""So many small tables are joined: each costs memory of its own, column by column."""


class ParquetEncoder:
    """One file; rows are held until they fill a row group. See :class:`Encoder`."""

    def __init__(
        self,
        schema: pa.Schema,
        options: ParquetOptions,
        out: Callable[[memoryview], None],
        rows: int | None,
    ) -> None:
        self._schema = without_views(schema)
        self._cast = self._schema is not schema
        self._extend: Callable[[bytes], bytes] | None = None
        self._most = options.row_group_size or ROWS
        self._budget = None if options.row_group_size else GROUP
        self._loose: list[pa.Table] = []
        self._joined: list[pa.Table] = []
        self._rows = self._bytes = 0
        self._outlet = Outlet(out)
        with _refusing(self._outlet):
            group = min(self._most, self._most if rows is None else rows)
            words = arrow_words(options, self._schema, group)
            if options.flatbuffer_footer:
                self._extend = _extension(self._schema)
            stored = {}
            if self._cast and options.store_schema:
                words["store_schema"] = False
                stored["ARROW:schema"] = serialized(list(schema))
            self._writer = pq.ParquetWriter(self._outlet, self._schema, **words)
            if stored:
                self._writer.add_key_value_metadata(stored)

    def write(self, table: pa.Table) -> None:
        """Append rows; those that fill row groups are encoded at once."""
        if table.num_rows and not self._schema.names:
            raise RequestError("Parquet cannot keep rows of no columns")
        room = self._most - self._rows
        while table.num_rows >= room:
            self._hold(table.slice(0, room))
            self._flush()
            table, room = table.slice(room), self._most
        if table.num_rows:
            self._hold(table)
        if self._budget is not None and self._bytes >= self._budget:
            self._flush()

    def finish(self) -> None:
        """Encode what is held; write indexes, bloom filters and the footer."""
        self._flush()
        if self._extend is not None:
            self._outlet.hold()
        with _refusing(self._outlet):
            self._writer.close()
        if self._extend is not None:
            self._outlet.replace_footer(self._extend)
        self._outlet.pass_on()

    def drop(self) -> None:
        """Let go; pyarrow's writer, which writes a footer even so, is no longer heard."""
        self._outlet.drop()
        self._writer.is_open = False
        self._loose, self._joined = [], []

    def _hold(self, table: pa.Table) -> None:
        self._loose.append(table)
        self._rows += table.num_rows
        if self._budget is not None:
            self._bytes += table.nbytes
        if len(self._loose) == LOOSE:
            self._joined.append(pa.concat_tables(self._loose).combine_chunks())
            self._loose = []

    def _flush(self) -> None:
        """Encode one row group of all that is held."""
        held = [*self._joined, *self._loose]
        self._joined, self._loose = [], []
        rows, self._rows, self._bytes = self._rows, 0, 0
        if rows:
            with _refusing(self._outlet):
                table = pa.concat_tables(held)
                table = table.cast(self._schema) if self._cast else table
                self._writer.write_table(table, row_group_size=rows)


@contextmanager
def _refusing(outlet: Outlet) -> Iterator[None]:
    """What pyarrow refuses becomes a RequestError; what taking its bytes raised stays as it is."""
    try:
        yield
    except RangeIOError:
        raise
    except (pa.ArrowException, OSError, TypeError, ValueError, OverflowError) as error:
        if error is outlet.failed:
            raise
        raise RequestError(f"this cannot be written as Parquet: {error}") from error


def _extension(schema: pa.Schema) -> Callable[[bytes], bytes]:
    """What adds the FlatBuffer to a footer; tried at once, not only after the last row."""
    from rangeio.formats.parquet.flatbuffer.writer import extended

    extended(footer_of(empty_file(schema)))
    return extended


class ParquetWriter:
    """Parquet, as a format to write."""

    name = "parquet"
    suffixes = (".parquet", ".parq", ".pq")

    def options(self, words: Mapping[str, object]) -> ParquetOptions:
        """The options of these words."""
        return ParquetOptions.of(words)

    def encoder(
        self,
        schema: pa.Schema,
        options: ParquetOptions,
        out: Callable[[memoryview], None],
        rows: int | None,
    ) -> ParquetEncoder:
        """An encoder of a new file."""
        return ParquetEncoder(schema, options, out, rows)


WRITER = ParquetWriter()
