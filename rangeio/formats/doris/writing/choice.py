"""Which encoding a column gets."""

from __future__ import annotations

from dataclasses import dataclass

from rangeio.errors import RequestError
from rangeio.formats.doris.words import Encoding, FieldType

_F = FieldType
INTEGERS = frozenset({_F.TINYINT, _F.SMALLINT, _F.INT, _F.BIGINT, _F.LARGEINT})
WORDED = frozenset({_F.CHAR, _F.VARCHAR, _F.STRING, _F.JSONB, _F.VARIANT})
"""Types that have a dictionary by default."""

_FIXED = frozenset({Encoding.PLAIN, Encoding.BIT_SHUFFLE})
_BINARY = frozenset({Encoding.PLAIN, Encoding.PLAIN_V2, Encoding.PLAIN_V3, Encoding.PREFIX})


@dataclass(frozen=True, slots=True)
class Chosen:
    """An encoding; plain: that of a dictionary's words, and of pages without it."""

    encoding: Encoding
    plain: Encoding


def default(field: FieldType, size: int, version: int) -> Chosen:
    """What Doris writes by default in a segment of this version."""
    plain = Encoding.PLAIN if version == 2 else Encoding.PLAIN_V2
    if not size:
        return Chosen(Encoding.DICT if field in WORDED else plain, plain)
    if field is FieldType.BOOL:
        return Chosen(Encoding.RLE, Encoding.PLAIN)
    if field in INTEGERS and version == 3:
        return Chosen(Encoding.PLAIN, Encoding.PLAIN)
    return Chosen(Encoding.BIT_SHUFFLE, Encoding.PLAIN)


def named(field: FieldType, size: int, version: int, encoding: Encoding, name: str) -> Chosen:
    """The encoding that was asked for; RequestError where such a column has it not."""
    allowed = set(_FIXED if size else _BINARY)
    if field is FieldType.BOOL:
        allowed.add(Encoding.RLE)
    if field in WORDED:
        allowed.add(Encoding.DICT)
    if encoding not in allowed:
        known = ", ".join(sorted(one.name.lower() for one in allowed))
        raise RequestError(
            f"{name!r} is {field.name}, which has no encoding {encoding.name.lower()!r}: "
            f"it has {known}"
        )
    return Chosen(encoding, default(field, size, version).plain)
