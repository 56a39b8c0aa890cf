"""The jar, with a toy in the place of the Python source: what Spark asks of it is what is read.

Each kind of session needs a process of its own, which this file is too: it writes down what it
saw, and the tests read that.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import settings

from rangeio.errors import RequestError
from rangeio.spark import jar as jars

ROOT = Path(__file__).parents[2]
TOY = r'''
"""A toy: tells by a log what it was asked for."""
import json
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource, DataSourceArrowWriter, DataSourceReader, InputPartition,
    SimpleDataSourceStreamReader, WriterCommitMessage,
)
from pyspark.sql.types import DoubleType, StructField, StructType

KINDS = {
    "int": pa.int32(), "bigint": pa.int64(), "float": pa.float32(), "double": pa.float64(),
    "string": pa.string(), "boolean": pa.bool_(), "binary": pa.binary(), "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"), "timestamp_ntz": pa.timestamp("us"),
    "decimal(12,2)": pa.decimal128(12, 2), "struct<x:int,`y.z`:string>": pa.struct(
        {"x": pa.int32(), "y.z": pa.string()}),
    "struct<x:int,y.z:string>": pa.struct({"x": pa.int32(), "y.z": pa.string()}),
}


class Reader(DataSourceReader):
    def __init__(self, schema, options):
        self.options = options
        self.kinds = pa.schema([(f.name, KINDS[f.dataType.simpleString()]) for f in schema.fields])

    def partitions(self):
        with open(self.options["log"], "a") as out:
            out.write(json.dumps([self.kinds.names, dict(self.options)]) + "\n")
        return [InputPartition(n) for n in range(2)]

    def read(self, partition):
        columns = [
            pa.array(range(4)).cast(kind) if pa.types.is_integer(kind) or pa.types.is_floating(kind)
            else pa.nulls(4, kind)
            for kind in self.kinds.types
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=self.kinds)


class Writer(DataSourceArrowWriter):
    def __init__(self, options, overwrite):
        self.options, self.overwrite = options, overwrite

    def write(self, batches):
        rows = sum(batch.num_rows for batch in batches)
        message = WriterCommitMessage()
        message.rows = rows
        return message

    def commit(self, messages):
        rows = sum(message.rows for message in messages)
        Path(self.options["path"]).write_text(f"{rows} rows, overwrite {self.overwrite}")


class Stream(SimpleDataSourceStreamReader):
    def initialOffset(self):
        return {"at": 0}

    def read(self, start):
        at = start["at"]
        return iter([(float(n),) for n in range(at, 3)]), {"at": 3}

    def readBetweenOffsets(self, start, end):
        return iter([(float(n),) for n in range(start["at"], end["at"])])


class DefaultSource(DataSource):
    @classmethod
    def name(cls):
        return "rangeio"

    def schema(self):
        known = "__pushed_statistics" in self.options and "known" in self.options
        first = {"rangeio.rows": int(self.options["known"])} if known else {}
        width = int(self.options.get("width", "3000"))
        return StructType([
            StructField(f"c{n}", DoubleType(), True, {} if n else first) for n in range(width)
        ])

    def reader(self, schema):
        return Reader(schema, self.options)

    def writer(self, schema, overwrite):
        return Writer(self.options, overwrite)

    def simpleStreamReader(self, schema):
        return Stream()
'''
TYPED = (
    "i int, l bigint, f float, d double, s string, b boolean, y binary, a date, t timestamp,"
    " n timestamp_ntz, m decimal(12,2), st struct<x: int, `y.z`: string>, `o.p` int"
)
IDLE = {"op": "unknown"}


def leaf(op, column, kind, value):
    return {"op": op, "column": column, "type": kind, "value": value}


FILTERS = {
    "i > 5": leaf("gt", ["i"], "integer", "5"),
    "5 > i": leaf("lt", ["i"], "integer", "5"),
    "l = 9223372036854775807": leaf("eq", ["l"], "long", "9223372036854775807"),
    "f = float('NaN')": leaf("eq", ["f"], "float", "NaN"),
    "f <= float(0.1)": leaf("le", ["f"], "float", "0.10000000149011612"),
    "d >= 0.1D": leaf("ge", ["d"], "double", "0.1"),
    "d < double('-Infinity')": leaf("lt", ["d"], "double", "-Infinity"),
    "d = double('-0.0')": leaf("eq", ["d"], "double", "-0.0"),
    "s = 'a\u00e9\U0001f600\"'": leaf("eq", ["s"], "string", 'a\u00e9\U0001f600"'),
    "s like 'ab%'": leaf("startsWith", ["s"], "string", "ab"),
    "s like '%ab'": leaf("endsWith", ["s"], "string", "ab"),
    "s like '%ab%'": leaf("contains", ["s"], "string", "ab"),
    "b": leaf("eq", ["b"], "boolean", "true"),
    "y = X'00ff'": leaf("eq", ["y"], "binary", "AP8="),
    "a = date'2024-02-29'": leaf("eq", ["a"], "date", "19782"),
    "a > date'1582-10-10'": IDLE,
    "t >= timestamp'2024-02-29 01:02:03.000004'": leaf(
        "ge", ["t"], "timestamp", "1709168523000004"
    ),
    "t > timestamp'0001-01-01 00:00:00'": IDLE,
    "n = timestamp_ntz'0001-01-01 00:00:00.000001'": leaf(
        "eq", ["n"], "timestamp_ntz", "-62135596799999999"
    ),
    "m = 1.5BD": leaf("eq", ["m"], "decimal(12,2)", "1.50"),
    "st.x = 1": leaf("eq", ["st", "x"], "integer", "1"),
    "st.`y.z` = 'q'": leaf("eq", ["st", "y.z"], "string", "q"),
    "`o.p` <=> 3": leaf("eqNullSafe", ["o.p"], "integer", "3"),
    "i in (1, 2)": {"op": "in", "column": ["i"], "type": "integer", "values": ["1", "2"]},
    "s is null": {"op": "isNull", "column": ["s"]},
    "not (i = 1 and s = 'x')": {
        "op": "or",
        "of": [
            {"op": "not", "of": leaf("eq", ["i"], "integer", "1")},
            {"op": "not", "of": leaf("eq", ["s"], "string", "x")},
        ],
    },
    " or ".join(f"(i = {n} and l = {n})" for n in range(2)): {
        "op": "or",
        "of": [
            {"op": "and", "of": [leaf("eq", ["i"], "integer", n), leaf("eq", ["l"], "long", n)]}
            for n in "01"
        ],
    },
}
UNSAID = ("isnull(cast(i as boolean) or l = 1)", "l > 1 or cast(i as boolean)", "i + 1 = l")


# ---- in the process of a session ---------------------------------------------------------------


class Lab:
    def __init__(self, spark, folder):
        self.spark, self.folder, self.log = spark, folder, folder / "log"

    def read(self, **options):
        return self.spark.read.format("rangeio").options(log=str(self.log), **options)

    def asked(self):
        """Columns and options of the last read."""
        return json.loads(self.log.read_text().splitlines()[-1])

    def explained(self, frame):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            frame.explain(True)
        return out.getvalue().split("== Physical Plan ==")[1]

    def pruned(self):
        frame = self.read(**{"storage.secret": "hush"}).load().where("c3 > 1.5").select("c1", "c2")
        rows = sorted(map(list, frame.collect()))
        return {"plan": self.explained(frame), "rows": rows, "asked": self.asked()}

    def counted(self):
        return {"count": self.read().load().count(), "asked": self.asked()}

    def limited(self):
        frame = self.read(width="5").load()
        found = {"rows": len(frame.limit(3).collect()), "asked": self.asked()}
        found["filtered"] = len(frame.where("c1 > 1").limit(3).collect())
        return {**found, "after": self.asked()}

    def filters(self):
        """By the plan, which runs nothing: it shows filters that are this short in full."""
        frame = self.read().schema(TYPED).load()

        def of(text):
            plan = self.explained(frame.where(text))
            return plan.split(", filters: ")[1].split(", limit: ")[0]

        return {text: of(text) for text in (*FILTERS, *UNSAID)}

    def chained(self):
        from functools import reduce

        from pyspark.sql.functions import col

        many = reduce(lambda left, right: left | right, [col("l") == n for n in range(300)])
        self.read().schema(TYPED).load().where(many).select("i").collect()
        return self.asked()[1]["__pushed_filters"]

    def viewed(self):
        self.spark.sql(
            f"CREATE TEMPORARY VIEW wide USING rangeio OPTIONS (log '{self.log}', width '2000')"
        )
        found = self.spark.sql("SELECT sum(c7) FROM wide WHERE c9 < 3").collect()[0][0]
        return {"sum": found, "asked": self.asked()}

    def joined(self):
        def plan(**options):
            small = self.read(width="9", **options).load().select("c1")
            return self.explained(self.read(width="8").load().join(small, "c1"))

        found = {"unknown": plan(), "option": plan(estimatedRows="50"), "field": plan(known="50")}
        self.spark.conf.set("spark.sql.adaptive.enabled", "false")
        sides = [self.read(width="9").load().groupBy("c1").count() for _ in range(2)]
        found["reused"] = self.explained(sides[0].union(sides[1]))
        self.spark.conf.set("spark.sql.adaptive.enabled", "true")
        known = self.read(width="9", known="50").load()
        return {**found, "metadata": [dict(field.metadata) for field in known.schema][:1]}

    def written(self):
        found = {}
        for mode in ("append", "overwrite"):
            at = self.folder / mode
            self.spark.range(5).write.format("rangeio").mode(mode).save(str(at))
            found[mode] = at.read_text()
        return found

    def streamed(self):
        frame = self.spark.readStream.format("rangeio").option("width", "1").load()
        query = frame.writeStream.format("memory").queryName("stream").start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()
        return sorted(row[0] for row in self.spark.table("stream").collect())

    def clashed(self):
        """What comes of a user's registering the Python source himself, and of reading after it."""
        from pyspark_rangeio import DefaultSource

        try:
            self.spark.dataSource.register(DefaultSource)
        except Exception as error:
            said = str(error).splitlines()[0]
        else:
            said = "registered"
        return {"said": said, "columns": self.pruned()["asked"][0]}


