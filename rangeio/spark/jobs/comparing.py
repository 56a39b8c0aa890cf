"""Whether a copy holds the values of what it was made of, in whichever types of one kind. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise

import pyarrow as pa
import pyarrow.types as pt

from rangeio.datasets.evolving.widening import fits
from rangeio.literal import is_binary, is_string


def same(copy: pa.ChunkedArray, original: pa.ChunkedArray) -> bool:
    """Whether every value is the original's; a NaN is equal to another.

    Values are compared in the type that holds more, so that what the copy's type cut off is seen.
    Numbers are no booleans, and days are no times, whatever may be cast to what.
    """
    if copy.type == original.type and copy.equals(original):
        return True
    return all(_same(*pair) for pair in _aligned(copy, original))


def _aligned(one: pa.ChunkedArray, other: pa.ChunkedArray) -> Iterator[tuple[pa.Array, pa.Array]]:
    """Both in the same parts, each of which is one chunk."""
    ends = {0, *_ends(one), *_ends(other)}
    for start, stop in pairwise(sorted(ends)):
        found = (side.slice(start, stop - start).combine_chunks() for side in (one, other))
        mine, theirs = (x.chunk(0) if isinstance(x, pa.ChunkedArray) else x for x in found)
        yield mine, theirs


def _ends(array: pa.ChunkedArray) -> Iterator[int]:
    return accumulate(len(chunk) for chunk in array.chunks)


def _same(copy: pa.Array, original: pa.Array) -> bool:
    copy, original = _plain(copy), _plain(original)
    if len(copy) != len(original) or not copy.is_null().equals(original.is_null()):
        return False
    mine, theirs = copy.type, original.type
    if pt.is_struct(mine) and pt.is_struct(theirs):
        names = [one.name for one in mine] == [one.name for one in theirs]
        return names and all(map(_same, copy.flatten(), original.flatten()))
    if pt.is_map(mine) and pt.is_map(theirs):
        return _same(*map(_entries, (copy, original)))
    if _is_list(mine) and _is_list(theirs):
        lengths = [side.value_lengths().fill_null(0).cast(pa.int64()) for side in (copy, original)]
        return lengths[0].equals(lengths[1]) and _same(copy.flatten(), original.flatten())
    return len(copy) == copy.null_count or _same_values(copy, original)


def _same_values(copy: pa.Array, original: pa.Array) -> bool:
    if copy.type != original.type:
        if not any(kind(copy.type) and kind(original.type) for kind in _FAMILIES):
            return False
        try:
            copy, original = _of_one_type(copy, original)
        except pa.ArrowException:  # a value of the one is none of the other's type
            return False
    return copy.equals(original) or repr(copy.to_pylist()) == repr(original.to_pylist())


def _of_one_type(copy: pa.Array, original: pa.Array) -> tuple[pa.Array, pa.Array]:
    if is_string(copy.type) or is_binary(copy.type):
        return copy.cast(pa.large_binary()), original.cast(pa.large_binary())
    if fits(original.type, copy.type):
        return copy, original.cast(copy.type)
    return copy.cast(original.type), original


def _plain(array: pa.Array) -> pa.Array:
    """What is under extensions, dictionaries and runs; of texts any length has room."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(array.storage)
    if pt.is_dictionary(kind):
        return _plain(array.dictionary).take(array.indices)
    if pt.is_run_end_encoded(kind):
        return _plain(array.cast(kind.value_type))
    if is_string(kind):
        return array.cast(pa.large_string())
    return array.cast(pa.large_binary()) if is_binary(kind) else array


def _entries(array: pa.Array) -> pa.Array:
    """A map as the list of its entries, of fields that are called alike."""
    kind = pa.list_(pa.struct([("key", array.type.key_type), ("value", array.type.item_type)]))
    return array.cast(kind)


def _is_list(kind: pa.DataType) -> bool:
    return hasattr(kind, "value_type") and not pt.is_map(kind)


def _is_exact(kind: pa.DataType) -> bool:
    return bool(pt.is_integer(kind) or pt.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    """Doris has bytes for both."""
    return bool(is_string(kind) or is_binary(kind))


_FAMILIES: Sequence[Callable[[pa.DataType], bool]] = (
    _is_exact,
    pt.is_floating,
    _is_text,
    pt.is_date,
    pt.is_timestamp,
    pt.is_time,
    pt.is_duration,
)
"""Of kinds that may hold the same values."""
