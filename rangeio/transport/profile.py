"""What a store costs, before anything was learnt of it: one profile a kind of store."""

from __future__ import annotations

from dataclasses import dataclass

from rangeio.ranges import Coalescing, CostModel

_KIB = 1 << 10
_MIB = 1 << 20
_GIB = 1 << 30
_HEAD = 512


@dataclass(frozen=True, slots=True)
class Profile:
    """The costs and limits of one kind of store.

    tail: bytes of the first suffix GET of an object of unknown size. small_file: an object of at
    most so many bytes is read whole. in_flight_file, in_flight_process: GETs at once. hedge: a
    second GET may follow a slow first byte, where hedging is on at all. few_bytes: None lets the
    cost model choose between few bytes and few hops of metadata, else it is forced.
    """

    name: str
    cost: CostModel
    tail: int
    small_file: int
    in_flight_file: int = 16
    in_flight_process: int = 64
    hedge: bool = True
    few_bytes: bool | None = None


def _profile(
    name: str,
    latency_s: float,
    mib_per_s: float,
    gap: int,
    span: int,
    tail: int,
    small_file: int,
    at_once: tuple[int, int],
    amplification: float,
    *,
    hedge: bool = True,
) -> Profile:
    coalescing = Coalescing(gap=gap, span=span, amplification=amplification, head=min(gap, _HEAD))
    cost = CostModel(latency_s, mib_per_s * _MIB, at_once[0], coalescing)
    return Profile(name, cost, tail, small_file, at_once[0], at_once[1], hedge)


PROFILES: dict[str, Profile] = {
    one.name: one
    for one in (
        _profile("s3", 0.025, 85, _MIB, 16 * _MIB, 512 * _KIB, 2 * _MIB, (32, 64), 4.0),
        _profile("s3express", 0.01, 85, 256 * _KIB, 8 * _MIB, 256 * _KIB, 2 * _MIB, (32, 64), 3.0),
        _profile("gs", 0.09, 45, 2 * _MIB, 16 * _MIB, _MIB, 2 * _MIB, (32, 64), 4.0),
        _profile("http", 0.08, 20, 256 * _KIB, 8 * _MIB, 256 * _KIB, 2 * _MIB, (24, 32), 2.0),
        _profile(
            "file", 0.0001, 2000, 64 * _KIB, 4 * _MIB, 64 * _KIB, _MIB, (8, 32), 2.0, hedge=False
        ),
        # A read of memory is a slice: nothing is gained by reading more, or by reading it whole.
        _profile("memory", 0.0, 1e6, 0, _GIB, 64 * _KIB, 0, (64, 256), 1.0, hedge=False),
    )
}
"""The profiles by :attr:`rangeio.stores.store.Store.profile`."""
