"""Footers that are large, or laid out as no known writer does: read, and paid for once."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_files import arrow
from parquet_places import footer_range, forged, tree_of

import rangeio
from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, STRUCT, Struct
from rangeio.testing.server import RangeServer

TABLE = pa.table({"a": range(100), "b": [f"{i}" for i in range(100)], "c": np.arange(100) / 7})


def padded(data: bytes, size: int) -> bytes:
    """The file, its footer larger by a value of ``size`` bytes that nobody asks for."""
    tree = tree_of(data)
    pair = Struct({1: (BINARY, b"ballast"), 2: (BINARY, bytes(size))})
    kind, (element, pairs) = tree[5]
    tree[5] = (kind, (element, [*pairs, pair]))
    return forged(data, tree)


def test_a_footer_of_more_than_64_mb():
    data = padded(arrow(TABLE, row_group_size=30), 66 << 20)
    with rangeio.open(data) as file:
        assert file.read(["c", "a"]).equals(TABLE.select(["c", "a"]))
        assert file.metadata_size > 64 << 20
        assert file.read(rows=slice(90, 100)).equals(TABLE.slice(90))


def test_a_large_footer_travels_in_parts_of_which_none_is_read_twice():
    data = padded(arrow(TABLE, row_group_size=30), 20 << 20)
    with (
        RangeServer({"t.parquet": data}) as server,
        rangeio.Session() as session,
        rangeio.open(server.at("t.parquet"), session=session) as file,
    ):
        assert file.read(["c"]).equals(TABLE.select(["c"]))
        parts = sorted((get.start, get.stop) for get in file.trace if not get.cached)
        assert len([get for get in file.trace if get.why == "parquet.footer"]) > 1
    assert all(stop <= start for (_, stop), (start, _) in pairwise(parts))
    assert parts[-1][1] == len(data)
    footer = len(data) - footer_range(data)[0]
    assert footer <= file.trace.bytes_read < footer + (4 << 10)


def in_order(struct: Struct, first: tuple[int, ...]) -> bytes:
    """The struct with these fields first; their ids are written out where they do not ascend."""
    ids = (*(i for i in first if i in struct), *(i for i in struct if i not in first))
    return thrift.rebuilt([(i, struct[i][0], thrift.encoded(*struct[i])) for i in ids])


@pytest.mark.parametrize("order", [(2, 3, 1), (3, 2, 1), (2, 1, 3)], ids=str)
def test_columns_need_not_be_first_in_a_row_group(order):
    data = arrow(TABLE, row_group_size=30)
    tree = tree_of(data)
    groups = [in_order(group, order) for group in tree.list(4)]
    fields = [(i, kind, thrift.encoded(kind, value)) for i, (kind, value) in tree.items()]
    fields = [
        (i, kind, thrift.listed(STRUCT, groups) if i == 4 else value) for i, kind, value in fields
    ]
    footer = thrift.rebuilt(fields)
    start, _ = footer_range(data)
    data = data[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    assert pq.read_table(pa.BufferReader(data)).equals(TABLE), "pyarrow reads it too"
    with rangeio.open(data) as file:
        assert file.read(["b"]).equals(TABLE.select(["b"]))
        assert file.read().equals(TABLE)
