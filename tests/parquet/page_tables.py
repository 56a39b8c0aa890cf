"""Tables of many types whose pages are cut at known rows, as pyarrow writes them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from page_files import Taken, encoded

ROWS, GROUP, PAGE = 1200, 700, 50


def values(kind: pa.DataType, make: Any, required: bool = False) -> tuple[pa.Field, pa.Array]:
    """A field and its rows: every seventh is null unless it is required."""
    rows = [make(i) if required or i % 7 else None for i in range(ROWS)]
    return pa.field("x", kind, nullable=not required), pa.array(rows, kind)


@cache
def table() -> pa.Table:
    point = pa.struct([("a", pa.int32()), ("b", pa.string())])
    deep = pa.struct([("p", point), ("l", pa.list_(pa.int64()))])
    day = datetime.date(2020, 1, 1)
    made = {
        "int64": values(pa.int64(), lambda i: i * 37),
        "int32_required": values(pa.int32(), lambda i: -i, required=True),
        "uint8": values(pa.uint8(), lambda i: i % 256),
        "double": values(pa.float64(), lambda i: i / 3),
        "half": values(pa.float16(), lambda i: np.float16(i)),
        "bool": values(pa.bool_(), lambda i: i % 3 == 0),
        "bool_required": values(pa.bool_(), lambda i: i % 5 == 0, required=True),
        "time": values(pa.timestamp("us", "Europe/Paris"), lambda i: i * 10**6),
        "seconds": values(pa.timestamp("s"), lambda i: i * 86_400),
        "duration": values(pa.duration("ms"), lambda i: i),
        "date": values(pa.date32(), lambda i: day + datetime.timedelta(i)),
        "string": values(pa.string(), lambda i: f"text {i}" * (i % 4)),
        "few_strings": values(pa.large_string(), lambda i: f"one of {i % 9}"),
        "view": values(pa.string_view(), lambda i: f"a view of {i}"),
        "category": values(pa.dictionary(pa.int8(), pa.string()), lambda i: f"kind {i % 5}"),
        "binary": values(pa.binary(), lambda i: bytes(i % 40)),
        "fixed": values(pa.binary(5), lambda i: i.to_bytes(5, "big")),
        "decimal": values(pa.decimal128(20, 3), lambda i: Decimal(i) / 8),
        "null": values(pa.null(), lambda i: None),
        "list": values(pa.list_(pa.int64()), lambda i: [*range(i % 4), None][: i % 5]),
        "lists": values(pa.list_(pa.list_(pa.string())), lambda i: [[str(i)] * (i % 3)] * (i % 4)),
        "struct": values(point, lambda i: {"a": i, "b": None if i % 3 else str(i)}),
        "structs": values(pa.list_(point), lambda i: [{"a": i, "b": str(k)} for k in range(i % 4)]),
        "deep": values(deep, lambda i: {"p": {"a": i, "b": "b"}, "l": [i] * (i % 3)}),
        "map": values(
            pa.map_(pa.string(), pa.int32()), lambda i: [(str(k), i) for k in range(i % 3)]
        ),
        "fixed_list": values(pa.list_(pa.int16(), 2), lambda i: [i, i + 1], required=True),
    }
    fields = [field.with_name(name) for name, (field, _) in made.items()]
    return pa.Table.from_arrays([array for _, array in made.values()], schema=pa.schema(fields))


@cache
def written(**options: Any) -> Taken:
    chosen = {"row_group_size": GROUP, "max_rows_per_page": PAGE, **options}
    return Taken(encoded(table(), **chosen))


@cache
def made() -> Taken:
    """Pages of 10 rows: numbers, texts, lists, structs with nulls, all-null pages among them."""
    rows = range(300)
    table = pa.table(
        {
            "n": pa.array([None if 100 <= i < 140 or i % 7 == 0 else i for i in rows], pa.int64()),
            "t": pa.array([f"text {i % 50:02}" if i % 3 else None for i in rows]),
            "f": pa.array([float(i) for i in rows]),
            "l": pa.array([[i] * (i % 3) if i % 5 else None for i in rows]),
            "s": pa.array([{"a": i, "b": str(i)} if i % 4 else None for i in rows]),
        }
    )
    return Taken(encoded(table, max_rows_per_page=10, row_group_size=200))
