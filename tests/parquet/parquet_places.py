"""Where things lie in a Parquet file, read from its Thrift footer by the generic tree."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.codecs import thrift

Range = tuple[int, int]


@dataclass(frozen=True)
class Page:
    """A data page: its bytes, and its rows, counted in the file."""

    at: Range
    rows: Range


def footer_range(data: bytes) -> Range:
    """The footer, its length and the magic behind it."""
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little"), len(data)


def metadata(data: bytes) -> pq.FileMetaData:
    """The footer, as pyarrow has it."""
    return pq.ParquetFile(pa.BufferReader(data)).metadata


def chunk_ranges(data: bytes, leaf: int) -> list[Range]:
    """The chunks of one leaf, dictionary pages included, row group by row group."""
    found, footer = [], metadata(data)
    for group in range(footer.num_row_groups):
        chunk = footer.row_group(group).column(leaf)
        start = chunk.data_page_offset
        if chunk.has_dictionary_page:
            start = min(start, chunk.dictionary_page_offset)
        found.append((start, start + chunk.total_compressed_size))
    return found


def pages(data: bytes, leaf: int) -> list[Page]:
    """The data pages of one leaf by its offset indexes, which there must be."""
    tree = tree_of(data)
    found, first = [], 0
    for group in tree.list(4) or []:
        rows = group.integer(3)
        index, _ = thrift.read(data, group.list(1)[leaf].integer(4))
        spots = [(p.integer(1), p.integer(2), p.integer(3)) for p in index.list(1)]
        ends = [one[2] for one in spots[1:]] + [rows]
        found += [
            Page((at, at + size), (first + begin, first + end))
            for (at, size, begin), end in zip(spots, ends, strict=True)
        ]
        first += rows
    return found


def tree_of(data: bytes) -> thrift.Struct:
    """The footer, to be changed."""
    start, _ = footer_range(data)
    return thrift.read(data[start:])[0]


def forged(data: bytes, tree: thrift.Struct) -> bytes:
    """The file with another footer."""
    footer = thrift.write(tree)
    return data[: footer_range(data)[0]] + footer + struct.pack("<I", len(footer)) + b"PAR1"
