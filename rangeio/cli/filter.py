"""The language of ``--filter``: ``column op value``, joined by ``and`` and ``or``."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from rangeio.cli.value import value_of
from rangeio.cli.word import word_of
from rangeio.errors import BadFilter
from rangeio.schema import Column, Schema
from rangeio.select import one_of

Bound: TypeAlias = tuple[Column, str] | tuple[Column, str, object]
Group: TypeAlias = list[Bound]

_MOST_GROUPS = 1000
_COMPARISONS = frozenset({"=", "==", "!=", "<>", "<", "<=", ">", ">="})
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<quoted> '(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` )
    | (?P<sign> == | != | <> | <= | >= | [=<>(),] )
    | (?P<word> [^\s'"`=!<>(),]+ )
    )""",
    re.VERBOSE,
)


class _Kind(enum.Enum):
    WORD = "word"
    QUOTED = "quoted"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: _Kind
    text: str

    def says(self, *words: str) -> bool:
        """Whether it is one of these signs, or bare words in any case."""
        return self.kind not in (_Kind.QUOTED, _Kind.END) and self.text.lower() in words


def joined(texts: Sequence[str], schema: Schema) -> list[Group] | None:
    """All filters together: any of the groups, all conditions of a group; None where there is none.

    Values are made of the column's type. Raises BadFilter, and NoSuchColumn for an unknown column.
    """
    if not texts:
        return None
    each = [filter_of(text, schema) for text in texts]
    size = 1
    for groups in each:
        size *= len(groups)
    if size > _MOST_GROUPS:
        raise BadFilter(f"the filters have {size} combinations of 'or', at most {_MOST_GROUPS} do")
    return [[one for group in groups for one in group] for groups in product(*each)]


def filter_of(text: str, schema: Schema) -> list[Group]:
    """One filter; ``and`` binds before ``or``."""
    words = _Words(text, schema)
    groups = [[words.condition()]]
    while not words.ended():
        if words.takes("and"):
            groups[-1].append(words.condition())
        elif words.takes("or"):
            groups.append([words.condition()])
        else:
            words.fail("quote a value that has spaces; 'and' or 'or' joins conditions")
    return groups


class _Words:
    """The words of one filter, taken from left to right."""

    def __init__(self, text: str, schema: Schema) -> None:
        self.text = text
        self.schema = schema
        self.left = _tokens(text)

    def condition(self) -> Bound:
        """The next condition."""
        column = self.column()
        if self.takes("is"):
            negated = self.takes("not")
            if not self.takes("null"):
                self.fail("'is' goes with 'null' or 'not null'")
            return (column, "is not null" if negated else "is null")
        if self.takes("in"):
            return (column, "in", self.values(column))
        if self.takes("not"):
            if not self.takes("in"):
                self.fail("'not' goes with 'in'")
            return (column, "not in", self.values(column))
        sign = self.left.pop()
        if sign.kind is not _Kind.SIGN or sign.text not in _COMPARISONS:
            self.left.append(sign)
            self.fail("after the column comes one of = != < <= > >= in, not in, is null")
        return (column, "!=" if sign.text == "<>" else sign.text, self.value(column))

    def column(self) -> Column:
        """The next word as a column of the schema."""
        token = self.left.pop()
        if token.kind not in (_Kind.WORD, _Kind.QUOTED):
            self.left.append(token)
            self.fail("a condition is: column op value")
        bare = token.kind is _Kind.WORD
        word = word_of(token.text, self.schema) if bare else token.text
        return one_of(self.schema, word)[1]

    def values(self, column: Column) -> list[object]:
        """A list in parentheses."""
        if not self.takes("("):
            self.fail("'in' goes with a list: (a, b)")
        found = [self.value(column)]
        while self.takes(","):
            found.append(self.value(column))
        if not self.takes(")"):
            self.fail("a list ends with )")
        return found

    def value(self, column: Column) -> object:
        """The next word as a value of the column's type."""
        token = self.left.pop()
        if token.kind not in (_Kind.WORD, _Kind.QUOTED):
            self.left.append(token)
            self.fail("a value is missing")
        if token.kind is _Kind.WORD and token.text.lower() == "null":
            return None
        return value_of(token.text, column)

    def takes(self, word: str) -> bool:
        """Whether the next word is this one; it is taken then."""
        if not self.left[-1].says(word):
            return False
        self.left.pop()
        return True

    def ended(self) -> bool:
        """Whether all words are taken."""
        return self.left[-1].kind is _Kind.END

    def fail(self, why: str) -> None:
        """Raise BadFilter that says where."""
        token = self.left[-1]
        where = "at its end" if token.kind is _Kind.END else f"at {token.text!r}"
        raise BadFilter(f"the filter {self.text!r} fails {where}: {why}")


def _tokens(text: str) -> list[_Token]:
    """The words of a filter, the last one first, so that they are popped."""
    found: list[_Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].strip()
            why = "a quote is not closed" if rest[0] in "'\"`" else "quote what is not a plain word"
            raise BadFilter(f"the filter {text!r} fails at {rest!r}: {why}")
        kind = _Kind(match.lastgroup)
        word = match[kind.value]
        if kind is _Kind.QUOTED:
            word = word[1:-1].replace(word[0] * 2, word[0])
        found.append(_Token(kind, word))
        at = match.end()
    return [_Token(_Kind.END, ""), *reversed(found)]
