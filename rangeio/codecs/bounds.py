"""Checks of positions and sizes against the bytes present, before anything is read or allocated."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from rangeio.errors import Corrupt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Offsets: TypeAlias = npt.NDArray[np.int64]
Levels: TypeAlias = npt.NDArray[np.uint16]
Words: TypeAlias = npt.NDArray[np.unsignedinteger]
W = TypeVar("W", bound=np.generic)

_FAR = 1 << 62  # sums below it cannot wrap an int64


def offsets(values: npt.ArrayLike) -> Offsets:
    """The values as a contiguous int64 array, without a copy where they are one.

    Raises Corrupt for unsigned values that no int64 holds.
    """
    given = np.asarray(values)
    if given.dtype.kind == "u" and given.dtype.itemsize == 8 and given.size and given.max() >= _FAR:
        raise Corrupt("an offset or size beyond 2^62")
    return np.ascontiguousarray(given, np.int64)


def within(starts: Offsets, sizes: Offsets | int, limit: int, what: str) -> None:
    """Raise Corrupt unless every segment ``starts[k]..starts[k]+sizes[k]`` lies in ``0..limit``."""
    span = np.asarray(sizes, np.int64)
    if span.ndim and len(span) != len(starts):
        raise ValueError(f"{len(starts)} starts, {len(span)} sizes")
    # Sizes first: once they are at most `limit`, `limit - span` cannot wrap.
    bad = (span < 0) | (span > limit) | (starts < 0)
    bad = bad | (starts > limit - np.where(bad, 0, span))
    if bad.any():
        k = int(np.argmax(bad))
        size = int(span[k] if span.ndim else span)
        at = int(starts[k])
        raise Corrupt(f"{what} {k} spans bytes {at}..{at + size} of a buffer of {limit}")


def total(counts: Offsets, most: int, what: str) -> int:
    """The sum of ``counts``; raises Corrupt where one is negative or the sum is above ``most``."""
    if not len(counts):
        return 0
    if int(counts.min()) < 0:
        raise Corrupt(f"{what}: a count below zero")
    if int(counts.max()) * len(counts) >= _FAR:
        raise Corrupt(f"{what}: counts beyond 2^62")
    found = int(counts.sum())
    if found > most:
        raise Corrupt(f"{what}: {found} where at most {most} are possible")
    return found


def room(size: int, what: str) -> Bytes:
    """An uninitialised byte array; Corrupt where the machine has no room for it."""
    try:
        return np.empty(size, np.uint8)
    except (MemoryError, ValueError) as error:
        raise Corrupt(f"{what} would take {size} bytes, more than there are") from error


def ascending(edges: Offsets, limit: int, what: str) -> None:
    """Raise Corrupt unless ``edges`` (one or more) never fall and stay within ``0..limit``."""
    if not len(edges):
        raise Corrupt(f"{what}s without offsets")
    if int(edges[0]) < 0 or int(edges[-1]) > limit:
        raise Corrupt(f"{what}s span {edges[0]}..{edges[-1]} of a buffer of {limit}")
    falls = edges[1:] < edges[:-1]
    if falls.any():
        raise Corrupt(f"{what} {int(np.argmax(falls))} ends before it begins")


def windows(data: Bytes, starts: Offsets, size: int) -> Bytes:
    """A copy of the ``size`` bytes at each start, (starts, size); checked by the caller."""
    if not len(starts):
        return np.empty((0, size), np.uint8)
    # The same view as sliding_window_view, whose making takes longer than copying a small page.
    every: Bytes = np.ndarray((len(data) - size + 1, size), np.uint8, data.data, strides=(1, 1))
    return every[starts]


def words(data: Bytes, starts: Offsets, dtype: np.dtype[W]) -> npt.NDArray[W]:
    """The word at each start, aligned or not; checked by the caller."""
    if not len(starts):
        return np.empty(0, dtype)
    places = len(data) - dtype.itemsize + 1
    every: npt.NDArray[W] = np.ndarray((places,), dtype, data.data, strides=(1,))
    return every[starts]
