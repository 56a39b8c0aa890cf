"""Column words to columns: names, paths, ids and patterns, resolved against a schema. Pure."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rangeio.errors import NoSuchColumn, RequestError
from rangeio.schema import Column, Schema

Path: TypeAlias = tuple[str, ...]
Word: TypeAlias = str | Path | int | re.Pattern[str] | Column
Words: TypeAlias = Word | Sequence[Word]
Hit: TypeAlias = tuple[int, Column]
"""A top-level position, and what was asked at or below it."""

_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Selection:
    """The asked top-level columns, each pruned to what was asked of it, in the asked order."""

    fields: tuple[Column, ...]

    @property
    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema of what a read returns."""
        return pa.schema([field.arrow for field in self.fields])

    def flatten(self, table: pa.Table) -> pa.Table:
        """The columns of ``table`` (one per field, in order) with structs opened.

        A leaf is named by its dotted path and is null where a struct above it is. Lists and maps
        stay one column each.
        """
        if not self.fields:
            return table
        names: list[str] = []
        arrays: list[pa.ChunkedArray] = []
        for field, array in zip(self.fields, table.columns, strict=True):
            for column, leaf in _opened(field, array):
                names.append(column.id.name)
                arrays.append(leaf)
        return pa.Table.from_arrays(arrays, names)


def _opened(field: Column, array: pa.ChunkedArray) -> Iterator[tuple[Column, pa.ChunkedArray]]:
    if not field.children or not pa.types.is_struct(field.type):
        yield field, array
        return
    for i, child in enumerate(field.children):
        yield from _opened(child, pc.struct_field(array, [i]))


def select(schema: Schema, words: Words | None, *, case_sensitive: bool = True) -> Selection:
    """Resolve column words; None is every column.

    One word, or a list or tuple of words: an exact top-level name, else a dotted path; a tuple
    inside the list is a path; an int is a unique_id; a glob or a compiled pattern selects many, in
    the order of the schema; a Column stands for itself. Words that meet in one top-level column
    are merged at the place of the first. Raises NoSuchColumn, and RequestError where a word means
    more than one column. Builds no column that need not be looked at.
    """
    if words is None:
        schema.expect(range(len(schema)))
        return Selection(tuple(schema))
    names = _Names(schema, case_sensitive)
    asked: dict[int, set[Path]] = {}
    listed = _listed(words)
    schema.expect([i for word in listed for i in names.likely(word)])
    for word in listed:
        for position, column in names.hits(word):
            asked.setdefault(position, set()).update(_kept(word, column))
    return Selection(tuple(schema.at(i).pruned(frozenset(paths)) for i, paths in asked.items()))


def one_of(schema: Schema, word: Word, *, case_sensitive: bool = True) -> Hit:
    """The one column that a word means, with its top-level position; a pattern means many.

    Raises NoSuchColumn, and RequestError where there is more than one.
    """
    names = _Names(schema, case_sensitive)
    if isinstance(word, re.Pattern):
        raise RequestError(f"a pattern where one column belongs: {_shown(word)}")
    return _only(names.exact(word) if isinstance(word, str) else names.hits(word), schema, word)


def _listed(words: Words) -> Iterable[Word]:
    if isinstance(words, (str, int, np.integer, re.Pattern, Column)):
        return [words]
    if isinstance(words, Sequence) and not isinstance(words, (bytes, bytearray, memoryview)):
        return words
    if isinstance(words, np.ndarray) and words.ndim == 1:
        return list(words.tolist())
    raise RequestError(f"columns are names, paths, ids or patterns, not {type(words).__name__}")


def _kept(word: object, column: Column) -> Iterable[Path]:
    """The paths to keep for a hit. A Column may come pruned, and is taken as it is."""
    if isinstance(word, Column) and pa.types.is_nested(word.type):
        return [leaf.path for leaf in word.leaves()]
    return [column.path]


