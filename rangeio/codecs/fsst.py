"""FSST: strings as codes of a table of at most 255 symbols of 1 to 8 bytes.

Each value is coded by itself. Code c below n stands for symbol c; 255 says that the next byte is
a literal. The table: a u64 header (magic in the high half, bit 24 whether the data are encoded at
all, byte 0 the number of symbols n), n words of symbol bytes, n length bytes, zeros to the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bounds, native
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, Truncated

SIZE = 8 + 8 * 256 + 256
_MAGIC = 0x46535354
_ESCAPE = 255
_PIECE = 1 << 15
Symbols: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class SymbolTable:
    """The symbols of one page.

    symbols: uint64[256], the bytes of each symbol in memory order. lengths: uint8[256], 0 where
    no symbol has the code. encoded: False where the writer stored the data verbatim.
    """

    symbols: Symbols
    lengths: Bytes
    encoded: bool

    @classmethod
    def parse(cls, data: memoryview) -> SymbolTable:
        """The table in the first 2,312 bytes of ``data``, which is not kept.

        Raises Truncated where there are fewer, Corrupt for another magic or a bad length.
        """
        if data.nbytes < SIZE:
            raise Truncated(f"an FSST symbol table of {data.nbytes} bytes, not {SIZE}")
        raw = np.frombuffer(data, np.uint8, SIZE)
        header = int(raw[:8].view("<u8")[0])
        if header >> 32 != _MAGIC:
            raise Corrupt(f"an FSST symbol table with the magic {header >> 32:#x}")
        count = header & 255
        symbols = np.zeros(256, np.uint64)
        lengths = np.zeros(256, np.uint8)
        symbols[:count] = raw[8 : 8 + 8 * count].view("<u8")
        lengths[:count] = raw[8 + 8 * count : 8 + 9 * count]
        if ((lengths[:count] < 1) | (lengths[:count] > 8)).any():
            raise Corrupt("an FSST symbol whose length is not 1 to 8")
        return cls(symbols, lengths, bool(header >> 24 & 1))


def decode(
    table: SymbolTable,
    codes: Bytes,
    offsets: npt.ArrayLike,
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Bytes, Offsets]:
    """The bytes of all values and the n+1 offsets into them, from 0.

    Value i is coded by ``codes[offsets[i]:offsets[i + 1]]``. Raises Corrupt for codes that no
    symbol has, an escape that ends a value, and offsets that fall or leave ``codes``.
    The result is at most 8 times the codes; both arrays are the caller's own.
    """
    edges = bounds.offsets(offsets)
    bounds.ascending(edges, len(codes), "FSST value")
    if not table.encoded:
        return codes[edges[0] : edges[-1]].copy(), edges - edges[0]
    out_offsets = np.empty(len(edges), np.int64)
    longest = max(1, int(table.lengths.max()))
    out = bounds.room(int(edges[-1] - edges[0]) * longest + 8, "FSST values")
    if kernels is None:
        return _decode(table, codes, edges)
    bad = kernels.fsst_decode(codes, edges, table.symbols, table.lengths, out, out_offsets)
    if bad >= 0:
        raise _undecodable(bad)
    # Shrinking in place gives the pages that were never touched back; no copy, no view of more.
    out.resize(int(out_offsets[-1]), refcheck=False)
    return out, out_offsets


def _undecodable(value: int) -> Corrupt:
    return Corrupt(f"FSST value {value}: a code without a symbol, or an escape at its end")


# ---- the numpy twin ----------------------------------------------------------------------------


def _decode(table: SymbolTable, codes: Bytes, edges: Offsets) -> tuple[Bytes, Offsets]:
    first = int(edges[0])
    used = codes[first : int(edges[-1])]
    starts = edges - first
    escapes = _escapes(used, starts)
    literal = np.zeros(len(used), bool)
    literal[np.flatnonzero(escapes) + 1] = True
    lengths = table.lengths[used]
    unknown = np.flatnonzero((lengths == 0) & ~escapes & ~literal)
    if len(unknown):
        raise _undecodable(int(np.searchsorted(starts, unknown[0], "right")) - 1)
    lengths[escapes] = 0
    lengths[literal] = 1
    places = np.zeros(len(used) + 1, np.int64)
    np.cumsum(lengths, out=places[1:])
    out = bounds.room(int(places[-1]), "FSST values")
    symbols = table.symbols.view(np.uint8)
    for begin in range(0, len(used), _PIECE):
        end = min(begin + _PIECE, len(used))
        first, last = int(places[begin]), int(places[end])
        # Byte i of the output is a byte of its symbol: where that lies, less i, is one per code.
        source = 8 * used[begin:end].astype(np.int64) - places[begin:end]
        index = np.repeat(source, lengths[begin:end]) + np.arange(first, last)
        np.take(symbols, index, out=out[first:last])
    out[places[:-1][literal]] = used[literal]
    return out, places[starts]


def _escapes(used: Bytes, starts: Offsets) -> npt.NDArray[np.bool_]:
    """Which codes are escapes: every other 255 of a run of them, counted anew in each value."""
    found = np.zeros(len(used), bool)
    at = np.flatnonzero(used == _ESCAPE)
    if not len(at):
        return found
    value = np.searchsorted(starts, at, "right")
    begins = np.ones(len(at), bool)
    begins[1:] = (np.diff(at) != 1) | (np.diff(value) != 0)
    run = np.flatnonzero(begins)
    nth = np.arange(len(at)) - np.repeat(run, np.diff(np.append(run, len(at))))
    escapes = at[nth % 2 == 0]
    stops = starts[value[nth % 2 == 0]]
    dangling = escapes + 1 >= stops
    if dangling.any():
        raise _undecodable(int(value[nth % 2 == 0][int(np.argmax(dangling))]) - 1)
    found[escapes] = True
    return found
