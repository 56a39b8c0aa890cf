"""Counts and extremes, of metadata alone as far as it tells them exactly."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.datasets.inventory import gathered
from rangeio.datasets.scan import Scan
from rangeio.errors import RequestError
from rangeio.plan import Rows
from rangeio.statistics import Answer

Extremes = tuple[pa.Scalar, pa.Scalar]


async def counted(scan: Scan) -> int:
    """Rows that match the filters of a scan of no columns. Files of which the partition columns
    or the schema tell that all of their rows match are counted, and not read."""
    inventory, total, left = scan.inventory, 0, []
    for index in scan.files:
        answer = await _answer(scan, index)
        if answer is Answer.ALWAYS:
            total += inventory.facts[index].rows
        elif answer is not Answer.NEVER:
            left.append(index)
    scan.files = left
    async for table in scan.batches():
        total += table.num_rows
    return total


async def _answer(scan: Scan, index: int) -> Answer:
    await scan.inventory.look(index)
    predicate = scan.wanted.predicate
    assert predicate is not None
    facts = scan.inventory.facts[index]
    place = scan.inventory.place(facts.generation)
    values = scan.inventory.manifest[index].partition
    return scan.wanted.translated(place, values).keep({})


async def extremes(scan: Scan) -> Extremes:
    """The least and the greatest value of a scan of one column."""
    if len(scan.arrow) != 1:
        raise RequestError("one column has a least and a greatest value")
    kind = scan.arrow.field(0).type
    found = _Extremes(kind)
    left: list[int] = []
    if scan.request.filters is None:
        told: dict[int, Extremes | None] = {}

        async def one(index: int) -> None:
            told[index] = await _told(scan, index, kind)

        await gathered(scan.files, one)
        for index in scan.files:
            extreme = told[index]
            if extreme is None:
                left.append(index)
            else:
                found.add(pa.array([one.as_py() for one in extreme], kind))
        scan.files = left
    async for table in scan.batches():
        found.add(table.column(0))
    return found.result()


async def _told(scan: Scan, index: int, kind: pa.DataType) -> Extremes | None:
    """What a file's metadata says exactly; None where it has to be read."""
    plan = await scan.plan(index)
    nothing = (pa.scalar(None, kind), pa.scalar(None, kind))
    if plan is None:
        return nothing
    if plan.rows != Rows.span(0, scan.inventory.facts[index].rows) or len(plan.fields) != 1:
        return None
    (field,) = plan.fields
    meta = plan.metas.get(field.id)
    if field.children or meta is None or field.type != kind:
        return None
    from rangeio.formats import named

    said = named(plan.format).statistics(meta)
    if said is None or (said.nan_count != 0 and pa.types.is_floating(kind)):
        return None
    if said.null_count is not None and said.null_count == said.rows:
        return nothing
    if not (said.min_exact and said.max_exact) or said.min is None or said.max is None:
        return None
    try:
        return pa.scalar(said.min, kind), pa.scalar(said.max, kind)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None


class _Extremes:
    """The least and the greatest of what was added."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._found: list[Any] = []

    def add(self, values: pa.Array | pa.ChunkedArray) -> None:
        if pa.types.is_floating(self._kind):
            values = values.filter(pc.invert(pc.fill_null(pc.is_nan(values), False)))
        try:
            both = pc.min_max(values)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            raise RequestError(f"values of {self._kind} have no order") from None
        self._found += [one for one in (both["min"], both["max"]) if one.is_valid]

    def result(self) -> Extremes:
        """Nulls where nothing was added."""
        nothing = pa.scalar(None, self._kind)
        if not self._found:
            return nothing, nothing
        both = pc.min_max(pa.array([one.as_py() for one in self._found], self._kind))
        return both["min"], both["max"]
