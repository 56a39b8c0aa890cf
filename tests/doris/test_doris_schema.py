"""Names and ids: ``schema=``, columns that a segment lacks, and how little of a schema is read."""

from __future__ import annotations

import pickle
import re
from decimal import Decimal

import pyarrow as pa
import pytest
from doris_tables import made, table, wide

import rangeio
from rangeio.declared import Declared
from rangeio.errors import NoSuchColumn, RequestError
from rangeio.schema import Schema
from rangeio.sought import WHOLE, Sought

VERSIONS = pytest.mark.parametrize("version", [2, 3])


def ids(table: pa.Table, start: int) -> pa.Table:
    """The table with other unique_ids."""
    fields = [
        f.with_metadata({b"unique_id": str(start + i).encode()}) for i, f in enumerate(table.schema)
    ]
    return table.cast(pa.schema(fields))


@VERSIONS
def test_without_names_columns_are_called_by_their_ids(version):
    with rangeio.open(made(ids(wide(3), 40), version=version)) as file:
        assert list(file.schema.names) == ["col_40", "col_41", "col_42"]
        assert file.schema["col_41"].id_declared
        assert file.read(41)["col_41"].to_pylist() == list(range(1, 9))
        assert file.column("col_42").unique_id == 42
        for word in ("col_43", "col_041", "c0", "col_", "col_4294967295"):
            with pytest.raises(NoSuchColumn):
                file.read(word)


@VERSIONS
def test_names_by_id(version):
    data = made(ids(wide(5), 10), version=version)
    with rangeio.open(data, schema={12: "b", 10: "a"}) as file:
        assert file.num_columns == 2
        assert file.read().to_pydict() == {"b": list(range(2, 10)), "a": list(range(8))}
        assert file.read(10).column_names == ["a"]
        with pytest.raises(NoSuchColumn):
            file.read("col_11")
        again = pickle.loads(pickle.dumps(file))
        assert again.read("b") == file.read("b")


@VERSIONS
def test_names_by_an_arrow_schema(version):
    with rangeio.open(made(wide(3), version=version), schema=wide(3).schema) as file:
        assert file.read() == wide(3)
    named = ids(wide(3), 7).schema
    with rangeio.open(made(ids(wide(3), 7), version=version), schema=named) as file:
        assert file.read().schema.equals(named, check_metadata=True)
        assert rangeio.open(made(file.read()), schema=file.schema.arrow).read() == wide(3)


@VERSIONS
def test_a_column_that_the_segment_lacks(version):
    fields = [
        pa.field("c0", pa.int32(), metadata={b"unique_id": b"0"}),
        pa.field("new", pa.int64(), metadata={b"unique_id": b"90", b"default": b"17"}),
        pa.field("text", pa.string(), metadata={b"unique_id": b"91"}),
        pa.field("struct", pa.struct({"x": pa.int8()}), metadata={b"unique_id": b"92"}),
        pa.field("raw", pa.binary(), False, metadata={b"unique_id": b"93", b"default": b"\xff"}),
    ]
    with rangeio.open(made(wide(2), version=version), schema=pa.schema(fields)) as file:
        found = file.read(rows=slice(0, 2))
        assert found.schema.types == [f.type for f in fields]
        assert found.to_pylist()[0] == {
            "c0": 0,
            "new": 17,
            "text": None,
            "struct": None,
            "raw": b"\xff",
        }
        assert file.read(["new"], filters=[("c0", ">", 5)])["new"].to_pylist() == [17, 17]
        assert file.read(["c0"], filters=[("new", "<", 5)]).num_rows == 0
        assert file.column("new").statistics is None
        assert file.column("new").pages == []
    with rangeio.open(made(wide(2), version=version), schema={8: "gone"}) as file:
        assert file.read()["gone"].null_count == 8


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        (pa.int64(), b"soon", "soon"),
        (pa.int8(), b"300", "300"),
        (pa.date32(), b"2020-02-30", "2020-02-30"),
        (pa.decimal128(3, 1), b"1.55", "1.55"),
        (pa.string(), b"\xff", r"\\xff"),
        (pa.binary(4), b"abc", "abc"),
        (pa.list_(pa.int8()), b"[]", "[]"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("unique_id", [b"0", b"9"], ids=["there", "not there"])
def test_a_default_that_is_no_value(kind, text, shown, unique_id):
    """The caller's mistake, and none of the file: told before anything is read."""
    field = pa.field("new", kind, metadata={b"unique_id": unique_id, b"default": text})
    with pytest.raises(RequestError) as caught:
        rangeio.open(made(wide(1)), schema=pa.schema([field]))
    assert caught.value.reason == f"schema=: the default '{shown}' of 'new' is no {kind}"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (pa.binary(4), b"\xff\0ab", b"\xff\0ab"),
        (pa.binary_view(), b"\xff", b"\xff"),
        (pa.string_view(), "é".encode(), "é"),
        (pa.dictionary(pa.int8(), pa.string()), b"x", "x"),
        (pa.decimal256(39, 0), str(-(2**127)).encode(), Decimal(-(2**127))),
        (pa.bool_(), b"true", True),
    ],
    ids=repr,
)
def test_defaults_of_many_types(kind, text, value):
    field = pa.field("new", kind, metadata={b"unique_id": b"9", b"default": text})
    with rangeio.open(made(wide(1)), schema=pa.schema([field])) as file:
        found = pickle.loads(pickle.dumps(file)).read(rows=[1, 2])["new"]
        assert found.type == kind
        assert found.to_pylist() == [value, value]


