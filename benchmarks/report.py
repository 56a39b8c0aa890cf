"""Outcomes as a table on the terminal, as JSON, and as a chart."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from benchmarks.harness import OURS, Bound, Goal, Metric, Outcome, Score

PEERS = (
    "pylance",
    "pyarrow",
    "polars",
    "arro3-io",
    "obstore",
    "s3fs",
    "aiohttp",
    "numpy",
    "fsspec",
)


def table(outcome: Outcome) -> str:
    """One case: a line a contestant, then its goals. ``x`` is how far rangeio is ahead."""
    metrics = outcome.case.metrics
    counted = any(s.counts for s in outcome.scores)
    head = ["", *(h for m in metrics for h in (m.unit, "min-max", "x"))]
    head += ["hops", "HEAD", "GET", "bytes", "twice"] if counted else []
    rows = [head, *(_row(outcome, score, counted) for score in outcome.scores)]
    widths = [max(len(r[i]) for r in rows if len(r) > i) for i in range(len(head))]
    lines = [f"{outcome.case.name} ({outcome.case.rounds} rounds)"]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=False)]
        lines.append("  " + "  ".join(cells).rstrip())
    lines += [f"  {s.name} failed: {s.failure}" for s in outcome.scores if s.failure]
    return "\n".join([*lines, *(f"  {line}" for line in _goals(outcome))])


def _row(outcome: Outcome, score: Score, counted: bool) -> list[str]:
    if score.failure or not score.rounds:
        return [score.name]
    cells = [score.name]
    for metric in outcome.case.metrics:
        low, high = score.span(metric)
        edge = outcome.edge(score, metric)
        cells += [figure(score.median(metric)), f"{figure(low)}-{figure(high)}"]
        cells.append("" if edge is None else f"{edge:.2f}")
    if counted:
        c = score.counts
        cells += [f"{n:,}" for n in (c.hops, c.heads, c.gets, c.bytes, c.twice)] if c else [""] * 5
    return cells


def figure(value: float) -> str:
    """A value in three or so digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _goals(outcome: Outcome) -> Iterator[str]:
    for goal in outcome.case.goals:
        met = outcome.met(goal)
        yield f"{'no figure' if met is None else 'met' if met else 'NOT MET'}: {words(goal)}"


def words(goal: Goal | Bound) -> str:
    """A goal in words."""
    if isinstance(goal, Bound):
        return goal.words
    if goal.limit is not None:
        return f"{goal.metric} <= {goal.limit:g}"
    return f"{goal.metric} at least {goal.factor:g}x as good as {goal.peer}"


def to_dict(outcome: Outcome) -> dict[str, object]:
    """All of a case, its single rounds included."""
    return {
        "case": outcome.case.name,
        "contestants": [_scored(outcome, score) for score in outcome.scores],
        "goals": [{"goal": words(g), "met": outcome.met(g)} for g in outcome.case.goals],
    }


def _scored(outcome: Outcome, score: Score) -> dict[str, object]:
    figures: dict[str, object] = {}
    for metric in outcome.case.metrics if score.rounds and not score.failure else ():
        low, high = score.span(metric)
        edge = outcome.edge(score, metric)
        figures[metric.unit] = {
            "median": score.median(metric),
            "min": low,
            "max": high,
            "edge": edge,
        }
    return {
        "name": score.name,
        "failure": score.failure or None,
        "figures": figures,
        "counts": asdict(score.counts) if score.counts else None,
        "rounds": [asdict(r) for r in score.rounds],
    }


def machine() -> dict[str, object]:
    """What the figures depend on."""
    known = {d.metadata["Name"].lower(): d.version for d in metadata.distributions()}
    return {
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "cores": os.cpu_count(),
        "versions": {name: known[name] for name in (OURS, *PEERS) if name in known},
    }


def save(folder: Path, name: str, title: str, outcomes: Sequence[Outcome]) -> None:
    """``name``.json and, where matplotlib is there, ``name``.png."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {"title": title, "machine": machine(), "cases": [to_dict(o) for o in outcomes]}
    (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    try:
        _chart(folder / f"{name}.png", title, outcomes)
    except ImportError:
        print("no chart: matplotlib is not installed")


def _chart(path: Path, title: str, outcomes: Sequence[Outcome]) -> None:
    """Bars of the first metric of every case, peers that win included."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    heights = [0.6 + 0.3 * len(o.scores) for o in outcomes]
    figure_, axes = plt.subplots(
        len(outcomes),
        figsize=(9, 0.8 + sum(heights)),
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
        layout="constrained",
    )
    figure_.suptitle(title)
    for ax, outcome in zip(axes[:, 0], outcomes, strict=True):
        _bars(ax, outcome, outcome.case.metrics[0])
    figure_.savefig(path, dpi=120)
    plt.close(figure_)


def _bars(ax: object, outcome: Outcome, metric: Metric) -> None:
    from matplotlib.axes import Axes

    assert isinstance(ax, Axes)
    scores = [s for s in outcome.scores if s.rounds and not s.failure][::-1]
    middle = [s.median(metric) for s in scores]
    low = [m - s.span(metric)[0] for m, s in zip(middle, scores, strict=True)]
    high = [s.span(metric)[1] - m for m, s in zip(middle, scores, strict=True)]
    colors = ["#c44e52" if s.name == OURS else "#8c8c8c" for s in scores]
    ax.barh([s.name for s in scores], middle, xerr=[low, high], color=colors, ecolor="#444444")
    better = "more" if metric.more else "less"
    ax.set_title(f"{outcome.case.name}: {metric.unit}, {better} is better", fontsize=9, loc="left")
    ax.tick_params(labelsize=8)
