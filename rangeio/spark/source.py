"""The data source ``rangeio``: what ``pyspark_rangeio`` has to say once it is used."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping

import pyarrow as pa
import pyspark.sql.types as st

from rangeio.datasets.dataset import Dataset
from rangeio.folders import files_below
from rangeio.predicate import Filters
from rangeio.schema import Schema
from rangeio.select import select
from rangeio.spark.filters.filtering import expression
from rangeio.spark.filters.literals import read_conditions
from rangeio.spark.naming import nameless, refuse_others
from rangeio.spark.options import ReadOptions, read_options
from rangeio.spark.reading.finding import listing
from rangeio.spark.reading.listing import Listing
from rangeio.spark.reading.planjob import PLANNING, PlanningReader
from rangeio.spark.reading.reader import FilteringReader, Reader
from rangeio.spark.sessions import session_of
from rangeio.spark.settling import settle
from rangeio.spark.types import spark_schema
from rangeio.spark.writing.options import write_options
from rangeio.spark.writing.parting import Keys
from rangeio.spark.writing.writer import Writer

WIDE = 200
"""Columns from which a read without any projection is warned of."""

ROWS, FILES = "rangeio.rows", "rangeio.files"
"""Metadata by which the Java half learns about how many rows there are, and in how many files."""

_FILTERING = "pyspark.sql.worker.data_source_pushdown_filters"


def inferred(given: Mapping[str, str]) -> st.StructType:
    """The schema of the first file, or of all files with mergeSchema, partition columns last; only
    the asked columns where the options name some. Raises RequestError, and what the files raise."""
    options = read_options(given)
    files = listing(options, session_of(options))
    sample = files.sample()
    known = sample.unified(case_sensitive=False)
    words = None if options.columns is None else [*options.columns, *files.told]
    fields = select(known, words, case_sensitive=False).fields
    told = known.metadata if files.declared is None else files.declared.metadata
    whole = pa.schema([one.arrow for one in fields], metadata=told or None)
    # A column of which only a part is read is not the one that Spark noted.
    parts = [one.name for one in fields if one.type != known[one.name].type]
    found = spark_schema(whole, without=parts)
    if options.statistics and fields:
        found = _with_counts(found, files, sample)
    settle()
    return found


def _with_counts(schema: st.StructType, files: Listing, sample: Dataset) -> st.StructType:
    """As the Java half wants to be told: in the metadata of the first field."""
    # A Lance dataset is planned by its manifest, columns with ids by those of all files.
    alone = files.found.version is not None or _identified(sample.schema)
    told = {FILES: 1 if alone else len(files.files)}
    rows = files.rows(sample)
    if rows is not None:
        told[ROWS] = rows
    first, *others = schema.fields
    # Comments and the like stay; the Java half takes out its own.
    more = {**(first.metadata or {}), **told}
    return st.StructType(
        [st.StructField(first.name, first.dataType, first.nullable, more), *others]
    )


def _identified(schema: Schema) -> bool:
    """Whether a column has an id that its file declares; no column is built where that is known."""
    known = schema.declared
    return any(known) if known is not None else any(one.id_declared for one in schema)


def reader(
    given: Mapping[str, str], schema: st.StructType, *, inferred: bool
) -> Reader | PlanningReader:
    """Reads the columns of ``schema``. inferred: the user named none."""
    options = read_options(given)
    if options.stage == PLANNING:
        return PlanningReader(options)
    if inferred and options.columns is None and not options.by_jar and len(schema) > WIDE:
        warnings.warn(remedy(len(schema)), stacklevel=2)
    kind = FilteringReader if _filtering() else Reader
    return kind(options, schema, _filters(options, schema))


def writer(given: Mapping[str, str], schema: st.StructType, *, overwrite: bool) -> Writer:
    """Writes rows of ``schema``. Raises RequestError for what cannot be written, or not there."""
    options = write_options(given)
    files_below(options.path, options.storage)  # refuses tables
    if nameless(options.format) and (not overwrite or options.dynamic):
        refuse_others(options.path, options.storage, Keys.of(options.keys, schema).left(schema))
    return Writer(options, schema, overwrite=overwrite)


def remedy(columns: int) -> str:
    """What to do about a read of too many columns."""
    return (
        f"rangeio reads all {columns:,} columns: Spark tells a Python data source of no projection."
        ' Name the columns, .option("columns", "a,b") or .schema("a double, b double"), or call'
        " rangeio.spark.enable(spark) once, and Spark's select() is enough"
    )


def _filters(options: ReadOptions, schema: st.StructType) -> Filters | None:
    """Those that :func:`rangeio.spark.read` wrote; the Java half knows of them by its own."""
    if options.filters is None or options.pushed is not None:
        return None
    return expression(read_conditions(options.filters), schema)


def _filtering() -> bool:
    """Whether this is the process in which Spark hands filters down: it starts none where
    spark.sql.python.filterPushdown.enabled is not set."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _FILTERING in sys.modules or getattr(main, "name", None) == _FILTERING
