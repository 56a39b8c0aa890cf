"""Files made by the Parquet writer, and taken apart with nothing but the Thrift tree."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.codecs import thrift
from rangeio.formats import writer as writer_of
from rangeio.formats.parquet.writing.outlet import footer_of

WRITER = writer_of("parquet")
DATA_PAGE, DICTIONARY_PAGE, DATA_PAGE_V2 = 0, 2, 3
TABLE = pa.table(
    {
        "id": pa.array(range(5000)),
        "word": pa.array([f"word {i % 40}" for i in range(5000)]),
        "v": pa.StructArray.from_arrays(
            [pa.array(np.arange(5000) / 7), pa.array([[i, i] for i in range(5000)])], ["a", "b"]
        ),
    }
)
LEAVES = ["id", "word", "v.a", "v.b.list.element"]


def made(data, schema=None, **words):
    """The bytes of a file of these tables, and checks that they are all of it."""
    tables = [data] if isinstance(data, pa.Table) else data
    schema = tables[0].schema if schema is None else schema
    rows = data.num_rows if isinstance(data, pa.Table) else None
    out = bytearray()
    encoder = WRITER.encoder(schema, WRITER.options(words), out.extend, rows)
    for one in tables:
        encoder.write(one)
    encoder.finish()
    return bytes(out)


def read(data):
    return pq.read_table(pa.BufferReader(data))


def meta(data):
    return pq.read_metadata(pa.BufferReader(data))


def chunks(data, group=0):
    """The ColumnChunk structs of a row group, by the paths of their leaves."""
    footer, _ = thrift.read(footer_of(data))
    found = footer.list(4)[group].list(1)
    return {b".".join(c.struct(3).list(3)).decode(): c for c in found}


def pages(data, chunk):
    """The PageHeader structs of a chunk."""
    about = chunk.struct(3)
    at = about.integer(11) or about.integer(9)
    stop = at + about.integer(7)
    found = []
    while at < stop:
        header, at = thrift.read(data, at)
        found.append(header)
        at += header.integer(3)
    return found


def offset_index(data, chunk):
    return thrift.read(data, chunk.integer(4))[0].list(1)
