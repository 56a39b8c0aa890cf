"""How the pages of a column come to be: values in, the values parts of full pages out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rangeio.codecs.bounds import Offsets
from rangeio.formats.doris.encodings import Binary, Fixed, Values, encoded
from rangeio.formats.doris.words import Encoding
from rangeio.formats.doris.writing.choice import Chosen
from rangeio.formats.doris.writing.dense import empty, part
from rangeio.formats.doris.writing.dictionary import Dictionary
from rangeio.formats.doris.writing.filling import Filling, rule_of


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The values part of a page.

    body: encoded. values: what it holds, of a page of codes each word once. rows: the number of
    the row of every value.
    """

    body: bytes
    values: Values
    rows: Offsets


class Coder(Protocol):
    """Values to pages."""

    def add(self, values: Values, rows: Offsets) -> Iterator[Part]:
        """Append values, with the number of the row of each; the pages that they fill."""
        ...

    def finish(self) -> Part | None:
        """The last page, of what is held; None where nothing is."""
        ...

    def empty(self) -> bytes:
        """The values part of a page without values."""
        ...

    def words(self) -> Binary | None:
        """The dictionary, where the column has one and used it."""
        ...


class Plainly:
    """Every page by one encoding."""

    def __init__(self, encoding: Encoding, size: int, page_size: int) -> None:
        self._encoding = encoding
        self._size = size
        self._filling = Filling(rule_of(encoding, size, page_size))

    def add(self, values: Values, rows: Offsets) -> Iterator[Part]:
        """The pages that are full."""
        self._filling.add(values, rows)
        for page, own in self._filling.pages():
            yield self._part(page, own)

    def finish(self) -> Part | None:
        """What is held."""
        return self._part(*self._filling.rest()) if len(self._filling) else None

    def empty(self) -> bytes:
        """An encoding of nothing."""
        return encoded(self._encoding, self._size, empty(self._size))

    def words(self) -> None:
        """None."""
        return

    def _part(self, values: Values, rows: Offsets) -> Part:
        return Part(encoded(self._encoding, self._size, values), values, rows)


class Worded:
    """Codes while the dictionary has room, then plain values."""

    def __init__(self, plain: Encoding, page_size: int, dict_page_size: int) -> None:
        self._plain = plain
        self._dictionary = Dictionary(plain, dict_page_size)
        self._codes = Filling(rule_of(Encoding.BIT_SHUFFLE, 4, page_size))
        self._others = Filling(rule_of(plain, 0, page_size))

    def add(self, values: Values, rows: Offsets) -> Iterator[Part]:
        """The pages that are full; the page in which the dictionary came to be full is."""
        assert isinstance(values, Binary)
        codes = self._dictionary.codes(values)
        count = len(codes)
        stored = np.ascontiguousarray(codes, "<i4").view(np.uint8).reshape(-1, 4)
        self._codes.add(Fixed(stored), rows[:count])
        for page, own in self._codes.pages():
            yield self._coded(page, own)
        if self._dictionary.full and len(self._codes):
            yield self._coded(*self._codes.rest())
        self._others.add(part(values, count, len(values)), rows[count:])
        for page, own in self._others.pages():
            yield self._other(page, own)

    def finish(self) -> Part | None:
        """What is held."""
        if len(self._codes):
            return self._coded(*self._codes.rest())
        return self._other(*self._others.rest()) if len(self._others) else None

    def empty(self) -> bytes:
        """Of the kind that is being written."""
        nothing = empty(0 if self._dictionary.full else 4)
        return encoded(Encoding.DICT, 0, nothing, fallback=self._plain)

    def words(self) -> Binary:
        """All words."""
        return self._dictionary.words()

    def _coded(self, codes: Values, rows: Offsets) -> Part:
        assert isinstance(codes, Fixed)
        used = self._dictionary.used(np.ascontiguousarray(codes.data).view("<i4").ravel())
        return Part(encoded(Encoding.DICT, 0, codes), used, rows)

    def _other(self, values: Values, rows: Offsets) -> Part:
        return Part(encoded(Encoding.DICT, 0, values, fallback=self._plain), values, rows)


def coder_of(chosen: Chosen, size: int, page_size: int, dict_page_size: int) -> Coder:
    """What encodes a column so."""
    if chosen.encoding is Encoding.DICT:
        return Worded(chosen.plain, page_size, dict_page_size)
    return Plainly(chosen.encoding, size, page_size)
