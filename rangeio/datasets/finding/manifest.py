"""The files of a dataset: what workers need in order to open them, and no listing. Pure."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, TypeAlias

import pyarrow as pa

from rangeio.errors import RequestError
from rangeio.stores.url import redact

Row: TypeAlias = tuple[object, ...]


class _Absent(Enum):
    """Pickles as the one that it is."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return self.name


ABSENT: Final = _Absent.ABSENT
"""In the place of a partition value: the path has no such key, so it says nothing of the column.
A key with a null, ``year=__HIVE_DEFAULT_PARTITION__``, is None."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file.

    url: opens it; as the user wrote it, so it may be signed, and the repr shows it redacted.
    size: in bytes, -1 where it is not known. tag: the version tag, "" where it is not known.
    rows: -1 where they are not known. modified: seconds since 1970, as listed; no pickle has it.
    partition: values in the order of the manifest's schema, ABSENT where the path lacks a key that
    others have.
    """

    url: str
    size: int = -1
    tag: str = ""
    rows: int = -1
    partition: Row = ()
    modified: float | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        more = "".join(f", {value!r}" for value in self.partition)
        return f"DataFile({shown(self.url)!r}, {self.size} bytes, {self.rows} rows{more})"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Files in their order, and the types of their partition values.

    root: what the user named, redacted, for people. table: the version of a Lance dataset that
    they make, if they do. Pickles to a few tens of bytes a file: what the urls share is written
    once.
    """

    files: tuple[DataFile, ...] = ()
    partitions: pa.Schema = field(default_factory=lambda: pa.schema([]))
    root: str = ""
    table: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        wanted = len(self.partitions)
        for one in self.files:
            if len(one.partition) != wanted:
                raise RequestError(
                    f"{len(one.partition)} partition values, the schema has {wanted}",
                    url=shown(one.url),
                )

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[DataFile]:
        return iter(self.files)

    def __getitem__(self, index: int) -> DataFile:
        return self.files[index]

    @property
    def size(self) -> int:
        """Bytes of all files; -1 where one is not known."""
        return _total(one.size for one in self.files)

    @property
    def rows(self) -> int:
        """Rows of all files; -1 where they are not known of one."""
        return _total(one.rows for one in self.files)

    def values(self, index: int) -> dict[str, object]:
        """What the path of a file says, by key; without the keys that it lacks."""
        named = zip(self.partitions.names, self.files[index].partition, strict=True)
        return {name: value for name, value in named if value is not ABSENT}

    def absent(self, index: int) -> frozenset[str]:
        """The partition columns of which the path of a file says nothing."""
        row = self.files[index].partition
        if not any(value is ABSENT for value in row):
            return _NONE
        named = zip(self.partitions.names, row, strict=True)
        return frozenset(name for name, value in named if value is ABSENT)

    def select(self, indexes: Iterable[int]) -> Manifest:
        """The files at these places, in the order asked."""
        chosen, table = list(indexes), self.table
        if table is not None:
            table = replace(table, files=tuple(table.files[i] for i in chosen))
        return replace(self, files=tuple(self.files[i] for i in chosen), table=table)

    def split(self, count: int) -> list[Manifest]:
        """At most ``count`` runs of files, in order, of about as many bytes each; none is empty."""
        if count < 1:
            raise RequestError(f"a manifest is split into at least one part, not {count}")
        known = [one.size for one in self.files if one.size >= 0]
        usual = sum(known) // len(known) if known else 1
        # One byte more for each, so that files of no or unknown size count as well.
        weights = [(one.size if one.size >= 0 else usual) + 1 for one in self.files]
        total, before = sum(weights), 0
        runs: dict[int, list[int]] = {}
        for i, weight in enumerate(weights):
            # A file belongs where its middle lies.
            runs.setdefault((2 * before + weight) * count // (2 * total), []).append(i)
            before += weight
        return [self.select(run) for run in runs.values()]

    def to_table(self) -> pa.Table:
        """For people: file (redacted), size, tag, rows (null where unknown), partition columns."""
        files = self.files
        columns = [
            pa.array([shown(one.url) for one in files], pa.string()),
            pa.array([_known(one.size) for one in files], pa.int64()),
            pa.array([one.tag for one in files], pa.string()),
            pa.array([_known(one.rows) for one in files], pa.int64()),
            *(
                pa.array([_null(one.partition[i]) for one in files], kind)
                for i, kind in enumerate(self.partitions.types)
            ),
        ]
        head = zip(("file", "size", "tag", "rows"), (c.type for c in columns), strict=False)
        schema = pa.schema([*(pa.field(*one) for one in head), *self.partitions])
        return pa.Table.from_arrays(columns, schema=schema)

    def __repr__(self) -> str:
        size = f"{self.size:,} bytes" if self.size >= 0 else "of unknown size"
        keys = ", ".join(f"{f.name} {f.type}" for f in self.partitions)
        return f"Manifest({self.root!r}: {len(self):,} files, {size}{keys and f', by {keys}'})"

    def __reduce__(self) -> tuple[object, ...]:
        distinct: dict[str, int] = {}
        kept: list[Row] = []
        places = array("q")
        for one in self.files:
            # By repr: 0.0 and -0.0 are equal and are two; NaN is not equal to itself.
            place = distinct.setdefault(repr(one.partition), len(kept))
            if place == len(kept):
                kept.append(one.partition)
            places.append(place)
        return _unpacked, (
            self.root,
            self.partitions,
            tuple(kept),
            _numbers(places),
            _texts(one.url for one in self.files),
            _numbers(array("q", (one.size for one in self.files))),
            _texts(one.tag for one in self.files),
            _numbers(array("q", (one.rows for one in self.files))),
            self.table,
        )


def shown(url: str) -> str:
    """A url, chained ones too, fit for people: no userinfo, no query."""
    return "::".join(redact(part) for part in url.split("::"))


def _total(counts: Iterable[int]) -> int:
    held = list(counts)
    return -1 if min(held, default=0) < 0 else sum(held)


def _known(count: int) -> int | None:
    return count if count >= 0 else None


def _null(value: object) -> object:
    return None if value is ABSENT else value


_NONE: frozenset[str] = frozenset()


# ---- pickles: compressed, since neighbours' urls and numbers are alike --------------------------


def _texts(texts: Iterable[str]) -> bytes:
    # No url, path or tag holds a null byte; a path may hold bytes that are no text.
    return zlib.compress("\0".join(texts).encode("utf-8", "surrogatepass"), 6)


def _numbers(numbers: array[int]) -> bytes:
    return zlib.compress(numbers.tobytes(), 6)


def _unpacked(
    root: str,
    partitions: pa.Schema,
    kept: tuple[Row, ...],
    places: bytes,
    urls: bytes,
    sizes: bytes,
    tags: bytes,
    rows: bytes,
    table: object = None,
) -> Manifest:
    at = array("q", zlib.decompress(places))
    columns = zip(
        zlib.decompress(urls).decode("utf-8", "surrogatepass").split("\0"),
        array("q", zlib.decompress(sizes)),
        zlib.decompress(tags).decode("utf-8", "surrogatepass").split("\0"),
        array("q", zlib.decompress(rows)),
        (kept[i] for i in at),
        # No file at all leaves one empty text.
        strict=bool(at),
    )
    return Manifest(tuple(DataFile(*one) for one in columns), partitions, root, table)
