"""Schemas: lazy, pruned, and pickled columns."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

from rangeio.errors import NoSuchColumn, RequestError
from rangeio.schema import Column, ColumnId, Schema


def column(field: pa.Field, above: tuple[str, ...] = (), unique_id: int = 0) -> Column:
    path = (*above, field.name)
    kind = field.type
    inner: list[pa.Field] = []
    if pa.types.is_map(kind):
        inner = [kind.key_field, kind.item_field]
    elif pa.types.is_nested(kind):
        inner = [kind.field(i) for i in range(kind.num_fields)]
    children = tuple(column(one, path, unique_id) for one in inner)
    return Column(ColumnId(unique_id, path), kind, field.nullable, children=children)


class Counting:
    """A schema of many columns that counts how often each is made."""

    def __init__(self, count: int, ids: list[int] | None = None) -> None:
        self.made: list[int] = []
        self.schema = Schema([f"c{i}" for i in range(count)], self.make, ids=ids)

    def make(self, i: int) -> Column:
        self.made.append(i)
        return Column(ColumnId(i + 50, (f"c{i}",)), pa.int64())


def test_a_column_is_made_when_it_is_looked_at_and_once():
    wide = Counting(10_000)
    assert len(wide.schema) == 10_000
    assert "c8" in wide.schema.positions
    assert "9992 more" in repr(wide.schema)
    assert not wide.made
    assert wide.schema["c7"] is wide.schema.at(7) is wide.schema.at(-9993)
    assert wide.made == [7]


def test_an_id_that_is_known_builds_one_column():
    wide = Counting(10_000, ids=list(range(50, 10_050)))
    assert wide.schema[57].name == "c7"
    assert wide.made == [7]


def test_without_ids_the_columns_tell_theirs():
    wide = Counting(10)
    assert wide.schema[57].name == "c7"
    assert sorted(wide.made) == list(range(10))
    with pytest.raises(KeyError):
        wide.schema[7]
    assert wide.schema.with_id(7) == []


def test_duplicates_of_a_name_or_id_are_all_found():
    twice = [Column(ColumnId(i, ("a",)), pa.int64()) for i in (1, 2)]
    schema = Schema.of(twice)
    assert schema.positions == {"a": [0, 1]}
    assert [schema.at(i) for i in range(2)] == twice == list(schema)
    with pytest.raises(RequestError, match="ask by id"):
        schema["a"]
    same = Schema.of([Column(ColumnId(4, (n,)), pa.int64()) for n in "ab"])
    assert [i for i, _ in same.with_id(4)] == [0, 1]


def test_what_is_not_there_raises_as_a_sequence_and_a_mapping_do():
    schema = Counting(3).schema
    for key in ("zz", 3):
        assert key not in schema
        with pytest.raises(NoSuchColumn):
            schema[key]
    for position in (3, -4):
        with pytest.raises(IndexError):
            schema.at(position)
    with pytest.raises(TypeError):
        schema[0:1]
    assert "c1" in schema
    assert 51 in schema
    assert schema["c1"] in schema


DEEP = pa.struct(
    [
        ("a", pa.int64()),
        ("l", pa.list_(pa.struct([("x", pa.int8()), ("y", pa.int8())]))),
        ("m", pa.map_(pa.string(), pa.struct([("p", pa.int8()), ("q", pa.int8())]))),
    ]
)
TOP = column(pa.field("v", DEEP))


def kept(*paths: str) -> pa.DataType:
    return TOP.pruned(frozenset(tuple(p.split(".")) for p in paths)).type


def test_pruning_keeps_what_lies_on_or_below_a_path():
    assert kept("v.a") == pa.struct([("a", pa.int64())])
    assert kept("v.l.item.y") == pa.struct([("l", pa.list_(pa.struct([("y", pa.int8())])))])
    assert kept("v.m.value.q") == pa.struct([DEEP.field("m")])
    assert TOP.pruned(frozenset({("v",)})) is TOP
    assert TOP.pruned(frozenset({("v", "a"), ("v", "l"), ("v", "m")})) is TOP


PAIR = pa.struct([("x", pa.int8()), ("y", pa.int8())])


@pytest.mark.parametrize(
    "wrap",
    [
        pa.list_,
        pa.large_list,
        pa.list_view,
        pa.large_list_view,
        lambda item: pa.list_(item, 3),
    ],
)
def test_pruning_below_a_list_keeps_its_kind_and_the_nullability_of_its_item(wrap):
    item = pa.field("element", PAIR, nullable=False)
    top = column(pa.field("l", wrap(item)))
    pruned = top.pruned(frozenset({("l", "element", "y")}))
    assert pruned.type == wrap(pa.field("element", pa.struct([("y", pa.int8())]), nullable=False))
    assert [leaf.id.name for leaf in pruned.leaves()] == ["l.element.y"]


class Boxed(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(PAIR, "rangeio.test.boxed")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()


def test_an_extension_is_kept_whole():
    children = tuple(column(pa.field(n, pa.int8()), ("e",)) for n in "xy")
    top = Column(ColumnId(0, ("e",)), Boxed(), children=children)
    assert top.pruned(frozenset({("e", "x")})) is top


def test_leaves_and_walk_are_depth_first():
    assert [c.id.name for c in TOP.leaves()] == [
        "v.a",
        "v.l.item.x",
        "v.l.item.y",
        "v.m.key",
        "v.m.value.p",
        "v.m.value.q",
    ]
    assert len(list(TOP.walk())) == 11
    assert Schema.of([TOP]).leaves == list(TOP.leaves())


def test_the_arrow_schema_carries_nullability_and_metadata():
    one = Column(ColumnId(0, ("a",)), pa.int8(), nullable=False, metadata={b"k": b"v"})
    arrow = Schema.of([one], {b"s": b"t"}).arrow
    expected = pa.schema([pa.field("a", pa.int8(), False, {b"k": b"v"})], {b"s": b"t"})
    assert arrow.equals(expected, check_metadata=True)


def test_equality_is_of_columns_and_pickling_keeps_it():
    assert Schema.of([TOP]) == Schema.of([column(pa.field("v", DEEP))])
    assert Schema.of([TOP]) != Schema.of([])
    assert pickle.loads(pickle.dumps(TOP)) == TOP


def test_names_are_found_one_by_one_until_many_are_asked_for():
    names = [f"c{i}" for i in range(100)] + ["c7"]
    looked = []

    class Seen(list):
        def __iter__(self):
            looked.append("all")
            return super().__iter__()

    def find(name):
        looked.append(name)
        return [i for i in range(len(names)) if names[i] == name]

    schema = Schema(Seen(names), lambda i: column(pa.field(names[i], pa.int64())), find=find)
    assert schema.positions["c7"] == [7, 100]
    assert schema.positions.get("none") is None
    assert "c3" in schema
    assert looked == ["c7", "none", "c3"]
    for i in range(40):
        assert schema.positions[f"c{i}"][0] == i
    assert looked.count("all") == 1
    assert len(schema.positions) == 100
