"""Needs into GETs: what coalescing, splitting and subtracting promise (P5, P6)."""

from __future__ import annotations

import itertools
import math
import pickle
import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rangeio.ranges import ByteRange, Coalescing, CostModel, Suffix, coalesce, split, subtract

SIZES = st.integers(0, 40) | st.integers(0, 400)
RANGES = st.builds(lambda a, n: ByteRange(a, a + n), st.integers(0, 500), SIZES)
WANTS = st.lists(RANGES, max_size=25)
POLICIES = st.builds(
    Coalescing,
    gap=st.sampled_from([0, 1, 5, 50, 1000]),
    span=st.sampled_from([1, 10, 100, 10_000]),
    amplification=st.sampled_from([1.0, 1.5, 4.0, math.inf]),
)


def octets(ranges) -> set[int]:
    return {i for r in ranges for i in range(r.start, r.stop)}


def clusters(wants) -> list[ByteRange]:
    """Maximal runs of wants that overlap: what no policy may part."""
    found: list[ByteRange] = []
    for want in sorted(w for w in wants if w.size):
        if found and want.start < found[-1].stop:
            found[-1] = ByteRange(found[-1].start, max(found[-1].stop, want.stop))
        else:
            found.append(want)
    return found


@settings(deadline=None)
@given(WANTS, POLICIES)
def test_every_asked_byte_is_covered_and_each_want_by_one_range(wants, policy):
    merged = coalesce(wants, policy)
    for want in wants:
        assert not want.size or any(m.covers(want) for m in merged)


@settings(deadline=None)
@given(WANTS, POLICIES)
def test_what_results_is_sorted_disjoint_and_not_empty(wants, policy):
    merged = coalesce(wants, policy)
    assert all(m.size for m in merged)
    assert all(a.stop <= b.start for a, b in itertools.pairwise(merged))


@settings(deadline=None)
@given(WANTS, POLICIES)
def test_nothing_reaches_beyond_what_was_asked(wants, policy):
    starts, stops = {w.start for w in wants}, {w.stop for w in wants}
    for one in coalesce(wants, policy):
        assert one.start in starts
        assert one.stop in stops


@settings(deadline=None)
@given(WANTS, POLICIES)
def test_each_merged_range_keeps_gap_span_and_amplification(wants, policy):
    parts = clusters(wants)
    for one in coalesce(wants, policy):
        inside = [p for p in parts if one.covers(p)]
        gaps = [b.start - a.stop for a, b in itertools.pairwise(inside)]
        assert all(gap <= policy.gap for gap in gaps)
        assert len(inside) == 1 or one.size <= policy.span
        useful = sum(p.size for p in inside)
        assert not any(gaps) or one.size <= policy.amplification * useful


@settings(deadline=None)
@given(WANTS, POLICIES)
def test_what_could_be_merged_within_the_limits_is(wants, policy):
    parts = clusters(wants)
    for a, b in itertools.pairwise(coalesce(wants, policy)):
        gap, span = b.start - a.stop, b.stop - a.start
        first = next(p for p in parts if b.covers(p))  # greedy: only the next cluster was asked
        useful = sum(p.size for p in parts if a.covers(p)) + first.size
        reach = first.stop - a.start
        assert (
            gap > policy.gap
            or reach > policy.span
            or (gap and reach > policy.amplification * useful)
        ), (a, b, span)


@settings(deadline=None)
@given(WANTS, POLICIES, st.randoms())
def test_the_order_and_the_number_of_askers_do_not_matter(wants, policy, chance):
    again = wants + wants[:3]
    chance.shuffle(again)
    assert coalesce(again, policy) == coalesce(wants, policy)


@settings(deadline=None)
@given(WANTS, POLICIES)
def test_coalescing_again_with_no_limit_to_lose_changes_nothing(wants, policy):
    once = coalesce(wants, Coalescing(gap=policy.gap, span=10**9, amplification=math.inf))
    assert coalesce(once, Coalescing(gap=policy.gap, span=10**9, amplification=math.inf)) == once


@settings(deadline=None)
@given(WANTS)
def test_gap_zero_merges_only_what_touches(wants):
    merged = coalesce(wants, Coalescing(gap=0, span=10**9))
    assert octets(merged) == octets(wants)
    assert all(a.stop < b.start for a, b in itertools.pairwise(merged))


