"""A decoded leaf: the values of some rows, and the levels that say how they nest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Levels, Offsets
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21.layers import invisible
from rangeio.plan import Rows


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """What one unit decodes to, exactly its asked rows.

    rows: top-level. scale: entries (without lists) or outer-most lists a row; more than one below
    a fixed-size list. kinds: for each layer, inner-most first, whether it is a list. values: of
    visible slots, their own nulls included. rep, defs: levels of all entries in the shared
    numbering (see :mod:`layers`); rep None without lists, defs None where nothing above the
    values is null or empty. edges: what :meth:`begins` found; before: visible slots before each
    entry; kept for those that select rows again and again.
    """

    rows: Rows
    scale: int
    kinds: tuple[bool, ...]
    values: pa.Array
    rep: Levels | None = None
    defs: Levels | None = None
    edges: Offsets | None = None
    before: Offsets | None = None

    @property
    def lists(self) -> int:
        """How many layers are lists."""
        return sum(self.kinds)

    def select(self, rows: Rows) -> Leaf:
        """Only these rows, all of which it holds."""
        if rows == self.rows:
            return self
        return self.pick(rows, ordinals(self.rows, rows))

    def pick(self, rows: Rows, runs: Rows) -> Leaf:
        """The rows at the positions ``runs``; they are then called ``rows``."""
        if self.rep is None:
            scaled = Rows(runs.starts * self.scale, runs.stops * self.scale)
            defs = None if self.defs is None else taken(self.defs, scaled)
            return replace(self, rows=rows, values=chosen(self.values, scaled), defs=defs)
        begins = self.begins()
        entries = Rows(begins[runs.starts], begins[runs.stops])
        values = chosen(self.values, self.visible(entries))
        defs = None if self.defs is None else taken(self.defs, entries)
        rep = taken(self.rep, entries)
        return Leaf(rows, self.scale, self.kinds, values, rep, defs)

    def indexed(self) -> Leaf:
        """The same with its edges kept. Raises Corrupt unless as many rows begin as it holds."""
        if self.rep is None:
            return self
        before = self.before
        if before is None and self.defs is not None:
            before = slots(self.kinds, self.defs)
        return replace(self, edges=self.begins(), before=before)

    def begins(self) -> Offsets:
        """Where the entries of each row begin, and the end: one more than rows."""
        assert self.rep is not None
        if self.edges is not None:
            return self.edges
        starts = np.flatnonzero(self.rep == self.lists)
        if len(starts) != self.rows.count * self.scale:
            raise Corrupt(f"{len(starts)} lists begin in {self.rows.count} rows")
        return np.append(starts[:: self.scale], len(self.rep))

    def visible(self, entries: Rows) -> Rows:
        """The value slots of some runs of entries."""
        if self.defs is None:
            return entries
        before = slots(self.kinds, self.defs) if self.before is None else self.before
        return Rows(before[entries.starts], before[entries.stops])


def slots(kinds: tuple[bool, ...], defs: Levels) -> Offsets:
    """Visible slots before each entry, and in all: one more than entries."""
    out = np.zeros(len(defs) + 1, np.int64)
    np.cumsum(defs < invisible(kinds), out=out[1:])
    return out


def merged(rows: Rows) -> Rows:
    """The same rows, runs that touch made one."""
    if not (rows.starts[1:] == rows.stops[:-1]).any():
        return rows
    new = np.append(True, rows.starts[1:] != rows.stops[:-1])
    return Rows(rows.starts[new], rows.stops[np.append(new[1:], True)])


def ordinals(held: Rows, wanted: Rows) -> Rows:
    """Where rows lie among the held ones, as runs of positions."""
    before = np.cumsum(held.stops - held.starts) - (held.stops - held.starts)
    at = np.searchsorted(held.stops, wanted.starts, "right")
    assert (wanted.stops <= held.stops[at]).all(), "rows that are not held"
    shift = before[at] - held.starts[at]
    # Runs that touch here were apart in the file: as one run they are sliced, not gathered.
    return merged(Rows(wanted.starts + shift, wanted.stops + shift))


def taken(levels: Levels, runs: Rows) -> Levels:
    """The levels in some runs; a view of one run."""
    if len(runs) == 1:
        return levels[int(runs.starts[0]) : int(runs.stops[0])]
    return levels[runs.array()]


def chosen(values: pa.Array, runs: Rows) -> pa.Array:
    """The values in some runs; a slice of one run."""
    keep = runs.stops > runs.starts
    if not keep.all():
        runs = Rows(runs.starts[keep], runs.stops[keep])
    if len(runs) <= 1:
        start, stop = (int(runs.starts[0]), int(runs.stops[0])) if len(runs) else (0, 0)
        return values.slice(start, stop - start)
    if len(runs) <= 8:
        pieces = [values.slice(a, b - a) for a, b in runs.runs()]
        return pa.concat_arrays(pieces)
    return values.take(pa.array(runs.array()))
