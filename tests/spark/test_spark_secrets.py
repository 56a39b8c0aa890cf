"""S3 as Spark users name it, and credentials, which are in no plan, repr, message or log."""

from pathlib import Path

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
