"""Zone maps and bloom filters that the writer makes."""

import pyarrow as pa
import pytest
from doris_parts import Segment, index, made, walk

from rangeio.errors import RequestError
from rangeio.formats.doris.blooms import hashed, holds, holds_null
from rangeio.formats.doris.messages import MESSAGES
from rangeio.formats.doris.words import Compression, IndexType

TABLE = pa.table({"n": [0.5], "s": ["x"], "tags": [[1]]})


def zones(values, kind=None, **words):
    """The zone map of the segment and those of the pages."""
    segment = Segment(made(pa.table({"a": pa.array(values, kind)}), **words))
    found = index(segment.metas[0], IndexType.ZONE_MAP).zone_map_index
    assert found.page_zone_maps.compression == Compression.NONE
    pages = [MESSAGES.ZoneMap.FromString(one) for one in segment.indexed(found.page_zone_maps)]
    assert len(pages) == len(segment.pages(segment.metas[0]))
    return found.segment_zone_map, pages


def test_zone_maps_of_pages_and_of_the_segment():
    whole, pages = zones([None, *range(-10, 190)], page_size=512)
    assert [(one.min, one.max) for one in pages] == [
        *((b"-10", b"53"), (b"54", b"117"), (b"118", b"181"), (b"", b"")),
    ]
    assert [one.has_null for one in pages] == [True, False, False, False]
    assert [one.pass_all for one in pages] == [False, False, False, True]
    assert (whole.min, whole.max, whole.has_null, whole.has_not_null) == (
        b"-10",
        b"189",
        True,
        True,
    )


def test_zone_maps_of_nulls_alone():
    whole, pages = zones([None] * 30, pa.int32())
    assert [(one.has_null, one.has_not_null) for one in (whole, *pages)] == [(True, False)] * 2


def test_zone_maps_of_floats_flag_what_is_no_bound():
    odd = [float("nan"), float("inf"), -1.5, 2.25] * 6
    whole, (page,) = zones(odd)
    for one in (whole, page):
        assert (one.min, one.max) == (b"-1.5", b"2.25")
        flags = one.has_nan, one.has_positive_inf, one.has_negative_inf
        assert flags == (True, True, False)
    whole, _ = zones([float("nan")] * 30)
    assert whole.pass_all
    assert whole.has_nan


@pytest.mark.parametrize(
    ("text", "bound"),
    [("x" * 511, b"x" * 511), ("x" * 512, b"x" * 511 + b"y"), ("x" * 600, b"x" * 511 + b"y")],
)
def test_bounds_of_long_texts_are_cut_and_the_upper_one_raised(text, bound):
    whole, (page,) = zones([text] * 20)
    assert (whole.min, whole.max) == (page.min, page.max) == (text.encode()[:512], bound)


@pytest.mark.parametrize(
    "kind",
    [pa.decimal128(38, 5), pa.decimal256(60, 5), pa.decimal128(5, 2), pa.uint64(), pa.int8()],
)
def test_bounds_of_wide_numbers(kind):
    signed = kind != pa.uint64()
    numbers = [3, -7, 5, 100, -100, 0] if signed else [3, 2**64 - 1, 1 << 63, 0]
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    whole, _ = zones(numbers * 5, kind)
    expected = [str(f(numbers) * 10**scale).encode() for f in (min, max)]
    assert [whole.min, whole.max] == expected


def test_zone_maps_can_be_left_out():
    metas = Segment(made(TABLE, zone_maps=False)).metas
    assert {one.type for meta in metas for below in walk(meta) for one in below.indexes} == {1}
    nested = Segment(made(TABLE)).metas[2]
    assert all(index(one, IndexType.ZONE_MAP) is None for one in walk(nested))


@pytest.mark.parametrize("dict_page_size", [262144, 300])
def test_bloom_filters_of_every_page(dict_page_size):
    words = [None if i % 9 == 8 else f"w{i % 90}" for i in range(2000)]
    table = pa.table({"s": words, "n": pa.array(range(2000), pa.int32())})
    sizes = {"page_size": 1024, "dict_page_size": dict_page_size}
    segment = Segment(made(table, bloom_filter_columns=["s", "n"], **sizes))
    for meta, values in zip(segment.metas, (words, range(2000)), strict=True):
        about = index(meta, IndexType.BLOOM_FILTER).bloom_filter_index
        assert (about.hash_strategy, about.algorithm) == (0, 0)
        filters = segment.indexed(about.bloom_filter)
        for one, page in zip(filters, segment.pages(meta), strict=True):
            rows = list(values)[page.first : page.first + page.rows]
            assert holds_null(one) == (None in rows)
            for row in {row for row in rows if row is not None}:
                raw = row.encode() if isinstance(row, str) else row.to_bytes(4, "little")
                assert holds(one, hashed(raw))
        absent = sum(holds(filters[0], hashed(b"no %d" % i)) for i in range(1000))
        assert absent < 200


def test_bloom_filters_that_a_type_has_not():
    with pytest.raises(RequestError, match="'n' is DOUBLE, which has no bloom filters"):
        made(TABLE, bloom_filter_columns="n")
    with pytest.raises(RequestError, match="'tags' is ARRAY: it has no bloom filter"):
        made(TABLE, bloom_filter_columns=["tags"])
