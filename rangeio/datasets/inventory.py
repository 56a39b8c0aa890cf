"""What is known of a dataset's files, each looked into once: version, rows, schema, plans."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from rangeio.datasets.evolving.evolution import Generation, unified
from rangeio.datasets.evolving.fitting import Fit
from rangeio.datasets.evolving.matching import alike
from rangeio.datasets.evolving.target import identified, target_schema
from rangeio.datasets.fileplan import FilePlan, Way, planned
from rangeio.datasets.finding.lancedataset import relabelled
from rangeio.datasets.finding.manifest import DataFile, Manifest, shown
from rangeio.datasets.gathering import gathered
from rangeio.datasets.remembering import Known, Versions, remembered
from rangeio.datasets.resolving import Resolved
from rangeio.datasets.said import Said
from rangeio.datasets.view import Of, View
from rangeio.engine.handle import Handle
from rangeio.errors import Corrupt, FormatError, ObjectChanged
from rangeio.formats.format import Stale
from rangeio.opening import Asked, connect
from rangeio.plan import Rows
from rangeio.predicate import Predicate
from rangeio.schema import Column, Schema
from rangeio.session import Session
from rangeio.sought import Sought
from rangeio.transport.trace import Trace

OPENING = 32
"""Files whose metadata is in memory at once: what is kept of each is small."""

_VIEWS = 16  # schemas of some of the files that are kept
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Facts:
    """What was learnt of a file that was opened: its version, rows, and which schema it has."""

    size: int
    tag: str
    rows: int
    generation: int


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of one file: a fit of its generation, a filter for pruning, and its rows."""

    fit: Fit
    predicate: Predicate | None
    rows: Rows | None = None

    def key(self) -> Hashable:
        """Equal where the same bytes are planned."""
        leaves = tuple(leaf.id for field in self.fit.fields for leaf in field.leaves())
        filters = "" if self.predicate is None else repr(self.predicate.condition)
        rows = None if self.rows is None else tuple(self.rows.runs())
        return leaves, filters, rows


Choose = Callable[[int], "Order | None"]
"""What is wanted of a file, once its facts are known; None: nothing."""


