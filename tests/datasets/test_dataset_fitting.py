"""Tables of files made into the dataset's, and its filters made into theirs: nothing is lost."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from evolved_files import evolved, field, read, schema_of, taken
from hypothesis import given, settings
from hypothesis import strategies as st

import rangeio
from rangeio.condition import Fixed
from rangeio.datasets.evolving.evolution import Generation, unified
from rangeio.datasets.evolving.fitting import fit
from rangeio.errors import RequestError, Unsupported
from rangeio.predicate import Answer, Statistics, parse
from rangeio.schema import Schema
from rangeio.select import select
from rangeio.statistics import Outcome


def struct(*fields: pa.Field) -> pa.DataType:
    return pa.struct(fields)


def one_column(kind: pa.DataType, other: pa.DataType):
    """A dataset whose first files have ``kind`` and whose second have ``other``."""
    return evolved([field("a", kind)], [field("a", other)])


def fitted(dataset, array: pa.Array | pa.ChunkedArray, words=None, n: int = 0) -> pa.ChunkedArray:
    made = fit(dataset, n, select(dataset.schema, words).fields)
    table = made.table(taken(pa.table({"a": array}), made.fields))
    table.validate(full=True)
    return table.column(0)


# ---- what must be read --------------------------------------------------------------------------

DEEP = [
    field("s", struct(field("x", pa.int8(), 3), field("y", pa.string(), 4)), 2),
    field(
        "l", pa.list_(field("item", struct(field("q", pa.int8(), 7), field("r", pa.int8(), 8)))), 5
    ),
    field("m", pa.map_(pa.string(), struct(field("v", pa.int8(), 10))), 9),
    field("k", pa.int64(), 1),
]
DEEPER = [
    field("k", pa.int64(), 1),
    field("t", struct(field("z", pa.int8(), 6), field("w", pa.int16(), 3)), 2),
    field("l", pa.list_(field("element", struct(field("p", pa.int8(), 8)))), 5),
    field(
        "m", pa.map_(pa.string(), struct(field("v", pa.int16(), 10), field("u", pa.int8(), 11))), 9
    ),
]


def paths(fields) -> list[str]:
    return [leaf.id.name for one in fields for leaf in one.leaves()]


@pytest.mark.parametrize(
    ("words", "old", "new"),
    [
        (["k"], ["k"], ["k"]),
        (["t.w"], ["s.x"], ["t.w"]),
        (["t.y"], ["s.y"], ["t.z"]),
        (["t.z", "t.w"], ["s.x"], ["t.z", "t.w"]),
        (["t.z"], ["s.x"], ["t.z"]),
        (["l.p"], ["l.item.r"], ["l.element.p"]),
        (["l.q"], ["l.item.q"], ["l.element.p"]),
        (["m"], ["m.key", "m.value.v"], ["m.key", "m.value.v", "m.value.u"]),
        (["k", "t"], ["k", "s.x", "s.y"], ["k", "t.z", "t.w"]),
    ],
    ids=str,
)
def test_what_is_read_is_what_was_asked_or_the_cheapest_that_tells_nulls(words, old, new):
    dataset = evolved(DEEP, DEEPER)
    fields = select(dataset.schema, words).fields
    for schema, want in zip(dataset.generations, (old, new), strict=True):
        assert paths(fit(dataset, schema.schema, fields).fields) == want


def test_nothing_is_read_of_columns_that_a_file_lacks():
    dataset = evolved([field("a", pa.int8())], [field("b", pa.null()), field("c", pa.int8())])
    fields = select(dataset.schema, ["c", "b"]).fields
    made = fit(dataset, 0, fields)
    assert made.fields == ()
    table = made.table(pa.table({"zz": [1, 2, 3]}).select([]))
    assert table.schema == pa.schema([("c", pa.int8()), ("b", pa.null())])
    assert table.num_rows == 3
    assert table.column(0).null_count == 3
    none = fit(dataset, 0, ())
    assert none.table(pa.table({"a": [1, 2]}).select([])).num_rows == 2
    assert none.schema == pa.schema([])


def test_a_column_of_nulls_is_not_read():
    dataset = one_column(pa.null(), struct(field("x", pa.int8())))
    assert fit(dataset, 0, tuple(dataset.schema)).fields == ()
    found = read(
        dataset,
        [
            pa.table({"a": pa.nulls(2)}),
            pa.table({"a": [{"x": 1}]}).cast(pa.schema([("a", struct(field("x", pa.int8())))])),
        ],
    )
    assert found.to_pylist() == [{"a": None}, {"a": None}, {"a": {"x": 1}}]


# ---- what becomes of it -------------------------------------------------------------------------

DEEP_ROWS = [
    {
        "s": {"x": 1, "y": "a"},
        "l": [{"q": 1, "r": 2}, None, {"q": None, "r": 3}],
        "m": [("k", {"v": 1}), ("o", None)],
        "k": 1,
    },
    {"s": None, "l": None, "m": None, "k": None},
    {"s": {"x": None, "y": None}, "l": [], "m": [], "k": 2},
    {"s": {"x": 2, "y": "b"}, "l": [{"q": 4, "r": 5}], "m": [("k", {"v": 2})], "k": 3},
]
DEEP_READ = [
    {
        "t": {"w": 1, "y": "a", "z": None},
        "l": [{"q": 1, "p": 2}, None, {"q": None, "p": 3}],
        "m": [("k", {"v": 1, "u": None}), ("o", None)],
        "k": 1,
    },
    {"t": None, "l": None, "m": None, "k": None},
    {"t": {"w": None, "y": None, "z": None}, "l": [], "m": [], "k": 2},
    {
        "t": {"w": 2, "y": "b", "z": None},
        "l": [{"q": 4, "p": 5}],
        "m": [("k", {"v": 2, "u": None})],
        "k": 3,
    },
]


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize("stop", range(5))
def test_nested_columns_are_renamed_widened_and_filled_in_slices_too(start, stop):
    dataset = evolved(DEEP, DEEPER)
    whole = pa.Table.from_pylist(DEEP_ROWS, pa.schema(DEEP))
    made = fit(dataset, 0, tuple(dataset.schema))
    table = made.table(whole.slice(start, max(stop - start, 0)))
    table.validate(full=True)
    assert table.to_pylist() == DEEP_READ[start:stop]
    assert table.schema == dataset.schema.arrow


@pytest.mark.parametrize(
    "words", [None, ["t.z"], ["l.q"], ["l.p", "k"], ["m", "t.y"], ["t.w", "t.y", "l"]], ids=str
)
def test_real_files_give_the_same(tmp_path, words):
    whole = pa.Table.from_pylist(DEEP_ROWS, pa.schema(DEEP))
    newer = pa.schema(DEEPER).empty_table()
    for name, table in (("0", whole), ("1", newer)):
        pq.write_table(table, tmp_path / name)
    with rangeio.open(str(tmp_path / "0")) as old, rangeio.open(str(tmp_path / "1")) as new:
        dataset = unified([Generation(f.schema, f.url) for f in (old, new)])
        fields = select(dataset.schema, words).fields
        found = []
        for n, file in enumerate((old, new)):
            made = fit(dataset, n, fields)
            found.append(made.table(file.read(list(made.fields))))
            found[-1].validate(full=True)
    want = pa.Table.from_pylist(DEEP_READ, evolved(DEEP, DEEPER).schema.arrow).to_pylist()
    tops = {one.name: [child.name for child in inner_of(one)] for one in fields}
    assert pa.concat_tables(found).to_pylist() == [
        {name: kept(row[name], below) for name, below in tops.items()} for row in want
    ]


def inner_of(one):
    """The fields that a struct has, or the items of a list."""
    if pa.types.is_struct(one.type):
        return one.children
    return one.children[0].children if pa.types.is_list(one.type) else ()


def kept(value, names):
    """A struct, or a list of them, with some of its fields."""
    if isinstance(value, list):
        return [kept(one, names) for one in value]
    return {name: value[name] for name in names} if isinstance(value, dict) else value


def test_chunks_stay_chunks():
    dataset = evolved(DEEP, DEEPER)
    whole = pa.Table.from_pylist(DEEP_ROWS, pa.schema(DEEP))
    table = fit(dataset, 0, tuple(dataset.schema)).table(
        pa.concat_tables([whole, whole[:0], whole])
    )
    assert table.column("t").num_chunks == 3
    assert table.to_pylist() == DEEP_READ * 2


KINDS = [
    (pa.list_(pa.int8()), pa.large_list(pa.int64()), [[1, None], None, [], [2]]),
    (pa.large_list(pa.int8()), pa.large_list(pa.int64()), [[1, None], None, [], [2]]),
    (pa.list_(pa.int8()), pa.large_list(pa.int8()), [[1, None], None, [], [2]]),
    (pa.list_(pa.int8(), 2), pa.list_(pa.int64(), 2), [[1, None], None, [3, 4], [5, 6]]),
    (pa.list_view(pa.int8()), pa.list_view(pa.int64()), [[1, None], None, [], [2]]),
    (pa.large_list_view(pa.int8()), pa.large_list_view(pa.int64()), [[1], None, [], [2]]),
    (
        pa.map_(pa.int8(), pa.int8()),
        pa.map_(pa.int64(), pa.float64()),
        [[(1, 2)], None, [], [(3, None)]],
    ),
    (
        pa.list_(pa.list_(pa.int8())),
        pa.list_(pa.large_list(pa.int16())),
        [[[1], None], None, [[]], []],
    ),
    (pa.dictionary(pa.int8(), pa.string()), pa.large_string(), ["a", None, "b", "a"]),
    (pa.date32(), pa.timestamp("us"), [dt.date(2020, 1, 2), None, dt.date(1, 1, 1), None]),
    (pa.float16(), pa.float64(), [0.5, None, float("inf"), -0.0]),
]


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize(("kind", "wider", "values"), KINDS, ids=str)
def test_every_shape_is_converted_in_slices_too(kind, wider, values, start):
    dataset = one_column(kind, wider)
    assert dataset.schema["a"].type == wider
    found = fitted(dataset, pa.array(values, kind).slice(start))
    assert found.type == wider
    back = [one.date() if isinstance(one, dt.datetime) else one for one in found.to_pylist()]
    assert back == values[start:]


def test_what_needs_no_change_shares_its_memory():
    inner = struct(field("x", pa.int8(), 3), field("y", pa.int64(), 4))
    dataset = evolved(
        [field("a", pa.int64(), 1), field("s", inner, 2)],
        [
            field("s", struct(field("x", pa.int16(), 3), field("z", pa.int64(), 4)), 2),
            field("b", pa.int64(), 1),
        ],
    )
    table = pa.table({"a": [1, 2], "s": pa.array([{"x": 1, "y": 2}, None], inner)})
    out = fit(dataset, 0, tuple(dataset.schema)).table(table)
    before, after = (one.column(0).chunk(0).buffers()[1].address for one in (table, out))
    assert before == after
    before, after = table.column("s").chunk(0), out.column("s").chunk(0)
    assert before.buffers()[0].address == after.buffers()[0].address
    assert before.field(1).buffers()[1].address == after.field(1).buffers()[1].address


def test_one_generation_is_handed_on():
    dataset = evolved(DEEP)
    whole = pa.Table.from_pylist(DEEP_ROWS, pa.schema(DEEP))
    made = fit(dataset, 0, select(dataset.schema, ["s.x", "k"]).fields)
    assert paths(made.fields) == ["s.x", "k"]
    assert made.fields[1] is dataset.generations[0].schema["k"]
    assert made.fields[1].payload == "of the file"
    assert read(dataset, [whole], ["s.x", "k"]).to_pylist() == [
        {"s": None if row["s"] is None else {"x": row["s"]["x"]}, "k": row["k"]}
        for row in DEEP_ROWS
    ]


def test_a_fit_of_another_files_equal_schema():
    dataset = evolved(DEEP, DEEPER)
    assert fit(dataset, schema_of(*DEEPER), tuple(dataset.schema)).generation == 1
    with pytest.raises(RequestError):
        fit(dataset, Schema.of([]), ())


# ---- what stands for what is missing ------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (pa.int8(), "-3", -3),
        (pa.float16(), "1.5", 1.5),
        (pa.float64(), "0.1", 0.1),
        (pa.bool_(), "true", True),
        (pa.string(), "", ""),
        (pa.string_view(), "x", "x"),
        (pa.large_binary(), "x", b"x"),
        (pa.binary(2), "xy", b"xy"),
        (pa.decimal128(5, 2), "1.25", Decimal("1.25")),
        (pa.date32(), "2020-01-02", dt.date(2020, 1, 2)),
        (pa.timestamp("us"), "2020-01-02 03:04:05", dt.datetime(2020, 1, 2, 3, 4, 5)),
        (pa.time64("us"), "03:04:05", dt.time(3, 4, 5)),
        (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
    ],
    ids=str,
)
def test_a_missing_column_has_its_declared_default(kind, text, value):
    dataset = evolved(
        [field("k", pa.int8())], [field("k", pa.int8()), field("a", kind, default=text)]
    )
    tables = [pa.table({"k": pa.array([1, 2], pa.int8())})]
    assert read(dataset, tables, ["a"]).column(0).to_pylist() == [value, value]
    made = fit(dataset, 0, (dataset.schema["a"],))
    assert made.fields == ()
    filters = [("a", "==", value)] if kind != pa.binary(2) else [("a", "is not null")]
    assert made.predicate(parse(filters, dataset.schema)).keep({}) is Answer.ALWAYS
    assert made.predicate(parse([("a", "is null")], dataset.schema)).keep({}) is Answer.NEVER


@pytest.mark.parametrize(
    "kind", [pa.duration("s"), pa.list_(pa.int8()), struct(field("x", pa.int8()))]
)
def test_types_that_have_no_default(kind):
    dataset = evolved([], [field("a", kind, default="1")])
    with pytest.raises(Unsupported, match="the default b'1' of column 'a' is no "):
        dataset.schema.at(0)


def test_a_default_inside_a_struct_is_null_with_it():
    old, new = (
        struct(field("x", pa.int8(), 2)),
        struct(field("x", pa.int8(), 2), field("y", pa.int8(), 3, nullable=False, default="7")),
    )
    dataset = evolved([field("s", old, 1)], [field("s", new, 1)])
    assert dataset.schema["s"].children[1].nullable is False
    table = pa.table({"s": pa.array([{"x": 1}, None], old)})
    assert read(dataset, [table]).to_pylist() == [{"s": {"x": 1, "y": 7}}, {"s": None}]
    made = fit(dataset, 0, tuple(dataset.schema))
    for filters, answer in [
        ([("s.y", "==", 7)], Answer.MAYBE),
        ([("s.y", "==", 8)], Answer.NEVER),
        ([("s.y", "is null")], Answer.MAYBE),
    ]:
        assert made.predicate(parse(filters, dataset.schema)).keep({}) is answer


@pytest.mark.parametrize(
    ("kind", "value", "want"),
    [
        (pa.int32(), "2024", 2024),
        (pa.int32(), 2024, 2024),
        (pa.string(), "nz", "nz"),
        (pa.date32(), "2024-01-02", dt.date(2024, 1, 2)),
        (pa.date32(), dt.date(2024, 1, 2), dt.date(2024, 1, 2)),
        (pa.dictionary(pa.int32(), pa.string()), "nz", "nz"),
        (pa.int32(), pa.scalar(5, pa.int64()), 5),
        (pa.int32(), None, None),
        (pa.dictionary(pa.int32(), pa.string()), None, None),
    ],
    ids=str,
)
def test_a_partitions_value_stands_in_every_row(kind, value, want):
    dataset = evolved([field("a", pa.int8())], partitions=pa.schema([("p", kind)]))
    table = pa.table({"a": pa.array([1, 2], pa.int8())})
    assert read(dataset, [table], ["p", "a"], {"p": value}).column("p").to_pylist() == [want] * 2
    empty = fit(dataset, 0, (dataset.schema["p"],)).table(table[:0].select([]), {"p": value})
    assert (empty.num_rows, empty.schema.field("p").type) == (0, kind)


def test_a_partitions_value_of_another_type():
    dataset = evolved([field("a", pa.int8())], partitions=pa.schema([("p", pa.int8())]))
    made = fit(dataset, 0, tuple(dataset.schema))
    table = pa.table({"a": pa.array([1], pa.int8())})
    with pytest.raises(RequestError, match=r"mem://x: partition column 'p': 'many' is no int8"):
        made.table(table, {"p": "many"}, "mem://x")


@pytest.mark.parametrize(
    ("kind", "wider", "value"),
    [
        (pa.timestamp("s"), pa.timestamp("ns"), 1 << 40),
        (pa.duration("s"), pa.duration("ns"), 1 << 40),
        (pa.date32(), pa.timestamp("us"), (1 << 31) - 1),
        (pa.date32(), pa.timestamp("ns"), -(1 << 31)),
    ],
    ids=str,
)
def test_a_time_that_finer_units_do_not_hold_is_an_error_that_names_it(kind, wider, value):
    held = struct(field("x", kind))
    dataset = one_column(pa.list_(held), pa.list_(struct(field("x", wider))))
    raw = pa.int32() if kind == pa.date32() else pa.int64()
    inner = pa.StructArray.from_arrays([pa.array([value], raw).cast(kind)], fields=list(held))
    array = pa.ListArray.from_arrays([0, 1], inner, type=pa.list_(held))
    made = fit(dataset, 0, tuple(dataset.schema))
    with pytest.raises(Unsupported) as caught:
        made.table(pa.table({"a": array}), url="mem://late.parquet")
    assert str(caught.value).startswith(
        f"mem://late.parquet: column 'a.item.x' of type {kind} does not fit {wider}: "
    )


def below_nulls(kind: pa.DataType) -> pa.Array:
    """Two structs, lists or maps of times: the null one holds what fits no finer unit."""
    held = pa.array([1, 1 << 40], pa.int64()).cast(pa.timestamp("s"))
    mask, offsets = pa.array([False, True]), pa.array([0, 1, 2], pa.int32())
    if pa.types.is_struct(kind):
        return pa.StructArray.from_arrays([held], fields=list(kind), mask=mask)
    if pa.types.is_map(kind):
        return pa.MapArray.from_arrays(offsets, pa.array([1, 2], pa.int8()), held, mask=mask)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(held, type=kind, mask=mask)
    return pa.ListArray.from_arrays(offsets, held, type=kind, mask=mask)


@pytest.mark.parametrize(
    "shape",
    [
        lambda kind: struct(field("x", kind)),
        lambda kind: pa.list_(kind),
        lambda kind: pa.list_(kind, 1),
        lambda kind: pa.map_(pa.int8(), kind),
    ],
)
def test_what_lies_below_a_null_is_never_looked_at(shape):
    dataset = one_column(shape(pa.timestamp("s")), shape(pa.timestamp("ns")))
    array = below_nulls(shape(pa.timestamp("s")))
    found = fitted(dataset, array)
    assert found.is_null().to_pylist() == [False, True]
    assert found.slice(1).to_pylist() == [None]
    assert found[0].cast(array.type) == array[0]
    assert fitted(dataset, array.slice(1)).to_pylist() == [None]


# ---- filters ------------------------------------------------------------------------------------


def test_conditions_take_the_names_and_types_of_the_file():
    dataset = evolved(
        [field("a", pa.int8(), 1), field("s", struct(field("x", pa.float32(), 3)), 2)],
        [field("b", pa.float64(), 1), field("t", struct(field("y", pa.float64(), 3)), 2)],
    )
    made = fit(dataset, 0, ())
    predicate = made.predicate(parse([("b", ">", 5.5), ("t.y", "in", [0.5, 0.25])], dataset.schema))
    assert predicate.columns == (("a",), ("s", "x"))
    assert predicate.asked() == {("a",), ("s", "x")}
    assert predicate.probes() == {("s", "x"): (0.25, 0.5)}
    assert predicate.keep({("a",): Statistics(0, 5)}) is Answer.NEVER
    assert predicate.keep({("a",): Statistics(0, 6)}) is Answer.MAYBE
    sure = {
        ("a",): Statistics(6, 9, null_count=0),
        ("s", "x"): Statistics(0.25, 0.25, 0, nan_count=0),
    }
    assert predicate.keep(sure) is Answer.ALWAYS


@pytest.mark.parametrize(
    ("filters", "answer"),
    [
        ([("gone", "==", 1)], Answer.NEVER),
        ([("gone", "!=", 1)], Answer.NEVER),
        ([("gone", "in", [1])], Answer.NEVER),
        ([("gone", "not in", [1])], Answer.NEVER),
        ([("gone", "is null")], Answer.ALWAYS),
        ([("gone", "is not null")], Answer.NEVER),
        ([("s.z", "is null")], Answer.ALWAYS),
        ([("year", "==", 2024)], Answer.ALWAYS),
        ([("year", "<", 2024)], Answer.NEVER),
        ([("k", "==", 1), ("year", "<", 2024)], Answer.NEVER),
        ([[("k", "==", 1)], [("year", "==", 2024)]], Answer.ALWAYS),
        ([[("k", "==", 1)], [("gone", "==", 1)]], Answer.MAYBE),
        (~(pc.field("gone") == 1), Answer.NEVER),
        (pc.field("gone").is_null(), Answer.ALWAYS),
        (pc.field("k") + 1 == 2, Answer.MAYBE),
        ((pc.field("k") + 1 == 2) & (pc.field("year") == 2023), Answer.NEVER),
        ((pc.field("k") + 1 == 2) | (pc.field("year") == 2024), Answer.ALWAYS),
        (pc.scalar(True), Answer.ALWAYS),
    ],
    ids=str,
)
def test_conditions_on_what_the_file_lacks_are_settled(filters, answer):
    old = [field("k", pa.int8()), field("s", struct(field("x", pa.int8())))]
    new = [*old[:1], field("s", struct(field("z", pa.int8()))), field("gone", pa.int8())]
    dataset = evolved(old, new, partitions=pa.schema([("year", pa.int32())]))
    made = fit(dataset, 0, ())
    assert made.predicate(parse(filters, dataset.schema), {"year": 2024}).keep({}) is answer


def test_minus_zero_in_a_list_says_nothing_of_integers():
    dataset = one_column(pa.int8(), pa.float64())
    predicate = fit(dataset, 0, ()).predicate(parse([("a", "in", [-0.0, 3.0])], dataset.schema))
    assert predicate.condition == Fixed(Outcome.ANY)


TYPES = [
    (pa.int8(), pa.int32()),
    (pa.int8(), pa.float64()),
    (pa.uint16(), pa.int32()),
    (pa.float32(), pa.float64()),
    (pa.float16(), pa.float32()),
    (pa.decimal128(4, 1), pa.decimal128(9, 3)),
    (pa.date32(), pa.timestamp("ms")),
    (pa.timestamp("s"), pa.timestamp("ns")),
    (pa.time32("s"), pa.time64("us")),
    (pa.string(), pa.large_string()),
    (pa.dictionary(pa.int8(), pa.string()), pa.string()),
    (pa.null(), pa.int8()),
    (pa.bool_(), pa.bool_()),
]
DAYS = st.integers(-3, 3).map(lambda n: dt.datetime(2020, 1, 4) + dt.timedelta(n))


def values_of(kind: pa.DataType) -> st.SearchStrategy:
    """Few values, so that filters meet them."""
    if pa.types.is_floating(kind):
        return st.sampled_from([-1.5, -0.0, 0.0, 0.1, 0.5, 1.0, float("nan"), float("inf")])
    if pa.types.is_integer(kind):
        return st.integers(0, 4)
    if pa.types.is_decimal(kind):
        return st.integers(-5, 5).map(lambda n: Decimal(n).scaleb(-1))
    if pa.types.is_date(kind):
        return DAYS.map(dt.datetime.date)
    if pa.types.is_timestamp(kind):
        return DAYS
    if pa.types.is_time(kind):
        return st.integers(0, 3).map(lambda n: dt.time(n))
    if pa.types.is_boolean(kind):
        return st.booleans()
    return st.none() if pa.types.is_null(kind) else st.sampled_from(["", "a", "b", "ab"])


def asked_of(kind: pa.DataType) -> st.SearchStrategy:
    """Values of the dataset's type, which the file's need not hold."""
    if pa.types.is_timestamp(kind):
        return st.tuples(DAYS, st.sampled_from([0, 1])).map(
            lambda x: x[0] + dt.timedelta(0, 0, x[1])
        )
    if pa.types.is_time(kind):
        return st.sampled_from([dt.time(1), dt.time(1, 0, 0, 1), dt.time(2)])
    if pa.types.is_decimal(kind):
        return st.integers(-50, 50).map(lambda n: Decimal(n).scaleb(-2))
    if pa.types.is_integer(kind):
        return st.sampled_from([-1, 0, 1, 2, 1000, 2.5])
    return values_of(kind)


@st.composite
def worlds(draw):
    """A dataset of two generations, the rows of a file of the first, a filter, a path's value."""
    chosen = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))
    old, new, asked = [], [], []
    for i, (kind, wider) in enumerate(chosen):
        lacks = draw(st.sampled_from([False, False, True]))
        default = "1" if pa.types.is_integer(wider) and draw(st.booleans()) else None
        inside = draw(st.booleans())
        old += [] if lacks else [nested(inside, field(f"o{i}", kind, 2 * i), i)]
        new.append(nested(inside, field(f"n{i}", wider, 2 * i, default=default), i))
        asked.append(((f"s{i}", f"n{i}") if inside else (f"n{i}",), wider))
    old.append(field("k", pa.int8(), 99))
    asked.append((("p",), pa.int32()))
    dataset = evolved(old, [*new, old[-1]], partitions=pa.schema([("p", pa.int32())]))
    count = draw(st.integers(0, 6))
    rows = [{f.name: draw(some(f)) for f in old} for _ in range(count)]
    groups = st.lists(st.lists(conditions(asked), min_size=1, max_size=3), min_size=1, max_size=3)
    value = draw(st.none() | st.integers(0, 2))
    return dataset, pa.Table.from_pylist(rows, pa.schema(old)), draw(groups), {"p": value}


