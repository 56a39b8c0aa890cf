"""Hive-partitioned Parquet reads as pyarrow.dataset reads it: any schema, partition and filter."""

from __future__ import annotations

import datetime as dt
import operator
import uuid
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_files import KINDS, parquet, plain

import rangeio

VALUES = {
    pa.int64(): st.integers(-5, 5),
    pa.int8(): st.integers(-128, 127),
    pa.uint64(): st.one_of(st.integers(0, 3), st.just(2**64 - 1)),
    pa.float64(): st.sampled_from([-1.5, -0.0, 0.0, 2.5, float("inf"), float("nan")]),
    pa.float32(): st.sampled_from([-0.0, 0.5, 3.25]),
    pa.string(): st.sampled_from(["", "a", "b", "zz", "é" * 30]),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(dt.date(1969, 12, 30), dt.date(1970, 1, 3)),
    pa.timestamp("us", "UTC"): st.sampled_from(
        [dt.datetime(1969, 1, 1, tzinfo=dt.UTC), dt.datetime(2030, 5, 5, 5, tzinfo=dt.UTC)]
    ),
    pa.decimal128(7, 2): st.sampled_from([Decimal("-0.01"), Decimal("12345.67")]),
    pa.binary(): st.sampled_from([b"", b"\x00\xff", b"k"]),
}
NESTED = {
    pa.list_(pa.int32()): st.lists(st.none() | st.integers(0, 9), max_size=3),
    pa.struct([("x", pa.int16()), ("y", pa.string())]): st.fixed_dictionaries(
        {"x": st.none() | st.integers(0, 9), "y": st.none() | st.just("w")}
    ),
}
PARTITIONS = {
    "k": st.sampled_from(["0", "1", "7"]),
    "day": st.sampled_from(["2024-01-01", "2024-02-29"]),
    "word": st.sampled_from(["x", "y%20z", "__HIVE_DEFAULT_PARTITION__"]),
}
KINDS_OF_PARTITIONS = {"k": pa.int32(), "day": pa.date32(), "word": pa.string()}
LITERALS = {
    "k": st.sampled_from([0, 1, 5]),
    "day": st.sampled_from([dt.date(2024, 1, 1), dt.date(2024, 2, 1)]),
    "word": st.sampled_from(["x", "y z", "q"]),
}
COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass
class Case:
    """Files by name, what is asked of them, and how pyarrow is asked the same."""

    files: dict[str, pa.Table]
    columns: list[str] | None
    filters: list | None
    batch: int
    rows: list[int]
    span: tuple[int, int]


@st.composite
def cases(draw) -> Case:
    kinds = draw(st.lists(st.sampled_from([*VALUES, *NESTED]), min_size=1, max_size=4))
    names = [f"c{i}" for i in range(len(kinds))]
    made = VALUES | NESTED
    keys = draw(st.lists(st.sampled_from(list(PARTITIONS)), max_size=2, unique=True))
    files = {}
    for n in range(draw(st.integers(1, 4))):
        count = draw(st.sampled_from([0, 1, 5, 9]))
        columns = [
            pa.array(draw(st.lists(st.none() | made[k], min_size=count, max_size=count)), k)
            for k in kinds
        ]
        folders = "".join(f"{key}={draw(PARTITIONS[key])}/" for key in keys)
        files[f"{folders}f{n}.parquet"] = pa.table(columns, names=names)
    known = dict(zip(names, kinds, strict=True)) | {k: KINDS_OF_PARTITIONS[k] for k in keys}
    flat = [name for name, kind in known.items() if kind not in NESTED]
    total = sum(one.num_rows for one in files.values())
    start = draw(st.integers(0, total))
    return Case(
        files,
        draw(st.none() | st.lists(st.sampled_from(list(known)), min_size=1, unique=True)),
        draw(st.none() | filters_of(flat, known)) if flat else None,
        draw(st.sampled_from([1, 3, 1000])),
        draw(st.lists(st.integers(0, total - 1), max_size=6)) if total else [],
        (start, draw(st.integers(start, total))),
    )


