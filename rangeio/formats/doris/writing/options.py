"""What can be said about how a segment is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rangeio.errors import RequestError
from rangeio.formats.doris.words import Compression, Encoding
from rangeio.formats.format import chosen

SCHEMES = {
    "none": Compression.NONE,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "lz4f": Compression.LZ4F,
    "zlib": Compression.ZLIB,
    "zstd": Compression.ZSTD,
}
ENCODINGS = {
    "plain": Encoding.PLAIN,
    "plain_v2": Encoding.PLAIN_V2,
    "plain_v3": Encoding.PLAIN_V3,
    "prefix": Encoding.PREFIX,
    "rle": Encoding.RLE,
    "dict": Encoding.DICT,
    "bit_shuffle": Encoding.BIT_SHUFFLE,
}
MOST_PAGE = 10 << 20
"""Bytes of a page: what Doris allows a table to set."""

_FLAGS = ("zone_maps",)
_NAMES = ("bloom_filter_columns", "variant")


@dataclass(frozen=True, slots=True)
class DorisOptions:
    """How a segment is written. Raises RequestError for a value that cannot be.

    Args:
        version: 3 keeps each column's metadata in a region of its own, behind a directory; 2 keeps
            all of it in the footer.
        compression: of pages: none, snappy, lz4, lz4f, zlib, zstd. A page is stored as it is
            where that saves less than a tenth.
        page_size: bytes of a data page before compression, roughly: a page ends with the value
            that fills it.
        dict_page_size: bytes of a column's dictionary; the pages after the one that fills it are
            plain.
        encodings: "doris" for what Doris writes by default in this version; "v2" or "v3" for what
            it writes in that one, whatever the footer; or encodings by column (plain, plain_v2,
            plain_v3, prefix, rle, dict, bit_shuffle), other columns as with "doris".
        zone_maps: write the bounds of every page and of the segment.
        bloom_filter_columns: top-level columns with a bloom filter for each page.
        short_key_columns: how many leading columns make the short key; None: those that Doris
            would take, at most 3 and 36 bytes, up to and with the first of type VARCHAR.
        variant: columns that become VARIANT: structs, or strings of JSON objects.
        variant_max_subcolumns: how many paths of a variant get columns of their own, those with
            the most values; 0 is no limit. The others share one sparse column.
    """

    version: int = 3
    compression: str = "zstd"
    page_size: int = 65536
    dict_page_size: int = 262144
    encodings: str | Mapping[str, str] = "doris"
    zone_maps: bool = True
    bloom_filter_columns: str | Sequence[str] = ()
    short_key_columns: int | None = None
    variant: str | Sequence[str] = ()
    variant_max_subcolumns: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.version, bool) or self.version not in (2, 3):
            raise RequestError(f"version= must be 2 or 3, not {self.version!r}")
        if self.compression not in SCHEMES:
            raise RequestError(f"compression= must be one of {', '.join(SCHEMES)}")
        _whole("page_size", self.page_size, 1, MOST_PAGE)
        _whole("dict_page_size", self.dict_page_size, 1, MOST_PAGE)
        _whole("variant_max_subcolumns", self.variant_max_subcolumns, 0, 1 << 31)
        if self.short_key_columns is not None:
            _whole("short_key_columns", self.short_key_columns, 0, 1 << 16)
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise RequestError(f"{name}= must be True or False")
        for name in _NAMES:
            _named(name, getattr(self, name))
        _encodings(self.encodings)

    @classmethod
    def of(cls, words: Mapping[str, object]) -> DorisOptions:
        """The options of these words; RequestError lists all where one is unknown."""
        return chosen(cls, words, "Doris segments")

    @property
    def scheme(self) -> Compression:
        """The number of the compression."""
        return SCHEMES[self.compression]

    @property
    def blooms(self) -> frozenset[str]:
        """The names of the columns with bloom filters."""
        return frozenset(_listed(self.bloom_filter_columns))

    @property
    def variants(self) -> frozenset[str]:
        """The names of the columns that become variants."""
        return frozenset(_listed(self.variant))

    @property
    def defaults(self) -> int:
        """The version whose default encodings are written."""
        return {"v2": 2, "v3": 3}.get(str(self.encodings), self.version)

    @property
    def forced(self) -> Mapping[str, Encoding]:
        """The encodings that were named, by column."""
        if isinstance(self.encodings, str):
            return {}
        return {name: ENCODINGS[word] for name, word in self.encodings.items()}


def _listed(names: str | Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _named(name: str, value: object) -> None:
    listed = isinstance(value, list | tuple | set | frozenset)
    if not isinstance(value, str) and not (
        listed and all(isinstance(one, str) for one in value)  # type: ignore[attr-defined]
    ):
        raise RequestError(f"{name}= must be a list of column names")


def _whole(name: str, value: object, least: int, most: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not least <= value <= most:  # type: ignore[operator]
        raise RequestError(f"{name}= must be a whole number from {least} to {most:,}")


def _encodings(value: object) -> None:
    if isinstance(value, Mapping):
        for name, word in value.items():
            if word not in ENCODINGS:
                raise RequestError(
                    f"encodings= of {name!r} must be one of {', '.join(ENCODINGS)}, not {word!r}"
                )
    elif value not in ("doris", "v2", "v3"):
        raise RequestError('encodings= must be "doris", "v2", "v3" or encodings by column')
