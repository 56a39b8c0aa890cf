"""The life of a dataset: pickles, processes, threads, loops, progress, and hand-off to others."""

from __future__ import annotations

import asyncio
import io
import multiprocessing
import os
import pickle
import sys
import threading

import pyarrow as pa
import pytest
from many_files import KINDS, own_gets, parquet

import rangeio
from rangeio.errors import Closed

FILES = {
    f"k={n % 2}/{n}.parquet": pa.table(
        {
            "a": pa.array(range(n * 10, n * 10 + 10), pa.int64()),
            "t": pa.array([None if i % 4 == 1 else f"row {n} {i}" for i in range(10)]),
        }
    )
    for n in range(4)
}
WHOLE = pa.concat_tables(
    FILES[name].append_column("k", pa.array([int(name[2])] * 10, pa.int32()))
    for name in sorted(FILES)
)


def filled(lake):
    for name, table in FILES.items():
        lake.put(name, parquet(table))
    return lake


@pytest.fixture
def local(lakes):
    return filled(lakes("file"))


@pytest.fixture
def http(lakes):
    return filled(lakes("http"))


# ---- processes -----------------------------------------------------------------------------------


def elsewhere(pickled: bytes) -> tuple:
    """Read in another process; run there."""
    dataset = pickle.loads(pickled)
    found = dataset.read(filters=[("a", ">", 11)])
    return found.to_pydict(), dataset.count(), dataset.max("a"), len(dataset)


def check_elsewhere(found: tuple) -> None:
    kept = WHOLE.filter(pa.compute.field("a") > 11)
    assert found == (kept.to_pydict(), 40, 39, 4)


def spawned(pickled: bytes) -> tuple:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(elsewhere, (pickled,))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "memory"])
def test_a_pickle_reads_in_a_spawned_process(lakes, kind):
    lake = filled(lakes(kind))
    dataset = rangeio.dataset(lake.target, **lake.words)
    assert dataset.count() == 40
    check_elsewhere(spawned(pickle.dumps(dataset)))


def test_a_pickle_keeps_what_was_said(lakes, session):
    lake = lakes("memory")
    lake.put("a.parquet", parquet(pa.table({"old": pa.array([1, 2], pa.int32())})))
    schema = pa.schema([("new", pa.float64()), ("none", pa.string())])
    dataset = lake.open(session, schema=schema, names={"old": "new"}, partitioning=None)
    again = pickle.loads(pickle.dumps(dataset))
    assert again.read().to_pydict() == {"new": [1.0, 2.0], "none": [None, None]}
    assert again.read() == dataset.read()
    assert again.files == dataset.files
    assert again._session is not dataset._session


def test_a_pickle_is_small_and_shows_no_secret(lakes):
    lake = lakes("s3")
    wide = pa.table({f"column_{i}": [i] for i in range(300)})
    for n in range(20):
        lake.put(f"{n}.parquet", parquet(wide))
    dataset = rangeio.dataset(lake.target, storage_options={**lake.words["storage_options"]})
    secret = lake.words["storage_options"]["secret"]
    assert dataset.num_rows == 20
    assert len(pickle.dumps(dataset)) < 6000
    assert secret not in repr(dataset) + repr(dataset.files) + str(dataset.explain())
    assert pickle.loads(pickle.dumps(dataset)).read(["column_7"]).num_rows == 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:lance is not fork-safe:UserWarning")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_reads_with_what_it_inherited(http):
    with rangeio.Session() as session:
        dataset = http.open(session)
        assert dataset.read().equals(WHOLE)
        begun = dataset.scan(["a"], batch_rows=3)
        begun.read_next_batch()
        child = os.fork()
        if not child:
            good = dataset.read().equals(WHOLE) and dataset.max("a") == 39
            good = good and dataset.read(["t"], filters=[("k", "=", 1)]).num_rows == 20
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert sum(batch.num_rows for batch in begun) == 37


# ---- closing -------------------------------------------------------------------------------------


def test_a_closed_dataset(local, session):
    with local.open(session) as dataset:
        begun = dataset.scan(["a"], batch_rows=4)
        assert dataset.count() == 40
    assert "closed" in repr(dataset)
    for work in (
        dataset.read, dataset.scan, dataset.explain, dataset.count, dataset.head,
        lambda: dataset.min("a"), lambda: dataset.max("a"), lambda: dataset.schema,
        lambda: dataset.num_rows, lambda: dataset.matched, dataset.__arrow_c_stream__,
    ):  # fmt: skip
        with pytest.raises(Closed, match="closed"):
            work()
    assert begun.read_all()["a"].to_pylist() == WHOLE["a"].to_pylist()
    assert (len(dataset), dataset.files.size > 0) == (4, True)
    dataset.close()


def test_a_closed_session(local):
    with rangeio.Session() as session:
        dataset = local.open(session)
        scanned = dataset.scan(["a"], batch_rows=2)
        scanned.read_next_batch()
    with pytest.raises(Closed):
        dataset.read()
    with pytest.raises(Exception, match="closed"):
        list(scanned)


