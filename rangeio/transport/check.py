"""The examination of a reply's head: all that must hold before a byte of its body is used."""

from __future__ import annotations

from typing import NamedTuple

from rangeio.errors import BadRows, ObjectChanged, RangeIgnored, ServerFault, ShortReply
from rangeio.ranges import ByteRange, Suffix
from rangeio.stores.store import Reply
from rangeio.transport.source import Source


class Head(NamedTuple):
    """A head that passed.

    at: the bytes that were asked for, absolute. total: of the object. body: bytes of the body,
    more than those of ``at`` where a small object came whole; they begin at ``skip`` then.
    """

    at: ByteRange
    total: int
    body: int
    skip: int


def check(reply: Reply, asked: ByteRange | Suffix, source: Source) -> Head:
    """What the reply brings; raises the StoreError that its head amounts to."""
    if reply.encoding not in ("", "identity"):
        raise _fault(f"the bytes are encoded ({reply.encoding[:20]}) although that was refused")
    check_tag(reply.tag, source)
    at = reply.at
    if reply.whole and reply.total is None and source.size is None:
        raise RangeIgnored("the server sent an object of unknown size", status=reply.status)
    total = _total(reply, source)
    if reply.whole:
        return _whole(reply, asked, source, total)
    if reply.status != 206:
        raise _fault(f"HTTP {reply.status} in answer to a ranged GET", reply.status)
    if at is None:
        raise ShortReply("the reply does not say which bytes it brings", status=206)
    if isinstance(asked, Suffix):
        asked = ByteRange(max(0, total - asked.size), total)
    if at != asked:
        if at.start == asked.start and at.stop == total < asked.stop:
            raise BadRows(f"bytes {asked} reach beyond the object's end at {total}")
        raise ShortReply(f"asked for bytes {asked}, got bytes {at}", status=206)
    if at.stop > total:
        raise ShortReply(f"bytes {at} of an object of {total}", status=206)
    if reply.size is not None and reply.size != at.size:
        raise ShortReply(f"bytes {at} in a body of {reply.size}", status=206)
    return Head(at, total, at.size, 0)


def check_tag(tag: str, source: Source) -> None:
    """Compare a reply's tag with the pin, whether or not the server looked at it."""
    pin = source.pin
    if not pin or tag == pin:
        return
    if tag:
        raise ObjectChanged("the object is no longer the version that was opened; open it again")
    raise _fault("the reply carries no version tag, although an earlier one did")


def _total(reply: Reply, source: Source) -> int:
    known, told = source.size, reply.total
    if told is None and known is None:
        raise _fault("the reply does not say how large the object is")
    if told is None or known is None or told == known:
        return told if told is not None else known or 0
    if source.consistency == "strong" and reply.tag == source.pin and not reply.whole:
        raise ShortReply(f"the reply says the object has {told} bytes, not {known}")
    raise ObjectChanged(f"the object has {told} bytes now, not {known}; open it again")


def _whole(reply: Reply, asked: ByteRange | Suffix, source: Source, total: int) -> Head:
    """The head of a 200: fine where all was asked for, or where all is little."""
    if reply.at is not None and reply.at != ByteRange(0, total):
        raise _fault(f"HTTP {reply.status} for bytes {reply.at} of {total}", reply.status)
    if isinstance(asked, Suffix):
        asked = ByteRange(max(0, total - asked.size), total)
    if asked.stop > total:
        raise BadRows(f"bytes {asked} reach beyond the object's end at {total}")
    if asked.size != total and total > source.profile.small_file:
        raise RangeIgnored(
            f"the server sent all {total} bytes although {asked.size} were asked for; "
            "it does not support ranges",
            status=reply.status,
        )
    return Head(asked, total, total, asked.start)


def refused(reply: Reply, asked: ByteRange | Suffix, source: Source) -> ByteRange | None:
    """What a 416 means: the range to ask for instead (empty: the object is), None: not told.

    Raises ObjectChanged, BadRows where the object ends before the range, or ServerFault where it
    does not: there is no second try for what was refused once.
    """
    if reply.tag:
        check_tag(reply.tag, source)
    total = reply.total
    if total is None:
        return None
    if source.size is not None and total != source.size:
        raise ObjectChanged(f"the object has {total} bytes now, not {source.size}; open it again")
    if isinstance(asked, Suffix):
        # Some servers refuse a suffix that is longer than the object.
        if not total or asked.size > total:
            return ByteRange(0, total)
    elif asked.stop > total:
        raise BadRows(f"bytes {asked} reach beyond the object's end at {total}")
    raise _fault(f"the server refused bytes {asked} of an object of {total}", 416)


def _fault(reason: str, status: int = 0) -> ServerFault:
    """A fault that asking again does not mend."""
    error = ServerFault(reason, status=status)
    error.transient = False
    return error
