"""One schema over files of five generations: by id, by name, nested, renamed, widened, refused."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from evolved_files import EMPTY, evolved, field, generation, read, schema_of
from hypothesis import given, settings
from hypothesis import strategies as st

import rangeio
from rangeio.datasets.evolving.evolution import Generation, unified
from rangeio.datasets.evolving.fitting import fit
from rangeio.errors import FormatError, NoSuchColumn, RequestError, Unsupported
from rangeio.predicate import parse
from rangeio.schema import Column, ColumnId, Schema
from rangeio.select import select

INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
LADDERS = [INTS, [pa.float16(), pa.float32(), pa.float64()], [pa.string(), pa.large_string()]]
NAMES = "abc"


# ---- hypothesis-made evolutions, against rows that are dicts by id ------------------------------


@dataclass(frozen=True)
class Made:
    """A column of one generation: its id, its name, its ladder of types and its rung on it."""

    unique_id: int
    name: str
    ladder: int
    rung: int
    below: tuple[Made, ...] = ()

    @property
    def type(self) -> pa.DataType:
        if self.below:
            return pa.struct([one.field for one in self.below])
        return LADDERS[self.ladder][self.rung]

    @property
    def field(self) -> pa.Field:
        return field(self.name, self.type, self.unique_id)

    def value(self, row: int):
        """By id, as the oracle has it."""
        if (row + self.unique_id) % 4 == 0:
            return None
        if self.below:
            return {one.unique_id: one.value(row) for one in self.below}
        return f"{row}" if self.ladder == 2 else row % 100

    def named(self, value):
        """By name, as the file has it."""
        if value is None or not self.below:
            return value
        return {one.name: one.named(value[one.unique_id]) for one in self.below}


@st.composite
def evolutions(draw) -> list[list[Made]]:
    """Five generations of columns; ids are never used twice, names are."""
    last = 0

    def new(name: str, nested: bool) -> Made:
        nonlocal last
        last += 1
        own = last
        if nested and draw(st.booleans()):
            below = tuple(
                new(one, False) for one in draw(st.sets(st.sampled_from(NAMES), min_size=1))
            )
            return Made(own, name, 0, 0, below)
        return Made(own, name, draw(st.integers(0, 2)), 0)

    def step(columns: list[Made], nested: bool) -> list[Made]:
        columns = [widened(one) for one in columns]
        free = [name for name in NAMES if name not in {one.name for one in columns}]
        what = draw(st.sampled_from(["add", "drop", "rename", "swap", "nothing"]))
        if what == "add" and free:
            columns.append(new(draw(st.sampled_from(free)), nested))
        elif what == "drop" and len(columns) > 1:
            del columns[draw(st.integers(0, len(columns) - 1))]
        elif what == "rename" and free:
            i = draw(st.integers(0, len(columns) - 1))
            columns[i] = renamed(columns[i], draw(st.sampled_from(free)))
        elif what == "swap":
            columns = draw(st.permutations(columns))
        return columns

    def renamed(one: Made, name: str) -> Made:
        return Made(one.unique_id, name, one.ladder, one.rung, one.below)

    def widened(one: Made) -> Made:
        below = tuple(step(list(one.below), False)) if one.below else ()
        rung = min(one.rung + draw(st.integers(0, 1)), len(LADDERS[one.ladder]) - 1)
        return Made(one.unique_id, one.name, one.ladder, rung, below)

    first = draw(st.sets(st.sampled_from(NAMES), min_size=1))
    generations = [[new(name, True) for name in sorted(first)]]
    while len(generations) < 5:
        generations.append(step(generations[-1], True))
    return generations


ROWS = 5


def table_of(n: int, columns: list[Made]) -> pa.Table:
    rows = range(n * ROWS, (n + 1) * ROWS)
    arrays = [pa.array([c.named(c.value(row)) for row in rows], c.type) for c in columns]
    return pa.table(arrays, schema=pa.schema([c.field for c in columns]))


def by_ids(column: Column, value):
    """A value that was read, with ids for names."""
    if value is None or not column.children:
        return value
    return {c.unique_id: by_ids(c, value[c.name]) for c in column.children}


def expected(unique_ids: list, value, made: Made):
    """What the oracle says of a column in one row of a file that has it."""
    if value is None or not made.below:
        return value
    known = {one.unique_id: one for one in made.below}
    return {one: value[one] if one in known else None for one in unique_ids}


@settings(deadline=None)
@given(evolutions())
def test_columns_keep_their_identity_over_five_generations(generations):
    dataset = evolved(*([c.field for c in one] for one in generations))
    tables = [table_of(n, columns) for n, columns in enumerate(generations)]
    every = {c.unique_id: c for columns in generations for c in columns}
    found = read(dataset, tables, sorted(every))
    fields = select(dataset.schema, sorted(every)).fields
    assert [one.unique_id for one in fields] == sorted(every)
    for column, values in zip(fields, found.columns, strict=True):
        assert column.type == values.type
        want = []
        for n, columns in enumerate(generations):
            made = next((c for c in columns if c.unique_id == column.unique_id), None)
            rows = range(n * ROWS, (n + 1) * ROWS)
            below = [c.unique_id for c in column.children]
            want += [None if made is None else expected(below, made.value(r), made) for r in rows]
        assert [by_ids(column, one) for one in values.to_pylist()] == want


@settings(deadline=None)
@given(evolutions())
def test_the_schema_has_the_last_names_once_and_the_latest_owner_of_each(generations):
    schema = evolved(*([c.field for c in one] for one in generations)).schema
    last = {c.unique_id: (n, c.name) for n, one in enumerate(generations) for c in one}
    owners = {name: unique_id for unique_id, (_, name) in sorted(last.items(), key=lambda x: x[1])}
    seen = dict.fromkeys(c.unique_id for one in generations for c in one)
    assert list(schema.names) == [last[i][1] for i in seen if owners[last[i][1]] == i]
    assert {name: schema[name].unique_id for name in schema.names} == owners
    for unique_id in seen:
        (found,) = select(schema, [unique_id]).fields
        assert found.unique_id == unique_id
        lost = owners[last[unique_id][1]] != unique_id
        assert (found.name in schema.names) is not lost


@settings(deadline=None)
@given(evolutions())
def test_every_nested_id_is_reached_and_reads_its_own_values(generations):
    dataset = evolved(*([c.field for c in one] for one in generations))
    tables = [table_of(n, columns) for n, columns in enumerate(generations)]
    nested = {b.unique_id for one in generations for c in one for b in c.below}
    for unique_id in nested:
        (top,) = select(dataset.schema, [unique_id]).fields
        (leaf,) = top.leaves()
        assert leaf.unique_id == unique_id
        want = []
        for n, columns in enumerate(generations):
            made = next((c for c in columns if c.unique_id == top.unique_id), None)
            for row in range(n * ROWS, (n + 1) * ROWS):
                value = None if made is None else made.value(row)
                want.append(value if value is None else {leaf.name: value.get(unique_id)})
        assert read(dataset, tables, [unique_id]).column(0).to_pylist() == want


@settings(deadline=None)
@given(evolutions())
def test_without_ids_names_are_the_columns(generations):
    bare = [[Made(0, c.name, 0, c.rung % 4) for c in one] for one in generations]
    fields = [[field(c.name, INTS[c.rung]) for c in one] for one in bare]
    dataset = evolved(*fields)
    names = list(dict.fromkeys(c.name for one in bare for c in one))
    assert list(dataset.schema.names) == names
    tables = [
        pa.table([pa.array([n, None], f.type) for f in one], schema=pa.schema(one))
        for n, one in enumerate(fields)
    ]
    want = [
        {name: value if name in {f.name for f in one} else None for name in names}
        for n, one in enumerate(fields)
        for value in (n, None)
    ]
    assert read(dataset, tables).to_pylist() == want
    assert {how for *_, how in dataset.matched} == {"name"}


# ---- names, renames and mixtures ----------------------------------------------------------------


def test_a_name_added_again_is_another_column():
    old = [field("a", pa.int32(), 1), field("k", pa.int8(), 2)]
    new = [field("k", pa.int8(), 2), field("a", pa.string(), 3)]
    dataset = evolved(old, new)
    assert list(dataset.schema.names) == ["k", "a"]
    assert dataset.schema["a"].type == pa.string()
    assert dataset.schema[1].name == "a#1"
    assert dataset.schema["a#1"] is dataset.schema[1]
    assert "a#1" not in dataset.schema.arrow.names
    tables = [pa.table({"a": [5], "k": [1]}), pa.table({"k": [2], "a": ["x"]})]
    tables[0] = tables[0].cast(pa.schema([("a", pa.int32()), ("k", pa.int8())]))
    tables[1] = tables[1].cast(pa.schema([("k", pa.int8()), ("a", pa.string())]))
    assert read(dataset, tables).to_pylist() == [{"k": 1, "a": None}, {"k": 2, "a": "x"}]
    both = [{"a#1": 5, "a": None}, {"a#1": None, "a": "x"}]
    assert read(dataset, tables, [1, "a"]).to_pylist() == both
    lost = parse([(1, "==", 5)], dataset.schema)
    assert lost.columns == (("a#1",),)
    assert lost.filter(read(dataset, tables, [*lost.columns, "k"])).num_rows == 1


def test_a_name_of_another_column_is_not_taken_for_a_lost_one():
    dataset = evolved(
        [field("a", pa.int8(), 1), field("a#1", pa.int8(), 4)],
        [field("a", pa.int8(), 2), field("a#1", pa.int8(), 4)],
    )
    assert dataset.schema["a#1"].unique_id == 4
    assert dataset.schema["a#1#"].unique_id == 1


def test_a_column_word_leads_to_lost_columns_again():
    below = lambda n: pa.struct([field("x", pa.int8(), n)])  # noqa: E731
    dataset = evolved([field("s", below(2), 1)], [field("s", below(3), 1)])
    schema = dataset.schema
    assert schema["s"].type == pa.struct([("x", pa.int8())])
    (lost,) = select(schema, [2]).fields
    assert (lost.name, lost.type) == ("s#", pa.struct([("x#2", pa.int8())]))
    assert select(schema, [lost]).fields == (lost,)
    assert 2 in schema
    assert 9 not in schema
    assert "s#" in schema
    assert "s##" not in schema
    assert parse([(2, "is null")], schema).columns == (("s#", "x#2"),)


def test_names_are_mapped_at_every_level():
    old = [field("a", pa.int8()), field("s", pa.struct([field("x", pa.int8())]))]
    new = [field("b", pa.int16()), field("t", pa.struct([field("y", pa.int16())]))]
    for inner in ("t.y", "s.y"):
        dataset = evolved(old, new, names={"a": "b", "s": "t", "s.x": inner, "zz": "q"})
        assert dataset.schema.arrow == pa.schema(new)
        assert 99 not in dataset.schema
        tables = [
            pa.table([[1], [{"x": 2}]], schema=pa.schema(old)),
            pa.table([[3], [{"y": 4}]], schema=pa.schema(new)),
        ]
        want = [{"b": 1, "t": {"y": 2}}, {"b": 3, "t": {"y": 4}}]
        assert read(dataset, tables).to_pylist() == want


def test_names_are_mapped_in_a_dataset_of_one_schema():
    dataset = evolved([field("a", pa.int8()), field("c", pa.int8())], names={"a": "b"})
    assert list(dataset.schema.names) == ["b", "c"]
    table = pa.table([pa.array([1], pa.int8()), pa.array([2], pa.int8())], names=["a", "c"])
    assert read(dataset, [table]).to_pylist() == [{"b": 1, "c": 2}]


def test_a_name_does_not_leave_its_struct():
    inner = [field("s", pa.struct([field("x", pa.int8())]))]
    dataset = evolved(inner, inner, names={"s.x": "t.x"})
    with pytest.raises(RequestError, match=r"'s\.x' cannot move out"):
        dataset.schema.at(0)


def test_a_mixture_is_decided_per_file_and_told():
    by_id = [field("a", pa.int8(), 1), field("k", pa.int8(), 2)]
    renamed = [field("b", pa.int16(), 1), field("k", pa.int8(), 2)]
    bare = [field("k", pa.int32()), field("a", pa.int32()), field("new", pa.int8())]
    half = [field("b", pa.int8()), field("k", pa.int8(), 2)]
    dataset = evolved(bare, by_id, renamed, half)
    assert [how for *_, how in dataset.matched] == ["name", "id", "id", "mixed"]
    assert dataset.matched[1] == ("mem://g1.parquet", 1, "id")
    assert "files matched: 1 by name, 2 by id, 1 by id, else by name" in str(dataset)
    assert list(dataset.schema.names) == ["k", "b", "new"]
    assert [c.id_declared for c in dataset.schema] == [True, True, False]
    assert [c.unique_id for c in dataset.schema] == [2, 1, -3]
    found = [
        [None if c is None else c.name for c in column.payload.columns] for column in dataset.schema
    ]
    assert found == [["k"] * 4, ["a", "a", "b", "b"], ["new", None, None, None]]


def mixtures() -> st.SearchStrategy:
    """Five files: whether each declares ids, and its columns by id with one of two names each."""
    columns = st.dictionaries(st.integers(1, 4), st.booleans(), min_size=1)
    return st.lists(st.tuples(st.booleans(), columns), min_size=5, max_size=5)


@settings(deadline=None)
@given(mixtures())
def test_bare_files_match_any_name_that_a_declared_column_ever_had(files):
    called = [{n: f"c{n}" + "new" * new for n, new in columns.items()} for _, columns in files]
    known = {
        name: n
        for (declared, _), names in zip(files, called, strict=True)
        for n, name in names.items()
        if declared
    }
    fields, tables, rows = [], [], []
    for g, ((declared, _), names) in enumerate(zip(files, called, strict=True)):
        fields.append(
            [field(name, pa.int64(), n if declared else None) for n, name in names.items()]
        )
        tables.append(pa.table({name: [10 * g + n] for n, name in names.items()}))
        rows.append({known.get(name, name): 10 * g + n for n, name in names.items()})
    dataset = evolved(*fields)
    keys = [c.unique_id if c.id_declared else c.name for c in dataset.schema]
    assert keys == list(dict.fromkeys(key for row in rows for key in row))
    found = read(dataset, [t.cast(pa.schema(f)) for t, f in zip(tables, fields, strict=True)])
    want = [[row.get(key) for row in rows] for key in keys]
    assert [column.to_pylist() for column in found.columns] == want


def test_a_bare_file_with_an_old_and_a_new_name_has_two_columns():
    dataset = evolved(
        [field("a", pa.int8(), 1)],
        [field("b", pa.int8(), 1)],
        [field("a", pa.int8()), field("b", pa.int8())],
    )
    assert list(dataset.schema.names) == ["b", "a"]
    assert dataset.schema["b"].unique_id == 1


def test_repeated_names_are_refused_where_they_would_be_matched():
    once, twice = [field("a", pa.int8())], [field("a", pa.int8()), field("a", pa.int8())]
    dataset = evolved([*twice, field("k", pa.int8())], [*once, field("k", pa.int8())])
    assert dataset.schema["k"].type == pa.int8()
    with pytest.raises(Unsupported, match=r"mem://g0\.parquet.*'a' repeat"):
        dataset.schema.at(0)


def test_an_id_that_a_file_has_twice_tells_nothing():
    twice = [field("a", pa.int8(), 1), field("b", pa.int8(), 1)]
    dataset = evolved(twice, [field("a", pa.int8(), 1)])
    assert list(dataset.schema.names) == ["a", "b"]
    assert dataset.matched[0][2] == "name"


def test_names_are_looked_up_without_regard_to_case_where_asked():
    dataset = evolved([field("A", pa.int8(), 1)], [field("Ab", pa.int8(), 1)])
    assert select(dataset.schema, ["aB"], case_sensitive=False).fields[0].name == "Ab"
    with pytest.raises(NoSuchColumn, match="did you mean 'Ab'"):
        select(dataset.schema, ["aB"])


# ---- types --------------------------------------------------------------------------------------


def structs(kind):
    return pa.struct([field("x", kind)])


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (pa.int8(), pa.int64(), pa.int64()),
        (pa.null(), structs(pa.int8()), structs(pa.int8())),
        (pa.null(), pa.null(), pa.null()),
        (pa.list_(pa.int8()), pa.large_list(pa.int16()), pa.large_list(pa.int16())),
        (pa.list_(pa.null()), pa.list_(structs(pa.int8())), pa.list_(structs(pa.int8()))),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int32(), 2), pa.list_(pa.int32(), 2)),
        (pa.list_view(pa.int8()), pa.list_view(pa.int16()), pa.list_view(pa.int16())),
        (
            pa.map_(pa.string(), structs(pa.int8())),
            pa.map_(pa.large_string(), structs(pa.int16())),
            pa.map_(pa.large_string(), structs(pa.int16())),
        ),
        (
            pa.struct([field("x", pa.int8()), field("y", pa.int8(), nullable=False)]),
            pa.struct([field("z", pa.int8(), nullable=False), field("x", pa.int16())]),
            pa.struct([field("x", pa.int16()), field("y", pa.int8()), field("z", pa.int8())]),
        ),
        (pa.uuid(), pa.uuid(), pa.uuid()),
        (pa.list_(field("element", pa.int8())), pa.list_(pa.int8()), pa.list_(pa.int8())),
    ],
    ids=str,
)
def test_types_are_widened_at_every_level(one, other, found):
    dataset = evolved([field("a", one)], [field("a", other)])
    assert dataset.schema["a"].type == found
    names = [f.name for f in (found.field(i) for i in range(found.num_fields))]
    assert [dataset.schema["a"].type.field(i).name for i in range(found.num_fields)] == names


def test_nullable_is_what_may_be_null_somewhere():
    never = field("a", pa.int8(), nullable=False)
    assert evolved([never], [field("a", pa.int16(), nullable=False)]).schema["a"].nullable is False
    assert evolved([never], [field("a", pa.int8())]).schema["a"].nullable
    assert evolved([never], [field("b", pa.int8())]).schema["a"].nullable
    assert evolved([never], [field("a", pa.null())]).schema["a"].nullable
    given = field("a", pa.int8(), nullable=False, default="3")
    assert evolved([given], [field("b", pa.int8())]).schema["a"].nullable is False


@pytest.mark.parametrize(
    ("one", "other", "path", "types"),
    [
        (pa.int32(), pa.string(), "a", ("int32", "string")),
        (pa.int64(), pa.float64(), "a", ("int64", "double")),
        (
            pa.timestamp("s"),
            pa.timestamp("s", "UTC"),
            "a",
            ("timestamp[s]", "timestamp[s, tz=UTC]"),
        ),
        (structs(pa.bool_()), structs(pa.int8()), "a.x", ("bool", "int8")),
        (structs(pa.bool_()), pa.bool_(), "a", ("struct<x: bool>", "bool")),
        (pa.list_(structs(pa.bool_())), pa.list_(structs(pa.int8())), "a.item.x", ("bool", "int8")),
        (
            pa.map_(pa.int8(), pa.binary()),
            pa.map_(pa.int8(), pa.string()),
            "a.value",
            ("binary", "string"),
        ),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int8(), 3), "a", ("[2]", "[3]")),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int8()), "a", ("[2]", "list<item: int8>")),
        (pa.list_(pa.int8()), pa.list_view(pa.int8()), "a", ("list<", "list_view<")),
        (pa.uuid(), pa.binary(16), "a", ("uuid", "fixed_size_binary[16]")),
    ],
    ids=str,
)
def test_other_changes_name_the_file_the_column_and_both_types(one, other, path, types):
    dataset = evolved([field("a", one), field("k", one)], [field("a", one)], [field("a", other)])
    assert dataset.schema["k"].type == one
    with pytest.raises(Unsupported) as caught:
        dataset.schema["a"]
    assert isinstance(caught.value, FormatError)
    assert caught.value.url == "mem://g2.parquet"
    said = str(caught.value)
    assert f"column {path!r} " in said
    assert all(one in said for one in types)
    assert "mem://g0.parquet" in said


# ---- what the caller declares -------------------------------------------------------------------

OLD = [field("a", pa.int8(), 1), field("k", pa.int8(), 2)]
NEW = [field("b", pa.int16(), 1), field("k", pa.int8(), 2), field("a", pa.int8(), 3)]


def test_a_declared_schema_says_which_columns_there_are():
    declared = pa.schema(
        [
            pa.field("mine", pa.int64(), metadata={"unique_id": "1"}),
            field("a", pa.int32()),
            field("new", pa.string(), default="none"),
            field("also", pa.int8(), 9, nullable=False),
        ],
        metadata={"made": "by hand"},
    )
    dataset = evolved(OLD, NEW, declared=declared)
    schema = dataset.schema
    assert schema.arrow.names == ["mine", "a", "new", "also"]
    assert schema.arrow.types == declared.types
    assert [c.unique_id for c in schema] == [1, 3, -3, 9]
    assert [c.nullable for c in schema] == [True] * 4
    assert schema.metadata == {b"made": b"by hand"}
    tables = [
        pa.table([[1], [2]], schema=pa.schema(OLD)),
        pa.table([[3], [4], [5]], schema=pa.schema(NEW)),
    ]
    assert read(dataset, tables).to_pylist() == [
        {"mine": 1, "a": None, "new": "none", "also": None},
        {"mine": 3, "a": 5, "new": "none", "also": None},
    ]
    with pytest.raises(NoSuchColumn):
        schema["k"]


def test_a_declared_id_names_the_columns_of_bare_files():
    declared = pa.schema([field("a", pa.int16(), 1)])
    dataset = evolved([field("a", pa.int8())], [field("b", pa.int8(), 1)], declared=declared)
    columns = dataset.schema["a"].payload.columns
    assert [c.name for c in columns] == ["a", "b"]
    assert evolved([], declared=declared).schema["a"].payload.columns == (None,)
    assert unified([], declared=declared).schema.arrow.names == ["a"]
    assert len(unified([])) == 0


def test_a_declared_struct_has_the_declared_fields():
    inner = pa.struct([field("y", pa.int32(), 5), field("z", pa.int8(), 6)])
    declared = pa.schema([field("s", inner, 4)])
    held = pa.struct([field("x", pa.int8(), 7), field("w", pa.int16(), 5)])
    dataset = evolved([field("s", held, 4)], declared=declared)
    assert dataset.schema["s"].type == inner
    table = pa.table({"s": pa.array([{"x": 1, "w": 2}, None], held)})
    assert read(dataset, [table]).to_pylist() == [{"s": {"y": 2, "z": None}}, {"s": None}]


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [(pa.int64(), pa.int32()), (pa.string(), structs(pa.int8())), (pa.large_string(), pa.string())],
    ids=str,
)
def test_files_that_do_not_fit_what_was_declared_are_the_callers_mistake(kind, wanted):
    dataset = evolved([field("a", kind)], declared=pa.schema([field("a", wanted)]))
    with pytest.raises(RequestError) as caught:
        dataset.schema["a"]
    assert caught.value.url == "mem://g0.parquet"
    assert f"column 'a' is {kind} here, not {wanted} as schema= declares" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([field("a", pa.int8()), field("a", pa.int8())], "the name 'a' is there twice"),
        ([field("a", pa.int8(), 1), field("b", pa.int8(), 1)], "the unique_id 1 is there twice"),
        ([pa.field("a", pa.int8(), metadata={"unique_id": "x"})], "b'x' is no unique_id"),
    ],
)
def test_a_declared_schema_that_makes_no_sense(fields, said):
    with pytest.raises(RequestError, match=said):
        evolved(OLD, declared=pa.schema(fields))


def test_a_default_that_is_no_value_of_its_type():
    wrong = field("a", pa.int8(), default="many")
    with pytest.raises(Unsupported, match=r"mem://g0.parquet: the default b'many' of column 'a'"):
        evolved([wrong], [field("b", pa.int8())]).schema["a"]
    assert evolved([wrong], [wrong]).schema["a"].type == pa.int8()
    with pytest.raises(RequestError, match="the default b'many'"):
        evolved([field("b", pa.int8())], declared=pa.schema([wrong])).schema["a"]


# ---- partitions ---------------------------------------------------------------------------------

PATHS = pa.schema([("year", pa.int32()), ("k", pa.string())])


@pytest.mark.parametrize("count", [1, 2])
def test_partition_columns_come_last_or_replace_those_of_the_files(count):
    held = [field("k", pa.int8(), 2), field("a", pa.int8(), 1)]
    dataset = evolved(*[held, [*held, field("b", pa.int8(), 3)]][:count], partitions=PATHS)
    names = ["k", "a", "year"] if count == 1 else ["k", "a", "b", "year"]
    assert list(dataset.schema.names) == names == [c.name for c in dataset.schema]
    assert dataset.schema["k"].type == pa.string()
    last = dataset.schema["year"]
    assert (last.unique_id, last.id_declared, last.nullable) == (-len(names), False, True)
    assert dataset.schema[-len(names)] is last
    assert len(dataset) == len(names)
    (fields,) = {select(dataset.schema, ["year", "k", "a"]).fields}
    made = fit(dataset, 0, fields)
    assert [c.name for c in made.fields] == ["a"]
    table = made.table(pa.table({"a": pa.array([1, 2], pa.int8())}), {"year": 2024, "k": "nz"})
    assert table.to_pylist() == [{"year": 2024, "k": "nz", "a": i} for i in (1, 2)]


def test_a_declared_partition_column_has_its_place_and_type():
    declared = pa.schema([field("year", pa.int64()), field("a", pa.int8())])
    dataset = evolved([field("a", pa.int8())], partitions=PATHS, declared=declared)
    assert dataset.schema.arrow == declared
    table = pa.table({"a": pa.array([1], pa.int8())})
    assert read(dataset, [table], None, {"year": 7}).to_pylist() == [{"year": 7, "a": 1}]


# ---- what a wide dataset costs ------------------------------------------------------------------


class Counting:
    """A file of many columns that says which were made."""

    def __init__(self, count: int, told: bool, kind: pa.DataType) -> None:
        self.made: list[int] = []
        self.kind = kind
        names = [f"c{i}" for i in range(count)]
        self.schema = Schema(
            names, self.make, ids=list(range(count)), declared=[told] * count, ahead=self.expect
        )
        self.expected: list[int] = []

    def make(self, i: int) -> Column:
        self.made.append(i)
        return Column(ColumnId(i, (f"c{i}",)), self.kind, id_declared=bool(self.schema.declared[i]))

    def expect(self, positions) -> None:
        self.expected += positions


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("kinds", [[pa.int8()], [pa.int8(), pa.int16(), pa.int32()]], ids=len)
@pytest.mark.parametrize("partitions", [EMPTY, PATHS], ids=len)
def test_two_of_50000_columns_build_two(told, kinds, partitions):
    files = [Counting(50_000, told, kind) for kind in kinds]
    made = [Generation(one.schema, f"g{i}") for i, one in enumerate(files)]
    dataset = unified(made, partitions=partitions)
    fields = select(dataset.schema, ["c49999", "c7", 9]).fields
    parse([("c11", ">", 3)], dataset.schema)
    fit(dataset, 0, fields)
    assert [one.type for one in fields] == [kinds[-1]] * 3
    for one in files:
        assert sorted(one.made) == [7, 9, 11, 49999]
        assert sorted(one.expected) == [7, 9, 49999]
    assert {how for *_, how in dataset.matched} == {"id" if told else "name"}
    assert str(len(dataset)) in repr(dataset)
    assert all(len(one.made) == 4 for one in files)


def test_one_generation_is_the_files_own_schema():
    only = generation(0, *OLD)
    dataset = unified([only])
    assert dataset.schema is only.schema
    assert dataset.generation(only.schema) == dataset.generation(schema_of(*OLD)) == 0
    with pytest.raises(RequestError, match="no schema of this dataset"):
        dataset.generation(schema_of(*NEW))


# ---- real files ---------------------------------------------------------------------------------


def test_parquet_files_with_field_ids(tmp_path):
    inner = lambda *fields: field("s", pa.struct(fields), 4)  # noqa: E731
    generations = [
        [field("a", pa.int32(), 1), inner(field("x", pa.int8(), 5), field("y", pa.string(), 6))],
        [field("b", pa.int64(), 1), inner(field("z", pa.string(), 6), field("x", pa.int8(), 7))],
        [field("a", pa.string(), 2), field("b", pa.int64(), 1)],
    ]
    rows = [
        [{"a": 1, "s": {"x": 1, "y": "p"}}, {"a": None, "s": None}],
        [{"b": 2**40, "s": {"z": "q", "x": 2}}],
        [{"a": "new", "b": 3}],
    ]
    opened = []
    for n, (fields, values) in enumerate(zip(generations, rows, strict=True)):
        path = tmp_path / f"{n}.parquet"
        pq.write_table(pa.Table.from_pylist(values, pa.schema(fields)), path)
        opened.append(rangeio.open(str(path)))
    dataset = unified([Generation(f.schema, f.url) for f in opened])
    assert [how for *_, how in dataset.matched] == ["id"] * 3
    fields = select(dataset.schema, ["a", "b", "s", 5]).fields
    found = []
    for n, file in enumerate(opened):
        made = fit(dataset, n, fields)
        found += made.table(file.read(list(made.fields))).to_pylist()
        file.close()
    gone = {"a": None, "b": None, "s": None, "s#": None}
    assert found == [
        gone | {"b": 1, "s": {"z": "p", "x": None}, "s#": {"x#5": 1}},
        gone,
        gone | {"b": 2**40, "s": {"z": "q", "x": 2}, "s#": {"x#5": None}},
        gone | {"a": "new", "b": 3},
    ]


def test_parquet_files_without_field_ids_match_by_name(tmp_path):
    pq.write_table(pa.table({"a": pa.array([1], pa.int8()), "b": [1]}), tmp_path / "0")
    pq.write_table(pa.table({"b": [2], "a": pa.array([2], pa.int16())}), tmp_path / "1")
    opened = [rangeio.open(str(tmp_path / name)) for name in "01"]
    dataset = unified([Generation(f.schema, f.url) for f in opened])
    assert dataset.schema.arrow.names == ["a", "b"]
    assert dataset.schema["a"].type == pa.int16()
    assert [how for *_, how in dataset.matched] == ["name"] * 2
    for file in opened:
        file.close()
