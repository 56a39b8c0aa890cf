"""Blob pages: positions and sizes in the page, payloads elsewhere in the file.

A size of 0 is an empty value where the position is 0, else a null; the position then is a
definition level, shifted left by 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rangeio.codecs.bounds import Levels, Offsets
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21.arrays import array
from rangeio.formats.lance.v21.layouts import Blob
from rangeio.formats.lance.v21.leaf import Leaf
from rangeio.formats.lance.v21.miniblock import validity
from rangeio.formats.lance.v21.values import Varied
from rangeio.ranges import ByteRange

DESCRIPTION = pa.struct([("position", pa.uint64()), ("size", pa.uint64())])
_FAR = 1 << 48


@dataclass(frozen=True, slots=True, eq=False)
class Payloads:
    """Where the payloads of a unit's rows lie."""

    leaf: Leaf
    sizes: Offsets
    defs: Levels | None
    ranges: tuple[ByteRange, ...]


def payloads(layout: Blob, leaf: Leaf, limit: int) -> Payloads:
    """The payloads that the descriptions of ``leaf`` point at, none at or beyond ``limit``."""
    position, size = (
        leaf.values.field(i).to_numpy(zero_copy_only=False).astype(np.uint64) for i in (0, 1)
    )
    real = size > 0
    if (position[real] > _FAR).any() or (size[real] > _FAR).any():
        raise Corrupt("a blob beyond 2^48")
    starts, sizes = position.astype(np.int64), size.astype(np.int64)
    if (starts[real] + sizes[real] > limit).any():
        raise Corrupt(f"a blob that reaches beyond the file's data, which end at {limit}")
    defs = None
    levels = np.where(real, 0, starts)
    if levels.any():
        levels = levels >> 16 if int(levels.min(initial=0)) >= 0 else levels
        if int(levels.max()) > 1 << 16 or ((levels == 0) & ~real & (starts != 0)).any():
            raise Corrupt("a null blob without a definition level")
        defs = layout.layers.renumber(levels.astype(np.uint16))
    ranges = tuple(
        ByteRange(a, a + n)
        for a, n in zip(starts[real].tolist(), sizes[real].tolist(), strict=True)
    )
    return Payloads(leaf, sizes, defs, ranges)


def decode(layout: Blob, kind: pa.DataType, at: Payloads, got: Sequence[memoryview]) -> Leaf:
    """The values, from the payloads that were asked for."""
    offsets = np.zeros(len(at.sizes) + 1, np.int64)
    np.cumsum(at.sizes, out=offsets[1:])
    data = np.frombuffer(b"".join(got), np.uint8)
    kinds = layout.layers.kinds
    made = array(kind, Varied(offsets, data), validity(kinds, at.defs))
    above = at.defs if layout.layers.nulls_above else None
    return Leaf(at.leaf.rows, at.leaf.scale, kinds, made, None, above)
