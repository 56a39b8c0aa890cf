"""Every scenario, in the order in which ``make bench`` runs them."""

from benchmarks.harness import Scenario
from benchmarks.scenarios.coalescing import Coalescing
from benchmarks.scenarios.decoding import Decoding
from benchmarks.scenarios.transport import Transport
from benchmarks.scenarios.wide import Wide

SCENARIOS: tuple[Scenario, ...] = (Wide(), Decoding(), Transport(), Coalescing())
