"""S3 as Spark users name it, and credentials, which are in no plan, repr, message or log."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lakes import gets, load, numbers, put, rows

import rangeio.spark
from rangeio.testing.moto import MotoServer

CANARY = "CANARY-7f3a"


@pytest.fixture(scope="module")
def moto():
    with MotoServer() as server:
        server.bucket("lake")
        yield server


def shown(spark, frame):
    """All that Spark tells of a query."""
    execution = frame._jdf.queryExecution()
    texts = [execution.toString(), execution.debug().codegenToSeq().toString(), repr(frame)]
    for mode in ("simple", "extended", "codegen", "cost", "formatted"):
        parsed = spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString(mode)
        texts.append(execution.explainString(parsed))
    for plan in (execution.logical(), execution.optimizedPlan(), execution.executedPlan()):
        texts += [plan.toString(), plan.treeString(), plan.prettyJson()]
    return "\n".join(texts)


def test_s3a_is_s3(spark, moto, tmp_path):
    names = [f"k={i}/x.parquet" for i in range(3)]
    paths = [put(numbers(50, 50 * i), tmp_path / "l" / name) for i, name in enumerate(names)]
    for name, path in zip(names, paths, strict=True):
        moto.put("lake", f"t/{name}", Path(path).read_bytes())
    trace = str(tmp_path / "t")
    frame = rangeio.spark.read(
        spark,
        "s3a://lake/t",
        ["id", "b", "k"],
        storage_options=moto.options,
        traceDir=trace,
        includeFilePath="at",
    )
    theirs = spark.read.parquet(*paths)
    assert rows(frame.select("id", "b")) == rows(theirs.select("id", "b"))
    assert frame.where("k = 1").count() == 50
    made = [get for task in gets(trace) for get in task["gets"] if not get["cached"]]
    assert {get["why"] for get in made} == {"parquet.data"}
    assert all(get["url"].startswith("s3://lake/t/k=") for get in made)


def test_credentials_are_shown_nowhere(spark, tmp_path, capfd):
    path = put(numbers(20), tmp_path / "a.parquet")
    words = {"storage.secret": CANARY, "storage.key": CANARY, "storage.client_kwargs.x": CANARY}
    frame = load(spark, path, **words).where("id > 3").select("a")
    frame.collect()
    text = shown(spark, frame)
    frame.explain("formatted")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(Exception, match="rangeio") as caught:
        load(spark, path, **words).collect()
    with pytest.raises(Exception, match="rangeio") as late:
        frame.collect()
    said = capfd.readouterr()
    assert CANARY not in f"{caught.value}{late.value}{said.out}{said.err}"
    assert CANARY not in text


def sql_tab(spark):
    """All that the SQL tab of Spark's UI tells of all queries so far."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    found = store.executionsList()
    executions = [found.apply(i) for i in range(found.size())]
    texts = [one.physicalPlanDescription() + one.details() for one in executions]
    graphs = [store.planGraph(one.executionId()).allNodes().toString() for one in executions]
    return "\n".join(texts + graphs)


def test_the_sql_tab_shows_no_credentials(spark, tmp_path):
    path = put(numbers(20), tmp_path / "l" / "a.parquet")
    rangeio.spark.enable(spark)  # whether or not there is a jar: it also tells Spark what to hide
    words = dict.fromkeys(("key", "secret", "token", "client_kwargs.x"), CANARY)
    options = {f"storage.{name}": word for name, word in words.items()}
    frame = load(spark, path, **options)
    frame.where("id > 3").select("a").collect()
    frame.createOrReplaceTempView("hidden")
    spark.sql("select sum(id) from hidden").collect()
    for mode in ("append", "overwrite"):
        writer = frame.write.format("rangeio").mode(mode).options(**options)
        writer.save(str(tmp_path / "to"))
    told = ", ".join(f"`{name}` '{word}'" for name, word in options.items())
    spark.sql(f"create temporary view told using rangeio options (path '{path}', {told})")
    spark.sql("select count(*) from told").collect()
    rangeio.spark.read(spark, path, ["id"], [("id", ">", 5)], storage_options=words).collect()
    rangeio.spark.convert(spark, path, str(tmp_path / "x"), source_options=words).collect()
    shown = sql_tab(spark)
    assert "CreateTempViewUsing" in shown  # it is what would tell
    assert CANARY not in shown


def test_the_key_by_a_name_that_spark_hides_itself(spark, moto, tmp_path):
    path = put(numbers(9), tmp_path / "a.parquet")
    url = moto.put("lake", "alias.parquet", Path(path).read_bytes())
    words = {"storage.accessKey": "testing", "storage.secret": "testing"}
    endpoint = {"storage.endpoint_url": moto.url, "storage.client_kwargs.region_name": "us-east-1"}
    assert load(spark, url, **words, **endpoint).count() == 9


def test_workers_share_what_lies_on_disk(spark, moto, tmp_path):
    rows = 400_000
    table = pa.table({"id": range(rows), "x": np.random.default_rng(1).random(rows)})
    path = put(table, tmp_path / "a.parquet")
    url = moto.put("lake", "cached.parquet", Path(path).read_bytes())
    words = {"storage_options": moto.options, "cacheDir": str(tmp_path / "cache")}
    found = []
    for turn in ("1", "2"):  # another limit is another session, which has nothing in memory
        trace = str(tmp_path / turn)
        frame = rangeio.spark.read(
            spark, url, ["id"], concurrency=f"1{turn}", traceDir=trace, **words
        )
        assert frame.selectExpr("sum(id)").collect() == [(sum(range(rows)),)]
        found.append([get for task in gets(trace) for get in task["gets"]])
    assert [get["why"] for get in found[0] if not get["cached"]] == [
        "parquet.data"
    ]  # planning had not fetched it
    assert [get["disk"] for get in found[1]] == [True] * len(found[1])
    assert found[1]
