"""Bloom filters of row groups, asked for the values that a filter looks for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rangeio.condition import Path
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.pruning import bloom
from rangeio.formats.parquet.pruning.bloom import Bloom
from rangeio.formats.parquet.pruning.search import Known, Search
from rangeio.formats.parquet.pruning.values import Values, values_of
from rangeio.literal import Order, plain
from rangeio.ranges import ByteRange
from rangeio.statistics import Statistics
from rangeio.steps import Steps, needs

_MOST = 100
"""Values that one filter is asked for: of more, one is likely to seem present by mistake."""


@dataclass(frozen=True, slots=True)
class Absent:
    """Says of a value that it is not there, by its PLAIN bytes."""

    values: Values
    plain: frozenset[bytes]

    def __call__(self, value: Order) -> bool:
        """Whether that is certain."""
        return self.values.plain(value) in self.plain


@dataclass(frozen=True, slots=True)
class Probe:
    """One filter and what it is asked for.

    hashes: by PLAIN bytes. header: where its header lies. guess: the filter, if it is as writers
    make it.
    """

    group: int
    path: Path
    values: Values
    hashes: Mapping[bytes, int]
    header: ByteRange
    guess: Bloom | None

    @property
    def cost(self) -> int:
        """Bytes to fetch."""
        return self.header.size + len(self.hashes) * bloom.BLOCK

    def blocks(self, found: Bloom) -> list[ByteRange]:
        """Where the answers lie."""
        return [bloom.block(found, one) for one in self.hashes.values()]

    def first(self) -> list[ByteRange]:
        """The first hop's ranges: the header, and the blocks where they can be placed."""
        return [self.header, *(self.blocks(self.guess) if self.guess else ())]

    def answered(self, blocks: Sequence[memoryview]) -> Absent:
        """What the blocks say."""
        asked = zip(self.hashes.items(), blocks, strict=True)
        absent = (raw for (raw, hashed), one in asked if not bloom.holds(one, hashed))
        return Absent(self.values, frozenset(absent))

    def lacking(self, statistics: Statistics) -> Statistics:
        """The statistics, if none of the values were there."""
        return replace(statistics, lacks=Absent(self.values, frozenset(self.hashes)))


def probed(search: Search, left: Mapping[int, Known]) -> Steps[dict[int, str]]:
    """Which of the row groups no row of matches, and why, in words. What is found is added to what
    is known of each.

    One hop for all headers and the blocks that can be placed without them, one for the others.
    """
    hashed = functools.cache(bloom.hashed)
    probes = [one for group in left for one in _worthwhile(search, group, left[group], hashed)]
    answers = yield from _answers(search, probes)
    for probe, absent in zip(probes, answers, strict=True):
        known = left[probe.group]
        if absent is not None:
            known[probe.path] = replace(known[probe.path], lacks=absent)
    dropped: dict[int, str] = {}
    for group in dict.fromkeys(probe.group for probe in probes):
        if search.never(left[group]):
            asked = {path: one for path, one in left[group].items() if one.lacks is not None}
            dropped[group] = f"bloom filter of {search.blamed(asked)}"
    return dropped


def _worthwhile(
    search: Search, group: int, known: Known, hashed: Callable[[bytes], int]
) -> list[Probe]:
    """The probes of a row group, where they can make it needless, and spare more than they cost."""
    probes = [
        probe
        for path, values in search.probes.items()
        if (probe := _probe(search, group, path, values, known[path], hashed)) is not None
    ]
    best = known | {probe.path: probe.lacking(known[probe.path]) for probe in probes}
    cost = sum(probe.cost for probe in probes)
    return probes if probes and search.pays(group, cost) and search.never(best) else []


def _probe(
    search: Search,
    group: int,
    path: Path,
    wanted: Sequence[Order],
    known: Statistics,
    hashed: Callable[[bytes], int],
) -> Probe | None:
    """The probe of a leaf for the values within its bounds; None where it cannot help."""
    meta = search.leaves[path]
    offset, length = meta.fact(group, Fact.BLOOM), meta.fact(group, Fact.BLOOM_SIZE)
    values = values_of(meta.leaf)
    if values is None or search.placed(offset, 1) is None:
        return None
    low, high = known.bounds(plain(meta.leaf.kind))
    inside = (
        one
        for one in wanted
        if (low is None or low <= one) and (high is None or one <= high)  # type: ignore[operator]
    )
    found = (raw for one in inside if (raw := values.plain(one)) is not None)
    raws = dict.fromkeys(islice(found, _MOST + 1))
    if not 0 < len(raws) <= _MOST:
        return None
    sized = length if search.placed(offset, length) else None
    header = bloom.header_range(offset, sized, search.size)
    hashes = {raw: hashed(raw) for raw in raws}
    return Probe(group, path, values, hashes, header, _guessed(offset, sized))


def _guessed(offset: int, length: int | None) -> Bloom | None:
    """The filter at ``offset`` if its bitset, as is usual, is a power of two below its length."""
    if length is None or length <= bloom.BLOCK:
        return None
    size = 1 << (length - 1).bit_length() - 1
    head = length - size
    return Bloom(offset + head, size) if head <= bloom.HEADER and size >= bloom.BLOCK else None


def _answers(search: Search, probes: Sequence[Probe]) -> Steps[list[Absent | None]]:
    """What the filters say; None of one that cannot be asked."""
    why = "parquet.bloom" if any(probe.guess for probe in probes) else "parquet.bloom_header"
    first = yield from _each([probe.first() for probe in probes], why)
    found = [
        bloom.header(replies[0], probe.header.start, search.size)
        for probe, replies in zip(probes, first, strict=True)
    ]
    misplaced = [
        probe.blocks(one) if one is not None and one != probe.guess else []
        for probe, one in zip(probes, found, strict=True)
    ]
    second = yield from _each(misplaced, "parquet.bloom")
    return [
        None if one is None else probe.answered(a[1:] if one == probe.guess else b)
        for probe, one, a, b in zip(probes, found, first, second, strict=True)
    ]


def _each(ranges: Sequence[Sequence[ByteRange]], why: str) -> Steps[list[list[memoryview]]]:
    """Lists of ranges, asked for in one hop."""
    replies = iter((yield from needs([at for own in ranges for at in own], why)))
    return [list(islice(replies, len(own))) for own in ranges]
