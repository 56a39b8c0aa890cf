"""Parquet files with FlatBuffer footers, and Thrift footers made of nothing but a FlatBuffer."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from flat_builder import Pack, built, in_four_bytes, older
from parquet_columns import FLAT, NESTED, table

from rangeio.codecs import thrift
from rangeio.codecs.thrift import Struct
from rangeio.formats.parquet.flatbuffer.container import found, payload
from rangeio.formats.parquet.flatbuffer.footer import FlatFooter
from rangeio.formats.parquet.flatbuffer.writer import extended
from rangeio.formats.parquet.footer.footer import Footer

KEPT = (1, 3, 4, 5, 6, 7, 9, 10, 11, 14, 15)  # fields of ColumnMetaData that readers need


def parquet(content: pa.Table, **options: Any) -> bytes:
    """What pyarrow writes of a table."""
    sink = io.BytesIO()
    pq.write_table(content, sink, **options)
    return sink.getvalue()


def footer_of(file: bytes) -> bytes:
    """The Thrift FileMetaData of a file."""
    size = int.from_bytes(file[-8:-4], "little")
    return file[-8 - size : -8]


def with_footer(file: bytes, footer: bytes) -> bytes:
    """The file with another footer."""
    body = file[: -8 - len(footer_of(file))]
    return body + footer + len(footer).to_bytes(4, "little") + file[-4:]


def flatbuffer_of(file: bytes) -> bytes | None:
    """The FlatBuffer in a file's footer, None where there is none to rely on."""
    stop = len(file) - 8
    extension = found(memoryview(file), stop - len(footer_of(file)), stop)
    if extension is None:
        return None
    data = payload(extension, memoryview(file)[extension.at.start : extension.at.stop])
    return None if data is None else bytes(data)


def extended_file(file: bytes) -> bytes:
    """The file with a FlatBuffer footer besides its own."""
    return with_footer(file, extended(footer_of(file)))


def flat(file: bytes) -> FlatFooter:
    """The footer of a file by way of a FlatBuffer."""
    data = flatbuffer_of(extended_file(file))
    assert data is not None
    return FlatFooter(memoryview(data))


def leaves(footer: Footer) -> int:
    """How many leaves a footer has."""
    return int((footer.elements.children[1:] == 0).sum())


def chunk_of(footer: Footer, group: int, leaf: int) -> Struct:
    """A ColumnChunk, decoded."""
    return thrift.read(footer.chunk(group, leaf))[0]


def as_thrift(footer: Footer) -> bytes:
    """A FileMetaData made of all that a footer says."""
    count = leaves(footer)
    groups = [
        thrift.rebuilt([(1, thrift.LIST, _listed(chunks)), *footer.group(g)])
        for g in range(len(footer.group_rows))
        for chunks in [[footer.chunk(g, leaf) for leaf in range(count)]]
    ]
    elements = [footer.element(i) for i in range(len(footer.elements.children))]
    pairs = dict(footer.metadata())
    encoded = footer.arrow_schema()
    if encoded is not None:
        pairs[b"ARROW:schema"] = bytes(encoded)
    parts = [
        (1, thrift.I32, thrift.encoded(thrift.I32, 2)),
        (2, thrift.LIST, _listed(elements)),
        (3, thrift.I64, thrift.encoded(thrift.I64, footer.num_rows)),
        (4, thrift.LIST, _listed(groups)),
        *[(5, thrift.LIST, _listed([_pair(k, v) for k, v in pairs.items()]))] * bool(pairs),
        (6, thrift.BINARY, thrift.encoded(thrift.BINARY, footer.created_by.encode())),
    ]
    orders = [footer.order(leaf) for leaf in range(count)]
    if all(orders):
        unions = [thrift.rebuilt([(order, thrift.STRUCT, b"\0")]) for order in orders]
        parts.append((7, thrift.LIST, _listed(unions)))
    return thrift.rebuilt(parts)


def _listed(structs: list[bytes]) -> bytes:
    return thrift.listed(thrift.STRUCT, structs)


def _pair(key: bytes, value: bytes) -> bytes:
    return thrift.write(Struct({1: (thrift.BINARY, key), 2: (thrift.BINARY, value)}))


def streamed(content: pa.Table) -> bytes:
    """A table as bytes, for NaN is not equal to itself."""
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, content.schema) as writer:
        writer.write_table(content.combine_chunks())
    return sink.getvalue()


@cache
def everything() -> bytes:
    """All types, several row groups, bloom filters, a page index, metadata, sorting columns."""
    names = [*FLAT, *(name for name in NESTED if name != "struct_views")]
    names = [name for name in names if not name.endswith("_view")]  # pyarrow cannot slice them
    content = table(names, 300).replace_schema_metadata({"who": "me", "ü": "\0", "empty": ""})
    return parquet(
        content,
        row_group_size=120,
        bloom_filter_options={"string": {"ndv": 300, "fpp": 0.1}, "int64": True},
        write_page_index=True,
        sorting_columns=[pq.SortingColumn(2, descending=True)],
    )


@cache
def old(
    writer: tuple[Pack, bool] = (in_four_bytes, False), file: bytes | None = None
) -> FlatFooter:
    """The footer of a file by way of the older revision."""
    pack, later = writer
    root = older(thrift.read(footer_of(file or everything()))[0], pack, later=later)
    return FlatFooter(memoryview(built(root)))