def filters_of(flat: list[str], known: dict[str, pa.DataType]):
    """Lists of lists of conditions."""

    def condition(name: str):
        literals = LITERALS[name] if name in LITERALS else VALUES[known[name]]
        return st.one_of(
            st.tuples(st.just(name), st.sampled_from(list(COMPARED)), literals),
            st.tuples(st.just(name), st.sampled_from(["in", "not in"]), st.lists(literals)),
            st.tuples(st.just(name), st.sampled_from(["is null", "is not null"])),
        )

    one = st.sampled_from(flat).flatmap(condition)
    return st.lists(st.lists(one, min_size=1, max_size=2), min_size=1, max_size=2)


def expression(filters: list, kinds: dict[str, pa.DataType]) -> pc.Expression:
    """The same filter as Arrow's own."""

    def one(name: str, word: str, value: object = None) -> pc.Expression:
        field = pc.field(name)
        if word.startswith("is"):
            return field.is_null() if word == "is null" else field.is_valid()
        if word in COMPARED:
            return COMPARED[word](field, pa.scalar(value, kinds[name]))
        found = field.isin(pa.array(value, kinds[name]))
        return found if word == "in" else ~found & field.is_valid()

    groups = [reduce(operator.and_, (one(*c) for c in group)) for group in filters]
    return reduce(operator.or_, groups)


def same(ours: pa.Table, theirs: pa.Table) -> None:
    """Equal, values and order; NaN equals NaN, -0.0 is told from 0.0. Partition columns, of which
    pyarrow has only int32 and string, are compared in our types."""
    ours.validate(full=True)
    theirs = plain(theirs, {f.name: f.type for f in ours.schema})
    assert ours.schema.names == theirs.schema.names
    assert ours.num_rows == theirs.num_rows
    for name in ours.schema.names:
        assert repr(ours[name].to_pylist()) == repr(theirs[name].to_pylist()), name


@pytest.fixture(scope="module")
def session():
    with rangeio.Session() as one:
        yield one


def written(case: Case) -> tuple[str, pads.Dataset]:
    """The files in memory, and pyarrow's dataset of them, its partition columns typed as ours."""
    root, memory = f"/{uuid.uuid4().hex}", fsspec.filesystem("memory")
    for name, table in case.files.items():
        memory.makedirs(f"{root}/{name}".rpartition("/")[0], exist_ok=True)
        memory.pipe_file(f"{root}/{name}", parquet(table, row_group_size=4))
    keys = [part.partition("=")[0] for part in next(iter(case.files)).split("/")[:-1]]
    schema = pa.schema([(key, KINDS_OF_PARTITIONS[key]) for key in keys])
    theirs = pads.dataset(
        root,
        filesystem=memory,
        partitioning=pads.partitioning(schema, flavor="hive") if keys else None,
    )
    return root, theirs


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_any_read_equals_pyarrow(session, case):
    root, theirs = written(case)
    ours = rangeio.dataset(f"memory:/{root}", session=session)
    columns = case.columns
    kinds = {f.name: f.type for f in theirs.schema}
    asked = None if case.filters is None else expression(case.filters, kinds)
    wanted = theirs.to_table(columns=columns, filter=asked)
    read = ours.read(columns, filters=case.filters)
    same(read, wanted)
    if asked is not None:
        same(ours.read(columns, filters=asked), wanted)
        assert ours.count(case.filters) == wanted.num_rows
    scanned = ours.scan(columns, filters=case.filters, batch_rows=case.batch)
    batches = list(scanned)
    assert all(0 < one.num_rows <= case.batch for one in batches)
    same(pa.Table.from_batches(batches, scanned.schema), wanted)
    same(ours.read(columns, filters=case.filters, limit=3), wanted.slice(0, 3))
    same(ours.head(4, columns), theirs.to_table(columns=columns).slice(0, 4))
    fsspec.filesystem("memory").rm(root, recursive=True)