def classic(lab, jar):
    lab.read(width="300").load().select("c1").collect()
    plain = lab.asked()
    found = {"loaded": [jars.load(lab.spark, jar) for _ in range(2)], "plain": plain}
    with ThreadPoolExecutor(1) as other:
        found["elsewhere"] = other.submit(lab.counted).result()
    names = "pruned counted limited filters chained viewed joined written streamed clashed"
    return found | {name: getattr(lab, name)() for name in names.split()}


def strange(lab, jar):
    return {"pruned": lab.pruned(), "loaded": jars.load(lab.spark, jar)}


def session(kind, jar):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    conf = {
        "driver.host": "127.0.0.1",
        "ui.enabled": "false",
        "ui.showConsoleProgress": "false",
        "sql.shuffle.partitions": "2",
        "sql.session.timeZone": "UTC",
    }
    if kind == "strange":
        conf["jars"] = jar
    for name, value in conf.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


def main(kind, jar, folder):
    spark = session(kind, jar)
    found = globals()[kind](Lab(spark, Path(folder)), Path(jar))
    (Path(folder) / "found.json").write_text(json.dumps(found))
    spark.stop()


# ---- in the process of the tests ---------------------------------------------------------------


def report(folder, kind, jar):
    """What a process of its own saw, and all that it said."""
    at = folder / kind
    at.mkdir()
    (at / "pyspark_rangeio.py").write_text(TOY)
    paths = os.pathsep.join((str(at), str(ROOT)))
    env = os.environ | {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}
    env |= {"SPARK_LOCAL_IP": "127.0.0.1", "TZ": "UTC"}
    env["JDK_JAVA_OPTIONS"] = settings()["JDK_JAVA_OPTIONS"]
    command = [sys.executable, __file__, kind, str(jar), str(at)]
    done = subprocess.run(
        command, env=env, cwd=at, timeout=400, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 0, done.stdout.decode()[-4000:]
    return json.loads((at / "found.json").read_text()), done.stdout.decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("jar")


@pytest.fixture(scope="module")
def seen(folder, jar):
    return report(folder, "classic", jar)[0]


def test_a_jar_that_is_not_there_names_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setattr(jars.importlib.resources, "files", lambda _: tmp_path)
    with pytest.raises(RequestError, match="make jar"):
        jars.jar_path()
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jars.NAME).touch()
    assert jars.jar_path().name == jars.NAME


