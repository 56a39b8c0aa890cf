"""The directory: protobuf messages located by a scan, and columns found by unique_id."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rangeio.codecs import native, wire
from rangeio.errors import Corrupt
from rangeio.formats.doris.directory import Directory, Entries, inline
from rangeio.formats.doris.messages import MESSAGES

KERNELS = [
    pytest.param(None, id="twin"),
    pytest.param(
        native.kernels, id="native", marks=pytest.mark.skipif(not native.available, reason="absent")
    ),
]
IDS = st.lists(st.integers(-1, 9) | st.integers(-(2**31), 2**31 - 1), max_size=40)


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def footer(ids: list[int], **words) -> bytes:
    made = MESSAGES.SegmentFooter(version=2, num_rows=7, col_meta_region_start=100, **words)
    for k, unique_id in enumerate(ids):
        made.column_meta_entries.add(unique_id=unique_id, length=k * 37 % 300 + 1)
    made.file_meta_datas.add(key="k", value=b"v")
    return made.SerializeToString()


@pytest.mark.parametrize("kernels", KERNELS)
@given(ids=IDS)
def test_entries_are_what_protobuf_reads(kernels, ids):
    data = footer(ids)
    found_ids, lengths, rest = wire.pairs(array(data), 12, (1, 2), kernels=kernels)
    wanted = MESSAGES.SegmentFooter.FromString(data)
    assert found_ids.view(np.int32).tolist() == [e.unique_id for e in wanted.column_meta_entries]
    assert lengths.tolist() == [e.length for e in wanted.column_meta_entries]
    del wanted.column_meta_entries[:]
    left = b"".join(data[a:b] for a, b in rest)
    assert MESSAGES.SegmentFooter.FromString(left) == wanted


@pytest.mark.parametrize("kernels", KERNELS)
@given(ids=st.lists(st.integers(0, 2**32 - 1), max_size=30), nested=st.integers(0, 3))
def test_columns_of_a_v2_footer_are_what_protobuf_reads(kernels, ids, nested):
    made = MESSAGES.SegmentFooter(num_rows=1)
    for one in ids:
        column = made.columns.add(unique_id=one, type=4, num_rows=1 << 40)
        for _ in range(nested):
            column.children_columns.add(unique_id=one ^ 1)
        if one % 2:
            column.column_path_info.path = f"v.{one}"
    data = made.SerializeToString()
    starts, stops, _ = wire.spans(array(data), 2, kernels=kernels)
    found = wire.facts(array(data), starts, stops, (2, 13, 5), kernels=kernels)
    for row, start, stop, one in zip(found, starts, stops, made.columns, strict=True):
        assert MESSAGES.ColumnMeta.FromString(data[start:stop]) == one
        assert row[0].tolist() == [one.unique_id, wire.NUMBER]
        assert row[2].tolist() == [0, wire.ABSENT]
        if one.HasField("column_path_info"):
            path = MESSAGES.ColumnPath.FromString(data[row[1, 0] : row[1, 1]])
            assert path == one.column_path_info
        else:
            assert row[1, 1] == wire.ABSENT


@given(data=st.binary(max_size=60), seed=st.integers(0, 99))
def test_twin_and_kernels_agree_on_any_bytes(data, seed):
    if native.kernels is None:
        pytest.skip("no kernels")
    whole = footer(list(range(seed % 7))) + data

    def outcome(kernels):
        try:
            starts, stops, rest = wire.spans(array(whole), 12, kernels=kernels)
            pairs = wire.pairs(array(whole), 12, (1, 2), kernels=kernels)
        except Corrupt:
            return None
        try:
            facts = wire.facts(array(whole), starts, stops, (1, 2), kernels=kernels).tolist()
        except Corrupt as error:
            facts = error.reason
        return starts.tolist(), rest, [part.tolist() for part in pairs[:2]], pairs[2], facts

    assert outcome(None) == outcome(native.kernels)


BROKEN = {
    "tag": b"\x62",
    "short": b"\x62\x05\x08\x01",
    "zero": b"\x00\x01",
    "group": b"\x0b\x0c",
    "varint": b"\x08" + b"\xff" * 10,
    "inner": b"\x62\x01\x10",
}


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_message_is_corrupt(kernels, data):
    with pytest.raises(Corrupt):
        wire.pairs(array(data), 12, (1, 2), kernels=kernels)


def directory(ids: list[int], *, last: bool) -> Directory:
    sizes = np.arange(1, len(ids) + 1)
    return Directory.of(np.array(ids, np.int64), np.cumsum(sizes) - sizes + 5, sizes, last=last)


@given(ids=IDS, last=st.booleans())
def test_the_entry_that_counts(ids, last):
    found = directory(ids, last=last)
    wanted: dict[int, int] = {}
    for position, one in enumerate(ids):
        if one >= 0 and (last or one not in wanted):
            wanted[one] = position
    for one in {*ids, 3, 10**9}:
        assert found.find(one) == wanted.get(one, -1)
    assert list(found.tops()) == sorted(wanted.values())


def test_positions_are_prefix_sums():
    data = footer([4, 9, 2])
    found = Entries.parse(array(data)).directory(100, 10_000)
    assert [(found.at(k).start, found.at(k).size) for k in range(3)] == [
        (100, 1),
        (101, 38),
        (139, 75),
    ]
    assert (found.extent.start, found.extent.stop) == (100, 214)
    with pytest.raises(Corrupt, match="no column 3"):
        found.at(3)


@pytest.mark.parametrize(
    ("ids", "region", "limit", "why"),
    [
        ([], 100, 999, "without a column meta region"),
        ([1], 0, 999, "without a column meta region"),
        ([1, 2, 3], 100, 213, "all lies before"),
        ([1], 1 << 61, 999, "all lies before"),
    ],
)
def test_a_region_that_cannot_be(ids, region, limit, why):
    with pytest.raises(Corrupt, match=why):
        Entries.parse(array(footer(ids))).directory(region, limit)


def test_an_entry_without_bytes_is_corrupt():
    made = MESSAGES.SegmentFooter(version=2)
    made.column_meta_entries.add(unique_id=1, length=5)
    made.column_meta_entries.add(unique_id=2)
    with pytest.raises(Corrupt, match="column 1 has no bytes"):
        Entries.parse(array(made.SerializeToString())).directory(9, 99)


def test_a_directory_is_narrow():
    found = directory(list(range(7000)), last=True)
    assert found.order is None
    assert found.weight <= 7000 * (2 + 4 + 2)


def test_inline_columns_lie_in_the_footer():
    made = MESSAGES.SegmentFooter(num_rows=1)
    made.columns.add(unique_id=8, type=5)
    made.columns.add(unique_id=0xFFFFFFFF).column_path_info.path = "v.a"
    data = made.SerializeToString()
    found = inline(array(data), 1000)
    at = found.directory.at(found.directory.find(8))
    own = MESSAGES.ColumnMeta.FromString(data[at.start - 1000 : at.stop - 1000])
    assert own == made.columns[0]
    assert found.directory.ids.tolist() == [8, -1]
    assert found.places.tolist() == [1]
