"""RLE: the bits of booleans in runs, after their number; and null maps, which are runs alone."""

from __future__ import annotations

import numpy as np

from rangeio.codecs import bitruns
from rangeio.codecs.bitruns import Bits
from rangeio.formats.doris.encodings import plain
from rangeio.formats.doris.encodings.values import Fixed


def decoded(body: memoryview, count: int) -> Fixed:
    """``count`` values of one byte, 0 or 1."""
    plain.counted(body, count)
    return Fixed(bitruns.decode(body[4:], count).view(np.uint8).reshape(count, 1))


def encoded(values: Fixed) -> bytes:
    """Number and runs; a byte that is not 0 is true."""
    return len(values).to_bytes(4, "little") + bitruns.encode(values.data.reshape(-1) != 0)


def nullmap(data: memoryview, rows: int) -> Bits:
    """bool[rows]: True where a row is NULL. ``data`` is the end of a page's body.

    No map (``nullmap_size`` 0 in the page's footer) is no NULL, and not to be asked about. Raises
    Corrupt where the map has fewer rows, before anything is allocated.
    """
    return bitruns.decode(data, rows)


def nullmap_bytes(mask: Bits) -> bytes:
    """The null map of bool[rows], True where NULL."""
    return bitruns.encode(mask)
