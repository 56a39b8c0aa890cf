"""Every scenario, in the order in which ``make bench`` runs them."""

from benchmarks.harness import Scenario
from benchmarks.scenarios.coalescing import Coalescing
from benchmarks.scenarios.datasets import Datasets
from benchmarks.scenarios.decoding import Decoding
from benchmarks.scenarios.doris import Doris
from benchmarks.scenarios.footers import Footers
from benchmarks.scenarios.parquetlocal import ParquetLocal
from benchmarks.scenarios.parquetremote import ParquetRemote
from benchmarks.scenarios.parquetrows import ParquetRows
from benchmarks.scenarios.spark import Spark
from benchmarks.scenarios.transport import Transport
from benchmarks.scenarios.wide import Wide

SCENARIOS: tuple[Scenario, ...] = (
    Wide(),
    Decoding(),
    Footers(),
    Doris(),
    ParquetLocal(),
    ParquetRemote(),
    ParquetRows(),
    Datasets(),
    Spark(),
    Transport(),
    Coalescing(),
)
