"""What the process knows of one endpoint: how fast it is, and how much it bears."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from rangeio.ranges import CostModel
from rangeio.transport.gate import Gate
from rangeio.transport.profile import Profile

_WEIGHT = 0.1
_ENOUGH = 20
_LARGE = 256 << 10
_KEPT = 256
_HEDGE_FLOOR_S = 0.1


class Learnt:
    """Moving averages of the first byte and of the rate of one connection.

    They move the gap of the profile by a quarter to four times, and nothing else.
    """

    __slots__ = ("_rates", "_waits", "bytes_per_s", "first_byte_s", "recent")

    def __init__(self) -> None:
        self.first_byte_s = 0.0
        self.bytes_per_s = 0.0
        self._waits = 0
        self._rates = 0
        self.recent: deque[float] = deque(maxlen=_KEPT)

    def note(self, first_byte_s: float, size: int, body_s: float) -> None:
        """One GET that went well; small bodies tell nothing of the rate."""
        self._waits += 1
        self.first_byte_s += (first_byte_s - self.first_byte_s) * max(_WEIGHT, 1 / self._waits)
        self.recent.append(first_byte_s)
        if size >= _LARGE and body_s > 0.0:
            self._rates += 1
            rate = size / body_s
            self.bytes_per_s += (rate - self.bytes_per_s) * max(_WEIGHT, 1 / self._rates)

    def cost(self, model: CostModel) -> CostModel:
        """``model`` with its gap moved; itself until enough was seen."""
        if self._waits < _ENOUGH or self._rates < _ENOUGH or not model.latency_s:
            return model
        ratio = self.first_byte_s * self.bytes_per_s / (model.latency_s * model.bytes_per_s)
        gap = int(model.coalescing.gap * min(4.0, max(0.25, ratio)))
        return replace(model, coalescing=replace(model.coalescing, gap=gap))

    def late(self) -> float | None:
        """Seconds after which a first byte is late: the 95th percentile, at least twice the
        median and 100 ms; None until enough was seen."""
        if len(self.recent) < _ENOUGH:
            return None
        ordered = sorted(self.recent)
        median, p95 = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]
        return max(p95, 2 * median, _HEDGE_FLOOR_S)


class Endpoint:
    """The limit in flight of one endpoint: halved when it asks to slow down, then regained."""

    __slots__ = ("_allowed", "_most", "_round", "gate", "hedges", "learnt", "requests")

    def __init__(self, profile: Profile) -> None:
        self._most = profile.in_flight_process
        self._allowed = float(self._most)
        self._round = 0
        self.gate = Gate(self._most)
        self.learnt = Learnt()
        self.requests = 0
        self.hedges = 0

    def begin(self) -> int:
        """Count a GET; returns the round it belongs to, for :meth:`slow_down`."""
        self.requests += 1
        return self._round

    def slow_down(self, begun: int) -> None:
        """Halve the limit: once for all the GETs that were in flight together."""
        if begun != self._round:
            return
        self._round += 1
        self._allowed = max(1.0, min(self._allowed, self.gate.held) / 2)
        self.gate.limit = int(self._allowed)

    def went_well(self) -> None:
        """Regain one place for each full round of replies."""
        if self._allowed < self._most:
            self._allowed = min(float(self._most), self._allowed + 1 / self._allowed)
            if int(self._allowed) != self.gate.limit:
                self.gate.limit = int(self._allowed)
                self.gate.admit()

    def hedge(self, share: float) -> bool:
        """Take a place for an extra GET, if that stays within ``share`` of all GETs and nobody has
        to wait for it; the caller gives it back."""
        if self.hedges + 1 > share * self.requests or not self.gate.enter_now():
            return False
        self.hedges += 1
        return True