def nested(inside: bool, one: pa.Field, i: int) -> pa.Field:
    return field(f"s{i}", struct(one), 2 * i + 1) if inside else one


def some(one: pa.Field) -> st.SearchStrategy:
    if pa.types.is_struct(one.type):
        inner = one.type.field(0)
        return st.none() | some(inner).map(lambda value: {inner.name: value})
    kind = one.type.value_type if pa.types.is_dictionary(one.type) else one.type
    return st.none() | values_of(kind)


def conditions(columns) -> st.SearchStrategy:
    def of(column):
        path, kind = column
        nulls = st.sampled_from(["is null", "is not null"]).map(lambda word: (path, word))
        words = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
        single = st.builds(lambda word, value: (path, word, value), words, asked_of(kind))
        lists = st.lists(asked_of(kind), max_size=3)
        listed = st.builds(
            lambda word, values: (path, word, values), st.sampled_from(["in", "not in"]), lists
        )
        return st.one_of(nulls, single, listed)

    return st.sampled_from(columns).flatmap(of)


def statistics(table: pa.Table) -> dict[tuple[str, ...], Statistics]:
    """What a good writer says of a file's leaves."""
    found = {}
    for one in table.schema:
        column, path = table.column(one.name).combine_chunks(), (one.name,)
        if pa.types.is_struct(one.type):
            path = (one.name, one.type.field(0).name)
            column = pc.struct_field(column, [0])
        values = [value for value in column.to_pylist() if value is not None]
        numbers = [value for value in values if value == value]
        found[path] = Statistics(
            min(numbers, default=None),
            max(numbers, default=None),
            null_count=column.null_count,
            rows=len(column),
            nan_count=len(values) - len(numbers),
        )
    return found


