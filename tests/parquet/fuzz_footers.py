"""Mutated Parquet footers, and whether all scanners find the same in them.

    python tests/parquet/fuzz_footers.py --count 1000000 --seed 7

A mutant follows from the seed and its number alone. The native kernel scans it with its templates
and without; one in ``--plain`` is scanned by the scanners in Python too. Ends with 1 where two of
them disagree, or hold more memory than the footer's size allows; the mutant is printed then.

``--kernels FILE`` takes the compiled kernels from there: a build with the address sanitizer, say.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from footer_seeds import ending_in_chunks, respelt, seeds

from rangeio.codecs import native
from rangeio.errors import Corrupt
from rangeio.formats.parquet.footer import runs, scan
from rangeio.formats.parquet.footer.layout import Layout
from rangeio.formats.parquet.footer.locate import scanned

SEED = 2026
TIMES_INPUT, CONSTANT = 16, 64 << 10
HEADS = bytes.fromhex("00 01 0c 10 15 16 18 19 1c 26 2c 3c 7f 80 8c 9c f8 fc ff")
EVERY = bytes(range(256))


# ---- mutants -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parent:
    """A footer, and where its parts begin; cuts is empty where it is none."""

    data: bytes
    cuts: Sequence[int]
    chunks: Sequence[tuple[int, int]]


@cache
def parents() -> Sequence[Parent]:
    """The seeds, and each of them in other spellings."""
    draw = random.Random(SEED)
    found = []
    for data in seeds():
        try:
            scan.scan(memoryview(data))
        except Corrupt:
            found.append(Parent(data, (), ()))
            continue
        spellings = [data, respelt(data, draw, 300), respelt(data, draw, 15)]
        found += [_parent(one) for one in (*spellings, ending_in_chunks(data))]
    return found


@cache
def wide() -> Sequence[Parent]:
    """Those for which the kernel takes its templates."""
    return [parent for parent in parents() if len(parent.chunks) > 64]


def _parent(data: bytes) -> Parent:
    layout = scan.scan(memoryview(data))
    rows = layout.chunks.tolist()
    chunks = [span for row in rows for span in pairwise(row)]
    cuts = {at for row in rows for at in row} | set(layout.groups[:, :4].ravel().tolist())
    cuts |= set(layout.elements[:, :3].ravel().tolist())
    cuts |= set(layout.fields[:, 2:].ravel().tolist()) | {layout.size}
    return Parent(data, sorted(cuts), chunks)


class Mutation:
    """Makes one mutant."""

    def __init__(self, seed: int, number: int) -> None:
        self._draw = random.Random(f"{seed}:{number}")
        self._parent = self._draw.choice(wide() if self._draw.random() < 0.6 else parents())
        self.data = bytearray(self._parent.data)

    def made(self) -> bytes:
        """The mutant: one change, or a few."""
        kinds = (self._set, self._flip, self._cut, self._shift, self._splice, self._splice)
        for _ in range(self._draw.choice((1, 1, 1, 2, 4))):
            self._draw.choice(kinds)()
        return bytes(self.data)

    def _at(self) -> int:
        """A position: one in two near where a part begins, where structure is."""
        if self._parent.cuts and self._draw.random() < 0.5:
            at = self._draw.choice(self._parent.cuts) + self._draw.randint(-3, 6)
        else:
            at = self._draw.randrange(len(self.data) or 1)
        return min(max(at, 0), max(len(self.data) - 1, 0))

    def _set(self) -> None:
        for _ in range(self._draw.choice((1, 1, 2, 3))):
            byte = self._draw.choice(HEADS if self._draw.random() < 0.5 else EVERY)
            at = self._at()
            self.data[at : at + 1] = bytes([byte])

    def _flip(self) -> None:
        at = self._at()
        if self.data:
            self.data[at] ^= 1 << self._draw.randrange(8)

    def _cut(self) -> None:
        """The end is lost, or something follows it."""
        if self._draw.random() < 0.7:
            del self.data[self._at() :]
        else:
            self.data += self._draw.randbytes(self._draw.randint(1, 40))

    def _shift(self) -> None:
        """A few bytes more, or fewer, or twice."""
        at, size = self._at(), self._draw.randint(1, 8)
        kind = self._draw.randrange(3)
        self.data[at : at + size * (kind == 0)] = (
            b"",
            self._draw.randbytes(size),
            self.data[at : at + size],
        )[kind]

    def _splice(self) -> None:
        """A chunk, or several, in the place of another's, from this footer or any other."""
        other = self._draw.choice(parents())
        if not (self._parent.chunks and other.chunks):
            return
        start, stop = self._draw.choice(self._parent.chunks)
        first = self._draw.randrange(len(other.chunks))
        last = min(first + self._draw.choice((0, 0, 0, 1, 5)), len(other.chunks) - 1)
        begin, end = other.chunks[first][0], other.chunks[last][1]
        if self._draw.random() < 0.2:  # half of one, so that what follows is out of step
            end = self._draw.randint(begin, end)
        self.data[start:stop] = other.data[begin:end]


