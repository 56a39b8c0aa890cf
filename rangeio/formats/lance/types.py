"""Arrow types from Lance's logical type strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from rangeio.errors import Corrupt, FormatError, Unsupported

_PLAIN: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "halffloat": pa.float16(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "large_string": pa.large_string(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "date32:day": pa.date32(),
    "date64:ms": pa.date64(),
    "json": pa.large_binary(),  # JSONB; the field's metadata names the extension
}
_MOST_PARTS = 32
_LISTS = {"list", "list.struct", "large_list", "large_list.struct"}


def leaf(logical: str) -> pa.DataType:
    """The type of a field without children; Unsupported names what is unknown."""
    if logical in _PLAIN:
        return _PLAIN[logical]
    kind, _, rest = logical.partition(":")
    if kind not in _PARAMETRIC or logical.count(":") > _MOST_PARTS:
        raise Unsupported(f"the logical type {logical[:100]!r} is not supported")
    return _made(logical, _PARAMETRIC[kind], rest)


def _made(logical: str, make: Callable[[str], pa.DataType], rest: str) -> pa.DataType:
    """The type that the words behind the first colon make; Corrupt where they make none."""
    try:
        return make(rest)
    except FormatError:
        raise
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        raise Corrupt(f"{logical[:100]!r} is no logical type: {error}") from None


def branch(logical: str, children: Sequence[pa.Field]) -> pa.DataType:
    """The type of a field with children: struct, list, map or a fixed-size list of structs."""
    if logical == "struct":
        return pa.struct(children)
    if logical == "map" and len(children) == 2:
        return pa.map_(children[0].with_nullable(False), children[1])
    if len(children) == 1:
        if logical in _LISTS:
            make = pa.large_list if logical.startswith("large") else pa.list_
            return make(children[0])
        if logical.startswith("fixed_size_list:struct:"):
            size = logical.rpartition(":")[2]
            return _made(logical, lambda rest: pa.list_(children[0], _count(rest)), size)
    raise Corrupt(f"the logical type {logical[:100]!r} cannot have {len(children)} children")


def _count(text: str) -> int:
    count = int(text)
    if not 0 < count < 1 << 31:
        raise ValueError(f"{count} is out of bounds")
    return count


def _timestamp(rest: str) -> pa.DataType:
    unit, _, zone = rest.partition(":")
    return pa.timestamp(unit, None if zone in ("", "-") else zone)


def _decimal(rest: str) -> pa.DataType:
    bits, precision, scale = (int(part) for part in rest.split(":"))
    if bits not in (128, 256):
        raise ValueError(f"{bits} bits")
    return (pa.decimal128 if bits == 128 else pa.decimal256)(precision, scale)


def _fixed_size_list(rest: str) -> pa.DataType:
    child, _, size = rest.rpartition(":")
    return pa.list_(leaf(child), _count(size))


def _dictionary(rest: str) -> pa.DataType:
    value, index, ordered = rest.rsplit(":", 2)
    return pa.dictionary(leaf(index), leaf(value), ordered == "true")


_PARAMETRIC: dict[str, Callable[[str], pa.DataType]] = {
    "fixed_size_binary": lambda rest: pa.binary(_count(rest)),
    "time32": pa.time32,
    "time64": pa.time64,
    "timestamp": _timestamp,
    "duration": pa.duration,
    "decimal": _decimal,
    "fixed_size_list": _fixed_size_list,
    "dict": _dictionary,
}
