"""A read of many files that is planned here and carried out anywhere."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from rangeio.datasets.evolving.fitting import Fit
from rangeio.datasets.fileplan import FilePlan, Way
from rangeio.datasets.finding.manifest import shown
from rangeio.datasets.scan import AT_ONCE, joined
from rangeio.datasets.window import Claim, Reach, Tables, Window
from rangeio.engine.batches import tables
from rangeio.errors import RequestError
from rangeio.predicate import Predicate
from rangeio.reading import Batches, checked, projected
from rangeio.select import Selection
from rangeio.session import Session, default_session
from rangeio.stream import Stream
from rangeio.transport.trace import Trace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Result:
    """What becomes of the rows of all files. schema: of the result."""

    schema: pa.Schema
    selection: Selection
    predicate: Predicate | None
    flatten: bool

    def of(self, table: pa.Table) -> pa.Table:
        """The rows that match, the columns that were asked."""
        if self.predicate is not None:
            table = self.predicate.filter(table)
        found = projected(table, self.selection, self.schema, self.flatten)
        return found if not len(self.schema) else found.cast(self.schema)


@dataclass(frozen=True, slots=True)
class Part:
    """The read of one file, or of some of its rows. values: its partition columns."""

    file: FilePlan
    fit: Fit
    values: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class DatasetPlan:
    """Which bytes of which versions of which files, and what becomes of them.

    Pickles small: what it takes per file does not depend on the number of columns in the file.
    Reading it fetches no metadata, and raises ObjectChanged where a file is not the one that was
    planned. Credentials that were given as storage_options travel with it; they stay out of its
    repr. trace: what was requested for it in this process.
    """

    parts: tuple[Part, ...]
    result: Result
    way: Way
    trace: Trace = field(default_factory=Trace, compare=False)

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the result."""
        return self.result.schema

    @property
    def num_rows(self) -> int:
        """Rows that are read; filters may leave fewer."""
        return sum(part.file.rows.count for part in self.parts)

    @property
    def bytes(self) -> int:
        """Bytes of the asked columns."""
        return sum(part.file.bytes for part in self.parts)

    @property
    def files(self) -> tuple[str, ...]:
        """Their urls, redacted, each once."""
        return tuple(dict.fromkeys(shown(part.file.url) for part in self.parts))

    def __len__(self) -> int:
        """How many parts."""
        return len(self.parts)

    def __repr__(self) -> str:
        return f"DatasetPlan({len(self.files)} files, {self.num_rows} rows, {self.bytes} bytes)"

    def __reduce__(self) -> tuple[object, ...]:
        return DatasetPlan, (self.parts, self.result, self.way)

    # ---- dividing it ----

    def split(self, count: int) -> list[DatasetPlan]:
        """At most ``count`` plans, in order, of about as many bytes of the asked columns each.

        Large files are cut where their row groups, pages or segments allow it; none is empty.
        """
        if count < 1:
            raise RequestError(f"a plan is split into at least one part, not {count}")
        total = sum(_weight(part.file) for part in self.parts)
        most = max(-(-total // count), 1)
        pieces = [piece for part in self.parts for piece in _cut(part, most)]
        runs: dict[int, list[Part]] = {}
        before = 0
        for piece in pieces:
            weight = _weight(piece.file)
            runs.setdefault(min((2 * before + weight) // (2 * most), count - 1), []).append(piece)
            before += weight
        return [replace(self, parts=tuple(run), trace=Trace()) for run in runs.values()]

    # ---- carrying it out ----

    def read(self, *, session: Session | None = None) -> pa.Table:
        """All rows, as one table."""

        async def work() -> pa.Table:
            async with aclosing(self._tables(session, None)) as found:
                held = [table async for table in found]
            return joined(held, self.schema)

        return _run(session, work())

    def scan(
        self, *, batch_rows: int = 65536, session: Session | None = None
    ) -> pa.RecordBatchReader:
        """The same as a stream of batches, in bounded memory, in the order of the files."""
        checked(batch_rows)
        mine = default_session() if session is None else session
        stream = Stream(self._batches(mine, batch_rows), mine)
        return pa.RecordBatchReader.from_batches(self.schema, stream)

    async def _batches(self, session: Session, batch_rows: int) -> Batches:
        async with aclosing(self._tables(session, batch_rows)) as found:
            async for table in found:
                for batch in table.combine_chunks().to_batches(batch_rows):
                    yield batch
                del table

    def _tables(self, session: Session | None, rows_each: int | None) -> Tables:
        mine = default_session() if session is None else session
        reach = Reach(AT_ONCE, AT_ONCE, mine.max_buffer // 4)
        read = partial(self._read, mine, rows_each)
        return Window(mine.live.engine, read, range(len(self.parts)), reach).tables()

    async def _read(
        self, session: Session, rows_each: int | None, index: int, claim: Claim
    ) -> Tables:
        part = self.parts[index]
        read = await part.file.reached(self.way, session, self.trace)
        ahead = max(session.max_buffer // (2 * AT_ONCE), 1 << 20)
        await claim(part.file.held(ahead))
        async with aclosing(tables(read, rows_each, ahead=ahead)) as found:
            async for table in found:
                yield await read.handle.in_pool(partial(self._finished, part, table))
                del table

    def _finished(self, part: Part, table: pa.Table) -> pa.Table:
        values = dict(part.values)
        return self.result.of(part.fit.table(table, values, shown(part.file.url)))


def _run(session: Session | None, work: Coroutine[Any, Any, T]) -> T:
    return (default_session() if session is None else session).run(work)


def _weight(plan: FilePlan) -> int:
    """Bytes, and one for each row: rows of no bytes are work too."""
    return plan.bytes + plan.rows.count


def _cut(part: Part, most: int) -> Iterator[Part]:
    """The part in pieces of about ``most`` bytes, cut where no unit is cut."""
    plan = part.file
    if _weight(plan) <= most or not plan.plan.units:
        yield part
        return
    start = 0  # the first unit may begin before the first row that is wanted
    for stop in _stops(plan, most):
        yield replace(part, file=_rows_of(plan, start, stop))
        start = stop


def _stops(plan: FilePlan, most: int) -> Sequence[int]:
    """Where pieces end: at rows that no unit reaches across, once a piece has bytes enough."""
    found, size, reach = [], 0, 0
    for unit in plan.plan.units:
        if size >= most and unit.rows[0] >= reach:
            found.append(unit.rows[0])
            size = 0
        reach = max(reach, unit.rows[1])
        size += sum(at.size for at in unit.ranges) + unit.rows[1] - unit.rows[0]
    return [*found, plan.rows.extent[1]]


def _rows_of(plan: FilePlan, start: int, stop: int) -> FilePlan:
    units = tuple(unit for unit in plan.plan.units if start <= unit.rows[0] < stop)
    used = {key for unit in units for key in unit.uses}
    shared = tuple(one for one in plan.plan.shared if one.key in used)
    cut = replace(plan.plan, units=units, shared=shared, pruned=(), rows=None)
    return replace(plan, rows=plan.rows.within(start, stop), plan=cut)
