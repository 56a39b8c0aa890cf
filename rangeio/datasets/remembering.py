"""What a session remembers of files, from one dataset to the next: by their versions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rangeio.datasets.fileplan import Way
from rangeio.datasets.finding.manifest import DataFile
from rangeio.engine.handle import Handle
from rangeio.plan import Rows
from rangeio.schema import Schema
from rangeio.session import Session

_WEIGHT = 500  # bytes that a memory takes, roughly
_SMALL = 1 << 20  # bytes of a file's rows that are kept decoded: making them anew costs as much
_TABLE = 4 << 10  # bytes that a table takes besides its data, roughly
_SCHEMA = 8  # a schema is about this part of all metadata


@dataclass(frozen=True, slots=True)
class Known:
    """A schema that files have. named: its names are the files' own. key: tells it from others."""

    schema: Schema
    named: bool
    key: Hashable


@dataclass(frozen=True, slots=True)
class Memory:
    """What was learnt of a version when it was opened. metadata: bytes of it. weight: of this, in
    the cache of column metadata."""

    rows: int
    metadata: int
    known: Known
    weight: int


def remembered(rows: int, metadata: int, known: Known, *, new: bool) -> Memory:
    """What is to be kept of a file. new: it is the first of its schema, which weighs as well."""
    return Memory(rows, metadata, known, _WEIGHT + (metadata // _SCHEMA if new else 0))


class Versions:
    """Who the files of a dataset are in the caches. Runs on the portal's loop.

    A version that a listing told, and that some dataset of the session has opened, is not opened
    again. salt: what files are read by besides, so that others do not know them as the same.
    """

    def __init__(self, session: Session, way: Way, salt: Hashable) -> None:
        self._session = session
        self._way = way
        self._salt = way.format, salt
        self._who: dict[int, Hashable] = {}
        self._me = object()

    def key(self, index: int, what: Hashable) -> Hashable:
        """The caches' key of something about a file: this dataset's alone, where nobody knows its
        version yet."""
        who = self._who.get(index)
        return ((self._me, index) if who is None else who, self._salt, what)

    def opened(self, index: int, handle: Handle) -> None:
        """It is this version."""
        self._who[index] = handle.of.version

    async def recall(self, index: int, file: DataFile) -> Memory | None:
        """What is remembered of a version that the listing tells; weak tags tell none."""
        if not file.tag or file.size < 0 or file.tag.startswith("W/"):
            return None
        way = self._way
        of, who = await self._session.connect(file.url, way.storage_options, way.filesystem)
        of.source.pin, of.source.size = file.tag, file.size
        self._who[index] = self._session.version(of, who)
        columns: Any = self._session.live.engine.columns
        found: Memory | None = columns.held(self.key(index, "memory"))
        return found

    def remember(self, index: int, memory: Memory) -> None:
        """Keep what was learnt."""
        columns: Any = self._session.live.engine.columns
        columns.keep(self.key(index, "memory"), memory)

    def decoded(self, index: int, what: Hashable, *, lasting: bool) -> tuple[pa.Table, Rows] | None:
        """Rows that were decoded, where they are kept. lasting: see OnceCache.forgo."""
        key, shared = self.key(index, what), self._session.live.engine.shared
        if lasting:
            shared.forgo(key)
        found = shared.held(key)
        return None if found is None else found[0]

    def keep(self, index: int, what: Hashable, table: pa.Table, rows: Rows) -> None:
        """Keep decoded rows, if they are few."""
        weight = table.get_total_buffer_size() + _TABLE
        if weight <= _SMALL:
            self._session.live.engine.shared.keep(self.key(index, what), ((table, rows), weight))
