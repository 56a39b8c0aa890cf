"""Which types Spark may ask a file's columns as: those that hold all that is in them. Pure.

By the types alone, never by what the values happen to be: a query that ran on one day's file runs
on the next day's. Above what files may differ in (:mod:`rangeio.datasets.evolving.widening`) stands
what Spark has one type for: texts and bytes of every kind, times of every unit, lists of every
kind. Text is bytes and back, for writers without a mark for text; what is no UTF-8 is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from rangeio.datasets.evolving.widening import fits
from rangeio.literal import is_binary, is_string
from rangeio.spark.conforming import places

TYPED = "typed_value"
"""The field of a variant that is shredded: what its other two do not tell."""

SHREDDED = (
    "a shredded variant, which is not put together here: write it with "
    "spark.sql.variant.writeShredding.enabled=false"
)

_DIGITS = {
    pa.int8(): 3,
    pa.int16(): 5,
    pa.int32(): 10,
    pa.int64(): 19,
    pa.uint8(): 3,
    pa.uint16(): 5,
    pa.uint32(): 10,
    pa.uint64(): 20,
}
"""Of the longest integers of a type."""


@dataclass(frozen=True, slots=True)
class Misfit:
    """A value of a column, named by its path, that may not be asked so."""

    path: str
    have: pa.DataType
    asked: pa.DataType

    @property
    def shredded(self) -> bool:
        """It is a variant of which a part stands in columns of its own."""
        return is_variant(self.asked) and _shredded(self.have)

    def __str__(self) -> str:
        if self.shredded:
            return f"column {self.path!r} is {SHREDDED}"
        return (
            f"column {self.path!r} is {self.have} and was asked as {self.asked}, "
            "which does not hold every value of it"
        )


def misfit(have: pa.DataType, asked: pa.DataType, path: str) -> Misfit | None:
    """What keeps ``asked`` from holding every value of ``have``: the first such thing below
    ``path``. Fields of structs go by their names; what a struct lacks is null, and held by all."""
    have = _plain(have)
    if have.equals(asked) or pa.types.is_null(have):
        return None
    if pa.types.is_struct(have) and pa.types.is_struct(asked):
        return _struct_misfit(have, asked, path)
    if pa.types.is_map(have) and pa.types.is_map(asked):
        key = misfit(have.key_type, asked.key_type, f"{path}.key")
        return key or misfit(have.item_type, asked.item_type, f"{path}.value")
    if pa.types.is_list(asked) and hasattr(have, "value_type"):  # lists of all kinds
        return misfit(have.value_type, asked.value_type, f"{path}.element")
    return None if _held(have, asked) else Misfit(path, have, asked)


def is_variant(kind: pa.DataType) -> bool:
    """Whether Spark marked this struct as one of its variants."""
    return pa.types.is_struct(kind) and any(
        one.name == "metadata" and (one.metadata or {}).get(b"variant") == b"true" for one in kind
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    """What is under extensions, dictionaries and runs."""
    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            kind = kind.value_type
        else:
            return kind


def _struct_misfit(have: pa.DataType, asked: pa.DataType, path: str) -> Misfit | None:
    if is_variant(asked) and _shredded(have):
        return Misfit(path, have, asked)
    fields = list(have)
    at = places([one.name for one in asked], [one.name for one in fields])
    pairs = ((fields[i], one) for i, one in zip(at, asked, strict=True) if i is not None)
    found = (misfit(mine.type, one.type, f"{path}.{one.name}") for mine, one in pairs)
    return next((one for one in found if one is not None), None)


def _shredded(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and kind.get_field_index(TYPED) >= 0


def _held(have: pa.DataType, asked: pa.DataType) -> bool:
    if _is_text(have) and _is_text(asked):
        return True
    if pa.types.is_integer(have) and pa.types.is_decimal(asked):
        return bool(_DIGITS[have] <= asked.precision - asked.scale)
    if pa.types.is_timestamp(have):  # finer ones are cut, and zones are as Spark asks them
        return bool(pa.types.is_timestamp(asked))
    if pa.types.is_duration(asked):  # Spark keeps them as plain numbers, and notes what they are
        return bool(pa.types.is_duration(have) or have == pa.int64())
    if pa.types.is_date(have):
        return bool(pa.types.is_date(asked))
    return fits(have, asked)


def _is_text(kind: pa.DataType) -> bool:
    """Of text, or of bytes, whatever their length is kept in."""
    return bool(is_string(kind) or is_binary(kind))
