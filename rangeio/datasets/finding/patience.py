"""Listings that are asked for again where the store failed for the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rangeio.errors import StoreError, TimedOut
from rangeio.stores.store import Listed, Lister, Page
from rangeio.transport.budget import RetryBudget
from rangeio.transport.policy import Policy

T = TypeVar("T")


class Patient:
    """A lister whose single requests are tried again, as the transport's policy says for GETs.

    gate, budget: shared by all listers of one look-up.
    """

    def __init__(
        self, lister: Lister, policy: Policy, budget: RetryBudget, gate: asyncio.Semaphore
    ) -> None:
        self._lister = lister
        # A page is soon told; a folder that comes whole may be a large one.
        self._most_s = policy.first_byte_s if lister.deep else policy.total_s
        self._budget, self._gate = budget, gate
        self.deep = lister.deep

    async def list(self, folder: str, after: str = "", *, deep: bool = False) -> Page:
        """One page."""
        return await self._tried(lambda: self._lister.list(folder, after, deep=deep))

    async def look(self, key: str) -> Listed | None:
        """The object of exactly this name."""
        return await self._tried(lambda: self._lister.look(key))

    async def _tried(self, ask: Callable[[], Awaitable[T]]) -> T:
        attempts = 0
        while True:
            attempts += 1
            failure: StoreError
            try:
                async with self._gate, asyncio.timeout(self._most_s):
                    told = await ask()
            except StoreError as error:
                failure = error
            except TimeoutError:
                failure = TimedOut("no listing came in time")
            else:
                self._budget.earn()
                return told
            delay = self._budget.delay(failure, attempts)
            if delay is None:
                failure.attempts = attempts
                raise failure
            await asyncio.sleep(delay)