class Inventory:
    """Runs on the portal's loop. A file is opened at most once for facts and a plan together.

    Plans live in the session's cache of column metadata, and are bounded with it.
    """

    def __init__(self, session: Session, found: Resolved, way: Way, said: Said) -> None:
        self.session = session
        self.found = found
        self.manifest = found.files
        self.way = way
        self._version = found.version
        if found.version is not None and said.declared is None:
            said = replace(said, declared=found.version.schema)
        self.said = said
        self.trace = Trace()
        self.facts: dict[int, Facts] = {}
        self.pins: dict[int, DataFile] = {}  # the files as they were seen first
        self._learnt = 0, self.manifest
        self._lacking: dict[int, frozenset[str]] = {}  # partition columns that a path lacks
        self._generations: list[Known] = []
        self._numbers: dict[Hashable, int] = {}
        self._views: dict[Hashable, View] = {}
        self._largest = 0  # bytes of metadata of one file
        self._locks: dict[Hashable, asyncio.Lock] = {}
        self._spares: bool | None = None  # unknown, until a file was opened
        self.opened: dict[int, Handle] = {}  # for who asks for it next
        self._versions = Versions(session, way, (said.given, self._salt()))

    def _salt(self) -> Hashable:
        """What of a file's schema is looked at, where that is not all of it."""

    # ---- what is known ----

    @property
    def declared(self) -> bool:
        """Whether the caller said what the schema is."""
        return self.said.declared is not None

    @cached_property
    def identified(self) -> bool:
        """Whether the caller said the ids of all columns too."""
        declared = self.said.declared
        keys = self.manifest.partitions.names
        return declared is not None and identified(target_schema(declared), keys)

    def url(self, index: int) -> str:
        """Of a file, for people."""
        return shown(self.manifest[index].url)

    def view(
        self,
        files: Iterable[int],
        typed: Collection[int] | None = None,
        *,
        folded: bool = False,
    ) -> View:
        """One schema of these files, whose facts are known and which ascend: of no others, so
        that it does not depend on what was read before.

        typed: those of which the types come, else of all. A column that none of them has is of
        the type that the last one gives it. folded: names that differ in case alone are one.
        """
        held = self._held(files)
        kinds = None if typed is None else {self.facts[i].generation for i in typed}
        key = tuple(held.values()), None if kinds is None else frozenset(kinds), folded
        found = self._views.get(key)
        if found is None:
            if len(self._views) >= _VIEWS:
                self._views.clear()
            found = self._views[key] = self._seen(held, kinds, folded)
        return found

    def _held(self, files: Iterable[int]) -> dict[int, Of]:
        """The generations of files, by their numbers, in the order of their first files."""
        held: dict[int, Of] = {}
        for i in files:
            number, lacking = self.facts[i].generation, self._lacking.get(i, _NONE)
            one = held.get(number)
            if one is None:
                held[number] = Of(number, i, 1, lacking)
            else:
                held[number] = Of(number, one.first, one.files + 1, one.lacking | lacking)
        return held

    def _seen(self, held: Mapping[int, Of], kinds: Collection[int] | None, folded: bool) -> View:
        generations = [
            Generation(self._generations[g].schema, self.url(of.first), of.files, of.lacking)
            for g, of in held.items()
        ]
        names = self.said.names
        if folded:
            names = alike([one.schema for one in generations], names or {})
        schema = unified(
            generations,
            partitions=self.manifest.partitions,
            declared=self.said.declared,
            names=names,
            typed=None if kinds is None else [g in kinds for g in held],
        )
        own = [place for place, g in enumerate(held) if self._generations[g].named]
        return View(schema, held, {g: place for place, g in enumerate(held)}, tuple(own))

    def learnt(self) -> Manifest:
        """The manifest, with the size, version and rows of the files that were opened."""
        if self._learnt[0] != len(self.pins):
            known = len(self.pins)
            files = (self.pins.get(i, one) for i, one in enumerate(self.manifest))
            self._learnt = known, replace(self.manifest, files=tuple(files))
        return self._learnt[1]

    # ---- looking into files ----

    async def each(self, indexes: Iterable[int], work: Callable[[int], Any]) -> None:
        """Do ``work`` for each file, as many at once as their metadata leaves room for; the first
        error ends the others."""
        # What is parsed of it takes about as much again, and the bytes may be there twice.
        room = self.session.max_buffer // (8 * max(self._largest, 1))
        await gathered(indexes, work, min(max(room, 2), OPENING))

    async def spares(self, words: Sought) -> bool:
        """Whether the first file is one of whose schema less than all is read for these words."""
        async with self._locks.setdefault((os.getpid(), -1), asyncio.Lock()):
            if self._spares is None and await self._recalled(0):
                self._spares = not self._generations[self.facts[0].generation].named
            if self._spares is None:
                handle = await self.open(0)
                self._spares = handle.format.sought(handle.table, words) is not None
                self.opened[0] = handle
        return self._spares

    async def open(self, index: int) -> Handle:
        """The file, in the version that was seen first: by the listing, or when it was opened."""
        held = self.opened.pop(index, None)
        if held is not None and held.engine is self.session.live.engine:
            return held
        seen = self.pins.get(index)
        file = seen or self.manifest[index]
        tag, size = file.tag, file.size
        # A weak tag pins no GET: who tells them has to be asked for the file's size and tag first.
        pinned = bool(tag) and size >= 0 and not (seen is None and tag.startswith("W/"))
        asked = Asked(
            file.url,
            self.way.storage_options,
            self.way.filesystem,
            self.way.format,
            tag if pinned else None,
            size if pinned else None,
            self.said.given,
            mixed=True,
        )
        handle = await connect(asked, self.session, self.trace)
        pin = handle.of.source.pin or ""
        if (tag and pin != tag) or (size >= 0 and handle.of.size != size):
            raise ObjectChanged("the file is no longer the version that was seen first")
        return handle

    async def look(self, index: int) -> Facts:
        """The facts of a file."""
        if index not in self.facts:
            await self._first(index)
        return self.facts[index]

    async def _first(self, index: int) -> Handle | None:
        """Learn the facts of a file, once however many ask at once; None: it was not opened."""
        key = os.getpid(), index  # a lock that a forked child inherits may be held for ever
        async with self._locks.setdefault(key, asyncio.Lock()):
            if index in self.facts:
                return None
            try:
                if await self._recalled(index):
                    return None
                handle = await self.open(index)
                await self._looked(handle, index)
            finally:
                self._locks.pop(key, None)
        return handle

    async def plan(self, index: int, choose: Choose) -> FilePlan | None:
        """What to read of a file, of which the facts may not be known yet."""
        handle: Handle | None = None
        for _ in range(3):
            if index not in self.facts:
                handle = await self._first(index)
            order = choose(index)
            if order is None:
                return None
            try:
                return await self._kept(index, order, handle)
            except Stale:
                # Another schema than its neighbours': what was learnt of it is not so.
                handle = handle or await self.open(index)
                await handle.open(None)
                await self._looked(handle, index)
        raise Corrupt("the file's schema is another with every look at it", url=self.url(index))

    def planned(self, index: int, order: Order) -> FilePlan | None:
        """What is planned of a file, where that is still known."""
        columns: Any = self.session.live.engine.columns
        found: FilePlan | None = columns.held(self._plan_key(index, order))
        return found

    # ---- what was decoded ----

    def decoded(
        self, index: int, order: Order, *, lasting: bool = False
    ) -> tuple[pa.Table, Rows] | None:
        """What a plan of these words gave, and of which rows, where it was small and was read of
        late. lasting: dropped, and None, where the next read may evict it."""
        return self._versions.decoded(index, order.key(), lasting=lasting)

    def keep(self, index: int, order: Order, table: pa.Table, rows: Rows) -> None:
        """Keep these rows of a file, as they were decoded, for the next read of the same."""
        self._versions.keep(index, order.key(), table, rows)

    async def _kept(self, index: int, order: Order, handle: Handle | None) -> FilePlan:
        key = self._plan_key(index, order)

        async def load(keys: tuple[Hashable, ...]) -> Mapping[Hashable, FilePlan]:
            opened = handle or await self.open(index)
            url = self.manifest[index].url
            plan = await planned(opened, url, order.fit.fields, order.rows, order.predicate)
            self._learn(opened)
            return {keys[0]: plan}

        columns: Any = self.session.live.engine.columns
        found: FilePlan = (await columns.get([key], load))[key]
        return found

    def _plan_key(self, index: int, order: Order) -> Hashable:
        # A plan opens its url, which may be signed for a time.
        return self._versions.key(index, (self.manifest[index].url, order.key()))

    async def _looked(self, handle: Handle, index: int) -> None:
        """Note the facts of a file that was opened."""
        rows = await handle.num_rows()  # first: it verifies a schema that was only assumed
        before = len(self._generations)
        number = await self._generation(handle, index)
        size, tag = handle.of.size, handle.of.source.pin or ""
        self._note(index, Facts(size, tag, rows, number), handle.table.metadata_size)
        self._learn(handle)
        self._versions.opened(index, handle)
        if self._version is None:  # or the ids are the manifest's
            known, new = self._generations[number], len(self._generations) > before
            memory = remembered(rows, handle.table.metadata_size, known, new=new)
            self._versions.remember(index, memory)

    async def _recalled(self, index: int) -> bool:
        """Note the facts of a listed version that another dataset has opened."""
        file = self.pins.get(index) or self.manifest[index]
        found = None if self._version is not None else await self._versions.recall(index, file)
        if found is None:
            return False
        number = self._numbers.setdefault(found.known.key, len(self._generations))
        if number == len(self._generations):
            self._generations.append(found.known)
        self._note(index, Facts(file.size, file.tag, found.rows, number), found.metadata)
        return True

    def _note(self, index: int, facts: Facts, metadata: int) -> None:
        self._largest = max(self._largest, metadata)
        if absent := self.manifest.absent(index):
            self._lacking[index] = absent
        self.facts[index] = facts
        self.pins[index] = replace(
            self.manifest[index], size=facts.size, tag=facts.tag, rows=facts.rows
        )

    async def _generation(self, handle: Handle, index: int) -> int:
        key = self._key(handle, index)
        schema: Schema | None = None
        if key is None or key not in self._numbers:
            schema = await handle.schema()
            key = self._key(handle, index) or (handle.format.name, told(schema))
        return self._number(key, schema, index, named=not handle.format.takes_schema)

    def _number(self, key: Hashable, schema: Schema | None, index: int, *, named: bool) -> int:
        """Of a generation; a new one has this schema. named: by the file."""
        if key not in self._numbers:
            assert schema is not None
            known = Known(self._labelled(schema, index), named, key)
            self._numbers[key] = len(self._generations)
            self._generations.append(known)
        return self._numbers[key]

    def _key(self, handle: Handle, index: int) -> Hashable | None:
        found = handle.format.generation(handle.table)
        ids = None if self._version is None else self._version.files[index].ids
        return None if found is None else (handle.format.name, found, ids)

    def _labelled(self, schema: Schema, index: int) -> Schema:
        """The schema of a file; of one of a Lance dataset with the ids that its manifest tells."""
        if self._version is None:
            return schema
        try:
            return relabelled(schema, self._version.files[index].ids)
        except FormatError as error:
            raise error.located(self.url(index)) from None

    def _learn(self, handle: Handle) -> None:
        hint = handle.format.learn(handle.table)
        self.session.live.learn(handle.of.source, handle.format.name, hint)


def told(columns: Iterable[Column]) -> Hashable:
    """What tells columns from others, their places in the file included."""
    return tuple(
        (one.id, str(one.type), one.nullable, one.id_declared, repr(one.payload))
        for column in columns
        for one in column.walk()
    )
