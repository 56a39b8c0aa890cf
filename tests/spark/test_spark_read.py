"""Spark through rangeio gives what Spark's own Parquet reader gives."""

import pyarrow.parquet as pq
import pytest
from lakes import gets, load, nested, numbers, put, rows, wide

import rangeio.spark


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    for i in range(5):
        put(numbers(100, 100 * i), folder / f"part-{i}.parquet", row_group_size=30)
    return str(folder)


@pytest.fixture(scope="module")
def both(spark, lake):
    return load(spark, lake), spark.read.parquet(lake)


QUERIES = {
    "all": lambda f: f,
    "select": lambda f: f.select("c", "a"),
    "where": lambda f: f.where("a > 100 and id < 300").select("id"),
    "null": lambda f: f.where("a is null or text is null").select("id", "text"),
    "in": lambda f: f.where("text in ('t1', 't3') and b <> 4").select("id"),
    "count": lambda f: f.selectExpr("count(*) n"),
    "group": lambda f: f.groupBy("text").agg({"a": "sum", "id": "max"}),
    "case": lambda f: f.select("A", "TEXT"),
    "join": lambda f: f.select("id", "a").join(f.selectExpr("id", "b as other"), "id"),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_same_rows(both, query):
    ours, theirs = map(query, both)
    assert rows(ours) == rows(theirs)


def test_the_same_schema(both):
    ours, theirs = both
    assert ours.schema == theirs.schema


def test_a_limit(both):
    ours, theirs = both
    assert ours.limit(7).count() == 7
    assert set(map(tuple, ours.limit(7).collect())) <= set(map(tuple, theirs.collect()))


def test_a_count_without_any_column(both):
    assert both[0].count() == 500


def test_a_view_in_sql(spark, lake, both):
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v USING rangeio OPTIONS (path '{lake}')")
    assert rows(spark.sql("SELECT sum(a) s, count(*) n FROM v WHERE id > 20")) == rows(
        both[1].where("id > 20").selectExpr("sum(a) s", "count(*) n")
    )


def test_a_cached_frame(both):
    ours = both[0].select("id", "b").cache()
    try:
        assert ours.count() == 500
        assert rows(ours) == rows(both[1].select("id", "b"))
    finally:
        ours.unpersist()


def test_a_given_schema(spark, lake, both):
    ours = load(spark, lake, "id long, nothing string, B double")
    theirs = both[1].selectExpr("id", "cast(null as string) nothing", "b as B")
    assert rows(ours) == rows(theirs)


def test_the_option_columns(spark, lake, both):
    assert load(spark, lake, columns="b, a").columns == ["b", "a"]
    assert load(spark, lake, columns='["text"]').columns == ["text"]
    assert rows(load(spark, lake, columns="b,a")) == rows(both[1].select("b", "a"))


def test_tasks_read_no_metadata(spark, tmp_path):
    for i in range(5):
        put(numbers(100, 100 * i), tmp_path / f"lake/part-{i}.parquet", row_group_size=30)
    frame = load(spark, str(tmp_path / "lake"), columns="a", traceDir=str(tmp_path / "t"))
    frame.selectExpr("sum(a)").collect()
    tasks = gets(tmp_path / "t")
    assert len(tasks) == 2  # one a core
    assert sorted(name for task in tasks for name in task["files"]) == [
        str(tmp_path / f"lake/part-{i}.parquet") for i in range(5)
    ]
    made = [get for task in tasks for get in task["gets"]]
    assert {get["why"] for get in made} == {"parquet.data"}
    assert not any(get["unplanned"] or get["cached"] for get in made)


def test_python_words(spark, lake, both):
    ours = rangeio.spark.read(spark, lake, ["a", "text"], [("id", "<", 30), ("a", ">", 5)])
    assert ours.columns == ["a", "text"]
    assert rows(ours) == rows(both[1].where("id < 30 and a > 5").select("a", "text"))


def test_nested_columns(spark, tmp_path):
    path = put(nested(), tmp_path / "n.parquet", row_group_size=7)
    ours, theirs = load(spark, path), spark.read.parquet(path)
    assert rows(ours) == rows(theirs)
    assert rows(ours.select("s.y", "l")) == rows(theirs.select("s.y", "l"))
    assert rows(load(spark, path, columns="s.x,m")) == rows(
        theirs.selectExpr("named_struct('x', s.x) t", "s", "m").selectExpr(
            "case when s is null then null else t end s", "m"
        )
    )


def test_a_pruned_struct(spark, tmp_path):
    path = put(nested(), tmp_path / "n.parquet")
    kind = "s struct<Y: string, more: int>, ls array<struct<v: array<bigint>>>"
    ours = load(spark, path, kind)
    theirs = spark.read.schema(kind).parquet(path)
    assert rows(ours) == rows(theirs)


def test_a_wide_read_is_warned_of(spark, tmp_path):
    path = put(wide(), tmp_path / "w.parquet")
    with pytest.warns(UserWarning, match=r"reads all 300 columns.*option\(.columns"):
        frame = rangeio.spark.read(spark, path)
    assert frame.selectExpr("sum(f7)").first()[0] == sum(7.0 + j for j in range(20))


def test_a_variant_that_spark_shredded(spark, tmp_path):
    key = "spark.sql.variant.writeShredding.enabled"
    frame = spark.range(5).selectExpr("id", "parse_json(concat('{\"a\":', id, '}')) v")
    for shredded in ("true", "false"):
        spark.conf.set(key, shredded)
        try:
            frame.coalesce(1).write.parquet(str(tmp_path / shredded))
        finally:
            spark.conf.unset(key)
    whole = load(spark, str(tmp_path / "false")).selectExpr("id", "to_json(v) v")
    assert rows(whole) == rows(frame.selectExpr("id", "to_json(v) v"))
    if "typed_value" not in str(pq.read_schema(next((tmp_path / "true").glob("*.parquet")))):
        return  # older versions write them whole
    path = str(tmp_path / "true")
    for schema in (None, "id long, v variant"):
        with pytest.raises(Exception, match=f"'v' is a shredded variant.*{key}=false"):
            load(spark, path, schema).collect()
    for schema, options in (("id long", {}), (None, {"columns": "id"})):
        assert rows(load(spark, path, schema, **options)) == rows(spark.range(5).toDF("id"))