class Refusing:
    version = "4.3.0"

    def sql(self, statement):
        raise PermissionError("no jars here\nand a long story")


class Old:
    version = "3.5.9"


def test_a_session_that_takes_no_jar_says_so_in_one_line(tmp_path, monkeypatch):
    assert jars.load(Refusing(), tmp_path) == "the session takes no jar: no jars here"
    assert "3.5.9" in jars.load(Old(), tmp_path)
    monkeypatch.setattr(jars.importlib.resources, "files", lambda _: tmp_path)
    assert "make jar" in jars.load(Refusing())


def test_the_jar_is_small_and_the_same_each_time(jar, tmp_path):
    command = [sys.executable, "setup.py", "--quiet", "jar", "--into", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    assert (tmp_path / jars.NAME).read_bytes() == jar.read_bytes()
    assert jar.stat().st_size < 30_000
    with zipfile.ZipFile(jar) as inside:
        assert all(name.startswith(("io/rangeio/", "META-INF/")) for name in inside.namelist())


def test_it_loads_into_a_running_session_and_a_second_time_does_nothing(seen):
    assert seen["loaded"] == [None, None]


def test_all_threads_of_the_session_have_it(seen):
    assert len(seen["elsewhere"]["asked"][0]) == 1


def test_select_and_where_of_3000_columns_read_3(seen):
    assert len(seen["plain"][0]) == 300
    found = seen["pruned"]
    assert found["asked"][0] == ["c1", "c2", "c3"]
    assert found["asked"][1]["__pushed_columns"] == "3000"
    assert found["rows"] == [[2.0, 2.0], [2.0, 2.0], [3.0, 3.0], [3.0, 3.0]]
    assert "rangeio columns: 3 of 3000" in found["plan"]


def test_the_plan_shows_no_secret(seen):
    assert seen["pruned"]["asked"][1]["storage.secret"] == "hush"
    assert "hush" not in seen["pruned"]["plan"]


def test_a_count_reads_one_column_and_is_right(seen):
    assert seen["counted"]["count"] == 8
    assert len(seen["counted"]["asked"][0]) == 1


def test_a_limit_is_pushed_but_not_past_a_filter(seen):
    found = seen["limited"]
    assert (found["rows"], found["filtered"]) == (3, 3)
    assert found["asked"][1]["__pushed_limit"] == "3"
    assert "__pushed_limit" not in found["after"][1]


@pytest.mark.parametrize("text", FILTERS)
def test_filters_come_typed(seen, text):
    found = json.loads(seen["filters"][text])
    assert found["op"] == "and"
    assert [part for part in found["of"] if part["op"] != "isNotNull"] == [FILTERS[text]]


def test_what_cannot_be_said_is_left_to_spark(seen):
    for text in UNSAID:
        found = seen["filters"][text]
        parts = [] if found == "none" else json.loads(found)["of"]
        assert {part["op"] for part in parts} <= {"isNotNull"}


def test_a_long_chain_is_flat(seen):
    (chain,) = [one for one in json.loads(seen["chained"])["of"] if one["op"] != "isNotNull"]
    assert chain["op"] in ("or", "in")
    assert len(chain.get("of", chain.get("values"))) == 300


def test_a_view_of_sql_prunes_too(seen):
    assert seen["viewed"]["sum"] == 6.0
    assert seen["viewed"]["asked"][0] == ["c7", "c9"]


def test_joins_broadcast_what_is_said_to_be_small(seen):
    found = seen["joined"]
    assert "BroadcastHashJoin" not in found["unknown"]
    assert "BroadcastHashJoin" in found["option"]
    assert "BroadcastHashJoin" in found["field"]
    assert found["metadata"] == [{}]


def test_the_same_read_is_exchanged_once(seen):
    assert "ReusedExchange" in seen["joined"]["reused"]


def test_writes_go_through_the_python_sink(seen):
    assert seen["written"] == {
        "append": "5 rows, overwrite False",
        "overwrite": "5 rows, overwrite True",
    }


def test_streams_go_through_the_python_reader(seen):
    assert seen["streamed"] == [0.0, 1.0, 2.0]


def test_a_python_source_registered_by_hand_is_found_below_the_jar(seen):
    assert seen["clashed"]["said"] == "registered" or "EXISTS" in seen["clashed"]["said"]
    assert seen["clashed"]["columns"] == ["c1", "c2", "c3"]


STRANGE = """package org.apache.spark.sql.execution.datasources.v2.python;
public class PythonScanBuilder implements org.apache.spark.sql.connector.read.ScanBuilder {
  public PythonScanBuilder(
      PythonDataSourceV2 source, String name, org.apache.spark.sql.types.StructType schema,
      org.apache.spark.sql.util.CaseInsensitiveStringMap options, int... more) {}
  public org.apache.spark.sql.connector.read.Scan build() { return null; }
}
"""


def test_a_spark_of_other_inner_classes_reads_unpruned(folder, jar, tmp_path):
    import pyspark

    (tmp_path / "PythonScanBuilder.java").write_text(STRANGE)
    sources = [*(ROOT / "rangeio/spark/java").glob("*.java"), tmp_path / "PythonScanBuilder.java"]
    against = str(Path(pyspark.__file__).parent / "jars" / "*")
    command = ["javac", "-nowarn", "-cp", against, "-d", str(tmp_path), *map(str, sources)]
    subprocess.run(command, check=True, timeout=120)
    found = next((ROOT / "rangeio/spark/java/META-INF/services").iterdir())
    with zipfile.ZipFile(tmp_path / jars.NAME, "w") as out:
        out.write(found, f"META-INF/services/{found.name}")
        for path in (tmp_path / "io").rglob("*.class"):
            out.write(path, path.relative_to(tmp_path))
    seen, output = report(folder, "strange", tmp_path / jars.NAME)
    assert seen["loaded"] is None
    assert len(seen["pruned"]["asked"][0]) == 3000
    assert len(seen["pruned"]["rows"]) == 4
    assert output.count("columns are not pruned, the jar does not know this Spark") == 1


if __name__ == "__main__":
    main(*sys.argv[1:])
