"""The names in the cache's directory: hexadecimal digits, of which the length tells what it is.

    0                 the ledger
    64 digits         the folder of one version of one object: the hash of its key
      32 digits       a block: start and stop of its range
      24 digits       a block that is being written

What has another name is nobody's of ours, and never touched.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from typing import NamedTuple

from rangeio.ranges import ByteRange

LEDGER = "0"
FOLDER = re.compile(r"[0-9a-f]{64}")
BLOCK = re.compile(r"[0-9a-f]{32}")
TEMPORARY = re.compile(r"[0-9a-f]{24}")


_PAGE = 4096


class Found(NamedTuple):
    """A file: where, when it was last used, and what it takes."""

    path: str
    used: float
    size: int


def block(at: ByteRange) -> str:
    """The name of a block."""
    return f"{at.start:016x}{at.stop:016x}"


def taken(size: int) -> int:
    """What a file of so many bytes takes of a disk, so that a cap in bytes bounds the files too."""
    return -(-size // _PAGE) * _PAGE


def parsed(name: str) -> ByteRange | None:
    """The range that a block's name tells; None of any other name."""
    if BLOCK.fullmatch(name) is None:
        return None
    start, stop = int(name[:16], 16), int(name[16:], 16)
    return ByteRange(start, stop) if start < stop else None


def temporary() -> str:
    """A name that nobody else has."""
    return secrets.token_hex(12)


def entries(folder: str, kind: re.Pattern[str]) -> Iterator[str]:
    """Paths of what has a name of this kind; nothing where there is no such folder."""
    try:
        with os.scandir(folder) as found:
            yield from [one.path for one in found if kind.fullmatch(one.name)]
    except OSError:
        return


def files(folder: str, kind: re.Pattern[str]) -> Iterator[Found]:
    """The same, with time and size; what goes away meanwhile is left out."""
    for path in entries(folder, kind):
        try:
            told = os.lstat(path)
        except OSError:
            continue
        yield Found(path, told.st_mtime, taken(told.st_size))
