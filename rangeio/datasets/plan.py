"""A read of many files that is planned here and carried out anywhere."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

import pyarrow as pa

from rangeio.datasets.evolving.fitting import Fit
from rangeio.datasets.fileplan import FilePlan, Way
from rangeio.datasets.finding.manifest import shown
from rangeio.datasets.scan import AT_ONCE, joined, read_ahead
from rangeio.datasets.window import Claim, Reach, Tables, Window
from rangeio.engine.batches import tables
from rangeio.errors import RequestError
from rangeio.predicate import Predicate
from rangeio.reading import Batches, batches_of, checked, projected
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
        found = [run for run in _runs(self.parts, count) if run]
        return [replace(self, parts=tuple(run), trace=Trace()) for run in found]

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
        mine = _mine(session)
        stream = Stream(self._batches(mine, batch_rows), mine)
        return pa.RecordBatchReader.from_batches(self.schema, stream)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows as an Arrow C stream."""
        return self.scan().__arrow_c_stream__(requested_schema)

    async def _batches(self, session: Session, batch_rows: int) -> Batches:
        async with aclosing(self._tables(session, batch_rows)) as found:
            async for table in found:
                for batch in batches_of(table, batch_rows):
                    yield batch
                del table

    def _tables(self, session: Session | None, rows_each: int | None) -> Tables:
        mine = _mine(session)
        reach = Reach(AT_ONCE, AT_ONCE, mine.max_buffer // 4)
        read = partial(self._read, mine, rows_each)
        return Window(mine.live.engine, read, range(len(self.parts)), reach).tables()

    async def _read(
        self, session: Session, rows_each: int | None, index: int, claim: Claim
    ) -> Tables:
        part = self.parts[index]
        read = await part.file.reached(self.way, session, self.trace)
        ahead = read_ahead(session)
        await claim(part.file.held(ahead))
        async with aclosing(tables(read, rows_each, ahead=ahead)) as found:
            async for table in found:
                yield await read.handle.in_pool(partial(self._finished, part, table))
                del table

    def _finished(self, part: Part, table: pa.Table) -> pa.Table:
        values = dict(part.values)
        return self.result.of(part.fit.table(table, values, shown(part.file.url)))


def _mine(session: Session | None) -> Session:
    return default_session() if session is None else session


def _run(session: Session | None, work: Coroutine[Any, Any, T]) -> T:
    return _mine(session).run(work)


def _weight(plan: FilePlan) -> int:
    """Bytes, and one for each row: rows of no bytes are work too."""
    return plan.bytes + plan.rows.count


def _runs(parts: Sequence[Part], count: int) -> list[list[Part]]:
    """At most ``count`` runs: each ends where a cut may be that is nearest to the ideal one."""
    total = sum(_weight(part.file) for part in parts)
    stops = list(accumulate(_weight(part.file) for part in parts))
    runs: list[list[Part]] = [[]]
    for part, stop in zip(parts, stops, strict=True):
        start, last = stop - _weight(part.file), 0
        places = [(start + weight, row) for weight, row in _places(part.file)]
        while len(runs) < count:
            ideal = len(runs) * total // count
            if ideal >= stop:
                break
            near, row = min(((start, 0), *places), key=lambda one: abs(one[0] - ideal))
            if stop - ideal < abs(near - ideal):
                break  # the end of the part is nearer
            if row > last:
                runs[-1].append(replace(part, file=_rows_of(part.file, last, row)))
                last = row
            runs.append([])
        rest = part if not last else replace(part, file=_rows_of(part.file, last, _end(part.file)))
        runs[-1].append(rest)
    return runs


def _end(plan: FilePlan) -> int:
    return plan.rows.extent[1]


def _places(plan: FilePlan) -> list[tuple[int, int]]:
    """Where a file may be cut: rows that no unit reaches across, with the weight before each."""
    found, size, reach = [], 0, 0
    for unit in plan.plan.units:
        if size and unit.rows[0] >= reach:
            found.append((size, unit.rows[0]))
        reach = max(reach, unit.rows[1])
        size += sum(at.size for at in unit.ranges) + unit.rows[1] - unit.rows[0]
    return found


def _rows_of(plan: FilePlan, start: int, stop: int) -> FilePlan:
    units = tuple(unit for unit in plan.plan.units if start <= unit.rows[0] < stop)
    used = {key for unit in units for key in unit.uses}
    shared = tuple(one for one in plan.plan.shared if one.key in used)
    cut = replace(plan.plan, units=units, shared=shared, pruned=(), rows=None)
    return replace(plan, rows=plan.rows.within(start, stop), plan=cut)
