"""``rangeio columns``: every column of a file, with its encodings and its bytes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rangeio.cli.legible import clean, shown
from rangeio.cli.source import Commands, add_json, add_source, opened
from rangeio.cli.table import Heading, say_json, say_table
from rangeio.cli.word import word_of
from rangeio.column import ColumnReader, pages_of
from rangeio.explanation import size
from rangeio.file import File
from rangeio.formats.format import PageInfo
from rangeio.predicate import Statistics
from rangeio.schema import Column, ColumnId
from rangeio.select import select

_HEADINGS = (
    Heading("id", right=True, whole=True),
    Heading("path", whole=True),
    Heading("type"),
    Heading("pages", right=True),
    Heading("bytes", right=True),
    Heading("encodings"),
)
_BOUNDS = (Heading("min"), Heading("max"), Heading("nulls", right=True))
_UNKNOWN = "-"

Paged: TypeAlias = Mapping[ColumnId, Sequence[PageInfo]]


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "columns",
        help="ids, paths, types, encodings and bytes of the columns",
        description="List the columns of a file, nested ones below their own. Reads metadata "
        "only, of all listed columns at once.",
        allow_abbrev=False,
    )
    add_source(parser)
    parser.add_argument(
        "--like", metavar="GLOB", help="only what this glob, name, dotted path or #unique_id means"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print them."""
    with opened(asked) as file:
        words = None if asked.like is None else word_of(asked.like, file.schema)
        fields = select(file.schema, words).fields
        found = _found(file, fields)
    if asked.json:
        say_json(found)
    else:
        _say(found)
    return 0


def _found(file: File, fields: Sequence[Column]) -> list[dict[str, object]]:
    pages = _by_column(pages_of(file, fields))
    return [_described(file, column, pages) for field in fields for column in field.walk()]


def _by_column(pages: Mapping[ColumnId, Sequence[PageInfo]]) -> Paged:
    """Every page with the column that it belongs to, which may lie below that whose metadata
    names it."""
    found: dict[ColumnId, list[PageInfo]] = {column: [] for column in pages}
    for page in (one for own in pages.values() for one in own):
        found.setdefault(page.column, []).append(page)
    return found


def _described(file: File, column: Column, pages: Paged) -> dict[str, object]:
    below = [page for one in column.walk() for page in pages.get(one.id, ())]
    statistics = ColumnReader(file, column).statistics
    told = not _untold(column, pages)
    return {
        "unique_id": column.unique_id,
        "id_declared": column.id_declared,
        "path": list(column.path),
        "type": str(column.type),
        "nullable": column.nullable,
        "leaf": not column.children,
        "pages": _sum([page.count for page in below]) if told else None,
        "bytes": _sum([page.size for page in below]) if told else None,
        "encodings": list(dict.fromkeys(page.encoding for page in below)),
        "statistics": None if statistics is None else _bounds(statistics),
    }


def _untold(column: Column, pages: Paged) -> bool:
    """Whether the pages of a column are only known with those of one above it."""
    if any(one.id in pages for one in column.walk()):
        return False
    above = (ColumnId(column.unique_id, column.path[:k]) for k in range(1, len(column.path)))
    return any(one in pages for one in above)


def _sum(figures: Sequence[int]) -> int | None:
    """None where one is negative, which is not known."""
    return None if any(one < 0 for one in figures) else sum(figures)


def _bounds(known: Statistics) -> dict[str, object]:
    return {
        "min": None if known.min is None else shown(known.min),
        "max": None if known.max is None else shown(known.max),
        "null_count": known.null_count,
    }


def _say(found: Sequence[Mapping[str, object]]) -> None:
    bounded = any(one["statistics"] is not None for one in found)
    headings = (*_HEADINGS, *_BOUNDS) if bounded else _HEADINGS
    say_table(headings, [_cells(one, bounded) for one in found])


def _cells(one: Mapping[str, object], bounded: bool) -> list[str]:
    path, total, encodings, known = (one[n] for n in ("path", "bytes", "encodings", "statistics"))
    assert isinstance(path, list)
    assert total is None or isinstance(total, int)
    assert isinstance(encodings, list)
    cells = [
        str(one["unique_id"]),
        clean(".".join(path)),
        clean(str(one["type"])),
        _UNKNOWN if one["pages"] is None else str(one["pages"]),
        _UNKNOWN if total is None else size(total),
        clean(", ".join(encodings)),
    ]
    if bounded:
        known = known if isinstance(known, dict) else {}
        each = (known.get(name) for name in ("min", "max", "null_count"))
        cells += ["" if value is None else str(value) for value in each]
    return cells
