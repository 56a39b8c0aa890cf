"""The values of full-zip entries, each compressed by itself."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs import blocks, bounds, fsst, variable
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21.chunkvalues import split
from rangeio.formats.lance.v21.encodings import (
    Encoding,
    FixedList,
    Flat,
    Fsst,
    General,
    Packed,
    PackedField,
    PackedVariable,
    Same,
    Variable,
    unsupported,
)
from rangeio.formats.lance.v21.values import (
    MOST,
    Bits,
    Fixed,
    FixedLists,
    Nulls,
    Structs,
    Values,
    Varied,
)

Mask: TypeAlias = npt.NDArray[np.bool_]
WHERE = "full-zip values"


def varied(encoding: Encoding, entries: Varied, present: Mask | None) -> Values:
    """The values of entries of variable width; ``present`` tells those that are not null."""
    if isinstance(encoding, Variable):
        return entries
    if isinstance(encoding, Fsst):
        table = fsst.SymbolTable.parse(memoryview(encoding.table))
        codes = varied(encoding.values, entries, present)
        if not isinstance(codes, Varied):
            raise unsupported(encoding.values, "FSST codes")
        data, offsets = fsst.decode(table, codes.data, codes.offsets)
        return Varied(offsets, data)
    if isinstance(encoding, General):
        return varied(encoding.values, _decompressed(encoding, entries, present), present)
    if isinstance(encoding, PackedVariable):
        return _structs(encoding, entries, present)
    raise unsupported(encoding, WHERE)


def _decompressed(
    encoding: General,
    entries: Varied,
    present: Mask | None,
) -> Varied:
    parts, sizes, room = [], np.zeros(entries.count, np.int64), MOST
    edges = entries.offsets.tolist()
    chosen = range(entries.count) if present is None else np.flatnonzero(present).tolist()
    for i in chosen:
        one = entries.data[edges[i] : edges[i + 1]]
        if len(one):
            part = blocks.decompress(encoding.scheme, one.data, most=room)
            parts.append(part)
            sizes[i] = len(part)
            room -= len(part)
    offsets = np.zeros(entries.count + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return Varied(offsets, np.frombuffer(b"".join(parts), np.uint8))


def fixed(encoding: Encoding, entries: Fixed) -> Values:
    """The values of entries of fixed width."""
    if isinstance(encoding, Flat):
        if encoding.bits != 8 * entries.size:
            raise Corrupt(f"values of {encoding.bits} bits in {entries.size} bytes")
        return entries
    if isinstance(encoding, FixedList):
        return _fixed_list(encoding, entries)
    if isinstance(encoding, Packed):
        if sum(encoding.bits) != 8 * entries.size or encoding.values != Flat(sum(encoding.bits)):
            raise unsupported(encoding.values, "packed structs")
        return split(entries, [b // 8 for b in encoding.bits])
    raise unsupported(encoding, WHERE)


def _fixed_list(encoding: FixedList, entries: Fixed) -> Values:
    """``[validity bytes of each layer that has them][items]`` in every entry."""
    grid = entries.data.reshape(entries.count, entries.size)
    layers: list[tuple[int, Bytes | None]] = []
    inner: Encoding = encoding
    at, items = 0, 1
    while isinstance(inner, FixedList):
        items *= inner.size
        if items > 8 * entries.size:
            raise Corrupt(f"{items} items in an entry of {entries.size} bytes")
        size = (items + 7) // 8 if inner.nullable else 0
        layers.append((inner.size, _bitmap(grid[:, at : at + size], items) if size else None))
        at, inner = at + size, inner.values
    found = _items(inner, grid[:, at:], items)
    for size, validity in reversed(layers):
        items //= size
        found = FixedLists(found, size, validity, entries.count * items)
    return found


def _bitmap(rows: Bytes, items: int) -> Bytes:
    """One bitmap of all rows from one bitmap a row, which ends in a whole byte."""
    if rows.shape[1] * 8 < items:
        raise Corrupt("an entry too short for its validity")
    if items % 8 == 0:
        return np.ascontiguousarray(rows).reshape(-1)
    each = np.unpackbits(rows, axis=1, count=items, bitorder="little")
    return np.packbits(each.reshape(-1), bitorder="little")


def _items(encoding: Encoding, grid: Bytes, items: int) -> Values:
    total = len(grid) * items
    if isinstance(encoding, Same) and encoding.value is None:
        return Nulls(total)
    if not isinstance(encoding, Flat):
        raise unsupported(encoding, WHERE)
    if (items * encoding.bits + 7) // 8 != grid.shape[1]:
        raise Corrupt(f"{items} items of {encoding.bits} bits in {grid.shape[1]} bytes")
    if encoding.bits == 1:
        return Bits(_bitmap(grid, items), total)
    if encoding.bits % 8:
        raise unsupported(encoding, WHERE)
    return Fixed(np.ascontiguousarray(grid).reshape(-1), encoding.bits // 8, total)


def _structs(
    encoding: PackedVariable,
    entries: Varied,
    present: Mask | None,
) -> Structs:
    """The fields of packed structs: all rows advance over one field after the other."""
    real = np.ones(entries.count, bool) if present is None else present
    at, stops = entries.offsets[:-1].copy(), entries.offsets[1:]
    fields = []
    for field in encoding.fields:
        sizes = _field_sizes(field, entries.data, at, stops, real)
        if field.varies:
            at = at + np.where(real, field.bits // 8, 0)
        bounds.within(at, sizes, len(entries.data), "packed field")
        if (at + sizes > stops).any():
            raise Corrupt("a packed field that reaches beyond its row")
        fields.append(_field(field, entries.data, at, sizes, real))
        at = at + sizes
    if (at != stops).any():
        raise Corrupt("a packed row that is longer than its fields")
    return Structs(tuple(fields), entries.count)


def _field_sizes(
    field: PackedField,
    data: Bytes,
    at: Offsets,
    stops: Offsets,
    real: Mask,
) -> Offsets:
    size = field.bits // 8
    if (at[real] + size > stops[real]).any():
        raise Corrupt("a packed field that reaches beyond its row")
    sizes = np.zeros(len(at), np.int64)
    if not field.varies:
        sizes[real] = size
        return sizes
    raw = variable.gather(data, at[real], np.full(int(real.sum()), size, np.int64))
    sizes[real] = bounds.offsets(raw.view(f"<u{size}"))
    return sizes


def _field(
    field: PackedField,
    data: Bytes,
    at: Offsets,
    sizes: Offsets,
    real: Mask,
) -> Values:
    if field.varies:
        out = variable.gather(data, at, sizes)
        offsets = np.zeros(len(at) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        return varied(field.values, Varied(offsets, out), real)
    size = field.bits // 8
    if real.all():
        return fixed(field.values, Fixed(variable.gather(data, at, sizes), size, len(at)))
    if len(at) > MOST // size:
        raise Corrupt(f"{len(at)} packed values of {size} bytes")
    grid = np.zeros((len(at), size), np.uint8)
    grid[real] = variable.gather(data, at[real], sizes[real]).reshape(-1, size)
    return fixed(field.values, Fixed(grid.reshape(-1), size, len(at)))
