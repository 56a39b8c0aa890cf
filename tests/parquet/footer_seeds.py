"""Small footers of every writer and shape, and how else their content can be spelled."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from parquet_columns import FLAT, NESTED, column

from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, FALSE, I16, I64, LIST, MAP, SET, STRUCT, TRUE, Struct

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "parquet-testing"
LARGEST = 40_000
NESTS = [name for name in NESTED if name != "struct_views"]  # pyarrow cannot slice views
KINDS = [name for name in FLAT if not name.endswith("_view")]


def footer(file: bytes) -> bytes:
    """The FileMetaData of a whole file."""
    size = int.from_bytes(file[-8:-4], "little")
    return file[-8 - size : -8]


def arrow_footer(table: pa.Table, groups: int = 1, **options: Any) -> bytes:
    """What pyarrow writes; without ``ARROW:schema``, which is but one long string."""
    sink = io.BytesIO()
    rows = max(table.num_rows // groups, 1)
    pq.write_table(table, sink, row_group_size=rows, **{"store_schema": False, **options})
    return footer(sink.getvalue())


def doubles(columns: int, rows: int, name: str = "c{}") -> pa.Table:
    """Columns that only differ in their numbers."""
    return pa.table({name.format(i): np.arange(rows * 1.0) * i for i in range(columns)})


def texts(columns: int, rows: int) -> pa.Table:
    """Names and values of many sizes."""
    values = [[f"{i}" * (r % 5 + i % 3) for r in range(rows)] for i in range(columns)]
    return pa.table(values, names=[f"{'n' * (i % 23)}{i}" for i in range(columns)])


def long_texts(columns: int, rows: int) -> pa.Table:
    """Values that make chunks of many hundred bytes, of which statistics have four."""
    values = [[f"{i}" * (50 + 20 * (r % 3)) for r in range(rows)] for i in range(columns)]
    return pa.table(values, names=[f"t{i}" for i in range(columns)])


def mixed(columns: int, rows: int, kinds: Sequence[str] = KINDS) -> pa.Table:
    """Types in no order."""
    draw = random.Random(5)
    values = [column(draw.choice(kinds), rows, i) for i in range(columns)]
    names = [f"{'x' * draw.randrange(9)}{i}" for i in range(columns)]
    return pa.table(values, names=names)


def _peers() -> list[bytes]:
    """What polars and duckdb write."""
    names = ["int32", "double", "string", "bool", "date32", "stamp_us_utc", "list_string"]
    found = []
    for table in (doubles(90, 12), texts(40, 12), mixed(40, 12, names)):
        sink = io.BytesIO()
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        frame.write_parquet(sink, row_group_size=6, statistics="full")
        found.append(footer(sink.getvalue()))
        with TemporaryDirectory() as folder, duckdb.connect() as connection:
            path = Path(folder) / "f.parquet"
            connection.register("content", table)
            connection.execute(f"COPY content TO '{path}' (FORMAT parquet)")
            found.append(footer(path.read_bytes()))
    return found


def _found() -> list[bytes]:
    """Of parquet-testing, where it is there."""
    paths = sorted((DATA / "data").glob("**/*.parquet*"))
    footers = [footer(path.read_bytes()) for path in paths]
    return [data for data in footers if len(data) <= LARGEST]


@cache
def seeds() -> tuple[bytes, ...]:
    """Footers of up to 40,000 bytes; most of them of more than 64 chunks."""
    indexed = {"write_page_index": True, "sorting_columns": [pq.SortingColumn(0)]}
    own = [
        arrow_footer(doubles(20, 8)),
        arrow_footer(doubles(100, 8, "{:07}"), 2, write_statistics=False),
        arrow_footer(doubles(70, 12), 3, **indexed),
        arrow_footer(doubles(12, 60), 10, store_schema=True),
        arrow_footer(doubles(300, 4), write_statistics=False),
        arrow_footer(texts(70, 9), 3),
        arrow_footer(texts(20, 50), 10, version="1.0"),
        arrow_footer(long_texts(33, 6), 2),
        arrow_footer(mixed(60, 9), 3),
        arrow_footer(mixed(25, 40), 8, write_page_index=True),
        arrow_footer(pa.table({name: column(name, 30) for name in NESTS}), 3),
        arrow_footer(mixed(30, 10, NESTS)),
        arrow_footer(doubles(3, 400), 100),
        arrow_footer(pa.table({})),
    ]
    return (*own, *_peers(), *_found())


# ---- the same footer, spelled in another way -----------------------------------------------------


class Speller:
    """Writes a Thrift tree with long heads where short ones would do, numbers with idle bytes and
    fields out of order, each as often as one in ``rarely``."""

    def __init__(self, draw: random.Random, rarely: int) -> None:
        self._draw = draw
        self._rarely = rarely

    def _now(self) -> bool:
        return self._draw.randrange(self._rarely) == 0

    def number(self, value: int) -> bytes:
        """An unsigned varint."""
        own = bytearray(thrift.unsigned(value))
        if self._now():
            idle = self._draw.randint(0, 10 - len(own))
            own[-1] |= 128 if idle else 0
            own += b"\x80" * (idle - 1) + b"\0" * (idle > 0)
        return bytes(own)

    def struct(self, value: Struct) -> bytes:
        """A struct; its fields in any order, now and then."""
        fields = list(value.items())
        if self._now():
            self._draw.shuffle(fields)
        out, last = bytearray(), 0
        for at, (kind, content) in fields:
            if kind in (TRUE, FALSE):
                kind = TRUE if content else FALSE
            if 0 < at - last < 16 and not self._now():
                out.append(at - last << 4 | kind)
            else:
                out += bytes([kind]) + self.number(at << 1 ^ at >> 63)
            out += self.value(kind, content)
            last = at
        return bytes(out) + b"\0"

    def value(self, kind: int, value: Any, *, inside: bool = False) -> bytes:
        """A value of any type."""
        if I16 <= kind <= I64:
            return self.number((value << 1 ^ value >> 63) & (1 << 64) - 1)
        if kind == BINARY:
            return self.number(len(value)) + value
        if kind == STRUCT:
            return self.struct(value)
        if kind in (LIST, SET):
            element, values = value
            short = len(values) < 15 and not self._now()
            head = bytes([(len(values) if short else 15) << 4 | element])
            items = [self.value(element, one, inside=True) for one in values]
            return head + (b"" if short else self.number(len(values))) + b"".join(items)
        assert kind != MAP, "no footer has one"
        return thrift.encoded(kind, value, inside=inside)


def respelt(data: bytes, draw: random.Random, rarely: int = 20) -> bytes:
    """A footer that says the same in other bytes."""
    return Speller(draw, rarely).struct(thrift.read(data)[0])


def ending_in_chunks(data: bytes) -> bytes:
    """A footer that says the same, and of which the last column chunk is the end."""
    tree = thrift.read(data)[0]
    tree[4] = tree.pop(4)
    for group in tree.list(4) or []:
        group[1] = group.pop(1)
    return Speller(random.Random(0), 1 << 60).struct(tree)
