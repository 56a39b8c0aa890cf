"""Where the bytes of column chunks lie, as Arrow's reader asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.errors import Corrupt
from rangeio.formats.parquet.leaf import Fact, Facts, ParquetMeta
from rangeio.ranges import ByteRange

_FORGETFUL = re.compile(r"parquet-mr(?! version (?:1\.(?:[3-9]|\d\d)|[2-9]|1\.2\.(?:9|\d\d)))")
_FORGOTTEN = 100
_DENSE = 64
"""Values a byte, above which a chunk's count of values is held against its pages: Arrow makes room
for all that the footer claims."""

Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """The chunks of some leaves in some row groups, dictionary pages included.

    facts: (row groups, leaves, Fact). starts, stops: positions in the file, (row groups, leaves).
    """

    metas: Sequence[ParquetMeta]
    groups: Sequence[int]
    facts: Facts
    starts: Places
    stops: Places

    @property
    def sizes(self) -> Places:
        """Bytes of every chunk, (row groups, leaves)."""
        return self.stops - self.starts

    def within(self, ranges: Sequence[ByteRange]) -> bool:
        """Whether each of them lies in one of ``ranges``, which are sorted and disjoint."""
        if not ranges:
            return False
        at = np.searchsorted([one.start for one in ranges], self.starts, "right") - 1
        stops = np.array([one.stop for one in ranges])
        return bool(((at >= 0) & (stops[at] >= self.stops)).all())

    def crowded(self) -> Iterator[tuple[ParquetMeta, int, ByteRange]]:
        """The chunks that claim so many values that their pages are to be asked."""
        for i, k in np.argwhere(dense(self.facts)).tolist():
            at = ByteRange(int(self.starts[i, k]), int(self.stops[i, k]))
            yield self.metas[k], self.groups[i], at


def chunks_of(
    metas: Sequence[ParquetMeta], groups: Sequence[int], size: int, created_by: str
) -> Chunks:
    """The chunks of ``metas`` in ``groups``; Corrupt where a file has none such."""
    every = list(groups) == list(range(len(metas[0].facts)))
    picked = slice(None) if every else np.asarray(groups, np.int64)
    facts = np.stack([meta.facts[picked] for meta in metas], axis=1)
    starts, stops, bad = placed(facts, size, created_by)
    if bad.any():
        i, k = np.argwhere(bad)[0]
        raise Corrupt(
            f"a chunk of column {metas[k].column.name!r} lies at {starts[i, k]}, "
            f"{facts[i, k, Fact.COMPRESSED]} bytes, of {size}"
        )
    return Chunks(metas, groups, facts, starts, stops)


def placed(facts: Facts, size: int, created_by: str) -> tuple[Places, Places, Flags]:
    """Where chunks begin and stop, and which of them cannot lie there.

    size: of the file. Old parquet-mr left the dictionary page's header out of its sums: Arrow reads
    100 bytes more of its files, and so do we.
    """
    starts, lengths = facts[..., Fact.DATA_PAGE], facts[..., Fact.COMPRESSED]
    dictionaries = facts[..., Fact.DICTIONARY_PAGE]
    starts = np.where((dictionaries > 0) & (dictionaries < starts), dictionaries, starts)
    bad = (starts < 0) | (lengths < 0) | (starts > size)
    bad |= lengths > size - np.where(bad, 0, starts)
    stops = starts + np.where(bad, 0, lengths)
    if _FORGETFUL.match(created_by):
        stops = np.minimum(stops + _FORGOTTEN, size)
    return starts, stops, bad


def dense(facts: Facts) -> Flags:
    """Which chunks claim more values than so few bytes are trusted to hold."""
    values: Places = facts[..., Fact.VALUES]
    found: Flags = values // _DENSE > np.maximum(facts[..., Fact.COMPRESSED], 1)
    return found


def miscounted(facts: Facts, rows: Places, repeated: Sequence[bool] | Flags) -> Flags:
    """Which chunks, (row groups, leaves), have fewer values than their row group has rows, or, of a
    leaf that is not repeated, another number."""
    values: Places = facts[..., Fact.VALUES]
    found: Flags = (values < rows) | ((values != rows) & ~np.asarray(repeated))
    return found


def counted(chunks: Chunks) -> None:
    """Raise Corrupt where chunks are miscounted."""
    metas, groups = chunks.metas, chunks.groups
    rows = metas[0].group_rows[np.asarray(groups, np.int64)][:, None]
    bad = miscounted(chunks.facts, rows, [meta.place.repeated for meta in metas])
    if bad.any():
        i, k = np.argwhere(bad)[0]
        raise Corrupt(
            f"column {metas[k].column.name!r} has {chunks.facts[i, k, Fact.VALUES]} values in the "
            f"{rows[i, 0]} rows of row group {groups[i]}"
        )


def merged(starts: Places, stops: Places) -> list[ByteRange]:
    """The bytes of many chunks, in order; neighbours are one range."""
    starts, stops = starts.ravel(), stops.ravel()
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(stops[order])
    first = np.flatnonzero(np.concatenate(([True], starts[1:] > reach[:-1])))
    ends = reach[np.append(first[1:] - 1, len(starts) - 1)]
    return [ByteRange(a, b) for a, b in zip(starts[first].tolist(), ends.tolist(), strict=True)]
