"""The options of a write, as Spark hands them over: lower-cased names, texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rangeio.errors import RequestError
from rangeio.spark.options import as_s3
from rangeio.spark.storage import STORAGE, storage_options

_MOST = "maxrecordsperfile"


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Where to write, and what.

    format: the name of rangeio's writer; words: its own options. most_rows: of one file, None: all
    of a task. storage: of fsspec, credentials among them: never shown.
    """

    path: str
    format: str
    words: Mapping[str, object]
    most_rows: int | None = None
    storage: Mapping[str, object] = field(default_factory=dict, repr=False)


def write_options(given: Mapping[str, str]) -> WriteOptions:
    """The options in their types. Raises RequestError where there is no path, or where one of them
    makes no sense; the format's own are looked at by :func:`rangeio.write.checked_format`."""
    told = {key.lower(): text for key, text in given.items()}
    storage = {
        key.removeprefix(STORAGE): told.pop(key) for key in list(told) if key.startswith(STORAGE)
    }
    path, name = told.pop("path", ""), told.pop("format", "parquet")
    if not path:
        raise RequestError('no path: give one to save(...), or in the option "path"')
    most = told.pop(_MOST, None)
    words = {key: _value(text) for key, text in told.items()}
    return WriteOptions(as_s3(path), name, words, _rows(most), storage_options(storage))


def _rows(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdigit():
        raise RequestError(f"option maxRecordsPerFile={text!r}: a whole number is wanted")
    return int(text) or None  # 0 is no limit, as in Spark


def _value(text: str) -> Any:
    """true, 5, ["a"] and {"a": 1} as what they say, every other text as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text
