"""Corners of what may be asked of a dataset, each with pyarrow as its oracle."""

from __future__ import annotations

import datetime as dt
import pickle
import sys

import numpy as np
import pyarrow as pa
import pytest
from many_files import numbered, own_gets, parquet

import rangeio
from rangeio.datasets import report
from rangeio.errors import BadRows, ObjectChanged, RangeIOError, RequestError


def categories(n: int) -> pa.Table:
    """Its dictionary fits int8; with another such one it does not."""
    words = pa.array([f"word {n} {i}" for i in range(100)])
    values = pa.DictionaryArray.from_arrays(pa.array([*range(100), 5], pa.int8()), words)
    return pa.table({"k": values, "n": np.arange(101) + 101 * n})


@pytest.fixture
def categorical(lakes, tmp_path):
    """One file of three row groups, and one of one: each with a dictionary of its own."""
    import io

    import pyarrow.parquet as pq

    lake, sink = lakes("file"), io.BytesIO()
    with pq.ParquetWriter(sink, categories(0).schema) as writer:
        for n in range(3):
            writer.write_table(categories(n))
    lake.put("a.parquet", sink.getvalue())
    lake.put("b.parquet", parquet(categories(3)))
    return lake


WORDS = [word for n in range(4) for word in categories(n)["k"].to_pylist()]


def test_streams_of_dictionaries_that_do_not_go_into_one(categorical, session):
    dataset = categorical.open(session)
    with rangeio.open(categorical.at("a.parquet"), session=session) as file:
        assert file.scan().read_all()["k"].to_pylist() == WORDS[:303]
        assert file.read(rows=[250, 1, 250])["k"].to_pylist() == [WORDS[i] for i in (250, 1, 250)]
        batches = file.scan(rows=[250, 1], batch_rows=1).read_all()
        assert batches["k"].to_pylist() == [WORDS[250], WORDS[1]]
    assert dataset.read()["k"].to_pylist() == WORDS
    assert dataset.scan(batch_rows=70).read_all()["k"].to_pylist() == WORDS
    assert pa.table(dataset)["k"].to_pylist() == WORDS
    assert pa.table(dataset.plan())["k"].to_pylist() == WORDS
    assert dataset.plan().scan().read_all()["k"].to_pylist() == WORDS
    rows = [400, 250, 1, 1, 350]
    assert dataset.read(rows=rows)["k"].to_pylist() == [WORDS[i] for i in rows]
    assert dataset.scan(rows=rows).read_all()["k"].to_pylist() == [WORDS[i] for i in rows]
    kept = dataset.scan(filters=[("n", ">", 250)]).read_all()
    assert kept["k"].to_pylist() == WORDS[251:]


def test_dictionaries_in_other_libraries(categorical, session):
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    dataset = categorical.open(session)
    batches = dataset.scan()  # noqa: F841 - duckdb finds it
    assert [one for (one,) in duckdb.sql("SELECT k FROM batches").fetchall()] == WORDS
    assert dataset.polars().select("k").collect()["k"].cast(pl.String).to_list() == WORDS
    assert pl.DataFrame(dataset)["k"].cast(pl.String).to_list() == WORDS


# ---- the manifest -----------------------------------------------------------------------------


def test_what_was_learnt_is_told_and_travels(lakes, session):
    lake = lakes("http")
    data = [parquet(pa.table({"a": [n] * (n + 1)})) for n in range(3)]
    for n, one in enumerate(data):
        lake.put(f"{n}.parquet", one)
    dataset = lake.open(session)
    assert {(one.size, one.tag, one.rows) for one in dataset.files} == {(-1, "", -1)}
    assert dataset.files.rows == dataset.files.size == -1
    assert dataset.num_rows == 6
    assert [one.size for one in dataset.files] == [len(one) for one in data]
    assert [one.rows for one in dataset.files] == [1, 2, 3]
    assert all(one.tag for one in dataset.files)
    assert dataset.files.rows == 6
    assert dataset.files.to_table()["rows"].to_pylist() == [1, 2, 3]
    found = [pickle.loads(pickle.dumps(dataset)), rangeio.dataset(dataset.files, session=session)]
    found += [rangeio.dataset(list(dataset.files), session=session)]
    found += [rangeio.dataset(pickle.loads(pickle.dumps(dataset.files)), session=session)]
    for one in found:
        assert (one.num_rows, len(own_gets(one))) == (6, 0)  # the manifest tells
        assert one.read() == dataset.read()
    parts = dataset.files.split(2)
    read = [rangeio.dataset(part, session=session).read() for part in parts]
    assert pa.concat_tables(read) == dataset.read()