@settings(max_examples=40, deadline=None)
@given(case=cases())
def test_rows_are_those_of_the_whole(session, case):
    root, theirs = written(case)
    ours = rangeio.dataset(f"memory:/{root}", session=session)
    whole = theirs.to_table(columns=case.columns)
    start, stop = case.span
    same(ours.read(case.columns, rows=slice(start, stop)), whole.slice(start, stop - start))
    same(ours.read(case.columns, rows=case.rows), whole.take(pa.array(case.rows, pa.int64())))
    if case.filters is not None:
        # Rows are chosen first, filters apply to them.
        every = theirs.to_table().append_column("#", pa.array(range(whole.num_rows)))
        kinds = {f.name: f.type for f in every.schema}
        kept = every.filter(expression(case.filters, kinds)).column("#").to_pylist()
        wanted = whole.take(pa.array([r for r in case.rows if r in kept], pa.int64()))
        read = ours.read(case.columns, rows=case.rows, filters=case.filters)
        same(read, wanted)
        limited = ours.read(case.columns, rows=case.rows, filters=case.filters, limit=2)
        same(limited, wanted.slice(0, 2))
        span = whole.take(pa.array([r for r in kept if start <= r < stop], pa.int64()))
        sliced = slice(start, stop)
        same(ours.read(case.columns, rows=sliced, filters=case.filters), span)
        scanned = ours.scan(case.columns, rows=sliced, filters=case.filters, batch_rows=2)
        same(scanned.read_all(), span)
    assert ours.num_rows == whole.num_rows
    assert len(ours) == len(case.files)
    fsspec.filesystem("memory").rm(root, recursive=True)


# ---- the same over every store, and words of a read ---------------------------------------------

FILES = {
    f"year={year}/month={month}/{n}.parquet": pa.table(
        {
            "id": [year * 1000 + month * 10 + n, -n],
            "Name": [f"{year}", None],
            "s": pa.array([{"x": n, "Y": "w"}, None], pa.struct([("x", "i4"), ("Y", "str")])),
        }
    )
    for year in (2023, 2024)
    for month in (1, 2)
    for n in (0, 1)
}


@pytest.fixture(scope="module", params=KINDS)
def lake(request, lakes):
    made = lakes(request.param)
    for name, table in FILES.items():
        made.put(name, parquet(table))
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """pyarrow's table of FILES."""
    root = tmp_path_factory.mktemp("whole")
    for name, table in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(parquet(table))
    return pads.dataset(root, partitioning="hive").to_table()


def test_every_store_gives_the_same(lake, session, whole):
    dataset = lake.open(session)
    same(dataset.read(), whole)
    same(dataset.scan(batch_rows=1).read_all(), whole)
    same(dataset.read(["month", "id"], filters=[("year", "=", 2024)]),
         whole.filter(pc.field("year") == 2024).select(["month", "id"]))  # fmt: skip
    same(dataset.read(rows=[15, 0, 0, 7]), whole.take([15, 0, 0, 7]))
    same(dataset.read(rows=slice(3, 11)), whole.slice(3, 8))
    unordered = dataset.scan(ordered=False).read_all()
    assert sorted(map(repr, unordered.to_pylist())) == sorted(map(repr, whole.to_pylist()))
    assert (dataset.num_rows, len(dataset), len(dataset.files)) == (16, 8, 8)


@pytest.fixture(scope="module")
def dataset(session):
    root, memory = f"/{uuid.uuid4().hex}", fsspec.filesystem("memory")
    for name, table in FILES.items():
        memory.makedirs(f"{root}/{name}".rpartition("/")[0], exist_ok=True)
        memory.pipe_file(f"{root}/{name}", parquet(table))
    return rangeio.dataset(f"memory:/{root}", session=session)