# ---- threads and loops ---------------------------------------------------------------------------


def test_many_threads_at_once(http, session):
    dataset, found, errors = http.open(session), {}, []

    def work(n: int) -> None:
        try:
            words = [["a"], ["t"], ["k", "a"], None][n % 4]
            one = dataset.read(words) if n % 2 else dataset.scan(words, batch_rows=3).read_all()
            found[n] = one.equals(WHOLE if words is None else WHOLE.select(words))
            found[n] &= dataset.count([("k", "=", n % 2)]) == 20 and dataset.max("a") == 39
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not errors
    assert found == dict.fromkeys(range(12), True)
    # Each file was opened once, whoever came first.
    assert len([one for one in own_gets(dataset) if one.hop == 1]) <= 2 * len(FILES)


def test_inside_a_running_loop(http, session):
    async def main() -> list:
        dataset = http.open(session)
        tables = [dataset.read(), dataset.scan(batch_rows=3).read_all()]
        tables += await asyncio.gather(
            asyncio.to_thread(dataset.read), asyncio.to_thread(dataset.head, 40)
        )
        return tables

    assert all(one.equals(WHOLE) for one in asyncio.run(main()))


# ---- progress ------------------------------------------------------------------------------------


def test_progress_of_the_listing(lakes, session):
    lake, told = filled(lakes("file")), []
    lake.open(session, progress=lambda *one: told.append(one))
    assert told[-1] == (4, 0)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@pytest.mark.parametrize("how", ["read", "scan"])
def test_progress_of_reading(local, session, how):
    dataset, told = local.open(session), []
    found = getattr(dataset, how)(["a"], progress=lambda *one: told.append(one))
    rows = found.num_rows if how == "read" else found.read_all().num_rows
    assert rows == 40
    assert told == [(n, 4) for n in range(1, 5)]
    told.clear()
    dataset.read(["a"], filters=[("k", "=", 1)], progress=lambda *one: told.append(one))
    assert told == [(1, 2), (2, 2)]


def test_progress_that_fails_ends_the_read(local, session):
    dataset = local.open(session)

    def fail(done: int, total: int) -> None:
        raise KeyError(f"{done} of {total}")

    with pytest.raises(KeyError, match="of 4"):
        dataset.read(progress=fail)
    assert dataset.read().equals(WHOLE)


class Terminal(io.StringIO):
    """Where somebody looks."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize("looked", [True, False])
def test_progress_on_a_terminal(local, session, monkeypatch, looked):
    out = Terminal() if looked else io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    dataset = local.open(session, progress=True)
    assert dataset.read(progress=True).equals(WHOLE)
    assert dataset.scan(progress=True).read_all().equals(WHOLE)
    said = out.getvalue()
    assert (not said) != looked
    if looked:
        assert all(word in said for word in ("listing", "reading", "4"))
        assert said.endswith(("\x1b[K", "\x1b[2K"))  # the line is cleared in the end


# ---- hand-off ------------------------------------------------------------------------------------


def test_pyarrow_takes_it(local, session):
    dataset = local.open(session)
    assert pa.table(dataset).equals(WHOLE)
    assert pa.RecordBatchReader.from_stream(dataset).read_all().equals(WHOLE)
    wider = pa.schema([("a", pa.int64()), ("t", pa.large_string()), ("k", pa.int32())])
    assert pa.table(dataset, schema=wider)["t"].to_pylist() == WHOLE["t"].to_pylist()


def test_polars_takes_it(local, session):
    polars = pytest.importorskip("polars")
    dataset = local.open(session)
    frame = polars.DataFrame(dataset)
    assert frame.to_dict(as_series=False) == WHOLE.to_pydict()
    assert polars.from_arrow(dataset.scan(["a"])).to_dict(as_series=False) == {
        "a": WHOLE["a"].to_pylist()
    }


def test_duckdb_takes_it(local, session):
    duckdb = pytest.importorskip("duckdb")
    dataset = local.open(session)
    with duckdb.connect() as connection:
        connection.register("t", dataset.scan(["k", "a"]))
        asked = "select k, sum(a), count(*) from t group by k order by k"
        assert connection.execute(asked).fetchall() == [(0, 290, 20), (1, 490, 20)]
        connection.register("d", dataset)
        assert connection.execute("select count(t), max(a) from d").fetchall() == [(28, 39)]
    assert duckdb.sql("select max(a) from dataset").fetchall() == [(39,)]


def test_pandas_takes_it(local, session):
    pandas = pytest.importorskip("pandas")
    frame = local.open(session).read(["a", "k"]).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.groupby("k")["a"].sum().to_dict() == {0: 290, 1: 490}
    if hasattr(pandas.DataFrame, "from_arrow"):
        again = pandas.DataFrame.from_arrow(local.open(session))
        assert again["a"].tolist() == WHOLE["a"].to_pylist()
