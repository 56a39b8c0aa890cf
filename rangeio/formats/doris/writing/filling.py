"""When a page is full: values wait until they fill one.

Doris ends a page with the value that fills it, so that rows which are NULL and follow go to the
next page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rangeio.codecs.bounds import Offsets
from rangeio.formats.doris.encodings import Binary, Values
from rangeio.formats.doris.words import Encoding
from rangeio.formats.doris.writing.dense import joined, part, size_in_bytes, words_of

RESTART = 16
"""Entries of a prefix page from one restart point to the next."""


class Rule(Protocol):
    """What fills a page."""

    def cost(self, values: Values) -> int:
        """What the values count."""
        ...

    def full(self, cost: int) -> bool:
        """Whether values that count so much could fill one."""
        ...

    def ends(self, values: Values) -> list[int]:
        """Where full pages end, one after the other."""
        ...


@dataclass(frozen=True, slots=True)
class ByCount:
    """A page of values of one size: so many."""

    most: int

    def cost(self, values: Values) -> int:
        """How many there are."""
        return len(values)

    def full(self, cost: int) -> bool:
        """Whether there are enough."""
        return cost >= self.most

    def ends(self, values: Values) -> list[int]:
        """Every so many."""
        return list(range(self.most, len(values) + 1, self.most))


@dataclass(frozen=True, slots=True)
class BySize:
    """A page of binary values: until an estimate of its size exceeds the page's.

    begin: what an empty page counts. counted: whether a value adds the size of its varint, else 4.
    """

    begin: int
    page_size: int
    counted: bool

    def cost(self, values: Values) -> int:
        """What they add to the estimate."""
        return int(self._costs(values).sum())

    def full(self, cost: int) -> bool:
        """Whether the estimate exceeds the page's size."""
        return self.begin + cost > self.page_size

    def ends(self, values: Values) -> list[int]:
        """After each value that makes the estimate exceed it."""
        sums = np.cumsum(self._costs(values))
        room = max(self.page_size - self.begin, 0)
        found: list[int] = []
        before = 0
        while True:
            end = int(np.searchsorted(sums, before + room, "right")) + 1
            if end > len(sums):
                return found
            found.append(end)
            before = int(sums[end - 1])

    def _costs(self, values: Values) -> Offsets:
        assert isinstance(values, Binary)
        sizes: Offsets = np.diff(values.offsets)
        return sizes + (varint_sizes(sizes) if self.counted else 4)


@dataclass(frozen=True, slots=True)
class ByPrefix:
    """A page of values that share prefixes: by the bytes that were written."""

    page_size: int

    def cost(self, values: Values) -> int:
        """The most bytes that they take: where they share nothing."""
        return size_in_bytes(values) + 11 * len(values)

    def full(self, cost: int) -> bool:
        """Whether so many bytes, and the end of the page, fill it."""
        return cost + 12 >= self.page_size

    def ends(self, values: Values) -> list[int]:
        """After each value that fills it."""
        assert isinstance(values, Binary)
        found: list[int] = []
        at, count, last = 0, 0, b""
        for k, word in enumerate(words_of(values)):
            shared = _common(last, word) if count % RESTART else 0
            own = len(word) - shared
            at += varint_size(shared) + varint_size(own) + own
            count, last = count + 1, word
            restarts = (count + RESTART - 1) // RESTART
            if at + 4 * (restarts + 2) >= self.page_size:
                found.append(k + 1)
                at, count, last = 0, 0, b""
        return found


def rule_of(encoding: Encoding, size: int, page_size: int) -> Rule:
    """What fills a page of this encoding. size: of a value, 0 for binary."""
    if encoding is Encoding.RLE:
        # Doris counts the bytes that came out, so that long runs make pages of more rows.
        return ByCount(8 * page_size)
    if size:
        return ByCount(max(page_size // size, 1))
    if encoding is Encoding.PREFIX:
        return ByPrefix(page_size)
    begin = 8 if encoding is Encoding.PLAIN_V3 else 4
    return BySize(begin, page_size, counted=encoding is not Encoding.PLAIN)


class Filling:
    """The values of a page that is not full yet, and the rows that they are."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._held: list[Values] = []
        self._rows: list[Offsets] = []
        self._count = self._cost = 0

    def add(self, values: Values, rows: Offsets) -> None:
        """Values, and the number of the row of each."""
        if len(values):
            self._held.append(values)
            self._rows.append(rows)
            self._count += len(values)
            self._cost += self._rule.cost(values)

    def pages(self) -> Iterator[tuple[Values, Offsets]]:
        """The full pages that there are; what is left is held in arrays of its own."""
        if not self._count:
            return
        if not self._rule.full(self._cost):
            self._held[-1] = joined(self._held[-1:])
            return
        values, rows = self.rest()
        start = 0
        for stop in self._rule.ends(values):
            yield part(values, start, stop), rows[start:stop]
            start = stop
        if start < len(values):
            left = joined([part(values, start, len(values))])
            self.add(left, rows[start:].copy())

    def rest(self) -> tuple[Values, Offsets]:
        """All that is held, which is one value at least, and is let go."""
        held, rows = self._held, self._rows
        self._held, self._rows, self._count, self._cost = [], [], 0, 0
        return (held[0] if len(held) == 1 else joined(held)), np.concatenate(rows)

    def __len__(self) -> int:
        return self._count


def varint_sizes(numbers: Offsets) -> Offsets:
    """The bytes of each number as a varint."""
    limits = np.array([1 << 7, 1 << 14, 1 << 21, 1 << 28], np.int64)
    return np.searchsorted(limits, numbers, "right").astype(np.int64) + 1


def varint_size(number: int) -> int:
    """The bytes of a number as a varint."""
    return max((number.bit_length() + 6) // 7, 1)


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    most = min(len(one), len(other))
    differ = int.from_bytes(one[:most], "big") ^ int.from_bytes(other[:most], "big")
    return most - (differ.bit_length() + 7) // 8
