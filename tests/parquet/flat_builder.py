"""FlatBuffers made by hand: any table of any revision, and tables that share what they should not.

A node is a dict of slots (a table), a list of tables (a vector), or bytes (a vector or string); a
slot holds a node or a number with its size: ``(5, "q")``. A node that is used twice is shared.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from rangeio.codecs.thrift import Struct

Node = dict[int, Any] | list[Any] | bytes
Pack = Callable[[int, bytes, bytes, bool, bool], dict[int, Any]]

LOGICAL = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8} | {i: i - 1 for i in range(10, 19)}


def built(root: dict[int, Any]) -> bytes:
    """The FlatBuffer of a root table."""
    out = bytearray(4)
    places: dict[int, int] = {}
    refer: list[tuple[int, Node]] = [(0, root)]
    for node in _parents_first(root):
        places[id(node)] = len(out)
        if isinstance(node, bytes):
            out += struct.pack("<I", len(node)) + node + b"\0"
        elif isinstance(node, list):
            out += struct.pack("<I", len(node))
            refer += [(len(out) + 4 * i, one) for i, one in enumerate(node)]
            out += bytes(4 * len(node))
        else:
            places[id(node)] = _table(out, node, refer)
        out += bytes(-len(out) % 4)
    for at, node in refer:
        struct.pack_into("<I", out, at, places[id(node)] - at)
    return bytes(out)


def _table(out: bytearray, node: dict[int, Any], refer: list[tuple[int, Node]]) -> int:
    """Appends a vtable and its table; gives where the table is."""
    count = max(node, default=-1) + 1
    offsets, body = [0] * count, bytearray(4)
    inner: list[tuple[int, Node]] = []
    for slot, value in node.items():
        offsets[slot] = len(body)
        if isinstance(value, tuple):
            body += struct.pack(f"<{value[1]}", value[0])
        else:
            inner.append((len(body), value))
            body += bytes(4)
    vtable = len(out)
    out += struct.pack(f"<HH{count}H", 4 + 2 * count, len(body), *offsets)
    at = len(out)
    struct.pack_into("<i", body, 0, at - vtable)
    out += body
    refer += [(at + offset, value) for offset, value in inner]
    return at


def _parents_first(root: Node) -> list[Node]:
    """Every node once, before all that it refers to."""
    seen: set[int] = set()
    order: list[Node] = []
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(child, False) for child in _children(node) if id(child) not in seen]
    return order[::-1]


def _children(node: Node) -> list[Node]:
    if isinstance(node, bytes):
        return []
    values = node.values() if isinstance(node, dict) else node
    return [value for value in values if not isinstance(value, tuple)]


# ---- the older revision ------------------------------------------------------------------------


def told(**slots: Any) -> dict[int, Any]:
    """A table of what is there: ``told(_0=..., _3=None)``; numbers that are zero are left out."""
    return {
        int(slot[1:]): value
        for slot, value in slots.items()
        if value is not None and not (isinstance(value, tuple) and value[0] in (0, None))
    }


def nullable(**slots: tuple[int | None, str]) -> dict[int, Any]:
    """Numbers that are told where they are zero, and left out only where there are none."""
    return {int(slot[1:]): value for slot, value in slots.items() if value[0] is not None}


def older(footer: Struct, pack: Pack, *, later: bool) -> dict[int, Any]:
    """A footer in the older revision, of the proposal's first writer or as the schema had it later:
    other sizes of null counts, other bloom filters, decimals the other way around."""
    elements = footer.list(2) or []
    orders = iter(footer.list(7) or [])
    leaves = [one for one in elements if 1 in one]
    return told(
        _0=(footer.integer(1), "i"),
        _1=[_element(one, 1 in one and next(orders, None), later) for one in elements],
        _2=(footer.integer(3), "q"),
        _3=[_group(group, leaves, pack, later) for group in footer.list(4) or []],
        _4=[told(_0=p.binary(1), _1=p.binary(2)) for p in footer.list(5) or []],
        _5=footer.binary(6) or b"",
    )


def _element(element: Struct, order: Struct | None, later: bool) -> dict[int, Any]:
    kind, member = 0, None
    for field, (_, parameters) in (element.struct(10) or Struct()).items():
        kind, member = LOGICAL[field], _member(field, parameters, later)
    numbers = nullable(
        _1=(element.integer(1), "b"), _5=(element.integer(2), "i"), _7=(element.integer(9), "i")
    )
    return numbers | told(
        _0=element.binary(4),
        _2=(element.integer(3), "b"),
        _3=(kind, "B"),
        _4=member,
        _6=(element.integer(5), "i"),
        _8=(1 if order else 0, "B"),
        _9={} if order else None,
    )


def _member(field: int, parameters: Struct, later: bool) -> dict[int, Any]:
    if field == 5:
        numbers = [parameters.integer(1) or 0, parameters.integer(2) or 0]
        scale, precision = numbers
        first, second = (scale, precision) if later else (precision, scale)
        return told(_0=(first, "i"), _1=(second, "i"))
    if field in (7, 8):
        unit = next(iter(parameters.struct(2) or {1: 0})) - 1
        return told(_0=(int(bool(parameters.flag(1))), "B"), _1=(unit, "b"))
    if field == 10:
        bits = parameters.integer(1)
        return told(_0=None if bits == 8 else (bits, "b"), _1=(int(bool(parameters.flag(2))), "B"))
    return {}


def _group(group: Struct, leaves: list[Struct], pack: Pack, later: bool) -> dict[int, Any]:
    chunks = [
        told(_0=_metadata(chunk.struct(3), leaf, group, pack, later))
        for chunk, leaf in zip(group.list(1) or [], leaves, strict=True)
    ]
    return nullable(_6=(group.integer(7), "h")) | told(
        _0=chunks,
        _1=(group.integer(2), "q"),
        _2=(group.integer(3), "q"),
        _4=(group.integer(5), "q"),
        _5=(group.integer(6), "q"),
    )


def _metadata(
    meta: Struct | None, leaf: Struct, group: Struct, pack: Pack, later: bool
) -> dict[int, Any]:
    assert meta is not None
    start, page = group.integer(5), meta.integer(9)
    values = None if meta.integer(5) == group.integer(3) else meta.integer(5)
    numbers = nullable(_1=(values, "q"), _7=(meta.integer(11), "q"))
    offset, length = meta.integer(14), meta.integer(15)
    if not later:
        numbers |= nullable(_10=(offset, "q"), _11=(length, "i"))
    elif offset is not None:
        numbers |= {10: {0: (offset, "q"), 1: (length, "i")}}
    return numbers | told(
        _0=(meta.integer(4), "b"),
        _2=(meta.integer(6), "q"),
        _3=(meta.integer(7), "q"),
        _5=None if page == start else (page, "q"),
        _8=_statistics(meta.struct(12), leaf, pack, later),
    )


def _statistics(
    stats: Struct | None, leaf: Struct, pack: Pack, later: bool
) -> dict[int, Any] | None:
    if stats is None:
        return None
    least, most = stats.binary(6), stats.binary(5)
    bounds: dict[int, Any] = {}
    if least is not None and most is not None:
        exact = bool(stats.flag(8)), bool(stats.flag(7))
        bounds = pack(leaf.integer(1) or 0, least, most, *exact)
    counts = nullable(_0=(stats.integer(3), "q" if later else "i"))
    return counts | {slot - 1: value for slot, value in bounds.items()}


# ---- how writers put bounds into the slots of the newest revision ------------------------------


def of_numbers(kind: int, least: bytes, most: bytes, *exact: bool) -> dict[int, Any]:
    """Bounds of fixed-size numbers, on which all revisions agree."""
    size = {1: 4, 2: 8, 3: 12, 4: 4, 5: 8}.get(kind)
    if size is None or len(least) != size or len(most) != size:
        return {}
    out: dict[int, Any] = {}
    for slot, data, known in ((2, least, exact[0]), (6, most, exact[1])):
        if size != 8:
            out |= {slot: (int.from_bytes(data[:4], "little"), "I")}
        if size != 4:
            out |= {slot + 1: (int.from_bytes(data[-8:], "little"), "Q")}
        out |= {slot + 3: (size if known else -size, "b")}
    return out


def in_four_bytes(kind: int, least: bytes, most: bytes, *exact: bool) -> dict[int, Any]:
    """As the proposal's writer has byte arrays: 4 bytes of suffix, an upper bound counted up, a
    lower one down, both around the clock; 16 bytes of fixed size whole."""
    if kind not in (6, 7):
        return of_numbers(kind, least, most, *exact)
    if kind == 7 and len(least) == len(most) == 16 and all(exact):
        parts = [(2, least), (6, most)]
        halves = [(s, int.from_bytes(d[:8], "big"), int.from_bytes(d[8:], "big")) for s, d in parts]
        return {
            slot + k: value
            for slot, hi, lo in halves
            for k, value in ((1, (lo, "Q")), (2, (hi, "Q")), (3, (16, "b")))
        }
    start = shared(least, most)
    out: dict[int, Any] = {10: most[:start]} if start else {}
    for slot, data, known, step in ((2, least, exact[0], -1), (6, most, exact[1], 1)):
        suffix = data[start:]
        number = int.from_bytes(suffix[:4].ljust(4, b"\0"), "big")
        length = len(suffix) if known else -len(suffix)
        if len(suffix) > 4:
            number, length = (number + step) % (1 << 32), -4
        out |= {slot: (number, "I"), slot + 3: (length, "b")}
    return out


def right_aligned(kind: int, least: bytes, most: bytes, *exact: bool) -> dict[int, Any]:
    """As one may take the schema's words: the suffix as one number, zeros in front."""
    return _in_sixteen(kind, least, most, *exact, form=lambda data: data.rjust(16, b"\0"))


