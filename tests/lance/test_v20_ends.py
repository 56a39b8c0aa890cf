from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.errors import Corrupt
from rangeio.formats.lance.v20.span import Span
from rangeio.formats.lance.v20.strings import Ends, ends, entries
from rangeio.plan import Rows

Lengths = st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=1, max_size=60)


def encoded(lengths: list[int | None]) -> tuple[np.ndarray, int]:
    """Entries as the format has them, and what a null adds."""
    stops = np.cumsum([n or 0 for n in lengths]).astype(np.uint64)
    adjustment = int(stops[-1]) + 1
    null = np.array([n is None for n in lengths])
    return stops + null * np.uint64(adjustment), adjustment


def asked(lengths: list[int | None], rows: Rows) -> Ends:
    raw, adjustment = encoded(lengths)
    span = Span(rows, len(lengths))
    held = np.concatenate([raw[a:b] for a, b in entries(span).rows.runs()])
    return ends(held, span, adjustment, adjustment - 1)


@given(Lengths, st.data())
def test_any_runs_of_rows(lengths: list[int | None], data: st.DataObject) -> None:
    picked = data.draw(st.sets(st.integers(0, len(lengths) - 1), min_size=1))
    rows = Rows.of(np.array(sorted(picked)))
    found = asked(lengths, rows)
    wanted = [lengths[i] for i in rows.array().tolist()]
    assert np.diff(found.offsets).tolist() == [n or 0 for n in wanted]
    assert found.offsets[0] == 0
    valid = [n is not None for n in wanted]
    assert (found.valid is None and all(valid)) or found.valid.tolist() == valid
    before = np.cumsum([0, *[n or 0 for n in lengths]])
    assert list(found.runs.runs()) == [(before[a], before[b]) for a, b in rows.runs()]


@given(Lengths)
def test_one_run_agrees_with_runs_of_one_row(lengths: list[int | None]) -> None:
    count = len(lengths)
    one = asked(lengths, Rows.span(0, count))
    edges = np.arange(count)
    many = asked(lengths, Rows(edges, edges + 1))
    assert np.array_equal(one.offsets, many.offsets)
    assert np.array_equal(one.valid, many.valid) or one.valid is many.valid is None


@pytest.mark.parametrize("raw", [[3, 2, 4], [1, 2, 9], [(1 << 64) - 1, 1, 2]])
@pytest.mark.parametrize("rows", [Rows.span(0, 3), Rows([0, 1], [1, 3])])
def test_entries_that_lie(raw: list[int], rows: Rows) -> None:
    words = np.array(raw, np.uint64)
    held = [words[a:b] for a, b in entries(Span(rows, 3)).rows.runs()]
    with pytest.raises(Corrupt):
        ends(np.concatenate(held), Span(rows, 3), 0, 8)
