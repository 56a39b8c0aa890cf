"""One piece of work for each of many files, divided among the tasks of a Spark job."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import pyarrow as pa

from rangeio.errors import RangeIOError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

COLUMNS = "file string, status string, bytes long, seconds double, error string"
"""What is told of each file; seconds: from its begin to its end, in the task that did it."""

_LEAST, _EACH = 64, 4  # tasks, and tasks for each core: small ones are soon repeated


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one file. file: for people, redacted. note: for whoever ran the job."""

    file: str
    status: str
    bytes: int = 0
    seconds: float = 0.0
    error: str | None = None
    note: str | None = None


@dataclass(frozen=True)
class _Shares(Generic[T]):
    """What the tasks run: the row that a task is given says which share is its own. Picklable."""

    work: Callable[[T], Told]
    shares: Sequence[Sequence[tuple[int, T]]]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                for place, item in self.shares[task]:
                    yield _batch(place, self.work(item))


def carried_out(spark: SparkSession, work: Callable[[T], Told], items: Sequence[T]) -> list[Told]:
    """``work`` on every item, as one Spark job, and what became of each in the order of the items.

    It may run twice on an item, in two processes at once too. What it raises fails its task, which
    Spark repeats; a file that cannot be read is to be told instead, see :func:`attempted`.
    """
    if not items:
        return []
    tasks = min(len(items), max(_LEAST, _EACH * _cores(spark)))
    shares = [list(enumerate(items))[i::tasks] for i in range(tasks)]
    rows = spark.range(0, tasks, 1, tasks).mapInArrow(_Shares(work, shares), _WIRE)
    found = sorted(rows.collect(), key=lambda row: int(row["place"]))
    return [Told(*(row[name] for name in _NAMES)) for row in found]


def report(spark: SparkSession, told: Iterable[Told]) -> DataFrame:
    """What became of each file, as a DataFrame: nothing is done again when it is used."""
    rows = [(one.file, one.status, one.bytes, one.seconds, one.error) for one in told]
    return spark.createDataFrame(rows, COLUMNS)


def attempted(file: str, work: Callable[[], Told]) -> Told:
    """What ``work`` tells, with its seconds; a RangeIOError is told as the status "failed"."""
    begun = time.perf_counter()
    try:
        found = work()
    except RangeIOError as error:
        found = Told(file, "failed", error=str(error))
    seconds = time.perf_counter() - begun
    return Told(found.file, found.status, found.bytes, seconds, found.error, found.note)


_NAMES = ("file", "status", "bytes", "seconds", "error", "note")
_WIRE = f"place long, {COLUMNS}, note string"
_ARROW = pa.schema(
    [
        ("place", pa.int64()),
        ("file", pa.string()),
        ("status", pa.string()),
        ("bytes", pa.int64()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
        ("note", pa.string()),
    ]
)


def _batch(place: int, told: Told) -> pa.RecordBatch:
    row = {"place": place, **{name: getattr(told, name) for name in _NAMES}}
    return pa.RecordBatch.from_pylist([row], schema=_ARROW)


def _cores(spark: SparkSession) -> int:
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # Connect has no context to ask
        return 1
