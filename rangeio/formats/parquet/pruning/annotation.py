"""What a SchemaElement says that its values are: LogicalType, or the older ConvertedType."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from rangeio.codecs.thrift import Struct


class Logical(enum.IntEnum):
    """The members of the union LogicalType that values of leaves are ordered by; the others, known
    or not, are OTHER."""

    OTHER = -1
    NONE = 0
    STRING = 1
    ENUM = 4
    DECIMAL = 5
    DATE = 6
    TIME = 7
    TIMESTAMP = 8
    INTEGER = 10
    JSON = 12
    BSON = 13
    UUID = 14
    FLOAT16 = 15


@dataclass(frozen=True, slots=True)
class Annotation:
    """nanoseconds: in the unit of a time, 0 for an unknown one. scale: of a decimal."""

    logical: Logical
    signed: bool = True
    nanoseconds: int = 0
    scale: int = 0


NONE, OTHER = Annotation(Logical.NONE), Annotation(Logical.OTHER)

_MEMBERS = {int(one): one for one in Logical if one > 0}
_UNITS = {1: 10**6, 2: 10**3, 3: 1}
_SIMPLE = {
    0: Annotation(Logical.STRING),
    4: Annotation(Logical.ENUM),
    6: Annotation(Logical.DATE),
    7: Annotation(Logical.TIME, nanoseconds=10**6),
    8: Annotation(Logical.TIME, nanoseconds=10**3),
    9: Annotation(Logical.TIMESTAMP, nanoseconds=10**6),
    10: Annotation(Logical.TIMESTAMP, nanoseconds=10**3),
    **dict.fromkeys(range(11, 15), Annotation(Logical.INTEGER, signed=False)),
    **dict.fromkeys(range(15, 19), Annotation(Logical.INTEGER)),
    19: Annotation(Logical.JSON),
    20: Annotation(Logical.BSON),
}
_DECIMAL = 5


def annotation(element: Struct) -> Annotation:
    """The annotation of a leaf's element. Raises Corrupt for fields of a wrong Thrift type."""
    union = element.struct(10)
    if union is None:
        return _converted(element)
    if len(union) != 1:
        return OTHER
    (member,) = union
    logical = _MEMBERS.get(member)
    own = union.struct(member)
    if logical is None or own is None:
        return OTHER
    if logical is Logical.DECIMAL:
        return Annotation(logical, scale=own.integer(1) or 0)
    if logical is Logical.INTEGER:
        return Annotation(logical, signed=own.flag(2) is not False)
    if logical in (Logical.TIME, Logical.TIMESTAMP):
        unit = own.struct(2) or Struct()
        return Annotation(logical, nanoseconds=_UNITS.get(next(iter(unit), 0), 0))
    return Annotation(logical)


def _converted(element: Struct) -> Annotation:
    number = element.integer(6)
    if number is None:
        return NONE
    if number == _DECIMAL:
        return Annotation(Logical.DECIMAL, scale=element.integer(7) or 0)
    return _SIMPLE.get(number, OTHER)
