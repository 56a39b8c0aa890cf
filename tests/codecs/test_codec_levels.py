"""Levels are made from nested Python values by the rules, and unravelled back into Arrow arrays."""

import itertools
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import levels
from rangeio.codecs.levels import Layer, Unravelled
from rangeio.codecs.native import Kernels
from rangeio.errors import Corrupt, Unsupported

LISTS = (
    Layer.VALID_LIST,
    Layer.NULLABLE_LIST,
    Layer.EMPTYABLE_LIST,
    Layer.NULL_AND_EMPTY_LIST,
)
ITEMS = (Layer.VALID_ITEM, Layer.NULLABLE_ITEM)


def own_levels(layers: tuple[Layer, ...]) -> list[tuple[int, int]]:
    """(null, empty) of each layer, innermost first, dealt out one by one."""
    out, level = [], itertools.count(1)
    for layer in layers:
        null = next(level) if layer in (3, 4, 6) else 0
        out.append((null, next(level) if layer in (5, 6) else 0))
    return out


def shred(rows: list[object], layers: tuple[Layer, ...]) -> tuple[list[int], list[int]]:
    """Repetition and definition levels of rows; structs are one-item tuples, lists are lists."""
    own = own_levels(layers)
    rep: list[int] = []
    definition: list[int] = []

    def write(value: object, k: int, begin: int) -> None:
        """``value`` belongs to layer k; ``begin`` is the repetition level of its first entry."""
        null, empty = own[k]
        if value is None:
            rep.append(begin)
            definition.append(null)
        elif isinstance(value, list):
            depth = sum(one.is_list for one in layers[:k])
            if not value:
                rep.append(begin)
                definition.append(empty)
            for i, item in enumerate(value):
                write(item, k - 1, depth if i else begin)
        elif isinstance(value, tuple):
            write(value[0], k - 1, begin)
        else:
            rep.append(begin)
            definition.append(0)

    for row in rows:
        write(row, len(layers) - 1, sum(one.is_list for one in layers))
    return rep, definition


def rebuilt(found: tuple[Unravelled, ...], layers: tuple[Layer, ...], leaf: pa.Array) -> pa.Array:
    """The Arrow array that the layers describe, around the values of the visible slots."""
    array = leaf
    for k, (one, layer) in enumerate(zip(found, layers, strict=True)):
        bitmap = None if one.validity is None else pa.py_buffer(one.validity)
        if layer.is_list:
            assert one.offsets is not None
            assert one.offsets[-1] == len(array)
            kind, buffers = pa.large_list(array.type), [bitmap, pa.py_buffer(one.offsets)]
            children = [array]
        elif k == 0:
            assert one.length == len(array)
            kind, buffers, children = array.type, [bitmap, array.buffers()[1]], []
        else:
            kind, buffers, children = pa.struct([("f", array.type)]), [bitmap], [array]
        array = pa.Array.from_buffers(kind, one.length, buffers, one.null_count, children=children)
        array.validate(full=True)
    return array


def plain(value: object) -> object:
    """Arrow's Python values as the test writes them: structs as one-item tuples."""
    if isinstance(value, dict):
        return (plain(value["f"]),)
    return [plain(v) for v in value] if isinstance(value, list) else value


@st.composite
def nested(draw: st.DrawFn) -> tuple[tuple[Layer, ...], list[object]]:
    leaf = draw(st.sampled_from(ITEMS))
    layers = (leaf, *draw(st.lists(st.sampled_from(ITEMS + LISTS), max_size=4)))
    value: st.SearchStrategy[object] = st.just(7)
    for k, layer in enumerate(layers):
        if layer.is_list:
            least = int(layer in (Layer.VALID_LIST, Layer.NULLABLE_LIST))
            value = st.lists(value, min_size=least, max_size=3)
        elif k:
            value = value.map(lambda inner: (inner,))
        if layer in (3, 4, 6):
            value = st.none() | value
    return layers, draw(st.lists(value, max_size=6))


@settings(max_examples=400, deadline=None)
@given(nested())
def test_any_nesting_comes_back(
    kernels: Kernels | None, case: tuple[tuple[Layer, ...], list[object]]
) -> None:
    layers, rows = case
    rep, definition = shred(rows, layers)
    slots = sum(d <= levels.visible(layers) for d in definition)
    reps = np.array(rep, np.uint16) if any(k.is_list for k in layers) else None
    for defs in (np.array(definition, np.uint16), None):
        if defs is None and any(definition):
            continue
        found = levels.unravel(reps, defs, layers, len(rep), kernels=kernels)
        leaf = pa.array([7] * slots, pa.int32())
        assert [plain(v) for v in rebuilt(found, layers, leaf).to_pylist()] == rows


