"""One file as another: every row, in bounded memory, and nothing left of what fails."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import rangeio
from rangeio.cli.main import main
from rangeio.errors import NoSuchColumn, NotFound, RequestError
from rangeio.testing.fault import Fault
from rangeio.testing.server import RangeServer

ROWS = 200_000
TABLE = pa.table(
    {
        "id": np.arange(ROWS),
        "word": [f"word {i % 1000}" for i in range(ROWS)],
        "tags": pa.array([[i, i + 1] if i % 3 else None for i in range(ROWS)]),
        "v": pa.array([{"a": i} for i in range(ROWS)]),
    }
)
NAMES = dict(enumerate(TABLE.schema.names))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A Parquet file of these rows."""
    path = str(tmp_path_factory.mktemp("source") / "t.parquet")
    rangeio.write(TABLE, path, row_group_size=50_000)
    return path


def names(folder):
    """All files below a folder, hidden ones too."""
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("version", [2, 3])
def test_parquet_to_doris_and_back(source, tmp_path, version):
    there, back = str(tmp_path / "t.dat"), str(tmp_path / "back.parquet")
    done = rangeio.convert(source, there, format="doris", version=version, compression="lz4")
    assert (done.rows, done.size) == (ROWS, os.path.getsize(there))
    with rangeio.open(there, schema=NAMES) as file:
        assert file.format == "doris"
        assert file.read().to_pydict() == TABLE.to_pydict()
        again = rangeio.convert(file, back, batch_rows=7000)
        assert file.num_rows == again.rows == ROWS
    with rangeio.open(back) as file:
        assert file.read().to_pydict() == TABLE.to_pydict()
    assert names(tmp_path) == ["back.parquet", "t.dat"]


@pytest.mark.parametrize(("one", "other"), [(3, 2), (2, 3)])
def test_a_variant_keeps_its_paths_from_version_to_version(tmp_path, one, other):
    texts = ['{"a": 1, "b": {"c": "x", "d": [1, null]}}', "{}", None, '{"b": {"c": "y"}}']
    table = pa.table({"k": range(4), "v": texts})
    first, second = str(tmp_path / "1.dat"), str(tmp_path / "2.dat")
    rangeio.write(table, first, format="doris", version=one, variant="v")
    names = {0: "k", 1: "v"}
    with rangeio.open(first, schema=names) as file:
        rangeio.convert(file, second, version=other, variant="v")
        with rangeio.open(second, schema=names) as again:
            assert again.version == f"V{other}"
            assert again.column("v").paths() == file.column("v").paths() == ["a", "b.c", "b.d"]
            assert again.read() == file.read()


def test_some_columns_and_rows(source, tmp_path):
    there = str(tmp_path / "t.pq")
    filters = [("id", "<", 100)]
    done = rangeio.convert(source, there, columns=["v", "id"], filters=filters)
    with rangeio.open(there) as file:
        assert done.rows == 100
        assert file.read() == TABLE.select(["v", "id"]).slice(0, 100).combine_chunks()


def test_progress_is_told_after_every_batch(source, tmp_path):
    told = []
    there = str(tmp_path / "t.dat")
    rangeio.convert(source, there, progress=lambda *one: told.append(one), batch_rows=30_000)
    assert told[-1] == (ROWS, ROWS)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) >= ROWS // 30_000
    assert {total for _, total in told} == {ROWS}


class Stopped(Exception):
    """What the progress raises."""


@pytest.mark.parametrize("error", [Stopped("enough"), KeyboardInterrupt()])
@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("name", ["t.dat", "t.parquet"])
def test_a_conversion_that_is_stopped_leaves_nothing(source, tmp_path, error, old, name):
    def stop(done, total):
        if done >= 65536:
            raise error

    there = tmp_path / name
    if old is not None:
        there.write_bytes(old)
    with pytest.raises(type(error)) as caught:
        rangeio.convert(source, there, progress=stop)
    assert caught.value is error
    del caught
    assert names(tmp_path) == ([] if old is None else [name])
    assert old is None or there.read_bytes() == old


def test_a_source_that_fails_midway_leaves_nothing(source, tmp_path):
    data = Path(source).read_bytes()
    with (
        RangeServer({"t.parquet": data}) as server,
        rangeio.open(server.at("t.parquet"), session=rangeio.Session()) as file,
    ):
        assert file.num_rows == ROWS
        server.script.add(Fault(status=403), times=10**6)
        with pytest.raises(rangeio.StoreError):
            rangeio.convert(file, tmp_path / "t.dat")
    assert names(tmp_path) == []


def test_what_cannot_be_converted(source, tmp_path):
    with pytest.raises(NotFound):
        rangeio.convert(tmp_path / "no.parquet", tmp_path / "t.dat")
    with pytest.raises(NoSuchColumn):
        rangeio.convert(source, tmp_path / "t.dat", columns=["nothing"])
    with pytest.raises(RequestError, match="does not tell the format"):
        rangeio.convert(source, tmp_path / "t.xyz")
    with pytest.raises(RequestError, match="no option of Doris"):
        rangeio.convert(source, tmp_path / "t.dat", row_group_size=5)
    (tmp_path / "t.dat").write_bytes(b"old")
    with pytest.raises(RequestError):
        rangeio.convert(source, tmp_path / "t.dat", overwrite=False)
    assert names(tmp_path) == ["t.dat"]


def test_rows_are_not_gathered_before_they_are_written(tmp_path):
    """Pages are held compressed: what waits for the end is far less than the rows."""
    from doris_parts import WRITER

    step = pa.table({"a": np.zeros(1 << 16, np.int64), "s": ["always the same"] * (1 << 16)})
    before = pa.total_allocated_bytes()
    out = bytearray()
    encoder = WRITER.encoder(step.schema, WRITER.options({}), out.extend, None)
    for _ in range(50):
        encoder.write(pa.table({"a": step["a"], "s": step["s"]}))
    assert pa.total_allocated_bytes() - before < 4 * step.nbytes
    encoder.finish()
    assert len(out) < step.nbytes


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_converts(source, tmp_path, capsys):
    there = str(tmp_path / "t.seg")
    words = ["--format", "doris", "--option", "version=2", "--option", "compression=zlib"]
    assert main(["convert", source, there, *words]) == 0
    said = capsys.readouterr()
    assert f"{ROWS:,} rows" in said.out
    assert there in said.out
    with rangeio.open(there, schema=NAMES) as file:
        assert file.num_rows == ROWS
        assert file.version.endswith("2")
    assert main(["convert", there, str(tmp_path / "t.parquet"), "--from", "doris", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["output"]) == (ROWS, str(tmp_path / "t.parquet"))
    assert told["size"] == os.path.getsize(tmp_path / "t.parquet")
    assert told["cost"]["gets"] > 0


def test_the_command_says_what_is_wrong(source, tmp_path, capsys):
    assert main(["convert", source, str(tmp_path / "t.xyz")]) != 0
    assert "does not tell the format" in capsys.readouterr().err
    assert main(["convert", source, str(tmp_path / "t.dat"), "--option", "nothing=1"]) != 0
    assert "'nothing' is no option of Doris" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "no"), str(tmp_path / "t.dat")]) == 1
    assert names(tmp_path) == []
