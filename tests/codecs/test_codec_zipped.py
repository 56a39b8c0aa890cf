from functools import partial

import numpy as np
import pytest
from codec_writers import outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.codecs import zipped
from rangeio.codecs.native import Kernels
from rangeio.codecs.zipped import Control
from rangeio.errors import Corrupt

Entry = tuple[int, int, bytes]  # repetition level, definition level, value


def zip_rows(
    rows: list[list[Entry]], control: Control, width: int
) -> tuple[np.ndarray, list[int], list[int]]:
    """Rows of entries as bytes, by the layout's own words; a width of 0 writes no lengths."""
    out, starts, stops = bytearray(b"?"), [], []
    for row in rows:
        starts.append(len(out))
        for rep, level, value in row:
            out += (rep << control.def_bits | level).to_bytes(control.size, "little")
            if width and level == 0:
                out += len(value).to_bytes(width, "little") + value
            elif not width and level <= control.visible:
                out += value
        stops.append(len(out))
    return np.frombuffer(bytes(out), np.uint8), starts, stops


@pytest.mark.parametrize(
    ("rep", "definition", "size"),
    [(0, 0, 0), (0, 1, 1), (1, 7, 1), (8, 0, 1), (1, 8, 2), (16, 0, 2), (9, 8, 4), (16, 16, 4)],
)
def test_size_of_control_words(rep: int, definition: int, size: int) -> None:
    assert Control(rep, definition).size == size


@pytest.mark.parametrize(("rep", "definition"), [(17, 0), (0, 17), (-1, 3)])
def test_control_words_of_more_bits_are_corrupt(rep: int, definition: int) -> None:
    with pytest.raises(Corrupt):
        Control(rep, definition)


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("control", [Control(1, 2, 1), Control(4, 7, 1), Control(12, 12, 1)])
def test_rows_of_lists_of_strings(width: int, control: Control, kernels: Kernels | None) -> None:
    """Level 1 is a null item, 2 a null list, 3 an empty list."""
    rows: list[list[Entry]] = [
        [(1, 0, b"first"), (0, 1, b""), (0, 0, b"")],
        [(1, 2, b"")],
        [(1, 3, b"")],
        [(1, 0, b"x" * 300)],
    ]
    data, starts, stops = zip_rows(rows, control, width)
    got, offsets, values = zipped.variable(data, starts, stops, control, width, kernels=kernels)
    assert got.rep is not None
    assert got.definition is not None
    assert got.rep.tolist() == [1, 0, 0, 1, 1, 1]
    assert got.definition.tolist() == [0, 1, 0, 2, 3, 0]
    assert got.cuts.tolist() == [0, 3, 4, 5, 6]
    assert got.visible == 4
    assert offsets.tolist() == [0, 5, 5, 5, 305]
    assert values.tobytes() == b"first" + b"x" * 300


def test_strings_without_levels(kernels: Kernels | None) -> None:
    rows: list[list[Entry]] = [[(0, 0, b"ab")], [(0, 0, b"")], [(0, 0, b"c")]]
    data, starts, stops = zip_rows(rows, Control(), 4)
    got, offsets, values = zipped.variable(data, starts, stops, Control(), 4, kernels=kernels)
    assert got.rep is None
    assert got.definition is None
    assert offsets.tolist() == [0, 2, 2, 3]
    assert values.tobytes() == b"abc"


def test_nulls_of_fixed_width_keep_their_bytes(kernels: Kernels | None) -> None:
    control = Control(0, 1, 1)
    row: list[Entry] = [(0, i % 2, bytes([i] * 3)) for i in range(9)]
    data, starts, stops = zip_rows([row], control, 0)
    got, values = zipped.fixed(data, starts, stops, control, 3, kernels=kernels)
    assert got.definition is not None
    assert got.definition.tolist() == [0, 1] * 4 + [0]
    assert got.visible == 9
    assert values.tobytes() == b"".join(bytes([i] * 3) for i in range(9))


def test_invisible_entries_of_fixed_width_are_words_alone(kernels: Kernels | None) -> None:
    control = Control(1, 2, 1)
    rows: list[list[Entry]] = [
        [(1, 0, b"abc"), (0, 1, b"nul")],
        [(1, 2, b"")],
        [(1, 0, b"def")],
    ]
    data, starts, stops = zip_rows(rows, control, 0)
    got, values = zipped.fixed(data, starts, stops, control, 3, kernels=kernels)
    assert got.visible == 3
    assert got.cuts.tolist() == [0, 2, 3, 4]
    assert values.tobytes() == b"abcnuldef"


