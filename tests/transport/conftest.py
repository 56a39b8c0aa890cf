from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

import pytest
from trips import LARGE, SMALL, Trips

from rangeio.testing.server import RangeServer

T = TypeVar("T")


@pytest.fixture
def server() -> Iterator[RangeServer]:
    with RangeServer({"small": SMALL, "large": LARGE, "empty": b""}) as server:
        yield server


@pytest.fixture
def trips(server: RangeServer) -> Trips:
    return Trips(server)


@pytest.fixture
def run() -> Callable[[Callable[[], Coroutine[None, None, T]]], T]:
    def runs(main: Callable[[], Coroutine[None, None, T]]) -> T:
        return asyncio.run(main())

    return runs
