"""JSON objects as paths and values, and the type that the values of a path have in common.

A kind of value is a short word: ``b`` true or false, ``i`` a whole number that a double holds too,
``w`` one that only 64 bits hold, ``d`` any other number, ``s`` text, ``n`` nothing known, and ``l``
with a kind after it a list of that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NoReturn

import pyarrow as pa

from rangeio.errors import RequestError

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_TYPES: Mapping[str, pa.DataType] = {
    "b": pa.bool_(),
    "i": pa.int64(),
    "w": pa.int64(),
    "d": pa.float64(),
}
_PLAIN: Mapping[str, type] = {"b": bool, "i": int, "w": int, "d": float, "s": str}
_SHOWN = 40
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_KINDS: Mapping[type, str] = {bool: "b", float: "d", str: "s", type(None): "n", dict: "s"}


def parsed(text: str) -> Mapping[str, Any]:
    """The object of a text; RequestError where it is none."""
    try:
        found = json.loads(text, parse_constant=_refused, parse_float=_double, parse_int=_whole)
    except RequestError:  # a ValueError itself: JSON it is
        raise
    except (ValueError, RecursionError) as error:
        raise RequestError(f"it is no JSON: {error}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise RequestError(f"it is a JSON {type(found).__name__}; variants are made of objects")
    if _HALF.search(text):
        _check_whole(found)
    return found


def _check_whole(found: Any) -> None:
    """Raise RequestError for half a character, which an escape can make and no encoding holds."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise RequestError(f"a text of JSON cannot be kept: {error}") from None


def _refused(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _double(word: str) -> float:
    """A number with a point or an exponent. Python makes infinity of what is too large."""
    found = float(word)
    if not math.isfinite(found):
        raise RequestError(f"the number {_cut(word)} is larger than every double")
    return found


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:  # Python's own limit, against which texts of numbers cost quadratic time
        raise RequestError(f"the number {_cut(word)} has {len(word):,} digits") from None


def _cut(word: str) -> str:
    return word if len(word) <= _SHOWN else f"{word[:_SHOWN]}..."


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
        if not _LEAST <= value <= _MOST:
            return "s"
        return "i" if int(float(value)) == value else "w"
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
    if {one, other} == {"i", "w"}:
        return "w"
    if one[0] == other[0] == "l":
        return "l" + _both(one[1:], other[1:])
    return "s"


def as_is(value: Any, kind: str) -> bool:
    """Whether an array of a kind that holds the value gives it back unchanged."""
    if value is None:
        return True
    if kind[0] == "l":
        return all(as_is(one, kind[1:]) for one in value)
    return type(value) is _PLAIN.get(kind)


def fitted(value: Any, kind: str) -> Any:
    """A value as one of a kind that holds it: as text, all but text is JSON."""
    if value is None:
        return None
    if kind == "s":
        return value if isinstance(value, str) else _json(value)
    if kind[0] == "l":
        return [fitted(one, kind[1:]) for one in value]
    return float(value) if kind == "d" else value


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:  # of a struct, in whose columns such numbers may be
        raise RequestError(f"a number is none of JSON: {error}") from None


def type_of(kind: str) -> pa.DataType:
    """The Arrow type of a kind. Lists of which no item is known have items of text."""
    if kind[0] == "l":
        return pa.list_(type_of(kind[1:]))
    return _TYPES.get(kind, pa.string())


def array_of(values: Sequence[Any], kind: str) -> pa.Array:
    """Values of any kinds as an array of one that holds them."""
    try:
        return pa.array([fitted(one, kind) for one in values], type_of(kind))
    except (UnicodeEncodeError, OverflowError) as error:
        raise RequestError(f"a text or number of JSON cannot be kept: {error}") from None
