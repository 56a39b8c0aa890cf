"""What Spark asks for the partitions of a read, and sends to its workers to read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyspark.sql.types as st
from pyspark.sql.datasource import DataSourceReader, InputPartition

from rangeio.datasets.plan import DatasetPlan
from rangeio.predicate import Filters
from rangeio.spark.options import ReadOptions
from rangeio.spark.reading.carrying import batches
from rangeio.spark.reading.finding import listing
from rangeio.spark.reading.planjob import plans_of, shares
from rangeio.spark.reading.planning import Wish, divided, planned, tasks
from rangeio.spark.sessions import session_of
from rangeio.spark.settling import settle
from rangeio.spark.types import arrow_schema


class Split(InputPartition):
    """The part of the plan that one task carries out. It holds no listing and no footer."""

    def __init__(self, plan: DatasetPlan) -> None:
        super().__init__(None)
        self.plan = plan

    def __repr__(self) -> str:
        return f"Split({self.plan!r})"


class Reader(DataSourceReader):
    """Reads the columns of one schema. It travels to the workers, its plan does not."""

    def __init__(
        self, options: ReadOptions, schema: st.StructType, filters: Filters | None = None
    ) -> None:
        self._options = options
        self._schema = schema
        self._filters = filters

    def partitions(self) -> list[InputPartition]:
        """List and plan, where the driver is; nothing of the data is read. May be none at all."""
        found = self._splits()
        settle()
        return found

    def _splits(self) -> list[InputPartition]:
        options = self._options
        arrow_schema(self._schema)  # or every task would fail of it
        if options.plans is not None:
            plans = plans_of(options.plans)
            count = tasks(sum(one.bytes for one in plans), options.split_bytes)
            return [Split(one) for one in shares(plans, count)]
        files = listing(options, session_of(options), self._schema)
        wish = Wish(self._schema, self._filters, options.pushed, options.limit)
        plan = planned(files, wish)
        if plan is None or not plan.parts:
            return []
        return [Split(one) for one in divided(plan, options.split_bytes)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Carry out a part of the plan in a worker, without reading any metadata."""
        if not isinstance(partition, Split):  # what Spark makes where there are no partitions
            return iter(())
        return batches(partition.plan, arrow_schema(self._schema), self._options)

    def __repr__(self) -> str:
        return f"Reader({len(self._schema)} columns)"


class FilteringReader(Reader):
    """The same where Spark hands filters down, as it does from 4.1 on where
    spark.sql.python.filterPushdown.enabled is set; where it is not, Spark refuses such a reader."""

    def pushFilters(self, filters: list[object]) -> Iterable[object]:  # type: ignore[override]  # noqa: N802
        """Take what can skip something, and leave all to Spark to check."""
        from rangeio.spark.filters.handed import conditions

        found = conditions(filters)
        if found and self._filters is None:
            from rangeio.spark.filters.filtering import expression

            self._filters = expression([found], self._schema)
        return filters
