"""Five generations of real files: what is read, filtered and told goes by the unique_ids."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from many_files import doris, numbered, parquet

import rangeio
from rangeio.errors import FormatError, NoSuchColumn, RequestError

ROWS = 4
KINDS = {"i4": pa.int32(), "i8": pa.int64(), "f4": pa.float32(), "f8": pa.float64(),
         "d9": pa.decimal128(9, 2), "d20": pa.decimal128(20, 2), "str": pa.string()}  # fmt: skip
GENERATIONS = [
    {"key": (1, "i4"), "price": (2, "f4"), "note": (3, "str")},
    {"key": (1, "i8"), "price": (2, "f4"), "note": (3, "str"), "sum": (4, "d9")},  # add, widen
    {"key": (1, "i8"), "cost": (2, "f4"), "sum": (4, "d9")},  # rename, drop
    {"key": (1, "i8"), "cost": (2, "f8"), "note": (5, "i8"), "sum": (4, "d9")},  # re-add, widen
    {"sum": (4, "d20"), "key": (1, "i8"), "cost": (2, "f8"), "note": (5, "i8")},  # swap, widen
]
IDS = {1: "key", 2: "cost", 3: "note#3", 4: "sum", 5: "note"}
TYPES = {"key": "i8", "cost": "f8", "sum": "d20", "note": "i8"}


def value(unique_id: int, n: int, row: int):
    """What a column holds, by its id and row; every third is null."""
    number = n * ROWS + row
    if (number + unique_id) % 3 == 0:
        return None
    return f"note {number}" if unique_id == 3 else number * 10 + unique_id


def array(values: list, kind: str) -> pa.Array:
    """Of whole numbers, or of text as it is."""
    make = {"d": Decimal, "f": float}.get(kind[0], lambda one: one)
    return pa.array([None if one is None else make(one) for one in values], KINDS[kind])


def table(n: int) -> pa.Table:
    columns = {}
    for name, (unique_id, kind) in GENERATIONS[n].items():
        columns[name] = unique_id, array([value(unique_id, n, r) for r in range(ROWS)], kind)
    return numbered(**columns)


def expected(name: str) -> list:
    """A column of the dataset, by its id."""
    (unique_id,) = (i for i, known in IDS.items() if known == name)
    out = []
    for n, columns in enumerate(GENERATIONS):
        has = any(i == unique_id for i, _ in columns.values())
        out += [value(unique_id, n, row) if has else None for row in range(ROWS)]
    return array(out, TYPES.get(name, "str")).to_pylist()


@pytest.fixture(params=["parquet", "V2", "V3"])
def dataset(request, session, lakes, tmp_path):
    """All five generations, two files of the third."""
    lake = lakes("memory")
    for n in range(5):
        made = table(n)
        if request.param == "parquet":
            lake.put(f"{n}.parquet", parquet(made, row_group_size=3))
        else:
            lake.put(f"{n}.dat", doris(made, tmp_path, version=int(request.param[1])))
    names = None
    if request.param != "parquet":
        names = {1: "key", 2: "cost", 3: "words", 4: "sum", 5: "note"}
    return lake.open(session, schema=names)


def named(dataset) -> dict[str, str]:
    """The dataset's name of each of ours: segments have no names, so none is ever taken over."""
    other = "words" if dataset.files[0].url.endswith(".dat") else "note#3"
    return {"key": "key", "cost": "cost", "sum": "sum", "note": "note", "note#3": other}


@pytest.mark.parametrize("name", ["key", "cost", "sum", "note", "note#3"])
def test_a_column_goes_by_its_id(dataset, name):
    read = dataset.read([named(dataset)[name]])
    assert read.column(0).to_pylist() == expected(name)
    assert read.schema.types == [KINDS[TYPES.get(name, "str")]]
    unique_id = next(i for i, known in IDS.items() if known == name)
    assert dataset.read([unique_id]).column(0).to_pylist() == expected(name)
    assert dataset.scan([unique_id], batch_rows=3).read_all() == read


