"""The options of a read, as Spark hands them over: lower-cased names, texts."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rangeio.errors import RequestError
from rangeio.spark.storage import STORAGE, storage_options
from rangeio.spark.times import seconds

_S3 = re.compile(r"\As3[an]://", re.IGNORECASE)
_FILE = re.compile(r"\Afile:(?://(?:localhost)?/|/(?!/))", re.IGNORECASE)
_OF_TABLES = {"location", "provider"}
PUSHED = "__pushed_"
"""What begins so was put there by the Java half, which prunes columns too."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What to read and how. storage: of fsspec, credentials among them: never shown.

    columns: those of an inferred schema, names and paths; None: all. modified: seconds since 1970,
    after and before.
    split_bytes: of the asked columns in one partition, at most about. filters, pushed: texts, told
    apart by who wrote them. stage, wish, plans: of a read that a job of its own plans, see
    :mod:`rangeio.spark.reading.planjob`. statistics, rows, many_files: for the Java half.
    trace_dir: where tests have the GETs of each partition noted.
    """

    paths: tuple[str, ...]
    columns: tuple[str | tuple[str, ...], ...] | None = None
    glob: str | None = None
    flat: bool = False
    modified: tuple[float | None, float | None] = (None, None)
    base: str | None = None
    merge: bool = False
    ignore_corrupt: bool = False
    ignore_missing: bool = False
    file_column: str | None = None
    format: str | None = None
    file_schema: str | None = None
    cache_dir: str | None = None
    cache_bytes: int | None = None
    concurrency: int | None = None
    split_bytes: int = 64 << 20
    filters: str | None = field(default=None, repr=False)
    pushed: str | None = field(default=None, repr=False)
    limit: int | None = None
    stage: str | None = None
    wish: str | None = field(default=None, repr=False)
    plans: str | None = None
    many_files: int | None = None
    statistics: bool = False
    rows: int | None = None
    by_jar: bool = False
    trace_dir: str | None = None
    storage: Mapping[str, object] = field(default_factory=dict, repr=False)


def read_options(given: Mapping[str, str]) -> ReadOptions:
    """The options in their types. Raises RequestError for one that is unknown, with what may have
    been meant, or that makes no sense, or where there is no path."""
    found: dict[str, Any] = {}
    storage: dict[str, str] = {}
    for key, text in _meant(given).items():
        name = key.lower()
        if name.startswith(STORAGE):
            storage[name.removeprefix(STORAGE)] = text
        elif name in _READ:
            place, read = _READ[name]
            found[place] = _told(name, text, read)
        elif not name.startswith(PUSHED):
            raise _unknown(key)
    paths = found.pop("one", ()) + found.pop("many", ())
    if not paths:
        raise RequestError(
            'no path: give one to load(...), or in the option "path"; of a table of the catalog '
            "Spark tells it only where the jar is, see rangeio.spark.enable"
        )
    zone = found.pop("zone", None)
    modified = (_instant("after", found, zone), _instant("before", found, zone))
    by_jar = any(key.lower().startswith(PUSHED) for key in given)
    return ReadOptions(
        paths, **found, modified=modified, by_jar=by_jar, storage=storage_options(storage)
    )


def as_url(text: str) -> str:
    """Hadoop's names for stores are ours: ``s3a://`` and ``s3n://`` become ``s3://``, and
    ``file:/x``, as Hadoop writes it, ``file:///x``."""
    return _FILE.sub("file:///", _S3.sub("s3://", text))


def listed(text: str) -> tuple[str, ...]:
    """A JSON list of texts, or texts with commas between them."""
    if not text.lstrip().startswith("["):
        return tuple(one.strip() for one in text.split(",") if one.strip())
    found = json.loads(text)
    if not all(isinstance(one, str) for one in found):
        raise ValueError("a list of texts is wanted")
    return tuple(found)


