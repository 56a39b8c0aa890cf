"""The numbers of Doris' segment format, by the names that Doris gives them."""

from __future__ import annotations

import enum
from typing import TypeVar

E = TypeVar("E", bound=enum.IntEnum)


class Encoding(enum.IntEnum):
    """How the values of a page are encoded."""

    UNKNOWN = 0
    DEFAULT = 1
    PLAIN = 2
    PREFIX = 3
    RLE = 4
    DICT = 5
    BIT_SHUFFLE = 6
    FOR = 7
    PLAIN_V2 = 8
    PLAIN_V3 = 9
    """Newer than every source that gave its number: read, never written by default."""


class Compression(enum.IntEnum):
    """How the bodies of a column's pages are compressed."""

    UNKNOWN = 0
    DEFAULT = 1
    NONE = 2
    SNAPPY = 3
    LZ4 = 4
    LZ4F = 5
    ZLIB = 6
    ZSTD = 7
    LZ4HC = 8


class PageType(enum.IntEnum):
    """What a page holds."""

    DATA = 1
    INDEX = 2
    DICTIONARY = 3
    SHORT_KEY = 4


class IndexType(enum.IntEnum):
    """What an index of a column is; readers skip those they do not know."""

    ORDINAL = 1
    ZONE_MAP = 2
    BITMAP = 3
    BLOOM_FILTER = 4


class FieldType(enum.IntEnum):
    """What a column stores."""

    TINYINT = 1
    UTINYINT = 2
    SMALLINT = 3
    USMALLINT = 4
    INT = 5
    UINT = 6
    BIGINT = 7
    UBIGINT = 8
    LARGEINT = 9
    FLOAT = 10
    DOUBLE = 11
    DISCRETE_DOUBLE = 12
    CHAR = 13
    DATE = 14
    DATETIME = 15
    DECIMAL = 16
    VARCHAR = 17
    STRUCT = 18
    ARRAY = 19
    MAP = 20
    UNKNOWN = 21
    NONE = 22
    HLL = 23
    BOOL = 24
    BITMAP = 25
    STRING = 26
    QUANTILE_STATE = 27
    DATEV2 = 28
    DATETIMEV2 = 29
    TIMEV2 = 30
    DECIMAL32 = 31
    DECIMAL64 = 32
    DECIMAL128I = 33
    JSONB = 34
    VARIANT = 35
    AGG_STATE = 36
    DECIMAL256 = 37
    IPV4 = 38
    IPV6 = 39
    TIMESTAMPTZ = 40


NO_ID = 0xFFFFFFFF
"""The unique_id of a Variant's sub-columns: -1 as unsigned."""


def worded(kind: type[E], number: int) -> str:
    """The name of a number, or the number itself where it has none."""
    try:
        return kind(number).name
    except ValueError:
        return f"{kind.__name__} {number}"
