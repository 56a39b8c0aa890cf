"""VARIANT columns: paths, their types, their index, and what has no column of its own."""

import json
import struct

import pyarrow as pa
import pytest
from doris_parts import NO_ID, Segment, made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rangeio.errors import RequestError
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.words import Compression, Encoding, FieldType, IndexType

ROWS = [
    {"a": 1, "b": {"c": "x", "d": [1, None]}},
    None,
    {"a": 2, "b": {"c": "y"}, "on": True, "r": 0.5},
    {},
    {"b": None, "a1": "z", "a": None},
]
TABLE = pa.table({"k": range(5), "V": [None if row is None else json.dumps(row) for row in ROWS]})
PATHS = [b"a", b"a1", b"b.c", b"b.d", b"on", b"r"]
VALUES = {
    "a": [1, None, 2, None, None],
    "a1": [None, None, None, None, "z"],
    "b.c": ["x", None, "y", None, None],
    "b.d": [[1, None], None, None, None, None],
    "on": [None, None, True, None, None],
    "r": [None, None, 0.5, None, None],
}


def below(segment):
    """The columns of paths, by path."""
    found = {}
    for meta in segment.metas:
        if meta.unique_id == NO_ID:
            parts = [part.key for part in meta.column_path_info.path_part_infos]
            assert meta.column_path_info.path == ".".join(parts)
            assert parts[0] == "v"
            found[".".join(parts[1:])] = meta
    return found


def values(segment):
    """The rows of every path."""
    return {path: segment.values(meta) for path, meta in below(segment).items()}


def of_texts(texts, **words):
    """A segment of one variant column."""
    table = pa.table({"v": pa.array(texts, pa.string())})
    return Segment(made(table, variant="v", **words))


# ---- paths and types -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("cut", [1, 2, 5])
def test_json_becomes_a_column_for_every_path(version, cut):
    pieces = [TABLE.slice(at, cut) for at in range(0, 5, cut)]
    segment = Segment(made(pieces, version=version, variant=["V"]))
    assert values(segment) == VALUES
    kinds = {path: FieldType(meta.type).name for path, meta in below(segment).items()}
    assert kinds == {
        "a": "BIGINT",
        "a1": "STRING",
        "b.c": "STRING",
        "b.d": "ARRAY",
        "on": "BOOL",
        "r": "DOUBLE",
    }
    assert made(pieces, variant=["V"]) == made(TABLE, variant=["V"])


@pytest.mark.parametrize("version", [2, 3])
def test_the_root_has_a_cell_for_every_row(version):
    segment = Segment(made(TABLE, version=version, variant=["V"]))
    root = segment.metas[1]
    assert (root.type, root.unique_id, root.encoding) == (FieldType.VARIANT, 1, Encoding.DICT)
    assert segment.values(root) == [b"", None, b"", b"", b""]
    assert root.column_path_info.path == "v"
    assert not root.children_columns


def test_a_struct_becomes_a_column_for_every_leaf():
    kind = pa.struct(
        [
            pa.field("z", pa.int16()),
            pa.field("b", pa.struct([("c", pa.string()), ("d", pa.list_(pa.int64()))])),
            pa.field("nothing", pa.null()),
            pa.field("day", pa.date32()),
        ]
    )
    rows = [{"z": 1, "b": {"c": "x", "d": [1]}}, None, {"b": None}, {"z": 4, "b": {}}]
    table = pa.table({"v": pa.array(rows, kind)})
    segment = Segment(made([table.slice(0, 1), table.slice(1)], variant=["v"]))
    assert values(segment) == {
        "b.c": ["x", None, None, None],
        "b.d": [[1], None, None, None],
        "day": [None] * 4,
        "z": [1, None, None, 4],
    }
    kinds = [FieldType(meta.type).name for meta in below(segment).values()]
    assert kinds == ["STRING", "ARRAY", "DATEV2", "SMALLINT"]


