"""What stands where a file has no column: nulls, a declared default, a partition's value. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from rangeio.statistics import Statistics

_PLAIN = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}


@dataclass(frozen=True, slots=True)
class Fill:
    """One value for every row; None is null."""

    kind: pa.DataType
    value: pa.Scalar | None = None

    def rows(self, count: int) -> pa.Array:
        """The value ``count`` times."""
        if self.value is None or not self.value.is_valid:
            return pa.nulls(count, self.kind)
        if pa.types.is_dictionary(self.kind):
            indices = pa.repeat(pa.scalar(0, self.kind.index_type), count)
            words = pa.repeat(self.value, 1)
            return pa.DictionaryArray.from_arrays(indices, words, ordered=self.kind.ordered)
        return pa.repeat(self.value, count)

    @property
    def statistics(self) -> Statistics:
        """All that can be known of such rows."""
        return constant(self.value)


def constant(value: pa.Scalar | None, *, nullable: bool = False) -> Statistics:
    """Statistics of rows that all hold one value. nullable: or null, where a struct above is."""
    if value is None or not value.is_valid:
        return Statistics(null_count=1, rows=1)
    nulls = None if nullable else 0
    held = value.as_py() if pa.types.is_floating(value.type) else None
    if held is not None and math.isnan(held):
        return Statistics(null_count=nulls, rows=1, nan_count=1)
    return Statistics(value, value, null_count=nulls, rows=1, nan_count=0)


def default_of(text: bytes, kind: pa.DataType) -> pa.Scalar:
    """The value that a default's text has in a type: as a string is cast, bytes as they are.

    Raises ValueError (Arrow's errors are some) where it has none.
    """
    if pa.types.is_dictionary(kind):
        return default_of(text, kind.value_type)
    plain = _PLAIN.get(kind, kind)
    if pa.types.is_binary(plain) or pa.types.is_large_binary(plain):
        return pa.scalar(text, kind)
    if pa.types.is_fixed_size_binary(plain):
        return pa.scalar(text, kind)
    if pa.types.is_time64(kind) or pa.types.is_float16(kind):
        return _by_way(text.decode(), kind)
    try:
        return pa.scalar(text.decode(), pa.string()).cast(kind)
    except pa.ArrowNotImplementedError as error:
        raise ValueError(str(error)) from None


def _by_way(text: str, kind: pa.DataType) -> pa.Scalar:
    """Of types that Arrow does not cast strings to, in all of its versions."""
    if pa.types.is_float16(kind):
        return pa.scalar(text).cast(pa.float32()).cast(kind)
    stamp = pc.strptime(pa.scalar(text), format="%H:%M:%S", unit="s")
    return stamp.cast(pa.timestamp(kind.unit)).cast(kind)


def partition_value(value: object, kind: pa.DataType) -> pa.Scalar:
    """A partition's value in the type of its column. Raises ValueError where it has none."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if isinstance(value, int) and pa.types.is_temporal(plain):
        raise ValueError("a number is no time")  # Arrow would take it for a count of units
    if isinstance(value, pa.Scalar):
        return value.cast(plain)
    try:
        return pa.scalar(value, plain)
    except pa.ArrowException:
        return pa.scalar(value).cast(plain)
