"""An opened Lance file: its footer, the column metadata offset table, and the bytes it has."""

from __future__ import annotations

from dataclasses import dataclass, field

from rangeio.errors import Corrupt
from rangeio.formats.format import Stale
from rangeio.formats.lance.fields import Descriptor, schema, split
from rangeio.formats.lance.footer import Footer, Pairs
from rangeio.ranges import ByteRange, CostModel
from rangeio.schema import Schema
from rangeio.steps import Steps, need

SPARING = 32 << 10
"""Bytes read through to save a GET, where few bytes were chosen over few hops."""


@dataclass(frozen=True, slots=True)
class Held:
    """The last bytes of the file, from ``start`` on. The view is shared, never written."""

    start: int
    data: memoryview

    def missing(self, at: ByteRange) -> ByteRange | None:
        """The head of a range that is not held."""
        if at.start >= self.start:
            return None
        return ByteRange(at.start, min(at.stop, self.start))

    def joined(self, at: ByteRange, head: memoryview | None) -> memoryview:
        """The bytes of a range whose :meth:`missing` head was fetched, None where none was."""
        if head is None:
            return self.data[at.start - self.start : at.stop - self.start]
        rest = max(at.stop - self.start, 0)
        return memoryview(bytes(head) + bytes(self.data[:rest])) if rest else head

    def ask(self, at: ByteRange, why: str) -> Steps[memoryview]:
        """The bytes of a range: one hop for what is not held, none where all is."""
        head = self.missing(at)
        return self.joined(at, None if head is None else (yield from need(head, why)))


@dataclass(frozen=True, slots=True)
class Known:
    """What a neighbour taught: its schema, as bytes and parsed, and what it depends on."""

    version: tuple[int, int]
    num_columns: int
    encoded: bytes
    schema: Schema


@dataclass(slots=True)
class Memo:
    """The parsed descriptor, once somebody has it. Written again, it would be the same."""

    descriptor: Descriptor | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LanceTable:
    """Immutable but for what it remembers of global buffer 0.

    offsets: (position, size) of every column's metadata, as one array. described: where global
    buffer 0 lies. known: the schema assumed from a neighbour. choice: see Table.
    """

    size: int
    footer: Footer
    offsets: Pairs
    described: ByteRange
    held: Held
    cost: CostModel
    known: Known | None = None
    choice: str = ""
    memo: Memo = field(default_factory=Memo)

    @property
    def num_columns(self) -> int:
        """Top-level columns, -1 until the schema was read."""
        found = self.memo.descriptor
        return len(found.schema) if found else -1

    @property
    def version(self) -> str:
        """What users call the version: a file says 0.3 of itself where it is 2.0."""
        major, minor = self.footer.version
        return "2.0" if (major, minor) == (0, 3) else f"{major}.{minor}"

    @property
    def metadata_size(self) -> int:
        """From the schema or the first column's metadata to the end of the file."""
        footer = self.footer
        return self.size - min(self.described.start, footer.column_meta_start, footer.cmo_start)

    def metadata(self, index: int) -> ByteRange:
        """Where the metadata of a physical column lies."""
        if not 0 <= index < len(self.offsets):
            raise Corrupt(f"there is no physical column {index}", offset=self.footer.cmo_start)
        start, size = self.offsets[index].tolist()
        return ByteRange(start, start + size)

    def learn(self, data: memoryview) -> Descriptor:
        """Parse global buffer 0 and remember it; Stale where it is not what was assumed."""
        if self.memo.descriptor is not None:
            return self.memo.descriptor
        at = self.described.start
        rows, encoded = split(data, at)
        if self.known is None:
            made = schema(encoded, at, self.footer.version, self.footer.num_columns)
        elif self.known.encoded == encoded:
            made = self.known.schema
        else:
            raise Stale
        self.memo.descriptor = Descriptor(rows, encoded, made)
        return self.memo.descriptor
