"""What a read gives is told by the files and the request: never by what was read before."""

from __future__ import annotations

import pyarrow as pa
import pytest
from many_files import numbered, parquet

from rangeio.errors import FormatError, RequestError

NUMBERED = [
    numbered(a=(1, pa.array([10])), z=(9, pa.array([0]))),
    numbered(b=(1, pa.array([11])), a=(2, pa.array([12])), z=(9, pa.array([1]))),
    numbered(z=(9, pa.array([2]))),
]
FIRST = [("p", "==", 0)]


def filled(lake, tables):
    for n, table in enumerate(tables):
        lake.put(f"p={n}/part.parquet", parquet(table))
    return lake


def outcome(work):
    """What came of it, errors too."""
    try:
        return work()
    except (FormatError, RequestError) as error:
        return type(error), str(error)


READS = {
    "filtered": lambda ds: ds.read(["a", "p"], filters=FIRST),
    "all": lambda ds: ds.read(["a", "p"]),
    "everything": lambda ds: ds.read(),
    "everything of one": lambda ds: ds.read(filters=FIRST),
    "head": lambda ds: ds.head(1, ["a"]),
    "rows": lambda ds: ds.read(["a"], rows=[1]),
    "scan": lambda ds: ds.scan(["a"], filters=FIRST).read_all(),
    "plan": lambda ds: ds.plan(["a"], filters=FIRST).read(),
    "count": lambda ds: ds.count([("a", "is not null"), ("p", "<", 2)]),
    "min": lambda ds: ds.min("a", FIRST),
    "max": lambda ds: ds.max("a"),
    "explain": lambda ds: ds.explain(["a"], filters=FIRST).columns,
    "polars": lambda ds: ds.polars().collect_schema(),
    "schema": lambda ds: [*ds.schema.names],
}


@pytest.mark.parametrize("schema", [None, pa.schema([("a", pa.int64()), ("p", pa.int32())])])
@pytest.mark.parametrize("first", READS)
def test_what_names_mean(session, lakes, first, schema):
    lake = filled(lakes("memory"), NUMBERED)
    dataset = lake.open(session, schema=schema)
    READS[first](dataset)
    for name, read in READS.items():
        assert read(dataset) == read(lake.open(session, schema=schema)), name
    assert dataset.read(["a", "p"]).to_pydict() == {"a": [None, 12, None], "p": [0, 1, 2]}
    assert dataset.read(["a"], filters=FIRST).to_pydict() == {"a": [None]}
    if schema is None:
        assert dataset.read([1], filters=FIRST).column(0).to_pylist() == [10]
    assert dataset.head(1, ["a"]).to_pydict() == {"a": [None]}


def test_what_names_mean_below_a_struct(session, lakes):
    def table(*fields: tuple[str, int, int]) -> pa.Table:
        kinds = [
            pa.field(name, pa.int64(), metadata={"PARQUET:field_id": str(i)})
            for name, i, _ in fields
        ]
        value = {name: value for name, _, value in fields}
        return numbered(s=(5, pa.array([value], pa.struct(kinds))))

    tables = [
        table(("a", 1, 10), ("z", 9, 0)),
        table(("b", 1, 11), ("a", 2, 12)),
        table(("z", 9, 2)),
    ]
    lake = filled(lakes("memory"), tables)
    fresh = lake.open(session).read(["s.a"], filters=FIRST)
    assert fresh.to_pydict() == {"s": [{"a": None}]}
    dataset = lake.open(session)
    assert dataset.read(["s.a"])["s"].to_pylist() == [{"a": None}, {"a": 12}, {"a": None}]
    assert dataset.read(["s.a"], filters=FIRST) == fresh


def test_ids_of_the_middle_alone(session, lakes):
    """The first and the last file have none; a file that is read has."""
    plain = pa.table({"a": [1], "z": [0]})
    tables = [plain, NUMBERED[0], NUMBERED[1], plain]
    lake = filled(lakes("memory"), tables)
    words = {"filters": [("p", "==", 1)]}
    fresh = lake.open(session).read(["a"], **words)
    dataset = lake.open(session)
    dataset.read()
    assert dataset.read(["a"], **words) == fresh
    assert fresh.to_pydict() == {"a": [None]}


def test_the_price_is_that_of_the_schema(session, lakes):
    lake = filled(lakes("http"), NUMBERED)
    one, other = lake.open(session), lake.open(session)
    one.read(["a"], filters=[("z", "==", 0)])
    assert len(one.files.to_table().filter(pa.compute.field("rows") >= 0)) == 3
    assert other.schema is not None


