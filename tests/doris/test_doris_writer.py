"""Tables of every type, written, taken apart and compared."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from doris_parts import Segment, made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rangeio
from rangeio.errors import NoSuchColumn, RequestError
from rangeio.formats import writer
from rangeio.formats.doris.words import FieldType

CODECS = ("none", "snappy", "lz4", "lz4f", "zlib", "zstd")
SCALARS = {
    "bool": (pa.bool_(), st.booleans()),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int16": (pa.int16(), st.integers(-(1 << 15), (1 << 15) - 1)),
    "int32": (pa.int32(), st.integers(-(1 << 31), (1 << 31) - 1)),
    "int64": (pa.int64(), st.integers(-(1 << 63), (1 << 63) - 1)),
    "uint8": (pa.uint8(), st.integers(0, 255)),
    "uint16": (pa.uint16(), st.integers(0, (1 << 16) - 1)),
    "uint32": (pa.uint32(), st.integers(0, (1 << 32) - 1)),
    "uint64": (pa.uint64(), st.integers(0, (1 << 64) - 1)),
    "float": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "double": (pa.float64(), st.floats(allow_nan=False)),
    "date": (pa.date32(), st.dates()),
    "datetime": (pa.timestamp("us"), st.datetimes()),
    "instant": (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    "decimal32": (pa.decimal128(7, 2), st.decimals(-99999, 99999, places=2)),
    "decimal64": (pa.decimal128(18, 4), st.decimals(-(10**13), 10**13, places=4)),
    "decimal128": (pa.decimal128(38, 0), st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal)),
    "decimal256": (pa.decimal256(76, 0), st.integers(-(10**76) + 1, 10**76 - 1).map(Decimal)),
    "string": (pa.string(), st.text(max_size=40)),
    "few": (pa.string(), st.sampled_from(["", "a", "bb", "a much longer text"])),
    "binary": (pa.binary(), st.binary(max_size=40)),
}


@st.composite
def columns(draw, depth=2):
    """A field without its name, and what draws its values."""
    shape = draw(st.integers(0, 5)) if depth else 0
    if shape <= 2:
        kind, values = SCALARS[draw(st.sampled_from(sorted(SCALARS)))]
    elif shape == 3:
        (item, values) = draw(columns(depth=depth - 1))
        make = draw(st.sampled_from([pa.list_, pa.large_list]))
        kind, values = make(item.with_name("item")), st.lists(values, max_size=4)
    elif shape == 4:
        (item, of) = draw(columns(depth=depth - 1))
        kind = pa.map_(pa.string(), item.with_name("value"))
        values = st.lists(st.tuples(st.text(max_size=5), of), max_size=3)
    else:
        below = draw(st.lists(columns(depth=depth - 1), min_size=1, max_size=3))
        kind = pa.struct([one.with_name(f"f{k}") for k, (one, _) in enumerate(below)])
        values = st.fixed_dictionaries({f"f{k}": of for k, (_, of) in enumerate(below)})
    nullable = draw(st.booleans())
    return pa.field("c", kind, nullable), (st.none() | values if nullable else values)


@st.composite
def tables(draw):
    """A table, its rows repeated so that there are pages to fill."""
    drawn = draw(st.lists(columns(), min_size=1, max_size=4))
    rows = draw(st.integers(0, 6))
    schema = pa.schema([one.with_name(f"c{k}") for k, (one, _) in enumerate(drawn)])
    arrays = [
        pa.array(draw(st.lists(of, min_size=rows, max_size=rows)), one.type) for one, of in drawn
    ]
    times = draw(st.sampled_from([1, 3, 40]))
    return pa.concat_tables([pa.table(arrays, schema)] * times)


OPTIONS = st.fixed_dictionaries(
    {
        "version": st.sampled_from([2, 3]),
        "compression": st.sampled_from(CODECS),
        "page_size": st.sampled_from([1, 64, 512, 65536]),
        "dict_page_size": st.sampled_from([1, 64, 262144]),
        "encodings": st.sampled_from(["doris", "v2", "v3"]),
        "zone_maps": st.booleans(),
    }
)


def rows_of(segment):
    """All rows of all columns, as Python has them."""
    return [segment.values(meta) for meta in segment.metas]


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), OPTIONS, st.integers(1, 50))
def test_what_is_written_is_there(table, options, cut):
    pieces = [table.slice(at, cut) for at in range(0, table.num_rows, cut)]
    data = made(pieces, table.schema, **options)
    segment = Segment(data)
    assert segment.footer.num_rows == table.num_rows
    assert rows_of(segment) == [column.to_pylist() for column in table.columns]
    assert data == made(table, **options)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), OPTIONS)
def test_what_is_written_is_read(tmp_path_factory, table, options):
    path = str(tmp_path_factory.mktemp("d") / "s.dat")
    done = rangeio.write(table, path, format="doris", **options)
    assert done.rows == table.num_rows
    names = dict(enumerate(table.schema.names))
    with rangeio.open(path, schema=names) as file:
        assert file.version == f"V{options['version']}"
        assert file.num_rows == table.num_rows
        assert file.read().to_pylist() == table.to_pylist()


FORCED = [
    *(("string", one) for one in ("plain", "plain_v2", "plain_v3", "prefix", "dict")),
    *(("binary", one) for one in ("plain", "plain_v2", "plain_v3", "prefix")),
    *((name, one) for name in ("int64", "double", "date") for one in ("plain", "bit_shuffle")),
    *(("bool", one) for one in ("rle", "plain", "bit_shuffle")),
]


@pytest.mark.parametrize(("name", "encoding"), FORCED)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_encoding_is_read(tmp_path_factory, name, encoding, data):
    kind, of = SCALARS[name]
    rows = data.draw(st.lists(st.none() | of, max_size=30)) * data.draw(st.sampled_from([1, 20]))
    table = pa.table({"c": pa.array(rows, kind)})
    path = tmp_path_factory.mktemp("d") / "s.dat"
    sizes = {"page_size": data.draw(st.sampled_from([16, 256, 65536]))}
    rangeio.write(table, path, format="doris", encodings={"c": encoding}, **sizes)
    with rangeio.open(path, schema={0: "c"}) as file:
        assert file.read().to_pydict() == {"c": rows}
        some = slice(len(rows) // 3, len(rows) // 2)
        assert file.read(rows=some).to_pydict() == {"c": rows[some]}


UNBLOOMED = {"bool", "int8", "uint8", "uint16", "uint64", "float", "double"}


@pytest.mark.parametrize("name", sorted(set(SCALARS) - {"binary"}))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_filters_find_the_same_rows_with_and_without_indexes(tmp_path_factory, name, data):
    kind, of = SCALARS[name]
    some = data.draw(st.lists(st.none() | of, min_size=1, max_size=8))
    rows = sorted((v for v in some if v is not None), key=repr) * 30 + some
    table = pa.table({"c": pa.array(rows, kind), "n": range(len(rows))})
    value = data.draw(st.sampled_from(some).filter(lambda v: v is not None) | of)
    folder = tmp_path_factory.mktemp("d")
    words = {"page_size": 512, "version": data.draw(st.sampled_from([2, 3]))}
    bloomed = [] if name in UNBLOOMED else ["c"]
    rangeio.write(table, folder / "a.dat", format="doris", bloom_filter_columns=bloomed, **words)
    rangeio.write(table, folder / "b.dat", format="doris", zone_maps=False, **words)
    files = [rangeio.open(folder / f"{x}.dat", schema={0: "c", 1: "n"}) for x in "ab"]
    for op in ("==", "<", ">=", "!="):
        with_indexes, without = (file.read(filters=[("c", op, value)]) for file in files)
        assert with_indexes.equals(without)
    found = files[0].read(filters=[("c", "==", value)])["n"].to_pylist()
    assert found == [k for k, row in enumerate(rows) if row == value]


# ---- arrays of every make ------------------------------------------------------------------------


def test_what_lies_under_nulls_is_not_written():
    inner = pa.array([[1, 2], [3], [4, 5, 6]], pa.list_(pa.int64()))
    mask = pa.array([False, True, False])
    struct = pa.StructArray.from_arrays([inner, pa.array([1, 2, 3])], ["l", "n"], mask=mask)
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3, 6]), pa.array(range(6)), mask=mask)
    segment = Segment(made(pa.table({"s": struct, "l": lists})))
    assert rows_of(segment) == [
        [{"l": [1, 2], "n": 1}, None, {"l": [4, 5, 6], "n": 3}],
        [[0, 1], None, [3, 4, 5]],
    ]
    assert segment.metas[0].children_columns[0].children_columns[0].num_rows == 5
    assert segment.metas[1].children_columns[0].num_rows == 5


def test_fields_that_cannot_be_null_below_a_null_struct():
    kind = pa.struct(
        [
            pa.field("n", pa.int64(), nullable=False),
            pa.field("s", pa.string(), nullable=False),
            pa.field("l", pa.list_(pa.int8()), nullable=False),
        ]
    )
    values = [{"n": 1, "s": "x", "l": [1]}, None, {"n": 2, "s": "", "l": []}]
    segment = Segment(made(pa.table({"a": pa.array(values, kind)})))
    assert rows_of(segment) == [values]
    below = segment.metas[0].children_columns
    assert [one.is_nullable for one in below[:3]] == [False] * 3
    assert segment.values(below[0]) == [1, 0, 2]


def test_a_null_where_a_column_has_none():
    for kind, value in ((pa.int32(), 1), (pa.list_(pa.int8()), [1]), (pa.string(), "x")):
        schema = pa.schema([pa.field("a", kind, nullable=False)])
        with pytest.raises(RequestError, match="'a' is not nullable, and has a null"):
            made(pa.table([pa.array([value, None], kind)], schema))
        assert rows_of(Segment(made(pa.table([pa.array([value], kind)], schema)))) == [[value]]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", None, "b", "a"]).dictionary_encode(),
        pa.array(["a", None, "b"], pa.string_view()),
        pa.array(["a", None, "b"], pa.large_string()),
        pa.array([b"a", None, b"b"], pa.large_binary()),
        pa.array([1.5, None], pa.float16()),
        pa.array([[1, 2], None, [3, None]], pa.list_(pa.int8(), 2)),
        pa.array([[1, 2], None, [3, None], []], pa.list_view(pa.int8())),
        pa.array([[1, 2], None, [3, None], []], pa.large_list_view(pa.int8())),
        pa.array([[{"a": "x"}], None, [None, {"a": None}]]),
        pa.array([[[("k", 1)], None], []], pa.list_(pa.map_(pa.string(), pa.int8()))),
        pa.array([dt.date(2024, 2, 29), None], pa.date64()),
        pa.array([dt.datetime(2024, 2, 29, 1, 2, 3), None], pa.timestamp("ms")),
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16, None], pa.binary(16))),
        pa.ExtensionArray.from_storage(
            pa.opaque(pa.list_(pa.int8()), "t", "v"), pa.array([[1], None], pa.list_(pa.int8()))
        ),
    ],
    ids=lambda array: str(array.type),
)
def test_arrays_of_other_makes(array):
    storage = array.storage if isinstance(array, pa.ExtensionArray) else array
    for one, own in ((array, storage), (array.slice(1), storage.slice(1))):
        assert rows_of(Segment(made(pa.table({"a": one})))) == [own.to_pylist()]


def test_types_that_doris_has_not():
    for kind in (
        pa.null(),
        pa.time64("us"),
        pa.duration("s"),
        pa.list_(pa.month_day_nano_interval()),
    ):
        with pytest.raises(RequestError, match="'a"):
            made(pa.schema([pa.field("a", kind)]).empty_table())
    with pytest.raises(RequestError, match="struct without fields"):
        made(pa.schema([pa.field("a", pa.struct([]))]).empty_table())
    with pytest.raises(RequestError, match="one column at least"):
        made(pa.schema([]).empty_table())


def test_types_that_are_asked_for():
    fields = [
        pa.field("a", pa.decimal128(38, 0), metadata={"doris.type": "LARGEINT"}),
        pa.field("b", pa.string(), metadata={"doris.type": "CHAR(5)"}),
        pa.field("c", pa.binary(), metadata={"doris.type": "JSONB"}),
        pa.field("d", pa.timestamp("s"), metadata={"doris.type": "DATETIME"}),
        pa.field("e", pa.binary(16), metadata={"doris.type": "IPV6"}),
    ]
    rows = [Decimal(-5), "ab", b"{}", dt.datetime(2020, 1, 2, 3, 4, 5), bytes(range(16))]
    table = pa.table(
        [pa.array([row, None], f.type) for row, f in zip(rows, fields, strict=True)],
        pa.schema(fields),
    )
    segment = Segment(made(table))
    kinds = [FieldType(meta.type).name for meta in segment.metas]
    assert kinds == ["LARGEINT", "CHAR", "JSONB", "DATETIME", "IPV6"]
    assert rows_of(segment) == [[row, None] for row in rows]


# ---- ids, options --------------------------------------------------------------------------------


def test_ids_of_fields():
    fields = [pa.field("a", pa.int8(), metadata={"unique_id": "9"}), pa.field("b", pa.int8())]
    table = pa.schema(fields).empty_table()
    assert [meta.unique_id for meta in Segment(made(table)).metas] == [9, 1]
    twice = [fields[0], fields[0].with_name("c")]
    with pytest.raises(RequestError, match="two columns have the unique_id 9"):
        made(pa.schema(twice).empty_table())
    for word in ("-1", "x", "4294967295", "", "²"):
        field = pa.field("a", pa.int8(), metadata={"unique_id": word})
        with pytest.raises(RequestError, match="no whole number"):
            made(pa.schema([field]).empty_table())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"version": 1}, "version= must be 2 or 3"),
        ({"version": True}, "version= must be 2 or 3"),
        ({"compression": "brotli"}, "compression= must be one of none"),
        ({"compression": None}, "compression= must be one of none"),
        ({"page_size": 0}, "page_size= must be a whole number"),
        ({"page_size": 1 << 30}, "page_size= must be a whole number"),
        ({"dict_page_size": "x"}, "dict_page_size= must be a whole number"),
        ({"zone_maps": 1}, "zone_maps= must be True or False"),
        ({"encodings": "v4"}, "encodings= must be"),
        ({"encodings": {"a": "plain_v9"}}, "encodings= of 'a' must be one of"),
        ({"encodings": {"a": 1}}, "encodings= of 'a' must be one of"),
        ({"encodings": ["plain"]}, "encodings= must be"),
        ({"variant": 5}, "variant= must be a list of column names"),
        ({"bloom_filter_columns": {"a": True}}, "must be a list of column names"),
        ({"short_key_columns": -1}, "short_key_columns= must be a whole number"),
        ({"variant_max_subcolumns": -1}, "variant_max_subcolumns= must be a whole number"),
        ({"pagesize": 1}, "'pagesize' is no option of Doris segments; did you mean page_size?"),
    ],
)
def test_options_that_cannot_be(words, reason):
    with pytest.raises(RequestError) as caught:
        made(pa.table({"a": [1]}), **words)
    assert reason in str(caught.value)


@pytest.mark.parametrize("name", ["encodings", "bloom_filter_columns", "variant"])
def test_columns_that_there_are_not(name):
    value = {"b": "plain"} if name == "encodings" else ["b"]
    with pytest.raises(NoSuchColumn, match="no column is called 'b'"):
        made(pa.table({"a": [1]}), **{name: value})


def test_the_writer_is_found_by_name():
    assert writer("doris").name == "doris"
    assert ".dat" in writer("doris").suffixes


def test_a_dropped_encoder_writes_nothing_more():
    one = writer("doris")
    out = bytearray()
    table = pa.table({"a": np.arange(1000)})
    encoder = one.encoder(table.schema, one.options({}), out.extend, None)
    encoder.write(table)
    encoder.drop()
    assert not out


def test_ten_million_nulls_are_one_page():
    nulls = pa.nulls(1 << 20, pa.int64())
    segment = Segment(made([pa.table({"a": nulls})] * 10))
    (page,) = segment.pages(segment.metas[0])
    assert page.rows == 10 << 20
    assert page.size < 100
