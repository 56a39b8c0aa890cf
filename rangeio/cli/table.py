"""Tables of text: rich's on a terminal where it is installed, else plain columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from rangeio.explanation import size

_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Heading:
    """The head of a column. right: its cells are numbers. whole: its cells are never cut."""

    text: str
    right: bool = False
    whole: bool = False


def say(text: str = "") -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def say_json(value: object) -> None:
    """Print a value as JSON."""
    say(json.dumps(value, indent=1, ensure_ascii=False))


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def say_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values, aligned."""
    wide = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        say(f"{name:{wide}}  {value}".rstrip())


def spent(hops: int, gets: int, read: int) -> str:
    """What was paid, in words."""
    return f"{_counted(hops, 'hop')}, {_counted(gets, 'GET')}, {size(read)}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def say_table(headings: Sequence[Heading], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; cells are text without control characters."""
    if on_terminal() and find_spec("rich") is not None:
        _rich(headings, rows)
    else:
        _plain(headings, rows)


def _rich(headings: Sequence[Heading], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for one in headings:
        table.add_column(
            Text(one.text),
            justify="right" if one.right else "left",
            no_wrap=not one.whole,
            overflow="fold" if one.whole else "ellipsis",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(file=sys.stdout, highlight=False).print(table)


def _plain(headings: Sequence[Heading], rows: Sequence[Sequence[str]]) -> None:
    lines = [[h.text for h in headings], *rows]
    cells = [[_cut(c, h) for c, h in zip(line, headings, strict=True)] for line in lines]
    wide = [max(len(line[i]) for line in cells) for i in range(len(headings))]
    for line in cells:
        padded = [
            cell.rjust(wide[i]) if headings[i].right else cell.ljust(wide[i])
            for i, cell in enumerate(line)
        ]
        say("  ".join(padded).rstrip())


def _cut(cell: str, heading: Heading) -> str:
    """The cell, shortened for a terminal; a pipe gets it whole."""
    if heading.whole or len(cell) <= _WIDEST or not on_terminal():
        return cell
    return f"{cell[: _WIDEST - 1]}…"