def test_all_of_them_and_the_schema(dataset):
    read = dataset.read()
    by_id = {c.unique_id: c for c in dataset.schema}
    assert [by_id[i].type for i in (1, 2, 4, 5)] == [KINDS[TYPES[IDS[i]]] for i in (1, 2, 4, 5)]
    assert all(c.id_declared for c in dataset.schema)
    for column in dataset.schema:
        name = IDS[column.unique_id]
        assert read[column.id.name].to_pylist() == expected(name), name
    assert read.schema.names == list(dataset.schema.names)
    assert [how for _, _, how in dataset.matched] == ["id"] * len(dataset.matched)
    assert sum(files for _, files, _ in dataset.matched) == 5
    first, *_ = dataset.matched
    assert first[0] == dataset.files[0].url


@pytest.mark.parametrize(
    ("name", "word", "literal"),
    [
        ("cost", ">", 60.5), ("cost", "==", 22), ("cost", "is null", None),
        ("key", "<", 100), ("key", ">=", 2**40), ("key", "in", [1, 51, 191]),
        ("sum", ">", Decimal(150)), ("sum", "is not null", None), ("note", "==", 125),
        ("note", "is null", None), ("note#3", "==", "note 5"), ("note#3", "is not null", None),
    ],
)  # fmt: skip
def test_filters_on_what_was_renamed_widened_or_is_missing(dataset, name, word, literal):
    names = named(dataset)
    whole = pa.table({n: expected(n) for n in names})
    field = pc.field(name)
    wanted = {
        ">": lambda: field > literal, "==": lambda: field == literal, "<": lambda: field < literal,
        ">=": lambda: field >= literal, "in": lambda: field.isin(literal),
        "is null": field.is_null, "is not null": field.is_valid,
    }[word]()  # fmt: skip
    rows = whole.filter(wanted)
    asked = [(names[name], word) if literal is None else (names[name], word, literal)]
    read = dataset.read([names["key"], names["sum"]], filters=asked)
    assert read.column(0).to_pylist() == rows["key"].to_pylist()
    assert read.column(1).to_pylist() == rows["sum"].to_pylist()
    assert dataset.count(asked) == rows.num_rows
    values = [one for one in rows["key"].to_pylist() if one is not None]
    assert dataset.max("key", asked) == max(values, default=None)
    assert dataset.min("key", asked) == min(values, default=None)


def test_extremes_over_generations(dataset):
    names = named(dataset)
    for name in ("key", "cost", "sum", "note", "note#3"):
        values = [one for one in expected(name) if one is not None]
        assert dataset.min(names[name]) == min(values)
        assert dataset.max(names[name]) == max(values)


def test_a_name_that_was_never_there(dataset):
    with pytest.raises(NoSuchColumn, match="price2"):
        dataset.read(["price2"])


# ---- columns without declared ids, and what the caller declares ---------------------------------


def put_plain(lake, *tables: pa.Table) -> None:
    for n, one in enumerate(tables):
        lake.put(f"{n}.parquet", parquet(one))


@pytest.fixture
def lake(lakes):
    return lakes("memory")


def test_names_say_what_was_renamed(lake, session):
    put_plain(lake, pa.table({"old": [1, 2], "s": [{"x": 1}, None]}),
              pa.table({"new": [3], "s": [{"y": 5}]}))  # fmt: skip
    apart = lake.open(session)
    assert list(apart.schema.names) == ["old", "s", "new"]
    assert apart.read(["old", "new"]).to_pydict() == {"old": [1, 2, None], "new": [None, None, 3]}
    one = lake.open(session, names={"old": "new", "s.x": "s.y"})
    assert one.read().to_pydict() == {"new": [1, 2, 3], "s": [{"y": 1}, None, {"y": 5}]}
    assert one.read(["s"], filters=[("new", ">=", 2)]).num_rows == 2
    assert [how for _, _, how in one.matched] == ["name", "name"]
    with pytest.raises(NoSuchColumn):
        one.read(["old"])


