"""FlatBuffers made by hand: the older revision, encrypted chunks, logical types, what is absent."""

from __future__ import annotations

import io

import flatbuffers
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpus_files import made
from flat_builder import (
    built,
    chunk,
    element,
    file_metadata,
    in_four_bytes,
    of_numbers,
    older,
    right_aligned,
)
from flat_files import (
    KEPT,
    as_thrift,
    chunk_of,
    everything,
    extended_file,
    flat,
    flatbuffer_of,
    footer_of,
    leaves,
    old,
    parquet,
    streamed,
    with_footer,
)
from flatbuffers.table import Table

from rangeio.codecs import thrift
from rangeio.errors import Corrupt
from rangeio.formats.parquet.flatbuffer.footer import FlatFooter
from rangeio.formats.parquet.flatbuffer.slots import NEWEST, OLDER
from rangeio.formats.parquet.leaf import Fact
from rangeio.formats.parquet.metas import facts_of

NOT_KEPT = (14, 15)  # bloom filters, which the schemas of the older revision have in two ways
FIRST, LATER = (in_four_bytes, False), (right_aligned, True)


def test_the_root_tells_the_revision():
    assert old()._schema.revision is OLDER
    assert flat(everything())._schema.revision is NEWEST


@pytest.mark.parametrize("writer", [FIRST, LATER], ids=["first", "later"])
def test_the_older_revision_tells_the_same(writer):
    told, newest = old(writer), flat(everything())
    count = len(newest.elements.children)
    # The root's repetition is the default, which was not written.
    root = thrift.read(newest.element(0))[0]
    del root[3]
    assert told.element(0) == thrift.write(root)
    assert [told.element(i) for i in range(1, count)] == [
        newest.element(i) for i in range(1, count)
    ]
    for g in range(3):
        assert told.group(g) == newest.group(g)
        for leaf in range(leaves(newest)):
            a, b = chunk_of(told, g, leaf).struct(3), chunk_of(newest, g, leaf).struct(3)
            kept = [field for field in KEPT if field not in NOT_KEPT]
            assert [a.get(field) for field in kept] == [b.get(field) for field in kept]
            assert not {14, 15} & set(a)
    assert told.metadata() == newest.metadata()
    assert told.arrow_schema() == newest.arrow_schema()
    assert [told.order(i) for i in range(leaves(told))] == [1] * leaves(told)


@pytest.mark.parametrize("writer", [FIRST, LATER], ids=["first", "later"])
@pytest.mark.parametrize("case", ["shape-required", "shape-field_ids", "pyarrow-type-map"])
def test_arrow_reads_by_the_older_revision(case, writer):
    file = made(case)
    ours = with_footer(file, as_thrift(old(writer, file)))
    expected, found = (pq.read_table(io.BytesIO(one)) for one in (file, ours))
    assert streamed(found) == streamed(expected)


@pytest.mark.parametrize("writer", [FIRST, LATER], ids=["first", "later"])
def test_only_numbers_keep_bounds_in_the_older_revision(writer):
    told, newest, seen = old(writer), flat(everything()), 0
    for leaf in range(leaves(newest)):
        ours = chunk_of(told, 1, leaf).struct(3)
        theirs = chunk_of(newest, 1, leaf).struct(3)
        stats = ours.struct(12) or thrift.Struct()
        if ours.integer(1) in (1, 2, 4, 5):
            expected = theirs.struct(12) or {}
            assert stats == {f: v for f, v in expected.items() if f not in (3, 4)}
            seen += bool(stats)
        else:
            assert not stats
    assert seen >= 20


def test_a_page_at_the_row_groups_begin_may_be_left_out():
    file = parquet(pa.table({"a": [1, 2]}), use_dictionary=False)
    group = thrift.read(footer_of(file))[0].list(4)[0]
    assert group.integer(5) == group.list(1)[0].struct(3).integer(9)
    assert chunk_of(old(FIRST, file), 0, 0).struct(3).integer(9) == group.integer(5)
    root = older(thrift.read(footer_of(file))[0], of_numbers, later=True)
    del root[3][0][4]
    with pytest.raises(Corrupt, match="begins nowhere"):
        FlatFooter(memoryview(built(root)))


