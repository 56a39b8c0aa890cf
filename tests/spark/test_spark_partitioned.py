"""df.write with partitionBy: folders as Spark's own writer names them."""

from pathlib import Path

import pytest
from lakes import load, rows

from rangeio.testing.moto import MotoServer

ODD = "a=b/c:d%e\\\\\"\\'[x]{y}?#*^\\t é"
"""A text of which Hive quotes most, as SQL has it."""


def write(frame, path, mode="append", keys="k", **options):
    frame.write.format("rangeio").mode(mode).options(partitionBy=keys, **options).save(str(path))


def folders(path):
    """Names of all folders that have files."""
    return sorted({str(one.parent.relative_to(path)) for one in Path(path).rglob("part-*")})


def table(spark):
    """Rows of every kind of key, some null, in no order."""
    return spark.range(40).selectExpr(
        "id",
        "if(id % 5 = 0, null, id % 3) n",
        f"case id % 4 when 0 then '{ODD}' when 1 then '' when 2 then 'z' end s",
        "id % 2 = 0 b",
        "date_add(date'2024-02-28', cast(id % 3 as int)) d",
        "cast(id % 2 as decimal(9,2)) m",
    )


@pytest.mark.parametrize("keys", ["n", "s", "b", "d", "m", "n,s", '["d", "b"]'])
def test_folders_are_those_of_spark(spark, tmp_path, keys):
    frame = table(spark).repartition(3)
    write(frame, tmp_path / "ours", keys=keys)
    names = [name.strip(' ["]') for name in keys.split(",")]
    frame.write.partitionBy(*names).parquet(str(tmp_path / "theirs"))
    assert folders(tmp_path / "ours") == folders(tmp_path / "theirs")
    order = [name for name in frame.columns if name not in names] + names
    theirs = spark.read.parquet(str(tmp_path / "theirs"))
    assert theirs.columns == order
    assert rows(spark.read.parquet(str(tmp_path / "ours"))) == rows(theirs)
    ours = load(spark, str(tmp_path / "ours"))
    assert ours.columns == order
    assert rows(ours.select("id")) == rows(theirs.select("id"))


def test_files_without_names_in_partitions(spark, tmp_path):
    frame = table(spark).select("id", "s", "n")
    write(frame, tmp_path / "t", keys="N", format="doris")
    write(frame, tmp_path / "t", keys="n", format="doris")
    found = load(spark, str(tmp_path / "t"))
    assert found.columns == ["id", "s", "n"]
    assert rows(found.distinct()) == rows(frame)
    assert found.where("n = 2").count() == 2 * frame.where("n = 2").count()
    with pytest.raises(Exception, match="have other columns"):
        write(frame, tmp_path / "t", keys="s", format="doris")


def test_an_overwrite_of_some_partitions(spark, tmp_path):
    whole = spark.range(9).selectExpr("id", "id % 3 k")
    write(whole, tmp_path / "t")
    some = spark.range(100, 103).selectExpr("id", "1L k")
    write(some, tmp_path / "t", "overwrite", partitionOverwriteMode="dynamic")
    assert rows(load(spark, str(tmp_path / "t"))) == rows(whole.where("k <> 1").union(some))
    write(some, tmp_path / "t", "overwrite")
    assert folders(tmp_path / "t") == ["k=1"]


def test_many_partitions_and_no_rows(spark, tmp_path):
    frame = spark.range(2000).selectExpr("id", "id % 500 k")
    write(frame.coalesce(1), tmp_path / "t", maxRecordsPerFile=3)
    assert len(folders(tmp_path / "t")) == 500
    assert len(list((tmp_path / "t" / "k=7").iterdir())) == 2
    assert load(spark, str(tmp_path / "t")).where("k = 7").selectExpr("sum(id)").collect() == [
        (7 + 507 + 1007 + 1507,)
    ]
    write(frame.limit(0), tmp_path / "none")
    assert load(spark, str(tmp_path / "none")).columns == ["id", "k"]
    assert load(spark, str(tmp_path / "none")).count() == 0


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("none", "no column is called 'none'"),
        ("id,ID", "named twice"),
        ("id,x", "no column is left"),
        ("x", "cast it to a string"),
        ("[1]", "a list of texts"),
        ("_k", "readers pass over"),
    ],
)
def test_keys_that_make_no_sense(spark, tmp_path, keys, said):
    frame = spark.range(3).selectExpr("id", "1.5D x", "1 _k")
    if "left" in said:
        frame = frame.selectExpr("id", "id x")
    with pytest.raises(Exception, match=said):
        write(frame, tmp_path / "t", keys=keys)
    with pytest.raises(Exception, match="static or dynamic"):
        write(frame, tmp_path / "t", "overwrite", partitionOverwriteMode="some")
    assert not (tmp_path / "t").exists()


def test_a_failure_leaves_no_folder(spark, tmp_path):
    frame = spark.range(0, 40, 1, 2).selectExpr("id", "if(id < 39, id, raise_error('stop')) k")
    with pytest.raises(Exception, match="stop"):
        write(frame, tmp_path / "t")
    assert [one for one in (tmp_path / "t").rglob("*") if one.is_file()] == []


def test_partitions_on_s3(spark):
    with MotoServer() as server:
        server.bucket("lake")
        words = {f"storage.{name}": server.options[name] for name in ("key", "secret")}
        words["storage.endpoint_url"] = server.options["endpoint_url"]
        frame = spark.range(12).selectExpr("id", f"if(id % 2 = 0, '{ODD}', 'x') k")
        write(frame, "s3a://lake/t", **words)
        found = load(spark, "s3a://lake/t", **words)
        assert rows(found) == rows(frame)
