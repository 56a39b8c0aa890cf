"""A small plan over bytes at hand, carried out on the caller's thread, unit by unit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import pyarrow as pa

from rangeio.engine.batches import Prepared, assembled
from rangeio.engine.drive import drive
from rangeio.engine.flights import Hop, located
from rangeio.engine.hand import Hand, Held
from rangeio.engine.spans import Spans
from rangeio.plan import DecodeUnit, Piece
from rangeio.ranges import ByteRange
from rangeio.schema import ColumnId
from rangeio.steps import Need

MOST = 16 << 20
"""Bytes of a plan; of more, decoding in several threads is worth the hand-over."""


def table(read: Prepared, held: Held) -> pa.Table | None:
    """All rows of a plan as one table; None where it is too large. Raises NotAtHand.

    held: the blocks of the file that are here already.
    """
    plan = read.plan
    wants = [at for unit in plan.units for at in unit.ranges]
    wants += [at for one in plan.shared for at in one.ranges]
    gets = held.missing(wants)
    if sum(at.size for at in gets) > MOST:
        return None
    carried = _Carried(read, held.copy(), gets)
    with located(read.handle.of):
        pieces: dict[ColumnId, list[Piece]] = {}
        for unit in plan.units:
            pieces.setdefault(unit.column, []).append(Piece(unit.rows, carried.decoded(unit)))
        return assembled(read, read.rows, pieces)


class _Carried:
    """One plan on its way: its GETs, each made for the first unit that wants it; what units share;
    and one hop for each depth of needs."""

    def __init__(self, read: Prepared, held: Held, gets: Sequence[ByteRange]) -> None:
        self._read = read
        self._hand = Hand(read.handle.of, held)
        self._shares = {one.key: one for one in read.plan.shared}
        self._values: dict[Hashable, object] = {}
        self._gets = Spans[bool].of((at, True) for at in gets)
        self._hops: list[Hop] = []

    def decoded(self, unit: DecodeUnit) -> object:
        """The data of a unit."""
        fmt, metas = self._read.handle.format, self._read.metas
        for key in unit.uses:
            if key not in self._values:
                one = self._shares[key]
                fetch = self._fetcher(one.ranges, copies=True)
                self._values[key] = drive(fmt.load(one, metas), fetch)[0]
        shared = {key: self._values[key] for key in unit.uses}
        fetch = self._fetcher(unit.ranges, copies=unit.borrows)
        return drive(fmt.decode(unit, metas, shared), fetch)

    def _fetcher(
        self, ranges: Sequence[ByteRange], *, copies: bool
    ) -> Callable[[Need], Sequence[memoryview]]:
        """What answers the needs of one unit: the first with the plan's GETs."""
        depth = 0

        def fetch(asked: Need) -> Sequence[memoryview]:
            nonlocal depth
            hop, planned = self._hop(depth), False
            if not depth:
                assert asked.ranges == tuple(ranges), f"{asked.why}: not what was planned"
                planned = self._planned(ranges, asked.why, hop)
            depth += 1
            self._read.handle.of.data.add(asked.why)
            return self._hand.fetch(asked, hop, copies=copies, planned=planned)

        return fetch

    def _planned(self, ranges: Sequence[ByteRange], why: str, hop: Hop) -> bool:
        """Make those of the plan's GETs that bring a byte of ``ranges`` and are not made yet;
        whether there are such GETs."""
        held = self._hand.held
        near = dict.fromkeys(at for want in ranges for at, _ in self._gets.overlapping(want))
        new = [at for at in near if held.find(at) is None]
        if new:
            held.put(self._hand.read(new, why, hop))
        return bool(near)

    def _hop(self, depth: int) -> Hop:
        while len(self._hops) <= depth:
            self._hops.append(self._read.handle.of.hop())
        return self._hops[depth]
