"""A read of many files, planned by a Spark job: each of its tasks plans some of them.

The Java half runs it before the read itself: a read of this data source, in a stage of its own,
whose rows are plans. It hands them to the reader in a file on the driver's disk.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyspark.sql.types as st
from pyspark.serializers import CPickleSerializer
from pyspark.sql.datasource import DataSourceReader, InputPartition

from rangeio.datasets.finding.manifest import Manifest
from rangeio.datasets.plan import DatasetPlan
from rangeio.datasets.resolving import Resolved
from rangeio.spark.options import ReadOptions
from rangeio.spark.reading.finding import listing
from rangeio.spark.reading.listing import Listing
from rangeio.spark.reading.planning import Wish, planned
from rangeio.spark.sessions import session_of

PLANNING = "plan"
"""The stage of reads whose rows are plans."""

_EACH = 64  # files of a task, at least: beside each other they wait for the store together
_MOST = 1024  # tasks
_LENGTH = struct.Struct(">i")  # as Java writes it


class Chunk(InputPartition):
    """Some of the files."""

    def __init__(self, files: Manifest) -> None:
        super().__init__(None)
        self.files = files


class PlanningReader(DataSourceReader):
    """Reads plans: rows of one column, each of the plan of some files."""

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._declared: pa.Schema | None = None

    def partitions(self) -> list[InputPartition]:
        """List where the driver is; no file is opened."""
        found = listing(self._options, session_of(self._options), wish_of(self._options).schema)
        self._declared = found.declared
        count = len(found.files)
        tasks = max(min(-(-count // _EACH), _MOST), os.cpu_count() or 1)
        cuts = [count * i // tasks for i in range(tasks + 1)]
        ranges = [range(*cut) for cut in pairwise(cuts) if cut[0] < cut[1]]
        return [Chunk(found.files.select(one)) for one in ranges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Plan some files, in a task."""
        if not isinstance(partition, Chunk):  # there are no files
            return
        plan = planned(self._listing(partition.files), wish_of(self._options))
        if plan is not None and plan.parts:
            yield pa.record_batch({"plan": [_carrier().dumps(plan)]}, _SCHEMA)

    def _listing(self, files: Manifest) -> Listing:
        options = self._options
        found = Resolved(files)
        return Listing.of(found, options, session_of(options), self._declared)


def _carrier() -> Any:
    """By which Spark itself carries partitions from one of its processes to another."""
    return CPickleSerializer()  # type: ignore[no-untyped-call]


_SCHEMA = pa.schema([("plan", pa.binary())])


def wish_of(options: ReadOptions) -> Wish:
    """What the query wants whose plans these are."""
    schema = st.StructType.fromJson(json.loads(options.wish or "{}"))
    return Wish(schema, None, options.pushed, options.limit)


def plans_of(path: str) -> list[DatasetPlan]:
    """The plans that the Java half put into a file: each with its length before it."""
    plans = []
    with open(path, "rb") as file:
        while head := file.read(_LENGTH.size):
            (size,) = _LENGTH.unpack(head)
            plans.append(_carrier().loads(file.read(size)))
    return plans


def shares(plans: Sequence[DatasetPlan], count: int) -> list[DatasetPlan]:
    """The plans in about ``count`` parts of as many bytes each."""
    total = sum(plan.bytes for plan in plans) or 1
    return [one for plan in plans for one in plan.split(max(count * plan.bytes // total, 1))]
