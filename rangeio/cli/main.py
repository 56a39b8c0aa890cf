"""The command line: its words, its commands, its exit codes."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import rangeio
from rangeio.cli import columns, convert, demonstration, doctor, explain, info, read
from rangeio.cli.failure import guarded

_COMMANDS = (info, columns, explain, read, convert, doctor, demonstration)
_EPILOG = "exit codes: 0 done, 1 the data or store failed, 2 the command's words are off"


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 done; 1 the data or store failed; 2 the command's words are off; 130 interrupted, 128 + n
    ended by signal n. What went wrong is one line on stderr; RANGEIO_DEBUG=1 adds the traceback.
    """
    return guarded(lambda: _run(words))


def _run(words: Sequence[str] | None) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that the terminal's encoding lacks is escaped, and no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    asked = _parser().parse_args(words)
    command: Callable[[argparse.Namespace], int] = asked.run
    return command(asked)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where to read more."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="rangeio",
        description="Read N columns of a C-column file on object storage and pay for N.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rangeio {rangeio.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add(commands)
    return parser
