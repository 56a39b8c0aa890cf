"""The only caller of a store: no byte leaves here unchecked, unpinned or without a record."""

from __future__ import annotations

import random

from rangeio.ranges import ByteRange, CostModel, Suffix
from rangeio.transport.clock import Clock
from rangeio.transport.policy import Limits, Policy
from rangeio.transport.source import Received, Source
from rangeio.transport.trace import Trace

__all__ = ["Limits", "Policy", "Received", "Source", "Transport"]


class Transport:
    """Fetches ranges: validated, pinned, retried, bounded in number and in time.

    One a process, used on one loop. ``clock`` and ``rng`` stand in for time and chance in tests.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        policy: Policy | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        raise NotImplementedError

    async def get(
        self,
        source: Source,
        at: ByteRange | Suffix,
        *,
        why: str,
        hop: int,
        trace: Trace,
        into: memoryview | None = None,
        deadline: float | None = None,
        unplanned: bool = False,
    ) -> Received:
        """The bytes of ``at``, of the version that ``source`` is pinned to.

        into: a writable buffer of exactly ``at.size`` bytes to receive them; its content is
        undefined after an error. deadline: seconds that all attempts may take together. A suffix
        longer than the object is the whole object. The first reply sets the source's pin and size.
        Raises StoreError, or BadRows for a range outside the object.
        """
        raise NotImplementedError

    def cost(self, source: Source) -> CostModel:
        """The profile's cost model, its gap moved by what was learnt of the endpoint."""
        raise NotImplementedError

    async def close(self) -> None:
        """Stop its timers; GETs in flight go on."""
        raise NotImplementedError
