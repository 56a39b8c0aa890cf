"""Which column of a schema of Spark's a word for one means. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence

import pyspark.sql.types as st

from rangeio.errors import NoSuchColumn, RequestError

Path = tuple[str, ...]
Word = str | Sequence[str]
Fold = Callable[[str], str]


def path_of(word: Word, schema: st.StructType) -> Path:
    """The path of a column by its name, else its dotted path, or by the names of the way to it.

    Names in their own case come first, then those in any. Raises NoSuchColumn, and RequestError
    where a word means more than one.
    """
    for fold in (str, str.casefold):
        found = list(_meant(word, schema, fold))
        if len(found) > 1:
            raise RequestError(f"{word!r} means more than one column: {found[0]!r}, {found[1]!r}")
        if found:
            return found[0]
    shown = word if isinstance(word, str) else ".".join(word)
    near = difflib.get_close_matches(shown, schema.names, n=1)
    raise NoSuchColumn(f"no column {word!r}" + (f"; did you mean {near[0]!r}?" if near else ""))


def _meant(word: Word, schema: st.StructType, fold: Fold) -> Iterator[Path]:
    if not isinstance(word, str):
        yield from _along(list(word), schema, fold)
        return
    whole = list(_along([word], schema, fold))
    yield from whole or _dotted(word, schema, fold)


def _along(names: Sequence[str], kind: st.DataType, fold: Fold) -> Iterator[Path]:
    if not names:
        yield ()
        return
    for name, below in _children(kind, names[0], fold):
        for rest in _along(names[1:], below, fold):
            yield (name, *rest)


def _dotted(word: str, kind: st.DataType, fold: Fold) -> Iterator[Path]:
    """Every reading of it, for names may hold dots themselves."""
    for name, _ in _children(kind, word, fold):
        yield (name,)
    for dot in (i for i, letter in enumerate(word) if letter == "."):
        for name, below in _children(kind, word[:dot], fold):
            for rest in _dotted(word[dot + 1 :], below, fold):
                yield (name, *rest)


def _children(kind: st.DataType, name: str, fold: Fold) -> Iterator[tuple[str, st.DataType]]:
    for field in kind if isinstance(kind, st.StructType) else ():
        if fold(field.name) == fold(name):
            yield field.name, field.dataType
