"""Fixed-width values: flat, compressed, bit-packed, packed structs, constants."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rangeio.codecs import blocks, fastlanes
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.v20.arrays import fitting, is_variable, nulls, primitive, variable
from rangeio.formats.lance.v20.encodings import Bitpacked, Constant, Flat, Packed
from rangeio.formats.lance.v20.span import Span, bitmap, checked, fetched, values
from rangeio.plan import Rows
from rangeio.steps import Steps, need

_PAGE = "lance.page"
_BLOCK = 1024
_MOST = (1 << 31) - 1


def flat(node: Flat, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    """The rows' values; exactly their bytes, unless the buffer is compressed."""
    fitting(kind, node.bits)
    if node.scheme is not None:
        raw = yield from unpacked(node, span.of * node.bits // 8 + 1)
        return _selected(raw, kind, span)
    if node.bits == 1:
        return primitive(kind, span.count, (yield from bitmap(node.at, span, _PAGE)))
    if node.bits % 8:
        raise Unsupported(f"flat values of {node.bits} bits")
    data = yield from values(node.at, span, node.bits // 8, _PAGE)
    return primitive(kind, span.count, data)


def unpacked(node: Flat, most: int) -> Steps[memoryview]:
    """All bytes of a buffer, at most ``most``, decompressed where it is compressed."""
    data = yield from need(node.at, _PAGE)
    if node.scheme is None:
        return data
    return blocks.decompress(node.scheme, data, most=min(most, _MOST))


def _selected(raw: memoryview, kind: pa.DataType, span: Span) -> pa.Array:
    """The rows out of all values of a page."""
    if len(raw) * 8 < span.of * kind.bit_width:
        raise Corrupt(f"a compressed page of {len(raw)} bytes for {span.of} values of {kind}")
    return chosen(primitive(kind, span.of, raw), span)


def chosen(array: pa.Array, span: Span) -> pa.Array:
    """The rows of an array of all rows, starting at bit 0 of its buffers."""
    if span.whole:
        return array
    return array.take(pa.array(span.rows.array()))


def packed(node: Packed, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    """Structs stored row after row, cut into their fields."""
    if not pa.types.is_struct(kind) or kind.num_fields != len(node.widths):
        raise Corrupt(f"a packed struct of {len(node.widths)} fields for {kind}")
    for i, bits in enumerate(node.widths):
        if _bits(kind.field(i).type) != bits:
            raise Corrupt(f"packed values of {bits} bits for {kind.field(i).type}")
    edges = np.cumsum((0, *node.widths)) // 8
    data = yield from values(node.at, span, int(edges[-1]), _PAGE)
    table = np.frombuffer(data, np.uint8).reshape(span.count, int(edges[-1]))
    fields = [
        _field(kind.field(i).type, np.ascontiguousarray(table[:, a:b]))
        for i, (a, b) in enumerate(itertools.pairwise(edges.tolist()))
    ]
    return pa.StructArray.from_arrays(fields, fields=[kind.field(i) for i in range(len(fields))])


def _bits(kind: pa.DataType) -> int:
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size) * _bits(kind.value_type)
    if pa.types.is_nested(kind) or pa.types.is_boolean(kind) or is_variable(kind):
        raise Unsupported(f"a packed struct with a field of type {kind}")
    return int(kind.bit_width)


def _field(kind: pa.DataType, data: npt.NDArray[np.uint8]) -> pa.Array:
    if pa.types.is_fixed_size_list(kind):
        items = _field(kind.value_type, data.reshape(data.shape[0] * kind.list_size, -1))
        return pa.Array.from_buffers(kind, data.shape[0], [None], children=[items])
    return primitive(kind, data.shape[0], data.reshape(-1))


def bitpacked(node: Bitpacked, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    """Integers of fewer bits than their type has."""
    fitting(kind, node.bits)
    if not node.packed:
        return primitive(kind, span.count, np.zeros(span.count * node.bits // 8, np.uint8))
    if node.blocks:
        return primitive(kind, span.count, (yield from _lanes(node, span)))
    return primitive(kind, span.count, (yield from _stream(node, span)))


def _lanes(node: Bitpacked, span: Span) -> Steps[npt.NDArray[np.generic]]:
    """Whole FastLanes blocks, then the rows of them."""
    size = 128 * node.packed
    rows = span.rows
    first, last = rows.starts // _BLOCK, -(-rows.stops // _BLOCK)
    runs = Rows.of(np.unique(Rows(first, last).array())) if len(rows) > 1 else Rows(first, last)
    data = yield from values(node.at, Span(runs, -(-span.of // _BLOCK)), size, _PAGE)
    starts = np.arange(runs.count, dtype=np.int64) * size
    words = fastlanes.unpack_blocks(np.frombuffer(data, np.uint8), starts, node.packed, node.bits)
    wanted = rows.array()
    block = np.searchsorted(runs.array(), wanted // _BLOCK)
    found: npt.NDArray[np.generic] = words[block * _BLOCK + wanted % _BLOCK]
    return found


def _stream(node: Bitpacked, span: Span) -> Steps[npt.NDArray[np.generic]]:
    """One stream of bits, the lowest first; a run begins anywhere in a byte."""
    checked(node.at, span, node.packed)
    parts = []
    begins = span.rows.starts * node.packed
    ends = span.rows.stops * node.packed
    # Two runs may share a byte: each has its own copy of it, at its own place.
    sizes = -(-ends // 8) - begins // 8
    data = yield from fetched(node.at, Rows(begins // 8, -(-ends // 8)), _PAGE)
    at = np.cumsum(sizes) - sizes
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    for place, begin, end in zip(at.tolist(), begins.tolist(), ends.tolist(), strict=True):
        low = place * 8 + begin % 8
        parts.append(bits[low : low + end - begin])
    table = np.concatenate(parts).reshape(span.count, node.packed)
    wide = np.empty((span.count, node.bits), np.uint8)
    wide[:, : node.packed] = table
    wide[:, node.packed :] = table[:, -1:] if node.signed else 0
    return np.packbits(wide, axis=1, bitorder="little").reshape(-1)


def constant(node: Constant, kind: pa.DataType, span: Span) -> pa.Array:
    """The same value in every row."""
    count = span.count
    # What is refused as nulls would be too much as values, too.
    nulls(kind, count)
    if is_variable(kind):
        offsets = np.arange(count + 1, dtype=np.int64) * len(node.value)
        if offsets[-1] > _MOST:
            raise Unsupported(f"a page of {count} times the same {len(node.value)} bytes")
        return variable(kind, offsets, memoryview(node.value * count))
    if pa.types.is_boolean(kind) and len(node.value) == 1:
        return pa.array(np.full(count, node.value != b"\x00"))
    fitting(kind, 8 * len(node.value))
    return primitive(kind, count, memoryview(node.value * count))
