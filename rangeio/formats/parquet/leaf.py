"""A leaf of a Parquet schema, and its metadata: its chunks, row group by row group."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.codecs.thrift import Struct
from rangeio.schema import ColumnId

if TYPE_CHECKING:
    from rangeio.formats.parquet.schema.surgery import Origin, Trunk


class Physical(enum.IntEnum):
    """Physical types, by their numbers in the file."""

    BOOLEAN = 0
    INT32 = 1
    INT64 = 2
    INT96 = 3
    FLOAT = 4
    DOUBLE = 5
    BYTE_ARRAY = 6
    FIXED_LEN_BYTE_ARRAY = 7


class Order(enum.IntEnum):
    """What ``min_value`` and ``max_value`` are ordered by: the union ColumnOrder."""

    ABSENT = 0
    TYPE = 1
    IEEE_754_TOTAL = 2
    INT96_TIMESTAMP = 3


@dataclass(frozen=True, slots=True)
class Leaf:
    """One physical leaf.

    index: its position among all leaves of the file. path: names below the root, as in the file
    (``path_in_schema``). kind: the Arrow type it decodes to. element: the SchemaElement (4 name, 1
    type, 2 type_length, 3 repetition, 6 converted_type, 7 scale, 8 precision, 9 field_id, 10
    logicalType). max_definition, max_repetition: its levels. order: of its statistics.
    """

    index: int
    path: tuple[str, ...]
    kind: pa.DataType
    element: Struct
    max_definition: int
    max_repetition: int
    order: Order

    @property
    def physical(self) -> int:
        """The physical type's number; one that no :class:`Physical` has is possible."""
        found = self.element.integer(1)
        return -1 if found is None else found

    @property
    def repeated(self) -> bool:
        """Whether it, or anything above it, is repeated."""
        return self.max_repetition > 0

    @property
    def required(self) -> bool:
        """Whether neither it nor anything above it can be null or repeated."""
        return self.max_definition == 0


Facts = npt.NDArray[np.int64]


class Fact(enum.IntEnum):
    """Columns of the facts array: one row a chunk. Positions are in the file; -1 is absent.

    STATISTICS is the position of the Statistics struct in the chunk's own bytes. FLAGS: 1 the
    chunk is encrypted, 2 it has no ColumnMetaData, 4 it lies in another file. ENCODINGS: a bit for
    each encoding's number. CREATED of a chunk is nothing: the file has it.
    """

    CODEC = 0
    VALUES = 1
    UNCOMPRESSED = 2
    COMPRESSED = 3
    DATA_PAGE = 4
    DICTIONARY_PAGE = 5
    OFFSET_INDEX = 6
    OFFSET_INDEX_SIZE = 7
    COLUMN_INDEX = 8
    COLUMN_INDEX_SIZE = 9
    BLOOM = 10
    BLOOM_SIZE = 11
    PHYSICAL = 12
    ENCODINGS = 13
    STATISTICS = 14
    FLAGS = 15


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """A leaf of which only this was needed so far; its trunk has the rest. kind: the Arrow type."""

    index: int
    repeated: bool
    kind: pa.DataType


@dataclass(frozen=True, eq=False)
class ParquetMeta:
    """The metadata of one leaf: its chunks in the order of the row groups. Immutable, and without
    the footer that it was cut out of.

    column: the id of the Column it belongs to. place: the leaf, or what will make it. chunks: the
    ColumnChunk struct of every row group, as bytes of its own. facts: (row groups, Fact).
    group_rows: rows of every row group. trunk: the top-level field above it; origin: the file; both
    are shared by all leaves that have them.
    """

    column: ColumnId
    place: Leaf | Unread
    chunks: tuple[bytes, ...]
    facts: Facts
    group_rows: npt.NDArray[np.int64]
    trunk: Trunk | None = None
    origin: Origin | None = None

    @cached_property
    def leaf(self) -> Leaf:
        """The leaf, with what its SchemaElement says."""
        if isinstance(self.place, Leaf):
            return self.place
        assert self.trunk is not None
        return self.trunk.leaf(self.place.index, self.place.kind)

    @property
    def index(self) -> int:
        """The leaf's position among all leaves of the file."""
        return self.place.index

    @cached_property
    def weight(self) -> int:
        """Bytes of memory it holds, roughly."""
        return 1000 + sum(len(c) + 40 for c in self.chunks) + int(self.facts.nbytes)

    def fact(self, group: int, which: Fact) -> int:
        """One fact of one chunk; -1 is absent."""
        return int(self.facts[group, which])
