"""Files whose columns come, go and widen at random: as Arrow concatenates their tables."""

from __future__ import annotations

import uuid

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from many_files import parquet

import rangeio

SMALL = st.none() | st.integers(0, 9)
LADDERS = {
    "i": [pa.int8(), pa.int16(), pa.int32(), pa.int64()],
    "f": [pa.float32(), pa.float64()],
    "t": [pa.string(), pa.large_string()],
    "s": [
        pa.struct([("x", pa.int16())]),
        pa.struct([("x", pa.int32()), ("y", pa.float32())]),
        pa.struct([("y", pa.float64())]),
    ],
    "l": [pa.list_(pa.int16()), pa.list_(pa.int64())],
}


def values(kind: pa.DataType):
    """Of a type, few and small."""
    if pa.types.is_struct(kind):
        return st.none() | st.fixed_dictionaries({f.name: SMALL for f in kind})
    if pa.types.is_list(kind):
        return st.none() | st.lists(SMALL, max_size=2)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return SMALL.map(lambda one: None if one is None else f"{one}")
    return SMALL


@st.composite
def tables(draw) -> list[pa.Table]:
    """Files of some of the columns each, in any order, each column in any of its types."""
    out = []
    for n in range(draw(st.integers(1, 5))):
        rows = draw(st.sampled_from([0, 1, 4]))
        names = draw(st.lists(st.sampled_from(list(LADDERS)), min_size=1, unique=True))
        columns = {"row": pa.array(range(10 * n, 10 * n + rows), pa.int64())}
        for name in names:
            kind = draw(st.sampled_from(LADDERS[name]))
            columns[name] = pa.array(
                draw(st.lists(values(kind), min_size=rows, max_size=rows)), kind
            )
        order = draw(st.permutations(list(columns)))
        out.append(pa.table({name: columns[name] for name in order}))
    return out


def together(made: list[pa.Table]) -> pa.Table:
    """All of them, as Arrow promotes them."""
    return pa.concat_tables(made, promote_options="permissive")


@pytest.fixture(scope="module")
def shared():
    with rangeio.Session() as one:
        yield one


@settings(max_examples=60, deadline=None)
@given(made=tables(), data=st.data())
def test_files_that_are_unlike_one_another(shared, made, data):
    memory, root = fsspec.filesystem("memory"), f"/{uuid.uuid4().hex}"
    memory.makedirs(root)
    for n, one in enumerate(made):
        memory.pipe_file(f"{root}/{n}.parquet", parquet(one, row_group_size=3))
    whole = together(made)
    dataset = rangeio.dataset(f"memory:/{root}", session=shared)
    read = dataset.read()
    read.validate(full=True)
    assert set(read.schema.names) == set(whole.schema.names)
    words = data.draw(st.lists(st.sampled_from(whole.schema.names), min_size=1, unique=True))
    for got in (read.select(words), dataset.read(words), dataset.scan(words, batch_rows=2)):
        got = got.read_all() if isinstance(got, pa.RecordBatchReader) else got
        assert got.to_pydict() == whole.select(words).to_pydict()
        assert [values_of(one.type) for one in got.schema] == [
            values_of(whole.schema.field(name).type) for name in words
        ]
    known = [one for one in "ift" if one in whole.schema.names]
    name = data.draw(st.sampled_from(known or ["row"]))
    literal = "5" if name == "t" else 5
    for word, kept in (
        (">", pc.field(name) > literal), ("is null", pc.field(name).is_null()),
        ("!=", pc.field(name) != literal),
    ):  # fmt: skip
        asked = [(name, word)] if word == "is null" else [(name, word, literal)]
        found = whole.filter(kept)
        assert dataset.read(words, filters=asked).to_pydict() == found.select(words).to_pydict()
        assert dataset.count(asked) == found.num_rows
    held = [one for one in whole[name].to_pylist() if one is not None]
    assert dataset.min(name) == min(held, default=None)
    assert dataset.max(name) == max(held, default=None)
    if "s" in whole.schema.names:
        inner = whole["s"].type.field(0).name
        leaf = pc.struct_field(whole["s"], inner).to_pylist()
        nested = dataset.read([f"s.{inner}"], flatten=True)
        assert nested[f"s.{inner}"].to_pylist() == leaf
        assert dataset.count([(f"s.{inner}", "is null")]) == leaf.count(None)
        assert dataset.count([(f"s.{inner}", ">=", 4)]) == sum((v or 0) >= 4 for v in leaf)
    rows = data.draw(st.lists(st.integers(0, max(len(whole) - 1, 0)), max_size=5))
    if len(whole):
        taken = whole.select(words).take(pa.array(rows, pa.int64()))
        assert dataset.read(words, rows=rows).to_pydict() == taken.to_pydict()
    memory.rm(root, recursive=True)


def values_of(kind: pa.DataType) -> object:
    """A type without what Arrow and Parquet name the items of a list."""
    if pa.types.is_struct(kind):
        return {f.name: values_of(f.type) for f in kind}
    return ("list", kind.value_type) if pa.types.is_list(kind) else kind


def test_a_column_of_the_path_and_of_the_file(lakes, session):
    lake = lakes("memory")
    lake.put("k=1/a.parquet", parquet(pa.table({"k": [7, 7], "a": [1, 2]})))
    lake.put("k=2/a.parquet", parquet(pa.table({"a": [3], "k": [8]})))
    dataset = lake.open(session)
    assert dataset.read().to_pydict() == {"k": [1, 1, 2], "a": [1, 2, 3]}
    assert dataset.read(["a"], filters=[("k", "=", 2)])["a"].to_pylist() == [3]
    assert dataset.count([("k", "=", 7)]) == 0
    assert lake.open(session, partitioning=None).max("k") == 8


@pytest.mark.parametrize(
    "words", [["a", "a"], ["s.x", "a", "s.y"], ["s.y"], [("s", "x")], ["*"], ["[as]"]], ids=repr
)
def test_words_mean_what_they_mean_of_one_file(lakes, session, words):
    lake = lakes("memory")
    table = pa.table({"a": [1, 2], "s": [{"x": 1, "y": "p"}, None], "t": ["u", "v"]})
    for n in range(2):
        lake.put(f"{n}.parquet", parquet(table))
    with rangeio.open(lake.at("0.parquet"), session=session) as file:
        for flatten in (False, True):
            try:
                one = file.read(words, flatten=flatten)
            except rangeio.errors.RequestError as error:
                with pytest.raises(type(error)):
                    lake.open(session).read(words, flatten=flatten)
                continue
            both = lake.open(session).read(words, flatten=flatten)
            assert both == pa.concat_tables([one, one])
