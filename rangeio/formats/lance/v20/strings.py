"""Strings and binaries: entries that say where each value ends, then the bytes.

A page that is read whole costs one hop. Of part of one the entries come first and the exact bytes
in a second hop, unless the bytes are one compressed block, which is then asked for at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.codecs import fsst
from rangeio.codecs.variable import gather
from rangeio.errors import Corrupt
from rangeio.formats.lance.v20.arrays import is_variable, masked, variable
from rangeio.formats.lance.v20.encodings import Binary, Flat, Node, Nullable
from rangeio.formats.lance.v20.fixed import unpacked
from rangeio.formats.lance.v20.span import Bytes, Offsets, Span, fetched
from rangeio.plan import Later, Rows
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, together

_MOST = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Ends:
    """Where the asked values lie: n+1 ``offsets`` from 0, and the ``runs`` they were cut from.

    valid: one bool a value, None where all are.
    """

    offsets: Offsets
    runs: Rows
    valid: npt.NDArray[np.bool_] | None

    def on(self, array: pa.Array) -> pa.Array:
        """The array with this validity."""
        return array if self.valid is None else masked(array, self.bits())

    def bits(self) -> Bytes:
        """The validity, packed."""
        assert self.valid is not None
        return np.packbits(self.valid, bitorder="little")


def entries(span: Span) -> Span:
    """The entries that tell where the values of these rows begin and end."""
    return Span(Rows(np.maximum(span.rows.starts - 1, 0), span.rows.stops), span.of)


def ends(raw: npt.NDArray[np.uint64], span: Span, adjustment: int, most: int) -> Ends:
    """Offsets from the entries of ``span``; Corrupt where they fall or exceed ``most``.

    ``raw`` holds, of every run, the entry before it (but for row 0) and its own.
    """
    rows = span.rows
    if not len(rows):
        return Ends(np.zeros(1, np.int64), rows, None)
    null = raw >= np.uint64(adjustment) if adjustment else None
    edge = raw
    if null is not None and null.any():
        edge = raw - null * np.uint64(adjustment)
    else:
        null = None
    if rows.starts[0] == 0:
        edge = np.concatenate((np.zeros(1, np.uint64), edge))
        null = None if null is None else np.concatenate(([False], null))
    if len(edge) and edge.max() > most:
        raise Corrupt(f"an entry that ends at {edge.max()}, behind {most}")
    return _one(edge.view(np.int64), null) if len(rows) == 1 else _many(edge, null, rows)


def _one(at: Offsets, null: npt.NDArray[np.bool_] | None) -> Ends:
    """The ends of one run: the entry before it, then its own."""
    if (at[1:] < at[:-1]).any():
        raise Corrupt("entries that fall")
    valid = None if null is None else ~null[1:]
    runs = Rows(at[:1], at[-1:])
    return Ends(at - at[0] if at[0] else at, runs, None if valid is None or valid.all() else valid)


def _many(edge: npt.NDArray[np.uint64], null: npt.NDArray[np.bool_] | None, rows: Rows) -> Ends:
    """The ends of runs, each with the entry before it."""
    at = edge.view(np.int64)
    counts = rows.stops - rows.starts
    head = np.cumsum(counts + 1) - (counts + 1)
    own = np.ones(len(at), bool)
    own[head] = False
    sizes = np.diff(at, prepend=0)[own]
    if (sizes < 0).any():
        raise Corrupt("entries that fall")
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    valid = None if null is None else ~null[own]
    runs = Rows(at[head], at[head + counts])
    return Ends(offsets, runs, None if valid is None or valid.all() else valid)


def plain(node: Node) -> Flat:
    """The flat bytes below encodings that say nothing."""
    while isinstance(node, Nullable) and node.validity is None:
        node = node.values
    if not isinstance(node, Flat) or node.bits != 8:
        raise Corrupt("bytes of strings that are not flat")
    return node


def exact(node: Binary) -> bool:
    """Whether the bytes of some values can be read without all others."""
    return plain(node.data).scheme is None


def strings(
    node: Binary, indices: Steps[pa.Array], kind: pa.DataType, span: Span
) -> Steps[pa.Array]:
    """The rows' values. ``indices`` reads the :func:`entries` of the span."""
    if not is_variable(kind):
        raise Corrupt(f"strings for the type {kind}")
    flat = plain(node.data)
    limit = flat.at.size if flat.scheme is None else max(0, node.adjustment - 1) or _MOST
    if span.whole or flat.scheme is not None:
        both: list[Steps[Any]] = [indices, unpacked(flat, limit)]
        raw, data = yield from together(both, "lance.page")
        found = _found(raw, span, node, min(limit, len(data)))
        cut = _cut(np.frombuffer(data, np.uint8), found.runs)
    else:
        found = _found((yield from indices), span, node, limit)
        used = found.runs
        got = yield from fetched(flat.at, _present(used), "lance.strings")
        cut = np.frombuffer(got, np.uint8)
    offsets = found.offsets
    if node.table:
        table = fsst.SymbolTable.parse(memoryview(node.table))
        cut, offsets = fsst.decode(table, cut, offsets)
    return found.on(variable(kind, offsets, cut))


def _found(raw: pa.Array, span: Span, node: Binary, most: int) -> Ends:
    return ends(words(raw), span, node.adjustment, most)


def words(array: pa.Array) -> npt.NDArray[np.uint64]:
    """Entries as numpy has them."""
    if array.null_count:
        raise Corrupt("entries that are null")
    return np.asarray(array.to_numpy(zero_copy_only=False), np.uint64)


def _present(runs: Rows) -> Rows:
    """The runs that hold bytes."""
    some = runs.stops > runs.starts
    return Rows(runs.starts[some], runs.stops[some])


def _cut(data: Bytes, runs: Rows) -> Bytes:
    if len(runs) <= 1:
        return data[int(runs.starts[0]) : int(runs.stops[0])] if len(runs) else data[:0]
    return gather(data, runs.starts, runs.stops - runs.starts)


def later(node: Binary, span: Span) -> list[Later]:
    """The hops behind the first."""
    if span.whole or not exact(node):
        return []
    return [Later((_region(node),), len(span.rows))]


def _region(node: Binary) -> ByteRange:
    return plain(node.data).at
