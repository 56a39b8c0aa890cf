"""Rows are picked alike from every type, whatever Arrow has kernels for."""

import numpy as np
import pyarrow as pa
import pytest

from rangeio.picking import filtered, rebased, taken

PILED = pa.list_(pa.list_(pa.int32(), 2), 2)
ARRAYS = [
    pa.array(["a", None, "ccc", "a long one that is not inlined", ""] * 4, pa.string_view()),
    pa.array([[b"x"], None, [], [b"y", None], [b"z" * 20]] * 4, pa.list_(pa.binary_view())),
    pa.array([{"v": "a"}, None, {"v": None}, {"v": "d"}, {"v": "e"}] * 4).cast(
        pa.struct([("v", pa.string_view())])
    ),
    pa.array(list(range(20)), pa.int64()),
    pa.array([[[i, i], [i + 1, i]] for i in range(20)], PILED),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.type))
@pytest.mark.parametrize("places", [[], [3], [5, 5, 4, 3], list(range(20)), [19, 0, 1, 2, 7, 7]])
def test_taken_rows_are_those_of_a_list(array, places):
    table = pa.table({"v": pa.chunked_array([array.slice(0, 7), array.slice(7)])})
    table = pa.table({"v": rebased(table["v"])})
    found = taken(table, np.array(places, np.int64))
    assert found.schema == table.schema
    assert found["v"].to_pylist() == [array[i].as_py() for i in places]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: str(a.type))
@pytest.mark.parametrize("step", [1, 2, 3, 100])
def test_filtered_rows_are_those_of_a_list(array, step):
    table = pa.table({"v": array})
    mask = pa.array([i % step == 0 and i != 6 for i in range(20)])
    found = filtered(table, mask)
    assert found["v"].to_pylist() == [array[i].as_py() for i in range(20) if mask[i].as_py()]


def test_a_slice_of_piled_lists_is_copied():
    sliced = ARRAYS[-1].slice(3)
    assert rebased(sliced).offset == 0
    assert rebased(sliced).to_pylist() == sliced.to_pylist()
    assert rebased(ARRAYS[0].slice(3)).offset == 3


def test_rows_without_columns_are_counted():
    none = pa.table({"a": [1, 2, 3]}).select([])
    assert taken(none, np.array([2, 0, 0, 1])).num_rows == 4
    assert taken(none, np.array([], np.int64)).num_rows == 0
    assert filtered(none, pa.array([True, False, True])).num_rows == 2
