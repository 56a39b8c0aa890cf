"""Bloom filters of pages, asked for the values that a filter looks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rangeio.condition import Path
from rangeio.errors import RangeIOError
from rangeio.formats.doris import blooms
from rangeio.formats.doris.branches import Leaf
from rangeio.formats.doris.encodings import Binary
from rangeio.formats.doris.meta import Indexed, Node
from rangeio.formats.doris.types import Declared, arrow_type
from rangeio.formats.doris.values import from_arrow
from rangeio.formats.doris.words import FieldType
from rangeio.literal import Order, array_of
from rangeio.statistics import Statistics

_MOST = 100
"""Values that one filter is asked for: of more, one is likely to seem present by mistake."""
_MURMUR, _BLOCK = 0, 0


@dataclass(frozen=True, slots=True)
class Probe:
    """The filters of a column's pages, and the hashes of what they are asked for, by repr."""

    pages: Indexed
    hashes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Absent:
    """Says of a value that it is not in one page."""

    bloom: bytes
    hashes: Mapping[str, int]

    def __call__(self, value: Order) -> bool:
        """Whether that is certain."""
        hashed = self.hashes.get(repr(value))
        return hashed is not None and not blooms.holds(self.bloom, hashed)


def probes_of(
    leaves: Mapping[Path, Leaf],
    wanted: Mapping[Path, Sequence[Order]],
    known: Mapping[Path, Statistics],
) -> dict[Path, Probe]:
    """The probes of leaves that have bloom filters of a kind that is known here."""
    found: dict[Path, Probe] = {}
    for path, values in wanted.items():
        if path not in leaves or not 0 < len(values) <= _MOST:
            continue
        node = leaves[path].node
        own = node.blooms
        if own is None or (own.strategy, own.algorithm) != (_MURMUR, _BLOCK):
            continue
        raws = {repr(value): _stored(node, value) for value in values}
        hashes = {word: blooms.hashed(raw) for word, raw in raws.items() if raw is not None}
        if hashes:
            found[path] = Probe(own.pages, hashes)
    return found


def _stored(node: Node, value: Order) -> bytes | None:
    """The bytes that pages have of a value; None where that is not certain.

    CHAR may be padded or not; a float may be one of several NaNs or zeros.
    """
    if node.type == FieldType.CHAR or not blooms.is_taken(node.type):
        return None
    kind = arrow_type(node.type, node.precision, node.frac)
    declared = Declared(FieldType(node.type), node.precision, node.frac, node.length)
    try:
        values, _ = from_arrow(array_of([value], kind).cast(kind), declared)
    except (RangeIOError, ValueError, pa.ArrowException):
        return None
    if isinstance(values, Binary):
        return values.data[int(values.offsets[0]) : int(values.offsets[1])].tobytes()
    return values.data.tobytes()
