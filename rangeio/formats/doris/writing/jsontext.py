"""JSON objects as paths and values, and the type that the values of a path have in common.

A kind of value is a short word: ``b`` true or false, ``i`` a whole number of 64 bits, ``d`` any
other number, ``s`` text, ``n`` nothing known, and ``l`` with a kind after it a list of that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NoReturn

import pyarrow as pa

from rangeio.errors import RequestError

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_KINDS: Mapping[type, str] = {bool: "b", float: "d", str: "s", type(None): "n", dict: "s"}


def parsed(text: str) -> Mapping[str, Any]:
    """The object of a text; RequestError where it is none."""
    try:
        found = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"it is no JSON: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise RequestError(f"it is a JSON {type(found).__name__}; variants are made of objects")
    return found


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def paths(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The dotted paths of an object, and their values; null and empty objects have none."""
    for key, one in value.items():
        path = f"{above}{key}"
        if isinstance(one, dict):
            yield from paths(one, f"{path}.")
        elif one is not None:
            yield path, one


def kind_of(value: Any) -> str:
    """The kind of one value."""
    if isinstance(value, list):
        return "l" + common(map(kind_of, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return "i" if _LEAST <= value <= _MOST else "s"
    known = _KINDS.get(type(value))
    if known is None:
        raise RequestError(f"a {type(value).__name__} is no value of JSON")
    return known


def common(kinds: Iterator[str] | Sequence[str]) -> str:
    """The kind that holds the values of all; what does not fit together is text."""
    return reduce(_both, kinds, "n")


def _both(one: str, other: str) -> str:
    if one == other or other == "n":
        return one
    if one == "n":
        return other
    if {one, other} == {"i", "d"}:
        return "d"
    if one[0] == other[0] == "l":
        return "l" + _both(one[1:], other[1:])
    return "s"


def fitted(value: Any, kind: str) -> Any:
    """A value as one of a kind that holds it: as text, all but text is JSON."""
    if value is None:
        return None
    if kind == "s":
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if kind[0] == "l":
        return [fitted(one, kind[1:]) for one in value]
    return float(value) if kind == "d" else value


def type_of(kind: str) -> pa.DataType:
    """The Arrow type of a kind. Lists of which no item is known have items of text."""
    if kind[0] == "l":
        return pa.list_(type_of(kind[1:]))
    return {"b": pa.bool_(), "i": pa.int64(), "d": pa.float64()}.get(kind, pa.string())


def array_of(values: Sequence[Any], kind: str) -> pa.Array:
    """Values of any kinds as an array of one that holds them."""
    try:
        return pa.array([fitted(one, kind) for one in values], type_of(kind))
    except (UnicodeEncodeError, OverflowError) as error:
        raise RequestError(f"a text or number of JSON cannot be kept: {error}") from None
