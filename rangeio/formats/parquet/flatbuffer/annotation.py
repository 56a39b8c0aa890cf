"""Logical types: the union of the FlatBuffer footer, and the words that Thrift has for it."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from rangeio.codecs.thrift import BINARY, BYTE, FALSE, I32, STRUCT, TRUE, Struct, Tagged
from rangeio.errors import RequestError
from rangeio.formats.parquet.flatbuffer import buffers
from rangeio.formats.parquet.flatbuffer.buffers import Table


class Logical(enum.IntEnum):
    """The members of the union; 0 is none."""

    STRING = 1
    MAP = 2
    LIST = 3
    ENUM = 4
    DECIMAL = 5
    DATE = 6
    TIME = 7
    TIMESTAMP = 8
    INT = 9
    NULL = 10
    JSON = 11
    BSON = 12
    UUID = 13
    FLOAT16 = 14
    VARIANT = 15
    GEOMETRY = 16
    GEOGRAPHY = 17


# The same in Thrift's union LogicalType, which leaves out 9.
_THRIFT = {one: one + (one > Logical.TIMESTAMP) for one in Logical}
_FROM_THRIFT = {field: one for one, field in _THRIFT.items()}

# ConvertedTypes of logical types without parameters.
_CONVERTED = {
    Logical.STRING: 0,
    Logical.MAP: 1,
    Logical.LIST: 3,
    Logical.ENUM: 4,
    Logical.DECIMAL: 5,
    Logical.DATE: 6,
    Logical.JSON: 19,
    Logical.BSON: 20,
}
_TIME, _TIMESTAMP = 7, 9  # then of microseconds; of nanoseconds there is none
_INTEGERS = {(8, 0): 11, (16, 0): 12, (32, 0): 13, (64, 0): 14} | {
    (8, 1): 15,
    (16, 1): 16,
    (32, 1): 17,
    (64, 1): 18,
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A logical type with its parameters.

    numbers: in the order of the FlatBuffer's slots; of DECIMAL scale and precision, of TIME and
    TIMESTAMP whether it is adjusted to UTC and the unit (0 ms, 1 us, 2 ns), of INT bits and whether
    it is signed, of GEOGRAPHY the algorithm, of VARIANT the version where there is one. crs: of
    GEOMETRY and GEOGRAPHY, where there is one.
    """

    kind: Logical
    numbers: tuple[int, ...] = ()
    crs: bytes | None = None


# Slots of the payloads: where the numbers are, and their sizes.
NUMBERS = {
    Logical.DECIMAL: ((0, buffers.I32), (1, buffers.I32)),
    Logical.TIME: ((0, buffers.U8), (1, buffers.I8)),
    Logical.TIMESTAMP: ((0, buffers.U8), (1, buffers.I8)),
    Logical.INT: ((0, buffers.I8), (1, buffers.U8)),
    Logical.VARIANT: ((0, buffers.I8),),
    Logical.GEOGRAPHY: ((1, buffers.I8),),
}
UNIT = 1
"""Slot of the unit of times."""
CRS = 0
"""Slot of the coordinate reference system."""
_BITS = 8  # an Int is of so many where it does not say


def read(kind: Logical, table: Table, settled: bool) -> Annotation:
    """The logical type of a member of the union and its table. Raises Corrupt.

    settled: whether it is known in which order a decimal has its parameters; if not, the larger
    one is the precision, which the scale never exceeds.
    """
    slots = NUMBERS.get(kind, ())
    numbers = tuple(table.number(slot, size) for slot, size in slots)
    if kind is Logical.DECIMAL and not settled:
        numbers = (min(numbers), max(numbers))
    elif kind is Logical.INT and not table.has(0):
        numbers = (_BITS, numbers[1])
    elif kind is Logical.VARIANT and not table.has(0):
        numbers = ()
    crs = table.raw(CRS) if kind in (Logical.GEOMETRY, Logical.GEOGRAPHY) else None
    return Annotation(kind, numbers, None if crs is None else bytes(crs))


# ---- in Thrift -----------------------------------------------------------------------------------


def spelled(annotation: Annotation) -> Struct:
    """The fields of a SchemaElement: logicalType, and what old readers look at instead of it."""
    member = (STRUCT, _parameters(annotation))
    out = Struct({10: (STRUCT, Struct({_THRIFT[annotation.kind]: member}))})
    converted = _converted(annotation)
    if converted is not None:
        out[6] = (I32, converted)
    if annotation.kind is Logical.DECIMAL:
        out[7], out[8] = ((I32, number) for number in annotation.numbers)
    return out