def test_a_pickle_keeps_the_version_that_was_seen_first(lakes):
    lake = lakes("http")
    for n in range(2):
        lake.put(f"{n}.parquet", parquet(pa.table({"a": [n]})))
    with rangeio.Session() as session:
        dataset = lake.open(session)
        assert dataset.read()["a"].to_pylist() == [0, 1]
        files, pickled = dataset.files, pickle.dumps(dataset)
    lake.put("1.parquet", parquet(pa.table({"a": [7]})))
    with rangeio.Session() as other:
        for again in (pickle.loads(pickled), rangeio.dataset(files, session=other)):
            with pytest.raises(ObjectChanged):
                again.read()


def test_files_that_are_told_keep_their_partitions(lakes, session):
    lake = lakes("memory")
    for n in range(3):
        lake.put(f"y={n}/{n}.parquet", parquet(pa.table({"a": [n]})))
    dataset = lake.open(session)
    some = [one for one in dataset.files if one.partition[0] > 0]
    assert rangeio.dataset(some, session=session).read().to_pydict() == {"a": [1, 2], "y": [1, 2]}
    with pytest.raises(RequestError, match="not of both"):
        rangeio.dataset([some[0], some[1].url], session=session)


# ---- words ------------------------------------------------------------------------------------


@pytest.fixture
def dataset(lakes, session):
    lake = lakes("memory")
    for n in range(3):
        table = pa.table({
            "i": [2 * n, 2 * n + 1],
            "d": pa.array([dt.timedelta(seconds=n), None], pa.duration("us")),
            "s": pa.array([{"x": n}, {"x": n + 1}]),
            "Abc" if n % 2 else "abc": [n, n],
        })  # fmt: skip
        lake.put(f"{n}.parquet", parquet(table, row_group_size=1))
    return lake.open(session)


def test_a_limit_of_what_is_planned_and_explained(dataset):
    for limit in (0, 1, 3, np.int64(4), 99):
        wanted = dataset.read(["i"]).slice(0, limit)
        plan = dataset.plan(["i"], limit=limit)
        assert plan.read() == wanted
        assert pa.concat_tables([one.read() for one in plan.split(3)] or [wanted]) == wanted
        assert dataset.explain(["i"], limit=limit).rows == plan.num_rows == len(wanted)
        assert dataset.read(["i"], limit=limit) == wanted
        assert dataset.read(["i"], limit=limit, rows=slice(1, 99)).num_rows == min(limit, 5)
        assert (
            dataset.read(["i"], limit=limit, rows=[5, 4, 4])["i"].to_pylist() == [5, 4, 4][:limit]
        )
    with pytest.raises(RequestError, match="limit"):
        dataset.plan(["i"], filters=[("i", ">", 0)], limit=1)
    for limit in (True, 1.5, "1", -1, np.int64(-1)):
        with pytest.raises(RequestError):
            dataset.read(limit=limit)


def test_extremes_of_a_duration(dataset):
    assert (dataset.min("d"), dataset.max("d")) == (dt.timedelta(0), dt.timedelta(seconds=2))
    assert dataset.max("d", [("i", "<", 4)]) == dt.timedelta(seconds=1)
    assert dataset.max("d", [("i", "in", [1, 3])]) is None


def test_a_struct_has_no_extremes(dataset):
    assert (dataset.min("s.x"), dataset.max(("s", "x"))) == (0, 3)
    for word in ("s", ("s",)):
        with pytest.raises(RequestError, match="a struct has no least"):
            dataset.min(word)


def test_words_that_make_no_sense(dataset, lakes, session):
    with pytest.raises(BadRows, match="outside the dataset, which has 6 rows"):
        dataset.read(rows=[6])
    lake = lakes("memory")
    lake.put("0.parquet", parquet(pa.table({"a": [1]})))
    for names in (["a"], "a", {"a": 1}, {1: "a"}):
        with pytest.raises(RequestError, match="names="):
            lake.open(session, names=names)


def test_names_are_a_list(dataset, lakes, session):
    lake = lakes("memory")
    lake.put("0.parquet", parquet(pa.table({"a": [1], "b": [2]})))
    for names in (dataset.schema.names, lake.open(session).schema.names):
        assert names == list(names)
        assert list(names) == names
        assert names == tuple(names)
        assert names != ["c"]
        assert repr(names) == repr(list(names))


