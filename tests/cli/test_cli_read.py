"""read: what comes out is what the file holds, in every format, whole or not at all."""

import csv
import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

import rangeio


def held(files, version="2.1", **query):
    with rangeio.open(files[version]) as f:
        return f.read(**query)


def binary(capfdbinary_out):
    return io.BytesIO(capfdbinary_out)


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2"])
def test_arrow_is_the_very_table(good, files, tmp_path, version):
    out = tmp_path / "out.arrow"
    good("read", files[version], "-o", out)
    with pa.ipc.open_file(str(out)) as read:
        assert read.read_all().equals(held(files, version))


def test_parquet_holds_the_values(good, files, tmp_path):
    out = tmp_path / "out.parquet"
    good("read", files["2.1"], "-c", "s.x,id,name,price", "-o", out)
    wanted = held(files, columns=["s.x", "id", "name", "price"])
    assert parquet.read_table(out).equals(wanted)


def test_csv(good, files, tmp_path):
    out = tmp_path / "out.csv"
    good("read", files["2.1"], "--rows", "0:3", "-o", out)
    assert out.read_text() == good("read", files["2.1"], "--rows", "0:3").out
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["id"] for row in rows] == ["0", "1", "2"]
    assert [row["name"] for row in rows] == ["", "n1", "n2"]
    assert rows[1]["ts"] == "2024-01-01 01:00:00.000000Z"
    assert rows[1]["local"] == "1970-01-01 00:00:01.000000001"
    assert rows[2]["day"] == "2024-01-03"
    assert json.loads(rows[2]["s"]) == {"x": 2, "y": [2, 3]}
    assert rows[2]["raw"] == "AgA="
    assert rows[2]["price"] == "0.50"
    assert rows[2]["took"] == "2"
    assert [row["ok"] for row in rows] == ["true", "false", "false"]


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_json_values(good, files, tmp_path, kind):
    out = tmp_path / f"out.{kind}"
    good("read", files["2.1"], "--rows", "5,1,5", "-o", out)
    text = out.read_text()
    rows = json.loads(text) if kind == "json" else [json.loads(one) for one in text.splitlines()]
    assert [row["id"] for row in rows] == [5, 1, 5]
    floats = held(files, columns=["f"], rows=[1])["f"].to_pylist()
    assert rows[1] == {
        "id": 1,
        "name": "n1",
        "ts": "2024-01-01 01:00:00.000000Z",
        "local": "1970-01-01 00:00:01.000000001",
        "day": "2024-01-02",
        "s": {"x": 1, "y": [1, 2]},
        "f": floats[0],
        "ok": False,
        "raw": "AQA=",
        "price": "0.25",
        "took": 1,
    }
    assert good("read", files["2.1"], "--rows", "5,1,5", "-o", "-", "--as", kind).out == text


def test_an_empty_result_is_whole_in_every_format(good, files, tmp_path):
    none = ["read", files["2.1"], "--filter", "id < 0"]
    assert good(*none, "--json").json == []
    assert good(*none, "--as", "jsonl").out == ""
    assert good(*none, "-c", "id,name").out == '"id","name"\n'
    good(*none, "-o", tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").num_rows == 0
    assert good(*none[:2], "-n", "0", "--json").json == []


def test_not_a_number_is_null_in_json(good, files):
    assert [row["NaN"] for row in good("read", files["hostile"], "--json").json] == [1.0, None]


def test_stdout_takes_arrow_as_a_stream(process, files, tmp_path):
    with (tmp_path / "stream").open("wb") as out:
        ran = process("read", files["2.1"], "-c", "id,s", "--as", "arrow", stdout=out)
    assert (ran.code, ran.err) == (0, "")
    with pa.ipc.open_stream((tmp_path / "stream").read_bytes()) as read:
        assert read.read_all().equals(held(files, columns=["id", "s"]))


@pytest.mark.parametrize("limit", [0, 1, 2999, 3000, 5000])
def test_limit(good, files, limit):
    rows = good("read", files["2.1"], "-c", "id", "-n", limit, "--json").json
    assert [row["id"] for row in rows] == list(range(min(limit, 3000)))


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--rows", "10:20", "-n", "3"], [10, 11, 12]),
        (["--rows", "10:12", "-n", "3"], [10, 11]),
        (["--rows", "2998:", "-n", "3"], [2998, 2999]),
        (["--rows", ":2"], [0, 1]),
        (["--rows", "7,3,3,9", "-n", "3"], [7, 3, 3]),
        (["--rows", "5"], [5]),
        (["--filter", "id >= 100", "-n", "2"], [100, 101]),
        (["--filter", "id >= 100", "--filter", "id < 102"], [100, 101]),
        (["--filter", "ok = true and id > 4", "--rows", "0:10"], [6, 9]),
        (["--filter", "s.x in (3, 5) or name = 'n8'"], [3, 5, 8]),
    ],
)
def test_rows_filters_and_limits_together(good, files, words, wanted):
    rows = good("read", files["2.1"], "-c", "id", *words, "--json").json
    assert rows == [{"id": i} for i in wanted]


def test_a_limit_reads_less(good, server, tmp_path):
    words = ["read", server.at("large"), "-c", "a", "-o", tmp_path / "a.arrow", "--json"]
    few, all_of_it = good(*words, "-n", "5").json, good(*words).json
    assert (few["rows"], all_of_it["rows"]) == (5, 1 << 18)
    assert few["cost"]["bytes"] < all_of_it["cost"]["bytes"] / 2


def test_columns_by_glob_id_and_quotes(good, files, tmp_path):
    with rangeio.open(files["2.1"]) as f:
        wanted = f.schema["day"].unique_id
    rows = good("read", files["2.1"], "-c", f"#{wanted},o?", "-c", '"s.x"', "-n1", "--json").json
    assert rows == [{"day": "2024-01-01", "ok": True, "s": {"x": 0}}]


def test_two_columns_of_one_name(cli, good, tmp_path):
    conftest = pytest.importorskip("lance.file")
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "b"])
    path = str(tmp_path / "t.lance")
    with conftest.LanceFileWriter(path, twice.schema, version="2.1") as writer:
        writer.write_batch(twice)
    assert good("read", path, "-c", "b,a,b", "--json").json == [{"b": 2, "a": 1}]


def test_python_m_rangeio_and_version(process):
    ran = process("--version")
    assert (ran.code, ran.out) == (0, f"rangeio {rangeio.__version__}\n")
