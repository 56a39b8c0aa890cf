"""Rows as runs, and plans as plain data."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.plan import DecodeUnit, Later, Plan, Query, Rows, SharedLoad
from rangeio.ranges import ByteRange
from rangeio.schema import Column, ColumnId

SETS = st.sets(st.integers(0, 60), max_size=30)


def rows_of(numbers) -> Rows:
    return Rows.of(np.array(sorted(numbers), np.int64))


@settings(deadline=None)
@given(SETS)
def test_rows_are_the_numbers_they_were_made_of(numbers):
    rows = rows_of(numbers)
    assert rows.array().tolist() == sorted(numbers)
    assert rows.array().dtype == np.int64
    assert rows.count == len(numbers)
    assert [n for a, b in rows.runs() for n in range(a, b)] == sorted(numbers)


@settings(deadline=None)
@given(SETS)
def test_runs_are_sorted_apart_and_not_empty(numbers):
    rows = rows_of(numbers)
    assert (rows.starts < rows.stops).all()
    assert (rows.stops[:-1] < rows.starts[1:]).all()
    assert len(rows) == len(list(rows.runs()))


@settings(deadline=None)
@given(SETS, st.integers(0, 70), st.integers(0, 70))
def test_within_is_the_part_inside(numbers, start, stop):
    inside = rows_of(numbers).within(start, stop)
    assert inside == rows_of({n for n in numbers if start <= n < stop})


@settings(deadline=None)
@given(SETS, st.integers(0, 1000))
def test_shifted_adds_to_every_number(numbers, by):
    assert rows_of(numbers).shifted(by) == rows_of({n + by for n in numbers})


@settings(deadline=None)
@given(SETS, SETS)
def test_rows_are_equal_where_their_numbers_are_and_survive_pickling(one, two):
    assert (rows_of(one) == rows_of(two)) == (one == two)
    assert pickle.loads(pickle.dumps(rows_of(one))) == rows_of(one)


def test_a_span_is_one_run_and_an_empty_one_none():
    assert list(Rows.span(3, 9).runs()) == [(3, 9)]
    assert Rows.span(0, 10**15).count == 10**15
    assert len(Rows.span(4, 4)) == len(Rows.span(5, 2)) == 0
    assert Rows.span(4, 4).array().tolist() == []
    assert repr(Rows.span(3, 9)) == "Rows(3:9)"
    assert "..." in repr(rows_of(range(0, 60, 2)))


def test_a_plan_is_plain_data_that_pickles():
    at = (ByteRange(0, 10),)
    unit = DecodeUnit(
        ColumnId(1, ("a", "b")), (0, 5), at, args=3, uses=("d",), later=(Later(at, 2),)
    )
    plan = Plan((unit,), (SharedLoad("d", at),), ("page 3: a > 5",))
    assert pickle.loads(pickle.dumps(plan)) == plan
    query = Query((Column(ColumnId(1, ("a",)), pa.int64()),), Rows.span(0, 5))
    assert pickle.loads(pickle.dumps(query)) == query
