"""Two columns in every row group of a Parquet footer that is in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import footprint, locators, parquetfiles
from benchmarks.ground import Ground
from benchmarks.harness import MEGABYTES, Case, Contestant, Fresh, Goal, Weighed
from benchmarks.locators import Locate, Told
from benchmarks.parquetfiles import DOUBLES, MIXED, NESTED, STRINGS, Kind

PYARROW = "pyarrow read_metadata"
# What arro3 cannot leave out is in its time.
ARRO3 = "arro3, with file read and Arrow schema"
MOST_MB = 8.0


@dataclass(frozen=True, slots=True)
class Shape:
    """A file: its columns, its row groups of 8 rows, and how far ahead of the peers to be."""

    label: str
    columns: int
    groups: int
    kinds: Sequence[Kind]
    even: bool = True
    codec: str = "snappy"
    ahead: tuple[float, float] | None = None

    @property
    def names(self) -> list[str]:
        make = parquetfiles.even_names if self.even else parquetfiles.odd_names
        return make(self.columns)

    def file(self, ground: Ground) -> Path:
        """Written where it is not there yet."""
        if self.kinds is DOUBLES:
            return parquetfiles.doubles(ground, self.columns, self.groups)
        write = partial(
            parquetfiles.wide,
            names=self.names,
            groups=self.groups,
            kinds=self.kinds,
            codec=self.codec,
        )
        return ground.file(f"parquet/{self.label}-{self.columns}x{self.groups}.parquet", write)


SHAPES = (
    Shape("double", 10_000, 10, DOUBLES, ahead=(40.0, 20.0)),
    Shape("string", 10_000, 10, STRINGS, ahead=(30.0, 15.0)),
    Shape("mixed", 10_000, 10, MIXED, even=False, codec="zstd", ahead=(20.0, 12.0)),
    Shape("nested", 2_000, 5, NESTED, even=False, ahead=(7.0, 3.5)),
    Shape("double", 1_000, 10, DOUBLES),
    Shape("double", 10_000, 1, DOUBLES),
)
LARGE = Shape("double", 50_000, 10, DOUBLES)
WARM = Shape("double", 100, 1, DOUBLES)
WEIGHED = SHAPES[:3]


class Footers:
    """Time to locate, then the memory that takes beyond the footer's own bytes."""

    name = "footers"
    title = "Locating two columns in every row group of a Parquet footer in memory"

    def prepare(self, ground: Ground) -> Iterator[Case]:
        for shape in (*SHAPES, LARGE) if ground.full else SHAPES:
            yield self._timed(shape, shape.file(ground))
        warm = WARM.file(ground), WARM.names[0]
        for shape in (*WEIGHED, LARGE) if ground.full else WEIGHED:
            if footprint.KNOWN:
                yield self._weighed(shape, shape.file(ground), warm)

    @staticmethod
    def _timed(shape: Shape, path: Path) -> Case:
        locate = partial(_located, path=path, names=_asked(shape))
        goals = zip((PYARROW, ARRO3), shape.ahead, strict=True) if shape.ahead else ()
        return Case(
            _title(shape),
            (
                Contestant("rangeio", locate(locators.by_rangeio)),
                Contestant("rangeio, plain scan", locate(locators.by_plain_scan)),
                Contestant(PYARROW, locate(locators.by_pyarrow)),
                Contestant(ARRO3, locate(locators.by_arro3)),
            ),
            _same,
            goals=[Goal("ms", peer, factor) for peer, factor in goals],
            rounds=15,
        )

    @staticmethod
    def _weighed(shape: Shape, path: Path, warm: tuple[Path, str]) -> Case:
        weigh = partial(_footprint, warm=warm, path=path, names=_asked(shape))
        return Case(
            f"{_title(shape)}: peak memory beyond the footer",
            (
                Contestant("rangeio", weigh(locators.by_rangeio)),
                Contestant("rangeio, plain scan", weigh(locators.by_plain_scan)),
                Contestant(PYARROW, weigh(locators.by_pyarrow)),
                Contestant("arro3, with its own footer", weigh(locators.by_arro3)),
            ),
            _same,
            (MEGABYTES,),
            (Goal("MB", limit=MOST_MB),),
            rounds=3,
        )


def _title(shape: Shape) -> str:
    return f"{shape.label} {shape.columns:,} x {shape.groups}"


def _asked(shape: Shape) -> list[str]:
    """The columns at 1/3 and 2/3."""
    return [shape.names[shape.columns // 3], shape.names[2 * shape.columns // 3]]


def _located(locator: Callable[..., Locate], path: Path, names: Sequence[str]) -> Fresh:
    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield locator(path, names)

    return fresh


def _footprint(
    locator: Callable[..., Locate], warm: tuple[Path, str], path: Path, names: Sequence[str]
) -> Fresh:
    """A locator's work in a process of its own, weighed."""
    command = [sys.executable, "-m", footprint.__name__, locator.__name__]
    command += [str(warm[0]), warm[1], str(path), *names]

    def run() -> Weighed:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=120, check=True)
        peak, found = json.loads(done.stdout)
        told: Told = {
            name: None if chunks is None else [(a, b, c) for a, b, c in chunks]
            for name, chunks in found.items()
        }
        return Weighed(lambda: told, peak)

    @contextmanager
    def fresh() -> Iterator[Callable[[], object]]:
        yield run

    return fresh


def _same(a: object, b: object) -> bool:
    assert callable(a)
    assert callable(b)
    return locators.agree(a(), b())
