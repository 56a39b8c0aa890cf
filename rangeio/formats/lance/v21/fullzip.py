"""Full-zip pages: large values, each behind its levels and, where it varies, its length."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rangeio.codecs import levels as codec
from rangeio.codecs import zipped
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.codecs.zipped import Control, Entries
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21 import zipvalues
from rangeio.formats.lance.v21.arrays import array
from rangeio.formats.lance.v21.layouts import FullZip
from rangeio.formats.lance.v21.leaf import Leaf
from rangeio.formats.lance.v21.miniblock import validity
from rangeio.formats.lance.v21.values import Bits, Fixed, Varied
from rangeio.plan import Rows


def control_of(layout: FullZip) -> Control:
    """How the control words of a page are cut."""
    visible = codec.visible([codec.Layer(code) for code in layout.layers.codes])
    return Control(layout.bits_rep, layout.bits_def, visible)


def record(layout: FullZip) -> int:
    """Bytes of an entry of fixed width and without repetition."""
    return layout.control + layout.bits // 8


def decode(
    layout: FullZip, kind: pa.DataType, data: Bytes, starts: Offsets, stops: Offsets, rows: Rows
) -> Leaf:
    """The elements ``rows``, whose entries lie at ``starts..stops`` of ``data``, row by row.

    Of fixed width and without repetition, one segment may hold many. Raises Corrupt where entries
    do not fill their segments.
    """
    control = control_of(layout)
    if layout.varies:
        entries, offsets, raw = zipped.variable(data, starts, stops, control, layout.bits // 8)
        found = Varied(offsets, raw)
        present = _present(entries, control)
        values = zipvalues.varied(layout.values, found, present)
    else:
        size = layout.bits // 8
        if not control.size:
            entries, raw = _bare(data, size)
        else:
            entries, raw = zipped.fixed(data, starts, stops, control, size)
        values = zipvalues.fixed(layout.values, Fixed(raw, size, len(raw) // size))
    defs = entries.definition
    if defs is not None:
        defs = layout.layers.renumber(defs)
    kinds = layout.layers.kinds
    if pa.types.is_boolean(kind) and isinstance(values, Fixed):
        values = _flags(values)
    made = array(kind, values, validity(kinds, defs))
    if not layout.layers.lists:
        if len(made) != rows.count:
            raise Corrupt(f"{len(made)} entries for {rows.count} rows")
        return Leaf(rows, 1, kinds, made, None, defs if layout.layers.nulls_above else None)
    leaf = Leaf(rows, 1, kinds, made, entries.rep, defs)
    leaf.begins()
    return leaf


def _flags(values: Fixed) -> Fixed | Bits:
    """Booleans, of which each entry has a byte of its own."""
    if values.size != 1:
        return values
    return Bits(np.packbits(values.data != 0, bitorder="little"), values.count)


def _bare(data: Bytes, size: int) -> tuple[Entries, Bytes]:
    """Values side by side: nothing to unzip, and nothing copied."""
    if len(data) % size:
        raise Corrupt(f"{len(data)} bytes of values of {size} bytes")
    count = len(data) // size
    return Entries(None, None, np.array([0, count]), count), data


def _present(entries: Entries, control: Control) -> zipvalues.Mask | None:
    """Which visible slots have a value."""
    if entries.definition is None:
        return None
    present: zipvalues.Mask = entries.definition[entries.definition <= control.visible] == 0
    return present
