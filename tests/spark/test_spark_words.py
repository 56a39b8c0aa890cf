"""The words of rangeio.spark.read and of the options, in a session without the jar."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from lakes import load, put
from zones import FILTERS, ZONE, after, clocks, same_as_spark, settings, written_at

import rangeio.spark
from rangeio.errors import BadFilter, NoSuchColumn, RequestError
from rangeio.spark.enabling import automatic


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    inner = [{"x": i, "w": 2 * i, "y.z": {"q": str(i), "r": -i}} for i in range(20)]
    made = {"id": range(20), "s": inner, "a.b": range(20), "d1": [1] * 20, "d2": [2] * 20}
    folder = tmp_path_factory.mktemp("words")
    put(
        pa.table({**{k: list(v) for k, v in made.items()}, "e": list(range(20))}),
        folder / "a.parquet",
    )
    return folder


def shape(frame):
    return frame.schema.simpleString().removeprefix("struct<")[:-1]


# ---- columns and filters -----------------------------------------------------------------------

WORDS = {
    "dotted": (["id"], [("s.x", "=", 5)], "id:bigint", 1),
    "a name with a dot": (["id"], [("a.b", "<", 5)], "id:bigint", 5),
    "any case": (["id"], [("S.X", "<", 5)], "id:bigint", 5),
    "a path": (["id"], [(("s", "y.z", "q"), "=", "12")], "id:bigint", 1),
    "not all of a struct": (["s.x"], [(("s", "y.z", "q"), "=", "12")], "s:struct<x:bigint>", 1),
    "nor of one below": ([("s", "y.z", "q")], [(("s", "y.z", "r"), ">", -3)], "s:struct<y.z:struct<q:string>>", 3),  # noqa: E501
    "glob": (["d*"], [("e", ">", 15)], "d1:bigint,d2:bigint", 4),
    "glob and path": (["d?", ("s", "x")], None, "d1:bigint,d2:bigint,s:struct<x:bigint>", 20),
    "asked and filtered": (["e", "id"], [("e", ">=", 19)], "e:bigint,id:bigint", 1),
    "range": (["id"], [("e", "in", range(3))], "id:bigint", 3),
    "tuple": (["id"], [("e", "in", (1, 2))], "id:bigint", 2),
    "numpy": (["id"], [("e", "in", np.array([1, 2])), ("e", "<", np.int64(2))], "id:bigint", 1),
    "lists": (["id"], [[("e", "<", 2)], [("s.x", "NOT  IN", range(19))]], "id:bigint", 3),
    "a condition": (["id"], ("e", "<", 2), "id:bigint", 2),
    "null": (["id"], [("s.x", "is not null", None)], "id:bigint", 20),
}  # fmt: skip


@pytest.mark.parametrize("case", WORDS.values(), ids=WORDS)
def test_words_for_columns(spark, lake, case):
    columns, filters, kinds, count = case
    found = rangeio.spark.read(spark, lake, columns, filters)
    assert shape(found) == kinds
    assert len(found.collect()) == count


def test_filters_on_parts_without_columns_keep_all_columns(spark, lake):
    found = rangeio.spark.read(spark, str(lake), filters=[("s.x", "=", 5)])
    assert found.columns == ["id", "s", "a.b", "d1", "d2", "e"]
    assert found.count() == 1


def test_paths_of_python(spark, lake):
    assert rangeio.spark.read(spark, lake / "a.parquet", ["id"]).count() == 20
    assert rangeio.spark.read(spark, [lake, Path(lake) / "a.parquet"], ["id"]).count() == 40


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"filters": []}, "no condition"),
        ({"filters": [[]]}, "not mixed"),
        ({"filters": [("e", "=", object())]}, "a object"),
        ({"filters": [("e", "=", [1])]}, "a list"),
        ({"filters": [("e", "in", 5)]}, "a int: 5"),
        ({"filters": [("e", "in", [{}])]}, "a dict"),
        ({"filters": [("e", "~", 5)]}, "'~' is no operator"),
        ({"filters": [("e", "<")]}, "needs a value"),
        ({"filters": [("e", "is null", 5)]}, "takes no value"),
        ({"filters": [(5, "<", 5)]}, "not 5"),
        ({"filters": [("e", "=", np.datetime64("2024-01-01T00:00:00.000000001"))]}, "finer"),
        ({"columns": [5]}, "not 5: Spark's columns have no unique_ids"),
        ({"columns": {"id"}}, "{'id'}"),
        ({"columns": [["id"]]}, "['id']"),
        ({"url": 5}, "not 5"),
        ({"url": [b"/x"]}, "b'/x'"),
    ],
)
def test_what_makes_no_sense_is_named_before_anything_is_done(words, named):
    with pytest.raises(RequestError) as caught:
        rangeio.spark.read(None, **{"url": "/x", **words})
    assert named in str(caught.value)
    assert isinstance(caught.value, BadFilter) is ("filters" in words)


def test_a_filter_of_no_column_names_it(spark, lake):
    with pytest.raises(NoSuchColumn, match=r"no column 'idd'; did you mean 'id'\?"):
        rangeio.spark.read(spark, lake, filters=[("idd", "=", 1)])


def test_numpy_and_pandas_times_are_times(spark, tmp_path):
    path = clocks(tmp_path)
    pandas = pytest.importorskip("pandas")
    for value in (np.datetime64("2024-01-01T03:00"), pandas.Timestamp("2024-01-01T03:00")):
        assert rangeio.spark.read(spark, path, ["id"], [("nt", "<", value)]).count() == 3


# ---- times -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hours(tmp_path_factory):
    return clocks(tmp_path_factory.mktemp("hours"))


@pytest.mark.parametrize("name", FILTERS)
def test_times_in_filters_are_those_of_the_session(spark, hours, name):
    assert same_as_spark(spark, hours, name)


def test_the_option_says_the_zone_of_times_of_files(spark, hours):
    written_at(hours, "2024-01-15T12:00")
    for zone in (ZONE, "+13:00", "UTC+13"):
        assert after(spark, hours, "2024-01-15T11:59:59", timeZone=zone) == 100
        assert after(spark, hours, "2024-01-15T12:00:01", timeZone=zone) == 0
    with settings(spark, zone=ZONE):
        words = {"modifiedAfter": "2024-01-15T11:59:59", "modifiedBefore": "2024-01-15T12:00:01"}
        assert rangeio.spark.read(spark, hours, ["id"], **words).count() == 100
        with pytest.raises(Exception, match="no file to infer a schema from"):
            rangeio.spark.read(spark, hours, ["id"], timeZone="UTC", **words)


# ---- paths as Hadoop writes them ---------------------------------------------------------------


def test_file_with_one_slash_is_the_local_path(spark, lake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = f"file:{lake}"
    assert load(spark, url, "id long").count() == 20
    assert load(spark, [url, f"file://{lake}"], "id long").count() == 40
    assert load(spark, url, "id long", basePath=f"file:{lake.parent}").count() == 20
    out, to = tmp_path / "out", tmp_path / "to"
    spark.range(5).write.format("rangeio").mode("append").save(f"file:{out}")
    assert load(spark, str(out)).count() == 5
    (done,) = rangeio.spark.convert(spark, url, f"file:{to}", format="Parquet").collect()
    assert (done.status, sorted(os.listdir(tmp_path))) == ("converted", ["out", "to"])
    checked = rangeio.spark.verify(spark, f"file:{to}", against=url).collect()
    assert [row.status for row in checked] == ["ok"]


# ---- settings of the session -------------------------------------------------------------------


def test_read_ignores_what_the_session_ignores(spark, lake, tmp_path):
    (tmp_path / "a.parquet").write_bytes((lake / "a.parquet").read_bytes())
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no such thing PAR1")
    with settings(spark, ignoreCorruptFiles="true"):
        assert rangeio.spark.read(spark, tmp_path, ["id"]).count() == 20
        with pytest.raises(Exception, match=r"b\.parquet"):
            rangeio.spark.read(spark, tmp_path, ["id"], ignoreCorruptFiles=False).count()
    with pytest.raises(Exception, match=r"b\.parquet"):
        rangeio.spark.read(spark, tmp_path, ["id"]).count()


def test_a_table_of_the_catalog_says_what_it_lacks(spark, lake):
    if automatic(spark):
        pytest.skip("other tests gave this session the jar")
    spark.sql(f"CREATE TABLE lacking USING rangeio OPTIONS (path '{lake}', columns 'id')")
    try:
        assert spark.table("lacking").columns == ["id"]
        with pytest.raises(Exception, match=r"rangeio\.spark\.enable"):
            spark.table("lacking").count()
    finally:
        spark.sql("DROP TABLE lacking")
    with pytest.raises(Exception, match="unknown option 'colums'; did you mean columns"):
        spark.sql(f"CREATE TABLE wrong USING rangeio OPTIONS (path '{lake}', colums 'id')")


def test_the_jar_has_a_public_name(tmp_path, monkeypatch):
    from rangeio.spark import jar

    monkeypatch.setattr(jar.importlib.resources, "files", lambda _: tmp_path)
    with pytest.raises(RequestError, match="make jar"):
        rangeio.spark.jar_path()
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / jar.NAME).touch()
    assert rangeio.spark.jar_path() == tmp_path / "jars" / jar.NAME
