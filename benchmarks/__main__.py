"""``python -m benchmarks [--only NAME] [--full]``: run scenarios, print them, keep them."""

from __future__ import annotations

import argparse
from dataclasses import replace

from benchmarks.ground import OUT, Ground
from benchmarks.harness import Outcome, Scenario, run
from benchmarks.report import save, table
from benchmarks.scenarios import SCENARIOS


def main() -> int:
    """0 where all contestants gave equal values, else 1. Goals and defeats change nothing."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [one.name for one in SCENARIOS]
    parser.add_argument("--only", choices=names, action="append", metavar="NAME", help=str(names))
    parser.add_argument("--full", action="store_true", help="the large files; minutes to write")
    parser.add_argument("--rounds", type=int, help="instead of each case's own number")
    parser.add_argument("--match", default="", help="only cases whose name holds this")
    args = parser.parse_args()
    ground = Ground(full=args.full, rounds=args.rounds)
    failed = False
    for scenario in SCENARIOS:
        if args.only and scenario.name not in args.only:
            continue
        outcomes = _perform(scenario, ground, args.match)
        if outcomes:
            save(OUT, scenario.name, scenario.title, outcomes)
        failed |= any(score.failure for o in outcomes for score in o.scores)
    print(f"\nx: how many times as good rangeio is, by medians. Figures and charts: {OUT.name}/")
    return int(failed)


def _perform(scenario: Scenario, ground: Ground, match: str) -> list[Outcome]:
    print(f"\n{scenario.title}")
    outcomes = []
    for case in scenario.prepare(ground):
        if match in case.name:
            chosen = case if ground.rounds is None else replace(case, rounds=ground.rounds)
            outcomes.append(run(chosen))
            print(f"\n{table(outcomes[-1])}", flush=True)
    return outcomes


if __name__ == "__main__":
    raise SystemExit(main())
