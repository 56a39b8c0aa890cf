"""Read a lake, convert its files, verify them, and sum a column of what was made: by Spark.

    spark-submit examples/spark_pipeline.py LAKE TARGET [--format doris] [--column NAME]
                                            [--option KEY=VALUE ...]

LAKE is a folder, a glob or a file on any store; TARGET a folder. An option is one of fsspec, for
both. May be run again: what was converted before is kept. Ends with 1 where a file failed.
"""

import argparse
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import rangeio.spark


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lake")
    parser.add_argument("target")
    parser.add_argument("--format", default="doris", choices=["doris", "parquet"])
    parser.add_argument("--column", default="id")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    return parser.parse_args()


def told(step: str, files: DataFrame) -> int:
    """Print how many files came to what, and what failed; returns how many did."""
    for row in files.groupBy("status").agg(sf.count("*").alias("n"), sf.sum("bytes")).collect():
        print(f"{step}: {row['n']} {row['status']}, {row['sum(bytes)']} bytes")
    failed = files.where("status = 'failed'").collect()
    for row in failed:
        print(f"{step}: {row['file']}: {row['error']}", file=sys.stderr)
    return len(failed)


def main() -> int:
    asked = arguments()
    options = dict(word.split("=", 1) for word in asked.option)
    spark = SparkSession.builder.appName("rangeio pipeline").getOrCreate()
    print(f"pruning: {rangeio.spark.enable(spark)}")

    # Of however many columns, one is read; the driver plans, and executors fetch what is planned.
    column = rangeio.spark.read(spark, asked.lake, [asked.column], storage_options=options)
    before = column.agg(sf.sum(asked.column)).collect()[0][0]

    made = rangeio.spark.convert(
        spark,
        asked.lake,
        asked.target,
        format=asked.format,
        source_options=options,
        storage_options=options,
    )
    failed = told("convert", made)
    checked = rangeio.spark.verify(
        spark,
        asked.target,
        against=asked.lake,
        storage_options=options,
        against_options=options,
    )
    failed += told("verify", checked)

    column = rangeio.spark.read(spark, asked.target, [asked.column], storage_options=options)
    after = column.agg(sf.sum(asked.column)).collect()[0][0]
    print(f"sum of {asked.column}: {before} in the lake, {after} in what was made")
    spark.stop()
    return int(failed > 0 or before != after)


if __name__ == "__main__":
    sys.exit(main())