def low_first(kind: int, least: bytes, most: bytes, *exact: bool) -> dict[int, Any]:
    """As one may take them too: ``lo8`` and then ``hi8``."""

    def form(data: bytes) -> bytes:
        padded = data.ljust(16, b"\0")
        return padded[8:] + padded[:8]

    return _in_sixteen(kind, least, most, *exact, form=form)


def _in_sixteen(
    kind: int, least: bytes, most: bytes, *exact: bool, form: Callable[[bytes], bytes]
) -> dict[int, Any]:
    if kind not in (6, 7):
        return of_numbers(kind, least, most, *exact)
    start = shared(least, most)
    out: dict[int, Any] = {10: most[:start]} if start else {}
    for slot, data, known, up in ((2, least, exact[0], 0), (6, most, exact[1], 1)):
        suffix = data[start:]
        if len(suffix) > 16:
            number = int.from_bytes(suffix[:16], "big") + up
            if number >> 128:
                return {}
            suffix, known = number.to_bytes(16, "big"), False
        halves = form(suffix)
        hi, lo = (int.from_bytes(half, "big") for half in (halves[:8], halves[8:]))
        out |= {slot + 1: (lo, "Q"), slot + 2: (hi, "Q")}
        out |= {slot + 3: (len(suffix) if known else -len(suffix), "b")}
    return out


