"""Another dataset of the same files in the same session: versions that were opened are not opened
again, and others are never taken for them."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from many_files import doris, own_gets, parquet

import rangeio
from rangeio.errors import BadMagic
from rangeio.testing.moto import MotoServer

FILES, ROWS = 6, 400


def table(n: int, wide: int = 30) -> pa.Table:
    make = np.random.default_rng(n)
    return pa.table(
        {"id": range(n * ROWS, (n + 1) * ROWS)} | {f"c{i}": make.random(ROWS) for i in range(wide)}
    )


@pytest.fixture(scope="module")
def server():
    with MotoServer() as one:
        one.bucket("lake")
        yield one


def put(server, name, n, **options):
    server.put("lake", name, parquet(table(n, **options), row_group_size=100))


def opened(server, session, name, **words):
    url = f"s3://lake/{name}/"
    return rangeio.dataset(url, session=session, storage_options=server.options, **words)


def test_no_get_of_what_is_known(server):
    for n in range(FILES):
        put(server, f"known/p={n % 2}/{n}.parquet", n, wide=30 + n % 2)
    words = {"columns": ["c3", "id"], "filters": [("id", "<", 900)]}
    with rangeio.Session() as session:
        first = opened(server, session, "known")
        expected = first.read(**words)
        assert own_gets(first)
        again = opened(server, session, "known")
        assert again.read(**words).equals(expected)
        assert not own_gets(again)
        assert again.schema.names == first.schema.names
        assert (again.num_rows, again.count()) == (FILES * ROWS, FILES * ROWS)
        assert not own_gets(again)
        others = again.read(["c29"])
        assert {get.why for get in own_gets(again)} <= {"parquet.footer", "parquet.data"}
        assert others.num_rows == FILES * ROWS


def test_another_version_is_another_file(server):
    with rangeio.Session() as session:
        put(server, "changing/0.parquet", 0)
        put(server, "changing/1.parquet", 1)
        assert opened(server, session, "changing").read(["id"])["id"].to_pylist() == list(
            range(2 * ROWS)
        )
        put(server, "changing/1.parquet", 5, wide=31)  # the same size but for a column
        again = opened(server, session, "changing")
        assert again.read(["id"])["id"].to_pylist() == [*range(ROWS), *range(5 * ROWS, 6 * ROWS)]
        assert "c30" in again.schema.names
        assert {get.url.rpartition("/")[2] for get in own_gets(again)} == {"1.parquet"}


def test_files_of_the_disk(tmp_path):
    def write(n):
        pq.write_table(table(n), tmp_path / "0.parquet")

    write(0)
    with rangeio.Session() as session:
        for _ in range(2):
            data = rangeio.dataset(tmp_path, session=session)
            assert data.read(["id"])["id"][0].as_py() == 0
        assert not own_gets(data)
        write(3)
        assert rangeio.dataset(tmp_path, session=session).read(["id"])["id"][0].as_py() == 3 * ROWS
        os.remove(tmp_path / "0.parquet")
        with pytest.raises(rangeio.errors.NotFound):
            rangeio.dataset(tmp_path / "0.parquet", session=session).read(["id"])


def test_what_a_caller_says_of_files_is_no_other_callers(tmp_path):
    (tmp_path / "0.dat").write_bytes(doris(table(0, wide=1), tmp_path, version=3))
    with rangeio.Session() as session:
        for names in (["a", "b"], ["b", "a"], ["x", "y"]):
            schema = dict(enumerate(names))
            for _ in range(2):
                data = rangeio.dataset(tmp_path / "0.dat", schema=schema, session=session)
                assert data.schema.names == names
                assert data.read([names[0]])[names[0]].to_pylist() == list(range(ROWS))
        with pytest.raises(BadMagic):
            rangeio.dataset(tmp_path / "0.dat", format="parquet", session=session).read(["a"])
