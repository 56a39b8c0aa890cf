"""Where the tables of the FlatBuffer footer have their fields, in both revisions of the schema."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class File(enum.IntEnum):
    """FileMetaData, the root."""

    VERSION = 0
    SCHEMA = 1
    NUM_ROWS = 2
    ROW_GROUPS = 3
    METADATA = 4
    CREATED_BY = 5


class Pair(enum.IntEnum):
    """KeyValue."""

    KEY = 0
    VALUE = 1


class Group(enum.IntEnum):
    """RowGroup."""

    COLUMNS = 0
    TOTAL_BYTE_SIZE = 1
    NUM_ROWS = 2
    SORTING_COLUMNS = 3
    FILE_OFFSET = 4
    TOTAL_COMPRESSED_SIZE = 5
    ORDINAL = 6


class Sorting(enum.IntEnum):
    """SortingColumn."""

    COLUMN = 0
    DESCENDING = 1
    NULLS_FIRST = 2


class Chunk(enum.IntEnum):
    """ColumnChunk. A union takes two slots: which member it is, and the member."""

    METADATA = 0
    CRYPTO = 1


class Meta(enum.IntEnum):
    """ColumnMetadata."""

    CODEC = 0
    NUM_VALUES = 1
    UNCOMPRESSED = 2
    COMPRESSED = 3
    DATA_PAGE = 5
    INDEX_PAGE = 6
    DICTIONARY_PAGE = 7
    STATISTICS = 8
    FULLY_DICTIONARY = 9
    BLOOM_FILTER = 10


class Bloom(enum.IntEnum):
    """BloomFilterInfo."""

    OFFSET = 0
    LENGTH = 1


class Stats(enum.IntEnum):
    """Statistics in the newest revision; the older one has no DISTINCT_COUNT, see Revision."""

    NULL_COUNT = 0
    DISTINCT_COUNT = 1
    MIN = 2
    MIN_LENGTH = 5
    MAX = 6
    MAX_LENGTH = 9
    PREFIX = 10


@dataclass(frozen=True, slots=True)
class Revision:
    """Where SchemaElement has its fields, and what else the revisions do not share.

    shift: how far the bounds in Statistics lie from where :class:`Stats` has them. settled: whether
    the schemas that go by this revision agree on the rest. Those of the older one do not: they have
    null counts of 4 and of 8 bytes, bloom filters as a table and as two numbers, prefixes and
    suffixes of byte arrays that are told apart by nothing, and decimals with the precision first.
    """

    kind: int
    type_length: int
    repetition: int
    name: int
    children: int
    field_id: int
    logical: int
    order: int
    shift: int
    settled: bool


NEWEST = Revision(0, 1, 2, 3, 4, 5, 6, 8, shift=0, settled=True)
OLDER = Revision(1, 5, 2, 0, 6, 7, 3, 8, shift=-1, settled=False)
