"""What lies where in a segment that the writer made, byte by byte."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from doris_parts import Segment, index, made, walk

from rangeio.codecs import varints
from rangeio.errors import RequestError
from rangeio.formats.doris import keys
from rangeio.formats.doris.words import Compression, Encoding, FieldType, IndexType, PageType

ROWS = 3000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "word": [f"w{i % 50}" for i in range(ROWS)],
        "tags": [[i] * (i % 3) if i % 7 else None for i in range(ROWS)],
        "flag": [i % 3 == 0 for i in range(ROWS)],
        "point": [{"x": i, "y": str(i)} if i % 5 else None for i in range(ROWS)],
        "price": pa.array([None if i % 2 else i / 7 for i in range(ROWS)]),
    }
)
GOLDEN = {"compression": "none", "page_size": 512, "zone_maps": False}


def sizes(values, encoding, kind, **more):
    """The (rows, bytes) of every page of one column, and their encoding."""
    nullable, metadata = more.get("nullable", False), more.get("metadata")
    schema = pa.schema([pa.field("a", kind, nullable, metadata)])
    table = pa.table([pa.array(values, kind)], schema)
    segment = Segment(made(table, encodings={"a": encoding}, **GOLDEN))
    assert segment.metas[0].encoding == Encoding[encoding.upper()]
    return [(one.rows, one.size) for one in segment.pages(segment.metas[0])]


# ---- sizes of pages that a real Doris wrote ------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "metadata", "rows", "size"),
    [
        (pa.int64(), None, 64, 537),
        (pa.decimal128(38, 0), {"doris.type": "LARGEINT"}, 32, 537),
        (pa.decimal256(76, 0), None, 16, 537),
        (pa.decimal128(27, 9), {"doris.type": "DECIMAL"}, 42, 529),
    ],
)
def test_golden_sizes_of_plain_pages(kind, metadata, rows, size):
    found = sizes([0] * 3 * rows, "plain", kind, metadata=metadata)
    assert found[0] == (rows, size)
    assert [one[0] for one in found] == [rows] * 3


@pytest.mark.parametrize(
    ("encoding", "rows", "size"), [("plain", 43, 541), ("plain_v2", 57, 538), ("plain_v3", 57, 542)]
)
def test_golden_sizes_of_pages_of_text(encoding, rows, size):
    found = sizes([f"{i:08}" for i in range(2 * rows + 1)], encoding, pa.string())
    assert found[0] == (rows, size)
    assert [one[0] for one in found] == [rows, rows, 1]


def test_a_page_ends_with_the_value_that_fills_it_and_nulls_go_to_the_next():
    values = [*range(64), None, None, *range(63), None]
    assert [n for n, _ in sizes(values, "plain", pa.int64(), nullable=True)] == [64, 66]
    assert [n for n, _ in sizes(values[:66], "plain", pa.int64(), nullable=True)] == [64, 2]
    assert [n for n, _ in sizes([None] * 5000, "plain", pa.int64(), nullable=True)] == [5000]


@pytest.mark.parametrize("cut", [1, 7, 64, 1000])
def test_pages_do_not_depend_on_the_batches(cut):
    pieces = [TABLE.slice(at, cut) for at in range(0, ROWS, cut)]
    for words in ({"page_size": 512}, {}, {"dict_page_size": 100, "page_size": 300}):
        assert made(pieces, **words) == made(TABLE, **words)


# ---- the order of the file -----------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("page_size", [512, 65536])
def test_everything_is_contiguous_and_in_order(version, page_size):
    words = {"bloom_filter_columns": ["id", "word"], "page_size": page_size}
    segment = Segment(made(TABLE, version=version, **words))
    groups: list[list[tuple[int, int]]] = [[], [], [], []]
    for meta in segment.metas:
        for one in walk(meta):
            _spots(segment, one, groups)
    groups.append([_span(segment.footer.short_key_index_page)])
    spans = [span for group in groups for span in sorted(group)]
    assert spans == sorted(spans)
    assert spans[0][0] == 0
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    end = segment.footer_at if version == 2 else segment.footer.col_meta_region_start
    assert spans[-1][1] == end


def _span(pointer):
    return pointer.offset, pointer.offset + pointer.size


def _spots(segment, meta, groups):
    """Where all pages of a column lie: data, ordinal indexes, zone maps, bloom filters."""
    data = [(one.offset, one.offset + one.size) for one in segment.pages(meta)]
    if meta.HasField("dict_page"):
        data.append(_span(meta.dict_page))
        assert data == sorted(data)
    groups[0] += data
    ordinal = index(meta, IndexType.ORDINAL)
    if ordinal is not None and not ordinal.ordinal_index.root_page.is_root_data_page:
        groups[1].append(_span(ordinal.ordinal_index.root_page.root_page))
    zones, blooms = index(meta, IndexType.ZONE_MAP), index(meta, IndexType.BLOOM_FILTER)
    for group, about in (
        (groups[2], zones and zones.zone_map_index.page_zone_maps),
        (groups[3], blooms and blooms.bloom_filter_index.bloom_filter),
    ):
        if about is not None:
            tree = about.ordinal_index_meta
            group += [_span(one) for one in segment.spots(tree, about.compression)[1]]
            if not tree.is_root_data_page:
                group.append(_span(tree.root_page))


def test_a_column_of_one_page_has_no_index_page():
    segment = Segment(made(TABLE))
    tree = index(segment.metas[0], IndexType.ORDINAL).ordinal_index.root_page
    assert tree.is_root_data_page
    assert segment.page(tree.root_page, Compression.ZSTD).kind == PageType.DATA


def test_a_column_without_pages_has_no_ordinal_index():
    segment = Segment(made(pa.table({"a": pa.array([[], None], pa.list_(pa.int32()))})))
    item, offsets, nulls = segment.metas[0].children_columns
    assert (item.num_rows, offsets.num_rows, nulls.num_rows) == (0, 2, 2)
    assert index(item, IndexType.ORDINAL) is None
    assert segment.values(segment.metas[0]) == [[], None]


# ---- the short key -------------------------------------------------------------------------------


def short_key(segment):
    """The keys of the short-key page, and its footer."""
    page = segment.page(segment.footer.short_key_index_page, Compression.NONE)
    assert page.kind == PageType.SHORT_KEY
    about = page.footer.short_key_page_footer
    assert about.key_bytes + about.offset_bytes == len(page.body)
    raw = np.frombuffer(page.body[about.key_bytes :], np.uint8)
    starts = [*varints.decode(raw, about.num_items)[0].tolist(), about.key_bytes]
    return [bytes(page.body[a:b]) for a, b in pairwise(starts)], about


def test_the_short_key_has_the_first_row_of_every_block():
    pieces = [TABLE.slice(at, 700) for at in range(0, ROWS, 700)]
    found, about = short_key(Segment(made(pieces)))
    assert found == [b"\x02" + (1 << 63 | i).to_bytes(8, "big") for i in (0, 1024, 2048)]
    assert (about.num_rows_per_block, about.num_segment_rows) == (1024, ROWS)


def test_short_keys_of_texts_are_cut_and_null_is_below_all():
    text = pa.field("v", pa.string(), metadata={"doris.type": "VARCHAR"})
    schema = pa.schema([pa.field("a", pa.int8()), text, pa.field("b", pa.int8())])
    table = pa.table([[None], ["x" * 30], [1]], schema)
    found, _ = short_key(Segment(made(table)))
    assert found == [keys.NULL + keys.NORMAL + b"x" * 20]


@pytest.mark.parametrize(
    ("kinds", "asked", "taken"),
    [
        ([pa.int8()] * 5, None, 3),
        ([pa.int64(), pa.float64(), pa.int8()], None, 1),
        ([pa.string(), pa.int8()], None, 0),
        ([pa.decimal256(76, 0), pa.int64()], None, 1),
        ([pa.list_(pa.int8()), pa.int64()], None, 0),
        ([pa.int8()] * 5, 5, 5),
        ([pa.int8()] * 5, 0, 0),
        ([pa.string(), pa.float64()], 2, 2),
    ],
)
def test_which_columns_make_the_short_key(kinds, asked, taken):
    schema = pa.schema([pa.field(f"c{k}", kind) for k, kind in enumerate(kinds)])
    table = schema.empty_table()
    row = pa.table([pa.nulls(1, kind) for kind in kinds], schema)
    words = {} if asked is None else {"short_key_columns": asked}
    found, _ = short_key(Segment(made(row, **words)))
    assert found == [keys.NULL * taken]
    assert short_key(Segment(made(table, **words)))[1].num_items == 0


def test_what_cannot_be_in_a_short_key():
    with pytest.raises(RequestError, match="'tags' is ARRAY"):
        made(TABLE, short_key_columns=3)
    with pytest.raises(RequestError, match="7 of 6 columns"):
        made(TABLE, short_key_columns=7)


# ---- encodings -----------------------------------------------------------------------------------

KINDS = {
    "TINYINT": pa.int8(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "DOUBLE": pa.float64(),
    "FLOAT": pa.float32(),
    "DATEV2": pa.date32(),
    "DATETIMEV2": pa.timestamp("us"),
    "DECIMAL64": pa.decimal128(18, 3),
    "BOOL": pa.bool_(),
    "STRING": pa.string(),
    "BITMAP": pa.binary(),
}
DEFAULTS = {
    2: {"BOOL": Encoding.RLE, "STRING": Encoding.DICT, "BITMAP": Encoding.PLAIN},
    3: {
        **dict.fromkeys(("TINYINT", "BIGINT"), Encoding.PLAIN),
        "BOOL": Encoding.RLE,
        "STRING": Encoding.DICT,
        "BITMAP": Encoding.PLAIN_V2,
    },
}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("encodings", ["doris", "v2", "v3"])
def test_default_encodings(version, encodings):
    schema = pa.schema([pa.field(name, kind) for name, kind in KINDS.items()])
    table = pa.table([pa.nulls(2, kind) for kind in KINDS.values()], schema)
    segment = Segment(made(table, version=version, encodings=encodings))
    expected = DEFAULTS[{"v2": 2, "v3": 3}.get(encodings, version)]
    for name, meta in zip(KINDS, segment.metas, strict=True):
        assert FieldType(meta.type).name == name
        assert meta.encoding == expected.get(name, Encoding.BIT_SHUFFLE)
    words = segment.metas[9].dict_page
    plain = Encoding.PLAIN if expected is DEFAULTS[2] else Encoding.PLAIN_V2
    assert segment.page(words, Compression.ZSTD).footer.dict_page_footer.encoding == plain
    offsets = made(TABLE, version=version, encodings=encodings)
    item = Segment(offsets).metas[2].children_columns
    assert item[1].encoding == Encoding.BIT_SHUFFLE
    assert item[2].encoding == expected.get("TINYINT", Encoding.BIT_SHUFFLE)


def modes(segment, meta):
    """The mode of every page of a column with a dictionary."""
    return [int.from_bytes(one.values[:4], "little") for one in segment.pages(meta)]


@pytest.mark.parametrize("version", [2, 3])
def test_a_full_dictionary_gives_way_to_plain_pages(version):
    words = [f"{i // 2:05}" for i in range(2000)]
    table = pa.table({"a": [None, *words, None]})
    segment = Segment(made(table, version=version, page_size=1024, dict_page_size=4096))
    meta = segment.metas[0]
    found = modes(segment, meta)
    plain = Encoding.PLAIN if version == 2 else Encoding.PLAIN_V2
    change = found.index(plain)
    assert found == [Encoding.DICT] * change + [plain] * (len(found) - change)
    stored = segment.words(meta)
    each = 9 if version == 2 else 6
    assert len(stored) == 4096 // each + (0 if 4 + 4096 // each * each > 4096 else 1)
    assert [one.rows for one in segment.pages(meta)][: change - 1] == [257, *[256] * (change - 2)]
    assert segment.values(meta) == [None, *words, None]


def test_encodings_that_a_type_has_not():
    table = pa.table({"a": [1], "s": ["x"], "l": [[1]]})
    for name, word in (("a", "dict"), ("a", "rle"), ("a", "prefix"), ("s", "bit_shuffle")):
        with pytest.raises(RequestError, match="which has no encoding"):
            made(table, encodings={name: word})
    with pytest.raises(RequestError, match="'l' is ARRAY: it has no encoding"):
        made(table, encodings={"l": "plain"})
    with pytest.raises(RequestError, match="must be one of plain"):
        made(table, encodings={"a": "for"})


# ---- the metadata --------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_what_the_metadata_says(version):
    schema = pa.schema(
        [
            pa.field("a", pa.decimal128(20, 4), metadata={"unique_id": "7"}),
            pa.field("b", pa.string(), nullable=False, metadata={"doris.type": "VARCHAR(30)"}),
            pa.field("c", pa.struct([("x", pa.int32()), ("y", pa.list_(pa.int8()))])),
        ]
    )
    table = pa.table([[None, 1], ["u", "v"], [None, {"x": 1, "y": [2]}]], schema)
    a, b, c = Segment(made(table, version=version, compression="lz4")).metas
    assert [one.unique_id for one in (a, b, c)] == [7, 1, 2]
    assert [one.column_id for one in (a, b, c)] == [0, 1, 2]
    assert {one.column_id for one in walk(c)} == {2}
    assert (a.type, a.length, a.precision, a.frac) == (FieldType.DECIMAL128I, 16, 20, 4)
    assert (b.type, b.length, b.is_nullable, a.is_nullable) == (FieldType.VARCHAR, 32, False, True)
    assert {one.compression for one in walk(c)} == {Compression.LZ4}
    assert list(c.children_column_names) == ["x", "y"]
    assert c.length == 65535
    assert [one.num_rows for one in walk(c)] == [2, 2, 2, 1, 2, 2, 2]
    assert [one.unique_id for one in c.children_columns] == [1, 2, 3]
    assert (a.none_null_size, b.none_null_size) == (1, 2)
    assert b.raw_data_bytes == 2


def test_the_directory_of_v3_costs_few_bytes_a_column():
    schema = pa.schema([pa.field(f"c{k}", pa.int32()) for k in range(1000)])
    segment = Segment(made(schema.empty_table(), zone_maps=False))
    assert len(segment.metas) == 1000
    size = len(segment.data) - 12 - segment.footer_at
    assert size < 8 * 1000 + 100
