"""count, min and max: exactly what pyarrow.compute says, of metadata alone where that is exact."""

from __future__ import annotations

import datetime as dt
import math
import random
import uuid
from decimal import Decimal

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_files import SMALL_TAIL, data_gets, doris, lance, own_gets, parquet

import rangeio
from rangeio.errors import NoSuchColumn, RequestError

WHOLE = st.integers(-3, 3)
KINDS = {
    "i8": (pa.int8(), st.integers(-128, 127)),
    "i64": (pa.int64(), WHOLE | st.sampled_from([-(2**63), 2**63 - 1])),
    "u8": (pa.uint8(), st.integers(0, 255)),
    "u32": (pa.uint32(), st.sampled_from([0, 2**31, 2**32 - 1])),
    "u64": (pa.uint64(), st.sampled_from([0, 1, 2**63, 2**64 - 1])),
    "f32": (pa.float32(), st.sampled_from([-0.0, 0.0, 1.5, math.nan, math.inf])),
    "f64": (pa.float64(), st.sampled_from([-0.0, 0.0, -1.5, math.nan, -math.inf])),
    "text": (pa.string(), st.sampled_from(["", "a", "é", "z" * 90, "z" * 90 + "a", "\U0001f600"])),
    "large": (pa.large_string(), st.sampled_from(["", "b", "z" * 70])),
    "bytes": (pa.binary(), st.sampled_from([b"", b"\xff" * 80, b"\xff" * 80 + b"\0", b"\x00"])),
    "fixed": (pa.binary(4), st.sampled_from([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\0\0\0"])),
    "bool": (pa.bool_(), st.booleans()),
    "d9": (pa.decimal128(9, 3), st.sampled_from([Decimal("-0.001"), Decimal("123456.789")])),
    "d30": (pa.decimal128(30, 1), st.sampled_from([Decimal("-1e28"), Decimal("0.5")])),
    "date": (pa.date32(), st.sampled_from([dt.date(1, 1, 1), dt.date(2024, 2, 29)])),
    "s": (pa.timestamp("s"), st.integers(-(2**32), 2**32)),
    "ns": (pa.timestamp("ns", "Europe/Berlin"), st.integers(-(2**60), 2**60)),
    "ms": (pa.timestamp("ms", "UTC"), st.integers(-(2**40), 2**40)),
    "time": (pa.time64("us"), st.times()),
    "null": (pa.null(), st.none()),
}


@st.composite
def columns(draw, kind: str) -> list[pa.Array]:
    """What the files of a dataset hold of one column, None where one lacks it."""
    made, values = KINDS[kind]
    out = []
    for _ in range(draw(st.integers(1, 4))):
        shape = draw(st.sampled_from(["some", "some", "null", "empty", "lacks"]))
        size = 0 if shape in ("empty", "lacks") else draw(st.integers(1, 6))
        held = st.none() if shape == "null" else st.none() | values
        held = draw(st.lists(held, min_size=size, max_size=size))
        out.append(None if shape == "lacks" else pa.array(held, made))
    return out


def extremes(values: pa.ChunkedArray) -> tuple:
    """What pyarrow says; NaN counts for nothing."""
    if pa.types.is_null(values.type):
        return None, None
    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.fill_null(pc.is_nan(values), False)))
    found = pc.min_max(values)
    return found["min"].as_py(), found["max"].as_py()


@pytest.fixture(scope="module")
def shared():
    with rangeio.Session(profile=SMALL_TAIL) as one:
        yield one


@pytest.mark.parametrize("kind", list(KINDS))
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_extremes_equal_pyarrow(shared, kind, data):
    arrays = data.draw(columns(kind))
    made = KINDS[kind][0]
    memory, root = fsspec.filesystem("memory"), f"/{uuid.uuid4().hex}"
    memory.makedirs(root)
    for n, one in enumerate(arrays):
        count = 2 if one is None else len(one)
        table = pa.table({"row": pa.array(range(count), pa.int64())})
        table = table if one is None else table.append_column("c", one)
        memory.pipe_file(f"{root}/{n}.parquet", parquet(table, row_group_size=3))
    known = [one for one in arrays if one is not None]
    dataset = rangeio.dataset(f"memory:/{root}", session=shared)
    if not known:
        with pytest.raises(NoSuchColumn):
            dataset.min("c")
        return
    whole = pa.chunked_array(known, made)
    low, high = extremes(whole)
    assert (dataset.min("c"), dataset.max("c")) == (low, high)
    total = sum(2 if one is None else len(one) for one in arrays)
    assert dataset.count() == dataset.num_rows == total
    assert dataset.count([("c", "is not null")]) == len(whole) - whole.null_count
    assert dataset.count([("c", "is null")]) == total - len(whole) + whole.null_count
    if low is not None:
        assert (
            dataset.count([("c", ">=", low)])
            == pc.sum(pc.fill_null(pc.greater_equal(whole, pa.scalar(low, made)), False)).as_py()
        )
        assert dataset.max("c", [("c", "<=", low)]) == low
        rows = [i for one in arrays for i in range(2 if one is None else len(one))]
        assert dataset.max("row", [("row", ">=", 0)]) == max(rows)
    memory.rm(root, recursive=True)


# ---- counted: what makes a GET, and what does not ------------------------------------------------

ROWS = 3000
NOISE = random.Random(5).randbytes(100 * ROWS)  # so that the rest is far from the footer


def file(n: int, **more: pa.Array) -> pa.Table:
    """ROWS rows from n * ROWS on."""
    numbers = range(n * ROWS, (n + 1) * ROWS)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "word": pa.array([f"{n}{i:09d}" for i in range(ROWS)]),
            "group": pa.array([n] * ROWS, pa.int16()),
            "rest": pa.array([NOISE[i : i + 100] for i in range(0, 100 * ROWS, 100)]),
            **more,
        }
    )


