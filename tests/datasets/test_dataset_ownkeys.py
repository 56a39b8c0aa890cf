"""Columns that are in some paths and in some files: the path counts where it has the key."""

import datetime as dt
import operator
import pickle
from functools import reduce

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_files import numbered

import rangeio
from rangeio.datasets.finding.partitions import NULL
from rangeio.errors import BadFilter, FormatError, NoSuchColumn, RequestError, Unsupported

FILES = {
    "year=2023/a.parquet": {"region": ["eu", "own"], "v": [1, 10]},
    "year=2024/region=us/a.parquet": {"v": [2]},
    f"year=2025/region={NULL}/a.parquet": {"v": [3]},
    "year=2026/a.parquet": {"v": [4]},
    "year=2027/region=asia/a.parquet": {"region": ["own"], "v": [5]},
}
FILTERS = [
    [("region", op, word)]
    for op in ("==", "!=", "<", ">=")
    for word in ("eu", "us", "asia", "own")
] + [
    [("region", "is null")],
    [("region", "is not null")],
    [("region", "in", ["eu", "asia"])],
    [("region", "not in", ["eu", "us"])],
    [("region", "==", "eu"), ("year", "==", 2023)],
    [[("region", "==", "own")], [("v", "==", 4)]],
]  # fmt: skip


def write(root, files):
    for name, table in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), root / name)
    return str(root)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write(tmp_path_factory.mktemp("keys"), FILES)


@pytest.fixture(scope="module")
def theirs(root):
    """The same, as pyarrow reads it."""
    return pads.dataset(root, partitioning="hive").to_table()


SAID = {
    "is null": lambda at, _: at.is_null(),
    "is not null": lambda at, _: at.is_valid(),
    "in": lambda at, values: at.isin(values),
    "not in": lambda at, values: ~at.isin(values) & at.is_valid(),  # a null is in no list
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">=": operator.ge,
}  # fmt: skip


def matching(table, filters):
    """The rows that pyarrow finds."""
    groups = filters if isinstance(filters[0], list) else [filters]
    words = [[(name, op, *value, None) for name, op, *value in group] for group in groups]
    said = [[SAID[op](pc.field(name), value) for name, op, value, *_ in group] for group in words]
    return table.filter(reduce(operator.or_, (reduce(operator.and_, group) for group in said)))


def test_the_path_counts_where_it_has_the_key(root, theirs):
    ours = rangeio.dataset(root)
    assert ours.read(["region"]) == theirs.select(["region"])
    assert ours.read() == theirs
    assert ours.read(["region", "v"]) == theirs.select(["region", "v"])
    assert ours.read(["year"]) == theirs.select(["year"])
    assert pa.table(pickle.loads(pickle.dumps(ours))) == theirs
    assert ours.schema.names == theirs.schema.names


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_filters_find_what_pyarrow_finds(root, theirs, filters):
    expected = matching(theirs, filters)
    ours = rangeio.dataset(root)
    assert ours.read(["v"], filters=filters) == expected.select(["v"])
    assert ours.read(["region"], filters=filters) == expected.select(["region"])
    assert ours.count(filters) == len(expected)
    known = expected["region"].drop_null().to_pylist()
    assert ours.min("region", filters) == min(known, default=None)
    assert ours.max("region", filters) == max(known, default=None)
    plan = pickle.loads(pickle.dumps(ours.plan(["region", "v"], filters=filters)))
    parts = [part.read() for part in plan.split(3)]
    assert pa.concat_tables([*parts, plan.schema.empty_table()]) == expected.select(["region", "v"])


def test_a_file_whose_path_says_otherwise_is_not_opened(tmp_path):
    root = write(tmp_path, FILES)
    (tmp_path / "year=2024/region=us/a.parquet").write_bytes(b"no file of any format")
    assert rangeio.dataset(root).read(["v"], filters=[("region", "==", "eu")]).num_rows == 1
    (tmp_path / "year=2026/a.parquet").write_bytes(b"no file of any format")
    with pytest.raises(FormatError):  # it may have the column itself
        rangeio.dataset(root).read(["v"], filters=[("region", "==", "eu")])


