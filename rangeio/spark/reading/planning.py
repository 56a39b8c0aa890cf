"""A read of Spark's, planned once where the driver is, and divided among its tasks."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import pyarrow as pa
import pyspark.sql.types as st

from rangeio.datasets.plan import DatasetPlan
from rangeio.errors import RequestError
from rangeio.predicate import Filters
from rangeio.schema import Schema
from rangeio.spark.filters.filtering import usable
from rangeio.spark.filters.pushed import filters_of
from rangeio.spark.reading.listing import Listing
from rangeio.spark.reading.matching import Path, cheapest, matched

TASKS_PER_CORE = 4


@dataclass(frozen=True, slots=True)
class Wish:
    """What a query wants. filters, pushed: they only ever skip, Spark checks again; pushed are
    those of the Java half, in its own words. limit: rows that are enough."""

    schema: st.StructType
    filters: Filters | None = None
    pushed: str | None = None
    limit: int | None = None


def planned(files: Listing, wish: Wish) -> DatasetPlan | None:
    """The plan of all files, whose columns are those of the wish that there are; None: no rows.

    The metadata of each file is read once. Columns are looked up in the first file, and in all of
    them only where it lacks one. Raises what the files raise that the options do not ignore.
    """
    if not len(files.files):
        return None
    files = files.readable()
    if not len(files.files):
        return None
    known, paths = _known(files, wish.schema)
    if not paths:
        return None
    filters = _filters(wish, known, paths)
    if wish.limit is not None and filters is None:
        return _enough(files, wish.schema, wish.limit)
    return _plan(files, paths, filters)


def divided(plan: DatasetPlan, split_bytes: int, cores: int | None = None) -> list[DatasetPlan]:
    """The plan in parts of about as many bytes of the asked columns each.

    One a core, for a task costs more than a small file; more where a part would be larger than
    ``split_bytes``, in multiples of what the cores do at once while these are few. cores: the
    planner cannot see how many the cluster has, and takes those of its own machine.
    """
    return plan.split(tasks(plan.bytes, split_bytes, cores))


def tasks(size: int, split_bytes: int, cores: int | None = None) -> int:
    """How many tasks are to read so many bytes; see :func:`divided`."""
    cores = cores or os.cpu_count() or 1
    wanted = -(-size // split_bytes)
    if cores < wanted <= TASKS_PER_CORE * cores:
        wanted = -(-wanted // cores) * cores
    return max(wanted, cores)


def _known(files: Listing, schema: st.StructType) -> tuple[Schema, tuple[Path, ...]]:
    known = files.only([0]).dataset().schema
    found = matched(schema, known)
    if found.missing and len(files.files) > 1:
        known = files.schema()
        found = matched(schema, known)
    if found.paths:
        return known, found.paths
    # Nothing that there is was asked for: how many rows there are still counts.
    cheap = cheapest(known)
    return known, () if cheap is None else (cheap,)


def _filters(wish: Wish, known: Schema, paths: tuple[Path, ...]) -> Filters | None:
    if wish.pushed is None:
        return usable(wish.filters, known, wish.schema)
    tops = dict.fromkeys(path[0] for path in paths)
    return filters_of(wish.pushed, pa.schema([known[name].arrow for name in tops]))


def _plan(files: Listing, paths: tuple[Path, ...], filters: Filters | None) -> DatasetPlan:
    """Files whose names differ from the paths in case alone have the same columns, as in Spark."""
    dataset, words = files.dataset(), list(paths)
    if filters is None:
        return dataset.plan(words, case_sensitive=False)
    try:
        return dataset.plan(words, filters=filters, case_sensitive=False)
    except RequestError:  # what a filter says fits the first file, not all of them
        return dataset.plan(words, case_sensitive=False)


def _enough(files: Listing, schema: st.StructType, limit: int) -> DatasetPlan | None:
    """Of as many files as have so many rows; no others are opened, so it is they that tell what
    columns there are."""
    some, every = 1, len(files.files)
    while True:
        part = files.only(range(min(some, every)))
        _, paths = _known(part, schema)
        plan = _plan(part, paths, None) if paths else None
        if some >= every or (plan is not None and plan.num_rows >= limit):
            return plan and _cut(plan, limit)
        some *= 4


def _cut(plan: DatasetPlan, limit: int) -> DatasetPlan:
    rows = 0
    for i, part in enumerate(plan.parts):
        if rows >= limit:
            return replace(plan, parts=plan.parts[:i])
        rows += part.file.rows.count
    return plan
