"""Protobuf messages located, not parsed: where a repeated field lies, and a few facts of each.

A message of 7,000 submessages costs two arrays, not 7,000 objects. What is not asked for is stepped
over; groups, which proto2 deprecated, count as broken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native
from rangeio.codecs.bounds import Bytes, Offsets, Words
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

VARINT, FIXED64, PAYLOAD, FIXED32 = 0, 1, 2, 5
ABSENT, NUMBER = -1, -2
"""The second half of a fact that is absent, and of one that is a number."""

Facts: TypeAlias = npt.NDArray[np.int64]
Spans: TypeAlias = tuple[Offsets, Offsets, list[tuple[int, int]]]


def spans(data: Bytes, wanted: int, *, kernels: Kernels | None = native.kernels) -> Spans:
    """Where the payloads of field ``wanted`` lie, as (starts, stops), and the runs of all else.

    The runs hold whole fields: joined, they are the message without that field. Raises Corrupt.
    """
    found = _spans(data, wanted) if kernels is None else kernels.message_spans(data, wanted)
    if found is None:
        raise Corrupt("not a valid message")
    return found


def facts(
    data: Bytes,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    wanted: Sequence[int],
    *,
    kernels: Kernels | None = native.kernels,
) -> Facts:
    """Facts of the messages at ``starts[i]..stops[i]``, shape (messages, wanted fields, 2).

    Of a varint its value, as a signed 64-bit number, and NUMBER; of a payload where it lies; of
    what is not there 0 and ABSENT. The last one counts. Raises Corrupt, which names the message.
    """
    first, last = bounds.offsets(starts), bounds.offsets(stops)
    bounds.within(first, last - first, len(data), "message")
    return _filled(data, first, last, wanted, kernels)


def located(
    data: Bytes,
    field: int,
    wanted: Sequence[int],
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Spans, Facts]:
    """The :func:`spans` of a field of messages, and the :func:`facts` of these messages."""
    found = spans(data, field, kernels=kernels)
    return found, _filled(data, found[0], found[1], wanted, kernels)


def pairs(
    data: Bytes,
    wanted: int,
    numbers: tuple[int, int],
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Words, Words, list[tuple[int, int]]]:
    """The low 32 bits of two numbers of every message of field ``wanted``, 0 where one is absent,
    and the runs of all other fields, as :func:`spans` gives them. Raises Corrupt."""
    take = _pairs if kernels is None else kernels.message_pairs
    found = take(data, wanted, *numbers)
    if found is None:
        raise Corrupt("not a valid message")
    return found


def _filled(
    data: Bytes, first: Offsets, last: Offsets, wanted: Sequence[int], kernels: Kernels | None
) -> Facts:
    numbers = np.array(wanted, np.int64)
    out = np.empty((len(first), len(wanted), 2), np.int64)
    fill = _facts if kernels is None else kernels.message_facts
    bad = fill(data, first, last, numbers, out)
    if bad >= 0:
        raise Corrupt(f"message {bad} is not valid", offset=int(first[bad]))
    return out


# ---- the Python twins ----------------------------------------------------------------------------


def varint(data: bytes | memoryview, at: int, stop: int) -> tuple[int, int]:
    """(value, position after it) of a varint of at most ten bytes, as an unsigned 64-bit number.

    Raises Corrupt.
    """
    found = 0
    for i in range(min(10, stop - at)):
        byte = data[at + i]
        found |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return found & 0xFFFFFFFFFFFFFFFF, at + i + 1
    raise Corrupt("a varint without an end")


def fields(data: memoryview, at: int, stop: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(number, wire type, where it begins, value or where its payload begins, where it ends)."""
    while at < stop:
        begin = at
        tag, at = varint(data, at, stop)
        number, kind = tag >> 3, tag & 7
        if not number or tag > 0xFFFFFFFF or kind not in (VARINT, FIXED64, PAYLOAD, FIXED32):
            raise Corrupt("not a valid field")
        size = {FIXED64: 8, FIXED32: 4}.get(kind, 0)
        if kind != FIXED64 and kind != FIXED32:
            size, at = varint(data, at, stop)
        value, at = (size, at) if kind == VARINT else (at, at + size)
        if at > stop:
            raise Corrupt("a field beyond the end of its message")
        yield number, kind, begin, value, at


def _spans(data: Bytes, wanted: int) -> Spans | None:
    starts: list[int] = []
    stops: list[int] = []
    rest: list[tuple[int, int]] = []
    resting = 0
    try:
        for number, kind, begin, value, end in fields(data.data, 0, len(data)):
            if number == wanted and kind == PAYLOAD:
                starts.append(value)
                stops.append(end)
                rest.append((resting, begin))
                resting = end
    except Corrupt:
        return None
    rest.append((resting, len(data)))
    some = [(a, b) for a, b in rest if a < b]
    return np.array(starts, np.int64), np.array(stops, np.int64), some


def _pairs(
    data: Bytes, wanted: int, first: int, second: int
) -> tuple[Words, Words, list[tuple[int, int]]] | None:
    try:
        (_, _, rest), found = located(data, wanted, (first, second), kernels=None)
    except Corrupt:
        return None
    # A payload in the place of a number is no number.
    values = np.where(found[:, :, 1] == NUMBER, found[:, :, 0], 0).astype(np.uint64)
    words = (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return words[:, 0], words[:, 1], rest


def _facts(data: Bytes, starts: Offsets, stops: Offsets, wanted: Offsets, out: Facts) -> int:
    places = {number: j for j, number in enumerate(wanted.tolist())}
    view = data.data
    out[:] = 0, ABSENT
    for i, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        try:
            for number, kind, _, value, end in fields(view, start, stop):
                j = places.get(number, -1)
                if j >= 0 and kind == VARINT:
                    out[i, j] = value - ((value >> 63) << 64), NUMBER
                elif j >= 0 and kind == PAYLOAD:
                    out[i, j] = value, end
        except Corrupt:
            return i
    return -1
