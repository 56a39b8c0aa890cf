"""What is read of one file, and from which bytes: planned once, carried out anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import Any

from rangeio.engine.batches import Prepared
from rangeio.engine.handle import Handle, Reached
from rangeio.engine.reader import parts, planned_gets
from rangeio.formats import named
from rangeio.formats.format import ColumnMeta
from rangeio.plan import DecodeUnit, Plan, Query, Rows
from rangeio.predicate import Predicate
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Column, ColumnId
from rangeio.session import Session
from rangeio.stores.address import Options
from rangeio.transport.trace import Trace

_WEIGHT, _UNIT = 1500, 400  # bytes that a plan, and a unit of it, take in memory, roughly


@dataclass(frozen=True)
class Way:
    """How the files of a dataset are reached; credentials travel in pickles as the user gave them,
    and stay out of the repr."""

    storage_options: Options | None = None
    filesystem: Any = None
    format: str | None = None

    def __repr__(self) -> str:
        return f"Way(format={self.format!r})"


@dataclass(frozen=True)
class FilePlan:
    """One version of one file, the asked columns of it and their bytes. Small, whatever the file's
    footer is; picklable; needs no metadata to be carried out.

    url: as it is opened; it may be signed, and stays out of the repr. size, tag: the version that
    was planned. cost: by which GETs are made, so that they are the explained ones. fields: the
    file's own columns, pruned. rows: those that are left of it.
    """

    url: str
    size: int
    tag: str
    format: str
    cost: CostModel
    fields: tuple[Column, ...]
    metas: Mapping[ColumnId, ColumnMeta]
    rows: Rows
    plan: Plan

    def __repr__(self) -> str:
        return f"FilePlan({self.rows.count} rows, {len(self.plan.units)} units, {self.bytes} bytes)"

    @cached_property
    def bytes(self) -> int:
        """Bytes of the asked columns, gaps apart."""
        ranges = {at for unit in self.plan.units for at in unit.ranges}
        ranges.update(at for shared in self.plan.shared for at in shared.ranges)
        return sum(at.size for at in ranges)

    def held(self, ahead: int) -> int:
        """Bytes that reading it holds at once, where ``ahead`` are read ahead: what is fetched,
        and as much again for what becomes of it."""
        largest = max((_size(unit) for unit in self.plan.units), default=0)
        return 2 * min(self.bytes, max(ahead, largest))

    @property
    def weight(self) -> int:
        """Bytes of memory it holds, roughly."""
        metas = sum(meta.weight for meta in self.metas.values())
        return _WEIGHT + metas + _UNIT * (len(self.plan.units) + len(self.plan.shared))

    async def reached(self, way: Way, session: Session, trace: Trace) -> Prepared:
        """The read, not begun: nothing is fetched for it, and every GET asks for the version that
        was planned. Runs on the portal."""
        of, who = await session.connect(self.url, way.storage_options, way.filesystem, trace)
        of.source.pin, of.source.size = self.tag, self.size
        of = replace(of, version=session.version(of, who), cost=self.cost, hops=count(_LATER))
        reached = Reached(session.live.engine, of, named(self.format))
        return Prepared(reached, self.fields, self.metas, self.rows, self.plan, {})


def _size(unit: DecodeUnit) -> int:
    return sum(at.size for at in unit.ranges)


_LATER = 10
"""The first hop of data, whatever the metadata took: a trace tells the two apart."""


async def planned(
    handle: Handle,
    url: str,
    fields: tuple[Column, ...],
    rows: Rows | None = None,
    predicate: Predicate | None = None,
) -> FilePlan:
    """Plan a read of an open file. Stale where its schema was assumed and is another."""
    needed = [column for field in fields for column in handle.format.needed(field)]
    metas = await handle.metas(needed)
    if rows is None:
        rows = Rows.span(0, await handle.num_rows())
    plan = await handle.plan(metas, Query(fields, rows, predicate))
    source = handle.of.source
    return FilePlan(
        url,
        handle.of.size,
        source.pin or "",
        handle.format.name,
        handle.of.cost,
        fields,
        metas,
        rows if plan.rows is None else plan.rows,
        plan,
    )


def gets(read: Prepared) -> list[ByteRange]:
    """The GETs that carrying it out makes now, in its first hop."""
    handle = read.handle
    return parts(handle.of, planned_gets(handle.engine, handle.of, read.plan))
