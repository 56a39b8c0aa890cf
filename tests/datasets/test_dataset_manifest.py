"""Manifests: small in a pickle, quiet in a repr, split by bytes."""

import datetime as dt
import pickle
import uuid

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.datasets.finding.manifest import DataFile, Manifest
from rangeio.errors import RequestError

KEYS = pa.schema([("year", pa.int32()), ("day", pa.date32())])
DAY = dt.date(2024, 5, 6)


def made(count=3, size=10):
    files = tuple(
        DataFile(f"s3://b/lake/year=2024/part-{i:05}.parquet", size * i, f'"{i}"', i, (2024, DAY))
        for i in range(count)
    )
    return Manifest(files, KEYS, "s3://b/lake/")


def test_it_is_a_sequence_of_files():
    held = made()
    assert len(held) == 3
    assert [one.rows for one in held] == [0, 1, 2]
    assert held[1] is held.files[1]
    assert (held.size, held.rows) == (30, 3)
    assert held == made()
    assert hash(held) == hash(made())
    assert held.select([2, 0, 2]).files == (held[2], held[0], held[2])
    assert held.select([]).partitions == KEYS


def test_ten_thousand_files_pickle_small():
    files = tuple(
        DataFile(
            f"s3://some-bucket/warehouse/events/year=2024/month={i % 12}/day={i % 31}/"
            f"part-{i:05}-8d3f6f9e-13a4-4c1b-9d3e-5a0f8a8c1b2d.c000.snappy.parquet",
            134_217_728 + i * 7919 % 99991,
            f'"{uuid.UUID(int=(i * 0x9E3779B97F4A7C15F39CC0605CEDC834) % 2**128).hex}"',
            1_000_000 + i * 31337 % 9973,
            (2024, i % 12, DAY),
        )
        for i in range(10_000)
    )
    keys = pa.schema([("year", pa.int32()), ("month", pa.int32()), ("day", pa.date32())])
    held = Manifest(files, keys, "s3://some-bucket/warehouse/events/")
    data = pickle.dumps(held)
    assert len(data) < 100 * len(held)
    assert pickle.loads(data) == held


VALUES = st.tuples(
    st.one_of(st.none(), st.integers(0, 3)),
    st.one_of(st.none(), st.just(DAY)),
)
TEXTS = st.text(st.characters(exclude_characters="\0"))
FILES = st.builds(DataFile, TEXTS, st.integers(-1, 2**60), TEXTS, st.integers(-1, 2**60), VALUES)


@given(st.lists(FILES, max_size=5), st.text())
def test_pickles_are_exact(files, root):
    held = Manifest(tuple(files), KEYS, root)
    assert pickle.loads(pickle.dumps(held)) == held


def test_a_path_that_is_no_text_survives():
    held = Manifest((DataFile("/data/\udcff.parquet"),))
    assert pickle.loads(pickle.dumps(held)) == held


def test_zeros_of_both_signs_stay_two():
    held = Manifest(
        (DataFile("a", partition=(0.0,)), DataFile("b", partition=(-0.0,))),
        pa.schema([("x", pa.float64())]),
    )
    assert [str(one.partition[0]) for one in pickle.loads(pickle.dumps(held))] == ["0.0", "-0.0"]


@given(st.lists(st.integers(-1, 100), min_size=1, max_size=30), st.integers(1, 40))
def test_splits_keep_order_and_lose_nothing(sizes, count):
    held = Manifest(tuple(DataFile(f"f{i}", size) for i, size in enumerate(sizes)))
    parts = held.split(count)
    assert len(parts) <= count
    assert all(len(part) for part in parts)
    assert [one for part in parts for one in part] == list(held)


def test_splits_are_even():
    held = Manifest(tuple(DataFile(f"f{i}", 100) for i in range(100)))
    assert [len(part) for part in held.split(4)] == [25] * 4
    assert [len(part) for part in held.split(1000)] == [1] * 100
    assert Manifest().split(3) == []
    with pytest.raises(RequestError, match="at least one part"):
        held.split(0)


def test_no_repr_shows_a_secret():
    url = "https://user:hunter2@host/x.parquet?X-Amz-Signature=sesame"
    held = Manifest((DataFile(url, 1, "t", 2, (1, DAY)),), KEYS, "https://host/")
    for text in (repr(held), repr(held[0]), str(held.to_table().to_pylist())):
        assert "hunter2" not in text
        assert "sesame" not in text
    assert repr(held) == (
        "Manifest('https://host/': 1 files, 1 bytes, by year int32, day date32[day])"
    )


def test_as_a_table():
    held = Manifest((DataFile("s3://b/a", partition=(None, DAY)),), KEYS)
    assert held.to_table().to_pylist() == [
        {"file": "s3://b/a", "size": None, "tag": "", "rows": None, "year": None, "day": DAY}
    ]
    assert held.to_table().schema.field("year").type == pa.int32()
    assert made(0).to_table().num_rows == 0
    assert Manifest((DataFile("a"),)).size == -1


def test_partition_values_fit_their_schema():
    with pytest.raises(RequestError, match="1 partition values, the schema has 2"):
        Manifest((DataFile("a", partition=(1,)),), KEYS)