def test_numbering_of_a_list_of_structs() -> None:
    """1 a null item, 2 a null struct, 3 a null list, 4 an empty list."""
    layers = levels.kinds([3, 3, 6])
    leaf, struct, lists = levels.number(layers)
    assert (leaf.null, leaf.outside) == (1, 2)
    assert (struct.inside, struct.null, struct.outside) == (1, 2, 2)
    assert (lists.inside, lists.null, lists.empty, lists.outside) == (2, 3, 4, 4)
    assert levels.visible(layers) == 2


def test_a_struct_around_a_list_reaches_outside() -> None:
    leaf, inner, struct, outer = levels.number(levels.kinds([1, 5, 3, 4]))
    assert (leaf.outside, inner.empty, inner.outside) == (0, 1, 2)
    assert (struct.null, struct.outside) == (2, 2)
    assert (outer.inside, outer.null, outer.empty, outer.outside) == (2, 3, 0, 3)


def test_unknown_layers_are_unsupported() -> None:
    for code in (0, 7):
        with pytest.raises(Unsupported):
            levels.kinds([3, code])


@pytest.mark.parametrize("count", [0, 1, 8, 9, 1000])
@pytest.mark.parametrize("highest", [0, 2])
def test_bitmap_of_levels(count: int, highest: int) -> None:
    given_levels = (np.arange(count) % 4).astype(np.uint16)
    bitmap, nulls = levels.valid_bitmap(given_levels, highest)
    good = [x <= highest for x in given_levels.tolist()]
    assert nulls == good.count(False)
    if all(good):
        assert bitmap is None
    else:
        assert bitmap is not None
        assert len(bitmap) == (count + 7) // 8
        assert np.unpackbits(bitmap, bitorder="little")[:count].tolist() == good
        assert not np.unpackbits(bitmap, bitorder="little")[count:].any()


@pytest.mark.parametrize(
    ("rep", "definition", "why"),
    [
        ([0, 1], [0, 0], "does not begin a row"),
        ([1, 0], [2, 0], "has items"),
        ([1, 0], [3, 0], "has items"),
        ([1, 0], [0, 2], "inside a list"),
        ([1, 2], [0, 0], "repetition level above 1"),
        ([1, 1], [0, 4], "definition level above 3"),
        ([1, 1], [0], "1 definition levels of 2"),
        ([1], [0, 0], "1 repetition levels of 2"),
        (None, [0, 0], "without repetition"),
    ],
)
def test_levels_that_contradict_are_corrupt(
    rep: list[int] | None, definition: list[int], why: str, kernels: Kernels | None
) -> None:
    reps = None if rep is None else np.array(rep, np.uint16)
    with pytest.raises(Corrupt, match=why):
        levels.unravel(
            reps, np.array(definition, np.uint16), levels.kinds([3, 6]), 2, kernels=kernels
        )


def test_one_layer_refuses_a_list_that_begins_before_it(kernels: Kernels | None) -> None:
    (_, at) = levels.number(levels.kinds([1, 2]))
    with pytest.raises(Corrupt):
        levels.lists(np.zeros(1, np.uint16), None, at, kernels=kernels)
    with pytest.raises(Corrupt):
        levels.lists(np.ones(2, np.uint16), np.zeros(1, np.uint16), at, kernels=kernels)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(list(Layer)), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=20),
)
def test_any_levels_give_whole_arrays_or_corrupt(
    both: tuple[Kernels, None], layers: list[Layer], entries: list[tuple[int, int]]
) -> None:
    rep = np.array([r for r, _ in entries], np.uint16)
    definition = np.array([d for _, d in entries], np.uint16)
    if layers[0].is_list:
        layers = [Layer.NULLABLE_ITEM, *layers]
    calls = [
        partial(levels.unravel, rep, definition, layers, len(entries), kernels=k) for k in both
    ]
    answer = outcome(calls[0])
    assert answer == outcome(calls[1])
    if answer is Corrupt:
        return
    found = calls[0]()
    length = int(np.count_nonzero(definition <= levels.visible(layers)))
    rebuilt(found, tuple(layers), pa.array([7] * length, pa.int32()))