def test_polars_sees_the_same(root, theirs):
    lazy = rangeio.dataset(root).polars()
    assert lazy.collect().to_arrow().to_pylist() == theirs.to_pylist()
    found = lazy.filter(pl.col("region") == "eu").select("v").collect()
    assert found.to_series().to_list() == [1]


WORDS = st.sampled_from(["eu", "us"])
ROWS = st.lists(st.one_of(st.none(), WORDS), min_size=1, max_size=3)
KEY = st.one_of(st.none(), st.just(NULL), WORDS)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(KEY, st.one_of(st.none(), ROWS)), min_size=1, max_size=5), WORDS)
def test_any_mixture_is_pyarrow_s(tmp_path_factory, files, word):
    if not any(key not in (None, NULL) for key, _ in files):
        return  # pyarrow wants a value to infer from
    made = {}
    for i, (key, held) in enumerate(files):
        table = {"v": pa.array(np.arange(len(held or [0])) + 10 * i)}
        table |= {} if held is None else {"region": pa.array(held, pa.string())}
        made[f"n={i}/" + ("" if key is None else f"region={key}/") + "f.parquet"] = pa.table(table)
    root = write(tmp_path_factory.mktemp("mixed"), made)
    schema = pa.schema([("v", pa.int64()), ("region", pa.string())])
    theirs = pads.dataset(
        root, schema=schema.append(pa.field("n", pa.int32())), partitioning="hive"
    )
    expected = theirs.to_table().select(["v", "region"])
    ours = rangeio.dataset(root)
    assert ours.read(["v", "region"]) == expected
    for filters in ([("region", "==", word)], [("region", "is null")], [("region", "!=", word)]):
        assert ours.read(["v", "region"], filters=filters) == matching(expected, filters)
        assert ours.count(filters) == len(matching(expected, filters))


# ---- types ---------------------------------------------------------------------------------------


def test_the_two_are_unified_like_columns_of_files(tmp_path):
    large = pa.array([1, 2**40], pa.int64())
    root = write(tmp_path, {"a.parquet": {"k": large}, "k=7/b.parquet": {"v": [1]}})
    ours = rangeio.dataset(root)
    assert ours.read(["k"]) == pa.table({"k": pa.array([1, 2**40, 7], pa.int64())})
    assert ours.read(["k"], filters=[("k", ">=", 7)])["k"].to_pylist() == [2**40, 7]
    assert (ours.min("k"), ours.max("k"), ours.count([("k", "==", 7)])) == (1, 2**40, 1)


def test_types_that_do_not_go_together_are_named(tmp_path):
    files = {"a.parquet": {"k": ["x"], "v": [1]}, "k=7/b.parquet": {"v": [2]}}
    ours = rangeio.dataset(write(tmp_path, files))
    assert ours.read(["v"])["v"].to_pylist() == [1, 2]
    words = "'k' is string here and int32 in the folders' names: no type holds both"
    with pytest.raises(Unsupported, match=words) as caught:
        ours.read(["k"])
    assert caught.value.url == f"{tmp_path}/a.parquet"


def test_what_no_path_lacks_is_of_the_path_s_type_whatever_the_files_have(tmp_path):
    files = {"k=7/a.parquet": {"k": ["x"], "v": [1]}, "k=8/b.parquet": {"k": [1.5], "v": [2]}}
    table = rangeio.dataset(write(tmp_path, files)).read()
    assert table == pa.table({"k": pa.array([7, 8], pa.int32()), "v": [1, 2]})


def test_names_of_folders(tmp_path):
    files = {"2024/05/a.parquet": {"v": [1]}, "2023/b.parquet": {"month": [7], "v": [2]}}
    ours = rangeio.dataset(write(tmp_path, files), partitioning=["year", "month"])
    assert ours.read(["year", "month"]).to_pylist() == [
        {"year": 2023, "month": 7}, {"year": 2024, "month": 5},
    ]  # fmt: skip


