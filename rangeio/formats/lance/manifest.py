"""The manifest of a Lance table: the schema and the data files of one version. Bytes in, facts out.

``lance.table.Manifest``: a file ends in u64 where the message begins, u16 and u16 of no meaning
here, and ``LANC``; the message is preceded by its size as u32 and followed by nothing but that.
What lies before it (the version's indexes, its transaction) is not looked into.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rangeio.codecs.protobuf import define, parse
from rangeio.errors import BadMagic, Corrupt, Truncated
from rangeio.formats.lance.fields import _marked, schema
from rangeio.formats.lance.messages import MESSAGES as FILE
from rangeio.schema import Schema

_TAIL = struct.Struct("<QHH4s")
_SIZE = struct.Struct("<I")
_MAGIC = b"LANC"
_MOST_ROWS = 1 << 62
_REVERSED = (1 << 64) - 1
_DIGITS = 20
_SUFFIX = ".manifest"
_NODES = (0, 3)
"""The file version in which every field of a schema has a number of its own."""

_MESSAGES = define(
    "rangeio.lance.table",
    {
        # Fields 1 and 5 are those of a file's schema, and are read as one.
        "Manifest": """2 fragments *Fragment, 3 version uint64, 9 reader_feature_flags uint64,
                       18 base_paths *BasePath""",
        "Fragment": """1 id uint64, 2 files *DataFile, 3 deletion_file DeletionFile,
                       4 physical_rows uint64, 11 overlays *Empty""",
        "DataFile": """1 path string, 2 fields *int32, 3 column_indices *int32,
                       4 file_major_version uint32, 5 file_minor_version uint32,
                       6 file_size_bytes uint64, 7 base_id ?uint32""",
        "DeletionFile": "4 num_deleted_rows uint64",
        "BasePath": "1 id uint32, 4 path string",
        "Empty": "",
    },
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which field of the table lies in which physical column of a file: pairs, in the file's order.

    A field that is no longer used is negative, and so is the column of one that has none.
    """

    fields: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def placed(self) -> dict[int, int]:
        """Physical column to field, of those in use."""
        pairs = zip(self.columns, self.fields, strict=True)
        return {column: field for column, field in pairs if column >= 0 and field >= 0}


@dataclass(frozen=True, slots=True)
class DataFile:
    """path: below the dataset's ``data``. version: of the file; anything before (0, 3) is legacy.

    size: in bytes, -1 where it is not told. base: which of the table's other places holds the file,
    None for the dataset's own. Files of the same layout share one.
    """

    path: str
    layout: Layout
    version: tuple[int, int]
    size: int = -1
    base: int | None = None


@dataclass(frozen=True, slots=True)
class Fragment:
    """Rows, in the columns of its files. rows: before deletions, -1 where they are not told.

    deleted: how many rows its deletion file deletes, None without one. overlaid: whether other
    files replace single values.
    """

    id: int
    files: tuple[DataFile, ...]
    rows: int
    deleted: int | None = None
    overlaid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """One version of a table. bases: the places besides its own, by number.

    schema: its columns carry the table's field ids; each is made when it is looked at, which raises
    Unsupported for one that no file reader has. parents: of every field, the one above, or -1.
    flags: what a reader must understand, as bits.
    """

    version: int
    schema: Schema
    parents: dict[int, int]
    fragments: tuple[Fragment, ...]
    flags: int = 0
    bases: tuple[tuple[int, str], ...] = ()

    @classmethod
    def parse(cls, data: memoryview | bytes) -> Manifest:
        """The manifest that is this whole file. FormatError for anything else."""
        encoded, offset = _message(memoryview(data))
        raw = parse(_MESSAGES.Manifest, encoded, "the manifest", offset)
        fields: Sequence[Any] = parse(FILE.Schema, encoded, "the manifest's schema", offset).fields
        layouts: dict[Layout, Layout] = {}
        return cls(
            raw.version,
            schema(encoded, offset, _NODES, _nodes(fields)),
            _parents(fields, offset),
            tuple(_fragment(one, layouts, offset) for one in raw.fragments),
            raw.reader_feature_flags,
            tuple((one.id, one.path) for one in raw.base_paths),
        )


