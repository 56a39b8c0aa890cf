"""Which paths a glob means: ``*``, ``?``, ``[..]``, ``**`` and ``{a,b}``. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rangeio.errors import RequestError

MOST = 1000
"""Patterns that the braces of one glob may stand for."""

_MAGIC = re.compile(r"[*?\[{]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def has_magic(text: str, magic: re.Pattern[str] = _MAGIC) -> bool:
    """Whether a path is a glob. A brace without alternatives is a character like others."""
    rest = text.replace("{", "") if not _BRACES.search(text) else text
    return magic.search(rest) is not None


def hidden(name: str) -> bool:
    """Whether a file or folder of this name is passed over where nobody names it."""
    return name.startswith(("_", "."))


@dataclass(frozen=True, slots=True)
class Glob:
    """Patterns of paths below a root, each a sequence of one pattern a segment.

    ``**`` as a segment stands for any number of folders, at the end for all that lies below. No
    wildcard stands for a hidden name: a pattern has to begin with the same mark.
    """

    patterns: tuple[tuple[str, ...], ...]

    def matches(self, path: Sequence[str]) -> bool:
        """Whether a file of these segments is meant."""
        if self.patterns == _ALL:
            return not any(map(hidden, path))
        folder, name = tuple(path[:-1]), path[-1]
        return any(len(p) in _step(p, _states(p, folder), name) for p in self.patterns)

    def enters(self, folder: Sequence[str]) -> bool:
        """Whether a file in this folder, or below it, can be meant."""
        at = tuple(folder)
        return any(min(_states(p, at), default=len(p)) < len(p) for p in self.patterns)


_ALL = (("**",),)
ANYTHING = Glob(_ALL)
"""All that is not hidden, at any depth: what a directory means."""


def split(text: str) -> tuple[str, Glob]:
    """The folder below which all lies that a glob means, "" or with a slash at its end, and the
    glob below it. Raises RequestError for braces that stand for too much."""
    patterns = [one.split("/") for one in dict.fromkeys(_alternatives(text))]
    fixed = 0
    while all(len(p) > fixed + 1 and not has_magic(p[fixed]) for p in patterns) and (
        len({p[fixed] for p in patterns}) == 1
    ):
        fixed += 1
    root = "".join(f"{segment}/" for segment in patterns[0][:fixed])
    # A slash at the end means the folders of that name, and so what is in them.
    below = (p[fixed:] if p[-1] else [*p[fixed:-1], "**", "*"] for p in patterns)
    return root, Glob(tuple(map(tuple, below)))


def _alternatives(text: str) -> Iterator[str]:
    """The patterns that braces stand for, the innermost replaced first."""
    todo, count = [text], 0
    while todo:
        one = todo.pop()
        found = _BRACES.search(one)
        if found is None:
            yield one
        else:
            head, tail = one[: found.start()], one[found.end() :]
            todo += [f"{head}{choice}{tail}" for choice in reversed(found.group(1).split(","))]
        count += 1
        if count + len(todo) > 2 * MOST:
            raise RequestError(f"the braces of this glob stand for more than {MOST} patterns")


@lru_cache(16_384)
def _states(pattern: tuple[str, ...], path: tuple[str, ...]) -> frozenset[int]:
    """How many segments of the pattern may be used up once the path is; all ways at once.

    Files of one folder share it.
    """
    if not path:
        return _skipped(pattern, {0})
    return _step(pattern, _states(pattern, path[:-1]), path[-1])


def _step(pattern: tuple[str, ...], states: frozenset[int], name: str) -> frozenset[int]:
    """The states after one more segment of the path."""
    out: set[int] = set()
    for n in states:
        if n == len(pattern):
            continue
        if pattern[n] != "**":
            out |= {n + 1} if _is(pattern[n], name) else set()
        elif not hidden(name):
            out.add(n)
    return _skipped(pattern, out)


def _skipped(pattern: tuple[str, ...], states: set[int]) -> frozenset[int]:
    """The states, and those behind each ``**``, which may stand for nothing."""
    out = set(states)
    for n in sorted(states):
        while n < len(pattern) and pattern[n] == "**":
            n += 1
            out.add(n)
    return frozenset(out)


def _is(pattern: str, name: str) -> bool:
    if hidden(name) and name[:1] != pattern[:1]:
        return False
    return _compiled(pattern).match(name) is not None


@lru_cache(4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
