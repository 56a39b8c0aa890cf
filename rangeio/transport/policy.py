"""How patient the transport is, and how many GETs it has in flight."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """GETs in flight over all files of the process; profiles may ask for less, per file too."""

    in_flight: int = 64
    in_flight_file: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Retries, deadlines, hedging.

    attempts: GETs for one range, the first included. backoff_s doubles up to backoff_cap_s, of
    which a random part is waited. retry_after_s: the longest Retry-After that is honoured; one
    that asks for more is taken for this long. tokens: retries that all files of a session may spend
    at once; each reply earns back refill of one.
    first_byte_s: until the head of a reply. stall_s, stall_bytes_per_s: a body slower than this
    over that window is given up. total_s: all attempts, waits and queues of one range.
    hedge: send a second GET where the first byte is late and the store's profile agrees.
    deterministic: what is learnt of a store changes nothing.
    """

    attempts: int = 6
    backoff_s: float = 0.1
    backoff_cap_s: float = 10.0
    retry_after_s: float = 60.0
    tokens: float = 100.0
    refill: float = 0.1
    first_byte_s: float = 30.0
    stall_s: float = 10.0
    stall_bytes_per_s: float = 1024.0
    total_s: float = 300.0
    hedge: bool = False
    hedge_share: float = 0.05
    deterministic: bool = False
