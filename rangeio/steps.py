"""What a format says to the outside: *these bytes, please, for this reason*. Pure.

A format is a generator of :class:`Need`. It is sent one memoryview a range, in the order of the
ranges, each exactly as long as its range. It owns no socket, no clock, no thread and no lock.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from rangeio.ranges import ByteRange, Suffix

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Need:
    """The exact bytes of one hop. A need is not a request: the engine turns needs into GETs.

    why: two words for the trace, ``"lance.column_meta"``.
    of: the name of a neighbour object (an index beside the file); empty means the file itself.
    optional: the absence of that neighbour answers empty views instead of raising.
    """

    ranges: tuple[ByteRange | Suffix, ...]
    why: str
    of: str = ""
    optional: bool = False


Steps: TypeAlias = Generator[Need, Sequence[memoryview], T]


def need(at: ByteRange | Suffix, why: str) -> Steps[memoryview]:
    """Ask for one range: ``data = yield from need(at, "lance.footer")``."""
    (data,) = yield Need((at,), why)
    return data


def needs(at: Sequence[ByteRange | Suffix], why: str) -> Steps[Sequence[memoryview]]:
    """Ask for many ranges in one hop; asking for none costs no hop."""
    if not at:
        return ()
    return (yield Need(tuple(at), why))


def together(steps: Sequence[Steps[T]], why: str = "together") -> Steps[list[T]]:
    """Advance many in lockstep, so that hop *k* of all of them is one hop.

    It is a barrier per hop: right for metadata, wrong for data. Failures end all of them.
    """
    done: dict[int, T] = {}
    live: dict[int, tuple[Steps[T], Need]] = {}

    def advance(i: int, one: Steps[T], reply: Sequence[memoryview] | None) -> None:
        try:
            live[i] = (one, next(one) if reply is None else one.send(reply))
        except StopIteration as stop:
            live.pop(i, None)
            done[i] = stop.value

    try:
        for i, one in enumerate(steps):
            advance(i, one, None)
        while live:
            asked = tuple(r for _, n in live.values() for r in n.ranges)
            reasons = list(dict.fromkeys(n.why for _, n in live.values()))
            replies = yield Need(asked, reasons[0] if len(reasons) == 1 else why)
            at = 0
            for i, (one, n) in list(live.items()):
                advance(i, one, replies[at : at + len(n.ranges)])
                at += len(n.ranges)
    finally:
        for one in steps:
            one.close()
    return [done[i] for i in range(len(steps))]
