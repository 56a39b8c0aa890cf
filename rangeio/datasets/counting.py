"""Counts and extremes, of metadata alone as far as it tells them exactly."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.datasets.evolving.fitting import source_of
from rangeio.datasets.fileplan import FilePlan
from rangeio.datasets.scan import Scan
from rangeio.errors import RequestError
from rangeio.formats import named
from rangeio.statistics import Answer, Statistics

Extremes = tuple[pa.Scalar, pa.Scalar]


async def counted(scan: Scan) -> int:
    """Rows that match the filters of a scan of no columns. Files of which the partition columns,
    the schema or the statistics tell that all of their rows match, or none, are not read."""
    answers: dict[int, Answer] = {}

    async def one(index: int) -> None:
        answers[index] = await _answer(scan, index)

    await scan.inventory.each(scan.files, one)
    always = [i for i in scan.files if answers[i] is Answer.ALWAYS]
    scan.files = [i for i in scan.files if answers[i] is Answer.MAYBE]
    total = sum(scan.inventory.facts[i].rows for i in always)
    async for table in scan.batches():
        total += table.num_rows
    return total


async def _answer(scan: Scan, index: int) -> Answer:
    """What is known of all rows of a file without reading any."""
    plan = await scan.plan(index)
    if plan is None or not plan.rows.count:
        return Answer.NEVER
    predicate = scan.predicate(index)
    return Answer.ALWAYS if predicate is None else predicate.keep(_statistics(plan))


def _statistics(plan: FilePlan) -> dict[tuple[str, ...], Statistics]:
    """What the metadata says of the file's own leaves, all of its rows together."""
    fmt = named(plan.format)
    leaves = [leaf for field in plan.fields for leaf in field.leaves() if leaf.id in plan.metas]
    said = {leaf.path: fmt.statistics(plan.metas[leaf.id]) for leaf in leaves}
    return {path: one for path, one in said.items() if one is not None}


async def extremes(scan: Scan) -> Extremes:
    """The least and the greatest value of a scan of one column."""
    if len(scan.arrow) != 1:
        raise RequestError("one column has a least and a greatest value")
    kind = scan.arrow.field(0).type
    found = _Extremes(_compared(kind))
    told: dict[int, Extremes | None] = {}

    async def one(index: int) -> None:
        told[index] = await _told(scan, index, kind)

    await scan.inventory.each(scan.files, one)
    for extreme in told.values():
        if extreme is not None:
            found.add(pa.array([one.as_py() for one in extreme], _compared(kind)))
    scan.files = [i for i in scan.files if told[i] is None]
    async for table in scan.batches():
        found.add(table.column(0))
    return found.result()


async def _told(scan: Scan, index: int, kind: pa.DataType) -> Extremes | None:
    """What a file's metadata says exactly; None where it has to be read."""
    answer, nothing = await _answer(scan, index), pa.scalar(None, _compared(kind))
    if answer is Answer.NEVER:
        return nothing, nothing
    plan = await scan.plan(index)
    field = source_of(scan.wanted.fields[0], scan.place(index))
    if answer is Answer.MAYBE or plan is None or field is None:
        return None
    if field.children or field.type != kind:
        return None
    said = _statistics(plan).get(field.path)
    if said is None or (said.nan_count != 0 and pa.types.is_floating(kind)):
        return None
    if said.null_count is not None and said.null_count == said.rows:
        return nothing, nothing
    if not (said.min_exact and said.max_exact) or said.min is None or said.max is None:
        return None
    try:
        return pa.scalar(said.min, _compared(kind)), pa.scalar(said.max, _compared(kind))
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return None


def _compared(kind: pa.DataType) -> pa.DataType:
    """The type in which Arrow compares values of another."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.float32() if pa.types.is_float16(kind) else kind


class _Extremes:
    """The least and the greatest of what was added."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._found: list[Any] = []

    def add(self, values: pa.Array | pa.ChunkedArray) -> None:
        values = values.cast(self._kind)
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
