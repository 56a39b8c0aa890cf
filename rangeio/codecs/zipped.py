"""Zipped entries: control word, length and value side by side, one entry after the other.

An entry is ``[control word][length][value bytes]``. The control word holds the repetition level
above the definition level. An entry is *visible* where its definition level is at most
``Control.visible``; others (a null or empty list, say) have no value slot and no bytes but the
control word. Of visible entries, those of variable width have length and bytes only at level 0;
those of fixed width have their bytes always, null or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native
from rangeio.codecs import variable as variable_width
from rangeio.codecs.bounds import Bytes, Levels, Offsets
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt

ControlWords: TypeAlias = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Control:
    """How control words are cut: ``rep_bits`` above ``def_bits``, each 0 to 16.

    visible: the highest definition level that has a value slot.
    """

    rep_bits: int = 0
    def_bits: int = 0
    visible: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.rep_bits <= 16 and 0 <= self.def_bits <= 16):
            raise Corrupt(f"control words of {self.rep_bits} and {self.def_bits} bits")

    @property
    def size(self) -> int:
        """Bytes of a control word: 0, 1, 2 or 4."""
        bits = self.rep_bits + self.def_bits
        return 0 if bits == 0 else 1 if bits <= 8 else 2 if bits <= 16 else 4

    @property
    def cut(self) -> tuple[int, int, int]:
        """What a kernel is told: (bytes of the word, definition bits, highest visible level)."""
        return self.size, self.def_bits, self.visible


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """The levels of all entries, in order.

    rep, definition: uint16 per entry, None where the control word has no bits for them.
    cuts: int64; segment k holds the entries ``cuts[k]..cuts[k + 1]``. visible: value slots.
    """

    rep: Levels | None
    definition: Levels | None
    cuts: Offsets
    visible: int


def variable(
    data: Bytes,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    control: Control,
    width: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Entries, Offsets, Bytes]:
    """Entries of variable width, whose lengths take ``width`` (4 or 8) bytes.

    Segments ``starts[k]..stops[k]`` of ``data`` are whole rows, of one entry or of many. Returns
    the entries, int64 offsets from 0 (one more than visible slots; a null takes no bytes) and the
    bytes. Raises Corrupt where entries do not fill their segment exactly.
    """
    if width not in (4, 8):
        raise Corrupt(f"lengths of {width} bytes")
    return _walk(data, starts, stops, control, width, 0, kernels)


def fixed(
    data: Bytes,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    control: Control,
    value_size: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Entries, Bytes]:
    """Entries whose values take ``value_size`` bytes each.

    Segments as in :func:`variable`; without repetition one segment may hold all rows. Returns the
    entries and the values of visible slots, ``value_size`` bytes each, null or not. Raises
    Corrupt where entries do not fill their segment exactly.
    """
    if value_size < 1:
        raise Corrupt(f"zipped values of {value_size} bytes")
    if kernels is None and control.visible >= (1 << control.def_bits) - 1:
        return _strided(data, *_segments(data, starts, stops), control, value_size)
    entries, _, values = _walk(data, starts, stops, control, 0, value_size, kernels)
    return entries, values


def _walk(
    data: Bytes,
    starts: npt.ArrayLike,
    stops: npt.ArrayLike,
    control: Control,
    width: int,
    value_size: int,
    kernels: Kernels | None,
) -> tuple[Entries, Offsets, Bytes]:
    """Measure all entries, then fill arrays of exactly that size."""
    at, end = _segments(data, starts, stops)
    cuts = np.zeros(len(at) + 1, np.int64)
    shape = (data, at, end, control.cut, width, value_size)
    bad, visible, size = (_measure if kernels is None else kernels.zipped_measure)(*shape, cuts)
    if bad >= 0:
        raise Corrupt(f"zipped row {bad}: its entries do not end at byte {end[bad]}")
    words = np.empty(int(cuts[-1]), np.uint32)
    offsets = np.empty(visible + 1 if width else 0, np.int64)
    out = bounds.room(size, "zipped values")
    fill = _fill if kernels is None else kernels.zipped_fill
    if not fill(*shape, words, offsets, out):
        raise Corrupt("zipped rows changed while they were read")
    return Entries(*_levels(words, control), cuts, visible), offsets, out


def _segments(data: Bytes, starts: npt.ArrayLike, stops: npt.ArrayLike) -> tuple[Offsets, Offsets]:
    at, end = bounds.offsets(starts), bounds.offsets(stops)
    bounds.within(at, end - at, len(data), "zipped row")
    bounds.total(end - at, len(data), "bytes of zipped rows")  # they do not overlap
    return at, end


def _levels(words: ControlWords, control: Control) -> tuple[Levels | None, Levels | None]:
    """The repetition and definition levels of control words."""
    rep = (words >> np.uint32(control.def_bits)).astype(np.uint16) if control.rep_bits else None
    mask = np.uint32((1 << control.def_bits) - 1)
    return rep, (words & mask).astype(np.uint16) if control.def_bits else None


# ---- the twins ---------------------------------------------------------------------------------


def _strided(
    data: Bytes, starts: Offsets, stops: Offsets, control: Control, value_size: int
) -> tuple[Entries, Bytes]:
    """Entries of one stride, as no level hides a value: a table of bytes, cut in two."""
    stride = control.size + value_size
    counts, rest = np.divmod(stops - starts, stride)
    if rest.any():
        bad = int(np.argmax(rest != 0))
        raise Corrupt(f"zipped row {bad}: its entries do not end at byte {stops[bad]}")
    table = variable_width.gather(data, starts, stops - starts, kernels=None).reshape(-1, stride)
    raw = np.zeros((len(table), 4), np.uint8)
    raw[:, : control.size] = table[:, : control.size]
    values = np.ascontiguousarray(table[:, control.size :]).reshape(-1)
    rep, levels = _levels(raw.view("<u4").reshape(-1), control)
    cuts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return Entries(rep, levels, cuts, len(table)), values


def _entry(
    raw: memoryview, at: int, control: tuple[int, int, int], width: int, value_size: int
) -> tuple[int, int, int, bool]:
    """(control word, where its bytes begin, their size, whether it is visible) of one entry."""
    head, def_bits, most = control
    word = int.from_bytes(raw[at : at + head], "little")
    level = word & ((1 << def_bits) - 1)
    at += head
    if level > most or (width and level):
        return word, at, 0, level <= most
    if not width:
        return word, at, value_size, True
    return word, at + width, int.from_bytes(raw[at : at + width], "little"), True


def _measure(
    data: Bytes,
    starts: Offsets,
    stops: Offsets,
    control: tuple[int, int, int],
    width: int,
    value_size: int,
    cuts: Offsets,
) -> tuple[int, int, int]:
    raw = data.data
    entries = visible = total = 0
    for k, (at, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        while at < stop:
            _, begin, size, seen = _entry(raw, at, control, width, value_size)
            if begin + size > stop:
                return k, visible, total
            entries, visible, total = entries + 1, visible + seen, total + size
            at = begin + size
        cuts[k + 1] = entries
    return -1, visible, total


def _fill(
    data: Bytes,
    starts: Offsets,
    stops: Offsets,
    control: tuple[int, int, int],
    width: int,
    value_size: int,
    words: ControlWords,
    offsets: Offsets,
    out: Bytes,
) -> bool:
    raw = data.data
    entry = slot = place = 0
    offsets[:1] = 0
    for at, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        while at < stop:
            words[entry], begin, size, seen = _entry(raw, at, control, width, value_size)
            at = begin + size
            out[place : place + size] = data[begin:at]
            entry, slot, place = entry + 1, slot + seen, place + size
            if seen and width:
                offsets[slot] = place
    return True