class _Names:
    """Looks words up in one schema, by exact or by folded names."""

    def __init__(self, schema: Schema, case_sensitive: bool) -> None:
        self.schema = schema
        self.fold = str if case_sensitive else str.casefold
        self.flags = 0 if case_sensitive else re.IGNORECASE
        self.levels: dict[int, dict[str, list[Column]]] = {}

    @cached_property
    def folded(self) -> Mapping[str, list[int]]:
        """Top-level positions by folded names: of all names, so only for one that is not there."""
        found: dict[str, list[int]] = {}
        for i, name in enumerate(self.schema.names):
            found.setdefault(name.casefold(), []).append(i)
        return found

    def hits(self, word: object) -> list[Hit]:
        """What one word of any kind means."""
        if isinstance(word, str):
            return self.named(word)
        if isinstance(word, (list, tuple)):
            return [_only(self.along(tuple(word)), self.schema, tuple(word))]
        if isinstance(word, (int, np.integer)) and not isinstance(word, bool):
            return [_only(self.schema.with_id(int(word)), self.schema, int(word))]
        if isinstance(word, re.Pattern) and isinstance(word.pattern, str):
            return self.matching(re.compile(word.pattern, word.flags | self.flags), word)
        if isinstance(word, Column):
            return [_only(self.itself(word), self.schema, word.path)]
        raise RequestError(f"a column is a name, path, id or pattern, not {word!r}")

    def likely(self, word: object) -> Iterable[int]:
        """The top-level columns that will be looked at for a word, as far as names and ids tell."""
        if isinstance(word, str):
            dots = (word[: dot.start()] for dot in re.finditer(r"\.", word))
            return self.tops(word) or [i for name in dots for i in self.tops(name)]
        if isinstance(word, (list, tuple)):
            return self.tops(word[0]) if word and isinstance(word[0], str) else ()
        if isinstance(word, (int, np.integer)) and not isinstance(word, bool):
            return self.schema.numbered(int(word))
        return ()

    def named(self, word: str) -> list[Hit]:
        """An exact name first, then a dotted path, then a glob."""
        found = self.exact(word)
        if not found and _WILD.search(word):
            return self.globbed(word)
        return [_only(found, self.schema, word)]

    def exact(self, word: str) -> list[Hit]:
        """All that a name means, else all that a dotted path does."""
        tops = self.tops(word)
        return [(i, self.schema.at(i)) for i in tops[:3]] or list(self.dotted(word))

    def tops(self, name: str) -> list[int]:
        """Top-level positions of a name; one in the very same case is preferred."""
        found = self.schema.positions.get(name, [])
        return self.folded.get(name.casefold(), []) if self.flags and not found else found

    def dotted(self, word: str) -> Iterator[Hit]:
        """Every reading of a dotted path, for names may hold dots themselves."""
        for dot in re.finditer(r"\.", word):
            for i in self.tops(word[: dot.start()]):
                for column in self.below(self.schema.at(i), self.fold(word[dot.end() :])):
                    yield i, column

    def below(self, column: Column, rest: str) -> list[Column]:
        """What the folded dotted ``rest`` can mean under a column."""
        steps = self.steps(column)
        found = list(steps.get(rest, ()))
        for dot in re.finditer(r"\.", rest):
            for child in steps.get(rest[: dot.start()], ()):
                found += self.below(child, rest[dot.end() :])
        found = found or [c for item in _items(column) for c in self.below(item, rest)]
        return found or self.aliased(column, rest)

    def aliased(self, column: Column, rest: str) -> list[Column]:
        """What ``rest`` means by the names that files have for the inside of lists and maps."""
        for alias, target in _aliases(column):
            if rest == alias:
                return [target]
            if rest.startswith(f"{alias}."):
                return self.below(target, rest[len(alias) + 1 :])
        return []

    def along(self, path: tuple[object, ...]) -> list[Hit]:
        """Where a path leads."""
        if not path or not all(isinstance(name, str) for name in path):
            raise RequestError(f"a path is a tuple of names, not {path!r}")
        rest = [self.fold(str(name)) for name in path[1:]]
        tops = self.tops(str(path[0]))
        return [(i, c) for i in tops for c in self.walked(self.schema.at(i), rest)]

    def walked(self, column: Column, names: Sequence[str]) -> list[Column]:
        """Where folded names lead from a column."""
        if not names:
            return [column]
        steps = self.steps(column).get(names[0])
        if steps is None:
            found = [c for item in _items(column) for c in self.walked(item, names)]
            meant = [c for alias, c in _aliases(column) if alias == names[0]]
            return found or [c for one in meant for c in self.walked(one, names[1:])]
        return [c for child in steps for c in self.walked(child, names[1:])]

    def steps(self, column: Column) -> dict[str, list[Column]]:
        """What each folded name leads to from a column; made once, for structs may be wide."""
        if id(column) not in self.levels:
            level = self.levels[id(column)] = dict[str, list[Column]]()
            for name, child in _steps(column):
                level.setdefault(self.fold(name), []).append(child)
        return self.levels[id(column)]

    def itself(self, column: Column) -> list[Hit]:
        """Where a column of the schema lies; its id tells it from others of its name."""
        tops = self.schema.positions.get(column.path[0], [])
        found = [i for i in tops if any(c is column for c in self.schema.at(i).walk())]
        known = [i for i in tops if any(c.id == column.id for c in self.schema.at(i).walk())]
        return [(i, column) for i in found or known]

    def matching(self, pattern: re.Pattern[str], word: object) -> list[Hit]:
        """Top-level columns whose whole name matches."""
        found = [i for i, name in enumerate(self.schema.names) if pattern.fullmatch(name)]
        if not found:
            raise NoSuchColumn(f"no column matches {_shown(word)}")
        self.schema.expect(found)
        return [(i, self.schema.at(i)) for i in found]

    def globbed(self, word: str) -> list[Hit]:
        """Top-level names that a glob matches; where it has a dot, dotted paths too."""
        whole = re.compile(fnmatch.translate(word), self.flags)
        # A path can match only where its first name matches the glob up to a dot or a star.
        ends = [m.end() - (m.group() == ".") for m in re.finditer(r"[.*]", word)]
        prefixes = [re.compile(fnmatch.translate(word[:end]), self.flags) for end in ends]
        tops = {
            i: name
            for i, name in enumerate(self.schema.names)
            if whole.fullmatch(name) or ("." in word and any(p.fullmatch(name) for p in prefixes))
        }
        self.schema.expect(list(tops))
        found: list[Hit] = []
        for i, name in tops.items():
            if whole.fullmatch(name):
                found.append((i, self.schema.at(i)))
            else:
                below = _paths(self.schema.at(i), (name,))
                found += [(i, c) for path, c in below if whole.fullmatch(".".join(path))]
        if not found:
            raise NoSuchColumn(f"no column matches {word!r}")
        return found