def test_a_chunk_of_an_earlier_proposal_is_refused_at_once():
    root = older(thrift.read(footer_of(everything()))[0], of_numbers, later=True)
    for one in root[3][0][0]:
        one[1] = one.pop(0)  # behind the path of a file, which is absent
    with pytest.raises(Corrupt):
        FlatFooter(memoryview(built(root)))


# ---- the newest revision -----------------------------------------------------------------------


def told(elements, chunks=None, **slots) -> FlatFooter:
    chunks = [chunk() for _ in elements] if chunks is None else chunks
    return FlatFooter(memoryview(built(file_metadata(elements, chunks, **slots))))


def test_the_least_that_a_footer_says():
    least = FlatFooter(memoryview(built({1: [element(b"", _0=None, _2=None)], 2: (0, "q")})))
    assert (least.num_rows, len(least.group_rows), least.created_by) == (0, 0, "")
    assert (least.metadata(), least.arrow_schema()) == ({}, None)
    assert thrift.read(least.element(0))[0] == {4: (8, b""), 5: (5, 0)}
    one = told([element(b"a")])
    assert one.group(0) == [
        (2, thrift.I64, thrift.encoded(thrift.I64, 20)),
        (3, thrift.I64, thrift.encoded(thrift.I64, 2)),
    ]
    assert set(chunk_of(one, 0, 0).struct(3)) == {1, 2, 3, 4, 5, 6, 7, 9}


def test_encrypted_chunks_are_known_by_their_crypto_metadata():
    hidden = {1: (2, "B"), 2: {0: [], 1: b"key"}, 3: b"secret"}
    by_footer = chunk() | {1: (1, "B"), 2: {}}
    one = told([element(b"open"), element(b"a"), element(b"b")], [chunk(), hidden, by_footer])
    column = thrift.Struct({1: (thrift.LIST, (thrift.BINARY, [b"a"]))})
    assert chunk_of(one, 0, 1) == {
        2: (thrift.I64, 0),
        8: (thrift.STRUCT, {2: (thrift.STRUCT, column)}),
    }
    assert chunk_of(one, 0, 2)[8] == (thrift.STRUCT, {1: (thrift.STRUCT, {})})
    facts = facts_of([one.chunk(0, leaf) for leaf in range(3)])
    assert facts[:, Fact.FLAGS].tolist() == [0, 1 | 2, 1]


TYPED = [
    (5, {0: (2, "i"), 1: (9, "i")}, {5: {1: (5, 2), 2: (5, 9)}}, {6: 5, 7: 2, 8: 9}),
    (7, {0: (1, "B"), 1: (1, "b")}, {7: {1: (1, True), 2: (12, {2: (12, {})})}}, {6: 8}),
    (7, {1: (2, "b")}, {7: {1: (2, False), 2: (12, {3: (12, {})})}}, {}),
    (8, {0: (1, "B")}, {8: {1: (1, True), 2: (12, {1: (12, {})})}}, {6: 9}),
    (9, {0: (32, "b"), 1: (1, "B")}, {10: {1: (3, 32), 2: (1, True)}}, {6: 17}),
    (9, {}, {10: {1: (3, 8), 2: (2, False)}}, {6: 11}),
    (10, {}, {11: {}}, {}),
    (11, {}, {12: {}}, {6: 19}),
    (13, {}, {14: {}}, {}),
    (14, {}, {15: {}}, {}),
    (15, {0: (1, "b")}, {16: {1: (3, 1)}}, {}),
    (15, {}, {16: {}}, {}),
    (16, {0: b"OGC:CRS84"}, {17: {1: (8, b"OGC:CRS84")}}, {}),
    (16, {}, {17: {}}, {}),
    (17, {0: b"EPSG:4326", 1: (3, "b")}, {18: {1: (8, b"EPSG:4326"), 2: (5, 3)}}, {}),
]


