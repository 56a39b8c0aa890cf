"""The values of many mini-block chunks, decoded by one call over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.codecs import bits, blocks, bounds, bytestreamsplit, fastlanes, fsst, rle, variable
from rangeio.codecs.bounds import Bytes, Offsets
from rangeio.errors import Corrupt
from rangeio.formats.lance.v21.encodings import (
    Encoding,
    FixedList,
    Flat,
    Fsst,
    General,
    InlineBitpacked,
    Packed,
    Runs,
    Same,
    Transposed,
    Variable,
    unsupported,
)
from rangeio.formats.lance.v21.values import (
    MOST,
    Bits,
    Fixed,
    FixedLists,
    Nulls,
    Structs,
    Values,
    Varied,
)

WHERE = "mini-block values"
_LARGEST_CHUNK = 32 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """One value buffer of every chunk: ``sizes[k]`` bytes at ``starts[k]`` of ``data``."""

    data: Bytes
    starts: Offsets
    sizes: Offsets

    def hold(self, needed: Offsets, what: str) -> None:
        """Raise Corrupt unless each buffer has at least the needed bytes."""
        short = needed > self.sizes
        if short.any():
            k = int(np.argmax(short))
            raise Corrupt(f"{what} chunk {k}: {needed[k]} bytes in a buffer of {self.sizes[k]}")


def decode(encoding: Encoding, buffers: Sequence[Buffers], counts: Offsets) -> Values:
    """The values of all chunks; chunk k has ``counts[k]``.

    Raises Corrupt where a buffer is too short for its count, Unsupported for encodings that no
    chunk has.
    """
    if not buffers:
        raise Corrupt("a chunk with fewer value buffers than its encoding needs")
    one = buffers[0]
    if isinstance(encoding, General):
        return decode(encoding.values, [_decompressed(encoding, one), *buffers[1:]], counts)
    if isinstance(encoding, Flat):
        return _flat(encoding.bits, one, counts)
    if isinstance(encoding, InlineBitpacked):
        return _inline(encoding.bits, one, counts)
    if isinstance(encoding, Variable):
        return _variable(encoding, one, counts)
    if isinstance(encoding, Fsst):
        return _fsst(encoding, one, counts)
    if isinstance(encoding, Runs):
        return _runs(encoding, buffers, counts)
    if isinstance(encoding, Transposed):
        return _transposed(encoding, one, counts)
    if isinstance(encoding, FixedList):
        return _fixed_list(encoding, buffers, counts)
    if isinstance(encoding, Packed):
        return _packed(encoding, one, counts)
    if isinstance(encoding, Same) and encoding.value is None:
        return Nulls(int(counts.sum()))
    raise unsupported(encoding, WHERE)


def _decompressed(encoding: General, one: Buffers) -> Buffers:
    parts, sizes, room = [], np.empty(len(one.starts), np.int64), MOST
    for k, (at, size) in enumerate(zip(one.starts.tolist(), one.sizes.tolist(), strict=True)):
        part = b"" if not size else _chunk(encoding, one.data[at : at + size], room)
        parts.append(part)
        sizes[k] = len(part)
        room -= len(part)
    data = np.frombuffer(b"".join(parts), np.uint8)
    return Buffers(data, np.cumsum(sizes) - sizes, sizes)


def _chunk(encoding: General, data: Bytes, room: int) -> memoryview:
    return blocks.decompress(encoding.scheme, data.data, most=min(room, _LARGEST_CHUNK))


def _flat(width: int, one: Buffers, counts: Offsets) -> Values:
    total = int(counts.sum())
    if width == 1:
        one.hold((counts + 7) // 8, "bit")
        return Bits(bits.unpack_bits(one.data, one.starts, counts), total)
    if width % 8:
        raise unsupported(Flat(width), WHERE)
    size = width // 8
    one.hold(_times(counts, size), "flat")
    return Fixed(variable.gather(one.data, one.starts, counts * size), size, total)


def _times(counts: Offsets, size: int) -> Offsets:
    """Bytes of the counted values; Corrupt before they wrap."""
    if len(counts) and int(counts.max()) > (1 << 62) // size:
        raise Corrupt(f"{counts.max()} values of {size} bytes in one chunk")
    return counts * size


def _inline(width: int, one: Buffers, counts: Offsets) -> Values:
    size = width // 8
    one.hold(np.full(len(counts), size), "bit-packed")
    if len(counts) and int(counts.max()) > fastlanes.BLOCK:
        raise Corrupt(f"{counts.max()} values in one bit-packed chunk")
    total = int(counts.sum())
    if (counts[:-1] == fastlanes.BLOCK).all():
        words = fastlanes.unpack_inline(one.data, one.starts, width, total)
        return Fixed(words.view(np.uint8), size, total)
    every = fastlanes.unpack_inline(one.data, one.starts, width, len(counts) * fastlanes.BLOCK)
    kept = np.arange(fastlanes.BLOCK) < counts[:, None]
    return Fixed(every[kept.reshape(-1)].view(np.uint8), size, total)


def _variable(encoding: Variable, one: Buffers, counts: Offsets) -> Varied:
    width = offset_size(encoding)
    return Varied(*variable.chunks(one.data, one.starts, one.sizes, counts, width))


def offset_size(encoding: Variable) -> int:
    """Bytes of an offset: 4 or 8."""
    if not isinstance(encoding.offsets, Flat) or encoding.offsets.bits not in (32, 64):
        raise unsupported(encoding.offsets, "offsets")
    return encoding.offsets.bits // 8


def _fsst(encoding: Fsst, one: Buffers, counts: Offsets) -> Varied:
    if not isinstance(encoding.values, Variable):
        raise unsupported(encoding.values, "FSST codes")
    codes = _variable(encoding.values, one, counts)
    table = fsst.SymbolTable.parse(memoryview(encoding.table))
    data, offsets = fsst.decode(table, codes.data, codes.offsets)
    return Varied(offsets, data)


def _runs(encoding: Runs, buffers: Sequence[Buffers], counts: Offsets) -> Values:
    if len(buffers) < 2:
        raise Corrupt("run-length encoding needs two buffers a chunk")
    values, lengths = buffers[:2]
    if not isinstance(encoding.values, Flat) or encoding.values.bits % 8:
        raise unsupported(encoding.values, "run values")
    if encoding.lengths != Flat(8):
        raise unsupported(encoding.lengths, "run lengths")
    size = encoding.values.bits // 8
    if (values.sizes != lengths.sizes * size).any():
        raise Corrupt("run values and run lengths do not pair")
    each = variable.gather(lengths.data, lengths.starts, lengths.sizes)
    data = variable.gather(values.data, values.starts, values.sizes)
    total = bounds.total(counts, MOST // size, "values of runs")
    _check_runs(each, lengths.sizes, counts)
    out = rle.expand(words(data, size), each, total)
    return Fixed(out.reshape(-1).view(np.uint8), size, total)


def _check_runs(lengths: Bytes, sizes: Offsets, counts: Offsets) -> None:
    """Raise Corrupt unless the runs of each chunk sum to its count."""
    sums = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    stops = np.cumsum(sizes)
    if not np.array_equal(sums[stops] - sums[stops - sizes], counts):
        raise Corrupt("the runs of a chunk do not sum to its values")


def words(data: Bytes, size: int) -> npt.NDArray[np.generic]:
    """Values of ``size`` bytes as elements of an array, for copying them whole."""
    if size in (1, 2, 4, 8):
        return data.view(f"<u{size}")
    return data.view(np.dtype((np.void, size)))


def _transposed(encoding: Transposed, one: Buffers, counts: Offsets) -> Values:
    if not isinstance(encoding.values, Flat) or encoding.values.bits % 8:
        raise unsupported(encoding.values, "byte stream split")
    size = encoding.values.bits // 8
    one.hold(_times(counts, size), "split")
    data = bytestreamsplit.merge(one.data, one.starts, counts, size)
    return Fixed(data, size, int(counts.sum()))


def _fixed_list(encoding: FixedList, buffers: Sequence[Buffers], counts: Offsets) -> Values:
    inner = _times(counts, encoding.size)
    validity = None
    if isinstance(encoding.values, Same) and not encoding.nullable:
        raise Corrupt("fixed-size lists of nulls without their validity")
    if encoding.nullable:
        buffers[0].hold((inner + 7) // 8, "validity")
        validity = bits.unpack_bits(buffers[0].data, buffers[0].starts, inner)
        buffers = buffers[1:]
        if not buffers:
            raise Corrupt("a chunk of fixed-size lists without items")
    items = decode(encoding.values, buffers, inner)
    return FixedLists(items, encoding.size, validity, int(counts.sum()))


def _packed(encoding: Packed, one: Buffers, counts: Offsets) -> Values:
    if encoding.values != Flat(sum(encoding.bits)):
        raise unsupported(encoding.values, "packed structs")
    rows = _flat(sum(encoding.bits), one, counts)
    assert isinstance(rows, Fixed)
    return split(rows, [b // 8 for b in encoding.bits])


def split(rows: Fixed, sizes: Sequence[int]) -> Structs:
    """The fields of packed structs whose values take ``sizes`` bytes, each made contiguous."""
    grid = rows.data.reshape(rows.count, rows.size)
    stops = np.cumsum(sizes).tolist()
    fields = tuple(
        Fixed(np.ascontiguousarray(grid[:, stop - size : stop]).reshape(-1), size, rows.count)
        for size, stop in zip(sizes, stops, strict=True)
    )
    return Structs(fields, rows.count)