@pytest.fixture(scope="module")
def lake(lakes):
    made = lakes("http")
    for n in range(4):
        made.put(f"k={n % 2}/{n}.parquet", parquet(file(n), row_group_size=1000))
    return made


@pytest.fixture
def dataset(lake, shared):
    # Files of their own each time: nothing is held of them.
    with rangeio.Session(profile=SMALL_TAIL) as session:
        yield lake.open(session)


def test_counting_all_rows_reads_no_data(dataset):
    assert dataset.count() == 4 * ROWS
    assert not data_gets(dataset)
    made = len(own_gets(dataset))
    assert dataset.count() == dataset.num_rows == 4 * ROWS
    assert len(own_gets(dataset)) == made
    assert {record.why.split(".")[0] for record in own_gets(dataset)} <= {"tail", "parquet"}


@pytest.mark.parametrize("column", ["id", "word", "group", "k"])
def test_extremes_of_exact_statistics_read_no_data(dataset, column):
    high = {"id": 4 * ROWS - 1, "word": f"3{ROWS - 1:09d}", "group": 3, "k": 1}[column]
    low = {"id": 0, "word": "0" * 10, "group": 0, "k": 0}[column]
    assert (dataset.min(column), dataset.max(column)) == (low, high)
    assert not data_gets(dataset), str(dataset.trace)


def urls_read(dataset) -> set[str]:
    return {record.url for record in data_gets(dataset)}


def test_files_of_which_statistics_say_all_or_nothing_are_not_read(dataset, lake):
    assert dataset.count([("id", ">=", 2 * ROWS)]) == 2 * ROWS
    assert not urls_read(dataset)
    assert dataset.count([("group", "in", [0, 3]), ("k", "=", 1)]) == ROWS
    assert not urls_read(dataset)
    assert dataset.count([("id", ">=", 2 * ROWS + 1500)]) == 2 * ROWS - 1500
    assert urls_read(dataset) == {lake.at("k=0/2.parquet")}


def test_partition_columns_alone_read_nothing(dataset):
    assert dataset.count([("k", "=", 1)]) == 2 * ROWS
    assert dataset.count([("k", ">", 5)]) == 0
    assert dataset.max("k", [("k", "<", 1)]) == 0
    assert not data_gets(dataset)


def test_extremes_under_filters_that_metadata_decide(dataset):
    assert dataset.max("id", [("k", "=", 0)]) == 3 * ROWS - 1
    assert dataset.max("id", [("id", "<", 1001)]) == 1000
    assert dataset.min("word", [("group", "==", 7)]) is None


