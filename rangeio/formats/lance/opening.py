"""Opening a Lance file: which bytes of its end are fetched, as the cost model chooses.

Few bytes: the schema and what is missing of the offset table in one hop, then the asked columns'
metadata in another. Few hops: all from the schema to the end in one range; the metadata of every
column comes with it. A neighbour's schema makes the first of these hops needless, for names are
known before the schema is read; it is read, and compared, together with the columns' metadata.
"""

from __future__ import annotations

from dataclasses import replace

from rangeio.errors import Truncated
from rangeio.formats.format import Hint, Opening
from rangeio.formats.lance.footer import SIZE, Footer
from rangeio.formats.lance.table import SPARING, Held, Known, LanceTable
from rangeio.ranges import ByteRange
from rangeio.steps import Steps, need, needs

_TAIL = 64 << 10
_SLACK = 1 << 10


def opened(opening: Opening) -> Steps[LanceTable]:
    """The table of a file of ``opening.size`` bytes."""
    size = opening.size
    if size < SIZE:
        raise Truncated(f"{size} bytes hold no Lance footer of {SIZE}", offset=0)
    have = min(size, opening.held if opening.held >= SIZE else _TAIL)
    tail = yield from need(ByteRange(size - have, size), "lance.tail")
    held = Held(size - have, tail)
    footer = Footer.parse(tail, size)
    buffers = yield from held.ask(footer.buffer_offsets, "lance.buffer_offsets")
    start, length = footer.global_buffers(buffers)[0].tolist()
    described = ByteRange(start, start + length)
    if held.missing(described) is None and held.missing(footer.column_offsets) is None:
        return _table_of(opening, footer, described, held, held.joined(footer.column_offsets, None))
    return (yield from _chosen(opening, footer, described, held))


def _chosen(
    opening: Opening, footer: Footer, described: ByteRange, held: Held
) -> Steps[LanceTable]:
    """Fetch what the tail did not hold."""
    known = _assumed(opening.hint, footer)
    if known is not None:
        offsets = yield from held.ask(footer.column_offsets, "lance.column_offsets")
        table = _table_of(opening, footer, described, held, offsets)
        words = (
            f"the schema of a neighbour was assumed: its {described.size} bytes are read and "
            f"compared together with the columns' metadata"
        )
        return replace(table, known=known, choice=words)
    few_bytes, words = _choice(opening, footer, described, held)
    if few_bytes:
        return (yield from _few_bytes(opening, footer, described, held, words))
    start = min(described.start, footer.column_meta_start, footer.cmo_start)
    head = yield from need(ByteRange(start, held.start), "lance.metadata")
    held = Held(start, memoryview(b"".join((head, held.data))))
    offsets = held.joined(footer.column_offsets, None)
    return replace(_table_of(opening, footer, described, held, offsets), choice=words)


def _few_bytes(
    opening: Opening, footer: Footer, described: ByteRange, held: Held, words: str
) -> Steps[LanceTable]:
    """The offset table and the schema in one hop; the schema is left for later where the offset
    table is held, for a read by position may not want it."""
    head = held.missing(footer.column_offsets)
    if head is None:
        offsets = held.joined(footer.column_offsets, None)
        return replace(_table_of(opening, footer, described, held, offsets), choice=words)
    wanted = held.missing(described)
    asked = [head] if wanted is None else [head, wanted]
    replies = yield from needs(asked, "lance.column_offsets", gap=SPARING)
    offsets = held.joined(footer.column_offsets, replies[0])
    table = replace(_table_of(opening, footer, described, held, offsets), choice=words)
    if wanted is not None:
        table.learn(held.joined(described, replies[1]))
    return table


def _table_of(
    opening: Opening,
    footer: Footer,
    described: ByteRange,
    held: Held,
    offsets: memoryview,
) -> LanceTable:
    columns = footer.columns(offsets)
    return LanceTable(opening.size, footer, columns, described, held, opening.cost)


def _choice(opening: Opening, footer: Footer, described: ByteRange, held: Held) -> tuple[bool, str]:
    """Whether few bytes are better than few hops, and the figures in words."""
    parts = [held.missing(described), held.missing(footer.column_offsets)]
    # Two columns' metadata stand for those that will be asked for.
    asked = 2 * (footer.cmo_start - footer.column_meta_start) // max(1, footer.num_columns)
    little = sum(p.size for p in parts if p is not None) + asked
    start = min(described.start, footer.column_meta_start, footer.cmo_start)
    much = held.start - start
    slow, fast = opening.cost.seconds(2, little), opening.cost.seconds(1, much)
    few_bytes = slow < fast if opening.few_bytes is None else opening.few_bytes
    one = f"few bytes ({little} bytes in 2 hops, {slow * 1e3:.1f} ms)"
    two = f"few hops ({much} bytes in 1 hop, {fast * 1e3:.1f} ms)"
    first, second = (one, two) if few_bytes else (two, one)
    why = "" if opening.few_bytes is None else ", as was asked"
    return few_bytes, f"{first} rather than {second}{why}"


def _assumed(hint: Hint | None, footer: Footer) -> Known | None:
    known = hint.known if hint else None
    if not isinstance(known, Known):
        return None
    fits = (known.version, known.num_columns) == (footer.version, footer.num_columns)
    return known if fits else None


def learnt(table: LanceTable) -> Hint | None:
    """What the next file of the directory may begin with: a tail that reaches its offset table,
    or all of its metadata where that is small, and this schema to assume."""
    descriptor = table.memo.descriptor
    if descriptor is None:
        return None
    footer = table.footer
    all_of_it = table.size - min(table.described.start, footer.column_meta_start)
    tail = all_of_it if all_of_it <= _TAIL else table.size - footer.cmo_start
    tail = (tail + _SLACK + _SLACK - 1) // _SLACK * _SLACK
    known = Known(footer.version, footer.num_columns, descriptor.encoded, descriptor.schema)
    return Hint(tail, known, weight=8 * len(descriptor.encoded))
