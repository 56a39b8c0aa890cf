"""How the files of one folder are called in another. Pure but for the current directory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

from rangeio.errors import RequestError
from rangeio.spark.options import as_url

Named: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


def urls_of(named: Named) -> list[str]:
    """One path or url, or many, each in our words."""
    many = [named] if isinstance(named, (str, os.PathLike)) else named
    return [as_url(os.fspath(one)) for one in many]


def absolute(url: str) -> str:
    """A path of the disk from the root on, for workers work elsewhere; other urls as they are."""
    path = url.removeprefix("file://")
    return url if "://" in path else os.path.abspath(path)


def below(root: str, urls: Sequence[str]) -> list[str]:
    """The names of files below ``root``, where they lie there, else below all folders that they
    have in common. All are absolute."""
    held = root.rstrip("/") + "/"
    if not all(url.startswith(held) for url in urls):
        held = _common(urls)
    return [url[len(held) :] for url in urls]


def renamed(names: Sequence[str], suffix: str) -> list[str]:
    """With another suffix. Raises RequestError where two files would become one."""
    found = [stem(name) + suffix for name in names]
    twice = [name for name, count in Counter(found).items() if count > 1]
    if twice:
        raise RequestError(f"more than one file would become {twice[0]}: name them apart")
    return found


def stem(name: str) -> str:
    """Without the last suffix."""
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}{file.rpartition('.')[0] or file}"


def _common(urls: Sequence[str]) -> str:
    parts = [url.split("/")[:-1] for url in urls]
    shared = 0
    while shared < min(map(len, parts)) and len({tuple(one[: shared + 1]) for one in parts}) == 1:
        shared += 1
    return "".join(f"{part}/" for part in parts[0][:shared])
