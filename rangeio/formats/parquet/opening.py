"""Opening a Parquet file: its tail, and what the tail did not hold of the footer."""

from __future__ import annotations

from rangeio.errors import BadMagic, Corrupt, Truncated, Unsupported
from rangeio.formats.format import Hint, Opening
from rangeio.formats.parquet.flatbuffer.container import Extension, found, payload
from rangeio.formats.parquet.footer.footer import Footer
from rangeio.formats.parquet.footer.locate import ThriftFooter, scanned
from rangeio.formats.parquet.table import ParquetTable
from rangeio.ranges import ByteRange, CostModel
from rangeio.steps import Need, Steps, need

END = 8
"""Bytes of the footer's size and the magic, the last of a file."""

_MOST = 1 << 62  # rows, so that no sum of them wraps
_TAIL = 64 << 10
_SLACK = 4 << 10
_PART = 1 << 20  # a footer's parts are no smaller: each of them is a request
_NEAR = 6 << 20
_WORTH = 128 << 10  # bytes that are worth one more hop, where a hop is dear


def opened(opening: Opening) -> Steps[ParquetTable]:
    """The table of a file of ``opening.size`` bytes."""
    size = opening.size
    if size < END + 4:
        raise Truncated(f"{size} bytes hold no Parquet footer", offset=0)
    have = min(size, opening.held if opening.held >= END else _TAIL)
    tail = yield from need(ByteRange(size - have, size), "parquet.tail")
    length = _length(tail, size)
    at = ByteRange(size - END - length, size - END)
    extension = found(tail, at.start, at.stop) if size - have > at.start else None
    if extension is not None:
        flat = yield from _flat(opening, extension, at, size - have)
        if flat is not None:
            return flat
    data = yield from _footer(at, size - have, tail, opening.cost)
    return _table(opening, _thrift(data), END + length, "")


def _length(tail: memoryview, size: int) -> int:
    """The size of the footer, which the last 8 bytes tell."""
    magic = bytes(tail[-4:])
    if magic == b"PARE":
        raise Unsupported("the footer is encrypted", offset=size - 4)
    if magic != b"PAR1":
        raise BadMagic(f"a Parquet file ends in b'PAR1', not in {magic!r}", offset=size - 4)
    length = int.from_bytes(tail[-END:-4], "little")
    if length > size - END - 4:
        raise Truncated(f"a footer of {length} bytes in a file of {size}", offset=size - END)
    return length


def _footer(at: ByteRange, held: int, tail: memoryview, cost: CostModel) -> Steps[memoryview]:
    """The bytes of the footer; what is not held of them moves in parallel parts."""
    if at.start >= held:
        return tail[at.start - held : at.stop - held]
    (data,) = yield Need((at,), "parquet.footer", span=_part(cost, held - at.start))
    return data


def _part(cost: CostModel, size: int) -> int:
    """Bytes that one connection moves while another request would be on its way, or more where
    not all parts could be in flight at once."""
    alone = int(cost.latency_s * cost.bytes_per_s)
    least = _PART if alone > _PART // 2 else _NEAR  # near: what counts is the copying
    return max(alone, least, -(-size // cost.in_flight))


def _thrift(data: memoryview) -> Footer:
    layout = scanned(data)
    if layout is not None:
        return ThriftFooter(data, layout)
    from rangeio.formats.parquet.footer.arrowfooter import ArrowFooter  # rarely needed

    return ArrowFooter(data)


def _flat(
    opening: Opening, extension: Extension, at: ByteRange, held: int
) -> Steps[ParquetTable | None]:
    """The table by the footer's FlatBuffer extension, None where the Thrift footer is to be read:
    it is the smaller part, or nothing in it may be relied on."""
    whole, part = held - at.start, max(held - extension.at.start, 0)
    if part * 2 > whole:
        return None
    data = yield from need(extension.at, "parquet.flatbuffer")
    plain = payload(extension, data)
    if plain is None:
        return None
    from rangeio.formats.parquet.flatbuffer.footer import FlatFooter  # rarely needed

    try:
        footer = FlatFooter(plain)
    except Corrupt:
        return None
    words = (
        f"the FlatBuffer extension ({extension.at.size} bytes) rather than the whole footer "
        f"({at.size} bytes); it knows no page index"
    )
    return _table(opening, footer, END + at.size, words)


def _table(opening: Opening, footer: Footer, footer_size: int, choice: str) -> ParquetTable:
    if opening.few_bytes:
        sparing = 0
    else:
        cost = opening.cost
        sparing = min(int(cost.latency_s * cost.bytes_per_s / 16), _WORTH)
    if sum(footer.group_rows.tolist()) > _MOST:
        raise Corrupt("row groups of more than 2^62 rows")
    return ParquetTable(opening.size, footer, footer_size, sparing, choice)


def learnt(table: ParquetTable, cost_hint: int = 4 << 20) -> Hint | None:
    """The tail that would have held the footer; None where it is so large that parallel parts are
    the quicker way."""
    needed = table.footer_size + _SLACK
    return Hint(max(needed, _TAIL)) if needed <= cost_hint else None
