"""The words that say what is read of a file: columns, rows, filters."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rangeio.cli.filter import Group, joined
from rangeio.cli.word import word_of
from rangeio.errors import BadRows, RequestError
from rangeio.schema import Column, Schema
from rangeio.select import Word, select

_NUMBER = r"\s*(-?[0-9]{1,18})\s*"
_ROW = re.compile(_NUMBER)
_SLICE = re.compile(rf"(?:{_NUMBER}|\s*):(?:{_NUMBER}|\s*)")

Rows = slice | list[int]


def add_query(parser: argparse.ArgumentParser) -> None:
    """Add the options of a query."""
    parser.add_argument(
        "-c",
        "--columns",
        metavar="A,B",
        action="append",
        help="names, dotted paths, globs or #unique_id; a name with a comma goes in double "
        "quotes; repeatable; default: all",
    )
    parser.add_argument("--rows", metavar="ROWS", help="START:STOP, or row numbers: 7,3,3")
    parser.add_argument(
        "--filter",
        metavar="CONDITION",
        action="append",
        default=[],
        help="e.g. 'ts > 5', \"country in (NZ, 'AU')\", 'a.b is not null', with and, or; all that "
        "are given must hold; repeatable",
    )


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of one file.

    fields: the columns, as selected, None is all. rows: None is all. filters: any of the groups,
    all of the conditions of a group; None is no filter.
    """

    fields: tuple[Column, ...] | None
    rows: Rows | None
    filters: list[Group] | None

    @classmethod
    def of(cls, asked: argparse.Namespace, schema: Schema) -> Query:
        """The query of a command's words; RequestError where they are off."""
        words = words_of(asked.columns, schema)
        fields = None if words is None else select(schema, words).fields
        rows = None if asked.rows is None else rows_of(asked.rows)
        return cls(fields, rows, joined(asked.filter, schema))

    @property
    def words(self) -> list[Word] | None:
        """The columns, as ``read`` takes them."""
        return None if self.fields is None else list(self.fields)


def words_of(texts: Sequence[str] | None, schema: Schema) -> list[Word] | None:
    """Comma-separated column words; None is all columns."""
    if texts is None:
        return None
    words = [word for text in texts for word in _split(text)]
    if not words:
        raise RequestError("-c names no column")
    return [word_of(word, schema) for word in words]


def rows_of(text: str) -> Rows:
    """``10:20``, ``10:``, ``:20`` as a slice, ``7,3,3`` as row numbers; BadRows for the rest."""
    found = _SLICE.fullmatch(text)
    if found is not None:
        return slice(*(None if n is None else int(n) for n in found.groups()))
    rows = [_ROW.fullmatch(part) for part in text.split(",")]
    numbers = [int(row[1]) for row in rows if row is not None]
    if len(numbers) < len(rows):
        raise BadRows(f"--rows is START:STOP or row numbers like 7,3,3, not {text!r}")
    return numbers


def _split(text: str) -> list[str]:
    try:
        (line,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise RequestError(f"-c is names with commas between, not {text!r}") from None
    return [word.strip() for word in line if word.strip()]
