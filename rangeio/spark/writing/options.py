"""The options of a write, as Spark hands them over: lower-cased names, texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rangeio.errors import RequestError
from rangeio.spark.options import as_url, listed
from rangeio.spark.storage import STORAGE, storage_options

_MOST, _KEYS, _MODE = "maxrecordsperfile", "partitionby", "partitionoverwritemode"
_CODEC = "compression"
_SPARKS = {"uncompressed": "none", "lz4_raw": "lz4"}
"""Spark's names of codecs that have another here."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Where to write, and what.

    format: the name of rangeio's writer; words: its own options. most_rows: of one file, None: all
    of a task. keys: partition columns. dynamic: an overwrite replaces those partitions alone that
    get rows. storage: of fsspec, credentials among them: never shown.
    """

    path: str
    format: str
    words: Mapping[str, object]
    most_rows: int | None = None
    keys: tuple[str, ...] = ()
    dynamic: bool = False
    storage: Mapping[str, object] = field(default_factory=dict, repr=False)


def write_options(given: Mapping[str, str]) -> WriteOptions:
    """The options in their types. Raises RequestError where there is no path, or where one of them
    makes no sense; the format's own are looked at by :func:`rangeio.write.checked_format`."""
    told = {key.lower(): text for key, text in given.items()}
    storage = {
        key.removeprefix(STORAGE): told.pop(key) for key in list(told) if key.startswith(STORAGE)
    }
    path, name = told.pop("path", ""), told.pop("format", "parquet").lower()
    if not path:
        raise RequestError('no path: give one to save(...), or in the option "path"')
    most = told.pop(_MOST, None)
    keys, dynamic = _names(told.pop(_KEYS, "")), _dynamic(told.pop(_MODE, "static"))
    words = {key: _value(text) for key, text in told.items()}
    if _CODEC in words:
        words[_CODEC] = _codec(words[_CODEC])
    rows, known = _rows(most), storage_options(storage)
    return WriteOptions(as_url(path), name, words, rows, keys, dynamic and bool(keys), known)


def _rows(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdigit():
        raise RequestError(f"option maxRecordsPerFile={text!r}: a whole number is wanted")
    return int(text) or None  # 0 is no limit, as in Spark


def _names(text: str) -> tuple[str, ...]:
    try:
        return listed(text)
    except ValueError as error:
        raise RequestError(f"option partitionBy={text!r}: {error}") from None


def _dynamic(text: str) -> bool:
    if text.lower() not in ("static", "dynamic"):
        raise RequestError(f"option partitionOverwriteMode={text!r}: static or dynamic is wanted")
    return text.lower() == "dynamic"


def _value(text: str) -> Any:
    """true, 5, ["a"] and {"a": 1} as what they say, every other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _codec(told: Any) -> Any:
    """A codec, or codecs by column, as they are called here: Spark takes its names in any case."""
    if isinstance(told, dict):
        return {column: _codec(one) for column, one in told.items()}
    if not isinstance(told, str):
        return told
    name = told.lower()
    return _SPARKS.get(name, name)
