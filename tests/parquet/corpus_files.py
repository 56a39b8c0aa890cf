"""Parquet files of every writer, codec, page version, encoding and shape, made when asked for.

``CASES`` is all of them by name; :func:`made` gives the bytes of one.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from parquet_columns import FLAT, NESTED, table, wrapped
from peer_files import PEERS, Maker

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "parquet-testing"
ROWS = 450

MIXED = ["int64", "int64_low", "double", "bool", "string", "stamp_us_utc", "decimal128", "fixed_3"]
SHAPES = ["category", "struct", "list_string", "list_struct", "map", "struct_list"]
NUMBERS = ["int8", "uint16", "int32", "uint64", "date32", "time_ns", "stamp_ms", "int64_low"]
TEXTS = ["string", "binary", "large_string", "list_string", "struct_views"]
FIXED = ["float", "double", "halffloat", "int32", "int64", "fixed_16", "decimal128", "decimal64"]


def arrow(content: pa.Table, **options: Any) -> bytes:
    """What pyarrow writes of a table; row groups of 200 rows where nothing else is said."""
    sink = io.BytesIO()
    rows = options.pop("row_group_size", 200)
    pq.write_table(content, sink, row_group_size=rows, **options)
    return sink.getvalue()


def _mixed(**options: Any) -> bytes:
    return arrow(table([*MIXED, *SHAPES], ROWS), **options)


def _encoded(names: Sequence[str], encoding: str, version: str) -> bytes:
    """The columns in one encoding; nested ones by their leaves."""
    content = table(list(names), ROWS)
    sink = io.BytesIO()
    pq.write_table(content.slice(0, 0), sink)
    leaves = pq.ParquetFile(pa.BufferReader(sink.getvalue())).schema
    paths = [leaves.column(i).path for i in range(len(leaves))]
    return arrow(
        content,
        use_dictionary=False,
        column_encoding=dict.fromkeys(paths, encoding),
        data_page_version=version,
        data_page_size=900,
        write_batch_size=64,
    )


# ---- pyarrow: codecs, pages, encodings ---------------------------------------------------------

VIEWS = ("string_view", "binary_view", "struct_views")
CODECS = ("none", "snappy", "gzip", "zstd", "lz4", "brotli")
ENCODINGS: dict[str, Sequence[str]] = {
    "PLAIN": [*MIXED, *SHAPES],
    "RLE": ["bool"],
    "DELTA_BINARY_PACKED": NUMBERS,
    "DELTA_LENGTH_BYTE_ARRAY": TEXTS[:4],
    "DELTA_BYTE_ARRAY": [*TEXTS[:4], "fixed_16"],
    "BYTE_STREAM_SPLIT": FIXED,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "checksums": {"write_page_checksum": True, "data_page_size": 600, "write_batch_size": 50},
    "page_index": {"write_page_index": True, "max_rows_per_page": 40},
    "bloom": {"bloom_filter_options": {"string": {"ndv": 700, "fpp": 0.01}, "int64": {"ndv": 99}}},
    "int96": {"use_deprecated_int96_timestamps": True},
    "decimal_integers": {"store_decimal_as_integer": True},
    "no_arrow_schema": {"store_schema": False},
    "no_statistics": {"write_statistics": False},
    "plain_nested_names": {"use_compliant_nested_type": False},
    "version_1.0": {"version": "1.0"},
    "version_2.4": {"version": "2.4"},
    "small_dictionary": {"dictionary_pagesize_limit": 64, "data_page_size": 500},
    "millis": {"coerce_timestamps": "ms", "allow_truncated_timestamps": True},
    "utc_times": {"write_time_adjusted_to_utc": True},
    "one_row_groups": {"row_group_size": 97, "data_page_version": "2.0"},
    "chunked_by_content": {"use_content_defined_chunking": True},
    "sorted": {"sorting_columns": [pq.SortingColumn(0), pq.SortingColumn(3, descending=True)]},
}


def _pyarrow() -> dict[str, Maker]:
    cases: dict[str, Maker] = {}
    for codec in CODECS:
        for pages in ("1.0", "2.0"):
            cases[f"codec-{codec}-{pages}"] = partial(
                _mixed, compression=codec, data_page_version=pages, data_page_size=2000
            )
    for encoding, names in ENCODINGS.items():
        for pages in ("1.0", "2.0"):
            cases[f"encoding-{encoding}-{pages}"] = partial(_encoded, names, encoding, pages)
    for name, options in SETTINGS.items():
        cases[f"setting-{name}"] = partial(_mixed, **options)
    for name in [*FLAT, *NESTED]:
        cases[f"type-{name}"] = partial(_typed, name)
    for name in ("lz4", "brotli", "zstd"):
        cases[f"types-all-{name}"] = partial(_all_types, name)
    return cases


def _typed(name: str) -> bytes:
    """A type alone and below others. Views cannot be sliced, so they come in one row group."""
    if name in VIEWS:
        content = wrapped(name, 240).drop_columns(["in_list_struct"]) if name in FLAT else None
        return arrow(table([name], ROWS) if content is None else content, row_group_size=ROWS)
    if name in NESTED:
        return arrow(table([name], ROWS))
    return arrow(wrapped(name, 240), row_group_size=100)


def _all_types(codec: str) -> bytes:
    return arrow(table([*FLAT, *NESTED], 200), compression=codec)


# ---- shapes of files ---------------------------------------------------------------------------


def _groups(content: pa.Table, sizes: Sequence[int]) -> bytes:
    """Row groups of these sizes, empty ones among them."""
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, content.schema) as writer:
        at = 0
        for size in sizes:
            writer.write_table(content.slice(at, size))
            at += size
    return sink.getvalue()


def _identified() -> bytes:
    """Field ids on columns, struct fields and list items, negative and unordered."""

    def tag(number: int) -> dict[bytes, bytes]:
        return {b"PARQUET:field_id": str(number).encode()}

    inner = pa.struct(
        [pa.field("x", pa.int32(), metadata=tag(31)), pa.field("y", pa.string(), metadata=tag(7))]
    )
    fields = [
        pa.field("a", pa.int64(), metadata=tag(900)),
        pa.field("s", inner, metadata=tag(5)),
        pa.field("l", pa.list_(pa.field("element", pa.int64(), metadata=tag(1))), metadata=tag(2)),
        pa.field("z", pa.string(), False, metadata={**tag(100_000), b"unit": b"words"}),
    ]
    rows = [{"x": i, "y": str(i)} if i % 3 else None for i in range(50)]
    lists = [list(range(i % 4)) for i in range(50)]
    arrays = [
        pa.array(range(50)),
        pa.array(rows, inner),
        pa.array(lists, fields[2].type),
        pa.array([f"z{i}" for i in range(50)]),
    ]
    return arrow(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), row_group_size=20)


NAMES = [
    "a.b",
    "a",
    "a.b.c",
    "ünï·code",
    "名前",
    "",
    " ",
    "x\ty",
    "list",
    "element",
    "key_value",
    "*",
]


def _named() -> bytes:
    """Names that look like paths, globs and words of the format; and structs of such names."""
    struct = pa.array([{"b": i, "b.c": str(i), "": 2.5} for i in range(9)])
    columns = [pa.array(range(i, i + 9)) if name != "a" else struct for i, name in enumerate(NAMES)]
    return arrow(pa.table(columns, names=NAMES))


def _repeated_names() -> bytes:
    columns = [pa.array(range(5)), pa.array(list("abcde")), pa.array([{"x": i} for i in range(5)])]
    return arrow(pa.table([*columns, columns[0]], names=["same", "same", "same", "other"]))


def _required() -> bytes:
    """Nothing may be null: no definition levels at all, or only of lists."""
    inner = pa.struct([pa.field("x", pa.int32(), False), pa.field("y", pa.string(), False)])
    fields = [
        pa.field("i", pa.int64(), False),
        pa.field("t", pa.string(), False),
        pa.field("s", inner, False),
        pa.field("l", pa.list_(pa.field("element", pa.int32(), False)), False),
    ]
    rows = range(250)
    arrays = [
        pa.array(rows),
        pa.array([f"t{i % 9}" for i in rows]),
        pa.array([{"x": i, "y": "y" * (i % 5)} for i in rows], inner),
        pa.array([list(range(i % 3)) for i in rows], fields[3].type),
    ]
    return arrow(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), row_group_size=100)


def _all_null() -> bytes:
    names = ["int32", "string", "list", "struct", "category", "uuid"]
    kinds = [(FLAT | NESTED)[name](1, np.random.default_rng(1)).type for name in names]
    return arrow(pa.table([pa.nulls(500, kind) for kind in kinds], names=names))


def _described() -> bytes:
    words = {"who": "me", "umlaut": "ü", "empty": "", "long": "x" * 5000, b"raw\xff": b"\x00\xff"}
    return arrow(table(["int32", "string"], 100).replace_schema_metadata(words))


def _differing_dictionaries() -> bytes:
    """Every row group has another dictionary; some of its columns none at all."""
    parts = [
        pa.table({"c": pa.array([f"{g}-{i % (g + 2)}" for i in range(60)]).dictionary_encode()})
        for g in range(4)
    ]
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    return sink.getvalue()


def _shapes() -> dict[str, Maker]:
    many = [*MIXED, *SHAPES]
    return {
        "no_rows": lambda: arrow(table(many, 0)),
        "no_row_groups": lambda: _groups(table(many, 0), []),
        "empty_row_groups": lambda: _groups(table(many, 30), [0, 10, 0, 0, 20, 0]),
        "uneven_row_groups": lambda: _groups(table(many, 400), [1, 300, 2, 97]),
        "one_row": lambda: arrow(table([*FLAT, *NESTED], 1)),
        "no_columns": lambda: arrow(pa.table({})),
        "no_columns_but_rows": lambda: arrow(table(["int32"], 9).select([])),
        "field_ids": _identified,
        "names": _named,
        "repeated_names": _repeated_names,
        "required": _required,
        "all_null": _all_null,
        "metadata": _described,
        "dictionaries": _differing_dictionaries,
        "wide": lambda: arrow(pa.table({f"f{i:04d}": [i, None, -i] for i in range(150)})),
    }


CASES: dict[str, Maker] = {
    f"{writer}-{name}": make
    for writer, cases in (
        ("pyarrow", _pyarrow()),
        ("shape", _shapes()),
        *PEERS.items(),
    )
    for name, make in cases.items()
}


@cache
def made(name: str) -> bytes:
    """The bytes of a case."""
    return CASES[name]()