def _meant(given: Mapping[str, str]) -> Mapping[str, str]:
    """Of a table of the catalog Spark tells all properties: those that are no options, for nobody
    said so in OPTIONS, are not for us."""
    names = {key.lower() for key in given}
    if not names >= _OF_TABLES:
        return given

    def ours(name: str) -> bool:
        known = name in _READ or name.startswith((STORAGE, PUSHED))
        return known or f"option.{name}" in names

    return {key: text for key, text in given.items() if ours(key.lower())}


def _told(name: str, text: str, read: Callable[[str], Any]) -> Any:
    try:
        return read(text)
    except (ValueError, KeyError, TypeError) as error:
        raise RequestError(f"option {_SPELLED[name]}={text!r}: {error}") from None


def _unknown(key: str) -> RequestError:
    near = difflib.get_close_matches(key.lower(), [*_READ, STORAGE], n=1, cutoff=0.6)
    hint = f"; did you mean {_SPELLED[near[0]]}?" if near else "."
    every = ", ".join(sorted(_SPELLED[name] for name in _READ if name in _PUBLIC))
    return RequestError(f"unknown option {key!r}{hint} There are: {every}, storage.*")


def _path(text: str) -> tuple[str, ...]:
    return (as_url(text),)


def _paths(text: str) -> tuple[str, ...]:
    return tuple(map(as_url, listed(text)))


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("true or false is wanted")
    return text.lower() == "true"


def _whole(text: str) -> int:
    if not text.strip().isdigit() or not int(text):
        raise ValueError("a whole number above 0 is wanted")
    return int(text)


def _count(text: str) -> int:
    return int(text)


def _instant(place: str, found: dict[str, Any], zone: str | None) -> float | None:
    """Taken out of what was found: it wants the zone, which may come behind it."""
    text = found.pop(place, None)
    name = f"modified{place}"
    return None if text is None else _told(name, text, lambda one: seconds(one, zone))


def _columns(text: str) -> tuple[str | tuple[str, ...], ...]:
    """As :func:`listed`; in a JSON list, a list is a path."""
    if not text.lstrip().startswith("["):
        return listed(text)
    return tuple(map(_column, json.loads(text)))


def _column(word: object) -> str | tuple[str, ...]:
    if isinstance(word, list) and word and all(isinstance(name, str) for name in word):
        return tuple(word)
    if not isinstance(word, str):
        raise ValueError("a list of texts is wanted, or of paths, which are lists of texts")
    return word


_OPTIONS: Iterable[tuple[str, str, Callable[[str], Any]]] = (
    ("path", "one", _path),
    ("paths", "many", _paths),
    ("columns", "columns", _columns),
    ("pathGlobFilter", "glob", str),
    ("recursiveFileLookup", "flat", _flag),
    ("modifiedAfter", "after", str),
    ("modifiedBefore", "before", str),
    ("timeZone", "zone", str),
    ("basePath", "base", as_url),
    ("mergeSchema", "merge", _flag),
    ("ignoreCorruptFiles", "ignore_corrupt", _flag),
    ("ignoreMissingFiles", "ignore_missing", _flag),
    ("includeFilePath", "file_column", str),
    ("format", "format", str.lower),
    ("fileSchema", "file_schema", str),
    ("cacheDir", "cache_dir", str),
    ("cacheBytes", "cache_bytes", _whole),
    ("concurrency", "concurrency", _whole),
    ("splitBytes", "split_bytes", _whole),
    ("filters", "filters", str),
    ("traceDir", "trace_dir", str),
    (f"{PUSHED}filters", "pushed", str),
    (f"{PUSHED}limit", "limit", _count),
    (f"{PUSHED}stage", "stage", str),
    (f"{PUSHED}wish", "wish", str),
    (f"{PUSHED}plans", "plans", str),
    ("planningJobFiles", "many_files", _whole),
    (f"{PUSHED}statistics", "statistics", bool),
    ("estimatedRows", "rows", _count),
)
_READ = {name.lower(): (place, read) for name, place, read in _OPTIONS}
_SPELLED = {name.lower(): name for name, *_ in _OPTIONS} | {STORAGE: "storage.*"}
_PUBLIC = {n for n in _READ if not n.startswith(PUSHED) and n not in ("tracedir", "filters")}