@pytest.mark.parametrize(("number", "member", "union", "old_words"), TYPED)
def test_logical_types_are_told_in_both_words_and_back(number, member, union, old_words):
    one = told([element(b"a", _6=(number, "B"), _7=member)])
    read = thrift.read(one.element(1))[0]
    assert read[10] == (thrift.STRUCT, {k: (thrift.STRUCT, v) for k, v in union.items()})
    assert {f: read.integer(f) for f in (6, 7, 8) if f in read} == old_words
    # And from Thrift: the same once more.
    root = thrift.read(one.element(0))[0]
    footer = thrift.read(footer_of(parquet(pa.table({"a": pa.array([1, 2], pa.int32())}))))[0]
    footer[2] = (thrift.LIST, (thrift.STRUCT, [root, read]))
    again = flat(with_footer(parquet(pa.table({"a": [1]})), thrift.write(footer)))
    assert again.element(1) == one.element(1)


CONVERTED = {
    0: {1: {}},
    1: {2: {}},
    2: {2: {}},
    3: {3: {}},
    4: {4: {}},
    5: {5: {1: (5, 2), 2: (5, 9)}},
    6: {6: {}},
    7: {7: {1: (2, False), 2: (12, {1: (12, {})})}},
    10: {8: {1: (2, False), 2: (12, {2: (12, {})})}},
    13: {10: {1: (3, 32), 2: (2, False)}},
    15: {10: {1: (3, 8), 2: (1, True)}},
    19: {12: {}},
    20: {13: {}},
    21: None,
    99: None,
}


@pytest.mark.parametrize("number", CONVERTED)
def test_converted_types_alone_become_logical_types(number):
    footer = thrift.read(footer_of(parquet(pa.table({"a": pa.array([1, 2], pa.int32())}))))[0]
    footer.list(2)[1].update({6: (5, number), 7: (5, 2), 8: (5, 9)})
    one = flat(with_footer(parquet(pa.table({"a": [1]})), thrift.write(footer)))
    union = CONVERTED[number]
    found = thrift.read(one.element(1))[0].struct(10)
    assert found == (union and {k: (thrift.STRUCT, v) for k, v in union.items()})


def test_decimals_are_told_apart_by_their_size_in_the_older_revision():
    for numbers in ((2, 9), (9, 2), (0, 5), (5, 0), (7, 7)):
        schema = [
            {0: b"root", 6: (1, "i")},
            {0: b"a", 1: (1, "b"), 3: (5, "B"), 4: {i: (n, "i") for i, n in enumerate(numbers)}},
        ]
        group = {0: [chunk()], 2: (2, "q")}
        one = FlatFooter(memoryview(built({1: schema, 2: (2, "q"), 3: [group]})))
        read = thrift.read(one.element(1))[0]
        assert (read.integer(7), read.integer(8)) == (min(numbers), max(numbers))


BROKEN = {
    "an unknown logical type": [element(b"a", _6=(18, "B"), _7={})],
    "a logical type without its table": [element(b"a", _6=(5, "B"))],
    "an unknown unit": [element(b"a", _6=(8, "B"), _7={1: (3, "b")})],
    "a unit below zero": [element(b"a", _6=(7, "B"), _7={1: (-1, "b")})],
    "no name": [element(b"a", _3=None)],
    "no repetition": [element(b"a", _2=None)],
    "an unknown repetition": [element(b"a", _2=(3, "b"))],
    "an unknown type": [element(b"a", _0=(8, "b"))],
    "no type": [element(b"a", _0=None)],
    "a type and children": [element(b"a", _4=(1, "i")), element(b"b")],
    "children below zero": [element(b"a", _4=(-1, "i"))],
    "children that are not there": [element(b"a", _0=None, _4=(2, "i")), element(b"b")],
}


@pytest.mark.parametrize("elements", BROKEN.values(), ids=BROKEN)
def test_a_broken_schema_is_corrupt(elements):
    leaf_count = sum(0 in one for one in elements)
    with pytest.raises(Corrupt):
        told(elements, [chunk() for _ in range(leaf_count)])


def test_elements_after_the_last_of_the_tree_are_corrupt():
    # All places are taken after the first leaf, and there are as many places as elements.
    elements = [element(b"a"), element(b"g", _0=None, _4=(2, "i")), element(b"b")]
    root = file_metadata(elements, [chunk(), chunk()])
    root[1][0][4] = (1, "i")
    with pytest.raises(Corrupt, match="no tree"):
        FlatFooter(memoryview(built(root)))


