"""The harness takes turns, compares values, and reckons ratios the right way round."""

from contextlib import contextmanager

import pytest

from benchmarks.harness import (
    MEGABYTES,
    Bound,
    Case,
    Contestant,
    Goal,
    Metric,
    Outcome,
    Round,
    Score,
    Weighed,
    run,
)
from benchmarks.report import table, to_dict
from benchmarks.servers import Counts, Seen, Server

MS = Metric("ms", lambda r: r.wall_s * 1e3)
RATE = Metric("GET/s", lambda r: 1 / r.wall_s, more=True)


def contestant(name, call):
    @contextmanager
    def fresh():
        yield call

    return Contestant(name, fresh)


def same(a, b):
    return a == b


def outcome(**walls):
    scores = [Score(name, [Round(w, w) for w in times]) for name, times in walls.items()]
    goals = (Goal("ms", "peer", 2.0), Goal("GET/s", "peer", 5.0), Goal("ms", limit=20.0))
    return Outcome(Case("c", (), same, (MS, RATE), goals), scores)


def test_contestants_take_turns():
    order = []
    case = Case("c", [contestant(n, lambda n=n: order.append(n)) for n in "abc"], same, rounds=2)
    run(case)
    assert "".join(order) == "abc" * 3


def test_other_values_end_a_run():
    case = Case("c", [contestant("a", lambda: 1), contestant("b", lambda: 2)], same, rounds=2)
    a, b = run(case).scores
    assert len(a.rounds) == 2
    assert (b.rounds, b.failure) == ([], "gave other values than a")


def test_a_failure_ends_one_run_and_not_the_others():
    case = Case("c", [contestant("a", lambda: 1 / 0), contestant("b", lambda: 2)], same, rounds=2)
    a, b = run(case).scores
    assert a.failure.startswith("ZeroDivisionError")
    assert len(b.rounds) == 2


@pytest.mark.parametrize("metric", [MS, RATE])
def test_above_one_means_that_rangeio_is_ahead(metric):
    found = outcome(rangeio=[0.01, 0.01, 0.5], peer=[0.03, 0.03, 0.001])
    ours, peer = found.scores
    assert found.edge(ours, metric) == pytest.approx(1.0)
    assert found.edge(peer, metric) == pytest.approx(3.0)


def test_goals():
    found = outcome(rangeio=[0.01], peer=[0.03])
    assert [found.met(g) for g in found.case.goals] == [True, False, True]
    alone = outcome(rangeio=[0.03])
    assert [alone.met(g) for g in alone.case.goals] == [None, None, False]


@pytest.mark.parametrize(
    ("hops", "met"), [([2, 3, 2], True), ([2, 4, 2], False), ([], None), ([None], None)]
)
def test_a_bound_holds_in_every_round(hops, met):
    counts = [None if n is None else Counts(n, 0, n, 9, 0) for n in hops]
    ours = Score("rangeio", [Round(0.01, 0.01, one) for one in counts])
    bound = Bound("at most 3 hops", lambda c: c.hops <= 3)
    found = Outcome(Case("c", (), same, (MS,), (bound,)), [ours])
    assert found.met(bound) is met
    assert "at most 3 hops" in table(found)
    assert to_dict(found)["goals"] == [{"goal": "at most 3 hops", "met": met}]


def test_a_value_that_was_weighed_is_compared_as_it_is():
    heavy = contestant("rangeio", lambda: Weighed(7, 3_000_000))
    light = contestant("peer", lambda: Weighed(7, 1_500_000))
    wrong = contestant("wrong", lambda: Weighed(8, 1))
    goals = (Goal("MB", limit=2.0), Goal("MB", "peer", 0.5))
    found = run(Case("c", (heavy, light, wrong), same, (MEGABYTES,), goals, rounds=1))
    assert [s.median(MEGABYTES) for s in found.scores[:2]] == [3.0, 1.5]
    assert found.scores[2].failure == "gave other values than rangeio"
    assert [found.met(g) for g in goals] == [False, True]


def test_the_table_shows_what_a_peer_wins():
    text = table(outcome(rangeio=[0.03], peer=[0.01]))
    assert "0.33" in text
    assert text.count("NOT MET") == 3
    assert to_dict(outcome(rangeio=[0.03], peer=[0.01]))["goals"][0]["met"] is False


def test_hops_are_periods_in_flight():
    gets = [(0.04, 5, 0), (0.05, 6, 5), (0.09, 7, 11)]
    seen = [Seen(0.0, "HEAD", 0, "o", 0), *(Seen(t, "GET", n, "o", at) for t, n, at in gets)]
    assert Counts.of(seen, 0.03) == Counts(hops=3, heads=1, gets=3, bytes=18, twice=0)


def test_a_body_is_in_flight_as_long_as_it_takes():
    gets = [(0.0, 3_000_000), (0.04, 10), (0.0725, 10)]
    seen = [Seen(t, "GET", n, "o", 0) for t, n in gets]
    assert Counts.of(seen, 0.03, 100e6).hops == 2
    assert Counts.of(seen, 0.03).hops == 3


def test_bytes_sent_before_are_counted_as_sent_twice():
    parts = [("a", 0, 100), ("a", 50, 100), ("b", 0, 100), ("a", 60, 10), ("a", 200, 5)]
    seen = [Seen(0.0, "GET", size, key, start) for key, start, size in parts]
    assert Counts.of([*seen, Seen(0.0, "HEAD", 0, "a", 0)], 0.03).twice == 50 + 10


def test_the_server_counts_since_it_was_told_to_forget(tmp_path):
    import http.client

    (tmp_path / "o").write_bytes(bytes(1000))
    with Server(tmp_path) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        for _ in range(2):
            server.forget()
            line.request("GET", "/o", headers={"Range": "bytes=0-99"})
            assert len(line.getresponse().read()) == 100
        line.close()
        assert server.counts() == Counts(hops=1, heads=0, gets=1, bytes=100, twice=0)


def test_the_server_knows_what_it_sent_twice(tmp_path):
    import http.client

    (tmp_path / "o").write_bytes(bytes(1000))
    with Server(tmp_path) as server:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        for span in ("100-199", "150-249", "-100", "960-", "0-9"):
            line.request("GET", "/o", headers={"Range": f"bytes={span}"})
            line.getresponse().read()
        line.close()
        counts = server.counts()
    assert (counts.bytes, counts.twice) == (100 + 100 + 100 + 40 + 10, 50 + 40)
