"""Which rows a filter leaves of a read, by zone maps and bloom filters; pruning only skips.

What is broken in an index, or contradicts itself, counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rangeio.codecs.bounds import Offsets
from rangeio.condition import Path
from rangeio.formats.doris import ordinals
from rangeio.formats.doris.branches import Leaf, Metas, leaves, node_of
from rangeio.formats.doris.columns import Place
from rangeio.formats.doris.ordinals import Ordinals
from rangeio.formats.doris.pageindex import values_by_page
from rangeio.formats.doris.probing import Absent, probes_of
from rangeio.formats.doris.table import DorisTable
from rangeio.formats.doris.zonemaps import zone_statistics
from rangeio.plan import Rows
from rangeio.predicate import Answer, Predicate
from rangeio.schema import Column
from rangeio.statistics import Statistics
from rangeio.steps import Steps

Known: TypeAlias = dict[Path, Statistics]


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The rows in which some may match, and what was left out, in words."""

    rows: Rows
    pruned: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Paged:
    """The pages of one leaf of the filter, and what is known of each."""

    path: Path
    pages: Ordinals
    known: list[Statistics]


def kept(
    table: DorisTable, fields: Sequence[Column], metas: Metas, predicate: Predicate, rows: Rows
) -> Steps[Kept]:
    """What the filter leaves of ``rows``; no row that matches is ever left out.

    The zone maps of whole columns cost nothing. Those of pages, and bloom filters, cost a hop that
    brings the ordinal indexes too, or two where an index has many pages itself.
    """
    count = table.footer.num_rows
    found = _leaves(fields, metas, predicate, count)
    known = {path: _whole(leaf, count) for path, leaf in found.items()}
    answer = predicate.keep(known)
    if answer is Answer.NEVER:
        return Kept(Rows([], []), (f"all rows: {_blamed(predicate, known)}",))
    if answer is Answer.ALWAYS:
        return Kept(rows, ())
    paged = yield from _paged(table, found, predicate, known)
    if not paged:
        return Kept(rows, ())
    return _left(predicate, known, paged, rows)


def _leaves(
    fields: Sequence[Column], metas: Metas, predicate: Predicate, rows: int
) -> dict[Path, Leaf]:
    """The leaves that the filter asks, of those with a value in every row and metadata of their
    own: nothing above them is ever null."""
    asked = predicate.asked()
    found: dict[Path, Leaf] = {}
    for column in (one for field in fields for one in field.walk()):
        place = column.payload
        if column.path in asked and isinstance(place, Place) and not place.steps:
            own = leaves(column, metas, rows)
            if len(own) == 1 and not node_of(column, metas).children:
                found[column.path] = own[0]
    return found


def _whole(leaf: Leaf, rows: int) -> Statistics:
    if leaf.node.zones is None:
        return Statistics(null_count=None if leaf.node.nullable else 0, rows=rows)
    return zone_statistics(leaf.node, leaf.node.zones.whole, rows)


def _paged(
    table: DorisTable, found: Mapping[Path, Leaf], predicate: Predicate, known: Known
) -> Steps[list[Paged]]:
    """The leaves whose pages an index tells apart."""
    probes = probes_of(found, predicate.probes(), known)
    paths = [
        path
        for path, leaf in found.items()
        if path in probes or (leaf.node.zones is not None and _many(leaf))
    ]
    wanted = [
        ordinals.Wanted(leaf.node.ordinal, leaf.rows, leaf.node.compression, leaf.name)
        for leaf in map(found.__getitem__, paths)
    ]
    zones = [
        z.pages if (z := found[path].node.zones) and _many(found[path]) else None for path in paths
    ]
    blooms = [probes[path].pages if path in probes else None for path in paths]
    pages, values = yield from values_by_page(wanted, [*zones, *blooms], table.limit)
    out = []
    for i, path in enumerate(paths):
        own, zone, bloom = pages[i], values[i], values[i + len(paths)]
        statistics = [known[path]] * len(own)
        if len(zone) == len(own):
            sizes = (own.stops - own.firsts).tolist()
            node = found[path].node
            statistics = [zone_statistics(node, z, n) for z, n in zip(zone, sizes, strict=True)]
        if path in probes and len(bloom) == len(own):
            hashes = probes[path].hashes
            statistics = [
                replace(one, lacks=Absent(b, hashes))
                for one, b in zip(statistics, bloom, strict=True)
            ]
        out.append(Paged(path, own, statistics))
    return [one for one in out if len(one.pages)]


def _many(leaf: Leaf) -> bool:
    """Whether a column has more than one page."""
    return leaf.node.ordinal is not None and not leaf.node.ordinal.is_page


def _left(predicate: Predicate, known: Known, paged: Sequence[Paged], rows: Rows) -> Kept:
    """Ask the filter of every run of rows that no page boundary parts and that holds an asked
    one."""
    edges: Offsets = np.unique(
        np.concatenate([o for p in paged for o in (p.pages.firsts, p.pages.stops)])
    )
    starts, stops = edges[:-1], edges[1:]
    first = np.searchsorted(rows.stops, starts, "right")
    asked = np.searchsorted(rows.starts, stops, "left") > first
    starts, stops = starts[asked], stops[asked]
    at = [np.searchsorted(one.pages.firsts, starts, "right") - 1 for one in paged]
    never = np.zeros(len(starts), np.bool_)
    for i, own in enumerate(zip(*(a.tolist() for a in at), strict=True)):
        here = {p.path: p.known[k] for p, k in zip(paged, own, strict=True)}
        never[i] = predicate.keep(known | here) is Answer.NEVER
    if not never.any():
        return Kept(rows, ())
    words = []
    for one, pages in zip(paged, at, strict=True):
        gone = len(np.setdiff1d(pages[never], pages[~never]))
        if gone:
            words.append(f"{gone} of {len(one.pages)} pages of {'.'.join(one.path)}")
    left = _within(rows, starts[~never], stops[~never])
    words = words or [f"{rows.count - left.count} rows by pages of several columns"]
    return Kept(left, (", ".join(words),))


def _within(rows: Rows, starts: Offsets, stops: Offsets) -> Rows:
    """The rows that lie in ascending runs."""
    parts = [rows.within(a, b) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
    none = np.empty(0, np.int64)
    first = np.concatenate([none, *(part.starts for part in parts)])
    last = np.concatenate([none, *(part.stops for part in parts)])
    apart = np.flatnonzero(first[1:] != last[:-1]) if len(first) else none
    if not len(first):
        return Rows([], [])
    return Rows(np.append(first[0], first[apart + 1]), np.append(last[apart], last[-1]))


def _blamed(predicate: Predicate, known: Known) -> str:
    """The columns whose zone maps say that no row matches: one where one is enough, none where the
    filter says it by itself."""
    if predicate.keep({}) is Answer.NEVER:
        return "the filter matches no row"
    alone = [p for p, one in known.items() if predicate.keep({p: one}) is Answer.NEVER]
    return "zone map of " + ", ".join(".".join(path) for path in (alone[:1] or known))
