"""What a filter asks of a file's statistics: the state that all stages of pruning share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rangeio.condition import Path
from rangeio.formats.parquet.leaf import Fact, ParquetMeta
from rangeio.literal import Order
from rangeio.plan import Rows
from rangeio.predicate import Answer, Predicate
from rangeio.ranges import ByteRange
from rangeio.statistics import Statistics

Int64 = npt.NDArray[np.int64]
Known = dict[Path, Statistics]
"""What is known of the rows of one row group, by leaf."""


@dataclass(frozen=True, eq=False)
class Search:
    """A filter over the leaves that a read touches.

    size: of the file. sparing: bytes that a fetch must spare beyond its own.
    """

    metas: Sequence[ParquetMeta]
    predicate: Predicate
    size: int
    sparing: int

    @cached_property
    def leaves(self) -> Mapping[Path, ParquetMeta]:
        """The leaves whose statistics the filter asks: one value a row, with only structs above.

        A leaf below a column that is more than its only leaf says nothing of that column.
        """
        asked = self.predicate.asked()
        return {
            meta.column.path: meta
            for meta in self.metas
            if meta.column.path in asked
            and meta.leaf.path == meta.column.path
            and meta.leaf.max_repetition == 0
        }

    @cached_property
    def probes(self) -> Mapping[Path, Sequence[Order]]:
        """The values that the filter looks for, by leaf."""
        probes = self.predicate.probes()
        return {path: values for path, values in probes.items() if path in self.leaves}

    def never(self, known: Known) -> bool:
        """Whether no row matches."""
        return self.predicate.keep(known) is Answer.NEVER

    def pays(self, group: int, cost: int) -> bool:
        """Whether leaving out a row group spares more than finding that out costs, in bytes."""
        spared = sum(max(meta.fact(group, Fact.COMPRESSED), 0) for meta in self.metas)
        return spared > cost + self.sparing

    def placed(self, offset: int, size: int) -> ByteRange | None:
        """Bytes of the file; None where there are no such bytes."""
        if offset < 0 or size <= 0 or offset + size > self.size:
            return None
        return ByteRange(offset, offset + size)

    def blamed(self, known: Known) -> str:
        """The leaves whose statistics say that no row matches: one where one is enough, none where
        the filter says it by itself."""
        if self.never({}):
            return ""
        alone = [path for path, one in known.items() if self.never({path: one})]
        return names(alone[:1] or known)


def touched(rows: Rows, starts: Int64, stops: Int64) -> npt.NDArray[np.bool_]:
    """Which of the runs ``starts..stops``, none of them empty, hold one of the rows."""
    first = np.searchsorted(rows.stops, starts, "right")
    return np.searchsorted(rows.starts, stops, "left") > first


def names(paths: Iterable[Path]) -> str:
    """Leaves, for people."""
    return ", ".join(".".join(path) for path in paths)
