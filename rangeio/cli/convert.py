"""``rangeio convert``: one file as another, in another format."""

from __future__ import annotations

import argparse
from typing import Any

import rangeio
from rangeio.cli.legible import clean
from rangeio.cli.progress import Progress
from rangeio.cli.source import Commands, add_json, opened, storage_options
from rangeio.cli.table import say, say_json, spent
from rangeio.cli.target import ended_by_signals
from rangeio.explanation import size
from rangeio.file import File


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "convert",
        help="write a file again, in another format",
        description="Write the rows of SRC as DST, batch by batch. DST appears when it is whole.",
        allow_abbrev=False,
    )
    parser.add_argument("url", metavar="SRC", help="s3:// gs:// http(s):// file:// ..., or a path")
    parser.add_argument("target", metavar="DST", help="where to write: a url, or a path")
    parser.add_argument(
        "--format",
        dest="kind",
        metavar="NAME",
        help="DST's format, as parquet or doris; else the end of its name tells it",
    )
    parser.add_argument(
        "--from", dest="format", metavar="NAME", help="SRC's format; else it is sniffed"
    )
    _add_pairs(parser, "--option", "of the format, as version=2 or compression=zstd")
    _add_pairs(parser, "--storage-option", "for SRC's store, as fsspec names it")
    _add_pairs(parser, "--target-option", "for DST's store, as fsspec names it")
    parser.add_argument("--anon", action="store_true", help="read SRC without credentials")
    parser.add_argument(
        "--profile", metavar="NAME", help="cost profile: s3, s3express, gs, http, file or memory"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Convert, and say what came of it."""
    with ended_by_signals(), opened(asked) as file, Progress(file.trace) as progress:
        done = _converted(asked, file, progress)
        trace = file.trace
        cost = spent(trace.hops, trace.gets, trace.bytes_read)
    if asked.json:
        figures = {"hops": trace.hops, "gets": trace.gets, "bytes": trace.bytes_read}
        say_json({"output": done.url, "rows": done.rows, "size": done.size, "cost": figures})
    else:
        say(f"{clean(done.url)}: {done.rows:,} rows, {size(done.size)}; {cost}")
    return 0


def _converted(asked: argparse.Namespace, file: File, progress: Progress) -> rangeio.Written:
    words: dict[str, Any] = storage_options(asked.option)
    return rangeio.convert(
        file,
        asked.target,
        format=asked.kind,
        progress=lambda done, _: progress.add(done - progress.rows),
        storage_options=storage_options(asked.target_option) or None,
        **words,
    )


def _add_pairs(parser: argparse.ArgumentParser, name: str, words: str) -> None:
    parser.add_argument(
        name,
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help=f"{words}; a value may be JSON; repeatable",
    )