@pytest.mark.parametrize(
    ("rows", "kind", "expected"),
    [
        ([1, 2.5], "DOUBLE", [1.0, 2.5]),
        ([1, "x", True, None, [1]], "STRING", ["1", "x", "true", None, "[1]"]),
        ([(1 << 53) + 1, 1], "BIGINT", [(1 << 53) + 1, 1]),
        ([0.5, (1 << 53) + 1], "STRING", ["0.5", str((1 << 53) + 1)]),
        ([1 << 53, 0.5], "DOUBLE", [2.0**53, 0.5]),
        ([[-(1 << 63) + 1], [0.5]], "ARRAY", [[str(-(1 << 63) + 1)], ["0.5"]]),
        ([1 << 200, 0.5, -(1 << 127)], "STRING", [str(1 << 200), "0.5", str(-(1 << 127))]),
        ([1 << 63, 1], "STRING", [str(1 << 63), "1"]),
        ([-(1 << 63), (1 << 63) - 1], "BIGINT", [-(1 << 63), (1 << 63) - 1]),
        ([[1], [2.5], []], "ARRAY", [[1.0], [2.5], []]),
        ([[1], ["x", {"y": 1}, None]], "ARRAY", [["1"], ["x", '{"y": 1}', None]]),
        ([[[1]], [[]], []], "ARRAY", [[[1]], [[]], []]),
        ([[], []], "ARRAY", [[], []]),
        ([True, 1], "STRING", ["true", "1"]),
        ([["x", 1], 5], "STRING", ['["x", 1]', "5"]),
        ([[1, 2.5], "x"], "STRING", ["[1, 2.5]", "x"]),
        ([[0.5, 1], [(1 << 53) + 1]], "ARRAY", [["0.5", "1"], [str((1 << 53) + 1)]]),
    ],
)
@pytest.mark.parametrize("together", [True, False])
def test_what_values_have_in_common(rows, kind, expected, together, monkeypatch):
    if not together:  # every value an array of its own
        monkeypatch.setattr("rangeio.formats.doris.writing.collected.LOOSE", 1)
    segment = of_texts([json.dumps({"p": row}) for row in rows])
    assert FieldType(below(segment)["p"].type).name == kind
    assert values(segment) == {"p": expected}


def test_values_and_objects_of_one_name_are_two_paths():
    segment = of_texts(['{"a": 1}', '{"a": {"b": 2}}'])
    assert values(segment) == {"a": [1, None], "a.b": [None, 2]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "it is a JSON list"),
        ("7", "it is a JSON int"),
        ("{", "it is no JSON"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": 1, "a": 2}', None),
        ('{"a.b": 1, "a": {"b": 2}}', "two values of one object have the path 'a.b'"),
        ('{"": 1}', "a key of an object is empty"),
        ('{"a": "\\ud800"}', "cannot be kept"),
        ('{"a": 1e400}', "the number 1e400 is larger than every double"),
        ('{"a": {"b": ["x", -1.5E+999]}}', "the number -1.5E\\+999 is larger than every double"),
        ('{"a": ' + "9" * 5000 + "}", "the number 9{40}... has 5,000 digits"),
        ('{"\\uDFFF": 1}', "cannot be kept"),
        ('{"a": "\\ud83d\\ude00"}', None),
        ('{"a":' * 5000 + "1" + "}" * 5000, "it is no JSON"),
        ("null", None),
    ],
)
def test_text_that_is_no_object(text, reason):
    if reason is None:
        of_texts(["{}", text])
        return
    with pytest.raises(RequestError, match=reason):
        of_texts(["{}", text])
    with pytest.raises(RequestError, match="row 1 of 'v'"):
        of_texts(["{}", text])


@pytest.mark.parametrize("most", [0, 1])
def test_numbers_at_the_ends_of_doubles(most):
    """Also of a path that others make text, or that has no column of its own."""
    texts = ['{"b": 1.7976931348623157e308, "a": -5e-324}', '{"b": "x"}', '{"c": 1, "b": -0.0}']
    segment = of_texts(texts, variant_max_subcolumns=most)
    assert values(segment)["b"] == ["1.7976931348623157e+308", "x", "-0.0"]
    for text in ('{"b": 1e309}', '{"a": -1e309}'):
        with pytest.raises(RequestError, match="row 3 of 'v': the number"):
            of_texts([*texts, text], variant_max_subcolumns=most)


def test_infinity_in_a_struct_is_no_text():
    """A column of doubles holds it; JSON does not."""
    rows = pa.array([{"a": float("inf")}, {"a": 1.0}])
    assert values(Segment(made(pa.table({"v": rows}), variant="v")))["a"] == [float("inf"), 1.0]
    mixed = pa.table({"v": pa.array([{"a": [[float("inf")]]}])})
    assert made(mixed, variant="v")


def test_columns_that_are_no_variants():
    with pytest.raises(RequestError, match="'k' is int64: a variant is a struct, or JSON text"):
        made(TABLE, variant=["k"])
    for item in (pa.list_(pa.struct([("a", pa.int8())])), pa.map_(pa.string(), pa.int8())):
        table = pa.schema([pa.field("v", pa.struct([("x", item)]))]).empty_table()
        with pytest.raises(RequestError, match="no column for"):
            made(table, variant="v")
    twice = pa.struct([("a.b", pa.int8()), ("a", pa.struct([("b", pa.int8())]))])
    with pytest.raises(RequestError, match=r"two fields of the path 'a\.b'"):
        made(pa.schema([pa.field("v", twice)]).empty_table(), variant="v")
    with pytest.raises(RequestError, match="a field of a variant without a name is its root"):
        made(pa.schema([pa.field("v", pa.struct([("", pa.int8())]))]).empty_table(), variant="v")


OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "a1", "é"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(1 << 70), 1 << 70) | st.text(max_size=3),
        lambda of: st.lists(of, max_size=2) | st.dictionaries(st.sampled_from("xyz"), of),
        max_leaves=4,
    ),
)


def leaves(value, above=""):
    """The paths of an object and their values, as text."""
    found = {}
    for key, one in value.items():
        if isinstance(one, dict):
            found |= leaves(one, f"{above}{key}.")
        elif one is not None:
            found[above + key] = one
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.none() | OBJECTS, max_size=8), st.sampled_from([2, 3]), st.integers(1, 8))
def test_every_value_is_in_the_row_of_its_path(rows, version, cut):
    texts = pa.array([None if row is None else json.dumps(row) for row in rows], pa.string())
    table = pa.table({"v": texts})
    pieces = [table.slice(at, cut) for at in range(0, len(rows), cut)]
    segment = Segment(made(pieces, table.schema, version=version, variant="v", page_size=64))
    expected = [leaves(row or {}) for row in rows]
    found = values(segment)
    assert set(found) == {path for row in expected for path in row}
    for path, column in found.items():
        present = [value is not None for value in column]
        assert present == [path in row for row in expected]
        for value, row in zip(column, expected, strict=True):
            if path in row and isinstance(value, str):
                own = row[path]
                assert value == own if isinstance(own, str) else json.loads(value) == own
            elif path in row and not isinstance(value, list):
                assert value == row[path]


def test_blooms_and_zone_maps_of_paths():
    segment = Segment(made(TABLE, variant="V", bloom_filter_columns="V", encodings={"k": "plain"}))
    kinds = {path: {one.type for one in meta.indexes} for path, meta in below(segment).items()}
    every = {IndexType.ORDINAL, IndexType.ZONE_MAP, IndexType.BLOOM_FILTER}
    assert kinds == {
        **dict.fromkeys(("a", "a1", "b.c"), every),
        **dict.fromkeys(("on", "r"), every - {IndexType.BLOOM_FILTER}),
        "b.d": set(),
    }
    assert {one.type for one in segment.metas[1].indexes} == {IndexType.ORDINAL}
    with pytest.raises(RequestError, match="'V' is VARIANT, which takes no encoding"):
        made(TABLE, variant="V", encodings={"V": "plain"})


# ---- the index of paths --------------------------------------------------------------------------


def index_of(segment, unique_id):
    """The IndexedColumn of a variant's paths."""
    pairs = {pair.key: pair.value for pair in segment.footer.file_meta_datas}
    return MESSAGES.IndexedColumn.FromString(pairs[f"variant_meta_keys.{unique_id}"])


def test_paths_follow_their_root_in_the_order_of_their_bytes():
    texts = ['{"a1": 1, "é": 1, "a": {"b": 1}}', '{"a": 1, "B": 1}']
    two = pa.table({"v": texts, "n": [1, 2], "w": texts})
    segment = Segment(made(two, variant=["v", "w"]))
    paths = [b"B", b"a", b"a.b", b"a1", "é".encode()]
    ids = [meta.unique_id for meta in segment.metas]
    assert ids == [0, *[NO_ID] * 5, 1, 2, *[NO_ID] * 5]
    for root, first in ((0, 1), (2, 8)):
        assert segment.indexed(index_of(segment, root)) == paths
        for path, meta in zip(paths, segment.metas[first : first + 5], strict=True):
            name = "v" if root == 0 else "w"
            assert meta.column_path_info.path == f"{name}.{path.decode()}"
            assert meta.column_path_info.parrent_column_unique_id == root


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_many_paths_have_pages_and_a_value_index(compression, monkeypatch):
    monkeypatch.setattr("rangeio.formats.doris.writing.segment.PATHS_PAGE", 500)
    texts = [json.dumps({f"key{k:04}": {"inner": k} for k in range(1000)})]
    segment = of_texts(texts, compression=compression)
    about = index_of(segment, 0)
    paths = sorted(f"key{k:04}.inner".encode() for k in range(1000))
    assert (about.data_type, about.encoding) == (FieldType.VARCHAR, Encoding.PREFIX)
    assert about.compression == Compression[compression.upper()]
    assert segment.indexed(about) == paths
    keys, spots = segment.spots(about.value_index_meta, about.compression)
    ordinals, same = segment.spots(about.ordinal_index_meta, about.compression)
    assert len(keys) > 10
    assert [spot.offset for spot in spots] == [spot.offset for spot in same]
    firsts = [int.from_bytes(key, "big") for key in ordinals]
    assert keys == [paths[first] for first in firsts]