# ---- the tree below a column -------------------------------------------------------------------


def _steps(column: Column) -> Iterator[tuple[str, Column]]:
    """The names that lead one level down. A map's sides are also ``key`` and ``value``."""
    children = column.children
    if pa.types.is_map(column.type):
        if len(children) == 1:
            children = children[0].children
        for alias, child in zip(("key", "value"), children, strict=False):
            yield alias, child
            if child.name != alias:
                yield child.name, child
        return
    for child in children:
        yield child.name, child


def _items(column: Column) -> tuple[Column, ...]:
    """The item of a list, whose name a path may skip; else nothing."""
    kind = column.type
    if pa.types.is_struct(kind) or pa.types.is_map(kind) or len(column.children) != 1:
        return ()
    return column.children


def _aliases(column: Column) -> list[tuple[str, Column]]:
    """Names on the way into a list or map as Parquet files spell it, ``a.list.element``: they lead
    to the item, or nowhere new. Taken where nothing has the name itself."""
    if pa.types.is_map(column.type):
        return [("key_value", column), ("entries", column), ("map", column)]
    return [
        pair for c in _items(column) for pair in (("list", column), ("element", c), ("item", c))
    ]


def _paths(column: Column, path: Path) -> Iterator[tuple[Path, Column]]:
    """All below a column, each under its full path and under the one that skips list items."""
    skipped = _items(column)
    for name, child in _steps(column):
        yield (*path, name), child
        yield from _paths(child, (*path, name))
    for item in skipped:
        yield from _paths(item, path)


# ---- what to say when a word means none, or too many -------------------------------------------


def _only(found: Sequence[Hit], schema: Schema, word: object) -> Hit:
    if not found:
        raise NoSuchColumn(_absent(schema, word))
    if len({(i, id(c)) for i, c in found}) == 1:
        return found[0]
    if isinstance(word, str) and len({c.path for _, c in found}) > 1:
        paths = ", ".join(repr(c.path) for _, c in found[:3])
        raise RequestError(f"{word!r} means more than one column: ask by path, one of {paths}")
    ids = ", ".join(str(c.unique_id) for _, c in found[:3])
    raise RequestError(f"{_shown(word)} means more than one column: ask by unique_id ({ids}, ...)")


def _absent(schema: Schema, word: object) -> str:
    if isinstance(word, int):
        return f"no column has the unique_id {word}"
    path = word if isinstance(word, tuple) else (str(word),)
    text = ".".join(path)
    near = [one for one in _near(schema, text) if one != path]
    shown = [repr(one if isinstance(word, tuple) else ".".join(one)) for one in near]
    said = f"; did you mean {' or '.join(shown)}?" if near else ""
    names = [".".join(one) for one in near]
    cased = any(one != text and one.casefold() == text.casefold() for one in names)
    return f"no column {word!r}{said}" + (" (names are case-sensitive)" if cased else "")


def _near(schema: Schema, text: str) -> list[Path]:
    """Up to three paths like ``text``, those that differ in case alone first."""
    paths: dict[str, Path] = {name: (name,) for name in schema.names}
    first = text.partition(".")[0].casefold()
    for i, name in enumerate(schema.names):
        if "." in text and name.casefold() == first:
            paths |= {".".join(path): path for path, _ in _paths(schema.at(i), (name,))}
    same = [name for name in paths if name.casefold() == text.casefold()]
    names = same + [name for name in _like(text, list(paths)) if name not in same]
    return [paths[name] for name in names[:3]]


def _like(text: str, names: list[str]) -> list[str]:
    """Close names; of very many, only those of about the same length and letters are compared."""
    if len(names) > 1000:
        letters = set(text.casefold())
        names = [
            name
            for name in names
            if abs(len(name) - len(text)) <= 2 and len(letters ^ set(name.casefold())) <= 3
        ]
    return difflib.get_close_matches(text, names[:2000], 3)


def _shown(word: object) -> str:
    return repr(word.pattern) if isinstance(word, re.Pattern) else repr(word)
