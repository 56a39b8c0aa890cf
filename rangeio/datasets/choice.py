"""Which files a read touches, and what of each: the request, resolved against their schemas.

What a read gives is told by the request and the files alone, never by what was read before:
types and columns are those of the files that it touches, and of the first and the last. Where
columns are known by ids, names are resolved against all files: another one may have renamed them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from itertools import accumulate
from typing import Any

from rangeio.datasets.fileplan import FilePlan
from rangeio.datasets.inventory import Inventory, Order
from rangeio.datasets.policy import Options
from rangeio.datasets.view import View
from rangeio.datasets.wanted import Wanted
from rangeio.errors import FormatError, RangeIOError, RequestError, StoreError
from rangeio.plan import Rows
from rangeio.predicate import Predicate
from rangeio.reading import Request
from rangeio.request import RowSelection, rows_of
from rangeio.sought import Sought
from rangeio.statistics import Answer

Work = Callable[[int], Coroutine[Any, Any, object]]


class Stage(Enum):
    """How far a choice has come: the files are not chosen, are looked into, are all known."""

    FIRST = 1
    SURVEY = 2
    LAST = 3


class Choice:
    """Runs on the portal's loop: :meth:`prepare` once, then what is wanted of it.

    files: those that may hold what is wanted, in their order.
    """

    def __init__(self, inventory: Inventory, request: Request, options: Options) -> None:
        self.inventory = inventory
        self.request = request
        self.options = options
        self.files: list[int] = []
        self.selection: RowSelection | None = None
        self._count = len(inventory.manifest)
        every = range(self._count)
        whole = options.every_file or request.rows is not None  # these are counted over all files
        self._marks = frozenset(every if whole else (*every[:1], *every[-1:]))
        self._ends = self._marks  # of which the types come besides those that are read
        self._whole = False  # whether names are resolved against all files
        self._stage = Stage.FIRST
        self._starts: list[int] = []
        self._most: dict[int, int] = {}  # rows of a file that are enough
        self._odd: dict[int, RangeIOError] = {}  # generations that do not go with the others
        self._view: View | None = None
        self._resolved: tuple[View, Wanted] | None = None
        self._single: dict[object, tuple[View, Wanted]] = {}

    # ---- the schema that they have in common ----

    @property
    def by_itself(self) -> bool:
        """Whether each file is matched with what the caller declared, and with no other file."""
        return self.inventory.declared and not self._whole

    @property
    def view(self) -> View:
        """The schema of the files that count for it, as far as they are known."""
        if self._view is None:
            self._view = self._seen()
        return self._view

    def _seen(self) -> View:
        facts, odd = self.inventory.facts, self._odd
        if self.by_itself:
            return self.inventory.view([])
        touched = self._ends.union(self.files)
        files = range(self._count) if self._whole else sorted(touched)
        known = [i for i in files if i in facts and facts[i].generation not in odd]
        typed = touched.intersection(known) if self._whole else None
        return self.inventory.view(known, typed, folded=not self.request.case_sensitive)

    @property
    def wanted(self) -> Wanted:
        """The request, resolved against :attr:`view`."""
        while self._resolved is None or self._resolved[0] is not self.view:
            try:
                made = Wanted(self.view.schema, self.request, open=self.by_itself)
                self._resolved = self.view, made
            except (FormatError, RequestError) as error:
                if not self._set_aside(error):
                    raise
        return self._resolved[1]

    def _set_aside(self, error: RangeIOError) -> bool:
        """Have the files out of it that do not go with those before them, where that is wanted:
        first those that are not read."""
        number = self.view.generation(error.url)
        clash = isinstance(error, FormatError) or self.inventory.declared
        if not self.options.forgiving or number is None or not clash:
            return False
        if self._stage is Stage.SURVEY:
            return False  # in the end it is known which of them are read
        if self._stage is Stage.LAST and not self._ends.issubset(self.files):
            self._ends = frozenset()
        else:
            self._odd[number] = error
        self._view = None
        return True

    def _own(self, index: int) -> tuple[View, Wanted]:
        """The schema and the request for a file whose facts are known."""
        generation = self.inventory.facts[index].generation
        absent = self.inventory.manifest.absent(index)
        if not self.by_itself:
            held = self.view.held.get(generation)
            if held is None or not absent <= held.lacking:
                self._view = None  # it was looked into since
            return self.view, self.wanted
        key = generation, absent
        if key not in self._single:
            view = self.inventory.view([index])
            try:
                self._single[key] = view, Wanted(view.schema, self.request)
            except RangeIOError as error:
                if error.url:
                    error.url = self.inventory.url(index)
                raise
        return self._single[key]

    def wanted_of(self, index: int) -> tuple[int, Wanted]:
        """Where the generation of a file, whose facts are known, stands in the schema that it is
        matched in; and the request, resolved against that."""
        view, wanted = self._own(index)
        return view.places[self.inventory.facts[index].generation], wanted

    # ---- which files ----

    async def prepare(self) -> None:
        """Find out which files may hold what is wanted, and, where nobody declared it, the schema
        that they have in common: the metadata of those files, and of the first and the last."""
        await self._look(self._marks)
        if self.request.rows is not None:
            self._choose_rows()
        if self._numbered():
            await self._widen()
        try:
            _ = self.wanted
        except RequestError:
            if self._whole:
                raise
            await self._widen()  # some other file may have it
        await self._survey()
        if not self._whole and self._numbered():
            await self._widen()
            await self._survey()
        self._settle()

    async def _survey(self) -> None:
        """Choose the files, and have the schema of all of them; plans are made by the way."""
        self._check_some()
        partition = [file.partition for file in self.inventory.manifest]
        wanted, lost = self.wanted, self.options.left_out
        self.files = [
            i
            for i in range(self._count)
            if i not in lost and wanted.may_hold(partition[i]) and self._asked_of(i)
        ]
        self._odd.clear()
        self._ends, self._stage, self._view = self._marks, Stage.SURVEY, None
        if not self.by_itself:
            if self.options.limit is not None and self._countable:
                await self._enough(self.options.limit)
            else:
                facts = self.inventory.facts
                await self.each((i for i in self.files if i not in facts), self._plan_ahead)
        self.files = [i for i in self.files if i not in lost]
        self._stage, self._view = Stage.LAST, None

    def _settle(self) -> None:
        """The schema that the read has in the end; files that do not go with it are left out."""
        self._check_some()
        _ = self.wanted
        facts = self.inventory.facts
        for index in self.files if self._odd else ():
            error = self._odd.get(facts[index].generation)
            if error is not None:
                self.options.leave_out(index, self.inventory.url(index), error)
        self.files = [i for i in self.files if i not in self.options.left_out]

    def _check_some(self) -> None:
        """Raise where no file could be read, and so nobody knows what columns there are."""
        words = Sought.of(self.request.columns, self.request.filters).words
        if not self.by_itself and words != ():
            self.options.check_some(self.view.held, self._count)

    def _numbered(self) -> bool:
        """Whether files that were not looked into may tell what a name means."""
        if not self.inventory.declared:
            return self.view.numbered
        if self.inventory.identified:
            return False
        known = [i for i in self._marks if i in self.inventory.facts]
        return self.inventory.view(sorted(known)).numbered

    async def _widen(self) -> None:
        """Resolve names against all files."""
        await self._look(range(self._count))
        self._whole, self._view = True, None

    async def look_at_all(self) -> None:
        """Learn the facts of every file."""
        await self._look(range(self._count))
        self.options.check_some(self.inventory.facts, self._count)

    async def _look(self, indexes: Iterable[int]) -> None:
        """Learn the facts of these files."""
        facts, lost = self.inventory.facts, self.options.left_out
        unknown = [i for i in indexes if i not in facts and i not in lost]
        await self.each(unknown, self.inventory.look)
        self._view = None

    async def _plan_ahead(self, index: int) -> None:
        await self.inventory.plan(index, self._tentative)

    def _tentative(self, index: int) -> Order | None:
        """The order as far as it is known by now: what is wrong with it is told in the end."""
        try:
            return self.order(index)
        except RangeIOError:
            return None

    @property
    def _countable(self) -> bool:
        """Whether it is known without reading how many files have rows enough: where some may be
        left out, or rows are rearranged or filtered, nobody knows."""
        return not (self.rearranged or self.request.filters is not None or self.options.forgiving)

    async def _enough(self, limit: int) -> None:
        """Look at files until they have enough rows; no others are read, nor more of the last."""
        rows, some = 0, 1
        for start in _steps(len(self.files)):
            part = self.files[start : start + some]
            await self._look(part)
            for place, index in enumerate(part, start):
                here = self._rows_in(index)
                if rows + here >= limit:
                    self.files = self.files[: place + 1]
                    self._most = {index: limit - rows}
                    return
                rows += here
            some = start + some

    async def each(self, indexes: Iterable[int], work: Work) -> None:
        """Do ``work`` for each file, many at once; what cannot be read is left out, where that is
        wanted."""

        async def guarded(index: int) -> None:
            with self.forgiven(index):
                await work(index)

        await self.inventory.each(indexes, guarded)

    @contextmanager
    def forgiven(self, index: int, rows: Callable[[], int] = int) -> Iterator[None]:
        """What is wrong with a file is noted, where that is wanted, and the file left out."""
        try:
            yield
        except (StoreError, FormatError) as error:
            url = self.inventory.url(index)
            if url.endswith(error.url):  # of some stores the error knows the path alone
                error.url = url
            if not self.options.forgiving:
                raise
            self.options.leave_out(index, url, error, rows())

    # ---- what is wanted of one file ----

    @property
    def rearranged(self) -> bool:
        """Whether rows are asked in an order of their own, some twice: only all of them together
        can be brought into it, and filtered."""
        return self.selection is not None and self.selection.take is not None

    def _choose_rows(self) -> None:
        facts = self.inventory.facts
        counts = (facts[i].rows if i in facts else 0 for i in range(self._count))
        self._starts = list(accumulate(counts, initial=0))
        self.selection = rows_of(self.request.rows, self._starts[-1], "dataset")

    def _asked_of(self, index: int) -> bool:
        """Whether rows of a file were asked, as far as the request tells."""
        return self.selection is None or bool(self._rows_in(index))

    def _rows_in(self, index: int) -> int:
        """How many rows of a file were asked; 1 where nobody knows yet."""
        facts = self.inventory.facts.get(index)
        if facts is None:
            return 1
        rows = self._rows(index)
        return facts.rows if rows is None else rows.count

    def _rows(self, index: int) -> Rows | None:
        """The rows that were asked of a file whose facts are known; None: all."""
        facts, most = self.inventory.facts[index], self._most.get(index)
        if self.selection is None:
            return None if most is None or most >= facts.rows else Rows.span(0, most)
        start = self._starts[index]
        rows = self.selection.rows.within(start, start + facts.rows).shifted(-start)
        return rows if most is None else rows.part(0, min(most, rows.count))

    def order(self, index: int) -> Order | None:
        """What to read of a file whose facts are known; None: nothing."""
        rows = self._rows(index)
        if not self.inventory.facts[index].rows or (rows is not None and not rows.count):
            return None
        try:
            place, wanted = self.wanted_of(index)
        except RequestError as error:  # it does not fit what the caller declared
            if not (self.options.forgiving and self.by_itself):
                raise
            self.options.leave_out(index, self.inventory.url(index), error)
            return None
        fitted = wanted.fit(place, self.inventory.manifest.absent(index))
        predicate = self.predicate(index)
        if predicate is not None and predicate.keep({}) is Answer.NEVER:
            return None
        return Order(fitted, predicate, rows)

    def predicate(self, index: int) -> Predicate | None:
        """The filter in the words of a file whose facts are known."""
        place, wanted = self.wanted_of(index)
        if wanted.predicate is None:
            return None
        return wanted.translated(place, self.values(index))

    def values(self, index: int) -> Mapping[str, object]:
        """What the path of a file says of the partition columns."""
        return self.inventory.manifest.values(index)

    async def plan(self, index: int) -> FilePlan | None:
        """What is read of a file; None: nothing."""
        return await self.inventory.plan(index, self.order)


def _steps(count: int) -> Iterator[int]:
    """0, 1, 2, 4, 8, ...: where ever larger parts begin."""
    start = 0
    while start < count:
        yield start
        start = max(2 * start, 1)
