"""One file, written and read back: whole or not there, and never taken for its older version."""

import os

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sunk import KINDS, Folder, bucket_server, spot

import rangeio
from rangeio.errors import (
    Closed,
    Corrupt,
    NoSuchColumn,
    NotFound,
    ObjectChanged,
    RequestError,
    StoreError,
)

PLAIN = {"compression": "none", "dictionary": False, "row_group_size": 20_000}


def table(seed, rows=100_000):
    """Tables of one size whatever the seed, in bytes too when they are written plainly."""
    random = np.random.default_rng(seed)
    return pa.table({name: random.random(rows) for name in ("a", "b", "c")})


def batches(content, size=10_000, fails_at=None, error=None):
    """The table in batches; ``error`` instead of the one of this number."""
    for number, batch in enumerate(content.to_batches(max_chunksize=size)):
        if number == fails_at:
            raise error
        yield batch


@pytest.fixture(scope="module")
def server():
    with bucket_server() as one:
        yield one


@pytest.fixture(params=KINDS)
def place(request, tmp_path, server):
    return spot(request.param, tmp_path, server)


def written(place, name, data, **words):
    return rangeio.write(data, place.at(name), **place.words, **words)


def opened(place, name, session=None):
    return rangeio.open(place.at(name), session=session, **place.words)


# ---- everywhere ----------------------------------------------------------------------------------


def test_what_is_written_is_read_back(place):
    done = written(place, "d/t.parquet", table(1))
    assert place.names() == ["d/t.parquet"]
    assert (done.rows, done.size) == (100_000, len(place.data("d/t.parquet")))
    assert done.url.endswith("d/t.parquet")
    with opened(place, "d/t.parquet") as file:
        assert file.read() == table(1)


def test_a_session_sees_the_new_version(place):
    with rangeio.Session() as session:
        for seed in (1, 2, 3):
            done = written(place, "t.parquet", table(seed), session=session, **PLAIN)
            with opened(place, "t.parquet", session) as file:
                assert file.size == done.size
                assert file.read(["b", "a"]) == table(seed).select(["b", "a"])


@pytest.mark.parametrize("kind", ["file", "s3"])
def test_a_reader_of_the_old_version_never_sees_a_mix(kind, tmp_path, server):
    place = spot(kind, tmp_path, server)
    written(place, "t.parquet", table(1), **PLAIN)
    with rangeio.Session() as session, opened(place, "t.parquet", session) as file:
        assert file.read(["a"]) == table(1).select(["a"])
        written(place, "t.parquet", table(2), **PLAIN)
        if kind != "file":  # whose bytes no cache of ours keeps
            assert file.read(["a"]) == table(1).select(["a"])
        with pytest.raises(ObjectChanged):
            file.read(["b"])


class Stopped(Exception):
    """The data's own end."""


@pytest.mark.parametrize("error", [Stopped("no more"), KeyboardInterrupt(), Corrupt("bad")])
@pytest.mark.parametrize("fails_at", [0, 9])
def test_data_that_fails_leaves_nothing_behind(place, error, fails_at):
    for old in (None, b"old"):
        if old is not None:
            place.put("t.parquet", old)
        data = batches(table(1), fails_at=fails_at, error=error)
        with pytest.raises(type(error)) as caught:
            written(place, "t.parquet", data, schema=table(1).schema, **PLAIN)
        assert caught.value is error
        del caught  # and with it what the failed write still held
        assert place.names() == ([] if old is None else ["t.parquet"])
        assert old is None or place.data("t.parquet") == old


def test_encoding_that_fails_leaves_nothing_behind(place):
    large = table(1, 500_000)
    flags = large.append_column("flag", pa.array([True] * 500_000))
    with pytest.raises(RequestError, match="cannot be written as Parquet") as caught:
        written(place, "t.parquet", flags, bloom_filters="flag", **PLAIN)
    assert caught.value.url.endswith("t.parquet")
    other = [*batches(large), large.select(["a"]), *batches(large)]
    with pytest.raises(RequestError, match="a batch has 1 fields, schema= has 3"):
        written(place, "t.parquet", other, schema=large.schema, **PLAIN)
    assert place.names() == []


def test_an_encoder_that_was_given_up_writes_no_footer(tmp_path):
    """A footer so long that it would be handed on at once."""
    wide = pa.table({f"column {i:05d}": [1.0] for i in range(8000)})

    def stopped():
        yield wide
        raise Stopped

    with pytest.raises(Stopped):
        rangeio.write(stopped(), tmp_path / "t", schema=wide.schema, row_group_size=1)
    assert os.listdir(tmp_path) == []


def test_overwriting_can_be_forbidden(place):
    written(place, "t.parquet", table(1), overwrite=False)
    asked = []

    def data():
        asked.append(1)
        yield from batches(table(2))

    with pytest.raises(RequestError, match="overwrite=False"):
        written(place, "t.parquet", data(), schema=table(2).schema, overwrite=False)
    assert asked == []
    with opened(place, "t.parquet") as file:
        assert file.read() == table(1)


def test_bytes_go_out_while_the_data_comes(tmp_path):
    seen = []

    def data():
        for batch in batches(table(1, 1_000_000), 100_000):
            yield batch
            seen.append(sum(p.stat().st_size for p in tmp_path.iterdir()))
            assert not (tmp_path / "t.parquet").exists()

    rangeio.write(data(), tmp_path / "t.parquet", schema=table(1).schema, **PLAIN)
    assert seen == sorted(seen)
    assert seen[4] > 8_000_000


