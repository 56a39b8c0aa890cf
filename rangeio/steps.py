"""What a format says to the outside: *these bytes, please, for this reason*. Pure.

A format is a generator of :class:`Need`. It is sent one memoryview a range, in the order of the
ranges, each exactly as long as its range. It owns no socket, no clock, no thread and no lock.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
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
    gap: where the format chose few bytes over few GETs, no wider gap than this is read through.
    span: a range of more bytes than this moves in parallel parts, into one buffer.
    """

    ranges: tuple[ByteRange | Suffix, ...]
    why: str
    of: str = ""
    optional: bool = False
    gap: int | None = None
    span: int | None = None


Steps: TypeAlias = Generator[Need, Sequence[memoryview], T]


def need(at: ByteRange | Suffix, why: str) -> Steps[memoryview]:
    """Ask for one range: ``data = yield from need(at, "lance.footer")``."""
    (data,) = yield Need((at,), why)
    return data


def needs(
    at: Sequence[ByteRange | Suffix], why: str, *, gap: int | None = None
) -> Steps[Sequence[memoryview]]:
    """Ask for many ranges in one hop; asking for none costs no hop."""
    if not at:
        return ()
    return (yield Need(tuple(at), why, gap=gap))


def together(steps: Sequence[Steps[T]], why: str = "together") -> Steps[list[T]]:
    """Advance many in lockstep, so that hop *k* of all of them is one hop an object.

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
            for those in _alike({i: n for i, (_, n) in live.items()}):
                replies = yield _joined([live[i][1] for i in those], why)
                at = 0
                for i in those:
                    one, n = live[i]
                    advance(i, one, replies[at : at + len(n.ranges)])
                    at += len(n.ranges)
    finally:
        for one in steps:
            one.close()
    return [done[i] for i in range(len(steps))]


def _alike(asked: Mapping[int, Need]) -> list[list[int]]:
    """Who may share a need: who asks of the same object, and says the same of its absence."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for i, one in asked.items():
        groups.setdefault((one.of, one.optional), []).append(i)
    return list(groups.values())


def _joined(asked: Sequence[Need], why: str) -> Need:
    """The ranges of all in their order, as one need."""
    reasons = {one.why for one in asked}
    ranges = tuple(at for one in asked for at in one.ranges)
    reason = asked[0].why if len(reasons) == 1 else why
    return Need(ranges, reason, asked[0].of, asked[0].optional)
