"""A DataFrame from Python's words. Uses what classic sessions and Spark Connect have in common."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql.types import DataType

from rangeio.errors import RequestError
from rangeio.spark.enabling import automatic, hide_options, setting_of
from rangeio.spark.filters.asking import asked, condition
from rangeio.spark.filters.literals import Groups, as_groups, write_conditions
from rangeio.spark.source import WIDE, remedy
from rangeio.spark.storage import storage_texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Word = str | tuple[str, ...]


def frame(
    spark: SparkSession,
    url: Any,
    columns: Any,
    filters: Any,
    storage_options: Mapping[str, object] | None,
    options: Mapping[str, Any],
) -> DataFrame:
    """What :func:`rangeio.spark.read` promises."""
    groups = None if filters is None else as_groups(filters)
    words = None if columns is None else _words(columns)
    paths = _paths(url)
    told = {name: _text(value) for name, value in options.items() if value is not None}
    told.update(_of_session(spark, told))
    told.update(storage_texts(storage_options or {}))
    if storage_options:
        hide_options(spark)
    if words is not None:
        told["columns"] = json.dumps(_with_filtered(words, groups))
    if groups is not None:
        told["filters"] = write_conditions(groups)
    found = spark.read.format("rangeio").options(**told).load(paths)
    if words is None and len(found.columns) > WIDE and not automatic(spark):
        warnings.warn(remedy(len(found.columns)), stacklevel=3)
    if groups is None:
        return found
    found = found.where(condition(groups, found.schema))
    return found if words is None else asked(found, words)


def _paths(url: Any) -> str | list[str]:
    """One or many, as Spark takes them. Raises RequestError for what is no path."""
    if isinstance(url, str | os.PathLike):
        return _path(url)
    if not isinstance(url, Sequence) or isinstance(url, bytes):
        raise RequestError(f"a path, a url or a list of them is wanted, not {url!r}")
    return [_path(one) for one in url]


def _path(url: Any) -> str:
    text = os.fspath(url) if isinstance(url, str | os.PathLike) else None
    if not isinstance(text, str):
        raise RequestError(f"a path or a url is wanted, not {url!r}")
    return text


def _words(columns: Any) -> list[Word]:
    if isinstance(columns, str):
        return [columns]
    if not isinstance(columns, Sequence | np.ndarray) or isinstance(columns, bytes):
        raise RequestError(f"columns= is a name or a list of names, not {columns!r}")
    return [_word(one) for one in columns]


def _word(word: Any) -> Word:
    if isinstance(word, str):
        return str(word)
    if isinstance(word, tuple) and word and all(isinstance(name, str) for name in word):
        return word
    raise RequestError(
        f"a column is a name, a dotted path, a glob or a tuple of names, not {word!r}: Spark's "
        "columns have no unique_ids"
    )


def _text(value: Any) -> str:
    if isinstance(value, DataType):
        return str(value.json())
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else json.dumps(value)


def _of_session(spark: SparkSession, told: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Options that nobody gave and that the session's settings say, as the jar takes them."""
    given = {name.lower() for name in told}
    for name, setting in _SETTINGS.items():
        said = None if name.lower() in given else setting_of(spark, setting)
        if said is not None:
            yield name, said


_SETTINGS = {
    "timeZone": "spark.sql.session.timeZone",
    "ignoreCorruptFiles": "spark.sql.files.ignoreCorruptFiles",
    "ignoreMissingFiles": "spark.sql.files.ignoreMissingFiles",
}


def _with_filtered(words: list[Word], groups: Groups | None) -> list[Word]:
    """The asked columns, and behind them those that only filters name."""
    return list(dict.fromkeys([*words, *(one[0] for group in groups or () for one in group)]))