def _parameters(annotation: Annotation) -> Struct:
    kind, numbers = annotation.kind, annotation.numbers
    if kind is Logical.DECIMAL:
        return Struct({1: (I32, numbers[0]), 2: (I32, numbers[1])})
    if kind in (Logical.TIME, Logical.TIMESTAMP):
        unit = Struct({numbers[1] + 1: (STRUCT, Struct())})
        return Struct({1: _flag(numbers[0]), 2: (STRUCT, unit)})
    if kind is Logical.INT:
        return Struct({1: (BYTE, numbers[0]), 2: _flag(numbers[1])})
    if kind is Logical.VARIANT:
        return Struct({1: (BYTE, numbers[0])} if numbers else {})
    out = Struct({} if annotation.crs is None else {1: (BINARY, annotation.crs)})
    if kind is Logical.GEOGRAPHY:
        out[2] = (I32, numbers[0])
    return out


def _flag(value: int) -> Tagged:
    return (TRUE, True) if value else (FALSE, False)


def _converted(annotation: Annotation) -> int | None:
    kind, numbers = annotation.kind, annotation.numbers
    if kind is Logical.INT:
        return _INTEGERS.get((numbers[0], int(numbers[1] != 0)))
    # A time of day that is not in UTC has none; a timestamp has it either way, as writers have it.
    if kind is Logical.TIME and numbers[0] and numbers[1] < 2:
        return _TIME + numbers[1]
    if kind is Logical.TIMESTAMP and numbers[1] < 2:
        return _TIMESTAMP + numbers[1]
    return _CONVERTED.get(kind)


# ---- from Thrift ---------------------------------------------------------------------------------


def understood(element: Struct) -> Annotation | None:
    """The logical type of a SchemaElement, or what its ConvertedType stands for, or None.

    Raises RequestError for a logical type that the FlatBuffer footer has no word for.
    """
    union = element.struct(10)
    if union:
        (field, (_, parameters)), *_ = union.items()
        kind = _FROM_THRIFT.get(field)
        if kind is None or not isinstance(parameters, Struct):
            raise RequestError(f"a FlatBuffer footer has no logical type {field}")
        return Annotation(kind, _numbers(kind, parameters), _crs(kind, parameters))
    return _former(element)


def _numbers(kind: Logical, parameters: Struct) -> tuple[int, ...]:
    if kind is Logical.DECIMAL:
        return parameters.integer(1) or 0, parameters.integer(2) or 0
    if kind in (Logical.TIME, Logical.TIMESTAMP):
        unit = parameters.struct(2) or Struct()
        return int(parameters.flag(1) or False), next(iter(unit), 1) - 1
    if kind is Logical.INT:
        return parameters.integer(1) or 0, int(parameters.flag(2) or False)
    if kind is Logical.GEOGRAPHY:
        return (parameters.integer(2) or 0,)
    version = parameters.integer(1) if kind is Logical.VARIANT else None
    return () if version is None else (version,)


def _crs(kind: Logical, parameters: Struct) -> bytes | None:
    return parameters.binary(1) if kind in (Logical.GEOMETRY, Logical.GEOGRAPHY) else None


def _former(element: Struct) -> Annotation | None:
    """Of an element that has only a ConvertedType. Times are not adjusted to UTC, as Arrow has it;
    an INTERVAL has no logical type."""
    number = element.integer(6)
    if number == _CONVERTED[Logical.DECIMAL]:
        scale, precision = element.integer(7) or 0, element.integer(8) or 0
        return Annotation(Logical.DECIMAL, (scale, precision))
    return None if number is None else _FORMER.get(number)


_FORMER: dict[int, Annotation] = {
    2: Annotation(Logical.MAP),  # MAP_KEY_VALUE, which old writers have for a map
    **{number: Annotation(kind) for kind, number in _CONVERTED.items()},
    **{_TIME + unit: Annotation(Logical.TIME, (0, unit)) for unit in (0, 1)},
    **{_TIMESTAMP + unit: Annotation(Logical.TIMESTAMP, (0, unit)) for unit in (0, 1)},
    **{number: Annotation(Logical.INT, given) for given, number in _INTEGERS.items()},
}
