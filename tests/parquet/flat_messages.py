"""A small FlatBuffer writer for Arrow messages that no writer makes; parts may be shared."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

SCHEMA = 1
NULL, INT, UTF8, TIMESTAMP, STRUCT, UNION = 1, 2, 5, 10, 13, 14


@dataclass(eq=False)
class Table:
    """A slot is absent, a scalar's bytes, or another part; ``claimed`` is a size that may lie."""

    slots: Sequence[Part | bytes | None]
    claimed: int | None = None

    def children(self) -> list[Part]:
        return [s for s in self.slots if s is not None and not isinstance(s, bytes)]

    def size(self) -> int:
        return 8 + 8 * len(self.slots) + (4 + 2 * len(self.slots) + 7) // 8 * 8

    def encoded(self, at: int, where: dict[Part, int]) -> bytes:
        """The vtable, padded to 8, then the table: 4 bytes back to it, 4 unused, 8 a slot."""
        count = len(self.slots)
        body, offsets = b"", []
        for k, slot in enumerate(self.slots):
            here = at + 8 + 8 * k
            offset = b"" if slot is None else slot if isinstance(slot, bytes) else None
            found = struct.pack("<I", where[slot] - here) if offset is None else offset
            body += found.ljust(8, b"\0")
            offsets.append(8 + 8 * k if found else 0)
        size = 8 + 8 * count if self.claimed is None else self.claimed
        layout = struct.pack(f"<{2 + count}H", 4 + 2 * count, size, *offsets)
        layout += bytes(-len(layout) % 8)
        return layout + struct.pack("<ii", len(layout), 0) + body

    def start(self) -> int:
        return (4 + 2 * len(self.slots) + 7) // 8 * 8


@dataclass(eq=False)
class Numbers:
    """A vector of 32-bit numbers."""

    values: Sequence[int]

    def children(self) -> list[Part]:
        return []

    def size(self) -> int:
        return (4 + 4 * len(self.values) + 7) // 8 * 8

    def encoded(self, at: int, where: dict[Part, int]) -> bytes:
        count = len(self.values)
        return struct.pack(f"<{1 + count}I", count, *self.values).ljust(self.size(), b"\0")

    def start(self) -> int:
        return 0


@dataclass(eq=False)
class Vector:
    """A vector of offsets."""

    items: Sequence[Part]

    def children(self) -> list[Part]:
        return list(self.items)

    def size(self) -> int:
        return (4 + 4 * len(self.items) + 7) // 8 * 8

    def encoded(self, at: int, where: dict[Part, int]) -> bytes:
        offsets = [where[item] - (at + 4 + 4 * k) for k, item in enumerate(self.items)]
        return struct.pack(f"<{1 + len(offsets)}I", len(offsets), *offsets).ljust(
            self.size(), b"\0"
        )

    def start(self) -> int:
        return 0


@dataclass(eq=False)
class String:
    data: bytes

    def children(self) -> list[Part]:
        return []

    def size(self) -> int:
        return (5 + len(self.data) + 7) // 8 * 8

    def encoded(self, at: int, where: dict[Part, int]) -> bytes:
        return (struct.pack("<I", len(self.data)) + self.data).ljust(self.size(), b"\0")

    def start(self) -> int:
        return 0


Part = Table | Vector | Numbers | String


def field(
    name: bytes | None = b"f",
    kind: int = NULL,
    type_slots: Sequence[Part | bytes | None] = (),
    children: Sequence[Part] | Vector = (),
    metadata: Vector | None = None,
    dictionary: Table | None = None,
    further: Sequence[Part | bytes | None] = (),
) -> Table:
    """A Field; ``further`` slots are those of a later version of the format."""
    below = children if isinstance(children, Vector) else Vector(children)
    named = None if name is None else String(name)
    return Table(
        [named, b"\1", bytes([kind]), Table(type_slots), dictionary, below, metadata, *further]
    )


def pair(key: bytes, value: bytes) -> Table:
    return Table([String(key), String(value)])


def message(
    fields: Sequence[Part] | None,
    *,
    version: int = 4,
    kind: int = SCHEMA,
    endianness: int = 0,
    old_prefix: bool = False,
    gap: int = 0,
) -> bytes:
    """An encapsulated message of a schema. Parts lie behind all that lead to them.

    ``gap`` bytes, a multiple of 8, lie between the parts.
    """
    schema = Table([struct.pack("<h", endianness), None if fields is None else Vector(fields)])
    root = Table([struct.pack("<h", version), bytes([kind]), schema])
    where, at = {}, 8
    order = _before_their_children(root)
    for part in order:
        where[part] = at + part.start()
        at += part.size() + gap
    body = struct.pack("<II", where[root], 0)
    body += b"".join(part.encoded(where[part], where) + bytes(gap) for part in order)
    assert len(body) == at
    return (b"" if old_prefix else b"\xff" * 4) + struct.pack("<I", len(body)) + body


def _before_their_children(root: Part) -> list[Part]:
    order: list[Part] = []
    seen: set[Part] = set()
    todo = [(root, False)]
    while todo:
        part, done = todo.pop()
        if done:
            order.append(part)
        elif part not in seen:
            seen.add(part)
            todo.append((part, True))
            todo += [(child, False) for child in part.children()]
    return order[::-1]


def encoded(data: bytes) -> memoryview:
    return memoryview(base64.b64encode(data))


def whole(data: bytes) -> pa.Schema:
    """What Arrow makes of all of a message."""
    return pa.ipc.read_schema(pa.py_buffer(data))
