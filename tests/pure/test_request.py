"""Row words."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.errors import BadRows
from rangeio.plan import Rows
from rangeio.request import rows_of

BOUND = st.none() | st.integers(0, 30)


def result(words, num_rows: int) -> list[int]:
    """The row numbers that reading and then arranging gives."""
    chosen = rows_of(words, num_rows)
    table = pa.table({"row": chosen.rows.array()})
    out = chosen.arranged(table).column("row").to_pylist()
    assert len(out) == chosen.count
    return out


@settings(deadline=None)
@given(BOUND, BOUND, st.sampled_from([None, 1]), st.integers(0, 20))
def test_a_slice_is_pythons(start, stop, step, num_rows):
    words = slice(start, stop, step)
    assert result(words, num_rows) == list(range(num_rows))[words]
    assert rows_of(words, num_rows).take is None


@settings(deadline=None)
@given(st.lists(st.integers(0, 19), max_size=40))
def test_a_list_keeps_its_order_and_its_duplicates(numbers):
    forms = [
        numbers,
        tuple(numbers),
        np.array(numbers, np.int64),
        np.array(numbers, np.uint8),
        pa.array(numbers, pa.int32()),
        pa.chunked_array([numbers[:2], numbers[2:]], pa.uint64()),
    ]
    for words in forms:
        assert result(words, 20) == numbers
    ascending = numbers == sorted(set(numbers))
    assert (rows_of(numbers, 20).take is None) == ascending


@settings(deadline=None)
@given(st.integers(0, 19), st.integers(0, 19), st.sampled_from([-3, -2, -1, 1, 2, 7]))
def test_a_range_is_its_numbers(start, stop, step):
    assert result(range(start, stop, step), 20) == list(range(start, stop, step))


def test_nothing_and_everything():
    assert result(None, 3) == [0, 1, 2]
    assert result(None, 0) == []
    assert result([], 0) == []
    assert result(pa.array([]), 5) == []
    assert result(slice(7, 3), 10) == []
    assert rows_of(slice(10**12), 5).rows == Rows.span(0, 5)
    assert rows_of(slice(10**12, None), 5).rows.count == 0


def test_rows_pass_through_once_checked():
    rows = Rows([1, 5], [3, 6])
    assert rows_of(rows, 6).rows is rows
    with pytest.raises(BadRows, match="row 5 "):
        rows_of(rows, 5)


def test_a_huge_range_is_refused_before_it_is_made():
    with pytest.raises(BadRows, match=r"row 999999999999999999 .* 5 rows"):
        rows_of(range(10**18), 5)
    assert rows_of(range(10**12), 10**12).rows.count == 10**12


@pytest.mark.parametrize(
    "words",
    [
        slice(-1, None),
        slice(None, -1),
        slice(np.int64(-3)),
        [3, -2],
        np.array([-2]),
        range(2, -3, -1),
        pa.array([-1]),
    ],
)
def test_negative_numbers_are_refused(words):
    with pytest.raises(BadRows, match="negative"):
        rows_of(words, 10)


@pytest.mark.parametrize(
    "words", [[10], [0, 10], np.array([10], np.uint64), range(5, 11), [10**30]]
)
def test_rows_outside_are_named_with_the_bound(words):
    with pytest.raises(BadRows) as caught:
        rows_of(words, 10)
    if words != [10**30]:
        assert "row 10 " in str(caught.value)
        assert "10 rows" in str(caught.value)


def test_a_row_above_int64_is_refused():
    with pytest.raises(BadRows, match="18446744073709551615"):
        rows_of(np.array([2**64 - 1], np.uint64), 10)


@pytest.mark.parametrize(
    "words",
    [
        slice(0, 5, 2),
        slice(0, 5, -1),
        slice(0, 5, True),
        slice(0.0, 5),
        slice(True, 5),
        slice("a", None),
        [True, False],
        [1, True],
        [np.True_, 1],
        np.array([True]),
        pa.array([True]),
        [1.0],
        np.array([1.0]),
        pa.array([1.5]),
        pa.array([1, None]),
        ["a"],
        [[1, 2]],
        [[1], [2, 3]],
        [None],
        np.array([[1]]),
        np.array(3),
        5,
        True,
        1.5,
        "1",
        b"1",
        {1, 2},
        {1: 2},
        object(),
    ],
)
def test_what_is_no_row_number_is_refused(words):
    with pytest.raises(BadRows):
        rows_of(words, 10)
