"""Queries of one Spark session, by rangeio and by Spark's own reader of Parquet."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.ground import cache
from benchmarks.harness import Fresh

Query = Callable[[Any, Sequence[str], Sequence[str]], Any]
"""Of a session, paths and columns: a DataFrame of them."""

HADOOP_AWS = "RANGEIO_BENCH_HADOOP_AWS"
"""Names a folder with hadoop-aws and what it needs, for s3a."""

_CONF = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
}


def lacking() -> str:
    """What is missing for Spark, or nothing."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed"
    return "" if shutil.which("java") or os.environ.get("JAVA_HOME") else "there is no Java"


def s3a_jars() -> str:
    """The folder with the jars of s3a, or nothing."""
    return os.environ.get(HADOOP_AWS, "")


@contextmanager
def session(endpoint: str = "") -> Iterator[Any]:
    """local[2], with rangeio's jar, and with s3a where there is an endpoint."""
    from pyspark.sql import SparkSession

    import rangeio.spark

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    builder = SparkSession.builder.master("local[2]").appName("rangeio benchmarks")
    # The JVM begins with the first session, whatever that one reads.
    jars = {"spark.driver.extraClassPath": f"{s3a_jars()}/*"} if s3a_jars() else {}
    for name, value in {**_CONF, **jars, **(_s3a(endpoint) if endpoint else {})}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        pruning = rangeio.spark.enable(spark)
        if pruning.mode != "automatic":
            print(f"without the jar: {pruning.reason}", flush=True)
        yield spark
    finally:
        spark.stop()


def _s3a(endpoint: str) -> dict[str, str]:
    return {
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.access.key": "key",
        "spark.hadoop.fs.s3a.secret.key": "secret",
    }


def sums(
    spark: Any, query: Query, fresh: Callable[[], Sequence[str]], asked: Sequence[str]
) -> Fresh:
    """The sums of two columns over files that no round has seen before, or has."""

    @contextmanager
    def made() -> Iterator[Callable[[], object]]:
        paths = fresh()

        def run() -> list[float]:
            from pyspark.sql import functions as sf

            frame = query(spark, paths, asked)
            (row,) = frame.select(*(sf.sum(name) for name in asked)).collect()
            return [round(one, 6) for one in row]

        yield run

    return made


def links(files: Sequence[Path]) -> Callable[[], Sequence[str]]:
    """Makes a folder of links to the files, another one each time: as new to every cache."""
    root = Path(tempfile.mkdtemp(prefix="spark-", dir=cache()))
    turns = count()

    def fresh() -> Sequence[str]:
        folder = root / str(next(turns))
        folder.mkdir()
        for file in files:
            (folder / file.name).hardlink_to(file)
        return [str(folder)]

    return fresh


def drop_links() -> None:
    """Remove all such folders."""
    for one in cache().glob("spark-*"):
        shutil.rmtree(one)


def by_select(options: dict[str, str]) -> Query:
    """rangeio, whose columns Spark's own ``select`` decides."""
    return lambda spark, paths, asked: (
        spark.read.format("rangeio").options(**options).load(list(paths))
    )


def by_columns(options: dict[str, object]) -> Query:
    """rangeio, with the columns named."""

    def query(spark: Any, paths: Sequence[str], asked: Sequence[str]) -> Any:
        import rangeio.spark

        return rangeio.spark.read(spark, paths, asked, storage_options=options or None)

    return query


def by_schema(options: dict[str, str]) -> Query:
    """rangeio, told the columns."""
    return lambda spark, paths, asked: (
        spark.read.format("rangeio").schema(_ddl(asked)).options(**options).load(list(paths))
    )


def _ddl(asked: Sequence[str]) -> str:
    return ", ".join(f"`{name}` double" for name in asked)


def parquet(spark: Any, paths: Sequence[str], asked: Sequence[str]) -> Any:
    """Spark's own reader, its schema inferred."""
    return spark.read.parquet(*paths)


def parquet_given(spark: Any, paths: Sequence[str], asked: Sequence[str]) -> Any:
    """Spark's own reader, told the columns."""
    return spark.read.schema(_ddl(asked)).parquet(*paths)