def version_of(name: str) -> int | None:
    """The version of the manifest that a file of this name in ``_versions`` is, None if it is none.

    Names are version numbers, or these counted down from 2**64 - 1 in 20 digits, so that listings
    begin with the newest. Others are temporary, or of versions that are in nobody's history.
    """
    digits, suffix = name[: -len(_SUFFIX)], name[-len(_SUFFIX) :]
    if suffix != _SUFFIX or not (digits.isascii() and digits.isdecimal()) or len(digits) > _DIGITS:
        return None
    number = _REVERSED - int(digits) if len(digits) == _DIGITS else int(digits)
    return number if number >= 0 else None


def _message(data: memoryview) -> tuple[bytes, int]:
    """The message's bytes, and where they begin."""
    if len(data) < _TAIL.size + _SIZE.size:
        raise Truncated(f"{len(data)} bytes hold no Lance manifest", offset=0)
    end = len(data) - _TAIL.size
    at, _, _, magic = _TAIL.unpack(data[end:])
    if magic != _MAGIC:
        raise BadMagic(f"not a Lance manifest: it ends in {magic!r}", offset=len(data) - 4)
    if at > end - _SIZE.size:
        raise Corrupt(f"the manifest cannot begin at {at}", offset=end)
    (size,) = _SIZE.unpack(data[at : at + _SIZE.size])
    start = at + _SIZE.size
    if start + size != end:
        raise Corrupt(f"a manifest of {size} bytes does not reach to the end", offset=at)
    return bytes(data[start:end]), start


def _nodes(fields: Sequence[Any]) -> int:
    """How many fields are not merely parts of a packed struct or a blob."""
    parts: set[int] = set()
    count = 0
    for field in fields:
        if field.id == field.parent_id == -1:
            continue  # a part of a blob
        inside = field.parent_id in parts
        count += not inside
        if inside or _marked(field, "packed") or _marked(field, "blob"):
            parts.add(field.id)
    return count


def _parents(fields: Sequence[Any], offset: int) -> dict[int, int]:
    named = [field for field in fields if not field.id == field.parent_id == -1]
    twice = next((one for one, n in Counter(f.id for f in named).items() if n > 1 or one < 0), None)
    if twice is not None:
        raise Corrupt(f"the field id {twice} is no id, or is there twice", offset=offset)
    return {field.id: field.parent_id for field in named}


def _fragment(raw: Any, layouts: dict[Layout, Layout], offset: int) -> Fragment:
    if raw.physical_rows >= _MOST_ROWS:
        raise Corrupt(f"fragment {raw.id} cannot have {raw.physical_rows} rows", offset=offset)
    return Fragment(
        raw.id,
        tuple(_file(one, layouts, offset) for one in raw.files),
        raw.physical_rows or -1,  # writers of old told none
        raw.deletion_file.num_deleted_rows if raw.HasField("deletion_file") else None,
        len(raw.overlays) > 0,
    )


def _file(raw: Any, layouts: dict[Layout, Layout], offset: int) -> DataFile:
    parts = raw.path.split("/")
    # What is opened must lie where the data of this dataset lies.
    if {"", ".", ".."} & set(parts) or "://" in raw.path or "::" in raw.path or "\0" in raw.path:
        raise Corrupt(f"a data file cannot be at {raw.path[:200]!r}", offset=offset)
    version = raw.file_major_version, raw.file_minor_version
    base = raw.base_id if raw.HasField("base_id") else None
    layout = _layout(raw, version >= _NODES, offset)
    layout = layouts.setdefault(layout, layout)
    return DataFile(raw.path, layout, version, raw.file_size_bytes or -1, base)


def _layout(raw: Any, placed: bool, offset: int) -> Layout:
    fields, columns = tuple(raw.fields), tuple(raw.column_indices)
    if not placed and not columns:
        columns = (-1,) * len(fields)  # legacy files have no columns in this sense
    if len(fields) != len(columns):
        raise Corrupt(f"{raw.path[:200]!r} counts its fields twice and differently", offset=offset)
    for which in (fields, columns):
        used = [one for one in which if one >= 0]
        if len(set(used)) < len(used):
            raise Corrupt(f"{raw.path[:200]!r} has a field or column twice", offset=offset)
    return Layout(fields, columns)
