"""Bitmaps, LSB first: one value a bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, variable
from rangeio.codecs.bounds import Bytes


def unpack_bits(data: Bytes, starts: npt.ArrayLike, counts: npt.ArrayLike) -> Bytes:
    """The bitmaps of many chunks as one, zero-padded to whole bytes; the caller's own.

    Chunk k has ``counts[k]`` bits, from the first of byte ``starts[k]``. Raises Corrupt for
    chunks outside ``data``.
    """
    at, number = bounds.offsets(starts), bounds.offsets(counts)
    values = bounds.total(number, 8 * len(data) * max(len(at), 1), "bits of chunks")
    sizes = (number + 7) // 8
    packed = variable.gather(data, at, sizes)
    if (number[:-1] % 8 == 0).all():
        if values % 8:
            packed[-1] &= (1 << values % 8) - 1
        return packed
    each = np.unpackbits(packed, bitorder="little")
    place = np.repeat(8 * (np.cumsum(sizes) - sizes) - (np.cumsum(number) - number), number)
    return np.packbits(each[place + np.arange(values)], bitorder="little")