BROKEN_CHUNKS = {
    "no metadata": [{}],
    "an unknown encryption": [{1: (3, "B"), 2: {}}],
    "an encryption without its table": [{1: (1, "B")}],
    "a negative size": [chunk(_3=(-1, "q"))],
    "a negative position": [chunk(_5=(-1, "q"))],
    "a negative number of values": [chunk(_1=(-1, "q"))],
    "a negative dictionary": [chunk(_7=(-1, "q"))],
    "a negative codec": [chunk(_0=(-1, "b"))],
    "too few": [],
    "too many": [chunk(), chunk()],
}


@pytest.mark.parametrize("chunks", BROKEN_CHUNKS.values(), ids=BROKEN_CHUNKS)
def test_broken_chunks_are_corrupt(chunks):
    with pytest.raises(Corrupt):
        told([element(b"a")], chunks)


@pytest.mark.parametrize(
    "slots",
    [{"_1": None}, {"_1": []}, {"_2": (3, "q")}, {"_2": (-2, "q")}, {"_3": None}, {"_3": [{}]}],
)
def test_a_root_that_contradicts_itself_is_corrupt(slots):
    with pytest.raises(Corrupt):
        told([element(b"a")], **slots)


def test_statistics_that_cannot_be_are_left_out():
    stats = {0: (5, "q"), 1: (-1, "q"), 2: (7, "I"), 5: (4, "b"), 6: (9, "I"), 9: (5, "b")}
    read = chunk_of(told([element(b"a")], [chunk(_8=stats)]), 0, 0).struct(3).struct(12)
    # 5 nulls of 2 values, fewer than no distinct ones, an INT32 of 5 bytes.
    assert read == {6: (8, b"\7\0\0\0"), 8: (1, True)}
    long = {0: (1, "q"), 3: (1 << 56, "Q"), 5: (1, "b"), 10: b"x" * 300}
    text = element(b"a", _0=(6, "b"))
    assert chunk_of(told([text], [chunk(_8=long)]), 0, 0).struct(3).struct(12) == {3: (6, 1)}


def test_bloom_filters():
    def bloom(**slots):
        return chunk(_10={int(k[1:]): v for k, v in slots.items()})

    chunks = [bloom(_0=(99, "q"), _1=(47, "i")), bloom(_0=(99, "q")), bloom(_1=(47, "i"))]
    one = told([element(b"a"), element(b"b"), element(b"c")], chunks)
    metas = [chunk_of(one, 0, leaf).struct(3) for leaf in range(3)]
    assert [(m.integer(14), m.integer(15)) for m in metas] == [(99, 47), (99, None), (None, None)]


# ---- the package's own reader ------------------------------------------------------------------


def test_the_official_runtime_reads_what_is_written():
    data = bytearray(flatbuffer_of(extended_file(everything())))
    root = Table(data, flatbuffers.encode.Get(flatbuffers.packer.uoffset, data, 0))
    expected = thrift.read(footer_of(everything()))[0]

    def children(table: Table, slot: int) -> list[Table]:
        field = table.Offset(4 + 2 * slot)
        start = table.Vector(field)
        return [Table(data, table.Indirect(start + 4 * i)) for i in range(table.VectorLen(field))]

    def number(table: Table, slot: int, flags: type) -> int:
        return table.Get(flags, table.Pos + table.Offset(4 + 2 * slot))

    long = flatbuffers.number_types.Int64Flags
    names = [one.String(one.Pos + one.Offset(4 + 2 * 3)) for one in children(root, 1)]
    assert names == [one.binary(4) for one in expected.list(2)]
    assert number(root, 2, long) == 300
    for group, original in zip(children(root, 3), expected.list(4), strict=True):
        assert number(group, 2, long) == original.integer(3)
        sorting = children(group, 3)
        assert len(sorting) == 1
        assert number(sorting[0], 1, flatbuffers.number_types.BoolFlags) is True
        chunks = zip(children(group, 0), original.list(1), strict=True)
        for one, column in chunks:
            meta = Table(data, one.Indirect(one.Pos + one.Offset(4)))
            assert number(meta, 5, long) == column.struct(3).integer(9)
            assert number(meta, 3, long) == column.struct(3).integer(7)
