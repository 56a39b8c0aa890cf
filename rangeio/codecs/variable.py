"""Values of variable width: offsets and bytes, gathered from many chunks into one of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

_DTYPES: dict[int, np.dtype[np.unsignedinteger]] = {4: np.dtype("<u4"), 8: np.dtype("<u8")}
MOST = 1 << 40


def chunks(
    data: Bytes,
    starts: npt.ArrayLike,
    sizes: npt.ArrayLike,
    counts: npt.ArrayLike,
    width: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Offsets, Bytes]:
    """One int64 offsets array (from 0, one more than values) and one byte array for all chunks.

    Chunk k is the ``sizes[k]`` bytes at ``starts[k]``: ``counts[k] + 1`` offsets of ``width``
    (4 or 8) bytes, relative to the chunk's start, then the values' bytes. Padding after the last
    offset is allowed; a chunk of no values may be empty. Raises Corrupt for offsets that fall,
    that point into the offsets or beyond the chunk. Both arrays are the caller's own.
    """
    at, size, number = (bounds.offsets(x) for x in (starts, sizes, counts))
    bounds.within(at, size, len(data), "variable chunk")
    present = bounds.total(size, len(data), "bytes of variable chunks")
    values = bounds.total(number, present // width, "values of variable chunks")
    some = number > 0
    at, size, number = at[some], size[some], number[some]
    out = bounds.room(_spans(data, at, size, number, width), "values")
    offsets = np.empty(values + 1, np.int64)
    offsets[0] = 0
    fill = _fill if kernels is None else kernels.variable_chunks
    bad = fill(data, at, number, width, offsets, out)
    if bad >= 0:
        raise Corrupt(f"variable chunk {int(np.flatnonzero(some)[bad])}: its offsets fall")
    return offsets, out


def gather(
    data: Bytes,
    starts: npt.ArrayLike,
    sizes: npt.ArrayLike,
    *,
    most: int = MOST,
    kernels: Kernels | None = native.kernels,
) -> Bytes:
    """The bytes of many segments of ``data``, one after the other, as an array of the caller's.

    Raises Corrupt for segments outside ``data`` and where they are more than ``most`` bytes.
    """
    at, size = bounds.offsets(starts), bounds.offsets(sizes)
    bounds.within(at, size, len(data), "segment")
    out = bounds.room(bounds.total(size, most, "bytes of segments"), "segments")
    if kernels is not None:
        kernels.gather(data, at, size, out)
    else:
        _gather(data, at, size, out)
    return out


def take(
    offsets: npt.ArrayLike,
    data: Bytes,
    indices: npt.ArrayLike,
    *,
    most: int = MOST,
    kernels: Kernels | None = native.kernels,
) -> tuple[Offsets, Bytes]:
    """The values ``indices`` of the values that ``offsets`` cut from ``data``: a dictionary made
    plain.

    Raises Corrupt for indices outside, offsets that fall or leave ``data``, and where the result
    is more than ``most`` bytes: it may be far larger than what it was made from.
    """
    edges, chosen = bounds.offsets(offsets), bounds.offsets(indices)
    bounds.ascending(edges, len(data), "value")
    if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(edges) - 1:
        raise Corrupt(f"an index outside {len(edges) - 1} values")
    sizes = np.diff(edges)[chosen]
    out = bounds.room(bounds.total(sizes, most, "bytes of values"), "values")
    out_offsets = np.zeros(len(chosen) + 1, np.int64)
    if kernels is not None:
        kernels.take(edges, data, chosen, out_offsets, out)
    else:
        np.cumsum(sizes, out=out_offsets[1:])
        _gather(data, edges[:-1][chosen], sizes, out)
    return out_offsets, out


def _spans(data: Bytes, starts: Offsets, sizes: Offsets, counts: Offsets, width: int) -> int:
    """The bytes of all values, by the chunks' first and last offsets; Corrupt if out of bounds."""
    heads = (counts + 1) * width
    short = heads > sizes
    if short.any():
        k = int(np.argmax(short))
        raise Corrupt(f"{counts[k]} values in a variable chunk of {sizes[k]} bytes")
    first = _words(data, starts, width)
    last = _words(data, starts + counts * width, width)
    bad = (first < heads) | (last < first) | (last > sizes)
    if bad.any():
        k = int(np.argmax(bad))
        raise Corrupt(f"a variable chunk of {sizes[k]} bytes: values at {first[k]}..{last[k]}")
    return bounds.total(last - first, MOST, "bytes of values")


def _words(data: Bytes, at: Offsets, width: int) -> Offsets:
    """The little-endian word at each position; a word beyond 2^62 reads as -1."""
    words = bounds.words(data, at, _DTYPES[width])
    return np.where(words > 1 << 62, -1, words.astype(np.int64))


# ---- the numpy twins ---------------------------------------------------------------------------


def _fill(
    data: Bytes, starts: Offsets, counts: Offsets, width: int, offsets: Offsets, out: Bytes
) -> int:
    value, place = 0, 0
    for k, (at, count) in enumerate(zip(starts.tolist(), counts.tolist(), strict=True)):
        edges = data[at : at + (count + 1) * width].view(_DTYPES[width])
        if (edges[1:] < edges[:-1]).any():
            return k
        first, last = int(edges[0]), int(edges[-1])
        out[place : place + last - first] = data[at + first : at + last]
        offsets[value + 1 : value + 1 + count] = edges[1:].astype(np.int64) + (place - first)
        value += count
        place += last - first
    return -1


def _gather(data: Bytes, starts: Offsets, sizes: Offsets, out: Bytes) -> None:
    """Segments of one size by one fancy index, others through an index of every byte."""
    if not len(out):
        return
    if (sizes == sizes[0]).all():
        size = int(sizes[0])
        out.reshape(-1, size)[:] = bounds.windows(data, starts, size)
    elif len(out) // len(sizes) > 64:
        place = 0
        for at, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            out[place : place + size] = data[at : at + size]
            place += size
    else:
        begins = np.cumsum(sizes) - sizes
        np.take(data, np.repeat(starts - begins, sizes) + np.arange(len(out)), out=out)