def shared(a: bytes, b: bytes) -> int:
    """How many bytes two begin with alike."""
    size = 0
    while size < min(len(a), len(b)) and a[size] == b[size]:
        size += 1
    return size


# ---- small footers of the newest revision ------------------------------------------------------


def element(name: bytes, **slots: Any) -> dict[int, Any]:
    """A required INT32 leaf, or what the slots make of it."""
    out: dict[int, Any] = {0: (1, "b"), 2: (0, "b"), 3: name}
    out.update({int(slot[1:]): value for slot, value in slots.items()})
    return {slot: value for slot, value in out.items() if value is not None}


def chunk(**slots: Any) -> dict[int, Any]:
    """A chunk of 10 bytes at 4, or what the slots of its metadata make of it."""
    meta = {0: (0, "b"), 2: (20, "q"), 3: (10, "q"), 5: (4, "q")}
    meta.update({int(slot[1:]): value for slot, value in slots.items()})
    return {0: meta}


def file_metadata(elements: list[Any], chunks: list[Any], **slots: Any) -> dict[int, Any]:
    """A file of one row group of 2 rows."""
    schema = [element(b"root", _0=None, _2=None, _4=(len(elements), "i")), *elements]
    group = {0: chunks, 1: (20, "q"), 2: (2, "q")}
    out: dict[int, Any] = {0: (1, "i"), 1: schema, 2: (2, "q"), 3: [group]}
    out.update({int(slot[1:]): value for slot, value in slots.items()})
    return {slot: value for slot, value in out.items() if value is not None}
