"""The words that name a file and say how to reach it, and the file that they open."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from rangeio.errors import RequestError
from rangeio.file import File
from rangeio.file import open as opened_file
from rangeio.session import Session

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_ANON = frozenset({"s3", "s3a", "s3n", "az", "abfs", "abfss", "oss", "tos"})
_OPEN = frozenset({"http", "https", "file", "local", "memory", ""})
_SECRETS = frozenset({"account_key", "key", "password", "secret", "token", "username"})


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the url and every option that opening it takes."""
    parser.add_argument("url", metavar="URL", help="s3:// gs:// http(s):// file:// ..., or a path")
    parser.add_argument(
        "--storage-option",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="for the store, as fsspec names it, e.g. endpoint_url=http://...; dots go below "
        "(client_kwargs.region_name=...); a value may be JSON; repeatable",
    )
    parser.add_argument("--anon", action="store_true", help="read without credentials")
    parser.add_argument("--format", metavar="NAME", help="the file's format; else it is sniffed")
    parser.add_argument(
        "--profile", metavar="NAME", help="cost profile: s3, s3express, gs, http, file or memory"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the switch from words to JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON")


@contextmanager
def opened(asked: argparse.Namespace) -> Iterator[File]:
    """The named file, in a session of its own; both are closed at the end."""
    options = storage_options(asked.storage_option)
    if asked.anon:
        options |= _anonymous(asked.url)
    with (
        Session(profile=asked.profile) as session,
        opened_file(
            asked.url, storage_options=options or None, format=asked.format, session=session
        ) as file,
    ):
        yield file


def storage_options(words: Sequence[str]) -> dict[str, object]:
    """``KEY=VALUE`` words as one mapping; RequestError for a word that is none, value untold."""
    options: dict[str, object] = {}
    for word in words:
        name, sign, text = word.partition("=")
        path = name.split(".")
        if not sign or not all(path):
            raise RequestError(f"--storage-option wants KEY=VALUE, not {path[0]!r} alone")
        level = options
        for part in path[:-1]:
            below = level.setdefault(part, {})
            if not isinstance(below, dict):
                raise RequestError(f"--storage-option {name}: {part!r} has a value already")
            level = below
        level[path[-1]] = _value(path[-1], text)
    return options


def _value(name: str, text: str) -> object:
    """JSON where it is some. A credential that happens to be a number stays text."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return text if numeric and name in _SECRETS else value


def _anonymous(url: str) -> dict[str, object]:
    found = _SCHEME.match(url)
    scheme = found.group(1).lower() if found else ""
    if scheme in _ANON:
        return {"anon": True}
    if scheme in ("gs", "gcs"):
        return {"token": "anon"}
    if scheme in _OPEN:
        return {}
    raise RequestError(
        f"--anon is not known for {scheme}:// urls; say it as its filesystem does, with "
        f"--storage-option"
    )
