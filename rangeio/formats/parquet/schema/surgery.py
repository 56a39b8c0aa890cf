"""A small valid footer of chosen leaves and row groups, for Arrow to decode what it describes.

It says of them what the file's own footer says, byte for byte; the rest is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from rangeio.codecs import thrift
from rangeio.formats.parquet.footer.footer import Part
from rangeio.formats.parquet.footer.locate import ARROW_SCHEMA
from rangeio.formats.parquet.leaf import Leaf, Order

MAGIC = b"PAR1"
_OPTIONAL, _REPEATED, _LIST = 1, 2, 3


@dataclass(frozen=True, eq=False)
class Trunk:
    """A top-level field of a file, whole.

    elements: its SchemaElements, depth first. children: of each. orders: the ColumnOrder of every
    leaf. first: the ordinal of its first leaf.
    """

    elements: tuple[bytes, ...]
    children: tuple[int, ...]
    orders: tuple[int, ...]
    first: int

    def kept(self, leaves: Collection[int]) -> Branch:
        """The field with only these leaves, which are ordinals of the file."""
        if len(leaves) == len(self.orders):
            return Branch(self.elements, self.orders)
        elements: list[bytes] = []
        orders: list[int] = []
        self._walk(0, self.first, leaves, elements, orders, b"")
        return Branch(tuple(elements), tuple(orders))

    def repeated(self, leaf: int) -> bool:
        """Whether a leaf, or anything above it, is repeated."""
        return any(one.integer(3) == _REPEATED for one in self._way(leaf))

    def leaf(self, index: int, kind: pa.DataType) -> Leaf:
        """A leaf by its ordinal in the file; ``kind``: the Arrow type it decodes to."""
        way = self._way(index)
        repetitions = [one.integer(3) for one in way]
        order = self.orders[index - self.first]
        return Leaf(
            index,
            tuple((one.binary(4) or b"").decode(errors="replace") for one in way),
            kind,
            way[-1],
            sum(one in (_OPTIONAL, _REPEATED) for one in repetitions),
            repetitions.count(_REPEATED),
            Order(order) if order in Order._value2member_map_ else Order.ABSENT,
        )

    def _way(self, leaf: int) -> list[thrift.Struct]:
        """The elements from the field down to a leaf."""
        way = self._ways[leaf - self.first]
        return [thrift.read(self.elements[at])[0] for at in way]

    @cached_property
    def _ways(self) -> list[tuple[int, ...]]:
        """For every leaf, the elements down to it."""
        found: list[tuple[int, ...]] = []
        above: list[int] = []
        left: list[int] = []  # children still to come of each group that is open
        for at, children in enumerate(self.children):
            above.append(at)
            left.append(children)
            if not children:
                found.append(tuple(above))
            while left and not left[-1]:
                left.pop()
                above.pop()
                if left:
                    left[-1] -= 1
        return found

    def _walk(
        self,
        at: int,
        leaf: int,
        keep: Collection[int],
        out: list[bytes],
        orders: list[int],
        above: bytes,
    ) -> tuple[int, int, bool]:
        """Add what is left of an element below ``above``: the element and the leaf after it, and
        whether any is left."""
        count = self.children[at]
        if not count:
            if leaf in keep:
                out.append(self.elements[at])
                orders.append(self.orders[leaf - self.first])
            return at + 1, leaf + 1, leaf in keep
        place, left = len(out), 0
        own = self.elements[at]
        at += 1
        for _ in range(count):
            at, leaf, any_left = self._walk(at, leaf, keep, out, orders, own)
            left += any_left
        if left:
            kept = own if left == count else parent(own, left)
            out.insert(place, paired(kept, above) if left < count and left == 1 else kept)
        return at, leaf, left > 0


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A top-level field with some of its leaves: its SchemaElements, and the leaves' orders."""

    elements: tuple[bytes, ...]
    orders: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Origin:
    """What every footer that is cut out of one file says alike.

    size: of the file in bytes. root: the SchemaElement of the root. groups: the fields of every
    row group, its columns and sorting_columns aside. group_rows: their rows. small: the footer
    itself where it is Thrift and so small that cutting costs more than Arrow's reading all of it.
    """

    size: int
    created_by: str
    root: bytes
    groups: tuple[tuple[Part, ...], ...]
    group_rows: tuple[int, ...]
    small: bytes | None = None

    def __getstate__(self) -> dict[str, object]:
        """Without the footer: what travels is as small as what was asked for."""
        kept = {k: v for k, v in self.__dict__.items() if k != "whole"}
        return kept | {"small": None}

    @cached_property
    def whole(self) -> pq.FileMetaData | None:
        """What Arrow makes of a small footer; None of others, and where Arrow refuses it."""
        if self.small is None:
            return None
        try:
            return pq.read_metadata(pa.BufferReader(framed(self.small)))
        except (pa.ArrowException, OSError, ValueError):
            return None


