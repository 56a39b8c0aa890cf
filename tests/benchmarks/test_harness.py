"""The harness takes turns, compares values, and reckons ratios the right way round."""

from contextlib import contextmanager

import pytest

from benchmarks.harness import Case, Contestant, Goal, Metric, Outcome, Round, Score, run
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


def test_the_table_shows_what_a_peer_wins():
    text = table(outcome(rangeio=[0.03], peer=[0.01]))
    assert "0.33" in text
    assert text.count("NOT MET") == 3
    assert to_dict(outcome(rangeio=[0.03], peer=[0.01]))["goals"][0]["met"] is False


def test_hops_are_periods_in_flight():
    seen = [Seen(0.0, "HEAD", 0), Seen(0.04, "GET", 5), Seen(0.05, "GET", 6), Seen(0.09, "GET", 7)]
    assert Counts.of(seen, 0.03) == Counts(hops=3, heads=1, gets=3, bytes=18)


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
        assert server.counts() == Counts(hops=1, heads=0, gets=1, bytes=100)
