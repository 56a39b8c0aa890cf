"""Reads a file that is all in memory through a format's own steps, and checks its manners.

No engine, no loop, no thread: what fails here is the format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa

from rangeio.engine.drive import drive
from rangeio.formats.format import Format, Hint, Opening
from rangeio.plan import Piece, Query, Rows
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, Schema
from rangeio.steps import Need, Steps

T = TypeVar("T")
COST = CostModel(latency_s=0.025, bytes_per_s=85 << 20)


@dataclass
class InMemory:
    """One file in memory. ``needs`` records every hop: ``(why, ranges)``, data units apart."""

    format: Format
    data: bytes
    tail: int = 64 << 10
    hint: Hint | None = None
    few_bytes: bool | None = None
    cost: CostModel = COST
    needs: list[Need] = field(default_factory=list)

    def answer(self, asked: Need) -> Sequence[memoryview]:
        """The bytes of a need; a range outside the file is the format's fault."""
        self.needs.append(asked)
        view = memoryview(self.data)
        out = []
        for at in asked.ranges:
            assert isinstance(at, ByteRange), "the size is known: a suffix is not needed"
            assert at.stop <= len(self.data), f"{asked.why} asks {at} of {len(self.data)} bytes"
            out.append(view[at.start : at.stop])
        return out

    def run(self, steps: Steps[T]) -> T:
        """Drive steps over the bytes."""
        return drive(steps, self.answer)

    def open(self) -> object:
        """The format's table."""
        size = len(self.data)
        return self.run(
            self.format.open(
                Opening(size, min(size, self.tail), self.cost, self.hint, self.few_bytes)
            )
        )

    def read(
        self,
        choose: Callable[[Schema], Sequence[Column]] = list,
        rows: Rows | None = None,
    ) -> pa.Table:
        """The chosen (pruned) top-level columns and rows, as one table."""
        table = self.open()
        schema = self.run(self.format.schema(table))
        fields = tuple(choose(schema))
        count = self.run(self.format.num_rows(table))
        wanted = Rows.span(0, count) if rows is None else rows
        metas = self.run(
            self.format.columns(table, [c for f in fields for c in self.format.needed(f)])
        )
        plan = self.run(self.format.plan(table, metas, Query(fields, wanted), self.cost))
        shared = {}
        for load in plan.shared:
            value, size = self.run(self._first(self.format.load(load, metas), load.ranges))
            assert size >= 0
            shared[load.key] = value
        pieces: dict[object, list[Piece]] = {}
        order = [u.rows[0] for u in plan.units]
        assert order == sorted(order), "units come by first row"
        for unit in plan.units:
            mine = {key: shared[key] for key in unit.uses}
            steps = self._within(self.format.decode(unit, metas, mine), unit.ranges, unit.later)
            data = self.run(steps)
            pieces.setdefault(unit.column, []).append(Piece(unit.rows, data))
        arrays = [self.format.assemble(f, wanted, pieces) for f in fields]  # type: ignore[arg-type]
        return pa.table(arrays, schema=pa.schema([f.arrow for f in fields]))

    def _first(self, steps: Steps[T], ranges: tuple[ByteRange, ...]) -> Steps[T]:
        return self._within(steps, ranges, None)

    def _within(
        self, steps: Steps[T], ranges: tuple[ByteRange, ...], later: Sequence[object] | None
    ) -> Steps[T]:
        """Pass the steps on; the first need must be ``ranges`` and later hops be announced."""
        hop = 0
        try:
            asked = next(steps)
            while True:
                if hop == 0:
                    assert asked.ranges == ranges, f"first need {asked} is not {ranges}"
                elif later is not None:
                    self._announced(asked, later, hop)
                hop += 1
                asked = steps.send((yield asked))
        except StopIteration as stop:
            value: T = stop.value
            return value
        finally:
            steps.close()

    @staticmethod
    def _announced(asked: Need, later: Sequence[object], hop: int) -> None:
        from rangeio.plan import Later

        assert hop <= len(later), f"hop {hop} of {asked.why} was not announced"
        bound = later[hop - 1]
        assert isinstance(bound, Later)
        for at in asked.ranges:
            assert isinstance(at, ByteRange)
            assert any(w.covers(at) for w in bound.within), f"{asked.why} {at} lies outside"
