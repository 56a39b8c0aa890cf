"""Counts and extremes, of metadata alone as far as it tells them exactly."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.datasets.evolving.fitting import settled, source_of
from rangeio.datasets.fileplan import FilePlan
from rangeio.datasets.scan import Scan
from rangeio.errors import RequestError
from rangeio.formats import named
from rangeio.select import one_of
from rangeio.statistics import Answer, Statistics

Extremes = tuple[pa.Scalar, pa.Scalar]


async def counted(scan: Scan) -> int:
    """Rows that match the filters of a scan of no columns. Files of which the partition columns,
    the schema or the statistics tell that all of their rows match, or none, are not read."""
    answers: dict[int, Answer] = {}

    async def one(index: int) -> None:
        answers[index] = await _answer(scan, index)

    await scan.each(scan.files, one)
    always = [i for i in scan.files if answers.get(i) is Answer.ALWAYS]
    scan.files = [i for i in scan.files if answers.get(i) is Answer.MAYBE]
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
    if _is_struct(scan):
        raise RequestError("a struct has no least and no greatest value: ask for a column in it")
    found = _Extremes(_compared(kind))
    told: dict[int, Extremes | None] = {}

    async def one(index: int) -> None:
        told[index] = await _told(scan, index, kind)

    await scan.each(scan.files, one)
    for extreme in told.values():
        if extreme is not None:
            found.add(pa.array([one.as_py() for one in extreme], _compared(kind)))
    scan.files = [i for i in scan.files if i in told and told[i] is None]
    async for table in scan.batches():
        found.add(table.column(0))
    least, greatest = found.result()
    if pa.types.is_duration(kind):
        return least.cast(kind), greatest.cast(kind)
    return least, greatest


def _is_struct(scan: Scan) -> bool:
    """Whether the one column that was asked is a struct, which flattening may have opened."""
    words: Any = scan.request.columns
    try:
        _, column = one_of(scan.wanted.schema.schema, words[0])
    except RequestError:
        return False  # a pattern, of which the result has one column
    return bool(pa.types.is_struct(column.type))


async def _told(scan: Scan, index: int, kind: pa.DataType) -> Extremes | None:
    """What a file's metadata says exactly; None where it has to be read."""
    answer, nothing = await _answer(scan, index), pa.scalar(None, _compared(kind))
    if answer is Answer.NEVER:
        return nothing, nothing
    plan = await scan.plan(index)
    place, wanted = scan.wanted_of(index)
    column = settled(wanted.fields[0], scan.inventory.manifest.absent(index))
    field = source_of(column, place)
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
    if pa.types.is_duration(kind):
        return pa.int64()
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