def mutants(seed: int, count: int, first: int = 0) -> Iterator[bytes]:
    """``count`` of them, beginning with the number ``first``."""
    for number in range(first, first + count):
        yield Mutation(seed, number).made()


# ---- what the scanners say -----------------------------------------------------------------------

Found = tuple[Any, ...] | None
GAVE_UP = "gave up"


def told(layout: Layout) -> Found:
    """A layout as something that compares."""
    tables = (layout.fields, layout.elements, layout.groups, layout.chunks)
    kinds = (np.int64, np.int32, np.int64, np.uint32)
    for table, kind in zip(tables, kinds, strict=True):
        assert table.dtype == kind, f"{table.dtype} where {kind} is due"
    shapes = tuple(table.shape for table in tables)
    return (*shapes, *(table.tobytes() for table in tables), layout.num_rows, layout.size)


def by_kernel(kernels: Any, data: bytes, templates: bool) -> tuple[Found, int]:
    """What the kernel finds in a copy that ends with its last byte; and the bytes of its tables."""
    copy = memoryview(np.frombuffer(data, np.uint8).copy())
    try:
        found = scanned(copy, templates=templates, kernels=kernels)
    except Corrupt:
        return None, 0
    assert found is not None
    tables = (found.fields, found.elements, found.groups, found.chunks)
    return told(found), sum(table.nbytes for table in tables)


def by_scan(data: bytes) -> Found:
    """What the plain scanner finds."""
    try:
        return told(scan.scan(memoryview(data)))
    except Corrupt:
        return None


def by_runs(data: bytes) -> Found | str:
    """What the comparing scanner finds; a word where it gives up."""
    try:
        found = runs.scan(memoryview(data), plain=0)
    except Corrupt:
        return None
    return GAVE_UP if found is None else told(found)


@dataclass
class Tally:
    """What became of the mutants."""

    count: int = 0
    accepted: int = 0
    plain: int = 0
    gave_up: int = 0

    def add(self, found: dict[str, Found | str]) -> None:
        """Count what the scanners said of one."""
        self.count += 1
        self.accepted += None not in found.values()
        self.plain += "plain" in found
        self.gave_up += found.get("runs") == GAVE_UP

    def __str__(self) -> str:
        return (
            f"{self.count} footers, {self.accepted} accepted; {self.plain} by the scanners in "
            f"Python, one of which gave up on {self.gave_up}"
        )


class Disagreement(AssertionError):
    """Two scanners say different things of a mutant."""

    def __init__(self, words: str, seed: int, number: int, data: bytes) -> None:
        super().__init__(f"{words}: mutant {number} of the seed {seed}\n{data.hex()}")


def compare(kernels: Any, seed: int, count: int, plain: int, first: int = 0) -> Tally:
    """Scan ``count`` mutants by everything there is. Raises Disagreement.

    kernels: the native ones, or None. plain: one in so many is for the scanners in Python, 0: none.
    """
    tally = Tally()
    for number, data in enumerate(mutants(seed, count, first), first):
        try:
            tally.add(answers(kernels, data, bool(plain) and number % plain == 0))
        except Exception as error:
            raise Disagreement(f"{error!r}", seed, number, data) from error
    return tally


def answers(kernels: Any, data: bytes, plain: bool) -> dict[str, Found | str]:
    """What every scanner finds; they are alike, and so is what the kernel's tables take."""
    found: dict[str, Found | str] = {}
    if kernels is not None:
        found["generic"], size = by_kernel(kernels, data, False)
        found["templates"], _ = by_kernel(kernels, data, True)
        assert size <= TIMES_INPUT * len(data) + CONSTANT, f"{size} bytes of tables"
    if plain:
        found["plain"], found["runs"] = by_scan(data), by_runs(data)
    told = {name: one for name, one in found.items() if one != GAVE_UP}
    if len(set(told.values())) > 1:
        raise AssertionError({name: one and "a layout" for name, one in told.items()})
    return found


# ---- the command ---------------------------------------------------------------------------------


def kernels_of(path: str) -> Any:
    """The compiled module in a file."""
    loader = importlib.machinery.ExtensionFileLoader("rangeio.codecs._kernels", path)
    spec = importlib.util.spec_from_file_location("rangeio.codecs._kernels", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description="Mutated footers through all scanners.")
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--plain", type=int, default=50, help="one in so many in Python, 0: none")
    parser.add_argument("--kernels", default="", help="a compiled module to take instead")
    words = parser.parse_args(argv)
    kernels = kernels_of(words.kernels) if words.kernels else native.kernels
    if kernels is None and not words.plain:
        parser.error(f"nothing to run: {native.why_not}")
    try:
        print(compare(kernels, words.seed, words.count, words.plain, words.first))
    except Disagreement as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
