"""Which files and columns a read means, where Spark's words are wider than a name."""

import os

import pyarrow as pa
import pytest
from lakes import numbers, put
from pyspark.sql.types import StructType
from test_spark_plan import read, source

import rangeio
from rangeio.errors import NotFound, RequestError


def ids(path, schema=None, **options):
    return sorted(read(path, schema, **options)["id"].to_pylist())


@pytest.fixture
def lake(tmp_path):
    """Files of four rows in y=2023/m=01, y=2023/m=02 and y=2024/m=01."""
    for i, (y, m) in enumerate(((2023, "01"), (2023, "02"), (2024, "01"))):
        put(numbers(4, 10 * i), tmp_path / f"t/y={y}/m={m}/{i}.parquet")
    return tmp_path / "t"


# ---- names in any case -------------------------------------------------------------------------


@pytest.fixture
def cases(tmp_path):
    put(pa.table({"Aa": [1], "b": ["x"]}), tmp_path / "0.parquet")
    put(pa.table({"b": ["y"], "aA": [2]}), tmp_path / "1.parquet")
    return tmp_path


def test_columns_in_other_cases_are_the_same_column(cases):
    found = read(cases)
    assert found.column_names == ["Aa", "b"]
    assert found.to_pylist() == [{"Aa": 1, "b": "x"}, {"Aa": 2, "b": "y"}]
    assert read(cases, StructType().add("aa", "long"))["aa"].to_pylist() == [1, 2]
    late = StructType().add("aA", "long").add("none", "string")
    assert read(cases, late)["aA"].to_pylist() == [1, 2]
    merged = read(cases, mergeSchema="true")
    assert [name.lower() for name in merged.column_names] == ["aa", "b"]
    assert merged.columns[0].to_pylist() == [1, 2]


# ---- limits --------------------------------------------------------------------------------------


def test_a_limit_where_columns_came_later(tmp_path):
    put(pa.table({"big": ["x"] * 5}), tmp_path / "0.parquet")
    put(pa.table({"big": ["y"] * 4, "b": [True] * 4}), tmp_path / "1.parquet")
    schema = StructType().add("b", "boolean")
    for limit in (3, 7, 100):  # each of the tasks keeps to it
        found = read(tmp_path, schema, __pushed_limit=str(limit))["b"].to_pylist()
        assert len(found) >= min(limit, 9)
        assert found == ([None] * 5 + [True] * 4)[: len(found)]
    nested = StructType().add("s", StructType().add("y", "string"))
    put(pa.table({"s": [{"x": 1}] * 2}), tmp_path / "n/0.parquet")
    put(pa.table({"s": [{"y": "q"}] * 2}), tmp_path / "n/1.parquet")
    found = read(tmp_path / "n", nested, __pushed_limit="4")
    assert found["s"].to_pylist() == [{"y": None}] * 2 + [{"y": "q"}] * 2


# ---- what paths say ------------------------------------------------------------------------------


def test_texts_of_paths_stay_texts_where_texts_are_asked(lake):
    schema = StructType().add("id", "long").add("M", "string").add("y", "string")
    asked = read(lake, schema)
    assert set(asked["M"].to_pylist()) == {"01", "02"}
    assert set(asked["y"].to_pylist()) == {"2023", "2024"}
    based = read(lake / "y=2023", schema, basePath=str(lake))
    assert set(based["M"].to_pylist()) == {"01", "02"}
    assert set(read(lake)["m"].to_pylist()) == {1, 2}


def test_names_of_files_as_a_column(lake):
    found = read(lake, columns="id", includeFilePath="file")
    assert found.column_names == ["id", "file"]
    assert all(name.startswith("file:///") for name in found["file"].to_pylist())
    for name in ("id", "ID", "y"):
        with pytest.raises(RequestError, match=f"includeFilePath='{name}'"):
            read(lake, includeFilePath=name)


# ---- which files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("*", (0, 1, 2)),
        ("y=2023/*", (0, 1)),
        ("y={2023,2024}", (0, 1, 2)),
        ("y=202[4]", (2,)),
        ("y=202?/m=01", (0, 2)),
        ("*/m=02/*.parquet", (1,)),
    ],
)
def test_globs_may_mean_folders(lake, glob, files):
    expected = sorted(10 * i + n for i in files for n in range(4))
    assert ids(lake / glob) == expected
    schema = StructType().add("id", "long").add("m", "integer")
    assert ids(lake / glob, schema, basePath=str(lake)) == expected


def test_a_glob_of_nothing_is_an_error(lake):
    with pytest.raises(NotFound, match="no file matches"):
        read(lake / "z*")


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("*.{parquet,x}", "a b c"),
        ("{b,c}.parquet", "b c"),
        ("[^a].parquet", "b c"),
        ("[!a].parquet", "b c"),
        ("?.parquet", "a b c"),
        ("a.parquet", "a"),
    ],
)
def test_the_filter_of_names_speaks_hadoops_words(tmp_path, glob, names):
    for i, name in enumerate("abc"):
        put(numbers(1, i), tmp_path / f"{name}.parquet")
    assert ids(tmp_path, pathGlobFilter=glob) == ["abc".index(one) for one in names.split()]


def test_a_folder_of_no_file_is_no_rows_of_a_given_schema(tmp_path):
    (tmp_path / "_SUCCESS").touch()
    schema = StructType().add("id", "long")
    assert ids(tmp_path, schema) == []
    put(numbers(3), tmp_path / "a.parquet._COPYING_")
    assert ids(tmp_path, schema) == []
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises((NotFound, RequestError)):
            source(path).schema()
    with pytest.raises(NotFound):
        read(tmp_path / "none", schema)


# ---- files that carry no names -------------------------------------------------------------------


@pytest.fixture
def segments(lake, tmp_path):
    """The same as Doris segments, as a write of Spark's leaves them."""
    root = tmp_path / "d"
    for at in sorted(lake.rglob("*.parquet")):
        to = root / at.relative_to(lake).with_suffix(".dat")
        os.makedirs(to.parent, exist_ok=True)
        rangeio.write(numbers(4, 10 * int(at.stem)).select(["id", "text"]), to, format="doris")
    schema = StructType().add("id", "long").add("text", "string")
    (root / "_rangeio_schema.json").write_text(schema.json())
    return root


def test_segments_have_the_columns_of_their_folders(segments):
    found = read(segments, includeFilePath="f")
    assert found.column_names == ["id", "text", "y", "m", "f"]
    assert set(found["y"].to_pylist()) == {2023, 2024}
    assert all(name.endswith(".dat") for name in found["f"].to_pylist())
    asked = read(segments, StructType().add("id", "long").add("m", "string"))
    assert set(asked["m"].to_pylist()) == {"01", "02"}


def test_segments_keep_their_names_wherever_they_are_named(segments):
    files = sorted(map(str, segments.rglob("*.dat")))
    whole = read(segments)["id"].to_pylist()
    for options in (
        {"path": files[0], "paths": str(files[1:]).replace("'", '"')},
        {"path": str(segments / "y=2023"), "paths": f'["{segments}/y=2024"]'},
        {"path": str(segments / "y=*"), "basePath": str(segments)},
    ):
        found = read(options.pop("path"), **options)
        assert found.column_names[:2] == ["id", "text"]
        assert sorted(found["id"].to_pylist()) == sorted(whole)
    part = read(segments / "y=2023", basePath=str(segments))
    assert part.column_names == ["id", "text", "y", "m"]
