"""Columns that the folders' names hold: ``year=2024/month=5/``, or ``2024/05/``. Pure.

A type is inferred over all files and is lossless: the text of a folder's name can be recovered
from the value, or the column stays text. So "007" is text; and so are fractions, which keep
neither "1.50" nor the version 1.10 apart from 1.1, as in pyarrow.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from rangeio.errors import RequestError
from rangeio.literal import plain
from rangeio.predicate import Predicate
from rangeio.statistics import Answer, Statistics

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark write for a null."""

Partitioning: TypeAlias = "str | pa.Schema | Sequence[str] | None"
"""``"hive"``; None: no columns; a Schema: Hive's, of these types, other keys left out; names: one
a folder, ``2024/05/``."""

_INTEGER = re.compile(r"0|-?[1-9]\d{0,18}", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")

Texts: TypeAlias = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partition columns of some files. values: a tuple a file, in the order of the schema."""

    schema: pa.Schema
    values: tuple[tuple[object, ...], ...]


def partitions(paths: Sequence[str], partitioning: Partitioning = "hive") -> Partitions:
    """The values that the folders of ``paths`` (below the root, with the files' names) hold.

    Columns come as they are first met; a file without a key that others have is null there.
    Raises RequestError, with the file, for a key that is twice in a path and for a value that a
    declared type cannot hold.
    """
    if partitioning is None:
        return Partitions(pa.schema([]), ((),) * len(paths))
    if isinstance(partitioning, pa.Schema):
        _distinct(partitioning.names)
        return _declared(paths, [_hive(path) for path in paths], partitioning)
    if isinstance(partitioning, str):
        if partitioning != "hive":
            raise RequestError(
                f"partitioning={partitioning!r} is not known: "
                'give "hive", None, a pyarrow Schema, or a list of names'
            )
        rows: list[Texts] = [_hive(path) for path in paths]
        return _inferred(rows, dict.fromkeys(key for row in rows for key in row))
    names = _names(partitioning)
    return _inferred([_placed(path, names) for path in paths], names)


def verdict(predicate: Predicate, schema: pa.Schema, values: Sequence[object]) -> Answer:
    """Whether rows of a file with these partition values (in the order of ``schema``) match.

    NEVER: the file need not be opened. ALWAYS: the partition columns alone decide, for every row.
    Of other columns nothing is known.
    """
    known: dict[tuple[str, ...], Statistics] = {
        (field.name,): _statistics(value, field.type)
        for field, value in zip(schema, values, strict=True)
    }
    return predicate.keep(known)


def _statistics(value: object, kind: pa.DataType) -> Statistics:
    """Of a column in which every row holds this value."""
    if value is None:
        return Statistics(null_count=1, rows=1, nan_count=0)
    if isinstance(value, float) and math.isnan(value):
        return Statistics(null_count=0, rows=1, nan_count=1)
    kind = plain(kind)
    if isinstance(value, int) and pa.types.is_temporal(kind):
        return Statistics(null_count=0, rows=1)  # or it would be taken for a count of units
    return Statistics(value, value, null_count=0, rows=1, nan_count=0)


# ---- paths --------------------------------------------------------------------------------------


def _hive(path: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for segment in path.split("/")[:-1]:
        key, mark, text = segment.partition("=")
        if not (key and mark):
            continue
        key = unquoted(key)
        if key in found:
            raise RequestError(f"the partition key {key!r} is twice in the path", url=path)
        found[key] = _value(text)
    return found


def _placed(path: str, names: Iterable[str]) -> Texts:
    """One folder a name, from the root on; deeper folders hold no column."""
    folders = path.split("/")[:-1]
    return {name: _value(text) for name, text in zip(names, folders, strict=False)}


def _value(text: str) -> str | None:
    text = unquoted(text)
    return None if text in ("", NULL) else text


def unquoted(text: str) -> str:
    """Percent escapes resolved, where they make UTF-8; others stay as they are."""
    if "%" not in text:
        return text
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    try:
        return bytes.fromhex(found.group().replace("%", "")).decode()
    except UnicodeDecodeError:
        return found.group()


def _names(given: object) -> list[str]:
    if not isinstance(given, list | tuple) or not all(isinstance(n, str) and n for n in given):
        raise RequestError(
            'partitioning= wants "hive", None, a pyarrow Schema, or a list of names, '
            f"not {type(given).__name__}"
        )
    return _distinct(list(given))


def _distinct(names: list[str]) -> list[str]:
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise RequestError(f"partitioning= names {min(twice)!r} twice")
    return names


# ---- types --------------------------------------------------------------------------------------


def _inferred(rows: Sequence[Texts], names: Iterable[str]) -> Partitions:
    fields, columns = [], []
    for name in names:
        texts = [row.get(name) for row in rows]
        kind = _type({text for text in texts if text is not None})
        read = _READ.get(kind, str)
        kept = {text: read(text) for text in set(texts) if text is not None}
        fields.append(pa.field(name, kind))
        columns.append([None if text is None else kept[text] for text in texts])
    return _partitions(fields, columns, len(rows))


_READ: dict[pa.DataType, Callable[[str], object]] = {
    pa.int32(): int,
    pa.int64(): int,
    pa.date32(): dt.date.fromisoformat,
}


def _type(texts: Iterable[str]) -> pa.DataType:
    """The narrowest type that holds each text so that it can be recovered; of no text, string."""
    texts = list(texts)
    if texts and all(_INTEGER.fullmatch(text) for text in texts):
        low, high = min(map(int, texts)), max(map(int, texts))
        for bits, kind in ((31, pa.int32()), (63, pa.int64())):
            if -(1 << bits) <= low and high < 1 << bits:
                return kind
    if texts and all(map(_is_date, texts)):
        return pa.date32()
    return pa.string()


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _declared(paths: Sequence[str], rows: Sequence[Texts], schema: pa.Schema) -> Partitions:
    columns: list[list[object]] = []
    for field in schema:
        texts = [row.get(field.name) for row in rows]
        kept: dict[str | None, object] = {None: None}
        for path, text in zip(paths, texts, strict=True):
            if text not in kept:
                kept[text] = _cast(text, field, path)
        columns.append([kept[text] for text in texts])
    return _partitions(list(schema), columns, len(rows))


def _cast(text: str | None, field: pa.Field, path: str) -> object:
    try:
        return pa.array([text], pa.string()).cast(plain(field.type))[0].as_py()
    except (pa.ArrowException, ValueError) as error:
        raise RequestError(
            f"the partition key {field.name!r} is {text!r} in the path, "
            f"which is no {field.type}: {str(error).splitlines()[0]}",
            url=path,
        ) from None


def _partitions(fields: list[pa.Field], columns: list[list[object]], count: int) -> Partitions:
    values = tuple(zip(*columns, strict=True)) if columns else ((),) * count
    return Partitions(pa.schema(fields), values)
