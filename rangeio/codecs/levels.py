"""Repetition and definition levels: which slots exist, which are null, where lists begin.

Layers are listed from the innermost (the leaf) outward. Definition levels are dealt out in that
order, from 1; 0 means valid all the way up:

- VALID_ITEM, VALID_LIST take none,
- NULLABLE_ITEM (a leaf or a struct), NULLABLE_LIST, EMPTYABLE_LIST take one,
- NULL_AND_EMPTY_LIST takes two: null, then empty.

An entry is a slot of a layer unless its level belongs to the next list outside the layer or to
anything beyond: a null or empty list has a level but no item. Repetition level 0 continues the
innermost list; k begins a new list at depth k, counted from the innermost, so that a new
top-level row has as many as there are list layers.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rangeio.codecs import native
from rangeio.codecs.bounds import Bytes, Levels, Offsets
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, Unsupported

_HAS_ITEMS = "a list that is null or empty has items"
_INSIDE = "an entry inside a list is a null or empty list"


class Layer(enum.IntEnum):
    """The kinds of layers, numbered as Lance numbers them."""

    VALID_ITEM = 1
    VALID_LIST = 2
    NULLABLE_ITEM = 3
    NULLABLE_LIST = 4
    EMPTYABLE_LIST = 5
    NULL_AND_EMPTY_LIST = 6

    @property
    def is_list(self) -> bool:
        """Whether it takes a repetition level."""
        return self not in (Layer.VALID_ITEM, Layer.NULLABLE_ITEM)


@dataclass(frozen=True, slots=True)
class Numbering:
    """The definition levels that concern one layer.

    inside: the highest level of the layers inside it, since the leaf. null, empty: its own, 0
    where it has none. outside: the highest level at which an entry still is a slot of this layer,
    that of the structs around it up to the next list.
    """

    layer: Layer
    inside: int
    null: int
    empty: int
    outside: int


@dataclass(frozen=True, slots=True, eq=False)
class Unravelled:
    """One layer: ``length`` slots; an Arrow validity bitmap, None where nothing is null; for a
    list layer ``length + 1`` int64 offsets into the slots of the next layer inside."""

    length: int
    validity: Bytes | None
    null_count: int
    offsets: Offsets | None = None


def kinds(codes: Iterable[int]) -> tuple[Layer, ...]:
    """The layers that a page lists; Unsupported for a kind that there is not."""
    try:
        return tuple(Layer(code) for code in codes)
    except ValueError as error:
        raise Unsupported(f"a layer of nullability or lists: {error}") from error


def number(layers: Sequence[Layer]) -> tuple[Numbering, ...]:
    """The numbering of layers that are listed from the innermost outward."""
    found: list[tuple[Layer, int, int, int]] = []
    level = 0
    for layer in layers:
        inside = level
        null = empty = 0
        if layer in (Layer.NULLABLE_ITEM, Layer.NULLABLE_LIST, Layer.NULL_AND_EMPTY_LIST):
            level = null = level + 1
        if layer in (Layer.EMPTYABLE_LIST, Layer.NULL_AND_EMPTY_LIST):
            level = empty = level + 1
        found.append((layer, inside, null, empty))
    out: list[Numbering] = []
    outside = level
    for layer, inside, null, empty in reversed(found):
        out.append(Numbering(layer, inside, null, empty, outside))
        if layer.is_list:
            outside = inside
    return tuple(reversed(out))


def visible(layers: Sequence[Layer]) -> int:
    """The highest definition level that has a value slot."""
    return number(layers)[0].outside if layers else 0


def valid_bitmap(levels: Levels, highest_valid: int = 0) -> tuple[Bytes | None, int]:
    """An Arrow bitmap of the levels that are at most ``highest_valid``, and how many are not.

    LSB first, zero-padded to whole bytes; None where all are valid.
    """
    good = levels <= highest_valid
    nulls = len(good) - int(np.count_nonzero(good))
    return (np.packbits(good, bitorder="little") if nulls else None), nulls


def items(definition: Levels | None, count: int, at: Numbering) -> Unravelled:
    """One item layer (a leaf's or a struct's validity) of ``count`` entries."""
    if definition is None:
        return Unravelled(count, None, 0)
    slots = definition[definition <= at.outside] if _hides(definition, at) else definition
    if not at.null:
        return Unravelled(len(slots), None, 0)
    validity, nulls = valid_bitmap(slots, at.null - 1)
    return Unravelled(len(slots), validity, nulls)


def lists(
    rep: Levels,
    definition: Levels | None,
    at: Numbering,
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Unravelled, Levels, Levels | None]:
    """One list layer, and the levels of the next layer outside: an entry for each list.

    ``rep`` is relative to this layer: 0 continues its list. Raises Corrupt where the first entry
    continues a list, or a list that is null or empty has items.
    """
    if len(rep) and not rep[0]:
        raise Corrupt("the first entry continues a list that begins before it")
    if definition is not None and len(definition) != len(rep):
        raise Corrupt(f"{len(rep)} repetition levels with {len(definition)} definition levels")
    if kernels is not None and definition is not None:
        return _by_kernel(rep, definition, at, kernels)
    starts = np.flatnonzero(rep)
    sizes = np.diff(starts, append=len(rep))
    outer = (rep[starts] - np.uint16(1)).astype(np.uint16, copy=False)
    if definition is None:
        return Unravelled(len(starts), None, 0, _summed(sizes)), outer, None
    levels = definition[starts]
    hidden = levels > at.inside
    if hidden.any() or _above(definition, at.inside):
        _check_hidden(definition, starts, sizes, hidden, at)
        sizes = np.where(hidden, 0, sizes)
    slots = levels <= at.outside
    kept = levels[slots]
    validity, nulls = _list_validity(kept, at)
    return Unravelled(len(kept), validity, nulls, _summed(sizes[slots])), outer, levels


def unravel(
    rep: Levels | None,
    definition: Levels | None,
    layers: Sequence[Layer],
    count: int,
    *,
    kernels: Kernels | None = native.kernels,
) -> tuple[Unravelled, ...]:
    """All layers of ``count`` entries, from the innermost outward.

    ``rep`` is None without list layers, ``definition`` where nothing is null or empty. Raises
    Corrupt for levels beyond the layers, and levels that contradict each other.
    """
    depth = sum(layer.is_list for layer in layers)
    _check_levels(rep, definition, layers, depth, count)
    out = []
    for at in number(layers):
        if at.layer.is_list:
            assert rep is not None
            one, rep, definition = lists(rep, definition, at, kernels=kernels)
            count = len(rep)
        else:
            one = items(definition, count, at)
        out.append(one)
    return tuple(out)


def _by_kernel(
    rep: Levels, definition: Levels, at: Numbering, kernels: Kernels
) -> tuple[Unravelled, Levels, Levels]:
    count = int(np.count_nonzero(rep))
    outer = np.empty((2, count + 1), np.uint16)
    offsets = np.empty(count + 1, np.int64)
    valid = np.empty(count + 1, np.uint8)
    numbering = (at.inside, at.null, max(at.inside, at.null, at.empty), at.outside)
    levels = np.ascontiguousarray(rep), np.ascontiguousarray(definition)
    slots, full, within = kernels.unravel_list(
        *levels, numbering, outer[0], outer[1], offsets, valid
    )
    if full:
        raise Corrupt(_HAS_ITEMS)
    if within:
        raise Corrupt(_INSIDE)
    nulls = slots - int(np.count_nonzero(valid[:slots]))
    validity = np.packbits(valid[:slots], bitorder="little") if nulls else None
    one = Unravelled(slots, validity, nulls, offsets[: slots + 1])
    return one, outer[0, :count], outer[1, :count]


def _check_levels(
    rep: Levels | None,
    definition: Levels | None,
    layers: Sequence[Layer],
    depth: int,
    count: int,
) -> None:
    if depth and rep is None:
        raise Corrupt(f"{depth} layers of lists without repetition levels")
    numbers = number(layers)
    highest = numbers[-1].outside if numbers else 0
    for name, levels, most in (("repetition", rep, depth), ("definition", definition, highest)):
        if levels is None:
            continue
        if len(levels) != count:
            raise Corrupt(f"{len(levels)} {name} levels of {count} entries")
        if _above(levels, most):
            raise Corrupt(f"a {name} level above {most}")
    if rep is not None and len(rep) and rep[0] != depth:
        raise Corrupt("the first entry does not begin a row")


def _check_hidden(
    definition: Levels,
    starts: Offsets,
    sizes: Offsets,
    hidden: npt.NDArray[np.bool_],
    at: Numbering,
) -> None:
    """Raise Corrupt unless every entry without an item is a list of its own."""
    if (sizes[hidden] != 1).any():
        raise Corrupt(_HAS_ITEMS)
    if np.count_nonzero(definition > at.inside) != np.count_nonzero(hidden):
        raise Corrupt(_INSIDE)


def _list_validity(levels: Levels, at: Numbering) -> tuple[Bytes | None, int]:
    """A list is null at its own null level and where a struct around it is."""
    if not at.null:
        return None, 0
    bad = levels == at.null
    if at.outside > max(at.null, at.empty):
        bad |= levels > max(at.null, at.empty)
    nulls = int(np.count_nonzero(bad))
    return (np.packbits(~bad, bitorder="little") if nulls else None), nulls


def _hides(definition: Levels, at: Numbering) -> bool:
    return _above(definition, at.outside)


def _above(levels: Levels, most: int) -> bool:
    return bool(len(levels)) and int(levels.max()) > most


def _summed(sizes: Offsets) -> Offsets:
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
