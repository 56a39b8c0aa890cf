"""``rangeio demo``: the words of the demo, which is loaded when it is asked for."""

from __future__ import annotations

import argparse

from rangeio.cli.source import Commands, add_json


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "demo",
        help="the main job on an embedded S3 server, with its figures",
        description="Start an S3 server, read 2 of a file's 3,000 columns from it, and show the "
        "plan, the GETs and the bytes beside pylance's.",
        allow_abbrev=False,
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Run the demo."""
    from rangeio.cli.demo import demo

    return demo(as_json=asked.json)
