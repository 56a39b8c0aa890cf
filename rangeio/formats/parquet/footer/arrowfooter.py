"""A footer of no regular structure, parsed by Arrow: chunks are put together from what it tells.

What Arrow's metadata says of a chunk may end the process where the bytes are hostile: a chunk that
is encrypted, an unknown codec, one column too many, a bound of too few bytes. So a chunk is looked
at only after Arrow's reader, which raises, has got past the same metadata, and statistics are never
asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.codecs import thrift
from rangeio.codecs.thrift import BINARY, I32, I64, LIST, STRUCT, Struct
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.parquet.footer.footer import Int32, Part, Tabled, one_by_one
from rangeio.formats.parquet.footer.scan import elements, field, value_end
from rangeio.formats.parquet.leaf import Physical
from rangeio.formats.sparsefile import Missed, SparseFile
from rangeio.ranges import ByteRange

_ERRORS = (pa.ArrowException, OSError, ValueError, RuntimeError)
_MAGIC = b"PAR1"
_LOOK = 1 << 16  # bytes at the end of a file that Arrow reads before it knows the footer's size
_BUFFER = 1 << 10  # with any, data is first read when all that is said of a chunk was looked at
_SIZE = 1 << 62  # of the file that the footer says it is of: no chunk lies beyond it
_ARROW_SCHEMA = b"ARROW:schema"
_CHUNK_WEIGHT = 900  # bytes that Arrow keeps for a chunk, roughly

_CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "ZSTD": 6, "LZ4": 7}
_ENCODINGS = {
    "PLAIN": 0,
    "PLAIN_DICTIONARY": 2,
    "RLE": 3,
    "BIT_PACKED": 4,
    "DELTA_BINARY_PACKED": 5,
    "DELTA_LENGTH_BYTE_ARRAY": 6,
    "DELTA_BYTE_ARRAY": 7,
    "RLE_DICTIONARY": 8,
    "BYTE_STREAM_SPLIT": 9,
}


class ArrowFooter:
    """See :class:`Footer`, in ``footer.py``; without statistics and page indexes.

    Raises Corrupt where Arrow refuses the footer, or a chunk when it is asked for.
    """

    data = memoryview(b"")

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._table, leaves = _schema(data)
        self.elements = Tabled(self._table)
        try:
            self._source = _file(data)
            # A count in a few bytes could ask for gigabytes: nothing has more parts than bytes.
            self._file = pq.ParquetFile(
                self._source,
                buffer_size=_BUFFER,
                thrift_string_size_limit=len(data),
                thrift_container_size_limit=len(data),
            )
            self._meta = self._file.metadata
            groups = [self._meta.row_group(i) for i in range(self._meta.num_row_groups)]
            rows = [group.num_rows for group in groups]
            widths = {group.num_columns for group in groups} | {self._meta.num_columns}
            self.created_by: str = self._meta.created_by or ""
        except _ERRORS as error:
            raise Corrupt(f"Arrow refuses the footer: {error}") from None
        if widths != {leaves} or min([self._meta.num_rows, *rows]) < 0:
            raise Corrupt(f"row groups of {sorted(widths)} chunks for {leaves} leaves")
        self.num_rows: int = self._meta.num_rows
        self.group_rows = np.array(rows, np.int64)
        self.weight = 2 * len(data) + leaves * len(rows) * _CHUNK_WEIGHT

    def name(self, element: int) -> bytes:
        """The name of a schema element."""
        start, size = self._table[element, 2:4].tolist()
        return bytes(self._data[start : start + size])

    def named(self, name: bytes) -> Sequence[int]:
        """The elements of this name, but for the root."""
        alike = (np.flatnonzero(self._table[1:, 3] == len(name)) + 1).tolist()
        return [i for i in alike if self.name(i) == name]

    def element(self, element: int) -> bytes:
        """A SchemaElement as a Thrift struct."""
        start, stop = self._table[element, :2].tolist()
        return bytes(self._data[start:stop])

    def described(self) -> Iterable[bytes | memoryview]:
        """The elements, one by one."""
        return one_by_one(self)

    def chunk(self, group: int, leaf: int) -> bytes:
        """A ColumnChunk as a Thrift struct; Corrupt where Arrow refuses it, Unsupported where its
        codec has no name in Arrow.
        """
        self._try(group, leaf)
        try:
            column = self._meta.row_group(group).column(leaf)
            return thrift.write(_chunk(column, self._path(leaf)))
        except _ERRORS as error:
            raise Corrupt(f"Arrow refuses chunk {leaf} of row group {group}: {error}") from None

    def _try(self, group: int, leaf: int) -> None:
        """Have Arrow read the chunk: only where it comes to ask for its data is all well."""
        self._source.missed = None
        try:
            self._file.reader.read_row_group(group, column_indices=[leaf], use_threads=False)
        except Missed:
            return
        except _ERRORS as error:
            if self._source.missed is not None:
                return
            raise Corrupt(f"Arrow refuses chunk {leaf} of row group {group}: {error}") from None
        if self.group_rows[group]:
            raise Corrupt(f"chunk {leaf} of row group {group} has no data")

    def group(self, group: int) -> Sequence[Part]:
        """The fields of a RowGroup, but for its columns (1) and sorting_columns (4)."""
        found = self._meta.row_group(group)
        sizes = ((2, found.total_byte_size), (3, found.num_rows))
        return [(i, I64, thrift.encoded(I64, size)) for i, size in sizes]

    def order(self, leaf: int) -> int:
        """0: without statistics it is of no use, and Arrow does not tell."""
        return 0

    def metadata(self) -> dict[bytes, bytes]:
        """key_value_metadata without ``ARROW:schema``."""
        return {k: v for k, v in self._pairs.items() if k != _ARROW_SCHEMA}

    def arrow_schema(self) -> memoryview | None:
        """The value of ``ARROW:schema``, base64, where there is one."""
        found = self._pairs.get(_ARROW_SCHEMA)
        return None if found is None else memoryview(found)

    @cached_property
    def _pairs(self) -> dict[bytes, bytes]:
        return dict(self._meta.metadata or {})

    # ---- names from the root to a leaf -----------------------------------------------------------

    def _path(self, leaf: int) -> list[bytes]:
        parents, leaves = self._tree
        names, at = [], int(leaves[leaf])
        while at:
            names.append(self.name(at))
            at = int(parents[at])
        return names[::-1]

    @cached_property
    def _tree(self) -> tuple[Int32, Int32]:
        """The parent of every element, and the elements that are leaves."""
        children = self.elements.children
        parents = np.zeros(len(children), np.int32)
        above: list[list[int]] = []  # groups that have children to come: [element, how many]
        for at, count in enumerate(children.tolist()):
            if above:
                parents[at] = above[-1][0]
                above[-1][1] -= 1
                if not above[-1][1]:
                    above.pop()
            if count:
                above.append([at, count])
        return parents, (np.flatnonzero(children[1:] == 0) + 1).astype(np.int32)


def _schema(data: memoryview) -> tuple[Int32, int]:
    """The table of the elements, and how many are leaves: field 2 alone is looked for."""
    try:
        last, kind, at = field(data, 0, 0)
        while kind >= 0:
            if last == 2:
                return elements(data, at, kind)[:2]
            last, kind, at = field(data, value_end(data, at, kind, 0), last)
    except IndexError:
        raise Corrupt("the footer ends before its last byte", offset=len(data)) from None
    raise Corrupt("a footer without a schema")


def _file(data: memoryview) -> SparseFile:
    """A file that has the footer at its end, and before it nothing that can be read."""
    tail = b"".join((bytes(_LOOK), data, len(data).to_bytes(4, "little"), _MAGIC))
    return SparseFile(_SIZE, [(ByteRange(_SIZE - len(tail), _SIZE), memoryview(tail))])


def _chunk(column: pq.ColumnChunkMetaData, path: list[bytes]) -> Struct:
    if column.compression not in _CODECS:
        raise Unsupported(f"Arrow has no name for the codec of {b'.'.join(path)!r}")
    if column.physical_type not in Physical.__members__:
        raise Corrupt(f"Arrow has no name for the physical type of {b'.'.join(path)!r}")
    encodings = [_ENCODINGS[name] for name in column.encodings if name in _ENCODINGS]
    meta = Struct(
        {
            1: (I32, int(Physical[column.physical_type])),
            2: (LIST, (I32, encodings)),
            3: (LIST, (BINARY, path)),
            4: (I32, _CODECS[column.compression]),
            5: (I64, column.num_values),
            6: (I64, column.total_uncompressed_size),
            7: (I64, column.total_compressed_size),
            9: (I64, column.data_page_offset),
        }
    )
    optional = (
        (11, I64, column.dictionary_page_offset),
        (14, I64, column.bloom_filter_offset),
        (15, I32, column.bloom_filter_length),
    )
    meta.update({i: (kind, value) for i, kind, value in optional if value is not None})
    chunk = Struct({2: (I64, column.file_offset), 3: (STRUCT, meta)})
    if column.file_path:
        chunk[1] = (BINARY, column.file_path.encode())
    return chunk
