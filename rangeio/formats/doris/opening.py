"""Opening a segment: its tail, and what the tail did not hold of the footer."""

from __future__ import annotations

from rangeio.formats.doris.footer import SIZE, Footer, Trailer
from rangeio.formats.doris.names import Naming
from rangeio.formats.doris.table import DorisTable
from rangeio.formats.format import Hint, Opening
from rangeio.ranges import ByteRange
from rangeio.steps import Need, Steps, need

_TAIL = 64 << 10
_SLACK = 4 << 10
_MOST_TAIL = 4 << 20
_PART = 4 << 20
"""Bytes of a footer that are worth a connection of their own."""


def opened(opening: Opening) -> Steps[DorisTable]:
    """The table of a segment of ``opening.size`` bytes: no more hop where the tail has it all."""
    size = opening.size
    have = min(size, opening.held if opening.held >= SIZE else _TAIL)
    tail = yield from need(ByteRange(size - have, size), "doris.tail")
    trailer = Trailer.parse(tail, size)
    at, first = trailer.at, size - have
    if at.start >= first:
        data = tail[at.start - first : at.stop - first]
    else:
        (data,) = yield Need((at,), "doris.footer", span=_PART)
    footer = Footer.parse(data, trailer)
    naming = Naming.of(footer.directory, opening.declared)
    return DorisTable(size, footer, naming, opening.cost)


def learnt(table: DorisTable) -> Hint | None:
    """The tail that holds the footer of a like file, and its column metadata where that is small;
    None where the footer is so large that parallel parts are the quicker way."""
    footer = table.size - table.footer.at.start + _SLACK
    if footer > _MOST_TAIL:
        return None
    every = table.metadata_size + _SLACK
    return Hint(max(every if every <= _TAIL else footer, _TAIL))
