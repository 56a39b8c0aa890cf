"""Columns that the folders' names hold: ``year=2024/month=5/``, or ``2024/05/``. Pure.

A type is inferred over all files, as pyarrow does: integers, which may be padded with zeros
(``month=01``), or text. So fractions stay text, where 1.10 is not 1.1; and so does "+1". Unlike
there, integers beyond 32 bits are int64, and ``2024-01-01`` is a date.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from rangeio.datasets.finding.manifest import ABSENT
from rangeio.errors import RequestError
from rangeio.literal import plain
from rangeio.predicate import Predicate
from rangeio.statistics import Answer, Statistics

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark write for a null."""

Partitioning: TypeAlias = "str | pa.Schema | Sequence[str] | None"
"""``"hive"``; None: no columns; a Schema: Hive's, of these types, other keys left out; names: one
a folder, ``2024/05/``."""

_INTEGER = re.compile(r"-?0{0,99}\d{1,19}", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")

Texts: TypeAlias = Mapping[str, str | None]
Types: TypeAlias = Mapping[str, pa.DataType]

NO_TYPES: Types = {}


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partition columns of some files. values: a tuple a file, in the order of the schema; None
    is a null, ABSENT a key that the path lacks."""

    schema: pa.Schema
    values: tuple[tuple[object, ...], ...]


def partitions(
    paths: Sequence[str], partitioning: Partitioning = "hive", types: Types = NO_TYPES
) -> Partitions:
    """The values that the folders of ``paths`` (below the root, with the files' names) hold.

    Columns come as they are first met. types: of columns that are declared elsewhere; their values
    are read out of the paths' text as such. Raises RequestError, with the file, for a key that is
    twice in a path and for a value that a declared type cannot hold.
    """
    if partitioning is None:
        return Partitions(pa.schema([]), ((),) * len(paths))
    if isinstance(partitioning, pa.Schema):
        _distinct(partitioning.names)
        kinds = {field.name: types.get(field.name, field.type) for field in partitioning}
        fields = [field.with_type(kinds[field.name]) for field in partitioning]
        return _typed(paths, [_hive(path) for path in paths], fields)
    if isinstance(partitioning, str):
        if partitioning != "hive":
            raise RequestError(
                f"partitioning={partitioning!r} is not known: "
                'give "hive", None, a pyarrow Schema, or a list of names'
            )
        rows: list[Texts] = [_hive(path) for path in paths]
        names = list(dict.fromkeys(key for row in rows for key in row))
    else:
        names = _names(partitioning)
        rows = [_placed(path, names) for path in paths]
    fields = [pa.field(name, types.get(name) or _type(_texts(rows, name))) for name in names]
    return _typed(paths, rows, fields)


def verdict(predicate: Predicate, schema: pa.Schema, values: Sequence[object]) -> Answer:
    """Whether rows of a file with these partition values (in the order of ``schema``) match.

    NEVER: the file need not be opened. ALWAYS: the partition columns alone decide, for every row.
    Of other columns nothing is known, nor of those that the path lacks: the file may have them.
    """
    known: dict[tuple[str, ...], Statistics] = {
        (field.name,): _statistics(value, field.type)
        for field, value in zip(schema, values, strict=True)
        if value is not ABSENT
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


def _texts(rows: Sequence[Texts], name: str) -> set[str]:
    return {text for row in rows if (text := row.get(name)) is not None}


def _type(texts: Collection[str]) -> pa.DataType:
    """The narrowest type that all of the texts can be read as; of no text, string."""
    if texts and all(_INTEGER.fullmatch(text) for text in texts):
        low, high = min(map(int, texts)), max(map(int, texts))
        for bits, kind in ((31, pa.int32()), (63, pa.int64())):
            if -(1 << bits) <= low and high < 1 << bits:
                return kind
    if texts and all(dated(text) is not None for text in texts):
        return pa.date32()
    return pa.string()


def integer(text: str) -> int | None:
    """The integer that a folder's name writes, padded with zeros or not; None: it writes none."""
    return int(text) if _INTEGER.fullmatch(text) else None


def dated(text: str) -> dt.date | None:
    """The date that a folder's name writes; None: it writes none."""
    try:
        return dt.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _typed(paths: Sequence[str], rows: Sequence[Texts], fields: list[pa.Field]) -> Partitions:
    """The texts, read as the types of the fields."""
    columns: list[list[object]] = []
    for field in fields:
        kept: dict[object, object] = {None: None, ABSENT: ABSENT}
        texts = [row.get(field.name, ABSENT) for row in rows]
        for path, text in zip(paths, texts, strict=True):
            if text not in kept:
                kept[text] = _read(str(text), field, path)
        columns.append([kept[text] for text in texts])
    values = tuple(zip(*columns, strict=True)) if columns else ((),) * len(rows)
    return Partitions(pa.schema(fields), values)


def _read(text: str, field: pa.Field, path: str) -> object:
    """A text as a value; an error that names the file where it is none of the type."""
    kind = plain(field.type)
    if kind == pa.string():
        return text
    try:
        if pa.types.is_integer(kind) and (number := integer(text)) is not None:
            return pa.scalar(number, kind).as_py()  # of some zeros before it Arrow takes no more
        return pa.array([text], pa.string()).cast(kind)[0].as_py()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise RequestError(
            f"the partition key {field.name!r} is {text!r} in the path, "
            f"which is no {field.type}: {str(error).splitlines()[0]}",
            url=path,
        ) from None
