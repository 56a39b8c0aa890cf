"""How often, and how soon, something is tried again."""

from __future__ import annotations

import random

from rangeio.errors import StoreError
from rangeio.transport.policy import Policy


class RetryBudget:
    """Tokens that all retries of the process share, so that a failing store is not stormed."""

    __slots__ = ("_policy", "_rng", "tokens")

    def __init__(self, policy: Policy, rng: random.Random) -> None:
        self._policy = policy
        self._rng = rng
        self.tokens = policy.tokens

    def earn(self) -> None:
        """A reply came: part of a token comes back."""
        if self.tokens < self._policy.tokens:
            self.tokens = min(self._policy.tokens, self.tokens + self._policy.refill)

    def delay(self, error: StoreError, attempts: int) -> float | None:
        """Seconds to wait before the next attempt; None: there is none.

        A random part of a doubling backoff, but no less than the server asked for, within bounds.
        """
        policy = self._policy
        if not error.transient or attempts >= policy.attempts or self.tokens < 1.0:
            return None
        self.tokens -= 1.0
        most = min(policy.backoff_cap_s, policy.backoff_s * 2.0 ** (attempts - 1))
        asked = min(error.retry_after or 0.0, policy.retry_after_s)
        return max(self._rng.uniform(0.0, most), asked)
