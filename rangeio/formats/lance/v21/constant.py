"""Constant pages: one value, or null, for every visible slot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Bytes, Levels
from rangeio.errors import Corrupt, Unsupported
from rangeio.formats.lance.v21 import blockvalues
from rangeio.formats.lance.v21.arrays import array, nulls
from rangeio.formats.lance.v21.encodings import Encoding
from rangeio.formats.lance.v21.layouts import Constant
from rangeio.formats.lance.v21.leaf import Leaf, ordinals, slots
from rangeio.formats.lance.v21.miniblock import validity
from rangeio.formats.lance.v21.values import Bits, Coded, Fixed, Values, Varied
from rangeio.plan import Rows


def decode(
    layout: Constant, kind: pa.DataType, buffers: Sequence[Bytes], elements: Rows, total: int
) -> Leaf:
    """The asked elements of a page of ``total``; without levels only they are made.

    ``buffers`` are all of the page's: ``[value], [rep, def]``.
    """
    value = buffers[0] if len(buffers) in (1, 3) else None
    if len(buffers) > 3 or (value is not None and layout.value is not None):
        raise Corrupt(f"a constant page of {len(buffers)} buffers")
    rep, defs = _levels(layout, buffers[-2:] if len(buffers) > 1 else ())
    kinds = layout.layers.kinds
    if layout.layers.lists and rep is None:
        raise Corrupt("a constant page of lists without repetition levels")
    if rep is None and defs is None:
        made = _repeated(kind, layout.value, value, elements.count, None)
        return Leaf(elements, 1, kinds, made)
    if rep is not None and defs is not None and len(rep) != len(defs):
        raise Corrupt(f"{len(rep)} repetition levels with {len(defs)} definition levels")
    if defs is not None:
        defs = layout.layers.renumber(defs)
    leaf = Leaf(Rows.span(0, total), 1, kinds, _blank(rep, defs, kinds), rep, defs)
    if rep is None and len(leaf.values) != total:
        raise Corrupt(f"{len(leaf.values)} levels for {total} rows")
    if elements != leaf.rows:
        leaf = leaf.pick(elements, ordinals(leaf.rows, elements))
    elif rep is not None:
        leaf.begins()
    bitmap = validity(kinds, leaf.defs)
    made = _repeated(kind, layout.value, value, len(leaf.values), bitmap)
    above = leaf.defs if rep is not None or layout.layers.nulls_above else None
    return Leaf(leaf.rows, 1, kinds, made, leaf.rep, above)


def _levels(layout: Constant, buffers: Sequence[Bytes]) -> tuple[Levels | None, Levels | None]:
    if not buffers:
        return None, None
    rep, defs = buffers
    return (
        _one(layout.rep, rep, layout.num_rep),
        _one(layout.defs, defs, layout.num_def),
    )


def _one(encoding: Encoding | None, data: Bytes, count: int) -> Levels | None:
    """The levels of one buffer; raw words where no encoding is told; an empty one has none."""
    if not len(data):
        return None
    if encoding is not None:
        return blockvalues.one_level(encoding, data, count)
    if len(data) % 2:
        raise Corrupt(f"levels of {len(data)} bytes")
    return np.frombuffer(data.tobytes(), "<u2")


def _blank(rep: Levels | None, defs: Levels | None, kinds: tuple[bool, ...]) -> pa.Array:
    """A null for every visible slot, which stands for the value until rows are chosen."""
    if rep is None:
        assert defs is not None
        return pa.nulls(len(defs))
    return pa.nulls(len(rep) if defs is None else int(slots(kinds, defs)[-1]))


def _repeated(
    kind: pa.DataType,
    inline: bytes | None,
    value: Bytes | None,
    count: int,
    bitmap: Bytes | None,
) -> pa.Array:
    """``count`` times the value; null where the bitmap says so, or where there is no value."""
    if inline is None and value is None:
        if pa.types.is_struct(kind) and not kind.num_fields:
            bits = None if bitmap is None else pa.py_buffer(bitmap)
            return pa.Array.from_buffers(kind, count, [bits], children=[])
        return nulls(count, kind)
    stored = kind
    while isinstance(stored, pa.BaseExtensionType):
        stored = stored.storage_type
    if pa.types.is_dictionary(stored):
        stored = stored.value_type
    parts = [inline] if inline is not None else _buffers(value)
    if pa.types.is_boolean(stored):
        if len(parts) != 1 or len(parts[0]) != 1:
            raise Corrupt("a constant bool of another size than one byte")
        fill = np.uint8(255 if parts[0][0] & 1 else 0)
        return array(kind, Bits(np.full((count + 7) // 8, fill), count), bitmap)
    indices = np.zeros(count, np.uint8)
    return array(kind, Coded(indices, _scalar(stored, parts)), bitmap)


def _scalar(kind: pa.DataType, parts: Sequence[bytes]) -> Values:
    """The one value of the page."""
    if len(parts) == 1 and parts[0]:
        return Fixed(np.frombuffer(parts[0], np.uint8), len(parts[0]), 1)
    if len(parts) != 2 or len(parts[0]) not in (8, 16):
        raise Unsupported(f"a constant {kind} in {len(parts)} buffers")
    offsets = np.frombuffer(parts[0], f"<i{len(parts[0]) // 2}").astype(np.int64)
    if not 0 <= offsets[0] <= offsets[1] <= len(parts[1]):
        raise Corrupt(f"a constant {kind} at {offsets[0]}..{offsets[1]} of {len(parts[1])} bytes")
    return Varied(offsets, np.frombuffer(parts[1], np.uint8))


def _buffers(value: Bytes | None) -> list[bytes]:
    """``[u32 number][u32 size of each][bytes of each]``."""
    assert value is not None
    raw = value.tobytes()
    number = int.from_bytes(raw[:4], "little")
    at = 4 + 4 * number
    if len(raw) < 4 or at > len(raw):
        raise Corrupt(f"a constant of {number} buffers in {len(raw)} bytes")
    parts = []
    for i in range(number):
        size = int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "little")
        if at + size > len(raw):
            raise Corrupt(f"a constant whose buffer {i} has {size} bytes")
        parts.append(raw[at : at + size])
        at += size
    return parts
