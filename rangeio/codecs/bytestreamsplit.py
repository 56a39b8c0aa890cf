"""Byte stream split: chunks that store all first bytes of their values, then all second ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds
from rangeio.codecs.bounds import Bytes


def merge(data: Bytes, starts: npt.ArrayLike, counts: npt.ArrayLike, size: int) -> Bytes:
    """The values of all chunks, ``size`` bytes each, as one array of the caller's.

    Chunk k has ``counts[k]`` values; byte j of its value i is at ``starts[k] + j * counts[k] +
    i``. Raises Corrupt for chunks outside ``data``.
    """
    at, number = bounds.offsets(starts), bounds.offsets(counts)
    values = bounds.total(number, len(at) * (len(data) // size), "values of split chunks")
    bounds.within(at, number * size, len(data), "split chunk")
    out = bounds.room(values * size, "split values").reshape(-1, size)
    places = np.cumsum(number) - number
    # Chunks of one count are transposed in one go; nearly all of a page have the same.
    for count in np.unique(number[number > 0]).tolist():
        chosen = np.flatnonzero(number == count)
        planes = (
            bounds.windows(data, at[chosen], count * size)
            .reshape(-1, size, count)
            .transpose(0, 2, 1)
        )
        if (np.diff(places[chosen]) == count).all():
            first = int(places[chosen[0]])
            out[first : first + len(chosen) * count].reshape(planes.shape)[:] = planes
            continue
        for place, plane in zip(places[chosen].tolist(), planes, strict=True):
            out[place : place + count] = plane
    return out.reshape(-1)