@settings(deadline=None, max_examples=200)
@given(worlds())
def test_what_is_pruned_by_the_files_words_does_not_match_in_the_datasets(world):
    dataset, table, filters, values = world
    predicate = parse(filters, dataset.schema)
    fields = tuple(dataset.schema)
    made = fit(dataset, 0, fields)
    mine = made.predicate(predicate, values)
    out = made.table(taken(table, made.fields), values)
    matches = predicate.mask(out).to_pylist()
    known = statistics(table)
    assert mine.asked() <= known.keys()
    assert mine.expression.equals(pc.scalar(True))
    for held in ({}, known, dict(list(known.items())[::2])):
        answer = mine.keep(held)
        if answer is Answer.NEVER:
            assert not any(matches)
        if answer is Answer.ALWAYS:
            assert all(matches)
    for i, match in enumerate(matches):  # as pages of one row
        answer = mine.keep(statistics(table.slice(i, 1)))
        assert answer is not (Answer.NEVER if match else Answer.ALWAYS)


def test_a_translated_filter_pickles():
    dataset = one_column(pa.int8(), pa.int32())
    predicate = fit(dataset, 0, ()).predicate(parse([("a", ">", 3)], dataset.schema))
    assert pickle.loads(pickle.dumps(predicate)).condition == predicate.condition
