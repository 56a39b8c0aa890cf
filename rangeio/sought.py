"""What a request may look at, told before the schema is known: a bound, for names alone. Pure."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from rangeio.errors import BadFilter
from rangeio.expression import references, tree_of
from rangeio.predicate import Filters
from rangeio.schema import Column, Schema
from rangeio.select import Words

_WILD = re.compile(r"[*?\[]")
WHOLE = ""
"""What stands for a whole column among the dotted paths below it."""


@dataclass(frozen=True, slots=True)
class Sought:
    """The words of a request: its columns, and those that its filters name.

    words: None is every column. What is malformed is left for others to refuse.
    """

    words: tuple[object, ...] | None
    case_sensitive: bool = True

    @classmethod
    def of(
        cls, columns: Words | None, filters: Filters | None, case_sensitive: bool = True
    ) -> Sought:
        """The words of a read."""
        if columns is None:
            return cls(None, case_sensitive)
        return cls((*_listed(columns), *_filtered(filters)), case_sensitive)

    def reached(
        self, schema: Schema, holders: Callable[[int], Sequence[int]]
    ) -> dict[int, set[str]]:
        """Every top-level position that a word may mean, with the dotted paths below it.

        The path is WHOLE where all of a column may be meant. Looks at names alone: no column of
        ``schema`` is made. holders: the positions of a unique_id.
        """
        found: dict[int, set[str]] = {}
        if self.words is None:
            return {i: {WHOLE} for i in range(len(schema))}
        fold = str if self.case_sensitive else str.casefold
        positions = schema.positions if self.case_sensitive else _folded(schema)
        for word in self.words:
            if isinstance(word, str):
                hits = _named(word, fold, positions.get)
                if _WILD.search(word):
                    hits += [(i, WHOLE) for i in _globbed(word, schema, self.case_sensitive)]
            else:
                hits = list(_meant(word, schema, fold, positions.get, holders))
            for i, below in hits:
                found.setdefault(i, set()).add(below if self.case_sensitive else WHOLE)
        return {i: {WHOLE} if WHOLE in below else below for i, below in found.items()}


def _named(
    word: str, fold: Callable[[str], str], positions: Callable[[str, list[int]], list[int]]
) -> list[tuple[int, str]]:
    """All readings of a name or dotted path; a name may hold dots itself."""
    found = [(i, WHOLE) for i in positions(fold(word), [])]
    for dot in re.finditer(r"\.", word):
        tops = positions(fold(word[: dot.start()]), [])
        found += [(i, word[dot.end() :]) for i in tops]
    return found


def _meant(
    word: object,
    schema: Schema,
    fold: Callable[[str], str],
    positions: Callable[[str, list[int]], list[int]],
    holders: Callable[[int], Sequence[int]],
) -> Iterator[tuple[int, str]]:
    """What a word that is no string may mean."""
    if isinstance(word, Column):
        word = word.path
    if isinstance(word, (list, tuple)) and word and all(isinstance(part, str) for part in word):
        first, *rest = word
        yield from ((i, ".".join(rest)) for i in positions(fold(str(first)), []))
    elif isinstance(word, (int, np.integer)) and not isinstance(word, bool):
        yield from ((i, WHOLE) for i in holders(int(word)))
    elif isinstance(word, re.Pattern) and isinstance(word.pattern, str):
        flags = word.flags if fold is str else word.flags | re.IGNORECASE
        pattern = re.compile(word.pattern, flags)
        yield from ((i, WHOLE) for i, name in enumerate(schema.names) if pattern.fullmatch(name))


def _globbed(word: str, schema: Schema, case_sensitive: bool) -> list[int]:
    """The names that a glob may match, with or without the dotted paths below them."""
    flags = 0 if case_sensitive else re.IGNORECASE
    ends = [m.end() - (m.group() == ".") for m in re.finditer(r"[.*]", word)]
    globs = [re.compile(fnmatch.translate(word[:end]), flags) for end in (*ends, len(word))]
    return [i for i, name in enumerate(schema.names) if any(g.fullmatch(name) for g in globs)]


def _folded(schema: Schema) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for i, name in enumerate(schema.names):
        found.setdefault(name.casefold(), []).append(i)
    return found


def _listed(words: object) -> Iterable[object]:
    if isinstance(words, np.ndarray):
        return list(words.tolist())
    if isinstance(words, Sequence) and not isinstance(words, (str, bytes)):
        return words
    return (words,)


def _filtered(filters: object) -> Iterator[object]:
    """The words of all conditions, however they are nested."""
    if isinstance(filters, pc.Expression):
        try:
            yield from references(tree_of(filters))
        except BadFilter:
            return
    if not isinstance(filters, (list, tuple)):
        return
    if len(filters) in (2, 3) and len(filters) > 1 and isinstance(filters[1], str):
        yield filters[0]
        return
    for one in filters:
        yield from _filtered(one)
