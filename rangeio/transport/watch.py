"""One timer that sees to it that nothing hangs, instead of one a GET."""

from __future__ import annotations

from rangeio.transport.clock import Clock, Timer
from rangeio.transport.flight import NEVER, Flight
from rangeio.transport.policy import Policy


class Watch:
    """Interrupts each flight whose time is over, within a few milliseconds of that moment.

    A body is given time anew as long as it brings enough bytes in each window.
    """

    __slots__ = ("_clock", "_flights", "_next", "_policy", "_timer")

    def __init__(self, clock: Clock, policy: Policy) -> None:
        self._clock = clock
        self._policy = policy
        self._flights: set[Flight] = set()
        self._timer: Timer | None = None
        self._next = NEVER

    def __len__(self) -> int:
        return len(self._flights)

    def add(self, flight: Flight) -> None:
        """Watch a flight until it is dropped."""
        self._flights.add(flight)
        if flight.due < self._next:
            self._set(flight.due)

    def drop(self, flight: Flight) -> None:
        """Watch it no longer."""
        self._flights.discard(flight)

    def allow(self, flight: Flight, seconds: float, reason: str) -> None:
        """Give a flight ``seconds`` for its next phase."""
        flight.allow(self._clock.now() + seconds, reason)
        if flight.due < self._next:
            self._set(flight.due)

    def body(self, flight: Flight, now: float) -> None:
        """Watch the pace of a body from now on."""
        flight.allow(now + self._policy.stall_s, "the body came too slowly, or stopped coming")
        flight.mark = flight.wired
        if flight.due < self._next:
            self._set(flight.due)

    def stop(self) -> None:
        """Forget the timer."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._next = None, NEVER

    def _set(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = due
        self._timer = self._clock.call_later(max(0.0, due - self._clock.now()), self._sweep)

    def _sweep(self) -> None:
        self._timer, self._next = None, NEVER
        now = self._clock.now()
        for flight in self._flights:
            # An interrupted flight is on its way out; interrupting it again would hit its cleanup.
            if flight.due <= now and not flight.late:
                self._judge(flight, now)
        due = min((f.due for f in self._flights if not f.late), default=NEVER)
        if due != NEVER:
            self._set(due)

    def _judge(self, flight: Flight, now: float) -> None:
        enough = self._policy.stall_s * self._policy.stall_bytes_per_s
        if flight.mark >= 0 and now < flight.end and flight.wired - flight.mark >= max(1, enough):
            self.body(flight, now)
        else:
            flight.expire()
