"""Column words."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow as pa
import pytest

from rangeio.errors import NoSuchColumn, RequestError
from rangeio.schema import Column, ColumnId, Schema
from rangeio.select import one_of, select


def column(field: pa.Field, above: tuple[str, ...], number: Iterable[int]) -> Column:
    path = (*above, field.name)
    unique_id = next(number)
    kind = field.type
    below: list[pa.Field] = []
    if pa.types.is_map(kind):
        below = [kind.key_field, kind.item_field]
    elif pa.types.is_nested(kind):
        below = [kind.field(i) for i in range(kind.num_fields)]
    children = tuple(column(f, path, number) for f in below)
    return Column(ColumnId(unique_id, path), kind, field.nullable, children=children)


def schema_of(fields: pa.Schema) -> Schema:
    number = iter(range(1000))
    return Schema.of([column(f, (), number) for f in fields])


PAIR = pa.struct([("a", pa.int64()), ("b", pa.string())])
NESTED = pa.schema(
    [
        ("id", pa.int64()),  # 0
        ("v", pa.struct([("a", PAIR), ("a.b", pa.int8()), ("c", pa.int16())])),  # 1: 2 (3 4) 5 6
        ("l", pa.list_(PAIR)),  # 7: 8 (9 10)
        ("m", pa.map_(pa.string(), PAIR)),  # 11: 12 13 (14 15)
        ("x.y", pa.int32()),  # 16
        ("x", pa.struct([("y", pa.int32()), ("z", pa.int32())])),  # 17: 18 19
        ("feat_0", pa.float32()),  # 20
        ("feat_1", pa.float32()),
        ("Feat_2", pa.float32()),
        ("f*", pa.float32()),  # 23
        ("ll", pa.large_list(pa.list_(PAIR, 2))),  # 24
    ]
)
SCHEMA = schema_of(NESTED)


def picked(*words, **options) -> list[str]:
    """The leaves of a selection, by dotted path."""
    chosen = select(SCHEMA, list(words), **options)
    return [leaf.id.name for field in chosen.fields for leaf in field.leaves()]


def test_none_is_every_column_and_nothing_is_nothing():
    assert select(SCHEMA, None).fields == tuple(SCHEMA)
    assert select(SCHEMA, []).fields == ()
    assert select(SCHEMA, []).arrow_schema == pa.schema([])


def test_one_word_need_not_be_in_a_list():
    assert select(SCHEMA, "id").fields == (SCHEMA.at(0),)
    assert select(SCHEMA, 0).fields == (SCHEMA.at(0),)
    assert select(SCHEMA, SCHEMA.at(1)).fields == (SCHEMA.at(1),)
    assert select(SCHEMA, ("id", "x.y")).fields == (SCHEMA.at(0), SCHEMA.at(4))
    assert select(SCHEMA, [("x", "y")]).arrow_schema == pa.schema(
        [("x", pa.struct([("y", pa.int32())]))]
    )


def test_an_exact_name_comes_before_a_path_and_before_a_glob():
    assert picked("x.y") == ["x.y"]
    assert select(SCHEMA, "x.y").fields[0].path == ("x.y",)
    assert select(SCHEMA, "f*").fields == (SCHEMA.at(9),)


def test_a_path_through_structs():
    assert picked("v.a.a") == ["v.a.a"]
    assert picked(("v", "a", "a")) == ["v.a.a"]
    assert picked("v.a") == ["v.a.a", "v.a.b"]
    assert picked(["v", "c"]) == ["v.c"]


def test_a_dotted_path_with_two_readings_is_refused_and_a_tuple_decides():
    with pytest.raises(RequestError, match=r"\('v', 'a', 'b'\)"):
        picked("v.a.b")
    assert select(SCHEMA, [("v", "a.b")]).fields[0].type == pa.struct([("a.b", pa.int8())])
    assert select(SCHEMA, [("v", "a", "b")]).fields[0].children[0].name == "a"


def test_the_item_of_a_list_may_be_skipped():
    for word in ("l.a", "l.item.a", ("l", "a"), ("l", "item", "a")):
        (field,) = select(SCHEMA, [word]).fields
        assert field.type == pa.list_(pa.struct([("a", pa.int64())]))
    (field,) = select(SCHEMA, ["ll.b"]).fields
    assert field.type == pa.large_list(pa.list_(pa.struct([("b", pa.string())]), 2))
    assert one_of(SCHEMA, "l.a")[1].path == ("l", "item", "a")


def test_a_side_of_a_map_keeps_the_map_whole():
    for word in ("m.key", "m.value", "m.value.a", ("m", "value", "b")):
        assert select(SCHEMA, [word]).fields == (SCHEMA.at(3),)
    with pytest.raises(NoSuchColumn):
        picked("m.value.nothing")


def test_a_map_with_an_entries_level_is_entered_the_same_way():
    entries = pa.struct([("k", pa.string()), ("v", pa.int64())])
    inner = tuple(
        Column(ColumnId(n, ("m", "entries", name)), kind)
        for n, name, kind in [(2, "k", pa.string()), (3, "v", pa.int64())]
    )
    level = Column(ColumnId(1, ("m", "entries")), entries, children=inner)
    whole = Column(ColumnId(0, ("m",)), pa.map_(pa.string(), pa.int64()), children=(level,))
    schema = Schema.of([whole])
    for word in ("m.key", "m.k", "m.value", "m.v"):
        assert select(schema, [word]).fields == (whole,)


def test_numbers_are_ids_top_level_first_then_nested():
    assert picked(16, 5) == ["x.y", "v.a.b"]
    assert picked(9) == ["l.item.a"]
    with pytest.raises(NoSuchColumn, match="unique_id 999"):
        picked(999)


def test_globs_select_many_in_the_order_of_the_schema():
    assert picked("feat_?") == ["feat_0", "feat_1"]
    assert picked("[fF]eat_[12]") == ["feat_1", "Feat_2"]
    assert picked("v.*") == ["v.a.a", "v.a.b", "v.a.b", "v.c"]
    assert picked("*.c") == ["v.c"]
    assert picked("l.?") == ["l.item.a", "l.item.b"]
    assert picked("x.[yz]") == ["x.y", "x.y", "x.z"]
    with pytest.raises(NoSuchColumn, match=r"zz\*"):
        picked("zz*")


def test_a_pattern_matches_whole_top_level_names():
    assert picked(re.compile(r"feat_\d")) == ["feat_0", "feat_1"]
    assert picked(re.compile(r"feat_\d", re.IGNORECASE)) == ["feat_0", "feat_1", "Feat_2"]
    with pytest.raises(NoSuchColumn):
        picked(re.compile("feat"))
    with pytest.raises(RequestError):
        picked(re.compile(b"feat"))


def test_words_that_meet_are_merged_at_the_place_of_the_first():
    assert picked("v.c", "id", ("v", "a", "a")) == ["v.a.a", "v.c", "id"]
    assert picked("id", "id", 0, "i?") == ["id"]
    assert select(SCHEMA, ["v.c", "v"]).fields == (SCHEMA.at(1),)


def test_a_column_stands_for_itself_nested_or_pruned():
    nested = SCHEMA.at(1).children[0]
    assert picked(nested) == ["v.a.a", "v.a.b"]
    (pruned,) = select(SCHEMA, [("v", "a", "b")]).fields
    assert select(SCHEMA, [pruned]).fields == (pruned,)
    with pytest.raises(NoSuchColumn):
        picked(Column(ColumnId(77, ("id",)), pa.int64()))


def test_duplicate_names_are_told_apart_by_id_or_column():
    one, two = (Column(ColumnId(i, ("a",)), pa.int64()) for i in (4, 5))
    schema = Schema.of([one, two])
    for word in ("a", ("a",)):
        with pytest.raises(RequestError, match="unique_id") as caught:
            select(schema, [word])
        assert not isinstance(caught.value, NoSuchColumn)
    assert select(schema, 5).fields == (two,)
    assert select(schema, [two, 4]).fields == (two, one)
    assert select(schema, "a*").fields == (one, two)


def test_an_inherited_id_means_the_column_that_has_it():
    child = Column(ColumnId(7, ("s", "t", "a")), pa.int64())
    mid = Column(ColumnId(7, ("s", "t")), pa.struct([("a", pa.int64())]), children=(child,))
    top = Column(ColumnId(1, ("s",)), pa.struct([("t", mid.type)]), children=(mid,))
    assert one_of(Schema.of([top]), 7)[1] is mid


def test_an_id_of_two_nested_columns_is_refused():
    def holder(name: str, unique_id: int) -> Column:
        child = Column(ColumnId(9, (name, "a")), pa.int64())
        kind = pa.struct([("a", pa.int64())])
        return Column(ColumnId(unique_id, (name,)), kind, children=(child,))

    schema = Schema.of([holder("s", 1), holder("t", 2)])
    with pytest.raises(RequestError, match="more than one"):
        select(schema, 9)


def test_case_may_be_ignored():
    assert picked("FEAT_0", case_sensitive=False) == ["feat_0"]
    assert picked("V.A.A", case_sensitive=False) == ["v.a.a"]
    assert picked("L.A", ("M", "Key"), case_sensitive=False)[0] == "l.item.a"
    assert picked("feat_*", case_sensitive=False) == ["feat_0", "feat_1", "Feat_2"]
    assert picked(re.compile("FEAT_2"), case_sensitive=False) == ["Feat_2"]
    both = schema_of(pa.schema([("a", pa.int8()), ("A", pa.int8())]))
    assert select(both, "A", case_sensitive=False).fields == (both[1],)
    three = schema_of(pa.schema([("ab", pa.int8()), ("AB", pa.int8())]))
    with pytest.raises(RequestError, match="more than one"):
        select(three, "Ab", case_sensitive=False)


def test_what_is_not_there_is_named_with_near_names():
    with pytest.raises(NoSuchColumn, match=r"no column 'feat_11'.*'feat_1'"):
        picked("feat_11")
    with pytest.raises(NoSuchColumn, match=r"'Feat_2'.*case-sensitive"):
        picked("FEAT_2")
    with pytest.raises(NoSuchColumn, match=r"'v\.c'"):
        picked("v.d")
    with pytest.raises(NoSuchColumn) as caught:
        picked("qqqqqq")
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("words", [True, 1.5, {"id"}, b"id", [None], [b"id"], [1.5], [True]])
def test_what_is_no_word_is_refused(words):
    with pytest.raises(RequestError):
        select(SCHEMA, words)


@pytest.mark.parametrize("path", [(), ("v", 1), (1,)])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(RequestError):
        select(SCHEMA, [path])


class Wide:
    """A schema of many flat columns that counts what is built."""

    def __init__(self, count: int, ids: list[int] | None = None) -> None:
        self.built: set[int] = set()
        self.names = [f"column_{i:05}" for i in range(count)]
        self.schema = Schema(self.names, self.make, ids=ids)

    def make(self, i: int) -> Column:
        self.built.add(i)
        return Column(ColumnId(i + 100, (self.names[i],)), pa.int64())


def test_a_wide_schema_builds_only_what_is_asked():
    wide = Wide(10_000, ids=list(range(100, 10_100)))
    chosen = select(wide.schema, ["column_00003", "column_0999[89]", 105, ("column_00004",)])
    assert [c.unique_id for c in chosen.fields] == [103, 10_098, 10_099, 105, 104]
    assert wide.built == {3, 9998, 9999, 5, 4}


def test_a_miss_in_a_wide_schema_builds_nothing_and_still_offers_names():
    wide = Wide(10_000)
    with pytest.raises(NoSuchColumn, match="'column_0123"):
        select(wide.schema, ["colum_01234"])
    assert not wide.built


def test_a_dotted_glob_builds_only_what_it_can_match():
    wide = Wide(100)
    with pytest.raises(NoSuchColumn):
        select(wide.schema, ["column_00001.*"])
    assert wide.built == {1}


def test_flatten_opens_structs_and_keeps_nulls_and_lists():
    table = pa.table(
        {
            "id": [1, 2, 3],
            "v": pa.array(
                [{"a": {"a": 1, "b": "x"}, "c": 1}, None, {"a": None, "c": 3}],
                pa.struct([("a", PAIR), ("c", pa.int16())]),
            ),
            "l": pa.array([[{"a": 1, "b": "y"}], None, []], pa.list_(PAIR)),
        }
    )
    chosen = select(schema_of(table.schema), ["v", "l", "id"])
    table = table.select(["v", "l", "id"])
    assert chosen.arrow_schema == table.schema
    flat = chosen.flatten(table)
    assert flat.to_pydict() == {
        "v.a.a": [1, None, None],
        "v.a.b": ["x", None, None],
        "v.c": [1, None, 3],
        "l": [[{"a": 1, "b": "y"}], None, []],
        "id": [1, 2, 3],
    }
    assert chosen.flatten(table.slice(0, 0)).column_names == flat.column_names
    assert chosen.flatten(table.schema.empty_table()).schema == flat.schema


def test_the_names_that_parquet_has_for_the_inside_of_lists_and_maps_are_understood():
    kind = pa.struct([("x", pa.int64()), ("list", pa.list_(pa.int64()))])
    schema = schema_of(
        pa.schema(
            [
                ("l", pa.list_(kind)),
                ("ll", pa.list_(pa.list_(pa.int32()))),
                ("m", pa.map_(pa.string(), pa.list_(pa.int64()))),
            ]
        )
    )
    item = schema["l"].children[0]
    for word, path in {
        "l.list.element.x": (*item.path, "x"),
        "l.element.x": (*item.path, "x"),
        "l.list": (*item.path, "list"),  # a field's own name comes before the file's spelling
        "l.list.element.list": (*item.path, "list"),
        "ll.list.element.list.element": schema["ll"].children[0].children[0].path,
    }.items():
        assert one_of(schema, word)[1].path == path, word
        assert one_of(schema, tuple(word.split(".")))[1].path == path, word
    value = one_of(schema, "m.key_value.value")[1]
    assert value is one_of(schema, "m.value")[1]
    with pytest.raises(NoSuchColumn):
        one_of(schema, "l.list.elements")
