"""``rangeio info``: what a file is, and what it cost to know."""

from __future__ import annotations

import argparse

from rangeio.cli.legible import clean
from rangeio.cli.source import Commands, add_json, add_source, opened
from rangeio.cli.table import say_json, say_pairs, spent
from rangeio.explanation import size
from rangeio.file import File

_FEW = 2_000  # columns that are made only to count their leaves


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "info",
        help="format, rows, columns, sizes of the file and its metadata",
        description="Show what a file is. Reads metadata only.",
        allow_abbrev=False,
    )
    add_source(parser)
    parser.add_argument(
        "--leaves",
        action="store_true",
        help=f"count leaf columns also in a file of more than {_FEW:,} columns",
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print it."""
    with opened(asked) as file:
        found = _found(file, asked.leaves)
    if asked.json:
        say_json(found)
    else:
        say_pairs(_pairs(found))
    return 0


def _found(file: File, leaves: bool) -> dict[str, object]:
    columns = len(file.schema)
    few = leaves or columns <= _FEW
    found: dict[str, object] = {
        "url": file.url,
        "format": file.format,
        "version": file.version or None,
        "rows": file.num_rows,
        "columns": columns,
        "leaves": file.num_leaves if few else None,
        "size": file.size,
        "metadata_size": file.metadata_size,
        "tag": file.tag or None,
        "consistency": file.consistency,
    }
    trace = file.trace
    return found | {"cost": {"hops": trace.hops, "gets": trace.gets, "bytes": trace.bytes_read}}


def _pairs(found: dict[str, object]) -> list[tuple[str, str]]:
    pairs = [
        ("url", clean(str(found["url"]))),
        ("format", f"{found['format']} {found['version'] or ''}"),
        ("rows", _count(found["rows"])),
        ("columns", _count(found["columns"])),
    ]
    if found["leaves"] is not None:
        pairs.append(("leaves", _count(found["leaves"])))
    pairs.append(("size", _bytes(found["size"])))
    if found["metadata_size"] is not None:
        pairs.append(("metadata", _bytes(found["metadata_size"])))
    pairs.append(("tag", clean(str(found["tag"] or "none"))))
    pairs.append(("consistency", str(found["consistency"])))
    cost = found["cost"]
    assert isinstance(cost, dict)
    pairs.append(("cost", spent(cost["hops"], cost["gets"], cost["bytes"])))
    return pairs


def _count(number: object) -> str:
    return f"{number:,}"


def _bytes(number: object) -> str:
    assert isinstance(number, int)
    return size(number) if number < 1000 else f"{size(number)} ({number:,} bytes)"