@settings(deadline=None)
@given(WANTS)
def test_merge_off_merges_nothing_but_duplicates(wants):
    kept = coalesce(wants, Coalescing(merge=False))
    assert kept == sorted({w for w in wants if w.size})


@settings(deadline=None)
@given(WANTS, POLICIES, st.binary(min_size=1000, max_size=1000))
def test_the_bytes_are_those_of_reading_each_by_itself(wants, policy, data):
    replies = [(m, data[m.start : m.stop]) for m in coalesce(wants, policy)]
    for want in wants:
        held = next(((m, b) for m, b in replies if m.covers(want)), (want, b""))
        offset = want.start - held[0].start
        assert held[1][offset : offset + want.size] == data[want.start : want.stop]


def test_the_amplification_counts_the_next_want_too():
    policy = Coalescing(gap=100, span=10**6, amplification=2.0)
    a, b = ByteRange(0, 10), ByteRange(30, 40)
    assert coalesce([a, b], policy) == [ByteRange(0, 40)]
    assert coalesce([a, ByteRange(31, 41)], policy) == [a, ByteRange(31, 41)]


def counted(count: int, gap: int) -> int:
    """Function calls and lines that coalescing so many scattered ranges executes."""
    chance = random.Random(count)
    wants = [ByteRange(a, a + 100) for a in chance.sample(range(0, count * 1000, 200), count)]
    steps = 0

    def trace(frame, event, arg):
        nonlocal steps
        steps += frame.f_code.co_filename.endswith("ranges.py")
        return trace

    sys.settrace(trace)
    try:
        coalesce(wants, Coalescing(gap=gap))
    finally:
        sys.settrace(None)
    return steps


@pytest.mark.parametrize("gap", [0, 150, 10**6])
def test_the_work_grows_with_the_number_of_ranges_and_no_faster(gap):
    few, many = counted(1000, gap), counted(8000, gap)
    assert many < 9 * few
    assert many < 40 * 8000


# ---- split and subtract ------------------------------------------------------------------------


@settings(deadline=None)
@given(RANGES, st.integers(1, 60))
def test_split_gives_the_fewest_equal_parts(at, span):
    parts = split(at, span)
    assert parts[0].start == at.start
    assert parts[-1].stop == at.stop
    assert all(a.stop == b.start for a, b in itertools.pairwise(parts))
    assert all(p.size <= span for p in parts)
    assert len(parts) == max(1, math.ceil(at.size / span))
    assert max(p.size for p in parts) - min(p.size for p in parts) <= 1


@settings(deadline=None)
@given(RANGES, WANTS)
def test_subtract_leaves_exactly_what_nothing_covers(want, held):
    missing = subtract(want, sorted(held))
    assert octets(missing) == octets([want]) - octets(held)
    assert all(m.size for m in missing)
    assert all(a.stop < b.start for a, b in itertools.pairwise(missing))


# ---- the nouns ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (5, 4), (-3, -1)])
def test_what_is_no_byte_range_is_refused(start, stop):
    with pytest.raises(ValueError, match="not a byte range"):
        ByteRange(start, stop)


def test_a_range_is_plain_data():
    at = ByteRange(3, 10)
    assert (at.size, str(at)) == (7, "3:10")
    assert at.covers(ByteRange(3, 3))
    assert at.covers(at)
    assert not at.covers(ByteRange(2, 5))
    assert not at.covers(ByteRange(9, 11))
    assert pickle.loads(pickle.dumps(at)) == at
    assert {at: 1}[ByteRange(3, 10)] == 1
    assert str(Suffix(8)) == "-8:"
    for size in (0, -1):
        with pytest.raises(ValueError, match="not a suffix"):
            Suffix(size)


def test_a_cost_model_counts_hops_and_bytes():
    assert CostModel(latency_s=0.5, bytes_per_s=100).seconds(2, 300) == 4.0


def test_gaps_no_wider_than_a_head_are_read_through_whatever_the_amplification():
    wants = [ByteRange(i * 64, i * 64 + 1) for i in range(1000)]
    assert len(coalesce(wants, Coalescing(gap=1 << 20, amplification=4.0))) == 1000
    assert len(coalesce(wants, Coalescing(gap=1 << 20, amplification=4.0, head=512))) == 1
    assert len(coalesce(wants, Coalescing(gap=10, amplification=4.0, head=512))) == 1000
    assert len(coalesce(wants, Coalescing(gap=1 << 20, span=6400, head=512))) == 10
