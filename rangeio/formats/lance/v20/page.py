"""One page of one leaf: the asked rows of it, as an Arrow array of the leaf's storage type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from rangeio.codecs.variable import take
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.v20 import fixed
from rangeio.formats.lance.v20.arrays import is_variable, masked, nulls, primitive, variable
from rangeio.formats.lance.v20.encodings import (
    AllNull,
    Binary,
    Bitpacked,
    Constant,
    Dictionary,
    FixedBinary,
    FixedList,
    Flat,
    Node,
    Nullable,
    Packed,
    Struct,
)
from rangeio.formats.lance.v20.span import Bytes, Offsets, Span, bitmap
from rangeio.formats.lance.v20.strings import entries, strings
from rangeio.formats.lance.v20.strings import later as strings_later
from rangeio.plan import Later
from rangeio.steps import Steps, together

_MOST = (1 << 31) - 1


def read(node: Node, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    """The rows of ``span``; the first need is all that does not depend on data."""
    match node:
        case Flat():
            return (yield from fixed.flat(node, kind, span))
        case Nullable():
            return (yield from _nullable(node, kind, span))
        case AllNull():
            return nulls(kind, span.count)
        case Binary():
            indices = read(node.indices, pa.uint64(), entries(span))
            return (yield from strings(node, indices, kind, span))
        case Dictionary():
            return (yield from _dictionary(node, kind, span))
        case FixedList():
            return (yield from _fixed_list(node, kind, span))
        case FixedBinary():
            return (yield from _fixed_binary(node, kind, span))
        case Packed():
            return (yield from fixed.packed(node, kind, span))
        case Bitpacked():
            return (yield from fixed.bitpacked(node, kind, span))
        case Constant():
            return fixed.constant(node, kind, span)
        case Struct() if pa.types.is_struct(kind) and not kind.num_fields:
            nulls(pa.int8(), span.count)
            return pa.Array.from_buffers(kind, span.count, [None])
    raise Corrupt(f"{type(node).__name__} pages for the type {kind}")


def later(node: Node, span: Span) -> list[Later]:
    """What the hops behind the first may ask for."""
    match node:
        case Nullable():
            return later(node.values, span)
        case FixedList():
            return later(node.items, span.times(node.size))
        case Binary():
            return strings_later(node, span)
    return []


def _nullable(node: Nullable, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    if node.validity is None:
        return (yield from read(node.values, kind, span))
    both: list[Steps[Any]] = [_validity(node.validity, span), read(node.values, kind, span)]
    bits, array = yield from together(both, "lance.page")
    return masked(array, bits)


def _validity(node: Node, span: Span) -> Steps[Bytes]:
    while isinstance(node, Nullable) and node.validity is None:
        node = node.values
    if not isinstance(node, Flat) or node.bits != 1:
        raise Corrupt("validity that is no bitmap")
    if node.scheme is not None:
        flags = yield from fixed.flat(node, pa.bool_(), span)
        return np.packbits(flags.to_numpy(zero_copy_only=False), bitorder="little")
    return (yield from bitmap(node.at, span, "lance.page"))


def _fixed_list(node: FixedList, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    if not pa.types.is_fixed_size_list(kind) or kind.list_size != node.size:
        raise Corrupt(f"fixed-size lists of {node.size} for the type {kind}")
    items = yield from read(node.items, kind.value_type, span.times(node.size))
    return pa.Array.from_buffers(kind, span.count, [None], children=[items])


def _fixed_binary(node: FixedBinary, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    """Values that are all equally long, of a type that has offsets or one that has not."""
    if not 0 < node.width <= _MOST:
        raise Corrupt(f"values of {node.width} bytes")
    data = yield from read(node.data, pa.uint8(), span.times(node.width))
    raw = data.to_numpy(zero_copy_only=False)
    if is_variable(kind):
        return variable(kind, np.arange(span.count + 1, dtype=np.int64) * node.width, raw)
    if not pa.types.is_fixed_size_binary(kind) or kind.byte_width != node.width:
        raise Corrupt(f"values of {node.width} bytes for the type {kind}")
    return primitive(kind, span.count, raw)


def _dictionary(node: Dictionary, kind: pa.DataType, span: Span) -> Steps[pa.Array]:
    """Arrow dictionaries keep their indices; for plain strings 0 is null and k is item k-1."""
    encoded = pa.types.is_dictionary(kind)
    index = kind.index_type if encoded else _index(node.indices)
    both: list[Steps[Any]] = [
        read(node.indices, index, span),
        read(node.items, kind.value_type if encoded else kind, Span.all(node.count)),
    ]
    indices, items = yield from together(both, "lance.page")
    picks = np.asarray(indices.fill_null(0).to_numpy(zero_copy_only=False))
    least = 0 if encoded else -1
    at = picks.astype(np.int64) - (0 if encoded else 1)
    holes = indices.is_valid().to_numpy(zero_copy_only=False) if indices.null_count else True
    if len(at) and ((at < least) | (at >= len(items)))[holes].any():
        raise Corrupt(f"an index outside a dictionary of {len(items)} items")
    if encoded:
        return _coded(kind, indices, items)
    return _plain(at, items, kind)


def _coded(kind: pa.DictionaryType, indices: pa.Array, items: pa.Array) -> pa.Array:
    """Indices into items. Null items move to the indices: Arrow joins no dictionaries with one."""
    if items.null_count:
        valid = items.is_valid().to_numpy(zero_copy_only=False)
        places = pa.array(np.cumsum(valid) - 1, mask=~valid).cast(kind.index_type, safe=False)
        indices, items = places.take(indices), items.drop_null()
    return pa.DictionaryArray.from_arrays(indices, items, ordered=kind.ordered, safe=False)


def _index(node: Node) -> pa.DataType:
    """The type of the indices of strings: as wide as they are stored."""
    while isinstance(node, Nullable):
        node = node.values
    bits = node.bits if isinstance(node, Flat | Bitpacked) else 0
    if bits not in (8, 16, 32, 64):
        raise Unsupported(f"dictionary indices of {bits} bits")
    return getattr(pa, f"uint{bits}")()


def _plain(at: Offsets, items: pa.Array, kind: pa.DataType) -> pa.Array:
    """The strings that the indices mean; -1 is null."""
    if not is_variable(kind):
        raise Unsupported(f"a dictionary of {kind}")
    valid = at >= 0
    if items.null_count and len(at):
        valid &= items.is_valid().to_numpy(zero_copy_only=False)[np.maximum(at, 0)]
    offsets, data = _parts(items)
    # One more value, empty, stands for null.
    edges = np.append(offsets, offsets[-1])
    found, cut = take(edges, data, np.where(valid, at, len(items)), most=_MOST)
    array = variable(kind, found, cut)
    return array if valid.all() else masked(array, np.packbits(valid, bitorder="little"))


def _parts(items: pa.Array) -> tuple[Offsets, Bytes]:
    """Offsets and bytes of an array that begins at its buffers' start."""
    large = items.type in (pa.large_string(), pa.large_binary())
    _, offsets, data = items.buffers()
    edges: Offsets = np.zeros(1, np.int64)
    if offsets is not None and offsets.size:
        found = np.frombuffer(offsets, np.int64 if large else np.int32)
        edges = found[: len(items) + 1].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return edges, raw