def test_a_mixture_is_told_in_the_schema(lakes, session):
    lake = lakes("memory")
    lake.put("0.parquet", parquet(pa.table({"a": [1]})))
    lake.put("1.parquet", parquet(pa.table({"a": [2], "b": [2]})))
    assert repr(lake.open(session).schema) == "Schema(2 columns: a, b)"
    for n in (2, 3):
        lake.put(f"{n}.parquet", parquet(numbered(a=(1, pa.array([n])))))
    said = repr(lake.open(session).schema)
    assert said == "Schema(2 columns: a, b; files matched: 2 by name, 2 by id)"


# ---- letters of either case ---------------------------------------------------------------------


def test_case_insensitive_look_up(dataset):
    words = {"case_sensitive": False}
    every = [0, 0, 1, 1, 2, 2]
    assert dataset.read(["ABC"], **words).column(0).to_pylist() == every
    assert dataset.read(["I"], filters=[("ABC", ">", 0)], **words)["i"].to_pylist() == [2, 3, 4, 5]
    assert dataset.read(filters=[("S.X", "==", 3)], **words)["i"].to_pylist() == [5]
    assert dataset.read(["abc"])["abc"].to_pylist() == [0, 0, None, None, 2, 2]
    assert dataset.read(["Abc", "abc"]).num_columns == 2
    assert dataset.plan(["aBC"], **words).read().column(0).to_pylist() == every
    assert dataset.explain(["aBC"], **words).rows == 6


def test_case_insensitive_filters_of_a_file(dataset, session):
    with rangeio.open(dataset.files[1].url, session=session) as file:
        read = file.read(["I"], filters=[("ABC", "==", 1)], case_sensitive=False)
        assert read["i"].to_pylist() == [2, 3]
        with pytest.raises(RangeIOError):
            file.read(["i"], filters=[("ABC", "==", 1)])


def test_columns_of_two_cases_in_one_file(lakes, session):
    lake = lakes("memory")
    lake.put("0.parquet", parquet(pa.table({"Abc": [1], "abc": [2]})))
    lake.put("1.parquet", parquet(pa.table({"ABC": [3]})))
    dataset = lake.open(session)
    with pytest.raises(RequestError, match="more than one"):
        dataset.read(["aBC"], case_sensitive=False)
    assert dataset.read(["abc"], case_sensitive=False)["abc"].to_pylist() == [2, None]


# ---- what is declared, and progress -------------------------------------------------------------


def test_declared_fields_that_some_file_lacks(lakes, session):
    inner = pa.struct([pa.field("x", pa.int64(), nullable=False), pa.field("y", pa.string())])
    lake = lakes("memory")
    lake.put("0.parquet", parquet(pa.table({"s": pa.array([{"x": 1, "y": "a"}], inner)})))
    lake.put("1.parquet", parquet(pa.table({"s": [{"y": "b"}], "more": [1]})))
    dataset = lake.open(session, schema=pa.schema([pa.field("s", inner, nullable=False)]))
    for _ in range(2):
        wanted = [{"x": 1, "y": "a"}, {"x": None, "y": "b"}]
        assert dataset.read()["s"].to_pylist() == wanted
        assert dataset.scan().read_all()["s"].to_pylist() == wanted
        assert dataset.plan().read()["s"].to_pylist() == wanted
        assert dataset.read(rows=[1, 0])["s"].to_pylist() == wanted[::-1]


def test_a_terminal_without_rich(dataset, monkeypatch, capsys):
    monkeypatch.setattr(report, "_SAID", [])
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for _ in range(2):
        assert dataset.read(["i"], progress=True).num_rows == 6
    assert capsys.readouterr().err.count("rangeio[cli]") == 1


# ---- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 3, 5, 8, 16])
def test_parts_of_equal_size(lakes, session, count):
    lake = lakes("memory")
    make = np.random.default_rng(1)
    rows = pa.table({"a": make.integers(0, 1 << 60, 16 * 530_000)})
    lake.put("a.parquet", parquet(rows, row_group_size=530_000, compression="none",
                                  use_dictionary=False))  # fmt: skip
    plan = lake.open(session).plan(["a"])
    parts = plan.split(count)
    assert len(parts) == count
    each = [len(part.read()) // 530_000 for part in parts]
    assert max(each) - min(each) <= 1
    assert pa.concat_tables([part.read() for part in parts]) == rows