def parent(element: bytes, children: int) -> bytes:
    """A SchemaElement that has so many children."""
    parts = [(i, kind, element[a:b]) for i, kind, a, b in thrift.fields(element) if i != 5]
    count = (5, thrift.I32, thrift.encoded(thrift.I32, children))
    return thrift.rebuilt(sorted([*parts, count], key=lambda part: part[0]))


def paired(element: bytes, above: bytes) -> bytes:
    """The element, told to be the item of a list itself where it is a repeated group right below
    one: with a single child left, it would be taken for the level between."""
    own, _ = thrift.read(element)
    if own.integer(3) != _REPEATED or not above:
        return element
    outer, _ = thrift.read(above)
    annotation = outer.struct(10) or thrift.Struct()
    if outer.integer(6) != _LIST and _LIST not in annotation:
        return element
    own[4] = (thrift.BINARY, (outer.binary(4) or b"") + b"_tuple")
    return thrift.write(own)


def file_metadata(
    origin: Origin,
    branches: Sequence[Branch],
    arrow_schema: bytes | None,
    groups: Sequence[int] = (),
    chunks: Sequence[Sequence[bytes]] = (),
    *,
    children: int | None = None,
) -> bytes:
    """A FileMetaData.

    arrow_schema: the value of ``ARROW:schema``; None leaves it out. chunks: of every row group of
    ``groups`` the ColumnChunk of every leaf, in order. children: top-level fields, where that is
    not the number of branches.
    """
    count = len(branches) if children is None else children
    elements = [parent(origin.root, count), *(e for b in branches for e in b.elements)]
    rows = sum(origin.group_rows[g] for g in groups)
    structs = []
    for group, own in zip(groups, chunks, strict=True):
        columns = (1, thrift.LIST, thrift.listed(thrift.STRUCT, own))
        structs.append(thrift.rebuilt([columns, *origin.groups[group]]))
    parts: list[Part] = [
        (1, thrift.I32, thrift.encoded(thrift.I32, 2)),
        (2, thrift.LIST, thrift.listed(thrift.STRUCT, elements)),
        (3, thrift.I64, thrift.encoded(thrift.I64, rows)),
        (4, thrift.LIST, thrift.listed(thrift.STRUCT, structs)),
    ]
    if arrow_schema is not None:
        parts.append((5, thrift.LIST, _told(arrow_schema)))
    if origin.created_by:
        parts.append((6, thrift.BINARY, thrift.encoded(thrift.BINARY, origin.created_by.encode())))
    orders = [order for b in branches for order in b.orders]
    if orders and all(orders):
        unions = [thrift.rebuilt([(order, thrift.STRUCT, b"\0")]) for order in orders]
        parts.append((7, thrift.LIST, thrift.listed(thrift.STRUCT, unions)))
    return thrift.rebuilt(parts)


def _told(arrow_schema: bytes) -> bytes:
    """The key ``ARROW:schema`` and its value, as key_value_metadata."""
    pair = {1: (thrift.BINARY, ARROW_SCHEMA), 2: (thrift.BINARY, arrow_schema)}
    return thrift.listed(thrift.STRUCT, [thrift.write(thrift.Struct(pair))])


def framed(metadata: bytes) -> bytes:
    """A file of nothing but this footer."""
    return b"".join((MAGIC, metadata, len(metadata).to_bytes(4, "little"), MAGIC))