def test_flatten_names_leaves_by_their_path(dataset, whole):
    flat = dataset.read(["s", "year", "id"], flatten=True)
    assert flat.schema.names == ["s.x", "s.Y", "year", "id"]
    same(flat.select(["s.x"]).rename_columns(["s.x"]),
         pa.table({"s.x": pc.struct_field(whole["s"], "x")}))  # fmt: skip
    assert dataset.scan(["s", "year", "id"], flatten=True, batch_rows=3).read_all() == flat
    assert dataset.read(["s", "year"], rows=[3, 1], flatten=True) == flat.select(
        ["s.x", "s.Y", "year"]
    ).take([3, 1])


def test_letters_may_differ_in_case_where_that_is_said(dataset, whole):
    same(dataset.read(["NAME", "YEAR", "s.y"], case_sensitive=False).select(["Name", "year"]),
         whole.select(["Name", "year"]))  # fmt: skip
    with pytest.raises(rangeio.errors.NoSuchColumn, match="NAME"):
        dataset.read(["NAME"])
    scanned = dataset.scan(["name"], case_sensitive=False, limit=2).read_all()
    assert scanned.to_pydict() == {"Name": ["2023", None]}


@pytest.mark.parametrize("words", [[], ["year"], ["year", "month"]], ids=["none", "one", "two"])
def test_columns_that_no_file_has_to_be_read_for(dataset, whole, words):
    read = dataset.read(words)
    assert (read.num_rows, read.schema.names) == (16, words)
    assert dataset.read(words, limit=5).num_rows == 5
    assert dataset.read(words, rows=[9, 2, 2]).num_rows == 3
    assert dataset.read(words, rows=[9, 2, 2], filters=[("year", "=", 2024)]).num_rows == 1
    assert sum(b.num_rows for b in dataset.scan(words, batch_rows=3)) == 16
    assert dataset.read(words, filters=[("id", ">", 2023000)]).num_rows == 8
    if words:
        same(read, whole.select(words))
        same(dataset.read(words, rows=[9, 2]), whole.select(words).take([9, 2]))


def test_a_filter_that_no_file_matches(dataset):
    for filters in ([("year", ">", 2030)], [("id", ">", 10**9)], [[("month", "==", 9)]]):
        read = dataset.read(filters=filters)
        assert read.num_rows == 0
        assert read.schema.names == ["id", "Name", "s", "year", "month"]
        assert dataset.scan(filters=filters).read_all().schema == dataset.read().schema
        assert dataset.count(filters) == 0
        assert dataset.min("id", filters) is None


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ({"limit": -1}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"on_error": "ignore"}, "on_error"),
        ({"rows": [16]}, "16"),
        ({"rows": [-1]}, "-1"),
        ({"filters": []}, "filter"),
        ({"columns": ["nope"]}, "nope"),
        ({"progress": 3}, "progress"),
    ],
    ids=lambda one: "" if isinstance(one, str) else next(iter(one)),
)
def test_words_that_make_no_sense(dataset, words, match):
    with pytest.raises(rangeio.errors.RequestError, match=match):
        dataset.read(**words)
    with pytest.raises(rangeio.errors.RequestError, match=match):
        dataset.scan(**words).read_all()


def test_no_rows_at_all(session):
    root, memory = f"/{uuid.uuid4().hex}", fsspec.filesystem("memory")
    memory.makedirs(root)
    memory.pipe_file(f"{root}/a.parquet", parquet(pa.table({"a": pa.array([], pa.int8())})))
    empty = rangeio.dataset(f"memory:/{root}", session=session)
    assert empty.read().schema == pa.schema([("a", pa.int8())])
    assert (empty.num_rows, empty.count(), empty.read(rows=[]).num_rows) == (0, 0, 0)
    assert (empty.min("a"), empty.max("a")) == (None, None)
    assert empty.head().num_rows == 0
    assert empty.explain().gets == 0


def test_where_there_is_no_file(session, tmp_path):
    for target in (tmp_path, tmp_path / "*.parquet", tmp_path / "none.parquet"):
        with pytest.raises(rangeio.errors.NotFound):
            rangeio.dataset(target, session=session)