# ---- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("both", [False, True])
def test_a_column_that_a_path_replaces_is_found_by_its_id(tmp_path, both):
    one = numbered(region=(7, pa.array(["own"])), v=(8, pa.array([1])))
    files = {"region=us/a.parquet": one} | ({"z.parquet": one} if both else {})
    ours = rangeio.dataset(write(tmp_path, files))
    assert ours.read(["region"])["region"].to_pylist() == ["us", "own"][: 1 + both]
    by_id = ours.read([7])
    assert by_id.to_pydict() == {"region#7": ["own", "own"][: 1 + both]}
    assert ours.read()["region"].to_pylist() == ["us", "own"][: 1 + both]
    assert ours.read([8])["v"].to_pylist() == [1, 1][: 1 + both]
    with pytest.raises(NoSuchColumn):
        ours.read([9])


# ---- declared ------------------------------------------------------------------------------------


def test_a_declared_type_is_read_out_of_the_path_s_text(tmp_path):
    root = write(tmp_path, {"m=01/a.parquet": {"v": [1]}, "m=12/b.parquet": {"v": [2]}})

    def read(kind):
        schema = pa.schema([("v", pa.int64()), ("m", kind)])
        return rangeio.dataset(root, schema=schema).read()["m"]

    assert read(pa.string()).to_pylist() == ["01", "12"]
    assert read(pa.int8()).to_pylist() == [1, 12]
    for kind in (pa.date32(), pa.timestamp("us"), pa.list_(pa.int8())):
        with pytest.raises(RequestError, match=r"'m' is '01' in the path, which is no"):
            read(kind)


def test_a_declared_type_holds_what_files_have_too(tmp_path):
    root = write(tmp_path, {"a.parquet": {"m": ["x"]}, "m=01/b.parquet": {"v": [2]}})
    ours = rangeio.dataset(root, schema=pa.schema([("m", pa.string())]))
    assert ours.read()["m"].to_pylist() == ["x", "01"]
    assert ours.read(filters=[("m", "==", "01")])["m"].to_pylist() == ["01"]
    assert ours.read(filters=[("m", "==", "x")])["m"].to_pylist() == ["x"]


# ---- what filters may say ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    files = {
        f"day=2024-01-{day:02}/month={day:02}/a.parquet": {
            "v": [day],
            "when": [dt.date(2024, 1, day)],
        }
        for day in range(1, 4)
    }
    return rangeio.dataset(write(tmp_path_factory.mktemp("days"), files))


@pytest.mark.parametrize(
    ("filters", "values"),
    [
        ([("day", "==", "2024-01-02")], [2]),
        (("day", "==", "2024-01-02"), [2]),
        ([("day", ">=", "2024-01-02")], [2, 3]),
        ([("day", "in", ["2024-01-01", dt.date(2024, 1, 3)])], [1, 3]),
        ([("day", "not in", ("2024-01-01",))], [2, 3]),
        ([("day", "in", {"2024-01-09"})], []),
        ([("day", "in", np.array(["2024-01-01"]))], [1]),
        ([(("day",), "==", "2024-01-02")], [2]),
        ([[("day", "==", "2024-01-02")], [("month", "==", 3)]], [2, 3]),
        ([("month", "==", 1)], [1]),
        ([("month", "==", "01")], [1]),
        ([("month", "in", ["01", 3])], [1, 3]),
        ([("month", "<", "03"), ("day", "is not null")], [1, 2]),
    ],
    ids=str,
)
def test_texts_against_dates_and_integers_of_paths(days, filters, values):
    assert days.read(["v"], filters=filters)["v"].to_pylist() == values
    assert days.count(filters) == len(values)
    left = days.explain(["v"], filters=filters)
    assert len(left.files) == len(values)


@pytest.mark.parametrize(
    "filters",
    [
        [("day", "==", "yesterday")],
        [("day", "==", "2024-02-30")],
        [("month", "==", "1.5")],
        [("month", "==", "")],
        [("when", "==", "2024-01-01")],  # of a file's own column
        [("v", "==", "1")],
        [("day", "in", "2024-01-01")],
    ],
    ids=str,
)
def test_texts_that_mean_nothing_are_refused(days, filters):
    with pytest.raises(BadFilter):
        days.read(["v"], filters=filters)