def test_a_file_can_be_written_over_itself(tmp_path):
    path = tmp_path / "t.parquet"
    rangeio.write(table(1), path, **PLAIN)
    with rangeio.open(path) as file:
        rangeio.write(file.scan(["c"]), path)
    assert pq.read_table(path) == table(1).select(["c"])


# ---- what can be written -------------------------------------------------------------------------

SMALL = pa.table({"x": [1, 2, None], "s": ["a", "b", "c"]})


class Stream:
    """A stranger that speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema=None):
        return SMALL.__arrow_c_stream__(requested_schema)


class Array:
    """A stranger with one batch."""

    def __arrow_c_array__(self, requested_schema=None):
        return SMALL.to_batches()[0].__arrow_c_array__(requested_schema)


DATA = {
    "table": lambda: SMALL,
    "batch": lambda: SMALL.to_batches()[0],
    "reader": SMALL.to_reader,
    "stream": Stream,
    "array": Array,
    "polars": lambda: pl.DataFrame(SMALL),
    "pandas": lambda: pd.DataFrame({"x": [1, 2, None], "s": ["a", "b", "c"]}),
    "duckdb": lambda: duckdb.sql("select unnest([1, 2, null]) as x, unnest(['a', 'b', 'c']) as s"),
}


@pytest.mark.parametrize("kind", DATA)
def test_kinds_of_data(tmp_path, kind):
    done = rangeio.write(DATA[kind](), tmp_path / "t.parquet")
    assert done.rows == 3
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == SMALL.to_pydict()


def test_batches_and_tables_mix(tmp_path):
    data = [SMALL, SMALL.to_batches()[0], SMALL.slice(0, 0)]
    assert rangeio.write(data, tmp_path / "t.parquet", schema=SMALL.schema).rows == 6
    assert rangeio.write([], tmp_path / "none.parquet", schema=SMALL.schema).rows == 0
    assert pq.read_table(tmp_path / "none.parquet").equals(SMALL.slice(0, 0))


@pytest.mark.parametrize(
    ("data", "words", "said"),
    [
        ("t.parquet", {}, "cannot write a str"),
        ({"x": [1]}, {}, "cannot write a dict"),
        (7, {}, "cannot write a int"),
        ([SMALL], {}, "need schema="),
        ([SMALL], {"schema": {"x": "int"}}, "need schema="),
        (SMALL, {"schema": SMALL.schema}, "schema= is for an iterable"),
        (SMALL.to_reader(), {"schema": SMALL.schema}, "schema= is for an iterable"),
        (pa.chunked_array([[1]]), {}, "is no table"),
        ([1], {"schema": SMALL.schema}, "batches or tables are wanted, not a int"),
        ([SMALL.rename_columns(["x", "t"])], {"schema": SMALL.schema}, "field.*t: string"),
        (SMALL, {"format": "lance"}, "no writer is there for 'lance'; can be written: doris, par"),
        (SMALL, {"format": "parkay"}, "no format is called 'parkay'"),
        (SMALL, {"rows_per_group": 7}, "'rows_per_group' is no option of Parquet.*row_group_size"),
        (SMALL, {"max_rows_per_page": 0}, "max_rows_per_page= must be"),
    ],
    ids=[f"{i}" for i in range(14)],
)
def test_what_cannot_be_written(tmp_path, data, words, said):
    with pytest.raises(RequestError, match=said):
        rangeio.write(data, tmp_path / "d" / "t.parquet", **words)
    assert os.listdir(tmp_path) == []


def test_an_unknown_column(tmp_path):
    with pytest.raises(NoSuchColumn, match="no column is called 'y'"):
        rangeio.write(SMALL, tmp_path / "t.parquet", bloom_filters=["y"])
    assert os.listdir(tmp_path) == []


def test_the_name_can_tell_the_format(tmp_path):
    for name in ("a.parquet", "b.PQ"):
        rangeio.write(SMALL, tmp_path / name, format=None)
        assert pq.read_table(tmp_path / name).equals(SMALL)
    with pytest.raises(RequestError, match=r"does not tell the format.*parquet"):
        rangeio.write(SMALL, tmp_path / "c.bin", format=None)


def test_a_closed_session(tmp_path):
    session = rangeio.Session()
    session.close()
    with pytest.raises(Closed):
        rangeio.write(SMALL, tmp_path / "t.parquet", session=session)


def test_urls_in_results_and_errors_hold_no_secret(server):
    signed = "http://user:canary@host/t.parquet?sig=canary"
    with pytest.raises(RequestError) as caught:
        rangeio.write(SMALL, signed)
    assert "canary" not in str(caught.value)
    with pytest.raises(NotFound, match="no such bucket"):
        rangeio.write(SMALL, "s3://none/t.parquet", storage_options=server.options)


class Stuck(Folder):
    """A filesystem that can neither rename nor remove."""

    def mv(self, *names, **words):
        raise OSError("full")

    def rm_file(self, path):
        raise OSError("busy")


def test_what_could_not_be_removed_is_told(tmp_path):
    stuck = Stuck(str(tmp_path))
    with pytest.raises(StoreError, match="full") as caught:
        rangeio.write(SMALL, "t.parquet", filesystem=stuck)
    assert ["could not be removed" in note for note in caught.value.__notes__] == [True]
    assert "t.parquet" not in os.listdir(tmp_path)