def test_files_without_ids_are_opened_as_they_are_needed(session, lakes):
    lake = filled(lakes("memory"), [pa.table({"a": [n], "z": [n]}) for n in range(5)])
    dataset = lake.open(session)
    dataset.read(["a"], filters=FIRST)
    assert [one.rows for one in dataset.files] == [1, -1, -1, -1, 1]
    told = pa.field("a", pa.int64(), metadata={"unique_id": "1"})
    told = pa.schema([("p", pa.int32()), told])
    lake = filled(lakes("memory"), NUMBERED)
    dataset = lake.open(session, schema=told)
    assert dataset.read(["a"], filters=FIRST).to_pydict() == {"a": [10]}
    assert [one.rows for one in dataset.files] == [1, -1, 1]


CLASHES = [pa.table({"a": [kind], "b": [n]}) for n, kind in enumerate([1, 2, "three", 4])]
CALLS = {
    "one": lambda ds: ds.read(["a"], filters=FIRST),
    "two": lambda ds: ds.read(["a"], filters=[("p", "<", 2)]),
    "all": lambda ds: ds.read(["a"]),
    "b": lambda ds: ds.read(["b"]),
    "bad": lambda ds: ds.read(["a"], filters=[("p", "==", 2)]),
    "head": lambda ds: ds.head(1),
    "schema": lambda ds: ds.num_rows,
    "count": lambda ds: ds.count([("b", ">", 1)]),
    "skip": lambda ds: ds.read(["a"], on_error="skip"),
    "max": lambda ds: ds.max("a", FIRST),
    "plan": lambda ds: ds.plan(["a"], filters=FIRST).read(),
    "scan": lambda ds: ds.scan(["a"], limit=2).read_all(),
}


WHOLE = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("p", pa.int32())])


@pytest.mark.parametrize("schema", [None, WHOLE], ids=["found", "declared"])
@pytest.mark.parametrize("declared", [False, True], ids=["names", "ids"])
@pytest.mark.parametrize("before", CALLS)
def test_types_that_clash_elsewhere(session, lakes, before, schema, declared):
    tables = CLASHES
    if declared:
        kinds = [numbered(a=(1, t["a"].chunk(0)), b=(2, t["b"].chunk(0))) for t in CLASHES]
        tables = kinds
    lake = filled(lakes("memory"), tables)
    dataset = lake.open(session, schema=schema)
    outcome(lambda: CALLS[before](dataset))
    for after, call in CALLS.items():
        fresh = lake.open(session, schema=schema)
        found, wanted = (outcome(lambda ds=ds, call=call: call(ds)) for ds in (dataset, fresh))
        assert found == wanted, after
    assert CALLS["one"](dataset).to_pydict() == {"a": [1]}


def test_types_are_those_of_the_files_that_are_read(session, lakes):
    kinds = [pa.int8(), pa.int16(), pa.int64(), pa.int8()]
    lake = filled(lakes("memory"), [pa.table({"a": pa.array([1], kind)}) for kind in kinds])
    dataset = lake.open(session)
    for _ in range(2):
        assert dataset.read(["a"], filters=[("p", "==", 0)]).schema.field("a").type == pa.int8()
        assert dataset.read(["a"], filters=[("p", "<", 2)]).schema.field("a").type == pa.int16()
        assert dataset.scan(["a"], filters=[("p", "==", 0)], every_file=True).schema.types == [
            pa.int64()
        ]
        assert dataset.schema["a"].type == pa.int64()


@pytest.mark.parametrize("tables", [
    [{"a": [1], "b": [2]}],
    [{"b": [3]}, {"a": [1], "b": [2]}],
    [{"a": [4]}, {"a": [1], "b": [2]}, {"b": [3]}],
])  # fmt: skip
def test_two_columns_of_one_new_name(session, lakes, tables):
    lake = lakes("memory")
    for n, table in enumerate(tables):
        lake.put(f"{n}.parquet", parquet(pa.table(table)))
    dataset = lake.open(session, names={"a": "b"})
    wrong = next(n for n, table in enumerate(tables) if len(table) == 2)
    for words in (None, ["b"]):
        with pytest.raises(RequestError, match="several columns for 'b'") as caught:
            dataset.read(words)
        assert caught.value.url == lake.at(f"{wrong}.parquet")
