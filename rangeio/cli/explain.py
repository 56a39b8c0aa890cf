"""``rangeio explain``: what a read would fetch, paid for with metadata only."""

from __future__ import annotations

import argparse

from rangeio.cli.legible import clean
from rangeio.cli.query import Query, add_query
from rangeio.cli.source import Commands, add_json, add_source, opened
from rangeio.cli.table import say, say_json


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "explain",
        help="the plan of a read: hops, GETs, bytes; pays for metadata only",
        description="Show what `rangeio read` would fetch with the same options.",
        allow_abbrev=False,
    )
    add_source(parser)
    add_query(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print the plan."""
    with opened(asked) as file:
        query = Query.of(asked, file.schema)
        plan = file.explain(query.words, rows=query.rows, filters=query.filters)
    if asked.json:
        say_json(plan.to_dict())
    else:
        say("\n".join(clean(line) for line in str(plan).splitlines()))
    return 0
