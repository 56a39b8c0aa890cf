"""Lakes as Spark itself writes them, and as it reads them: partitions, evolution, types, paths."""

import pyspark.sql.types as st
import pytest
from lakes import load, numbers, put, rows, values
from pyspark.sql import functions as sf


def test_partitions_of_spark(spark, folder):
    frame = spark.range(40).selectExpr(
        "id", "id * 1.5D as x", "cast(id % 3 as int) as k", "if(id % 4 = 0, null, id % 4) as d"
    )
    frame.write.partitionBy("k", "d").parquet(str(folder))
    ours, theirs = load(spark, str(folder)), spark.read.parquet(str(folder))
    assert ours.schema == theirs.schema
    assert rows(ours) == rows(theirs)
    query = "k = 1 and d is not null and x > 3"
    assert rows(ours.where(query).select("d", "x")) == rows(theirs.where(query).select("d", "x"))
    assert rows(load(spark, str(folder), "d string, id long")) == rows(
        theirs.selectExpr("cast(d as string) d", "id")
    )


def test_columns_that_came_later(spark, folder):
    put(numbers(20, columns=1), folder / "1.parquet")
    put(numbers(20, 20, columns=3), folder / "2.parquet")
    ours = load(spark, str(folder), mergeSchema="true")
    theirs = spark.read.option("mergeSchema", "true").parquet(str(folder))
    names = sorted(theirs.columns)
    assert sorted(ours.columns) == names
    assert rows(ours.select(names)) == rows(theirs.select(names))


def test_many_paths_and_the_path_of_a_row(spark, folder):
    paths = [put(numbers(10, 10 * i), folder / f"a={i}/x.parquet") for i in range(3)]
    ours = load(spark, paths[:2], includeFilePath="at")
    theirs = spark.read.parquet(*paths[:2])
    assert rows(ours.select("id")) == rows(theirs.select("id"))
    where = theirs.select("id", sf.input_file_name().alias("at"))
    names = {row["id"]: row["at"].removeprefix("file://") for row in where.collect()}
    for row in ours.collect():
        assert row["at"].removeprefix("file://").lstrip("/") == names[row["id"]].lstrip("/")
    one = ours.where(sf.col("at").endswith("a=1/x.parquet")).count()
    assert one == 10


TYPES = {
    "numbers": "true b, cast(-1 as tinyint) i8, cast(2 as smallint) i16, 3 i32, 4L i64, "
    "cast(1.5 as float) f32, double('NaN') f64, 1.23BD d3, "
    "cast('12345678901234567890.123456789012345678' as decimal(38, 18)) d38",
    "texts": "'é' s, X'00FF' x, cast('c' as char(3)) c, cast('v' as varchar(4)) v, "
    "cast(null as string) n",
    "times": "date'1582-10-14' old, date'2024-02-29' day, timestamp'1969-12-31 23:59:59.999999' t, "
    "timestamp_ntz'2024-01-01 00:00:00.000001' ntz, interval '1 02:03:04.5' day to second i",
    "nested": "array(1, null) l, map('a', 1L, 'b', null) m, "
    "named_struct('x', 1, 'Y', array('s')) s, "
    "array(named_struct('k', map('z', 1.0D))) deep, cast(array() as array<int>) empty",
}


@pytest.mark.parametrize("stamp", ["INT96", "TIMESTAMP_MICROS"])
@pytest.mark.parametrize("words", TYPES.values(), ids=TYPES)
def test_types_that_spark_wrote(spark, folder, words, stamp):
    frame = spark.sql(f"SELECT {words} FROM range(2)")
    spark.conf.set("spark.sql.parquet.outputTimestampType", stamp)
    try:
        frame.write.parquet(str(folder))
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    ours, theirs = load(spark, str(folder)), spark.read.parquet(str(folder))
    assert ours.schema.simpleString() == theirs.schema.simpleString()
    assert repr(rows(ours)) == repr(rows(theirs))


def test_types_that_arrow_wrote(spark, folder):
    table = values().drop_columns(["fixed"])
    path = put(table, folder / "v.parquet")
    ours, theirs = load(spark, path), spark.read.parquet(path)
    assert rows(ours) == rows(theirs)


def test_a_time_of_day(spark, folder):
    if not hasattr(st, "TimeType"):
        pytest.skip("this Spark has no time of day")
    frame = spark.sql("SELECT time'12:34:56.123456' t")
    frame.write.parquet(str(folder))
    assert rows(load(spark, str(folder))) == rows(spark.read.parquet(str(folder)))


def test_an_interval_of_months_is_refused_by_name(spark, folder):
    spark.sql("SELECT 1 a, interval '1-2' year to month ym").write.parquet(str(folder))
    with pytest.raises(Exception, match="column 'ym' is an interval of months"):
        load(spark, str(folder))
    assert load(spark, str(folder), columns="a").collect()[0].a == 1


def test_filters_that_spark_hands_down(spark, folder):
    put(numbers(100), folder / "a.parquet", row_group_size=10)
    nan = "if(id % 2 = 0, double('NaN'), a) as a"
    at = "timestamp_seconds(id * 3600) t", "date_add(date'2024-01-01', cast(id as int)) day"
    spark.read.parquet(str(folder)).selectExpr("id", nan, "text", *at).write.parquet(f"{folder}2")
    theirs = spark.read.parquet(f"{folder}2")
    ours = load(spark, f"{folder}2")
    queries = ["a > 50", "not (text = 't1')", "id in (1, 2, 80)", "text like 't%' and id <= 30"]
    queries += ["a <=> null", "id is null", "a = double('NaN')", "text is not null and a >= 3"]
    queries += ["t > timestamp'1970-01-02 05:00:00'", "day in (date'2024-02-01')", "a in (-0D, 3)"]
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        for query in queries:
            assert repr(rows(ours.where(query))) == repr(rows(theirs.where(query))), query
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")