def test_a_declared_schema(lake, session):
    put_plain(lake, pa.table({"a": pa.array([1, None], pa.int16()), "b": ["x", "y"]}),
              pa.table({"b": ["z"]}))  # fmt: skip
    schema = pa.schema(
        [
            pa.field("b", pa.large_string()),
            pa.field("c", pa.date32()),
            pa.field("a", pa.float64()),
            pa.field("d", pa.int8(), metadata={"default": "7"}),
        ]
    )
    dataset = lake.open(session, schema=schema)
    read = dataset.read()
    assert read.to_pydict() == {
        "b": ["x", "y", "z"], "c": [None] * 3, "a": [1.0, None, None], "d": [7] * 3
    }  # fmt: skip
    assert read.schema.types == schema.types
    assert dataset.schema.names == tuple(schema.names) or list(dataset.schema.names) == schema.names
    assert dataset.scan().schema.types == schema.types
    assert dataset.read(["b"], filters=[("d", "==", 7)])["b"].to_pylist() == ["x", "y", "z"]
    assert dataset.read(["b"], filters=[("a", ">", 0.5)])["b"].to_pylist() == ["x"]
    assert dataset.count([("c", "is null")]) == 3
    assert (dataset.min("d"), dataset.max("d"), dataset.max("c")) == (7, 7, None)


def test_partition_columns_take_the_declared_type(lake, session):
    for year in (2023, 2024):
        lake.put(f"year={year}/a.parquet", parquet(pa.table({"a": [year]})))
    schema = pa.schema([("year", pa.int16()), ("a", pa.int64())])
    dataset = lake.open(session, schema=schema)
    assert dataset.read().to_pydict() == {"year": [2023, 2024], "a": [2023, 2024]}
    assert dataset.read().schema.types == schema.types
    assert dataset.read(filters=[("year", "=", 2024)])["a"].to_pylist() == [2024]
    only = lake.open(session, schema=pa.schema([("a", pa.int64())]))
    assert only.read().to_pydict() == {"a": [2023, 2024]}


@pytest.mark.parametrize("given", [False, True], ids=["found", "declared"])
def test_a_change_that_is_not_lossless(lake, session, given):
    put_plain(lake, pa.table({"a": [1], "b": ["x"]}), pa.table({"a": [1], "b": [2.5]}))
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())]) if given else None
    dataset = lake.open(session, schema=schema)
    with pytest.raises(RequestError if given else FormatError) as caught:
        dataset.read(["b"])
    said = str(caught.value)
    assert all(word in said for word in (lake.at("1.parquet"), "'b'", "double", "string"))
    assert dataset.read(["a"]).to_pydict() == {"a": [1, 1]}
    assert dataset.read([]).num_rows == 2


def test_a_time_that_no_finer_unit_holds(lake, session):
    far = pa.array([10**15], pa.timestamp("ms"))
    put_plain(lake, pa.table({"t": far}), pa.table({"t": pa.array([1], pa.timestamp("ns"))}))
    with pytest.raises(FormatError, match="timestamp") as caught:
        lake.open(session).read()
    assert caught.value.url == lake.at("0.parquet")
    again = lake.open(session)
    kept = again.read(on_error="skip")
    assert kept["t"].cast(pa.int64()).to_pylist() == [1]
    assert [one.url for one in again.skipped] == [lake.at("0.parquet")]


def test_many_files_of_one_generation_are_told_as_one(lake, session):
    put_plain(lake, *[pa.table({"a": [n]}) for n in range(6)])
    assert lake.open(session).matched == ((lake.at("0.parquet"), 6, "name"),)


def test_columns_that_only_files_in_the_middle_have(lake, session):
    put_plain(lake, pa.table({"a": [1]}), pa.table({"a": [2], "odd": ["x"]}), pa.table({"a": [3]}))
    assert lake.open(session).read(["odd"])["odd"].to_pylist() == [None, "x", None]
    assert lake.open(session).read()["odd"].to_pylist() == [None, "x", None]
    filtered = lake.open(session).read(["a"], filters=[("odd", "==", "x")])
    assert filtered["a"].to_pylist() == [2]
    assert lake.open(session).head(1, ["odd"]).num_rows == 1
    assert rangeio.dataset(lake.at("1.parquet"), session=session).read()["odd"].to_pylist() == ["x"]
