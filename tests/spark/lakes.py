"""Files for the tests of Spark, and what both readers are compared by."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def numbers(rows=100, start=0, columns=4):
    """Columns ``a b c ...`` of doubles that are whole, and a text; some are null."""
    names = "abcdefghijklmnopqrstuvwxyz"[:columns]
    made = {
        name: pa.array(
            [None if (i + k) % 7 == 0 else float(start + i * (k + 1)) for i in range(rows)]
        )
        for k, name in enumerate(names)
    }
    made["id"] = pa.array(range(start, start + rows), pa.int64())
    made["text"] = pa.array([f"t{i % 5}" if i % 11 else None for i in range(rows)])
    return pa.table(made)


def wide(columns=300, rows=20):
    """Many columns of doubles."""
    return pa.table({f"f{i}": [float(i + j) for j in range(rows)] for i in range(columns)})


def nested(rows=30):
    """Structs, lists and maps, with nulls at every level."""
    kept = list(range(rows))
    maps = [None if i % 6 == 0 else [(f"k{j}", j or None) for j in range(i % 4)] for i in kept]
    return pa.table(
        {
            "id": kept,
            "s": [{"x": i, "y": None if i % 3 else f"y{i}"} if i % 5 else None for i in kept],
            "l": [[j if j % 2 else None for j in range(i % 6)] if i % 4 else None for i in kept],
            "ls": [[{"k": i, "v": [i, None]}] * (i % 3) for i in kept],
            "m": pa.array(maps, pa.map_(pa.string(), pa.int64())),
        }
    )


def values(rows=4):
    """Every type that Arrow and Spark have in common, and those that become another."""
    day, at = dt.date(2024, 2, 29), dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
    made = {
        "bool": (pa.bool_(), True),
        "i8": (pa.int8(), -128),
        "i16": (pa.int16(), -32768),
        "i32": (pa.int32(), -(2**31)),
        "i64": (pa.int64(), -(2**63)),
        "u8": (pa.uint8(), 255),
        "u16": (pa.uint16(), 65535),
        "u32": (pa.uint32(), 2**32 - 1),
        "u64": (pa.uint64(), 2**64 - 1),
        "f32": (pa.float32(), 1.5),
        "f64": (pa.float64(), -1e300),
        "text": (pa.string(), "é"),
        "large": (pa.large_string(), "l"),
        "bytes": (pa.binary(), b"\0b"),
        "fixed": (pa.binary(3), b"abc"),
        "day": (pa.date32(), day),
        "us": (pa.timestamp("us"), at),
        "ms": (pa.timestamp("ms"), dt.datetime(2024, 1, 1, 1, 2, 3)),
        "utc": (pa.timestamp("us", "UTC"), at.replace(tzinfo=dt.UTC)),
        "oslo": (pa.timestamp("us", "Europe/Oslo"), at.replace(tzinfo=dt.UTC)),
        "dec9": (pa.decimal128(9, 2), Decimal("-1234567.89")),
        "dec38": (pa.decimal128(38, 10), Decimal("1234567890123456789012345678.0123456789")),
        "dict": (pa.dictionary(pa.int8(), pa.string()), "d"),
    }
    arrays = {
        name: pa.array([value if i % 2 else None for i in range(rows)], kind)
        for name, (kind, value) in made.items()
    }
    return pa.table(arrays)


def put(table, path, **words):
    """Write one Parquet file; its path as text."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **words)
    return str(path)


def rows(frame):
    """All rows, in an order of their own."""
    return sorted((plain(row) for row in frame.collect()), key=repr)


def plain(value):
    """Rows, maps and bytes as what compares and prints."""
    if hasattr(value, "asDict"):
        return tuple((name, plain(one)) for name, one in value.asDict(recursive=False).items())
    if isinstance(value, dict):
        return sorted((key, plain(one)) for key, one in value.items())
    if isinstance(value, list):
        return [plain(one) for one in value]
    return bytes(value) if isinstance(value, bytearray) else value


def load(spark, path, schema=None, **options):
    """A DataFrame of ours."""
    reader = spark.read.format("rangeio").options(**options)
    return (reader.schema(schema) if schema else reader).load(path)


def gets(folder):
    """The GETs of every task that noted its own."""
    return [json.loads(one.read_text()) for one in sorted(Path(folder).glob("*.json"))]
