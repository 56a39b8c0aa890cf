"""rangeio as a data source of Spark: ``spark.read.format("rangeio").load("s3://...")``.

Needs ``rangeio[spark]`` where the driver and the workers run. All of it works in Spark Connect too.

Options, as those of Spark's own sources: path, paths (a JSON list), pathGlobFilter,
recursiveFileLookup, basePath, modifiedAfter and modifiedBefore (as stores list it), timeZone (of
such times that name none), mergeSchema, ignoreCorruptFiles, ignoreMissingFiles. And:

- columns: those of the inferred schema: names with commas between them, or a JSON list, in which a
  list is a path.
- includeFilePath: the name of a column that holds each row's file.
- format: of all files, where it is not to be sniffed.
- storage.*: fsspec's options, ``storage.key``; JSON where they are not text. Names are lower-cased
  by Spark. The settings ``spark.hadoop.fs.s3a.*`` are not seen by Python.
- concurrency: GETs at once, of one worker.
- cacheDir: a folder of each executor's disk, in which its workers share what they fetched, and
  cacheBytes: how much may lie there, 10 GiB. Without cacheDir: of each worker's cache in memory.
- fileSchema: the columns of files that carry no names (segments of Doris), as ``df.schema.json()``;
  what ``df.write`` wrote tells its own.
- splitBytes: of the asked columns in one task, at most about; 64 MiB. There is at least a task for
  each core of the machine that plans, where there is as much to divide.

Columns of Spark's schema are found by name, in any case where none has its own; what no file has
is null. A file's times in nanoseconds are cut to microseconds. INT96 is an instant where Spark
wrote the file, and without a zone where others did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from rangeio.spark.enabling import Pruning
    from rangeio.spark.jobs.naming import Named

__all__ = ["convert", "enable", "jar_path", "read", "verify"]


def read(
    spark: SparkSession,
    url: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    columns: str | Sequence[str | tuple[str, ...]] | None = None,
    filters: Any = None,
    *,
    storage_options: Mapping[str, object] | None = None,
    **options: Any,
) -> DataFrame:
    """The asked columns and rows of one or many files as a DataFrame.

    Args:
        url: a path or url of a file, a directory or a glob, or a list of them.
        columns: names, dotted paths, globs, or tuples of names, which are paths; None: all.
        filters: the lists of pyarrow and pandas, ``[("a", ">", 5)]``; a column is a name, else a
            dotted path, or a tuple. They skip what cannot match, and Spark applies them as its own
            ``where``. A time without a zone is a local time to a column of such, else one of the
            session's zone.
        storage_options: fsspec's.
        options: any of the data source's, ``mergeSchema=True``.

    Nothing but metadata is read before the DataFrame is used. Raises RequestError for words that
    make no sense, and Spark's own errors for what the planner finds.
    """
    from rangeio.spark.frame import frame

    return frame(spark, url, columns, filters, storage_options, options)


def enable(spark: SparkSession) -> Pruning:
    """Let Spark's own ``select``, ``where`` and ``limit`` decide what is read. Once a session.

    Loads a small Java class into it. The result says "automatic", or "manual" with the reason why
    columns must be named (:func:`read`, ``.schema()`` or the option columns). Never raises for a
    session that takes no classes.
    """
    from rangeio.spark.enabling import enabled

    return enabled(spark)


def jar_path() -> Path:
    """The jar, for ``--jars`` and ``spark.jars``. Raises RequestError where there is none."""
    from rangeio.spark.jar import jar_path

    return jar_path()


def convert(
    spark: SparkSession,
    src: Named,
    dst: str | os.PathLike[str],
    *,
    format: str = "parquet",  # noqa: A002 - as in rangeio.convert
    columns: Sequence[str] | None = None,
    filters: Any = None,
    overwrite: bool = False,
    source_options: Mapping[str, object] | None = None,
    storage_options: Mapping[str, object] | None = None,
    **options: object,
) -> DataFrame:
    """Each file of a folder as a file of another format in another folder, by a Spark job.

    Each file keeps its name but for the suffix, and appears whole or not at all. May be run again,
    after any failure too: what is there already, made of the same version of the same file in the
    same way, is kept. Tasks may be repeated, and run twice at once.

    Args:
        src: a path or url of a directory, a file or a glob, or a list of them.
        dst: the folder, neither below the source nor above it. Empty files in
            ``_rangeio_converted/`` in it say what was made of what.
        format: of the new files, "parquet" or "doris", with its ``options``, see
            :func:`rangeio.write`.
        columns, filters: as in :func:`rangeio.convert`; conditions on what the names of folders
            tell choose among the files.
        overwrite: also replace files that no conversion made.
        source_options, storage_options: fsspec's, for ``src`` and for ``dst``.

    Returns: a DataFrame that is computed already, a row a file: file, status ("converted", "kept"
    or "failed"), bytes (of the new file), seconds, error. Raises RequestError for words that make
    no sense, and StoreError where a folder cannot be listed.
    """
    from rangeio.spark.jobs.converting import Job, converted
    from rangeio.spark.jobs.naming import absolute, urls_of

    reads = {"columns": columns, "filters": filters}
    chosen = {name: value for name, value in reads.items() if value is not None}
    (to,) = map(absolute, urls_of(dst))
    job = Job(to, format.lower(), chosen, options, overwrite, source_options, storage_options)
    return converted(spark, src, job)


def verify(
    spark: SparkSession,
    url: Named,
    *,
    against: Named | None = None,
    storage_options: Mapping[str, object] | None = None,
    against_options: Mapping[str, object] | None = None,
) -> DataFrame:
    """Read every value of every file of a folder, with all checks, by a Spark job.

    Args:
        url: a path or url of a directory, a file or a glob, or a list of them.
        against: the same for files to compare with, row by row: those that ``url`` was converted
            from. A file is compared with the one of its name, suffixes apart.
        storage_options, against_options: fsspec's.

    Returns: a DataFrame that is computed already, a row a file: file, status ("ok" or "failed"),
    bytes (of the file), seconds, error.
    """
    from rangeio.spark.jobs.verifying import Check, verified

    check = Check(against is not None, storage_options, against_options)
    return verified(spark, url, against, check)