@pytest.mark.parametrize("version", [2, 3])
def test_segments_tell_counts_and_extremes_without_data(lakes, tmp_path, version):
    lake = lakes("http")
    for n in range(3):
        lake.put(f"{n}.dat", doris(file(n), tmp_path, version=version))
    with rangeio.Session(profile=SMALL_TAIL) as session:
        dataset = lake.open(session, schema={0: "id", 1: "word", 2: "group"})
        assert dataset.count() == 3 * ROWS
        assert (dataset.min("id"), dataset.max("id")) == (0, 3 * ROWS - 1)
        assert not data_gets(dataset), str(dataset.trace)
        assert (dataset.min("word"), dataset.max("word")) == ("0" * 10, f"2{ROWS - 1:09d}")
        assert dataset.count([("id", "<", 10)]) == 10


def test_files_without_statistics_are_read(lakes, tmp_path):
    lake = lakes("http")
    for n in range(2):
        lake.put(f"{n}.parquet", parquet(file(n), write_statistics=False))
    made = lance(file(2), tmp_path)
    if made is not None:
        lake.put("2.lance", made)
    count = len(lake.names)
    with rangeio.Session(profile=SMALL_TAIL) as session:
        dataset = lake.open(session)
        assert dataset.count() == count * ROWS
        assert not data_gets(dataset)
        assert (dataset.min("id"), dataset.max("id")) == (0, count * ROWS - 1)
        assert len(urls_read(dataset)) == count
        assert dataset.count([("id", ">=", ROWS + 5)]) == (count - 1) * ROWS - 5


def test_where_there_is_no_order(lakes, session):
    lake = lakes("memory")
    lake.put("a.parquet", parquet(pa.table({"l": [[1]], "s": [{"x": 1, "y": 2}], "i": [3]})))
    dataset = lake.open(session)
    for column in ("l", "s"):
        with pytest.raises(RequestError, match=r"order|one column"):
            dataset.min(column)
    assert dataset.max("s.x") == 1
    with pytest.raises(RequestError):
        dataset.max("*")
    assert (dataset.max("i"), dataset.max(dataset.schema["i"].unique_id)) == (3, 3)


def test_zeros_and_numbers_that_are_none(lakes, session):
    lake = lakes("memory")
    lake.put("a.parquet", parquet(pa.table({"f": [math.nan, math.nan]})))
    lake.put("b.parquet", parquet(pa.table({"f": pa.array([None, None], pa.float64())})))
    dataset = lake.open(session)
    assert (dataset.min("f"), dataset.max("f")) == (None, None)
    lake.put("c.parquet", parquet(pa.table({"f": [-0.0, 0.0]})))
    again = lake.open(session)
    assert (again.min("f"), again.max("f")) == (0.0, 0.0)
    assert again.count([("f", "==", 0.0)]) == 2


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (pa.array(["b", "a", None, "b"]).dictionary_encode(), "a", "b"),
        (pa.array([1.5, None, -2.0], pa.float16()), -2.0, 1.5),
        (pa.array([2**64 - 1, 0, 1], pa.uint64()), 0, 2**64 - 1),
    ],
    ids=["dictionary", "float16", "uint64"],
)
def test_types_that_arrow_does_not_order_itself(lakes, session, values, low, high):
    lake = lakes("memory")
    for n in range(2):
        lake.put(f"{n}.parquet", parquet(pa.table({"c": values.slice(n)})))
    dataset = lake.open(session)
    assert (dataset.min("c"), dataset.max("c")) == (low, high)
    assert dataset.count([("c", "is null")]) == 2 * values.null_count


@pytest.mark.parametrize("version", [2, 3])
def test_cut_statistics_of_segments_are_not_taken_for_values(lakes, session, tmp_path, version):
    words = ["a" * 600, "z" * 600 + "q", "z" * 600 + "r", None]
    lake = lakes("memory")
    for n in range(2):
        part = pa.table({"t": words[2 * n : 2 * n + 2], "f": [math.nan, -0.0]})
        lake.put(f"{n}.dat", doris(part, tmp_path, version=version))
    dataset = lake.open(session, schema={0: "t", 1: "f"})
    assert (dataset.min("t"), dataset.max("t")) == (words[0], words[2])
    assert dataset.count([("t", ">", words[1])]) == 1
    assert (dataset.min("f"), dataset.max("f")) == (0.0, 0.0)
    assert dataset.count([("f", "<=", 0)]) == 2