def test_a_variant_without_paths_has_no_index():
    segment = of_texts([None, "{}"])
    assert not segment.footer.file_meta_datas
    assert [meta.type for meta in segment.metas] == [FieldType.VARIANT]


def test_a_variant_of_v2_has_its_paths_after_all_columns():
    table = TABLE.append_column("n", pa.array(range(5)))
    segment = Segment(made(table, version=2, variant="V"))
    assert [meta.unique_id for meta in segment.metas] == [0, 1, 2, *[NO_ID] * 6]
    assert [meta.column_id for meta in segment.metas] == list(range(9))
    two = TABLE.append_column("w", TABLE["V"])
    for version in (2, 3):
        metas = Segment(made(two, version=version, variant=["V", "w"])).metas
        assert sorted(meta.column_id for meta in metas) == list(range(15))


# ---- the sparse column ---------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("text", [True, False])
def test_the_paths_with_the_fewest_values_share_a_column(version, text):
    rows = [{"a": 1, "b": True, "c": "x"}, None, {"a": 2, "d": 0.5}, {"a": 3, "b": False}]
    array = pa.array([row and json.dumps(row) for row in rows] if text else rows)
    words = {"variant": "v", "variant_max_subcolumns": 1, "version": version}
    segment = Segment(made(pa.table({"v": array}), **words))
    if version == 3:
        assert list(below(segment)) == ["a"]
        (sparse,) = segment.metas[0].children_columns
        assert segment.indexed(index_of(segment, 0)) == [b"a"]
    else:
        sparse = segment.metas[-1]
    assert sparse.column_path_info.path == "v.__DORIS_VARIANT_SPARSE__"
    assert sparse.column_path_info.parrent_column_unique_id == 0
    counts = sparse.variant_statistics.sparse_column_non_null_size
    assert {one.key: one.value for one in counts} == {"b": 2, "c": 1, "d": 1}
    assert segment.metas[0].variant_max_subcolumns_count == 1
    sides = list(sparse.children_columns[:2])
    for side in sides:
        side.type = FieldType.BITMAP  # its values are no text
    keys, cells = map(segment.values, sides)
    assert keys == [b"b", b"c", b"d", b"b"]
    assert cells == [
        struct.pack("<BB", FieldType.BOOL, 1),
        struct.pack("<BQ", FieldType.STRING, 1) + b"x",
        struct.pack("<Bd", FieldType.DOUBLE, 0.5),
        struct.pack("<BB", FieldType.BOOL, 0),
    ]
    assert segment.values(sparse.children_columns[2]) == [0, 2, 2, 3]


def test_lists_in_the_sparse_column():
    words = {"variant_max_subcolumns": 1}
    segment = of_texts(['{"a": 1, "l": [7, null]}', '{"a": 1}'], **words)
    side = segment.metas[0].children_columns[0].children_columns[1]
    side.type = FieldType.BITMAP
    items = struct.pack("<Bq", FieldType.BIGINT, 7) + bytes([FieldType.NONE])
    assert segment.values(side) == [struct.pack("<BQ", FieldType.ARRAY, 2) + items]


@pytest.mark.parametrize("version", [2, 3])
def test_a_variant_as_it_is_read_is_written_as_it_was(version):
    entry = [("p", b"\x18\x01"), ("q", b"\x0b\xff")]
    kind = pa.struct(
        [
            pa.field("", pa.binary()),
            pa.field("__DORIS_VARIANT_SPARSE__", pa.map_(pa.string(), pa.binary()), nullable=False),
            pa.field("a", pa.int64()),
        ]
    )
    rows = [(b"", entry, 1), (None, [], None), (b"\x01", entry[:1], None)]
    array = pa.array([dict(zip(kind.names, row, strict=True)) for row in rows], kind)
    table = pa.table([array], pa.schema([pa.field("v", kind, nullable=False)]))
    segment = Segment(made([table.slice(0, 1), table.slice(1)], version=version, variant="v"))
    assert segment.values(segment.metas[0]) == [b"", None, b"\x01"]
    assert segment.values(below(segment)["a"]) == [1, None, None]
    sparse = segment.metas[0].children_columns[0] if version == 3 else segment.metas[-1]
    counts = sparse.variant_statistics.sparse_column_non_null_size
    assert {one.key: one.value for one in counts} == {"p": 2, "q": 1}
    sparse.children_columns[1].type = FieldType.BITMAP
    assert segment.values(sparse) == [entry, [], entry[:1]]
