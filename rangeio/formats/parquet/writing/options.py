"""What can be said about how a Parquet file is written, and how pyarrow's writer is told."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.errors import NoSuchColumn, RequestError
from rangeio.formats.format import chosen

MOST_ROWS = 1 << 26
"""pyarrow cuts longer row groups itself."""

Names: TypeAlias = str | Sequence[str]
Filters: TypeAlias = Names | Mapping[str, bool | Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class ParquetOptions:
    """How a Parquet file is written. Raises RequestError for a value that cannot be.

    A column is named by its path with dots, as ``v.a`` or ``tags.list.element``; the name of a
    struct or list stands for all leaves below it.

    Args:
        compression: a codec (none, snappy, gzip, brotli, zstd, lz4), or codecs by column; columns
            that are not named have snappy.
        compression_level: the codec's level, or levels by column.
        row_group_size: rows of a row group. By default 1,048,576, and fewer where rows that come
            batch by batch would hold more than 256 MiB until their row group is full.
        data_page_size: bytes of a page before compression, roughly; 1 MiB by default.
        max_rows_per_page: rows of a page; 20,000 by default.
        page_index: write the column and offset index, so that readers can skip pages.
        bloom_filters: columns to write a bloom filter for; or by column True, or ``ndv`` (distinct
            values, by default the rows of a row group) and ``fpp`` (of false positives, 0.05).
        dictionary: whether to use dictionaries, or the columns to use them for.
        statistics: whether to write minimum, maximum and null count, or the columns.
        page_checksums: write a CRC32 of every page.
        data_page_version: "1.0" or "2.0".
        store_schema: keep the Arrow schema in the file, for types that Parquet has not.
        flatbuffer_footer: add the footer as a FlatBuffer too, a proposal that was not adopted;
            readers that know nothing of it skip it.
    """

    compression: str | Mapping[str, str] | None = "snappy"
    compression_level: int | Mapping[str, int] | None = None
    row_group_size: int | None = None
    data_page_size: int | None = None
    max_rows_per_page: int | None = None
    page_index: bool = True
    bloom_filters: Filters | None = None
    dictionary: bool | Names = True
    statistics: bool | Names = True
    page_checksums: bool = False
    data_page_version: str = "1.0"
    store_schema: bool = True
    flatbuffer_footer: bool = False

    def __post_init__(self) -> None:
        for name in ("row_group_size", "data_page_size", "max_rows_per_page"):
            # pyarrow takes a page of no rows, and then all memory there is.
            if not _whole(getattr(self, name)):
                raise RequestError(f"{name}= must be a whole number of 1 or more")
        if self.row_group_size is not None and self.row_group_size > MOST_ROWS:
            raise RequestError(f"row_group_size= must be at most {MOST_ROWS:,}")
        for name in ("page_index", "page_checksums", "store_schema", "flatbuffer_footer"):
            if not isinstance(getattr(self, name), bool):
                raise RequestError(f"{name}= must be True or False")

    @classmethod
    def of(cls, words: Mapping[str, object]) -> ParquetOptions:
        """The options of these words; RequestError lists all where one is unknown."""
        return chosen(cls, words, "Parquet files")


def _whole(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def arrow_words(options: ParquetOptions, schema: pa.Schema, rows: int) -> dict[str, Any]:
    """The words of pq.ParquetWriter; rows: of a row group, at most."""
    paths = _Paths(schema)
    words: dict[str, Any] = {
        "compression": _codecs(options.compression, paths),
        "compression_level": _levels(options.compression_level, paths),
        "use_dictionary": _columns(options.dictionary, paths),
        "write_statistics": _columns(options.statistics, paths),
        "write_page_index": options.page_index,
        "write_page_checksum": options.page_checksums,
        "data_page_version": options.data_page_version,
        "data_page_size": options.data_page_size,
        "store_schema": options.store_schema,
    }
    # Older versions of pyarrow do not know these.
    if options.max_rows_per_page is not None:
        words["max_rows_per_page"] = options.max_rows_per_page
    if options.bloom_filters is not None:
        words["bloom_filter_options"] = _blooms(options.bloom_filters, paths, rows)
    return words


class _Paths:
    """The leaves of a schema as pyarrow's Parquet writer names them, looked up when asked for."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._all: list[str] = []
        self._below: dict[str, list[str]] = {}

    def below(self, name: object) -> list[str]:
        """The leaves at or below a name; NoSuchColumn where there is none."""
        self.all()
        found = self._below.get(name) if isinstance(name, str) else None
        if found is None:
            near = difflib.get_close_matches(str(name), self._below, 3)
            meant = f"; did you mean {' or '.join(near)}?" if near else ""
            raise NoSuchColumn(f"no column is called {name!r}{meant}")
        return found

    def all(self) -> list[str]:
        """Every leaf."""
        if not self._all:
            schema = pq.read_metadata(pa.BufferReader(empty_file(self._schema))).schema
            self._all = [schema.column(i).path for i in range(len(schema))]
            for path in self._all:
                parts = path.split(".")
                for n in range(1, len(parts) + 1):
                    self._below.setdefault(".".join(parts[:n]), []).append(path)
        return self._all


def empty_file(schema: pa.Schema) -> bytes:
    """A file of no rows: what pyarrow makes of a schema, or its refusal of it."""
    out = pa.BufferOutputStream()
    pq.ParquetWriter(out, schema).close()
    return bytes(out.getvalue())


def _listed(names: Names) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _columns(value: bool | Names, paths: _Paths) -> bool | list[str]:
    if isinstance(value, bool):
        return value
    return [leaf for name in _listed(value) for leaf in paths.below(name)]


def _codecs(value: str | Mapping[str, str] | None, paths: _Paths) -> str | dict[str, str]:
    if not isinstance(value, Mapping):
        return value or "none"
    # pyarrow would leave the columns that are not named uncompressed.
    codecs = dict.fromkeys(paths.all(), "snappy")
    for name, codec in value.items():
        codecs.update(dict.fromkeys(paths.below(name), codec))
    return codecs


def _levels(value: int | Mapping[str, int] | None, paths: _Paths) -> int | dict[str, int] | None:
    if not isinstance(value, Mapping):
        return value
    return {leaf: level for name, level in value.items() for leaf in paths.below(name)}


def _blooms(value: Filters, paths: _Paths, rows: int) -> dict[str, dict[str, float]]:
    given = value if isinstance(value, Mapping) else dict.fromkeys(_listed(value), True)
    out: dict[str, dict[str, float]] = {}
    for name, words in given.items():
        if words is False:
            continue
        chosen = dict(words) if isinstance(words, Mapping) else {}
        if not (words is True or isinstance(words, Mapping)) or {*chosen} - {"ndv", "fpp"}:
            raise RequestError(f"a bloom filter of {name!r} takes ndv and fpp, or True")
        for leaf in paths.below(name):
            out[leaf] = {"ndv": max(rows, 1), **chosen}
    return out
