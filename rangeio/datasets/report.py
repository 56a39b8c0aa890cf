"""How far long work on many files is: to a callable, or on a terminal where somebody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rangeio.datasets.policy import Progress
from rangeio.errors import RequestError

_SAID: list[bool] = []


@contextmanager
def progress_of(told: bool | Callable[[int, int], object], verb: str) -> Iterator[Progress | None]:
    """What is to be called with the files that are done and with all, 0 where that is not known."""
    if told is False or told is None or (told is True and not sys.stderr.isatty()):
        yield None
    elif told is True:
        yield from _shown(verb)
    elif callable(told):
        yield told
    else:
        raise RequestError(f"progress is True, False or a callable, not {told!r}")


def _shown(verb: str) -> Iterator[Progress | None]:
    """A bar on stderr; without rich, once, why there is none."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
    except ImportError:
        if not _SAID:
            _SAID.append(True)
            print("rangeio: no progress is shown without rich: pip install 'rangeio[cli]'",
                  file=sys.stderr)  # fmt: skip
        yield None
        return
    columns = (TextColumn(verb), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(verb, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)
