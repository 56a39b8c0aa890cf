"""One segment: tables in, pages held until the end, then all of the file in its order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from rangeio.errors import NoSuchColumn, RequestError
from rangeio.formats.doris.types import Declared
from rangeio.formats.doris.words import Encoding, FieldType
from rangeio.formats.doris.writing.column import About, ColumnWriter, Setup
from rangeio.formats.doris.writing.columns import Asked, declared_of, unique_id_of, writer_of
from rangeio.formats.doris.writing.footer import (
    key_pair,
    new_footer,
    write_external,
    write_inline,
)
from rangeio.formats.doris.writing.indexed import write_indexed
from rangeio.formats.doris.writing.options import DorisOptions
from rangeio.formats.doris.writing.outlet import Outlet
from rangeio.formats.doris.writing.shortkey import ShortKey, key_parts
from rangeio.formats.doris.writing.variant import Variant, root_path

STEP = 1 << 16
"""Rows of a column that are taken at once."""
PATHS_PAGE = 1 << 20
"""Bytes of a page of a variant's paths."""
MOST_ROWS = (1 << 32) - 1

VARIANT = Declared(FieldType.VARIANT, length=2147483647)

Top: TypeAlias = ColumnWriter | Variant


class DorisEncoder:
    """One segment that is written. See :class:`Encoder`.

    Doris keeps the pages of a column together, so all pages are held, compressed, until the last
    row has come.
    """

    def __init__(
        self, schema: pa.Schema, options: DorisOptions, out: Callable[[memoryview], None]
    ) -> None:
        if not schema.names:
            raise RequestError("a segment of Doris has one column at least")
        _known(schema, options)
        self._outlet = Outlet(out)
        self._version = options.version
        self._scheme = options.scheme
        self._rows = 0
        abouts = _abouts(schema, options)
        pairs = zip(schema, abouts, strict=True)
        self._columns = [_column(field, about, options) for field, about in pairs]
        declared = [about.declared for about in abouts]
        self._short_key = ShortKey(key_parts(declared, schema.names, options.short_key_columns))

    def write(self, table: pa.Table) -> None:
        """Append rows; the pages that they fill are encoded at once."""
        self._rows += table.num_rows
        if self._rows > MOST_ROWS:
            raise RequestError(f"a segment holds at most {MOST_ROWS:,} rows")
        for k, column in enumerate(self._columns):
            for array in _pieces(table.column(k)):
                column.append(array)
        # After the columns, whose errors have their names.
        self._short_key.append(table)

    def finish(self) -> None:
        """Write the file."""
        for column in self._columns:
            column.finish()
        self._write_pages([one for column in self._columns for one in _writers(column)])
        footer = new_footer(self._rows, self._short_key.write(self._outlet))
        if self._version == 2:
            write_inline(self._outlet, footer, _inline(self._columns))
        else:
            for one in self._columns:
                if isinstance(one, Variant) and one.paths:
                    footer.file_meta_datas.append(self._path_index(one))
            write_external(self._outlet, footer, _external(self._columns))
        self._outlet.pass_on()

    def drop(self) -> None:
        """Let go of all that is held."""
        self._columns = []
        self._outlet = Outlet(lambda data: None)

    def _write_pages(self, writers: Sequence[ColumnWriter]) -> None:
        """All pages: those of one kind together, so that the indexes lie side by side."""
        for one in writers:
            one.write_data(self._outlet)
        for one in writers:
            one.write_ordinals(self._outlet)
        for one in writers:
            one.write_zone_maps(self._outlet)
        for one in writers:
            one.write_blooms(self._outlet)

    def _path_index(self, variant: Variant) -> Any:
        """Write the paths of a variant's columns, which ascend; the pair that names them."""
        index = write_indexed(
            self._outlet,
            variant.paths,
            FieldType.VARCHAR,
            Encoding.PREFIX,
            self._scheme,
            by_value=True,
            page_size=PATHS_PAGE,
        )
        return key_pair(variant.about.unique_id, index)


def _writers(column: Top) -> list[ColumnWriter]:
    """What writes pages, in the order of the file."""
    if not isinstance(column, Variant):
        return [column]
    return [column.root, *column.below, *([] if column.sparse is None else [column.sparse])]


def _metas(columns: Sequence[Top]) -> list[list[Any]]:
    """The metadata of each column, with that of what is below it if it is a variant. Those are
    numbered after all columns of the schema."""
    found = [[one.meta() for one in _writers(column)] for column in columns]
    for column, each in zip(columns, found, strict=True):
        if isinstance(column, Variant):
            each[0].variant_max_subcolumns_count = column.most
    below = [meta for each in found for meta in each[1:]]
    for number, meta in enumerate(below, len(columns)):
        _number(meta, number)
    return found


def _number(meta: Any, number: int) -> None:
    meta.column_id = number
    for child in meta.children_columns:
        _number(child, number)


def _inline(columns: Sequence[Top]) -> list[Any]:
    """The metadata of V2: of the top-level columns, then of what is below variants."""
    metas = _metas(columns)
    return [each[0] for each in metas] + [meta for each in metas for meta in each[1:]]


def _external(columns: Sequence[Top]) -> list[Any]:
    """The metadata of V3: after that of a variant come those of its paths, in their order."""
    metas: list[Any] = []
    for column, each in zip(columns, _metas(columns), strict=True):
        if isinstance(column, Variant) and column.sparse is not None:
            each[0].children_columns.append(each.pop())
        metas += each
    return metas


def _pieces(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    for chunk in column.chunks:
        for at in range(0, len(chunk), STEP):
            yield chunk.slice(at, STEP)


# ---- what is written -----------------------------------------------------------------------------


def _known(schema: pa.Schema, options: DorisOptions) -> None:
    """Raise NoSuchColumn where an option names a column that there is not."""
    for name in [*options.forced, *options.blooms, *options.variants]:
        if name not in schema.names:
            raise NoSuchColumn(f"no column is called {name!r}")


def _abouts(schema: pa.Schema, options: DorisOptions) -> list[About]:
    found, ids = [], set()
    for k, field in enumerate(schema):
        variant = field.name in options.variants
        about = About(
            field.name,
            VARIANT if variant else declared_of(field, field.name),
            number=k,
            unique_id=unique_id_of(field, k),
            nullable=field.nullable,
            path=root_path(field.name, unique_id_of(field, k)) if variant else None,
        )
        if about.unique_id in ids:
            raise RequestError(f"two columns have the unique_id {about.unique_id}")
        ids.add(about.unique_id)
        found.append(about)
    return found


def _column(field: pa.Field, about: About, options: DorisOptions) -> Top:
    setup = Setup(options.defaults, options.scheme, options.page_size, options.dict_page_size)
    asked = Asked(options.forced.get(field.name), options.zone_maps, field.name in options.blooms)
    if field.name in options.variants:
        return Variant(field, about, setup, asked, options.variant_max_subcolumns)
    return writer_of(field, about, setup, asked)