def test_a_dropped_and_readded_name_never_mixes():
    """The old ``x`` has id 1, the new one id 5: old segments have none of its values."""
    old, new = ids(wide(1), 1), ids(wide(1), 5)
    for data, wanted in ((made(old), [None] * 8), (made(new), list(range(8)))):
        with rangeio.open(data, schema={5: "x"}) as file:
            assert file.read()["x"].to_pylist() == wanted


def test_one_file_under_two_schemas_shares_no_name():
    session = rangeio.Session()
    data = made(wide(2))
    one = rangeio.open(data, schema={0: "a", 1: "b"}, session=session)
    two = rangeio.open(data, schema={1: "a", 0: "b"}, session=session)
    assert one.read("a")["a"].to_pylist() == two.read("b")["b"].to_pylist()
    assert one.read("b")["b"].to_pylist() == two.read("a")["a"].to_pylist()


@pytest.mark.parametrize(
    "schema",
    [{"a": 1}, {-1: "a"}, {1: "a", 2: "a"}, {True: "a"}, {1 << 31: "a"}, "a", 7, [1]],
    ids=repr,
)
def test_what_names_nothing(schema):
    with pytest.raises(RequestError, match="schema="):
        rangeio.open(made(wide(1)), schema=schema)


def test_ids_that_are_there_twice():
    fields = [pa.field(n, pa.int8(), metadata={b"unique_id": b"4"}) for n in "ab"]
    with pytest.raises(RequestError, match="unique_id 4 is there twice"):
        Declared.of(pa.schema(fields))
    with pytest.raises(RequestError, match="no unique_id"):
        Declared.of(pa.schema([pa.field("a", pa.int8(), metadata={b"unique_id": b"x"})]))


def test_other_formats_refuse_a_schema(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(wide(1), tmp_path / "a.parquet")
    with pytest.raises(RequestError, match="parquet files carry theirs"):
        rangeio.open(tmp_path / "a.parquet", schema={0: "a"})


# ---- how much of the schema a request needs ------------------------------------------------------

NAMED = Schema(["a", "b.c", "b", "Ab"], lambda i: 1 / 0, ids=[7, 8, 9, 10])  # type: ignore[arg-type]


def reached(words, filters=None, case_sensitive=True):
    sought = Sought.of(words, filters, case_sensitive)
    return sought.reached(NAMED, lambda one: [i for i, n in enumerate(NAMED.ids) if n == one])


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("a", {0: {WHOLE}}),
        (["a", "b.c"], {0: {WHOLE}, 1: {WHOLE}, 2: {"c"}}),
        ("b.x.y", {2: {"x.y"}}),
        ([("b", "c", "d")], {2: {"c.d"}}),
        (("a", "b"), {0: {WHOLE}, 2: {WHOLE}}),
        (8, {1: {WHOLE}}),
        ("nope", {}),
        ("b*", {1: {WHOLE}, 2: {WHOLE}}),
        ("b.?", {1: {WHOLE}, 2: {WHOLE}}),
        (re.compile("[ab]"), {0: {WHOLE}, 2: {WHOLE}}),
        ([], {}),
        (None, {i: {WHOLE} for i in range(4)}),
        ([b"a", 1.5, True, {}], {}),
    ],
    ids=repr,
)
def test_what_words_may_mean(words, wanted):
    assert reached(words) == wanted


def test_what_filters_may_mean():
    import pyarrow.compute as pc

    assert reached([], [("a", ">", 1)]) == {0: {WHOLE}}
    assert reached([], [[("a", ">", 1)], [(("b", "x"), "is null")]]) == {0: {WHOLE}, 2: {"x"}}
    assert reached([], ("b.x", "==", 3)) == {2: {"x"}}
    assert reached([], pc.field("b", "x") > 3) == {2: {"x"}}
    assert reached(["a"], "what") == {0: {WHOLE}}
    assert reached("AB", case_sensitive=False) == {3: {WHOLE}}
    assert reached("B.C", case_sensitive=False) == {1: {WHOLE}, 2: {WHOLE}}


@VERSIONS
def test_every_kind_of_word(version):
    data = made(table(20), version=version)
    names = dict(enumerate(table(20).column_names))
    with rangeio.open(data, schema=names) as file:
        assert file.read("struct.b.c").to_pydict() == {
            "struct": [
                None if one is None else {"b": {"c": one["b"]["c"]}}
                for one in table(20)["struct"].to_pylist()
            ]
        }
        assert file.read("TEXT", case_sensitive=False).column_names == ["text"]
        assert file.read("str*").column_names == ["struct", "structs"]
        assert file.read("structs.x").column_names == ["structs"]
        assert file.read(re.compile("l.*")).column_names == ["list", "lists"]
        assert file.read([("map",), 0]).column_names == ["map", "int"]
        assert file.read([file.schema["flag"]]).column_names == ["flag"]
        flat = file.read("struct", flatten=True)
        assert flat.column_names == ["struct.a", "struct.b.c", "struct.b.d"]
        with pytest.raises(NoSuchColumn, match=r"did you mean 'struct\.b\.c'"):
            file.read("struct.b.cc")
        with pytest.raises(NoSuchColumn):
            file.read(999)