def test_rows_may_be_a_choice_of_all(kernels: Kernels | None) -> None:
    control = Control(0, 1, 1)
    data, starts, stops = zip_rows([[(0, 0, b"%d" % i)] for i in range(9)], control, 4)
    got, _, values = zipped.variable(data, starts[2:8:3], stops[2:8:3], control, 4, kernels=kernels)
    assert got.cuts.tolist() == [0, 1, 2]
    assert values.tobytes() == b"25"


@pytest.mark.parametrize("width", [0, 4, 8])
@pytest.mark.parametrize("control", [Control(0, 0, 0), Control(0, 1, 1), Control(1, 9, 1)])
def test_every_cut_of_a_row_is_corrupt(
    width: int, control: Control, kernels: Kernels | None
) -> None:
    row: list[Entry] = [(0, 0, b"abc"), (0, 0, b"def")]
    data, starts, stops = zip_rows([row], control, width)
    half = (stops[0] - starts[0]) // 2
    for stop in range(starts[0], stops[0]):
        args = (data, starts, [stop], control)
        if stop - starts[0] in (0, half):
            continue
        read = partial(zipped.variable, *args, width) if width else partial(zipped.fixed, *args, 3)
        with pytest.raises(Corrupt):
            read(kernels=kernels)


def test_length_beyond_the_row_is_corrupt(kernels: Kernels | None) -> None:
    for width in (4, 8):
        data = np.full(40, 255, np.uint8)
        with pytest.raises(Corrupt):
            zipped.variable(data, [0], [40], Control(), width, kernels=kernels)


@pytest.mark.parametrize(
    ("starts", "stops"), [([0], [41]), ([-1], [5]), ([9], [5]), ([0, 0], [40, 40])]
)
def test_rows_outside_or_over_each_other_are_corrupt(
    starts: list[int], stops: list[int], kernels: Kernels | None
) -> None:
    data = np.zeros(40, np.uint8)
    with pytest.raises(Corrupt):
        zipped.variable(data, starts, stops, Control(), 4, kernels=kernels)
    with pytest.raises(Corrupt):
        zipped.fixed(data, starts, stops, Control(), 5, kernels=kernels)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_widths_that_there_are_not_are_corrupt(width: int, kernels: Kernels | None) -> None:
    with pytest.raises(Corrupt):
        zipped.variable(np.zeros(8, np.uint8), [0], [8], Control(), width, kernels=kernels)
    with pytest.raises(Corrupt):
        zipped.fixed(np.zeros(8, np.uint8), [0], [8], Control(), 0, kernels=kernels)


CONTROLS = st.builds(Control, st.sampled_from([0, 1, 9]), st.integers(0, 8), st.integers(0, 4))


@settings(max_examples=300, deadline=None)
@given(
    CONTROLS,
    st.sampled_from([0, 4, 8]),
    st.lists(
        st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5), st.binary(max_size=20))),
        max_size=6,
    ),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=2),
)
def test_kernel_and_twin_agree_on_flipped_bytes(
    both: tuple[Kernels, None],
    control: Control,
    width: int,
    rows: list[list[Entry]],
    flips: list[tuple[int, int]],
) -> None:
    most = (1 << control.def_bits) - 1
    rows = [
        [(r if control.rep_bits else 0, min(d, most), v if width else b"12345") for r, d, v in row]
        for row in rows
    ]
    data, starts, stops = zip_rows(rows, control, width)
    data = data.copy()
    for at, value in flips:
        data[at % len(data)] = value

    def read(kernels: Kernels | None) -> object:
        if width:
            return zipped.variable(data, starts, stops, control, width, kernels=kernels)
        return zipped.fixed(data, starts, stops, control, 5, kernels=kernels)

    answers = [outcome(lambda k=k: read(k)) for k in both]
    assert answers[0] == answers[1]
    if not flips:
        assert isinstance(answers[0], tuple)


def test_rows_that_changed_since_they_were_measured_are_told(both: tuple[Kernels, None]) -> None:
    """A mapped file may change between the two passes; the second writes no further than it may."""
    kernel, _ = both
    control = Control(0, 1, 1)
    data, starts, stops = zip_rows([[(0, 0, b"abc"), (0, 1, b"")]], control, 4)
    at, end = np.array(starts), np.array(stops)
    shape = (at, end, control.cut, 4, 0)
    words, offsets = np.zeros(2, np.uint32), np.zeros(3, np.int64)
    assert kernel.zipped_fill(data, *shape, words, offsets, np.zeros(3, np.uint8))
    assert offsets.tolist() == [0, 3, 3]
    for smaller in (
        (words[:1], offsets, np.zeros(3, np.uint8)),
        (words, offsets[:2], np.zeros(3, np.uint8)),
        (words, offsets, np.zeros(2, np.uint8)),
    ):
        assert not kernel.zipped_fill(data, *shape, *smaller)
