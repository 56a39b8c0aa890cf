"""Lets Spark find the data source ``rangeio`` by itself: it looks into modules named pyspark_*.

Spark's planner imports this for the first Python data source of any name, so nothing of rangeio is
loaded before one is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceReader, DataSourceWriter
    from pyspark.sql.types import StructType


class DefaultSource(DataSource):
    """``spark.read.format("rangeio")``: see rangeio.spark."""

    inferred = False

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "rangeio"

    def schema(self) -> StructType:
        """What the files hold, as Spark's types."""
        from rangeio.spark.source import inferred

        self.inferred = True  # travels with the source to where the reader is made
        return inferred(self.options)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads the columns of ``schema`` and no others."""
        from rangeio.spark.source import reader

        return reader(self.options, schema, inferred=self.inferred)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Writes files of ``schema``, all visible together."""
        from rangeio.spark.source import writer

        return writer(self.options, schema, overwrite=overwrite)

    def __repr__(self) -> str:
        return "rangeio.DataSource"  # options may hold credentials
