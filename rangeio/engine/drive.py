"""The blocking driver: it serves bytes, maps and tests; the real one is in ``engine.run``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rangeio.steps import Need, Steps

T = TypeVar("T")


def drive(
    steps: Steps[T], fetch: Callable[[Need], Sequence[memoryview]], asked: Need | None = None
) -> T:
    """Advance ``steps`` to its end, answering every need with ``fetch``.

    An error of ``fetch`` is thrown into the generator, so its traceback shows the asking line.
    asked: the first need, of steps that have stated it already.
    """
    try:
        if asked is None:
            asked = next(steps)
        while True:
            try:
                reply = fetch(asked)
            except Exception as error:
                asked = steps.throw(error)
            else:
                asked = steps.send(reply)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        steps.close()
